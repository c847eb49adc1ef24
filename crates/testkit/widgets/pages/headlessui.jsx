import {
  Checkbox,
  Combobox,
  ComboboxInput,
  ComboboxOption,
  ComboboxOptions,
  Disclosure,
  DisclosureButton,
  DisclosurePanel,
  Field,
  Label,
  Listbox,
  ListboxButton,
  ListboxOption,
  ListboxOptions,
  Radio,
  RadioGroup,
  Switch,
  Tab,
  TabGroup,
  TabList,
  TabPanel,
  TabPanels,
} from "@headlessui/react";
import { useState } from "react";
import { createRoot } from "react-dom/client";

const people = ["Durward Reynolds", "Kenton Towne", "Therese Wunsch"];
const box = { display: "inline-block", width: 40, height: 20, border: "1px solid" };

function App() {
  const [person, setPerson] = useState(people[0]);
  const [friend, setFriend] = useState(null);
  const [plan, setPlan] = useState("Startup");
  const [isOn, setOn] = useState(false);
  return (
    <>
      <Field>
        <Label>Assignee</Label>
        <Listbox value={person} onChange={setPerson}>
          <ListboxButton>{person}</ListboxButton>
          <ListboxOptions>
            {people.map((name) => (
              <ListboxOption key={name} value={name}>
                {name}
              </ListboxOption>
            ))}
          </ListboxOptions>
        </Listbox>
      </Field>
      <Combobox value={friend} onChange={setFriend} immediate>
        <ComboboxInput aria-label="Friend" />
        <ComboboxOptions>
          {people.map((name) => (
            <ComboboxOption key={name} value={name}>
              {name}
            </ComboboxOption>
          ))}
        </ComboboxOptions>
      </Combobox>
      <Field>
        <Switch checked={isOn} onChange={setOn} name="on" style={box} />
        <Label>Enable notifications</Label>
      </Field>
      <Field>
        <Checkbox defaultChecked style={box} />
        <Label>Enable beta features</Label>
      </Field>
      <RadioGroup value={plan} onChange={setPlan} aria-label="Server size">
        {["Startup", "Business"].map((name) => (
          <Field key={name}>
            <Radio value={name} style={box} />
            <Label>{name}</Label>
          </Field>
        ))}
      </RadioGroup>
      <Disclosure>
        <DisclosureButton>Is team pricing available?</DisclosureButton>
        <DisclosurePanel>Yes! You can purchase a license.</DisclosurePanel>
      </Disclosure>
      <TabGroup>
        <TabList>
          <Tab>Recent</Tab>
          <Tab>Popular</Tab>
        </TabList>
        <TabPanels>
          <TabPanel>Content 1</TabPanel>
          <TabPanel>Content 2</TabPanel>
        </TabPanels>
      </TabGroup>
    </>
  );
}

createRoot(document.querySelector("#root")).render(<App />);
