const answer = document.querySelector("#answer");
const note = document.querySelector("#note");
const on = (id, act) => document.querySelector(id).addEventListener("click", act);

on("#alert", () => {
  alert("The shop closes at six.");
  answer.value = "alert closed";
});
on("#confirm", () => {
  answer.value = confirm("Empty the basket?") ? "emptied" : "kept";
});
on("#prompt", () => {
  const name = prompt("Name of the voucher", "WELCOME");
  answer.value = name === null ? "no voucher" : `voucher ${name}`;
});
on("#modal", () => note.showModal());
note.addEventListener("close", () => {
  const text = document.querySelector("#note-text").value;
  answer.value = note.returnValue === "save" ? `note: ${text}` : "note dropped";
});
addEventListener("beforeunload", (event) => {
  if (document.querySelector("#guard").checked) event.preventDefault();
});
