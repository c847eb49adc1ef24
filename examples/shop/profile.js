import { toast } from "./shop.js";

const form = document.querySelector("#profile");
const volume = document.querySelector("#volume");

volume.addEventListener("input", () => {
  document.querySelector("#volume-now").value = volume.value;
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const fields = {};
  for (const [name, value] of new FormData(form)) {
    const text = value instanceof File ? value.name : value;
    fields[name] = name in fields ? [fields[name], text].flat() : text;
  }
  fields.secret = "•".repeat(fields.secret.length);
  fields.motto = document.querySelector("#motto").textContent;
  document.querySelector("#saved").textContent = JSON.stringify(fields, null, 1);
  toast("Profile saved");
});
