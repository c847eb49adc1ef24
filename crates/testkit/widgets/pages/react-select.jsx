import { createRoot } from "react-dom/client";
import Select from "react-select";

const options = ["Chocolate", "Strawberry", "Vanilla"].map((label) => ({ label, value: label.toLowerCase() }));

createRoot(document.querySelector("#root")).render(
  <div style={{ maxWidth: 400, minHeight: 400 }}>
    <label htmlFor="flavour">Flavour</label>
    <Select inputId="flavour" options={options} isClearable defaultValue={options[0]} />
    <p>Toppings</p>
    <Select isMulti aria-label="Toppings" options={options} defaultValue={[options[2]]} />
  </div>,
);
