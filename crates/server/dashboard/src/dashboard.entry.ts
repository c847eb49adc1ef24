// The dashboard: sessions with their live views, calls and logs, and their use by a user.

import { element, setText } from "./dom";
import { Lists } from "./lists";
import type { Message, Session, ShownPage } from "./messages";
import { FileChooserForm } from "./file_chooser";
import { Screen } from "./screen";
import { label, SessionList } from "./sessions";

const RECONNECT_INTERVAL = 2000;

/** Where the page keeps what its login gave it: a browser sends the cookie to other ports of the host, too. */
const LOGIN = "playhouse-login";

const takeOver = element<HTMLButtonElement>("take-over");
const handBack = element<HTMLButtonElement>("hand-back");
const pages = element<HTMLSelectElement>("pages");
const dialog = element<HTMLFormElement>("dialog");
const dialogInput = element<HTMLInputElement>("dialog-input");

let socket: WebSocket | null = null;
let selected: string | null = null;
let selectedPage: string | null = null;
let controlled: string | null = null;
let page: ShownPage | null = null;

const send = (message: object) => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
};
const fileChooser = new FileChooserForm(send, () => socket, report);
const lists = new Lists();
const sessions = new SessionList(choose);
const screen = new Screen(send, () => (handBack.hidden ? takeOver : handBack).focus());

function choose(id: string): void {
  if (selected === id) return;
  if (controlled !== null) send({ do: "handBack" });
  selected = id;
  selectedPage = null;
  report(null);
  sessions.select(id);
  send({ do: "show", session: id, page: null });
  render();
}

function receive(message: Message): void {
  if (message.sessions) sessions.update(message.sessions);
  if (message.controlled !== undefined) controlled = message.controlled;
  if (message.session !== undefined) {
    lists.clear();
    screen.clear();
    page = null;
    // The session was closed or has expired.
    if (message.session === null) {
      selected = null;
      sessions.select(null);
    }
  }
  if (message.page !== undefined) {
    if (message.page?.id !== page?.id) {
      lists.clearPage();
      screen.clear();
    }
    page = message.page;
  }
  if (message.denied !== undefined) report(message.denied);
  if (message.error !== undefined) {
    fileChooser.stop();
    report(message.error);
  }
  if (message.calls) lists.addCalls(message.calls);
  if (message.console) lists.addConsole(message.console);
  if (message.requests) lists.showRequests(message.requests);
  if (message.log) lists.addLog(message.log.server, message.log.text);
  if (message.sessions || message.controlled !== undefined || message.session !== undefined || message.page !== undefined) render();
}

function report(text: string | null): void {
  element("error").hidden = text === null;
  setText(element("error"), text ?? "");
}

function render(): void {
  const session = sessions.find(selected);
  element("session").hidden = !session;
  element("calls-column").hidden = !session;
  element("choose").hidden = Boolean(session);
  if (!session) return;
  setText(element("title"), `Session ${label(session)}`);
  setText(element("url"), page?.url ?? "No page is open.");
  const isOurs = controlled === session.id;
  const hasControl = isOurs && session.holder === "user";
  const hadFocus = document.activeElement === takeOver || document.activeElement === handBack;
  takeOver.hidden = isOurs;
  takeOver.disabled = session.holder !== "calls";
  handBack.hidden = !isOurs;
  element("annotate").hidden = !hasControl || session.isAnnotated;
  if (hadFocus) (isOurs ? handBack : takeOver).focus();
  setText(element("control"), controlText(session, isOurs));
  screen.control(hasControl || session.isAnnotated);
  renderPages(session);
  renderDialog(hasControl);
  fileChooser.render(page?.fileChooser ?? null, hasControl);
}

function controlText(session: Session, isOurs: boolean): string {
  if (session.isAnnotated && isOurs)
    return "Mark the page in the view: drag over areas or click elements, write notes, and send them to the agent. F8 leaves the view.";
  if (session.isAnnotated) return "The agent requests annotations: mark the page in the view. F8 leaves the view.";
  if (session.holder === "calls") return "";
  if (!isOurs) return "Another dashboard has taken this session over. You can take it over when that dashboard has handed it back.";
  return session.holder === "user"
    ? "You have control: mouse and keyboard in the view go to the page, and calls that act wait. F8 leaves the view."
    : "You get control when the running call ends.";
}

function renderPages(session: Session): void {
  const names = session.pages.map(({ id, url, context }) => ({ id, text: context ? `${context}: ${url}` : url }));
  const options = [{ id: "", text: "current" }, ...names];
  const isSame =
    options.length === pages.options.length &&
    options.every(({ id, text }, index) => pages.options[index]?.value === id && pages.options[index]?.text === text);
  if (!isSame) pages.replaceChildren(...options.map(({ id, text }) => new Option(text, id)));
  if (!session.pages.some(({ id }) => id === selectedPage)) selectedPage = null;
  pages.value = selectedPage ?? "";
  element("pages-label").hidden = session.pages.length < 2;
}

function renderDialog(hasControl: boolean): void {
  const shown = page?.dialog ?? null;
  const wasHidden = dialog.hidden;
  dialog.hidden = !shown;
  if (!shown) return;
  setText(element("dialog-text"), `The page shows a dialog (${shown.kind}): ${shown.message}`);
  element("dialog-label").hidden = shown.kind !== "prompt";
  if (wasHidden) dialogInput.value = shown.text;
  for (const id of ["dialog-accept", "dialog-dismiss"]) element<HTMLButtonElement>(id).disabled = !hasControl;
}

takeOver.addEventListener("click", () => {
  report(null);
  send({ do: "takeOver" });
});
handBack.addEventListener("click", () => send({ do: "handBack" }));
element("annotate").addEventListener("click", () => {
  send({ do: "annotate" });
  element("screen").focus();
});
element("close").addEventListener("click", () => {
  if (confirm("Close this session? Its pages, cookies and storage are gone then.")) send({ do: "close" });
});
pages.addEventListener("change", () => {
  selectedPage = pages.value || null;
  report(null);
  send({ do: "show", session: selected, page: selectedPage });
});
dialog.addEventListener("submit", (event) => {
  event.preventDefault();
  send({ do: "dialog", accept: true, text: page?.dialog?.kind === "prompt" ? dialogInput.value : null });
});
element("dialog-dismiss").addEventListener("click", () => send({ do: "dialog", accept: false, text: null }));

function connect(): void {
  const url = new URL("dashboard/socket", location.href);
  url.protocol = url.protocol.replace("http", "ws");
  url.searchParams.set("page", localStorage.getItem(LOGIN) ?? "");
  const opened = new WebSocket(url);
  let isRefused = true;
  socket = opened;
  opened.binaryType = "blob";
  opened.addEventListener("open", () => {
    isRefused = false;
    setText(element("connection"), "Connected");
    if (selected !== null) send({ do: "show", session: selected, page: selectedPage });
  });
  opened.addEventListener("message", ({ data }) => {
    if (data instanceof Blob) screen.show(data);
    else receive(JSON.parse(data));
  });
  opened.addEventListener("close", () => {
    setText(element("connection"), "Disconnected");
    fileChooser.stop();
    controlled = null;
    render();
    setTimeout(() => void reconnect(isRefused), RECONNECT_INTERVAL);
  });
}

/** Connects again, or shows the login where the old one has ended or is that of another page. */
async function reconnect(isRefused: boolean): Promise<void> {
  try {
    const response = await fetch(location.href);
    if (response.redirected || !response.ok) return location.reload();
    if (isRefused) return location.assign("dashboard/login");
  } catch {
    // The server does not run.
  }
  connect();
}

if (location.hash) {
  localStorage.setItem(LOGIN, location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
}
connect();
