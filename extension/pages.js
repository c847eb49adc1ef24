// Functions of the extension's pages.

/** Sends a message to the service worker and returns its result. */
export async function request(message) {
  const { result, error } = await chrome.runtime.sendMessage(message);
  if (error !== undefined) throw new Error(error);
  return result;
}

/** Creates an element. Texts of pages and servers are never HTML. */
export function element(name, text, properties = {}) {
  return Object.assign(document.createElement(name), { textContent: text }, properties);
}

/** Creates an entry of a list for a tab, with a button. */
export function entry(tab, button) {
  const item = element("li", "");
  item.append(...(button ? [button] : []), element("b", tab.title || "(no title)"), element("small", tab.url));
  return item;
}

/** Creates a button. */
export function button(text, onclick) {
  return element("button", text, { onclick });
}
