// Elements that look different since the last snapshot: the page changed an attribute of theirs, such as the class, and their style differs.

import { boxOf, cut, isVisible, squash } from "./dom";
import { refShown } from "./refs";
import { seen, withCaches, type Box } from "./seen";
import { shownRole } from "./shown";

/** An element that looks different. The ref is 0 if it has none. */
export interface Restyled {
  ref: number;
  role: string;
  /** The beginning of its text; empty for the whole document. */
  text: string;
  /** The refs of the controls in or around it whose state its look can show. */
  states: number[];
}

interface Look {
  style: string;
  /** What shows the focus, too. */
  ring: string;
  hasFocus: boolean;
  /** Another look of an element that the pointer has entered or left can be due to that. */
  isHovered: boolean;
}

/** How many elements of the viewport are known by their look, and how many are examined for that. */
const MOST = 1_000;
const MOST_EXAMINED = 10_000;
/** How many elements with changed attributes are remembered, how many are reported, and how many in each of them are compared. */
const MOST_CHANGED = 200;
const MOST_REPORTED = 20;
const MOST_INSIDE = 30;
/** How many elements around the pointer are read again when it moves. */
const MOST_AROUND = 8;
const LONGEST = 60;
/** In quirks mode, `:hover` alone matches only links. */
const HOVERED = ":hover:nth-child(n)";
/** Classes that only say where the pointer or the focus is. */
const TEMPORARY = /hover|focus|ripple|touched/i;

const NO_BOX: Box = [0, 0, 0, 0];

let looks = new WeakMap<Element, Look>();
/** The attributes that changed since the last snapshot, with their values before. */
const changed = new Map<Element, Map<string, string | null>>();
/** The elements under the pointer when it last moved. */
let around: Element[] = [];

/** Records which attributes changed. Documents of frames are ignored. */
export function recordAttributes(records: MutationRecord[]): void {
  for (const { type, target, attributeName, oldValue } of records) {
    if (type !== "attributes" || !attributeName || target.ownerDocument !== document) continue;
    let attributes = changed.get(target as Element);
    if (!attributes) {
      if (changed.size >= MOST_CHANGED) continue;
      changed.set(target as Element, (attributes = new Map<string, string | null>()));
    }
    if (!attributes.has(attributeName)) attributes.set(attributeName, oldValue);
  }
}

/** Records how elements look, as far as they are in the viewport. */
export function recordLooks(shown: readonly { readonly element: Element; readonly box: Box | undefined }[]): void {
  looks = new WeakMap();
  let count = 0;
  for (const { element, box } of shown.slice(0, MOST_EXAMINED)) {
    const [x, y, width, height] = box ?? boxOf(seen(element)) ?? NO_BOX;
    if (y + height <= 0 || y >= innerHeight || x + width <= 0 || x >= innerWidth) continue;
    looks.set(element, lookOf(element));
    if (++count >= MOST) break;
  }
}

/** Reads the looks of what the pointer left and entered again: they depend on the pointer. */
export function pointerMoved(event: Event): void {
  const target = event.composedPath()[0];
  if (target === around[0]) return;
  const before = around;
  around = [];
  for (const e of event.composedPath()) if (e instanceof Element && around.length < MOST_AROUND) around.push(e);
  for (const e of [...before, ...around]) if (looks.has(e)) looks.set(e, lookOf(e));
}

function lookOf(e: Element): Look {
  const style = getComputedStyle(e);
  const { color, backgroundColor, backgroundImage, opacity, fontWeight, textDecorationLine, transform, filter } = style;
  const edges = ["top", "right", "bottom", "left"].map((side) => {
    const width = style.getPropertyValue(`border-${side}-width`);
    return width === "0px" ? width : `${width} ${style.getPropertyValue(`border-${side}-color`)}`;
  });
  return {
    style: [color, backgroundColor, backgroundImage, opacity, fontWeight, textDecorationLine, transform, filter, ...edges].join(),
    ring: [style.boxShadow, style.outlineStyle, style.outlineColor].join(),
    hasFocus: e.matches(":focus-within"),
    isHovered: e.matches(HOVERED),
  };
}

function hasOtherLook(e: Element): boolean {
  const before = looks.get(e);
  if (!before) return false;
  const now = lookOf(e);
  if (now.isHovered !== before.isHovered) return false;
  return now.style !== before.style || (now.ring !== before.ring && now.hasFocus === before.hasFocus);
}

function looksDifferent(e: Element): boolean {
  return hasOtherLook(e) || [...e.querySelectorAll("*")].slice(0, MOST_INSIDE).some(hasOtherLook);
}

/** Returns whether an attribute has another value than before, apart from classes that follow the pointer or the focus. */
function hasChanged(e: Element, attributes: Map<string, string | null>): boolean {
  for (const [name, before] of attributes) {
    const now = e.getAttribute(name);
    if (now === before) continue;
    if (name !== "class") return true;
    const [old, current] = [before, now].map((value) => new Set((value ?? "").split(/\s+/)));
    const differs = (one: Set<string> | undefined, other: Set<string> | undefined): boolean =>
      [...(one ?? [])].some((token) => token && !other?.has(token) && !TEMPORARY.test(token));
    if (differs(old, current) || differs(current, old)) return true;
  }
  return false;
}

/** Returns the elements that look different since the last snapshot, before their looks are recorded anew. */
export function takeRestyled(): Element[] {
  const restyled: Element[] = [];
  for (const [e, attributes] of changed) {
    if (restyled.length >= MOST_REPORTED) break;
    if (e.isConnected && hasChanged(e, attributes) && looksDifferent(e)) restyled.push(e);
  }
  changed.clear();
  return restyled;
}

/** Describes elements after the snapshot, which gives them refs. */
export function describeRestyled(elements: Element[]): Restyled[] {
  return withCaches(() =>
    withoutRepetition(elements.filter((e) => isVisible(seen(e))))
      .map(describe)
      .filter(({ ref, role, text }) => ref || text || role === "document"),
  );
}

/** Omits elements that say the same as one in them, or around them: of two, the one with a ref stays, else the inner one. */
function withoutRepetition(elements: Element[]): Element[] {
  const stays = (outer: Element, inner: Element): Element => (refShown(inner) || !refShown(outer) ? inner : outer);
  return elements.filter((e) =>
    elements.every((other) => other === e || !(e.contains(other) ? stays(e, other) !== e : other.contains(e) && stays(other, e) !== e)),
  );
}

/** What has a state that its look shows. */
const STATEFUL = "input, [aria-checked], [aria-selected], [aria-pressed], [aria-expanded]";

/** Returns the refs of the elements with a state in an element, and of the nearest one around it. */
function refsOfStates(e: Element): number[] {
  const outer = e.parentElement?.closest(STATEFUL);
  const parts = [...e.querySelectorAll(STATEFUL)].slice(0, MOST_INSIDE);
  return [...parts, ...(outer ? [outer] : [])].map(refShown).filter((ref) => ref > 0);
}

function describe(e: Element): Restyled {
  if (e === document.body || e === document.documentElement) return { ref: 0, role: "document", text: "", states: [] };
  const text = squash((e as HTMLElement).innerText ?? e.textContent ?? "");
  return { ref: refShown(e), states: refsOfStates(e), role: shownRole(seen(e)), text: cut(text, LONGEST) };
}
