// Operations on form controls: reading and setting values, selecting options, focusing, setting files; and drops.

import { isDisabled } from "./aria/states";
import { causes } from "./causes";
import { closest, cut, marking, tagOf } from "./dom";
import { shownText } from "./hidden";
import { attached, lacking, type Gone, type State } from "./states";
import { keep, type Handle } from "./handles";
import { isPassword, marked, recordPassword } from "./passwords";
import { seen, withCaches } from "./seen";

/**
 * The reason why an operation fails on an element, whatever state it is in: the element is of another kind, the value is not a number, or
 * the value does not have the format of the type.
 */
export type Mismatch = { mismatch: "kind"; tag: string; type?: string } | { mismatch: "number" } | { mismatch: "malformed"; type: string };

/** The actionability condition that the element does not fulfil. */
type Lacks = { lacks: State | "optionEnabled" };

// The input types whose values are set by script, because users do not type them as plain text.
const SETTABLE_TYPES = new Set("color date datetime-local month range time week".split(" "));
const TEXT_TYPES = new Set("email number password search tel text url".split(" "));

/**
 * The result of a fill. `set`: The field has the value. `settable`: The call must be repeated with `set`. `selected`: The old text is
 * selected, and the new text must be inserted as input. `skipped`: The call must be repeated outside of the row.
 */
export type Filled = { done: "settable" | "set" | "raise" | "lower" | "selected" | "skipped" };

/** The position of a field in a row of fields, whose calls are sent without waiting for results. */
interface Turn {
  row: number;
  index: number;
}

/** The position of the only field of a row that may be filled. */
let next: Turn = { row: 0, index: 0 };
// After a longer fill, in ms, a handler may have opened a dialog, and the engine does not wait for the rest of the row then.
const MAX_FILL_DURATION = 2;

/** Fills a field. In a row, the field is skipped unless the field before it was filled within `MAX_FILL_DURATION`. */
export async function fill({ turn, ...options }: Fill & { turn?: Turn }): Promise<Filled | Lacks | Mismatch | Gone> {
  if (!turn) return fillNow(options);
  if (turn.index ? turn.row !== next.row || turn.index !== next.index : turn.row < next.row) return { done: "skipped" };
  const start = performance.now();
  next = { row: turn.row, index: -1 };
  const filled = await fillNow(options);
  if ("done" in filled && filled.done === "set" && performance.now() - start < MAX_FILL_DURATION)
    next = { row: turn.row, index: turn.index + 1 };
  return filled;
}

interface Fill {
  handle: Handle;
  value: string;
  /** Whether actionability is not checked. */
  force?: boolean;
  /** Whether the value of a date, time, color or range may be set by script. */
  set?: boolean;
  /** Whether a range is set by script alone; otherwise the last step is left to a key: `raise` or `lower`. */
  exact?: boolean;
  /** The origin that the document must have. */
  origin?: string | null;
}

/** Sets the value of a field, or selects its text so that input replaces it. */
async function fillNow({ handle, value, force, set: canSet, exact, origin }: Fill): Promise<Filled | Lacks | Mismatch | Gone> {
  const e = attached(handle);
  if (!e || hasOtherOrigin(origin)) return { gone: true };
  causes("hold");
  const field = fieldOf(e);
  const mismatch = mismatchOf(field, value);
  if (mismatch) return mismatch;
  const lacks = force ? undefined : await lacking(field, ["visible", "enabled", "editable"]);
  if (lacks) return lacks === "attached" ? { gone: true } : { lacks };
  recordPassword(field, value);
  if (field instanceof HTMLInputElement && SETTABLE_TYPES.has(field.type))
    return canSet ? setValue(field, value, exact) : { done: "settable" };
  selectContent(field);
  if (insert(field, value)) return { done: "set" };
  edited = { field, text: field.textContent };
  return { done: "selected" };
}

/** The editable element that was selected last, and its text before. */
let edited: { field: Element; text: string } | undefined;

/** Returns whether the page has discarded the input that replaced the text of the selected element. */
export function discarded({ value }: { value: string }): boolean {
  if (!edited?.field.isConnected || edited.field instanceof HTMLInputElement || edited.field instanceof HTMLTextAreaElement) return false;
  const without = (text: string): string => text.replace(/\s+/g, "");
  const text = edited.field.textContent;
  if (text !== edited.text) return false;
  return value ? !without(text).includes(without(value)) : !!without(text);
}

/**
 * Inserts text at the caret of the focused element, as an input method does: without key events, which can send a message at a line break.
 * Returns false if the element does not take it, and null if it is a frame of another origin.
 */
export function insertText({ text }: { text: string }): boolean | null {
  let e = document.activeElement;
  for (let inner = e; inner; e = inner ?? e) inner = inner.shadowRoot?.activeElement ?? innerDocument(inner)?.activeElement ?? null;
  if (!e) return false;
  if (tagOf(e) === "iframe") return null;
  const owner = e.ownerDocument;
  if (!(e as HTMLElement).isContentEditable && owner.designMode !== "on") return insert(e, text);
  if (!allowsInput(e, text)) return true;
  // Firefox inserts line breaks into the text, which editors read as spaces.
  return text.split("\n").every((line, index) => {
    if (index && !owner.execCommand("insertParagraph")) return false;
    return !line || owner.execCommand("insertText", false, line);
  });
}

function innerDocument(e: Element): Document | null {
  return tagOf(e) === "iframe" ? (e as HTMLIFrameElement).contentDocument : null;
}

/** Dispatches `beforeinput`. Returns false if a handler canceled it: it inserts the text itself. */
function allowsInput(e: Element, text: string): boolean {
  return e.dispatchEvent(
    new InputEvent("beforeinput", { inputType: "insertText", data: text, bubbles: true, cancelable: true, composed: true }),
  );
}

/**
 * Replaces the selection of a field like text input does: `maxlength` applies, the change can be undone, `input` is trusted, and `change`
 * follows when the field loses focus. `beforeinput` and `textInput`, which handlers can cancel, are not trusted. Returns whether the text
 * was inserted or an event was canceled; otherwise the browser must insert it.
 */
function insert(field: Element, text: string): boolean {
  const plain = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement;
  const owner = field.ownerDocument;
  const focused = (field.getRootNode() as Document | ShadowRoot).activeElement === field;
  // An empty text corresponds to pressing Delete. `execCommand` does not work in XML documents.
  if (!plain || !text || !focused || owner.contentType !== "text/html") return false;
  if (!allowsInput(field, text)) return true;
  const textInput = owner.createEvent("TextEvent");
  textInput.initTextEvent("textInput", true, true, owner.defaultView, text);
  // WebKit inserts the text as the default action of this event.
  let entered = false;
  field.addEventListener("input", () => (entered = true), { once: true });
  return !field.dispatchEvent(textInput) || entered || owner.execCommand("insertText", false, text);
}

/** Returns whether an origin is given and the document has another one. Scripts of the page can replace `origin`, but not `location`. */
function hasOtherOrigin(expected: string | null | undefined): boolean {
  const actual = location.origin === "null" ? globalThis.origin : location.origin;
  return !!expected && actual !== expected;
}

/** How many labels of options are reported: one more than the engine shows. And the longest one. */
const MOST_OPTIONS = 21;
const LONGEST_LABEL = 80;

/**
 * Selects the options with these values or labels and deselects all others. Returns the values of the selected options, or the labels of the
 * options that there are if one is missing.
 */
export async function selectOptions({
  handle,
  values,
  force,
}: {
  handle: Handle;
  values: string[];
  force?: boolean;
}): Promise<{ selected: string[] } | { options: string[] } | Lacks | Mismatch | Gone> {
  const e = attached(handle);
  if (!e) return { gone: true };
  causes("hold");
  const list = fieldOf(e);
  if (!(list instanceof HTMLSelectElement)) return { mismatch: "kind", tag: tagOf(list) };
  const lacks = force ? undefined : await lacking(list, ["visible", "enabled"]);
  if (lacks) return lacks === "attached" ? { gone: true } : { lacks };
  const selected = new Set<HTMLOptionElement>();
  for (const value of list.multiple ? values : values.slice(0, 1)) {
    const option = optionOf(list, value);
    if (!option) return { options: [...list.options].slice(0, MOST_OPTIONS).map(({ label }) => cut(label, LONGEST_LABEL)) };
    if (isDisabled(seen(option)) && !force) return { lacks: "optionEnabled" };
    selected.add(option);
  }
  if (list.multiple || !selected.size) for (const option of list.options) option.selected = selected.has(option);
  else for (const option of selected) list.selectedIndex = option.index;
  dispatchChange(list);
  return { selected: [...selected].map((option) => option.value) };
}

function optionOf(list: HTMLSelectElement, valueOrLabel: string): HTMLOptionElement | undefined {
  const options = [...list.options];
  const normalized = (s: string): string => s.trim().replace(/\s+/g, " ");
  return (
    options.find((option) => option.value === valueOrLabel || option.label === valueOrLabel) ??
    options.find((option) => normalized(option.label) === normalized(valueOrLabel))
  );
}

/**
 * Focuses the element. If it was not focused, the caret moves into an editable element, and with `typing` to the start of an input. `text`
 * is the text that will be typed, if it is known.
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
  if (!e || hasOtherOrigin(origin)) return { gone: true };
  if (text) recordPassword(fieldOf(e), text);
  const wasFocused = (e.getRootNode() as Document | ShadowRoot).activeElement === e;
  e.focus();
  if (wasFocused) return true;
  const selection = e.ownerDocument.getSelection();
  if (e.isContentEditable) {
    // Firefox does not move the caret into the element.
    if (!e.contains(selection?.anchorNode ?? null)) selection?.collapse(e, 0);
  } else if (typing && e instanceof HTMLInputElement && TEXT_TYPES.has(e.type)) {
    try {
      e.setSelectionRange(0, 0);
    } catch {
      // The types `email` and `number` do not support `setSelectionRange`. WebKit selects their text on focus.
      if (selection?.toString()) selection.modify("move", "backward", "lineboundary");
    }
  }
  return true;
}

/** Returns the text and the value of the element, and whether the value equals `expected`. */
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
  /** Null if the element is not a form field. Values of password fields are marked. */
  value: string | null;
  isExpected: boolean;
}

/** Returns the value of an attribute, or null if the element does not have it. */
export function attribute({ handle, name }: { handle: Handle; name: string }): { value: string | null } | Gone {
  const e = attached(handle);
  if (!e) return { gone: true };
  const value = e.getAttribute(name);
  return { value: value !== null && name.toLowerCase() === "value" && isPassword(e) ? marked(value) : value };
}

/** Returns the file input that the element is, or that the label around it is for. */
export function fileInput({ handle }: { handle: Handle }): { input: Handle; multiple: boolean; directory: boolean } | Mismatch | Gone {
  const e = attached(handle);
  if (!e) return { gone: true };
  const field = fieldOf(e);
  if (!(field instanceof HTMLInputElement) || field.type !== "file") return { mismatch: "kind", tag: tagOf(field) };
  return { input: field === e ? handle : keep(field), multiple: field.multiple, directory: field.webkitdirectory };
}

/** Sets the files of a file input from their contents. */
export function setFiles({ handle, files }: { handle: Handle; files: DroppedFile[] }): true | Mismatch | Gone {
  const e = attached(handle);
  if (!e) return { gone: true };
  const field = fieldOf(e);
  if (!(field instanceof HTMLInputElement) || field.type !== "file") return { mismatch: "kind", tag: tagOf(field) };
  field.files = transferOf(files).files;
  dispatchChange(field);
  return true;
}

export interface DroppedFile {
  name: string;
  type: string;
  /** The content in Base64. */
  bytes: string;
}

/**
 * Dispatches the events of a drop of files and data from outside the browser. `accepted` is false if no handler of `dragover` allowed the
 * drop.
 */
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

/** Returns the element if it is a form field or editable, else the control of the label around it, else the element. */
function fieldOf(e: Element): Element {
  if (/^(input|textarea|select)$/.test(tagOf(e)) || (e as HTMLElement).isContentEditable) return e;
  return (closest(e, "label") as HTMLLabelElement | undefined)?.control ?? e;
}

/** Returns the reason why the field cannot have the value, if there is one. */
function mismatchOf(field: Element, value: string): Mismatch | undefined {
  const tag = tagOf(field);
  if (field instanceof HTMLInputElement) {
    if (!TEXT_TYPES.has(field.type) && !SETTABLE_TYPES.has(field.type)) return { mismatch: "kind", tag, type: field.type };
    if (field.type === "number" && Number.isNaN(Number(value.trim()))) return { mismatch: "number" };
    return undefined;
  }
  if (tag === "textarea" || (field as HTMLElement).isContentEditable) return undefined;
  return { mismatch: "kind", tag };
}

function setValue(field: HTMLInputElement, value: string, exact: boolean | undefined): Filled | Mismatch {
  const normalized = field.type === "color" ? value.trim().toLowerCase() : value.trim();
  const isOld = field.value === normalized;
  if (exact && isOld) return { done: "set" };
  field.focus();
  field.value = normalized;
  // The value sanitization algorithm of HTML clears or changes invalid values.
  if (field.value !== normalized) return { mismatch: "malformed", type: field.type };
  const key = exact || isOld || field.type !== "range" ? undefined : stepAside(field);
  if (key) {
    dispatchInput(field);
    return { done: key };
  }
  dispatchChange(field);
  return { done: "set" };
}

/** Moves a range to the value beside its own, and returns how a key moves it back. Libraries report a change when a key or a pointer ends it. */
function stepAside(field: HTMLInputElement): "raise" | "lower" | undefined {
  const { value } = field;
  if (field.step === "any" || (field.getRootNode() as Document | ShadowRoot).activeElement !== field) return undefined;
  field.stepDown();
  if (field.value !== value) return "raise";
  field.stepUp();
  return field.value === value ? undefined : "lower";
}

function dispatchInput(field: Element): void {
  field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
}

function dispatchChange(field: Element): void {
  dispatchInput(field);
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

function selectContent(field: Element): void {
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
  // WebKit adds no range of a shadow tree.
  if (!selection?.rangeCount) selection?.selectAllChildren(field);
}
