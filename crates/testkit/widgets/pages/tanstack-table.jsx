import { createColumnHelper, flexRender, getCoreRowModel, getSortedRowModel, useReactTable } from "@tanstack/react-table";
import { useState } from "react";
import { createRoot } from "react-dom/client";

const helper = createColumnHelper();
const people = [
  { first: "Tanner", last: "Linsley", age: 33 },
  { first: "Kevin", last: "Vandy", age: 27 },
  { first: "Joe", last: "Dirte", age: 45 },
];

function Cell({ getValue, row, column, table }) {
  const [value, setValue] = useState(getValue());
  const save = () => table.options.meta.update(row.index, column.id, value);
  return (
    <input
      value={value}
      aria-label={`${column.id} of ${row.original.last}`}
      onChange={(event) => setValue(event.target.value)}
      onBlur={save}
    />
  );
}

const columns = [
  helper.accessor("first", { header: () => <span>First name</span>, cell: Cell }),
  helper.accessor("last", { header: () => <span>Last name</span> }),
  helper.accessor("age", { header: "Age" }),
];

function App() {
  const [data, setData] = useState(people);
  const [sorting, setSorting] = useState([]);
  const update = (index, id, value) => setData((rows) => rows.map((row, at) => (at === index ? { ...row, [id]: value } : row)));
  const table = useReactTable({
    data,
    columns,
    state: { sorting },
    onSortingChange: setSorting,
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
    meta: { update },
  });
  return (
    <table>
      <thead>
        {table.getHeaderGroups().map((group) => (
          <tr key={group.id}>
            {group.headers.map((header) => (
              <th key={header.id}>
                <div style={{ cursor: "pointer" }} onClick={header.column.getToggleSortingHandler()}>
                  {flexRender(header.column.columnDef.header, header.getContext())}
                  {{ asc: " 🔼", desc: " 🔽" }[header.column.getIsSorted()] ?? null}
                </div>
              </th>
            ))}
          </tr>
        ))}
      </thead>
      <tbody>
        {table.getRowModel().rows.map((row) => (
          <tr key={row.id}>
            {row.getVisibleCells().map((cell) => (
              <td key={cell.id}>{flexRender(cell.column.columnDef.cell, cell.getContext())}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

createRoot(document.querySelector("#root")).render(<App />);
