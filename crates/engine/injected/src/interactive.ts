// What a person can act on: elements that can be edited, dragged or focused, and those that respond to clicks and keys.

import { isSummary, roleOf } from "./aria/roles";
import { handlersIn } from "./causes";
import { parentOf, recordClosedRoots, styleOf } from "./dom";
import { revealsOnHover } from "./hover";
import { cached, seen, type Seen } from "./seen";

/**
 * How a person can act on an element. `pointer`: by clicking, and the only element in it may stand for it. `own`: by the focus, by editing
 * or by dragging. `listens`: an event listener responds, unless it is there for elements in it. `weak`: only if there is nothing else to
 * act on in it.
 */
export type Action = "pointer" | "own" | "listens" | "weak";

/** How an element responds to events: to clicks, only to the beginning of a press or a drag, or to others. */
type Listening = "listens" | "grabs" | "weak";

/** Returns how a person can act on an element; undefined for most elements. Native controls are recognized by their role instead. */
export function actionOf(it: Seen): Action | undefined {
  if (it.action === undefined) it.action = computeAction(it) ?? null;
  return it.action ?? undefined;
}

function computeAction(it: Seen): Action | undefined {
  if (isRepeatedEdge(it)) return undefined;
  if (isEditingHost(it) || isSummary(it) || isPlayer(it)) return "own";
  if (it.tag === "body" || it.tag === "html") return undefined;
  let action: Action | undefined;
  if (it.attribute("draggable") === "true") return "own";
  // A label acts for its control, which has a ref.
  if (it.tag === "label" && (it.element as HTMLLabelElement).control) return undefined;
  if (it.attributeNames.length) {
    const index = Number.parseInt(it.attribute("tabindex") ?? "", 10);
    if (index >= 0 || (index < 0 && isHeader(it))) return "own";
    if (index < 0) action = "weak";
  }
  if (styleOf(it).cursor === "pointer" && (hasOwnLabel(it) || !isInPointer(it))) return isCollection(it) ? "weak" : "pointer";
  const listens = listening(it);
  if (isHandle(it)) return "listens";
  if (listens === "listens" || listens === "grabs") return isCollection(it) ? "weak" : "listens";
  return isListenedFor(it) || revealsOnHover(it) ? "listens" : (listens ?? action);
}

/** Returns whether an element has a name of its own in an element that users click, such as an icon, unless it only decorates that. */
function hasOwnLabel(it: Seen): boolean {
  const label = it.attribute("aria-label") || it.attribute("title");
  return !!label?.trim() && it.attribute("aria-hidden") !== "true";
}

/** The cursors of what a user drags, such as handles, splitters and edges. */
const DRAG_CURSORS = /^(grab|move|all-scroll|[a-z]+-resize)$/;

/** Returns whether the cursor says that a user can drag an element, and says that of no element around it. */
function isHandle(it: Seen): boolean {
  const { cursor } = styleOf(it);
  const parent = parentOf(it);
  return DRAG_CURSORS.test(cursor) && (!parent || styleOf(parent).cursor !== cursor);
}

/** Returns whether an element is the edge of a cell, which repeats that of the header of its column. */
function isRepeatedEdge(it: Seen): boolean {
  const before = it.element.firstChild || it.has("role") || it.has("title") ? null : it.element.previousElementSibling;
  return !!before && /^(grid)?cell$/.test(roleOf(seen(before)) ?? "");
}

/** Returns whether an element is the header of a column or row of a grid, which users sort, move and resize by it. */
function isHeader(it: Seen): boolean {
  return /^(column|row)header$/.test(roleOf(it) ?? "");
}

/** Returns whether an element responds to clicks or to the beginning of a press. */
export function respondsToPress(it: Seen): boolean {
  return styleOf(it).cursor === "pointer" || /^(grabs|listens)$/.test(listening(it) ?? "");
}

/**
 * Returns whether an element is an item of a collection that listens for its items, a cell of a table that listens for double clicks, or the
 * content of an element without a box.
 */
function isListenedFor(it: Seen): boolean {
  if (isCollection(it)) return false;
  const parent = parentOf(it);
  if (parent && styleOf(parent).display === "contents" && responds(typesOf(parent))) return true;
  const role = roleOf(it) ?? "";
  const isCell = role === "cell" || role === "gridcell";
  for (let at = isCell && parent ? parentOf(parent) : parent; at && isCollection(at); at = parentOf(at)) {
    const types = typesOf(at);
    const isDoubled = types.includes("dblclick");
    // Users double-click cells to edit them.
    if (isCell ? isDoubled : responds(isDoubled && role === "row" ? types.filter((type) => type !== "dblclick") : types)) return true;
  }
  return false;
}

const responds = (types: readonly string[]): boolean => /^(grabs|listens)$/.test(strongest(types) ?? "");

/** Returns whether an element is an audio or a video with controls, or an embedded document that is no part of the page, such as a PDF. */
export function isPlayer(it: Seen): boolean {
  return (/^(audio|video)$/.test(it.tag) && it.has("controls")) || (/^(embed|object)$/.test(it.tag) && it.has("type"));
}

/** Returns whether the pointer cursor of an element is that of an element around it. */
function isInPointer(it: Seen): boolean {
  for (let at = parentOf(it); at && styleOf(at).cursor === "pointer"; at = parentOf(at)) if (!isCollection(at)) return true;
  return false;
}

const COLLECTIONS = new Set("grid list listbox menu menubar rowgroup table tablist tree treegrid".split(" "));

/**
 * Returns whether a user acts on the items of an element instead of the element: because of its role, because its items can be moved, or
 * because a script tells them apart.
 */
function isCollection(it: Seen): boolean {
  if (COLLECTIONS.has(roleOf(it) ?? "")) return true;
  const listens = listening(it);
  if (listens === "grabs") return hasItems(it.element);
  return (listens === "listens" || styleOf(it).cursor === "pointer") && hasItems(it.element) && areTold(it.element);
}

/** Returns whether an element has several children, which all have the same tag. */
function hasItems(e: Element): boolean {
  const children = [...e.children];
  return children.length > 1 && children.every((child) => child.localName === children[0]?.localName);
}

/** Returns whether each child has another value of the same `data-` attribute, or all have the same class and only text. */
function areTold(e: Element): boolean {
  const children = [...e.children];
  const [first] = children;
  const isText = (child: Element): boolean => !child.firstElementChild && /\S/.test(child.textContent ?? "");
  if (first?.className && children.every((child) => child.className === first.className && isText(child))) return true;
  const names = children[0]?.getAttributeNames().filter((name) => name.startsWith("data-")) ?? [];
  return names.some((name) => new Set(children.map((child) => child.getAttribute(name) ?? "")).add("").size > children.length);
}

/** Returns whether the content of an element can be edited, and that of its parent cannot. */
export function isEditingHost(it: Seen): boolean {
  const e = it.element as HTMLElement;
  if (it.tag === "body" && e.ownerDocument.designMode === "on") return true;
  if (!it.has("contenteditable") || !e.isContentEditable) return false;
  return !(e.parentElement as HTMLElement | null)?.isContentEditable;
}

/** The types of events by which an element responds to a person. */
const ACTIVATION = "auxclick click contextmenu dblclick mouseup pointerup touchend".split(" ");
const PRESS = "dragstart mousedown pointerdown touchstart".split(" ");
const OTHER = "dragenter dragover drop keydown keypress keyup mouseenter mouseover pointerenter pointerover".split(" ");
const ACTIONS = new Map<string, Listening>([
  ...PRESS.map((type): [string, Listening] => [type, "grabs"]),
  ...ACTIVATION.map((type): [string, Listening] => [type, "listens"]),
  ...OTHER.map((type): [string, Listening] => [type, "weak"]),
]);
/** The number of types of events above which an element listens for all elements in it, like the root of a React application. */
const MAX_TYPES = 12;

/** The types of the listeners of elements that the browser reported. */
export const reported = new WeakMap<Element, readonly string[]>();
let reports = false;

/** Returns the listeners that the browser reported to the injected script of a document. */
const reportedIn = cached((owner: Document): WeakMap<Element, readonly string[]> => {
  if (owner === document) return reported;
  const view = owner.defaultView as { __playhouseCore?: { reported?: typeof reported } } | null;
  return view?.__playhouseCore?.reported ?? reported;
});

/** Returns the types of events for which libraries store handlers in elements of a document, as the script in the page's world sees them. */
const storedIn = cached((owner: Document): Map<Element, readonly string[]> => {
  const stored = handlersIn(owner);
  return new Map([...stored].map(([e, names]) => [e, names.flatMap(typeOf)]));
});

/** Returns the types of events for which libraries store handlers in elements of this document. */
export function storedTypes(): ReadonlyMap<Element, readonly string[]> {
  return reports ? storedIn(document) : new Map<Element, readonly string[]>();
}

/** Records the types of events to which elements listen, from a browser that reports all listeners. */
export function setListeners(elements: readonly Element[], types: readonly (readonly string[])[]): void {
  reports = true;
  for (const [index, e] of elements.entries()) {
    recordClosedRoots(e);
    const own = [...new Set(types[index])];
    const before = reported.get(e);
    if (own.length && own.length <= MAX_TYPES) reported.set(e, own);
    else reported.delete(e);
    if (areListenersTracked && reported.get(e)?.join() !== before?.join()) relisted.push(e);
  }
}

let areListenersTracked = false;
let relisted: Element[] = [];

/** Begins or ends to record the elements whose listeners are reported. */
export function trackListeners(on: boolean): void {
  areListenersTracked = on;
  relisted = [];
}

/** Returns the elements whose listeners were reported since the last call. */
export function takeRelisted(): Element[] {
  const taken = relisted;
  relisted = [];
  return taken;
}

/** Returns whether the browser reports listeners and closed shadow roots. */
export function hasReports(): boolean {
  return reports;
}

const NONE: readonly string[] = [];

function strongest(types: readonly string[]): Listening | undefined {
  if (!types.length) return undefined;
  const actions = types.map((type) => ACTIONS.get(type));
  return (["listens", "grabs", "weak"] as const).find((action) => actions.includes(action));
}

/** Returns how an element responds to events. */
function listening(it: Seen): Listening | undefined {
  if (it.listening === undefined) it.listening = strongest(typesOf(it)) ?? null;
  return it.listening ?? undefined;
}

/**
 * Returns the types of events to which an element responds: as the browser reported; else by its attributes, and by what scripts store in
 * elements.
 */
export function typesOf(it: Seen): readonly string[] {
  return it.types ?? (it.types = computeTypes(it));
}

function computeTypes(it: Seen): readonly string[] {
  const { element } = it;
  if (reports) {
    const owner = element.ownerDocument;
    const own = reportedIn(owner).get(element);
    const stored = storedIn(owner).get(element);
    return own && stored ? [...own, ...stored] : (own ?? stored ?? NONE);
  }
  const names = it.attributeNames;
  const types = names.length ? names.filter((name) => name.startsWith("on")).map((name) => name.slice(2)) : [];
  types.push(...typesStoredIn(element));
  return types.length ? types : NONE;
}

/** The properties of handlers that are read from each element. */
const HANDLERS = ["click", "mousedown", "pointerdown"];
/** The names of properties in which libraries store handlers: React, Vue, Svelte, Solid, jQuery and Zone.js, which Angular uses. */
const STORED = /^(__reactProps\$|__reactEventHandlers\$|_vei$|events$|__[a-z]+$|\$\$[a-z]+$|jQuery\d|__zone_symbol__[a-z]+(true|false)$)/;
const HANDLER = /^(?:on|__|\$\$|__zone_symbol__)([A-Za-z]+?)(?:true|false)?$/;
/** The number of elements that are searched for such properties. */
const SEARCHED = 300;

type Properties = Record<string | symbol, unknown>;

/** Returns the object that scripts of the page have for an element. In Firefox, that of the sandbox has none of their properties. */
function propertiesOf(e: Element): Properties {
  const own = e as unknown as Properties & { wrappedJSObject?: Properties };
  return own.wrappedJSObject ?? own;
}

function keysOf(properties: Properties): (string | symbol)[] {
  const keys = [...Object.keys(properties), ...Object.getOwnPropertySymbols(properties)];
  return keys.filter((key) => STORED.test(nameOf(key)) && key !== SYMBOL);
}

/** The description of the symbol of Svelte. */
const SYMBOL = "events";

const nameOf = (key: string | symbol): string => (typeof key === "string" ? key : (key.description ?? ""));

/** Returns whether a library stores handlers in elements of a document. */
const hasStored = cached((owner: Document): boolean => {
  const elements = [...owner.querySelectorAll("body *")].slice(0, SEARCHED);
  try {
    return elements.some((e) => keysOf(propertiesOf(e)).length > 0);
  } catch {
    return false;
  }
});

function typesStoredIn(e: Element): string[] {
  try {
    return readTypes(e);
  } catch {
    // A getter of the page failed.
    return [];
  }
}

function readTypes(e: Element): string[] {
  const own = propertiesOf(e);
  const types = HANDLERS.filter((type) => typeof own[`on${type}`] === "function");
  if (!hasStored(e.ownerDocument)) return types;
  for (const key of keysOf(own)) {
    const stored = Object.getOwnPropertyDescriptor(own, key)?.value as (Properties & { events?: object }) | undefined;
    const name = nameOf(key);
    // The properties of a React element and the listeners of Vue are named `onClick`, the events of jQuery and Svelte `click`.
    if (typeof stored === "object" && stored && !name.startsWith("__zone")) {
      const handlers = Object.keys((name.startsWith("jQuery") ? stored.events : stored) ?? {});
      if (name !== SYMBOL && !name.startsWith("jQuery")) types.push(...handlers.flatMap(typeOf));
      else if (handlers.length <= MAX_TYPES) types.push(...handlers);
    } else if (stored) types.push(...typeOf(name));
  }
  return types;
}

/** Returns the type of events of a handler that is stored as `onClick`, `__click` or `$$click`. */
function typeOf(handler: string): string[] {
  const type = HANDLER.exec(handler)?.[1]?.toLowerCase();
  return type ? [type === "doubleclick" ? "dblclick" : type] : [];
}
