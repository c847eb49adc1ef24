import {
  Autocomplete,
  Box,
  Button,
  Checkbox,
  Chip,
  createSvgIcon,
  FormControl,
  FormControlLabel,
  FormLabel,
  IconButton,
  InputLabel,
  List,
  ListItemButton,
  ListItemIcon,
  ListItemText,
  MenuItem,
  Radio,
  RadioGroup,
  Rating,
  Select,
  Slider,
  Switch,
  Tab,
  Tabs,
  TextField,
} from "@mui/material";
import { styled } from "@mui/material/styles";
import { useState } from "react";
import { createRoot } from "react-dom/client";

const AddIcon = createSvgIcon(<path d="M19 13h-6v6h-2v-6H5v-2h6V5h2v6h6z" />, "Add");
const CloudUploadIcon = createSvgIcon(<path d="M5 20h14v-2H5zm0-10h4v6h6v-6h4l-7-7z" />, "CloudUpload");
const DeleteIcon = createSvgIcon(<path d="M6 19h12V7H6zM19 4h-3.5l-1-1h-5l-1 1H5v2h14z" />, "Delete");

const VisuallyHiddenInput = styled("input")({
  clip: "rect(0 0 0 0)",
  clipPath: "inset(50%)",
  height: 1,
  overflow: "hidden",
  position: "absolute",
  bottom: 0,
  left: 0,
  whiteSpace: "nowrap",
  width: 1,
});

function App() {
  const [age, setAge] = useState("");
  const [tab, setTab] = useState(0);
  const [file, setFile] = useState("");
  return (
    <Box sx={{ display: "grid", gap: 2, maxWidth: 500 }}>
      <Tabs value={tab} onChange={(_, value) => setTab(value)}>
        <Tab label="Item One" />
        <Tab icon={<AddIcon />} label="Item Two" iconPosition="start" />
      </Tabs>
      <TextField label="Full name" variant="outlined" helperText="As in your passport" />
      <FormControl fullWidth>
        <InputLabel id="age">Age</InputLabel>
        <Select labelId="age" label="Age" value={age} onChange={(event) => setAge(event.target.value)}>
          <MenuItem value={10}>Ten</MenuItem>
          <MenuItem value={20}>Twenty</MenuItem>
        </Select>
      </FormControl>
      <Autocomplete
        multiple
        options={["The Godfather", "Pulp Fiction", "Forrest Gump"]}
        defaultValue={["Forrest Gump"]}
        renderInput={(params) => <TextField {...params} label="Movies" />}
      />
      <FormControlLabel control={<Switch defaultChecked />} label="Notifications" />
      <FormControlLabel control={<Checkbox />} label="I agree" />
      <FormControl>
        <FormLabel id="gender">Gender</FormLabel>
        <RadioGroup aria-labelledby="gender" defaultValue="female" name="gender">
          <FormControlLabel value="female" control={<Radio />} label="Female" />
          <FormControlLabel value="male" control={<Radio />} label="Male" />
        </RadioGroup>
      </FormControl>
      <Rating name="stars" defaultValue={2} />
      <Slider defaultValue={30} aria-label="Volume" />
      <Button component="label" role={undefined} variant="contained" startIcon={<CloudUploadIcon />}>
        Upload files
        <VisuallyHiddenInput type="file" onChange={(event) => setFile(event.target.files[0].name)} />
      </Button>
      <p>File: {file || "none"}</p>
      <Button startIcon={<DeleteIcon />}>Delete</Button>
      <IconButton aria-label="delete row">
        <DeleteIcon />
      </IconButton>
      <Chip label="Deletable" onClick={() => {}} onDelete={() => {}} />
      <List>
        <ListItemButton>
          <ListItemIcon>
            <AddIcon />
          </ListItemIcon>
          <ListItemText primary="Inbox" secondary="3 new" />
        </ListItemButton>
      </List>
    </Box>
  );
}

createRoot(document.querySelector("#root")).render(<App />);
