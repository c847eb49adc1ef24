// The service worker: it connects servers to the tabs that the user chooses.

import { Connection, openSocket } from "./connection.js";
import { isToken } from "./token.js";

/** The open connections by their numbers. */
const connections = new Map();
let lastNumber = 0;

/** Schemes of pages that Chrome lets an extension attach to. */
const SCHEMES = ["http:", "https:", "file:", "about:", "data:", "blob:"];

chrome.debugger.onEvent.addListener((source, method, params) => {
  owner(source.tabId)?.forward("chrome.debugger.onEvent", [source, method, params]);
});
chrome.debugger.onDetach.addListener((source, reason) => {
  owner(source.tabId)?.onDetached(source, reason);
});
chrome.tabs.onCreated.addListener((tab) => {
  owner(tab.openerTabId)?.offer(tab);
});
chrome.tabs.onRemoved.addListener((tabId) => {
  owner(tabId)?.forward("chrome.tabs.onRemoved", [tabId]);
});
// Chrome removes the badge of a tab when it navigates.
chrome.tabs.onUpdated.addListener((tabId, change) => {
  if (change.status) owner(tabId)?.mark(tabId);
});
chrome.action.onClicked.addListener(() => chrome.tabs.create({ url: "status.html" }));

chrome.runtime.onMessage.addListener((message, sender, respond) => {
  answer(message, sender).then(
    (result) => respond({ result }),
    (error) => respond({ error: String(error.message ?? error) }),
  );
  // The response is asynchronous.
  return true;
});

/** Returns the connection that a tab belongs to. */
function owner(tabId) {
  return [...connections.values()].find((connection) => connection.tabs.has(tabId));
}

/** Answers a message of one of the extension's own pages. */
async function answer(message, sender) {
  switch (message.type) {
    case "tabs":
      return (await chrome.tabs.query({})).filter(isFree).map(({ id, title, url }) => ({ id, title, url }));
    case "connect":
      return await connect(message, sender.tab);
    case "status":
      return await Promise.all([...connections.values()].map((connection) => connection.status()));
    case "disconnect":
      return connections.get(message.number)?.close("The user has ended the connection");
  }
  throw new Error(`Unknown message: ${message.type}`);
}

/** Whether a tab can be chosen. */
function isFree(tab) {
  return !owner(tab.id) && SCHEMES.some((scheme) => tab.url?.startsWith(scheme));
}

/** Connects a server to the tab that the user chose, or to a new one. A request with a token must have the right one. */
async function connect({ relay, client, tabId, token, background }, page) {
  if (token !== undefined && !(await isToken(token))) throw new Error("The token of the server is not the one of this browser profile.");
  const socket = await openSocket(relay);
  const number = ++lastNumber;
  const connection = new Connection(socket, number, client, () => connections.delete(number));
  connections.set(number, connection);
  try {
    const active = !background;
    const tab =
      tabId === undefined
        ? await chrome.tabs.create({ url: "about:blank", active })
        : await (active ? chrome.tabs.update(tabId, { active }) : chrome.tabs.get(tabId));
    if (active) await chrome.windows.update(tab.windowId, { focused: true });
    connection.offer(tab);
    connection.forward("extension.initialized", []);
  } catch (error) {
    connection.close("The tab does not exist");
    throw error;
  }
  // The page has no further purpose.
  if (page) await chrome.tabs.remove(page.id);
}
