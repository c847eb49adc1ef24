// Functions that all pages of the shop share: requests, toasts and the theme.

export async function ask(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

export function toast(text) {
  const note = document.createElement("p");
  note.textContent = text;
  document.querySelector("#toasts").append(note);
  setTimeout(() => note.remove(), 4000);
}

const button = document.querySelector("#theme");

function paint(theme) {
  document.documentElement.dataset.theme = theme;
  button.setAttribute("aria-pressed", String(theme === "dark"));
}

paint(localStorage.getItem("theme") ?? "light");
button.addEventListener("click", () => {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", theme);
  paint(theme);
});
