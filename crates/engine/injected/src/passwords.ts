// The values of password fields. They leave the page marked, or apart from the answer: Rust replaces the ones, and hides all of them
// wherever else they appear.

/** Around a value: noncharacters of Unicode, which no text of a page needs. */
const START = "\ufdd0";
const END = "\ufdd1";
/** How many values an answer carries, and how many fields are remembered. */
const MOST_VALUES = 32;
const MOST_FIELDS = 1_000;
/** A longer value is only masked where it is the field's. */
const LONGEST = 1_000;

const FIELDS = "input[type=password i], input[autocomplete*=password i]";
const FOR_PASSWORDS = /(^|\s)(current|new)-password(\s|$)/i;

const known = new WeakSet<Element>();
/** The same, to go through them. */
const fields: WeakRef<Element>[] = [];
/** What was put into fields since the last answer. */
const filled = new Set<string>();
let watched: Document | undefined;
let observer: MutationObserver | undefined;

/** Whether it is a password field, was one before a button showed its text, or is marked as one for password managers. */
export function isPassword(e: Element): boolean {
  if (e.localName !== "input") return false;
  const field = e as HTMLInputElement;
  noteAll(observer?.takeRecords() ?? []);
  if (field.type === "password" || FOR_PASSWORDS.test(field.getAttribute("autocomplete") ?? "")) note(field);
  return known.has(field);
}

function note(field: Element): void {
  if (known.has(field)) return;
  known.add(field);
  if (fields.length < MOST_FIELDS) fields.push(new WeakRef(field));
}

function noteAll(records: MutationRecord[]): void {
  for (const { target, oldValue } of records) if (oldValue?.toLowerCase() === "password") note(target as Element);
}

/** Remembers the fields of this document that cease to be password fields. */
export function watchPasswords(): void {
  if (watched === document) return;
  watched = document;
  observer?.disconnect();
  observer = new MutationObserver(noteAll);
  observer.observe(document, { subtree: true, "attributes": true, attributeFilter: ["type"], attributeOldValue: true });
}

/** A value as Rust finds it. */
export function marked(value: string): string {
  return value && START + value + END;
}

/** What is shown of a value where it is part of a longer text: its length. */
export function dots(value: string): string {
  return "•".repeat(value.length);
}

/** Takes note that a field gets a value, before scripts of the page hear of it. */
export function filling(field: Element, value: string): void {
  if (isPassword(field)) filled.add(value);
}

/** What was put into password fields since the last answer; with `all` also what those that are known hold. */
export function passwordValues(all: boolean): string[] {
  const values = new Set(filled);
  filled.clear();
  if (all) {
    for (const e of document.querySelectorAll(FIELDS)) isPassword(e);
    for (const field of fields) {
      const { value } = (field.deref() ?? {}) as Partial<HTMLInputElement>;
      if (value) values.add(value);
      if (values.size >= MOST_VALUES) break;
    }
  }
  return [...values].filter((value) => value && value.length <= LONGEST);
}

/** The markup of an element, where the values of password fields are marked. */
export function markup(e: Element): string {
  const has = (field: Element): boolean => field.hasAttribute("value") && isPassword(field);
  if (!inputs(e).some(has)) return e.outerHTML;
  // In a document without a window no custom element comes to life.
  const { implementation, contentType } = document;
  const copy = (contentType === "text/html" ? implementation.createHTMLDocument("") : implementation.createDocument(null, "")).importNode(
    e,
    true,
  );
  const copies = inputs(copy);
  const values = inputs(e).map((field, index) => {
    if (!has(field)) return "";
    copies[index]?.setAttribute("value", marked(String(index)));
    return field.getAttribute("value") ?? "";
  });
  // As it is, not as markup has it.
  return copy.outerHTML.replace(/\ufdd0(\d+)\ufdd1/g, (_, index: string) => marked(values[Number(index)] ?? ""));
}

function inputs(e: Element): Element[] {
  return [...(e.localName === "input" ? [e] : []), ...e.querySelectorAll("input")];
}
