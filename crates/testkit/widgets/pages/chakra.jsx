import {
  Button,
  ChakraProvider,
  Checkbox,
  defaultSystem,
  Field,
  FileUpload,
  Input,
  Menu,
  Portal,
  RadioGroup,
  Slider,
  Stack,
  Switch,
  Tabs,
} from "@chakra-ui/react";
import { createRoot } from "react-dom/client";

createRoot(document.querySelector("#root")).render(
  <ChakraProvider value={defaultSystem}>
    <Stack maxW="400px" gap="4">
      <Field.Root>
        <Field.Label>Email</Field.Label>
        <Input placeholder="me@example.com" />
        <Field.HelperText>We never share it.</Field.HelperText>
      </Field.Root>
      <Checkbox.Root defaultChecked>
        <Checkbox.HiddenInput />
        <Checkbox.Control />
        <Checkbox.Label>Accept terms and conditions</Checkbox.Label>
      </Checkbox.Root>
      <Switch.Root>
        <Switch.HiddenInput />
        <Switch.Control />
        <Switch.Label>Activate Chakra</Switch.Label>
      </Switch.Root>
      <RadioGroup.Root defaultValue="1" aria-label="Plan">
        {["1", "2"].map((value) => (
          <RadioGroup.Item key={value} value={value}>
            <RadioGroup.ItemHiddenInput />
            <RadioGroup.ItemIndicator />
            <RadioGroup.ItemText>Option {value}</RadioGroup.ItemText>
          </RadioGroup.Item>
        ))}
      </RadioGroup.Root>
      <Slider.Root defaultValue={[40]}>
        <Slider.Label>Quantity</Slider.Label>
        <Slider.Control>
          <Slider.Track>
            <Slider.Range />
          </Slider.Track>
          <Slider.Thumbs />
        </Slider.Control>
      </Slider.Root>
      <Tabs.Root defaultValue="members">
        <Tabs.List>
          <Tabs.Trigger value="members">Members</Tabs.Trigger>
          <Tabs.Trigger value="projects">Projects</Tabs.Trigger>
        </Tabs.List>
        <Tabs.Content value="members">Manage your team members</Tabs.Content>
        <Tabs.Content value="projects">Manage your projects</Tabs.Content>
      </Tabs.Root>
      <Menu.Root>
        <Menu.Trigger asChild>
          <Button variant="outline">Open</Button>
        </Menu.Trigger>
        <Portal>
          <Menu.Positioner>
            <Menu.Content>
              <Menu.Item value="txt">New Text File</Menu.Item>
              <Menu.Item value="file">New File...</Menu.Item>
            </Menu.Content>
          </Menu.Positioner>
        </Portal>
      </Menu.Root>
      <FileUpload.Root>
        <FileUpload.HiddenInput />
        <FileUpload.Trigger asChild>
          <Button variant="outline">Upload file</Button>
        </FileUpload.Trigger>
        <FileUpload.List />
      </FileUpload.Root>
    </Stack>
  </ChakraProvider>,
);
