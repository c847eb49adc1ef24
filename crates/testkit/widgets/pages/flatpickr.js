import "flatpickr/dist/flatpickr.css";
import flatpickr from "flatpickr";

document.querySelector("#root").innerHTML = "<label>Date <input id=date></label><h2>Inline</h2><input id=inline aria-label=Inline>";
flatpickr("#date", { defaultDate: "2026-03-10" });
flatpickr("#inline", { inline: true, defaultDate: "2026-03-10", enableTime: true });
