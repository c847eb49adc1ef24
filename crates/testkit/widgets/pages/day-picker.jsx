import "react-day-picker/style.css";
import { useState } from "react";
import { DayPicker } from "react-day-picker";
import { createRoot } from "react-dom/client";

function App() {
  const [selected, setSelected] = useState();
  const footer = selected ? `Selected: ${selected.toLocaleDateString("en")}` : "Pick a day.";
  return <DayPicker animate mode="single" defaultMonth={new Date(2026, 2)} selected={selected} onSelect={setSelected} footer={footer} />;
}

createRoot(document.querySelector("#root")).render(<App />);
