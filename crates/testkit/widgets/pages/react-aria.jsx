import {
  Button,
  Calendar,
  CalendarCell,
  CalendarGrid,
  Checkbox,
  DateInput,
  DatePicker,
  DateSegment,
  Dialog,
  FileTrigger,
  GridList,
  GridListItem,
  Group,
  Heading,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Radio,
  RadioGroup,
  Select,
  SelectValue,
  Switch,
} from "react-aria-components";
import { createRoot } from "react-dom/client";
import { parseDate } from "@internationalized/date";

createRoot(document.querySelector("#root")).render(
  <>
    <Switch>
      <div style={{ width: 40, height: 20, background: "silver" }} />
      Low power mode
    </Switch>
    <Checkbox defaultSelected>
      <div style={{ width: 20, height: 20, border: "1px solid" }} />
      Unsubscribe
    </Checkbox>
    <RadioGroup defaultValue="dogs">
      <Label>Favorite pet</Label>
      <Radio value="dogs">Dog</Radio>
      <Radio value="cats">Cat</Radio>
    </RadioGroup>
    <Select>
      <Label>Favorite Animal</Label>
      <Button>
        <SelectValue />
        <span aria-hidden="true">▼</span>
      </Button>
      <Popover>
        <ListBox>
          <ListBoxItem>Aardvark</ListBoxItem>
          <ListBoxItem>Kangaroo</ListBoxItem>
        </ListBox>
      </Popover>
    </Select>
    <DatePicker defaultValue={parseDate("2026-03-10")}>
      <Label>Date of birth</Label>
      <Group>
        <DateInput>{(segment) => <DateSegment segment={segment} />}</DateInput>
        <Button>▼</Button>
      </Group>
      <Popover>
        <Dialog>
          <Calendar>
            <header>
              <Button slot="previous">◀</Button>
              <Heading />
              <Button slot="next">▶</Button>
            </header>
            <CalendarGrid>{(date) => <CalendarCell date={date} />}</CalendarGrid>
          </Calendar>
        </Dialog>
      </Popover>
    </DatePicker>
    <GridList aria-label="Pokemon" selectionMode="multiple" defaultSelectedKeys={["bulbasaur"]}>
      {["Charizard", "Bulbasaur"].map((name) => (
        <GridListItem key={name} id={name.toLowerCase()} textValue={name}>
          <Checkbox slot="selection">
            <div style={{ width: 20, height: 20, border: "1px solid" }} />
          </Checkbox>
          {name}
          <Button aria-label="Info">ⓘ</Button>
        </GridListItem>
      ))}
    </GridList>
    <FileTrigger>
      <Button>Select a file</Button>
    </FileTrigger>
  </>,
);
