import {
  Button,
  Checkbox,
  Combobox,
  DataGrid,
  DataGridBody,
  DataGridCell,
  DataGridHeader,
  DataGridHeaderCell,
  DataGridRow,
  Dropdown,
  Field,
  FluentProvider,
  createTableColumn,
  Input,
  Menu,
  MenuItem,
  MenuList,
  MenuPopover,
  MenuTrigger,
  Option,
  Radio,
  RadioGroup,
  Slider,
  SpinButton,
  Switch,
  Tab,
  TabList,
  webLightTheme,
} from "@fluentui/react-components";
import { createRoot } from "react-dom/client";

const items = [
  { file: "Meeting notes", author: "Max Mustermann" },
  { file: "Thursday presentation", author: "Erika Mustermann" },
];
const columns = ["file", "author"].map((columnId) =>
  createTableColumn({
    columnId,
    compare: (a, b) => a[columnId].localeCompare(b[columnId]),
    renderHeaderCell: () => columnId,
    renderCell: (item) => item[columnId],
  }),
);

createRoot(document.querySelector("#root")).render(
  <FluentProvider theme={webLightTheme} style={{ maxWidth: 600 }}>
    <Field label="Sample input" hint="A hint">
      <Input />
    </Field>
    <Field label="Best pet">
      <Dropdown placeholder="Select an animal">
        <Option>Cat</Option>
        <Option>Dog</Option>
      </Dropdown>
    </Field>
    <Combobox aria-label="City" placeholder="Select a city">
      <Option>Berlin</Option>
      <Option>Bern</Option>
    </Combobox>
    <Checkbox label="Required" defaultChecked />
    <Switch label="This is a switch" />
    <Field label="Favorite fruit">
      <RadioGroup defaultValue="apple">
        <Radio value="apple" label="Apple" />
        <Radio value="pear" label="Pear" />
      </RadioGroup>
    </Field>
    <Slider defaultValue={20} aria-label="Basic" />
    <SpinButton defaultValue={10} aria-label="Count" />
    <TabList defaultSelectedValue="tab1">
      <Tab value="tab1">First Tab</Tab>
      <Tab value="tab2">Second Tab</Tab>
    </TabList>
    <Menu>
      <MenuTrigger>
        <Button>Toggle menu</Button>
      </MenuTrigger>
      <MenuPopover>
        <MenuList>
          <MenuItem>New window</MenuItem>
          <MenuItem>Open Folder</MenuItem>
        </MenuList>
      </MenuPopover>
    </Menu>
    <DataGrid items={items} columns={columns} sortable selectionMode="multiselect" getRowId={(item) => item.file}>
      <DataGridHeader>
        <DataGridRow selectionCell={{ checkboxIndicator: { "aria-label": "Select all rows" } }}>
          {({ renderHeaderCell }) => <DataGridHeaderCell>{renderHeaderCell()}</DataGridHeaderCell>}
        </DataGridRow>
      </DataGridHeader>
      <DataGridBody>
        {({ item, rowId }) => (
          <DataGridRow key={rowId} selectionCell={{ checkboxIndicator: { "aria-label": "Select row" } }}>
            {({ renderCell }) => <DataGridCell>{renderCell(item)}</DataGridCell>}
          </DataGridRow>
        )}
      </DataGridBody>
    </DataGrid>
  </FluentProvider>,
);
