// The calls, the console, the requests and the log of the shown session.

import { create, element, isAtEnd, setText } from "./dom";
import type { Call, ConsoleLine, RequestLine } from "./messages";
import { duration } from "./time";

const MAX_CALLS = 200;
const MAX_LINES = 500;
const MAX_LOG = 100_000;

interface ShownCall {
  item: HTMLElement;
  title: HTMLElement;
  duration: HTMLElement;
  texts: HTMLElement;
}

export class Lists {
  private readonly calls = element("calls");
  private readonly console = element("console");
  private readonly requests = element("requests");
  private readonly log = element("log");
  private readonly shown = new Map<number, ShownCall>();

  clear(): void {
    this.shown.clear();
    this.calls.replaceChildren();
    this.log.textContent = "";
    element("log-section").hidden = true;
    this.clearPage();
  }

  clearPage(): void {
    this.console.replaceChildren();
    this.requests.replaceChildren();
  }

  addCalls(calls: Call[]): void {
    for (const call of calls) {
      const shown = this.shown.get(call.number) ?? this.add(call);
      setText(shown.title, call.tool);
      shown.title.className = call.isError ? "name error" : "name";
      const state = call.duration === null ? "running" : duration(call.duration);
      setText(shown.duration, ` ${call.isError ? "failed, " : ""}${state}`);
      shown.texts.replaceChildren(create("pre", "", call.arguments), create("pre", call.isError ? "error" : "", call.answer));
    }
    while (this.shown.size > MAX_CALLS) {
      const [oldest] = this.shown.keys();
      if (oldest === undefined) return;
      this.shown.get(oldest)?.item.remove();
      this.shown.delete(oldest);
    }
  }

  addConsole(lines: ConsoleLine[]): void {
    const follows = isAtEnd(this.console);
    for (const { kind, text, location } of lines) {
      const isError = kind === "error" || kind === "pageError" || kind === "assert";
      const line = create("li", isError ? "error" : kind === "warning" ? "warning" : "", `[${kind}] ${text}`);
      if (location) line.title = location;
      this.console.append(line);
    }
    while (this.console.childElementCount > MAX_LINES) this.console.firstElementChild?.remove();
    if (follows) this.console.scrollTop = this.console.scrollHeight;
  }

  showRequests(lines: RequestLine[]): void {
    const follows = isAtEnd(this.requests);
    const items = lines.map(({ method, url, status, failure, duration: took }) => {
      const outcome = failure ?? (status === null ? "…" : String(status));
      const isError = failure !== null || (status ?? 0) >= 400;
      return create("li", isError ? "error" : "", `${outcome} ${method} ${url}${took === null ? "" : ` (${duration(took)})`}`);
    });
    this.requests.replaceChildren(...items);
    if (follows) this.requests.scrollTop = this.requests.scrollHeight;
  }

  addLog(server: string, text: string): void {
    element("log-section").hidden = false;
    const follows = isAtEnd(this.log);
    const lines = text.replace(/\n$/, "").split("\n");
    const added = `${this.log.textContent}${lines.map((line) => `${server}: ${line}\n`).join("")}`;
    this.log.textContent = added.slice(-MAX_LOG);
    if (follows) this.log.scrollTop = this.log.scrollHeight;
  }

  private add(call: Call): ShownCall {
    const details = create("details");
    const summary = create("summary");
    const [title, took, texts] = [create("span", "name"), create("span", "duration"), create("div")];
    summary.append(title, took);
    details.append(summary, texts);
    const item = create("li");
    item.append(details);
    this.calls.prepend(item);
    const shown = { item, title, duration: took, texts };
    this.shown.set(call.number, shown);
    return shown;
  }
}
