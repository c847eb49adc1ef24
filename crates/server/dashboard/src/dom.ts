// Elements of the page.

export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element ${id}`);
  return found as T;
}

export function create(name: string, className = "", text = ""): HTMLElement {
  const created = document.createElement(name);
  if (className) created.className = className;
  created.textContent = text;
  return created;
}

/** Changes a text only if it is another one, so that screen readers do not repeat it. */
export function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/** Returns whether a list shows its end, where new lines appear. */
export function isAtEnd(list: HTMLElement): boolean {
  return list.scrollHeight - list.scrollTop - list.clientHeight < 40;
}
