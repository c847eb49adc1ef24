for (const card of document.querySelectorAll("[draggable]")) {
  card.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", card.id));
}
for (const list of document.querySelectorAll(".board ul")) {
  list.addEventListener("dragover", (event) => event.preventDefault());
  list.addEventListener("drop", (event) => {
    event.preventDefault();
    const card = document.getElementById(event.dataTransfer.getData("text/plain"));
    if (card) list.append(card);
  });
}
