// The values of password fields. Results contain them between marks, and `call` sends lists of them in addition: the engine replaces the
// marked ones, and masks each listed value wherever else it appears. Values that were typed are listed apart from those that a page shows,
// of which it may show any number.

import { elementShadowRoot } from "./roots";

/** The marks around a value: noncharacters of Unicode, which texts do not contain. */
const START = "\ufdd0";
const END = "\ufdd1";
const MAX_VALUES = 32;
const MAX_FIELDS = 1_000;
/** The maximum length of listed values. Longer ones are only masked where they are marked. */
const MAX_VALUE_LENGTH = 1_000;

const FIELDS = "input[type=password i], input[autocomplete*=password i]";
const FOR_PASSWORDS = /(^|\s)(current|new)-password(\s|$)/i;

const passwordFields = new WeakSet<Element>();
/** The elements of `passwordFields`, because a `WeakSet` cannot be enumerated. */
const fieldRefs: WeakRef<Element>[] = [];
/** The values that were set since the last result. */
const recordedValues = new Set<string>();
let observedDocument: Document | undefined;
let observer: MutationObserver | undefined;

/** Returns whether the element is a password field, was one before its type was changed, or has `autocomplete` for passwords. */
export function isPassword(e: Element): boolean {
  if (e.localName !== "input") return false;
  const field = e as HTMLInputElement;
  recordTypeChanges(observer?.takeRecords() ?? []);
  if (field.type === "password" || FOR_PASSWORDS.test(field.getAttribute("autocomplete") ?? "")) addField(field);
  return passwordFields.has(field);
}

function addField(field: Element): void {
  if (passwordFields.has(field)) return;
  passwordFields.add(field);
  if (fieldRefs.length < MAX_FIELDS) fieldRefs.push(new WeakRef(field));
}

function recordTypeChanges(records: MutationRecord[]): void {
  for (const { target, oldValue } of records) if (oldValue?.toLowerCase() === "password") addField(target as Element);
}

/** Starts to observe the fields of this document whose type changes from `password`. */
export function watchPasswords(): void {
  if (observedDocument === document) return;
  observedDocument = document;
  observer?.disconnect();
  observer = new MutationObserver(recordTypeChanges);
  observer.observe(document, { subtree: true, "attributes": true, attributeFilter: ["type"], attributeOldValue: true });
}

/** Returns a value between the marks that the engine replaces. */
export function marked(value: string): string {
  return value && START + value + END;
}

/** Returns a bullet for each code unit of a value, for values inside longer texts. */
export function dots(value: string): string {
  return "•".repeat(value.length);
}

/** Records the next value of a field, if it is a password field. Scripts can copy the value as soon as it is set, so this comes first. */
export function recordPassword(field: Element, value: string): void {
  if (isPassword(field)) recordedValues.add(value);
}

/** Records the value that the focused field will have when a text is typed. Returns whether the focused element is a frame. */
export function typing({ text }: { text: string }): boolean {
  const e = focused();
  if (!e || !isPassword(e)) return !!e && /^i?frame$/.test(e.localName);
  const { value, selectionStart, selectionEnd } = e as HTMLInputElement;
  const [start, end] = [selectionStart ?? value.length, selectionEnd ?? value.length];
  for (const typed of [value, value.slice(0, start) + text + value.slice(end)]) recordPassword(e, typed);
  return false;
}

function focused(): Element | null {
  let e = document.activeElement;
  for (let inner = e; inner; inner = elementShadowRoot(inner)?.activeElement ?? null) e = inner;
  return e;
}

/**
 * Returns the values that were typed into password fields since the last call, and with `all` the current values of password fields.
 */
export function passwordValues(all: boolean): [typed: string[], shown: string[]] {
  const typed = [...recordedValues].filter(Boolean);
  recordedValues.clear();
  const values = new Set<string>();
  if (all) {
    for (const e of document.querySelectorAll(FIELDS)) isPassword(e);
    for (const field of fieldRefs) {
      const { value } = (field.deref() ?? {}) as Partial<HTMLInputElement>;
      if (value) values.add(value);
      if (values.size >= MAX_VALUES) break;
    }
  }
  return [typed, [...values].filter((value) => value.length <= MAX_VALUE_LENGTH)];
}

/** Returns the outer HTML of an element, in which the `value` attributes of password fields are marked. */
export function markup(e: Element): string {
  const has = (field: Element): boolean => field.hasAttribute("value") && isPassword(field);
  if (!inputs(e).some(has)) return e.outerHTML;
  // In a document without a browsing context, custom elements are not upgraded.
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
  // The engine compares values, so they are inserted without the escapes of HTML.
  return copy.outerHTML.replace(/\ufdd0(\d+)\ufdd1/g, (_, index: string) => marked(values[Number(index)] ?? ""));
}

function inputs(e: Element): Element[] {
  return [...(e.localName === "input" ? [e] : []), ...e.querySelectorAll("input")];
}
