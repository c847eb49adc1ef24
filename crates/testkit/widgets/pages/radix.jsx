import { Accordion, Checkbox, Dialog, DropdownMenu, RadioGroup, Select, Slider, Switch, Tabs, ToggleGroup } from "radix-ui";
import { createRoot } from "react-dom/client";

const box = { width: 20, height: 20, border: "1px solid" };

createRoot(document.querySelector("#root")).render(
  <div style={{ display: "grid", gap: 10, maxWidth: 400 }}>
    <Tabs.Root defaultValue="one">
      <Tabs.List aria-label="Manage your account">
        <Tabs.Trigger value="one">Account</Tabs.Trigger>
        <Tabs.Trigger value="two">Password</Tabs.Trigger>
      </Tabs.List>
      <Tabs.Content value="one">Make changes to your account.</Tabs.Content>
      <Tabs.Content value="two">Change your password.</Tabs.Content>
    </Tabs.Root>
    <div>
      <Checkbox.Root id="terms" defaultChecked style={box}>
        <Checkbox.Indicator>
          <svg width="12" height="12" aria-hidden="true">
            <path d="M2 6l3 3 5-8" stroke="black" fill="none" />
          </svg>
        </Checkbox.Indicator>
      </Checkbox.Root>
      <label htmlFor="terms">Accept terms and conditions.</label>
    </div>
    <div>
      <label htmlFor="airplane">Airplane mode</label>
      <Switch.Root id="airplane" style={{ width: 42, height: 25 }}>
        <Switch.Thumb style={{ display: "block", width: 21, height: 21, background: "gray" }} />
      </Switch.Root>
    </div>
    <form>
      <RadioGroup.Root defaultValue="default" aria-label="View density">
        {["default", "comfortable", "compact"].map((value) => (
          <div key={value}>
            <RadioGroup.Item value={value} id={value} style={box}>
              <RadioGroup.Indicator>•</RadioGroup.Indicator>
            </RadioGroup.Item>
            <label htmlFor={value}>{value}</label>
          </div>
        ))}
      </RadioGroup.Root>
      <Select.Root name="fruit">
        <Select.Trigger aria-label="Food">
          <Select.Value placeholder="Select a fruit…" />
          <Select.Icon>▾</Select.Icon>
        </Select.Trigger>
        <Select.Portal>
          <Select.Content>
            <Select.Viewport>
              {["Apple", "Banana"].map((fruit) => (
                <Select.Item key={fruit} value={fruit}>
                  <Select.ItemText>{fruit}</Select.ItemText>
                </Select.Item>
              ))}
            </Select.Viewport>
          </Select.Content>
        </Select.Portal>
      </Select.Root>
    </form>
    <Slider.Root defaultValue={[50]} max={100} style={{ position: "relative", display: "flex", width: 200, height: 20 }}>
      <Slider.Track style={{ flexGrow: 1, height: 3, background: "silver" }}>
        <Slider.Range />
      </Slider.Track>
      <Slider.Thumb aria-label="Volume" style={{ display: "block", width: 20, height: 20, background: "gray" }} />
    </Slider.Root>
    <Accordion.Root type="single" collapsible defaultValue="a">
      <Accordion.Item value="a">
        <Accordion.Header>
          <Accordion.Trigger>Is it accessible?</Accordion.Trigger>
        </Accordion.Header>
        <Accordion.Content>Yes. It adheres to the pattern.</Accordion.Content>
      </Accordion.Item>
    </Accordion.Root>
    <ToggleGroup.Root type="single" defaultValue="center" aria-label="Text alignment">
      <ToggleGroup.Item value="left" aria-label="Left aligned">
        <i style={{ ...box, display: "block" }} />
      </ToggleGroup.Item>
      <ToggleGroup.Item value="center" aria-label="Center aligned">
        <i style={{ ...box, display: "block" }} />
      </ToggleGroup.Item>
    </ToggleGroup.Root>
    <DropdownMenu.Root>
      <DropdownMenu.Trigger>Options</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content>
          <DropdownMenu.Item>New Tab</DropdownMenu.Item>
          <DropdownMenu.CheckboxItem checked>Show Bookmarks</DropdownMenu.CheckboxItem>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
    <Dialog.Root>
      <Dialog.Trigger>Edit profile</Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay />
        <Dialog.Content>
          <Dialog.Title>Edit profile</Dialog.Title>
          <Dialog.Description>Make changes here.</Dialog.Description>
          <Dialog.Close aria-label="Close">×</Dialog.Close>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  </div>,
);
