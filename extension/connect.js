// The page that a server opens to connect: the user chooses a tab, or refuses.

import { button, entry, request } from "./pages.js";

/** The version of the protocol between servers and the extension. */
const PROTOCOL_VERSION = 2;

const parameters = new URLSearchParams(location.search);
const choice = document.querySelector("#choice");
const status = document.querySelector("#status");

function clientName() {
  try {
    return String(JSON.parse(parameters.get("client")).name || "A program");
  } catch {
    return "A program";
  }
}

const client = clientName();
const token = parameters.get("token") ?? undefined;

function fail(message) {
  choice.hidden = true;
  status.textContent = `No connection: ${message}`;
  status.className = "error";
}

async function connect(tabId) {
  choice.hidden = true;
  status.textContent = "Connecting …";
  try {
    const background = parameters.get("background") === "true";
    await request({ type: "connect", relay: parameters.get("mcpRelayUrl"), client, tabId, token, background });
  } catch (error) {
    fail(error.message);
  }
}

async function showTabs() {
  const tabs = await request({ type: "tabs" });
  document.querySelector("#tabs").replaceChildren(
    ...tabs.map((tab) =>
      entry(
        tab,
        button("Allow", () => connect(tab.id)),
      ),
    ),
  );
}

async function start() {
  const version = Number(parameters.get("protocolVersion") ?? 1);
  if (version !== PROTOCOL_VERSION)
    return fail(`the server uses version ${version} of the protocol, and this extension version ${PROTOCOL_VERSION}.`);
  if (token !== undefined) return await connect();
  status.textContent = `“${client}” requests a connection.`;
  await showTabs();
  for (const changed of [chrome.tabs.onUpdated, chrome.tabs.onRemoved]) changed.addListener(showTabs);
  document.querySelector("#new").onclick = () => connect();
  document.querySelector("#refuse").onclick = () => window.close();
  choice.hidden = false;
}

start().catch((error) => fail(error.message));
