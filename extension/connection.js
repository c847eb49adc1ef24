// A connection to a server: it sends calls of `chrome.debugger` and `chrome.tabs`, and receives their results and events.

/** How long a server may take to accept the connection, in milliseconds. */
const CONNECT_TIMEOUT = 5000;

/** The calls that a server may make, each with a check of its arguments. */
const CALLS = {
  "chrome.debugger.attach": (connection, [target, version]) => connection.attach(target.tabId, version),
  "chrome.debugger.detach": (connection, [target]) => connection.detach(target.tabId),
  "chrome.debugger.sendCommand": (connection, [target, method, params]) => {
    connection.requireOwn(target.tabId);
    return chrome.debugger.sendCommand(target, method, params);
  },
  "chrome.tabs.create": (connection, [properties]) => connection.createTab(properties),
  "chrome.tabs.remove": (connection, [tabId]) => {
    connection.requireOwn(tabId);
    return chrome.tabs.remove(tabId);
  },
};

/** Opens the WebSocket of a server on this computer. */
export async function openSocket(relay) {
  const url = new URL(relay);
  if (url.protocol !== "ws:" || !["127.0.0.1", "[::1]"].includes(url.hostname))
    throw new Error(`Only servers on this computer can connect (127.0.0.1 or [::1]), not ${url.host}.`);
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("The server does not wait for a connection any more. Let it try again."));
    setTimeout(() => reject(new Error("The server does not respond.")), CONNECT_TIMEOUT);
  });
  return socket;
}

export class Connection {
  /** The tabs that the server controls. */
  tabs = new Set();
  /** The tabs that it may control: chosen by the user, opened by the server or by a tab that it controls. */
  #offered = new Set();
  #socket;
  #onClosed;

  constructor(socket, number, client, onClosed) {
    this.number = number;
    this.client = client;
    this.#socket = socket;
    this.#onClosed = onClosed;
    socket.onmessage = ({ data }) => this.#onMessage(data);
    socket.onclose = () => this.#end();
  }

  /** Sends an event. */
  forward(method, params) {
    this.#send({ method, params });
  }

  /** Lets the server attach to a tab, and reports the tab. */
  offer(tab) {
    this.#offered.add(tab.id);
    this.forward("chrome.tabs.onCreated", [tab]);
  }

  /** Reports that Chrome has detached from a tab. Without a tab, the connection ends. */
  onDetached(source, reason) {
    this.forward("chrome.debugger.onDetach", [source, reason]);
    this.#release(source.tabId);
    if (this.tabs.size > 0) return;
    this.close(reason === "canceled_by_user" ? "The user has stopped the debugging" : "Its last tab was closed");
  }

  /** Marks a tab as controlled. */
  mark(tabId) {
    // The tab may be closed.
    chrome.action.setBadgeText({ tabId, text: this.tabs.has(tabId) ? "ON" : "" }).catch(() => {});
  }

  async status() {
    const tabs = await Promise.allSettled([...this.tabs].map((tabId) => chrome.tabs.get(tabId)));
    const open = tabs.flatMap(({ value }) => (value ? [value] : []));
    return { number: this.number, client: this.client, tabs: open.map(({ title, url }) => ({ title, url })) };
  }

  close(reason) {
    this.#socket.close(1000, reason);
    // `onclose` follows later.
    this.#end();
  }

  requireOwn(tabId) {
    if (!this.tabs.has(tabId)) throw new Error(`The tab ${tabId} does not belong to this connection.`);
  }

  async attach(tabId, version) {
    if (!this.#offered.has(tabId)) throw new Error(`The user has not chosen the tab ${tabId}.`);
    await chrome.debugger.attach({ tabId }, version);
    this.tabs.add(tabId);
    this.mark(tabId);
  }

  async detach(tabId) {
    this.requireOwn(tabId);
    await chrome.debugger.detach({ tabId });
    this.#release(tabId);
  }

  async createTab(properties) {
    const tab = await chrome.tabs.create(properties);
    this.#offered.add(tab.id);
    return tab;
  }

  #release(tabId) {
    this.tabs.delete(tabId);
    this.mark(tabId);
  }

  async #onMessage(data) {
    const { id, method, params } = JSON.parse(data);
    try {
      const call = CALLS[method];
      if (!call) throw new Error(`Unknown method: ${method}`);
      this.#send({ id, result: (await call(this, params ?? [])) ?? {} });
    } catch (error) {
      this.#send({ id, error: String(error.message ?? error) });
    }
  }

  #send(message) {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #end() {
    for (const tabId of this.tabs) {
      // Chrome may have detached.
      chrome.debugger.detach({ tabId }).catch(() => {});
      this.#release(tabId);
    }
    this.#onClosed();
  }
}
