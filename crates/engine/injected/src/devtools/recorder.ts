// The recorder: the actions of the user in this document, from trusted events. The actions of tools that set values by script are recorded
// too.

import { closest, isElement, tagOf } from "../dom";
import type { Handle } from "../handles";
import type { Step } from "../selector/steps";
import { core } from "./core";

/** What the user did with an element. */
type Action =
  | { kind: "click"; button: string; modifiers: string[]; count: number; position?: { x: number; y: number } }
  | { kind: "check"; checked: boolean }
  | { kind: "fill"; value: string }
  | { kind: "password" }
  | { kind: "select"; values: string[] }
  | { kind: "files"; files: string[] }
  | { kind: "press"; key: string };

/** An action with the locator of its element, in the JSON format of the Rust type `recording::Record`. */
type Record = Action & { locator: Step[] };

const MAX_RECORDS = 1_000;
const MAX_TEXT = 100_000;
/** The inputs whose pickers are not part of the page. */
const PICKERS = new Set(["color", "date", "datetime-local", "file", "month", "range", "time", "week"]);
/** The keys that have no effect alone or whose effect is a change of a value. */
const IGNORED_KEYS = new Set([
  "AltGraph",
  "Alt",
  "Backspace",
  "CapsLock",
  "Control",
  "Dead",
  "Delete",
  "Fn",
  "Meta",
  "Process",
  "Shift",
  "Unidentified",
]);
const BUTTONS = ["left", "middle", "right"];
const PASSWORDS = /(^|\s)(current|new)-password(\s|$)/i;
/** The prefix of the key under which records are kept that could not be taken before the document ended. */
const KEPT = "__playhouse_recording_";
/** The functions of the core that change values by script, for which no trusted events are dispatched. */
const SETTERS = new Set(["fill", "selectOptions", "setFiles"]);

interface Recorder {
  testIdAttribute: string;
  /** The name under which `sessionStorage` keeps what was not taken before the document ends, if that is necessary. */
  kept: string | undefined;
}

let recorder: Recorder | undefined;
let records: Record[] = [];
/** The calls that wait for an action, oldest first. */
let waiting: (() => void)[] = [];
/** The element whose value a tool is setting. */
let setting: Element | undefined;
/** The field of the last record, with its locator. */
let lastField: { element: Element; locator: Step[] } | undefined;
/** The fields that were password fields: a page can show the password by changing the type. */
const passwordFields = new WeakSet<Element>();
/** Whether the key that is pressed was recorded, so that the click that it causes is not. */
let isKeyRecorded = false;
/** Whether the click with the right button was recorded. */
let isMenuRecorded = false;
/** The control for which the browser dispatches a click after that on its label. */
let labelled: Element | undefined;

const listeners: [string, (event: never) => void][] = [
  ["mousedown", () => (isMenuRecorded = false)],
  ["click", onClick],
  ["auxclick", onClick],
  ["contextmenu", onClick],
  ["dblclick", onClick],
  ["input", onInput],
  ["change", onInput],
  ["keydown", onKey],
  ["focusin", onFocus],
  ["keyup", () => (isKeyRecorded = false)],
];

/** Starts to record, unless the document records already. Returns the number of calls that wait for an action. */
export function startRecorder({ testIdAttribute, token }: { testIdAttribute: string; token: string | null }): number {
  if (recorder) return waiting.length;
  recorder = { testIdAttribute, kept: token ? KEPT + token : undefined };
  for (const [type, listener] of listeners) addEventListener(type, listener as EventListener, true);
  addEventListener("pagehide", keepRecords);
  records = takeKept();
  return 0;
}

/**
 * Returns the actions since the last call. Waits for an action, at most for `wait` ms. Several calls can wait at once: an action must leave the
 * document before it navigates, so the next one does not wait for the answer of the last call.
 */
export async function takeRecords({ wait }: { wait: number }): Promise<Report> {
  if (recorder && !records.length && wait)
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      setTimeout(() => {
        waiting = waiting.filter((other) => other !== resolve);
        resolve();
      }, wait);
    });
  return takeReport();
}

/** Stops to record and returns the actions since the last call of `takeRecords`. */
export function stopRecorder(): Report {
  for (const [type, listener] of listeners) removeEventListener(type, listener as EventListener, true);
  removeEventListener("pagehide", keepRecords);
  recorder = undefined;
  lastField = undefined;
  const report = takeReport();
  for (const resolve of waiting.splice(0)) resolve();
  return report;
}

interface Report {
  records: Record[];
  /** Whether the recorder was stopped. */
  isOver: boolean;
}

function takeReport(): Report {
  return { records: records.splice(0), isOver: !recorder };
}

/** Calls a function of the core. While it sets a value by script, the events of that element count as those of a user. */
export function recordActionsOf<T>(name: string, argument: unknown, work: () => T): T {
  const { ask, argument: inner, handle } = (argument ?? {}) as { ask?: string; argument?: unknown; handle?: Handle };
  const isSetter = recorder && (SETTERS.has(name) || (ask && SETTERS.has(ask) && inner));
  if (!isSetter) return work();
  const e = handle === undefined ? undefined : core().element(handle);
  setting = e && tagOf(e) === "label" ? ((e as HTMLLabelElement).control ?? e) : (e ?? document.documentElement);
  const end = (): void => void (setting = undefined);
  const answer = work();
  if (answer instanceof Promise) answer.then(end, end);
  else end();
  return answer;
}

function isOfUser(event: Event): boolean {
  if (event.isTrusted) return true;
  return !!setting && (setting === document.documentElement || setting === event.composedPath()[0]);
}

function add(e: Element, action: Action): void {
  if (!recorder) return;
  const locator = lastField?.element === e ? lastField.locator : locatorOf(e);
  if (!locator || records.length >= MAX_RECORDS) return;
  const isField = action.kind === "fill" || action.kind === "password";
  lastField = isField ? { element: e, locator } : undefined;
  const last = records.at(-1);
  // Each key changes the value again.
  if (isField && last?.kind === action.kind && last.locator === locator) records.pop();
  records.push({ ...action, locator });
  waiting.shift()?.();
}

/** The locator of keys that are pressed without a focused element. */
const BODY: Step[] = [{ engine: "css", css: "body", native: true, list: [[{ css: "body" }]] }];

function locatorOf(e: Element): Step[] | null {
  if (!recorder) return null;
  if (e === document.body || e === document.documentElement) return BODY;
  const { testIdAttribute } = recorder;
  return core().locator({ handle: core().handle(e), testIdAttribute });
}

function targetOf(event: Event): Element | undefined {
  const [target] = event.composedPath();
  return target && isElement(target as Node) ? (target as Element) : undefined;
}

function typeOf(e: Element): string {
  return tagOf(e) === "input" ? (e as HTMLInputElement).type : "";
}

function isCheckable(e: Element | null | undefined): e is HTMLInputElement {
  return !!e && ["checkbox", "radio"].includes(typeOf(e));
}

function modifiersOf(event: MouseEvent | KeyboardEvent): string[] {
  const held: [string, boolean][] = [
    ["Alt", event.altKey],
    ["Control", event.ctrlKey],
    ["Meta", event.metaKey],
    ["Shift", event.shiftKey],
  ];
  return held.flatMap(([name, isHeld]) => (isHeld ? name : []));
}

function onClick(event: MouseEvent): void {
  const e = targetOf(event);
  if (!e || !event.isTrusted) return;
  const { type, button } = event;
  // Firefox dispatches no `contextmenu` with Shift, and older versions of WebKit no `auxclick`.
  if (type === "contextmenu") isMenuRecorded = true;
  if (button !== 0 && (type === "auxclick" ? button === 2 && isMenuRecorded : type !== "contextmenu")) return;
  if (["select", "option", "optgroup"].includes(tagOf(e)) || PICKERS.has(typeOf(e))) return;
  if (type === "click") {
    // A key that was recorded causes the click.
    if (event.detail === 0 && isKeyRecorded) return;
    if (e === labelled && !isCheckable(e)) {
      labelled = undefined;
      return;
    }
    const label = closest(e, "label") as HTMLLabelElement | undefined;
    labelled = label?.control && label.control !== e && !label.control.contains(e) ? label.control : undefined;
    // The control of the label gets a click of its own.
    if (isCheckable(labelled)) return;
    if (isCheckable(e)) {
      add(e, { kind: "check", checked: e.checked });
      return;
    }
  } else if (type === "dblclick" && (isCheckable(e) || labelled)) return;
  const position = tagOf(e) === "canvas" ? { x: Math.round(event.offsetX), y: Math.round(event.offsetY) } : undefined;
  const count = type === "dblclick" ? 2 : 1;
  add(e, { kind: "click", button: BUTTONS[button] ?? "left", modifiers: modifiersOf(event), count, ...(position && { position }) });
}

function onFocus(event: Event): void {
  const e = targetOf(event);
  if (e) isPassword(e);
}

/** Whether the field is for a password, or was when it got the focus. */
function isPassword(e: Element): boolean {
  if (typeOf(e) === "password" || PASSWORDS.test(e.getAttribute("autocomplete") ?? "")) passwordFields.add(e);
  return passwordFields.has(e);
}

function onInput(event: Event): void {
  let e = targetOf(event);
  if (!e || !isOfUser(event)) return;
  if (tagOf(e) === "select") {
    // Firefox dispatches both events with the same values.
    if (event.type !== "input") return;
    const values = [...(e as HTMLSelectElement).selectedOptions].map((option) => option.value);
    add(e, { kind: "select", values });
    return;
  }
  const type = typeOf(e);
  if (type === "file") {
    if (event.type !== "change") return;
    const files = [...((e as HTMLInputElement).files ?? [])].map((file) => file.name);
    add(e, { kind: "files", files });
    return;
  }
  // A click or a key on a checkbox is a click event.
  if (event.type !== "input" || isCheckable(e)) return;
  const isField = type !== "" || tagOf(e) === "textarea";
  if (!isField) {
    while (e.parentElement && (e.parentElement as HTMLElement).isContentEditable) e = e.parentElement;
    if (!(e as HTMLElement).isContentEditable) return;
  }
  if (isPassword(e)) {
    add(e, { kind: "password" });
    return;
  }
  const value = isField ? (e as HTMLInputElement).value : (e as HTMLElement).innerText;
  add(e, { kind: "fill", value: value.slice(0, MAX_TEXT) });
}

function onKey(event: KeyboardEvent): void {
  const e = targetOf(event);
  if (!e || !event.isTrusted || event.isComposing || IGNORED_KEYS.has(event.key)) return;
  const modifiers = modifiersOf(event);
  const isText = event.key.length === 1 && modifiers.every((key) => key === "Shift");
  if (isText || isPaste(event) || isLineBreak(e, event)) return;
  isKeyRecorded = true;
  const held = event.key.length === 1 ? modifiers.filter((key) => key !== "Shift") : modifiers;
  const key = [...held.map((key) => (key === "Control" ? "ControlOrMeta" : key)), event.key].join("+");
  add(e, { kind: "press", key });
}

function isPaste({ key, ctrlKey, metaKey, shiftKey }: KeyboardEvent): boolean {
  return ((ctrlKey || metaKey) && key.toLowerCase() === "v") || (shiftKey && key === "Insert");
}

/** Whether the key adds a line to the text of a field, which is recorded with the text. */
function isLineBreak(e: Element, { key }: KeyboardEvent): boolean {
  return key === "Enter" && (tagOf(e) === "textarea" || (e as HTMLElement).isContentEditable);
}

/** Keeps what was not taken for the next document of the same origin. */
function keepRecords(): void {
  if (!recorder?.kept || !records.length) return;
  try {
    sessionStorage.setItem(recorder.kept, JSON.stringify(records));
    records = [];
  } catch {
    // The document has no storage.
  }
}

function takeKept(): Record[] {
  if (!recorder?.kept) return [];
  try {
    const text = sessionStorage.getItem(recorder.kept);
    sessionStorage.removeItem(recorder.kept);
    return JSON.parse(text ?? "[]");
  } catch {
    return [];
  }
}
