const input = document.querySelector("#receipts");
const zone = document.querySelector("#zone");
const received = document.querySelector("#received");

async function send(files) {
  const body = new FormData();
  for (const file of files) body.append("receipts", file);
  const answer = await fetch("../echo", { method: "POST", body });
  const { files: stored } = await answer.json();
  received.replaceChildren(
    ...stored.map(({ name, size }) => {
      const item = document.createElement("li");
      item.textContent = `${name} (${size} bytes)`;
      return item;
    }),
  );
}

document.querySelector("#upload").addEventListener("submit", (event) => {
  event.preventDefault();
  return send(input.files);
});
document.querySelector("#choose").addEventListener("click", () => {
  const hidden = document.createElement("input");
  hidden.type = "file";
  hidden.addEventListener("change", () => send(hidden.files));
  hidden.click();
});
zone.addEventListener("dragover", (event) => event.preventDefault());
zone.addEventListener("drop", (event) => {
  event.preventDefault();
  return send(event.dataTransfer.files);
});
document.querySelector("#report").addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["all is well\n"], { type: "text/plain" }));
  link.download = "report.txt";
  link.click();
});
