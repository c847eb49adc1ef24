// The list of sessions.

import { create, element, setText } from "./dom";
import type { Session } from "./messages";
import { span } from "./time";

interface Item {
  session: Session;
  item: HTMLElement;
  button: HTMLElement;
  name: HTMLElement;
  url: HTMLElement;
  facts: HTMLElement;
}

export function label(session: Session): string {
  return session.name ?? (session.id === "default" ? "default" : session.id.slice(0, 8));
}

export class SessionList {
  private readonly items = new Map<string, Item>();
  private readonly list = element("sessions");
  private selected: string | null = null;

  constructor(private readonly onChoose: (id: string) => void) {
    setInterval(() => this.showTimes(), 1000);
  }

  find(id: string | null): Session | undefined {
    return id === null ? undefined : this.items.get(id)?.session;
  }

  update(sessions: Session[]): void {
    const ids = new Set(sessions.map(({ id }) => id));
    for (const [id, { item }] of this.items) {
      if (ids.has(id)) continue;
      item.remove();
      this.items.delete(id);
    }
    for (const session of sessions) {
      const known = this.items.get(session.id) ?? this.add(session);
      known.session = session;
      setText(known.name, label(session));
      setText(known.url, session.pages.find(({ isCurrent }) => isCurrent)?.url ?? "no page");
    }
    element("no-sessions").hidden = sessions.length > 0;
    this.showTimes();
  }

  select(id: string | null): void {
    this.selected = id;
    for (const [known, { button }] of this.items) {
      if (known === id) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }

  private add(session: Session): Item {
    const button = create("button");
    const [name, url, facts] = ["name", "url", "facts"].map((kind) => create("span", kind)) as [HTMLElement, HTMLElement, HTMLElement];
    button.append(name, url, facts);
    button.addEventListener("click", () => this.onChoose(session.id));
    const item = create("li");
    item.append(button);
    this.list.append(item);
    const added = { session, item, button, name, url, facts };
    this.items.set(session.id, added);
    if (session.id === this.selected) this.select(session.id);
    return added;
  }

  private showTimes(): void {
    const now = Date.now();
    for (const { session, facts } of this.items.values()) {
      const parts = [session.owner];
      if (session.createdAt !== null) parts.push(`${span(now - session.createdAt)} old`);
      if (session.expiresAt !== null) parts.push(`expires in ${span(session.expiresAt - now)}`);
      parts.push(session.calls === 1 ? "1 call" : `${session.calls} calls`);
      if (session.holder !== "calls") parts.push("taken over");
      setText(facts, parts.join(" · "));
    }
  }
}
