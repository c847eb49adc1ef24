import { useCombobox, useSelect } from "downshift";
import { useState } from "react";
import { createRoot } from "react-dom/client";

const books = ["To Kill a Mockingbird", "War and Peace", "The Idiot"];

function Select() {
  const { isOpen, selectedItem, getToggleButtonProps, getLabelProps, getMenuProps, highlightedIndex, getItemProps } = useSelect({
    items: books,
  });
  return (
    <div>
      <label {...getLabelProps()}>Choose your favorite book:</label>
      <div style={{ border: "1px solid", width: 200, cursor: "pointer" }} {...getToggleButtonProps()}>
        <span>{selectedItem ?? "Elements"}</span> <span>{isOpen ? "↑" : "↓"}</span>
      </div>
      <ul {...getMenuProps()}>
        {isOpen &&
          books.map((item, index) => (
            <li key={item} style={{ background: highlightedIndex === index ? "lightblue" : "white" }} {...getItemProps({ item, index })}>
              {item}
            </li>
          ))}
      </ul>
    </div>
  );
}

function ComboBox() {
  const [items, setItems] = useState(books);
  const { isOpen, getToggleButtonProps, getLabelProps, getMenuProps, getInputProps, getItemProps } = useCombobox({
    onInputValueChange: ({ inputValue }) => setItems(books.filter((book) => book.toLowerCase().includes(inputValue.toLowerCase()))),
    items,
  });
  return (
    <div>
      <label {...getLabelProps()}>Search a book:</label>
      <input placeholder="Best book ever" {...getInputProps()} />
      <button aria-label="toggle menu" type="button" {...getToggleButtonProps()}>
        ↓
      </button>
      <ul {...getMenuProps()}>
        {isOpen &&
          items.map((item, index) => (
            <li key={item} {...getItemProps({ item, index })}>
              {item}
            </li>
          ))}
      </ul>
    </div>
  );
}

createRoot(document.querySelector("#root")).render(
  <>
    <Select />
    <ComboBox />
  </>,
);
