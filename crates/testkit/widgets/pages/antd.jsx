import { DeleteOutlined, DownloadOutlined, UploadOutlined } from "@ant-design/icons";
import {
  Button,
  Checkbox,
  DatePicker,
  Dropdown,
  Form,
  Input,
  Radio,
  Rate,
  Select,
  Slider,
  Space,
  Switch,
  Table,
  Tabs,
  Tree,
  Upload,
} from "antd";
import { createRoot } from "react-dom/client";

const columns = [
  { title: "Name", dataIndex: "name", sorter: (a, b) => a.name.localeCompare(b.name) },
  { title: "Age", dataIndex: "age", sorter: (a, b) => a.age - b.age },
  { title: "Action", render: (_, record) => <a href="#delete">Delete {record.name}</a> },
];
const data = [
  { key: 1, name: "John Brown", age: 32 },
  { key: 2, name: "Jim Green", age: 42 },
  { key: 3, name: "Ann Black", age: 24 },
];

createRoot(document.querySelector("#root")).render(
  <Form layout="vertical" style={{ width: 700 }}>
    <Form.Item label="Title" name="title" required>
      <Input placeholder="Title of the task" allowClear />
    </Form.Item>
    <Form.Item label="Tags" name="tags" initialValue={["red"]}>
      <Select mode="multiple" options={["red", "green", "blue"].map((value) => ({ value }))} />
    </Form.Item>
    <Form.Item label="Due" name="due">
      <DatePicker />
    </Form.Item>
    <Form.Item label="Urgent" name="urgent" valuePropName="checked">
      <Switch checkedChildren="on" unCheckedChildren="off" />
    </Form.Item>
    <Form.Item label="Size" name="size" initialValue="small">
      <Radio.Group buttonStyle="solid">
        <Radio.Button value="small">Small</Radio.Button>
        <Radio.Button value="large">Large</Radio.Button>
      </Radio.Group>
    </Form.Item>
    <Checkbox>Remember me</Checkbox>
    <Rate defaultValue={3} />
    <Slider defaultValue={30} />
    <Space>
      <Upload beforeUpload={() => false}>
        <Button icon={<UploadOutlined />}>Click to Upload</Button>
      </Upload>
      <Button type="primary" icon={<DownloadOutlined />} />
      <Button danger icon={<DeleteOutlined />} title="Remove" />
      <Dropdown menu={{ items: [{ key: 1, label: "1st menu item" }] }}>
        <a href="#menu" onClick={(event) => event.preventDefault()}>
          Hover me
        </a>
      </Dropdown>
    </Space>
    <Tabs
      items={[
        { key: 1, label: "Tab 1", children: "Content of Tab 1" },
        { key: 2, label: "Tab 2", children: "Content of Tab 2" },
      ]}
    />
    <Tree checkable defaultExpandAll treeData={[{ key: 1, title: "parent", children: [{ key: 2, title: "leaf" }] }]} />
    <Table columns={columns} dataSource={data} rowSelection={{}} pagination={{ pageSize: 2 }} />
  </Form>,
);
