// Trips: a form in a dialog, a table with menus, and messages, in Material UI.
import { Alert, Autocomplete, Box, Button, Checkbox, Dialog, DialogActions, DialogContent, DialogTitle, FormControl } from "@mui/material";
import { FormControlLabel, IconButton, InputLabel, Menu, MenuItem, Rating, Select, Slider, Snackbar, Stack, Switch } from "@mui/material";
import { Tab, Table, TableBody, TableCell, TableHead, TableRow, Tabs, TextField, Typography } from "@mui/material";
import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

const CITIES = ["Amsterdam", "Berlin", "Copenhagen", "Dublin", "Edinburgh", "Florence"];
const EMPTY = { name: "", city: null, kind: "", days: 3, insured: false };

function Trips() {
  const [trips, setTrips] = useState([{ ...EMPTY, name: "Museums", city: "Berlin", kind: "train", stars: 2 }]);
  const [draft, setDraft] = useState();
  const [menu, setMenu] = useState();
  const [message, setMessage] = useState("");
  const [tab, setTab] = useState(0);
  const [compact, setCompact] = useState(false);
  useEffect(() => void fetch("/api/trips", { method: "PUT", body: JSON.stringify(trips) }), [trips]);
  const change = (part) => setDraft({ ...draft, ...part });
  const save = () => {
    setTrips([...trips, draft]);
    setDraft(undefined);
    setMessage(`${draft.name} is saved`);
  };
  return (
    <Box sx={{ p: 2 }}>
      <Typography variant="h4">Trips</Typography>
      <Tabs value={tab} onChange={(_, value) => setTab(value)}>
        <Tab label="List" />
        <Tab label="Settings" />
      </Tabs>
      {tab === 1 && (
        <FormControlLabel label="Compact table" control={<Switch checked={compact} onChange={(e) => setCompact(e.target.checked)} />} />
      )}
      {tab === 0 && (
        <>
          <Button variant="contained" onClick={() => setDraft(EMPTY)}>
            New trip
          </Button>
          <Table size={compact ? "small" : "medium"}>
            <TableHead>
              <TableRow>
                {["Name", "City", "Days", "Stars", ""].map((it) => (
                  <TableCell key={it}>{it}</TableCell>
                ))}
              </TableRow>
            </TableHead>
            <TableBody>
              {trips.map((trip, index) => (
                <TableRow key={trip.name}>
                  <TableCell>{trip.name}</TableCell>
                  <TableCell>{trip.city}</TableCell>
                  <TableCell>{trip.days}</TableCell>
                  <TableCell>
                    <Rating
                      name={`stars-${index}`}
                      value={trip.stars ?? 0}
                      onChange={(_, stars) => setTrips(trips.map((it) => (it === trip ? { ...it, stars } : it)))}
                    />
                  </TableCell>
                  <TableCell>
                    <IconButton aria-label={`Actions for ${trip.name}`} onClick={(e) => setMenu({ trip, anchor: e.currentTarget })}>
                      ⋮
                    </IconButton>
                  </TableCell>
                </TableRow>
              ))}
            </TableBody>
          </Table>
        </>
      )}
      <Menu open={!!menu} anchorEl={menu?.anchor} onClose={() => setMenu(undefined)}>
        <MenuItem
          onClick={() => {
            setTrips(trips.filter((it) => it !== menu.trip));
            setMenu(undefined);
          }}
        >
          Delete
        </MenuItem>
      </Menu>
      <Dialog open={!!draft} onClose={() => setDraft(undefined)}>
        <DialogTitle>New trip</DialogTitle>
        <DialogContent>
          <Stack spacing={2} sx={{ pt: 1, width: 360 }}>
            <TextField label="Name" required value={draft?.name ?? ""} onChange={(e) => change({ name: e.target.value })} />
            <Autocomplete
              options={CITIES}
              value={draft?.city ?? null}
              onChange={(_, city) => change({ city })}
              renderInput={(params) => <TextField {...params} label="City" />}
            />
            <FormControl>
              <InputLabel id="kind">Travel by</InputLabel>
              <Select labelId="kind" label="Travel by" value={draft?.kind ?? ""} onChange={(e) => change({ kind: e.target.value })}>
                <MenuItem value="train">Train</MenuItem>
                <MenuItem value="boat">Boat</MenuItem>
              </Select>
            </FormControl>
            <Slider
              aria-label="Days"
              min={1}
              max={14}
              value={draft?.days ?? 3}
              onChange={(_, days) => change({ days })}
              valueLabelDisplay="auto"
            />
            <FormControlLabel
              label="Insured"
              control={<Checkbox checked={!!draft?.insured} onChange={(e) => change({ insured: e.target.checked })} />}
            />
          </Stack>
        </DialogContent>
        <DialogActions>
          <Button onClick={() => setDraft(undefined)}>Cancel</Button>
          <Button disabled={!draft?.name} onClick={save}>
            Save
          </Button>
        </DialogActions>
      </Dialog>
      <Snackbar open={!!message} autoHideDuration={2000} onClose={() => setMessage("")}>
        <Alert severity="success">{message}</Alert>
      </Snackbar>
    </Box>
  );
}

createRoot(document.getElementById("root")).render(<Trips />);
