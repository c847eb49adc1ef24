// Refs of elements: the identity that each is bound to, the check of that identity, and the search for the best match of a stale ref.

import { itsFullName, itsName, NAMELESS } from "./aria/names";
import { isPresentational, itIsHidden, itsRole } from "./aria/roles";
import { itIsVisible, itsLook, itsParent, itsRoot, marking, preview, squash } from "./dom";
import { keep, type Handle } from "./handles";
import { itsNameDiffers, marked } from "./hidden";
import { cached, seen, withCaches, type Name, type Seen } from "./seen";
import { everyElement } from "./selector/css";

/** The properties by which an element is recognized. */
interface Identity {
  readonly role: string;
  readonly name: string;
  /** The text that must stay the same besides the role: usually the name. */
  bound: string;
  /** The role and name of the nearest element around it with another name; empty if there is none. */
  within: string;
  /** The id or test id; set when the element was removed from the document. */
  key?: string;
}

interface Ref extends Identity {
  readonly number: number;
  /** The first and the last snapshot with the ref, and its position in the last one. */
  readonly first: number;
  last: number;
  at: number;
  /** Undefined after the element was removed, so that removed trees are not kept alive. */
  element?: Element | undefined;
}

/** An element as errors show it. */
interface Summary {
  role: string;
  name: string;
  within: string;
  ref: number;
}

/** The facts of a stale ref: empty for a ref that was never assigned; without `now` if the element was removed. */
interface Stale {
  was?: Omit<Summary, "ref">;
  now?: Summary;
  match?: Summary | undefined;
}

const known = new WeakMap<Element, Ref>();
const refs = new Map<number, Ref>();
let lastRef = 0;
let snapshots = 0;
let shown = 0;
let testIds = ["data-testid", "data-test-id", "data-test"];
/** The number of refs above which those of removed elements are deleted. */
const CROWDED = 10_000;
let crowded = CROWDED;
/** The maximum length of names and texts. */
const LONGEST = 100;
/** The maximum number of elements that the search for the best match visits. */
const SEARCHED = 20_000;
/** The maximum number of child elements of an element that is recognized by its text. */
const PARTS = 4;

/** Begins another snapshot, and releases removed elements. */
export function renew(): void {
  snapshots++;
  for (const [number, ref] of refs) {
    const { element } = ref;
    if (element && !isHere(element)) {
      ref.key = keyOf(element);
      ref.element = undefined;
    }
    if (!ref.element && refs.size > crowded) refs.delete(number);
  }
  crowded = Math.max(CROWDED, 2 * refs.size);
}

/** Returns the ref of an element. An element with another role, name, or text instead of a name gets another ref. */
export function refTo(e: Element, role: string, name: string, bound: string, within: string): number {
  let ref = known.get(e);
  if (ref?.role !== role || ref.name !== name || (!name && ref.bound !== bound)) {
    ref = { number: ++lastRef, role, name, bound, within, first: snapshots, last: 0, at: 0 };
    known.set(e, ref);
  }
  ref.element = e;
  ref.bound = bound;
  ref.within = within || ref.within;
  ref.last = snapshots;
  ref.at = ++shown;
  refs.set(ref.number, ref);
  return ref.number;
}

/** Returns the ref of an element outside a snapshot. */
export function refOf(it: Seen): number {
  const { role, name, bound } = present(it);
  return refTo(it.element, role, name, bound, withinOf(it, name));
}

interface Question {
  ref: string;
  testId: string;
  /** Whether text that a user cannot see is marked. */
  marks: boolean;
}

/** Returns a handle of the element of a ref, which is valid as long as the element keeps its identity; or the facts of a stale ref. */
export function byRef({ ref: text, testId, marks }: Question): { handle: Handle; preview: string } | { stale: Stale } {
  testIds = [...new Set([testId, ...testIds])];
  return withCaches(() => {
    const ref = refs.get(Number(text.slice(1)));
    if (!ref) return { stale: {} };
    const e = isStill(ref) && ref.element;
    if (e) return { handle: keep(e, () => withCaches(() => isStill(ref))), preview: preview(e) };
    return { stale: marking(marks, () => staleFacts(ref)) };
  });
}

/** Returns the best match of a ref of a previous document. */
export function similar({ role, name, marks }: { role: string; name: string; marks: boolean }): Summary | null {
  return marking(marks, () => withCaches(() => bestMatch({ role, name, bound: name, within: "" }) ?? null));
}

/** Returns whether the element is in the document and has the identity of the ref. */
function isStill(ref: Ref): boolean {
  const { element, role, bound } = ref;
  if (!element || !isHere(element)) return false;
  const it = seen(element);
  const now = present(it);
  if (now.role !== role) return false;
  if (now.bound === bound || (!ref.name && bound && textOf(it) === bound)) return true;
  // The name of a hidden element includes its hidden descendants, so it can be longer than before.
  return itIsHidden(it) && isPartOf(bound, now.bound);
}

function isHere(e: Element): boolean {
  return e.isConnected && e.ownerDocument === document;
}

function present(it: Seen): Omit<Identity, "within"> {
  const role = roleIn(it);
  const name = isFrame(it) ? NAMELESS : itsName(it);
  return { role, name: name.text, bound: boundTo(it, role, name, true) };
}

/** Returns the role in snapshots. */
function roleIn(it: Seen): string {
  return isFrame(it) ? "iframe" : (itsRole(it) ?? "generic");
}

export function isFrame({ tag }: Seen): boolean {
  return tag === "iframe" || tag === "frame";
}

/**
 * Returns the text by which an element is recognized: its name without the values of controls and without edited content. For a clickable
 * element without a name that contains little more than text, returns the text.
 */
export function boundTo(it: Seen, role: string, name: Name, mayBeEdited = hasEdited(itsRoot(it))): string {
  if (isFrame(it)) return "";
  if (itIsHidden(it)) name = itsFullName(it);
  if (!name.text) return /^(generic|listitem|paragraph|article)$/.test(role) && itsLook(it).cursor === "pointer" ? textOf(it) : "";
  const isEdited = mayBeEdited && (it.element as HTMLElement).isContentEditable && !it.has("aria-label") && !it.has("aria-labelledby");
  return isEdited ? "" : (name.constant ?? name.text);
}

/** Returns whether a root can contain edited content. A check of each element of a snapshot is slower. */
const hasEdited = cached((root: Document | ShadowRoot) => !!root.querySelector("[contenteditable]"));

/** Returns the text of an element that contains little more than text, else an empty string. */
function textOf({ element }: Seen): string {
  let parts = 0;
  for (let child = element.firstChild; child; child = child.nextSibling) {
    if (child.nodeType === Node.ELEMENT_NODE && ((child as Element).firstElementChild || ++parts > PARTS)) return "";
  }
  return cut(squash(element.textContent ?? ""));
}

/** Returns whether the words of `part` occur in `whole` in the same order. */
function isPartOf(part: string, whole: string): boolean {
  const words = whole.split(" ");
  let at = 0;
  return part.split(" ").every((word) => (at = words.indexOf(word, at) + 1) > 0);
}

function staleFacts(ref: Ref): Stale {
  const { role, name, within, element } = ref;
  // Elements that get a ref from here on were not in the snapshot of the stale ref.
  snapshots++;
  const stale: Stale = { was: { role, name: cut(name || ref.bound), within }, match: bestMatch(ref) };
  if (element && isHere(element)) stale.now = summary(seen(element));
  return stale;
}

function summary(it: Seen): Summary {
  const { role, name, bound } = present(it);
  return { role, name: marked(it, cut(name || bound), itsNameDiffers(it, name)), within: withinOf(it, name), ref: refOf(it) };
}

// The scores of properties of a candidate. A similar surrounding adds up to 1.
const SAME_NAME = 8;
const SAME_KEY = 4;
const LIKE_NAME = 1;

/** Returns the single best match of an element; undefined if none or several match best. */
function bestMatch(was: Identity & Partial<Ref>): Summary | undefined {
  const key = was.key ?? (was.element && !isHere(was.element) ? keyOf(was.element) : "");
  let best = 0;
  let found: Seen[] = [];
  for (const e of everyElement(document).slice(0, SEARCHED)) {
    const it = seen(e);
    if (roleIn(it) !== was.role || e === was.element || !itIsVisible(it) || itsLook(it).pointerEvents === "none") continue;
    const score = scoreOf(it, was, key);
    if (!score || score < best || isAnother(e, was)) continue;
    if (score > best) found = [];
    best = score;
    found.push(it);
  }
  // If all similar elements were replaced, they are matched in document order.
  const stale = best < SAME_NAME || !was.number ? [was] : staleLike(was as Ref);
  const it = found.length === stale.length && found[stale.indexOf(was)];
  return it ? summary(it) : undefined;
}

function scoreOf(it: Seen, was: Identity, key: string): number {
  const { name, bound } = present(it);
  const isKey = !!key && keyOf(it.element) === key;
  const score = (isKey ? SAME_KEY : 0) + (bound === was.bound || name === was.bound ? SAME_NAME : 0);
  if (!score && likeness(bound, was.bound) < 0.5) return 0;
  const within = withinOf(it, name);
  if (!was.within || !within) return score || LIKE_NAME;
  const around = likeness(within, was.within);
  // An element with the same name in another row is no match.
  return around > 0.5 || isKey ? (score || LIKE_NAME) + around : 0;
}

/** Returns whether the last snapshot with `was` contained the element as a different one that has not changed. */
function isAnother(e: Element, was: Partial<Ref>): boolean {
  const ref = known.get(e);
  return !!ref && ref !== was && was.last !== undefined && ref.first <= was.last && isStill(ref);
}

/** Returns the stale refs with the same role, name and surrounding in the last snapshot with `was`, in the order of that snapshot. */
function staleLike(was: Ref): Ref[] {
  const isLike = (ref: Ref): boolean =>
    ref.last === was.last && ref.role === was.role && ref.bound === was.bound && ref.within === was.within && !isStill(ref);
  return [...refs.values()].filter(isLike).sort((a, b) => a.at - b.at);
}

/** Returns the fraction of common words of two texts, from 0 to 1. */
function likeness(a: string, b: string): number {
  if (a === b) return 1;
  const [words, others] = [a, b].map((text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu)));
  if (!words || !others) return 0;
  return [...words].filter((word) => others.has(word)).length / Math.max(words.size, others.size, 1);
}

/** Returns the id or test id with the name of its attribute. */
function keyOf(e: Element): string {
  for (const name of ["id", ...testIds]) {
    const value = e.getAttribute(name);
    if (value) return `${name} ${value}`;
  }
  return "";
}

/** Returns the role and name of the nearest element around it with another name. */
function withinOf(it: Seen, name: string): string {
  for (let outer = itsParent(it); outer; outer = itsParent(outer)) {
    const role = roleIn(outer);
    const { text } = itsName(outer);
    if (text && text !== name && !isPresentational(role)) return labelOf(role, text);
  }
  return "";
}

export function labelOf(role: string, name: string): string {
  return `${role} ${JSON.stringify(cut(name))}`;
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}
