import "@mantine/core/styles.css";
import "@mantine/dates/styles.css";
import {
  Accordion,
  ActionIcon,
  Chip,
  FileButton,
  Button,
  MantineProvider,
  MultiSelect,
  NumberInput,
  Pagination,
  Rating,
  SegmentedControl,
  Select,
  Stepper,
  Switch,
  TextInput,
} from "@mantine/core";
import { DatePickerInput } from "@mantine/dates";
import { useState } from "react";
import { createRoot } from "react-dom/client";

function App() {
  const [file, setFile] = useState(null);
  return (
    <div style={{ maxWidth: 420 }}>
      <TextInput label="Input label" description="Input description" placeholder="Input placeholder" withAsterisk />
      <NumberInput label="Amount" defaultValue={20} />
      <Select label="Your favorite library" placeholder="Pick value" data={["React", "Angular", "Vue"]} />
      <MultiSelect label="Skills" data={["HTML", "CSS", "JavaScript"]} defaultValue={["CSS"]} />
      <DatePickerInput label="Pick date" placeholder="Pick date" defaultDate={new Date(2026, 2, 1)} />
      <Switch label="I agree to sell my privacy" />
      <Chip.Group multiple={false} defaultValue="1">
        <Chip value="1">Single chip</Chip>
        <Chip value="2">Can be selected</Chip>
      </Chip.Group>
      <SegmentedControl data={["Preview", "Code"]} />
      <Rating defaultValue={2} />
      <ActionIcon aria-label="Settings">
        <svg width="16" height="16">
          <circle cx="8" cy="8" r="6" />
        </svg>
      </ActionIcon>
      <Accordion>
        <Accordion.Item value="a">
          <Accordion.Control>Apples</Accordion.Control>
          <Accordion.Panel>Crisp and refreshing fruit.</Accordion.Panel>
        </Accordion.Item>
      </Accordion>
      <Pagination total={4} />
      <Stepper active={1}>
        <Stepper.Step label="First step" description="Create an account" />
        <Stepper.Step label="Second step" description="Verify email" />
      </Stepper>
      <FileButton onChange={setFile}>{(props) => <Button {...props}>Upload image</Button>}</FileButton>
      <p>Picked: {file?.name ?? "none"}</p>
    </div>
  );
}

createRoot(document.querySelector("#root")).render(
  <MantineProvider>
    <App />
  </MantineProvider>,
);
