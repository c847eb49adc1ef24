// Values of form controls: filling, choosing, focusing, dropping.

import { itIsDisabled } from "./aria/states";
import { closest, marking, tagOf } from "./dom";
import { shownText } from "./hidden";
import { attached, lacking, type Gone, type State } from "./states";
import { keep, type Handle } from "./handles";
import { filling, isPassword, marked } from "./passwords";
import { seen, withCaches } from "./seen";

/** Why an element cannot do what is asked of it, as a fact; waiting will not help. */
export type Mismatch = { mismatch: "kind"; tag: string; type?: string } | { mismatch: "number" } | { mismatch: "malformed"; type: string };

type Lacks = { lacks: State | "options" | "optionEnabled" };

// Types whose value the user does not type as plain text.
const SET = new Set("color date datetime-local month range time week".split(" "));
const TYPED = new Set("email number password search tel text url".split(" "));

/** What is left to do: to ask again, with `set` or out of the row; nothing, as the value is there; or the old text is selected and the new one has to be put over it as input. */
export type Filled = { done: "settable" | "set" | "selected" | "skipped" };

/** Where in a row of fields one stands that are all sent before the first has answered. */
interface Turn {
  row: number;
  index: number;
}

let row: Turn = { row: 0, index: 0 };
// A handler that took longer may have opened a dialog: whoever sent the row has gone on without it then.
const SHORT = 2;

/** Gives a field a new value; not if it is in a row, and the one before has not got its value in no time. */
export async function fill({ turn, ...wanted }: Fill & { turn?: Turn }): Promise<Filled | Lacks | Mismatch | Gone> {
  if (!turn) return fillNow(wanted);
  if (turn.index ? turn.row !== row.row || turn.index !== row.index : turn.row < row.row) return { done: "skipped" };
  const start = performance.now();
  row = { row: turn.row, index: -1 };
  const filled = await fillNow(wanted);
  if ("done" in filled && filled.done === "set" && performance.now() - start < SHORT) row = { row: turn.row, index: turn.index + 1 };
  return filled;
}

interface Fill {
  handle: Handle;
  value: string;
  force?: boolean;
  set?: boolean;
  /** The only origin whose documents get the value. */
  origin?: string | null;
}

/** Gives a field a new value, or selects its text so that input replaces it. */
async function fillNow({ handle, value, force, set: now, origin }: Fill): Promise<Filled | Lacks | Mismatch | Gone> {
  const e = attached(handle);
  if (!e || isElsewhere(origin)) return { gone: true };
  const field = fieldOf(e);
  const mismatch = cannotHold(field, value);
  if (mismatch) return mismatch;
  const lacks = force ? undefined : await lacking(field, ["visible", "enabled", "editable"]);
  if (lacks) return lacks === "attached" ? { gone: true } : { lacks };
  filling(field, value);
  if (field instanceof HTMLInputElement && SET.has(field.type)) return now ? set(field, value) : { done: "settable" };
  select(field);
  return { done: insert(field, value) ? "set" : "selected" };
}

/**
 * Puts text over the selection of a field, as input does: with its limits, its place in the history of changes, a trusted `input` and,
 * when the field is left, `change`. Of the events before it, which handlers can refuse, nobody but the browser can send trusted ones.
 * False where only the browser can do this.
 */
function insert(field: Element, text: string): boolean {
  const plain = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement;
  const owner = field.ownerDocument;
  const focused = (field.getRootNode() as Document | ShadowRoot).activeElement === field;
  // An empty text is a key that is pressed; documents of XML know no commands.
  if (!plain || !text || !focused || owner.contentType !== "text/html") return false;
  const before = new InputEvent("beforeinput", { inputType: "insertText", data: text, bubbles: true, cancelable: true, composed: true });
  if (!field.dispatchEvent(before)) return true;
  const words = owner.createEvent("TextEvent");
  words.initTextEvent("textInput", true, true, owner.defaultView, text);
  // To WebKit this event is the input itself.
  let entered = false;
  field.addEventListener("input", () => (entered = true), { once: true });
  return !field.dispatchEvent(words) || entered || owner.execCommand("insertText", false, text);
}

/** Whether this document is not of that origin. The address of a document is nothing that its scripts can replace. */
function isElsewhere(wanted: string | null | undefined): boolean {
  const own = location.origin === "null" ? globalThis.origin : location.origin;
  return !!wanted && own !== wanted;
}

/** Chooses options of a select by value or label; all others are no longer chosen. */
export async function selectOptions({
  handle,
  values,
  force,
}: {
  handle: Handle;
  values: string[];
  force?: boolean;
}): Promise<{ selected: string[] } | Lacks | Mismatch | Gone> {
  const e = attached(handle);
  if (!e) return { gone: true };
  const list = fieldOf(e);
  if (!(list instanceof HTMLSelectElement)) return { mismatch: "kind", tag: tagOf(list) };
  const lacks = force ? undefined : await lacking(list, ["visible", "enabled"]);
  if (lacks) return lacks === "attached" ? { gone: true } : { lacks };
  const chosen = new Set<HTMLOptionElement>();
  for (const value of list.multiple ? values : values.slice(0, 1)) {
    const option = optionOf(list, value);
    if (!option) return { lacks: "options" };
    if (itIsDisabled(seen(option)) && !force) return { lacks: "optionEnabled" };
    chosen.add(option);
  }
  if (list.multiple || !chosen.size) for (const option of list.options) option.selected = chosen.has(option);
  else for (const option of chosen) list.selectedIndex = option.index;
  changed(list);
  return { selected: [...chosen].map((option) => option.value) };
}

function optionOf(list: HTMLSelectElement, wanted: string): HTMLOptionElement | undefined {
  const options = [...list.options];
  const words = (s: string): string => s.trim().replace(/\s+/g, " ");
  return (
    options.find((option) => option.value === wanted || option.label === wanted) ??
    options.find((option) => words(option.label) === words(wanted))
  );
}

/**
 * Focuses the element; one that had no focus gets the caret, `typing` into an input at its start. What is typed next adds to its text.
 * `text` is that, where it is known.
 */
export function focus({
  handle,
  typing,
  text,
  origin,
}: {
  handle: Handle;
  typing?: boolean;
  text?: string;
  origin?: string | null;
}): true | Gone {
  const e = attached(handle) as HTMLElement | undefined;
  if (!e || isElsewhere(origin)) return { gone: true };
  if (text) filling(fieldOf(e), text);
  const had = (e.getRootNode() as Document | ShadowRoot).activeElement === e;
  e.focus();
  if (had) return true;
  const selection = e.ownerDocument.getSelection();
  if (e.isContentEditable) {
    // Firefox leaves the caret where it was.
    if (!e.contains(selection?.anchorNode ?? null)) selection?.collapse(e, 0);
  } else if (typing && e instanceof HTMLInputElement && TYPED.has(e.type)) {
    try {
      e.setSelectionRange(0, 0);
    } catch {
      // Fields of addresses and numbers have no range for scripts; WebKit selects all of their text.
      if (selection?.toString()) selection.modify("move", "backward", "lineboundary");
    }
  }
  return true;
}

/** Text and value of the element; whether the value is the one that is expected. */
export function content({ handle, expected, marks }: { handle: Handle; expected?: string; marks?: boolean }): Content | Gone {
  const e = attached(handle);
  if (!e) return { gone: true };
  const field = fieldOf(e);
  const value =
    field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement || field instanceof HTMLSelectElement ? field.value : null;
  return {
    text: e.textContent ?? "",
    "innerText": marking(marks, () => withCaches(() => shownText(e))),
    value: value !== null && isPassword(field) ? marked(value) : value,
    isExpected: value === expected,
  };
}

interface Content {
  text: string;
  "innerText": string;
  value: string | null;
  isExpected: boolean;
}

/** An attribute as written; null without. */
export function attribute({ handle, name }: { handle: Handle; name: string }): { value: string | null } | Gone {
  const e = attached(handle);
  if (!e) return { gone: true };
  const value = e.getAttribute(name);
  return { value: value !== null && name.toLowerCase() === "value" && isPassword(e) ? marked(value) : value };
}

/** Whether files can be set: on the element, or on the input of its label. The answer names the input. */
export function fileInput({ handle }: { handle: Handle }): { input: Handle; multiple: boolean; directory: boolean } | Mismatch | Gone {
  const e = attached(handle);
  if (!e) return { gone: true };
  const field = fieldOf(e);
  if (!(field instanceof HTMLInputElement) || field.type !== "file") return { mismatch: "kind", tag: tagOf(field) };
  return { input: field === e ? handle : keep(field), multiple: field.multiple, directory: field.webkitdirectory };
}

/** Sets files that are on no disk. */
export function setFiles({ handle, files }: { handle: Handle; files: DroppedFile[] }): true | Mismatch | Gone {
  const e = attached(handle);
  if (!e) return { gone: true };
  const field = fieldOf(e);
  if (!(field instanceof HTMLInputElement) || field.type !== "file") return { mismatch: "kind", tag: tagOf(field) };
  field.files = transferOf(files).files;
  changed(field);
  return true;
}

export interface DroppedFile {
  name: string;
  type: string;
  /** Base64. */
  bytes: string;
}

/** Drops files and data onto the element, as a drag from outside the browser would. `accepted`: its dragover handler wanted it. */
export function dispatchDrop({
  handle,
  files,
  data,
  at,
}: {
  handle: Handle;
  files: DroppedFile[];
  data: Record<string, string>;
  at?: { x: number; y: number };
}): { accepted: boolean } | Gone {
  const e = attached(handle);
  if (!e) return { gone: true };
  const transfer = transferOf(files);
  for (const [type, value] of Object.entries(data)) transfer.setData(type, value);
  const where = { clientX: at?.x ?? 0, clientY: at?.y ?? 0 };
  const send = (type: string): boolean =>
    e.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, composed: true, dataTransfer: transfer, ...where }));
  send("dragenter");
  if (send("dragover")) {
    send("dragleave");
    return { accepted: false };
  }
  send("drop");
  return { accepted: true };
}

function transferOf(files: DroppedFile[]): DataTransfer {
  const transfer = new DataTransfer();
  for (const { name, type, bytes } of files) transfer.items.add(new File([decoded(bytes)], name, { type }));
  return transfer;
}

function decoded(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The field itself, or the one a label is for. */
function fieldOf(e: Element): Element {
  if (/^(input|textarea|select)$/.test(tagOf(e)) || (e as HTMLElement).isContentEditable) return e;
  return (closest(e, "label") as HTMLLabelElement | undefined)?.control ?? e;
}

function cannotHold(field: Element, value: string): Mismatch | undefined {
  const tag = tagOf(field);
  if (field instanceof HTMLInputElement) {
    if (!TYPED.has(field.type) && !SET.has(field.type)) return { mismatch: "kind", tag, type: field.type };
    if (field.type === "number" && Number.isNaN(Number(value.trim()))) return { mismatch: "number" };
    return undefined;
  }
  if (tag === "textarea" || (field as HTMLElement).isContentEditable) return undefined;
  return { mismatch: "kind", tag };
}

function set(field: HTMLInputElement, value: string): Filled | Mismatch {
  const wanted = field.type === "color" ? value.trim().toLowerCase() : value.trim();
  field.focus();
  field.value = wanted;
  // The browser drops or corrects what it cannot read.
  if (field.value !== wanted) return { mismatch: "malformed", type: field.type };
  changed(field);
  return { done: "set" };
}

function changed(field: Element): void {
  field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

function select(field: Element): void {
  (field as HTMLElement).focus();
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) {
    field.select();
    return;
  }
  const range = document.createRange();
  range.selectNodeContents(field);
  const selection = getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range);
}
