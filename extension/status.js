// The page of the extension's icon: the open connections, and the token.

import { button, element, entry, request } from "./pages.js";
import { getToken, replaceToken } from "./token.js";

const token = document.querySelector("#token");

async function show() {
  const connections = await request({ type: "status" });
  document.querySelector("#none").hidden = connections.length > 0;
  document.querySelector("#connections").replaceChildren(...connections.map(section));
}

function section({ number, client, tabs }) {
  const list = element("ul", "");
  list.append(...tabs.map((tab) => entry(tab)));
  const end = button("Disconnect", async () => {
    await request({ type: "disconnect", number });
    await show();
  });
  const section = element("section", "");
  section.append(element("h2", client), list, end);
  return section;
}

document.querySelector("#replace").onclick = async () => {
  token.textContent = await replaceToken();
};
document.addEventListener("visibilitychange", () => document.hidden || show());
token.textContent = await getToken();
await show();
