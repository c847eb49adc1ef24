// Refs of elements: the identity that each is bound to, the check of that identity, and the search for the best match of a stale ref.

import { fullNameOf, NAMELESS } from "./aria/names";
import { isPresentational, isHidden } from "./aria/roles";
import { cut, flatParent, isVisible, styleOf, parentOf, rootOf, marking, preview, squash } from "./dom";
import { keep, type Handle } from "./handles";
import { hasMisleadingName, marked } from "./hidden";
import { elementOf, isInSameItem, isSameRow, rowLike, rowsOf, titleOf, type Row, type Rows } from "./rows";
import { cached, seen, withCaches, type Name, type Seen } from "./seen";
import { everyElement } from "./selector/css";
import { isComplete, isFrame, shownName, shownRole } from "./shown";

/** The properties by which an element is recognized. */
interface Identity {
  readonly role: string;
  name: string;
  /** The text that must stay the same besides the role: usually the name. */
  bound: string;
  /** The role and name of the nearest element around it with another name; empty if there is none. */
  within: string;
  /** The id or test id; set when the element was removed from the document. */
  key?: string;
  /** The row, if other elements of the snapshot have the same role and name. */
  row?: Row | undefined;
}

interface Ref extends Identity {
  readonly number: number;
  /** The first and the last snapshot with the ref, and its position in the last one. */
  readonly first: number;
  last: number;
  at: number;
  /** Whether the last snapshot used the node of the one before again. */
  isKept?: boolean;
  /** The role and the name by which it was compared with others; empty if it was not. */
  kind?: string;
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

/** Returns the ref of an element. An element with another role, name, text instead of a name, or row gets another ref. */
export function refTo(e: Element, role: string, name: string, bound: string, within: string): number {
  let ref = known.get(e);
  if (ref?.role !== role || !hasSameName(ref, name, bound) || (ref.row && !isSameRow(ref.row, e))) {
    ref = { number: ++lastRef, role, name, bound, within, first: snapshots, last: 0, at: 0 };
    known.set(e, ref);
  }
  ref.name = name;
  ref.bound = bound;
  ref.within = within || ref.within;
  ref.isKept = false;
  show(ref, e);
  return ref.number;
}

function show(ref: Ref, e: Element): void {
  ref.element = e;
  ref.last = snapshots;
  ref.at = ++shown;
  refs.set(ref.number, ref);
}

/** Returns whether a name is that of a ref; in a complete tree, apart from the values in it. */
function hasSameName(ref: Ref, name: string, bound: string): boolean {
  if (ref.name === name) return !!name || ref.bound === bound;
  return isComplete() && !!name && !!ref.name && ref.bound === bound;
}

/** Assigns the ref of an element again, in a snapshot in which the element is the same as in the last one. */
export function keepRef(e: Element): void {
  const ref = known.get(e);
  if (!ref) return;
  ref.isKept = true;
  show(ref, e);
}

/** Returns the number of the ref of an element; 0 if it never had one. */
export function numberOf(e: Element): number {
  return known.get(e)?.number ?? 0;
}

/** Returns the ref of an element in the last snapshot, or 0. */
export function refShown(e: Element): number {
  const ref = known.get(e);
  return ref?.last === snapshots ? ref.number : 0;
}

/** Returns whether an element had a ref before. */
export function hasRef(e: Element): boolean {
  return known.has(e);
}

// What users act on without a name.
const CONTROL = /^(button|checkbox|combobox|img|link|menuitem.*|option|radio|searchbox|slider|spinbutton|switch|tab|textbox)$/;

/** The numbers of elements with the same role and name in the last snapshot. */
let groups = new Map<string, number>();

/**
 * Ends a snapshot: binds the refs of elements with the same role and name to their rows. Those stay bound if nothing changed in the rows:
 * `isChanged` returns whether an element or something in it did.
 */
export function bindRows(isChanged?: (e: Element) => boolean): void {
  withCaches(() => {
    const alike = new Map<string, Ref[]>();
    for (const ref of refs.values()) {
      if (ref.last !== snapshots || !ref.element) continue;
      if (!ref.isKept || ref.kind === undefined) ref.kind = kindOf(ref, ref.element);
      if (!ref.kind) continue;
      const group = alike.get(ref.kind);
      if (group) group.push(ref);
      else alike.set(ref.kind, [ref]);
    }
    const before = groups;
    groups = new Map();
    const rows: Rows = new Map();
    for (const [kind, group] of alike) {
      if (group.length < 2) continue;
      groups.set(kind, group.length);
      if (isChanged && before.get(kind) === group.length && group.every((ref) => ref.isKept && !hasOtherRow(ref, isChanged))) continue;
      const found = rowsOf(
        group.map((ref) => ref.element as Element),
        rows,
      );
      for (const [i, ref] of group.entries()) bindRow(ref, found[i]);
    }
  });
}

/** Returns the role and the name by which an element is compared with others; empty for one that a user cannot act on. */
function kindOf({ role, name }: Ref, e: Element): string {
  if (!name && !CONTROL.test(role) && styleOf(seen(e)).cursor !== "pointer") return "";
  return `${role} ${name}`;
}

/** Returns whether an element is in a row that shows another item since something changed in it. */
export function hasLostRow(e: Element, isChanged: (e: Element) => boolean): boolean {
  const ref = known.get(e);
  return !!ref?.row && hasOtherRow(ref, isChanged) && !isSameRow(ref.row, e);
}

/** Returns whether something changed in the row of an element, or beside it if texts beside it count. */
function hasOtherRow({ row, element }: Ref, isChanged: (e: Element) => boolean): boolean {
  if (!row || !element) return false;
  let at: Element | undefined = element;
  for (let level = row.wide ? 0 : 1; at && level < row.path.length; level++) at = flatParent(at);
  return !at || isChanged(at);
}

function bindRow(ref: Ref, row: Row | undefined): void {
  // A row whose title is being edited has none.
  if (!row || (ref.row && ref.row.text.lines !== row.text.lines && !titleOf(row))) return;
  ref.row = row;
  const element = row.role === undefined && ref.element && elementOf(row, ref.element);
  // An element whose row is beside it is not in its row.
  if (!element || element === ref.element) return;
  const it = seen(element);
  row.role = shownRole(it);
  row.name = shownName(it).text;
}

/** Returns the role and name of the row, or of the nearest element around it with another name. */
function surroundingOf({ row, within }: Ref): string {
  const title = row && (row.name || titleOf(row));
  return title ? labelOf(row.role ?? "generic", title) : within;
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
  if (now.role !== role || (ref.row && !isSameRow(ref.row, element))) return false;
  if (now.bound === bound || (!ref.name && bound && textOf(it) === bound)) return true;
  // The name of a hidden element includes its hidden descendants, so it can be longer than before.
  return isHidden(it) && isPartOf(bound, now.bound);
}

function isHere(e: Element): boolean {
  return e.isConnected && e.ownerDocument === document;
}

function present(it: Seen): Omit<Identity, "within"> {
  const role = shownRole(it);
  const name = isFrame(it) ? NAMELESS : shownName(it);
  return { role, name: name.text, bound: boundTo(it, role, name, true) };
}

/**
 * Returns the text by which an element is recognized: its name without the values of controls, the items below it and edited content. For a
 * clickable element without a name that contains little more than text, returns the text.
 */
export function boundTo(it: Seen, role: string, name: Name, mayBeEdited = hasEdited(rootOf(it))): string {
  if (isFrame(it)) return "";
  if (isHidden(it)) name = fullNameOf(it);
  if (!name.text) return /^(generic|listitem|paragraph|article)$/.test(role) && styleOf(it).cursor === "pointer" ? textOf(it) : "";
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
  return cut(squash(element.textContent ?? ""), LONGEST);
}

/** Returns whether the words of `part` occur in `whole` in the same order. */
function isPartOf(part: string, whole: string): boolean {
  const words = whole.split(" ");
  let at = 0;
  return part.split(" ").every((word) => (at = words.indexOf(word, at) + 1) > 0);
}

function staleFacts(ref: Ref): Stale {
  const { role, name, element } = ref;
  // Elements that get a ref from here on were not in the snapshot of the stale ref.
  snapshots++;
  const stale: Stale = { was: { role, name: cut(name || ref.bound, LONGEST), within: surroundingOf(ref) }, match: bestMatch(ref) };
  if (element && isHere(element)) stale.now = summary(seen(element), ref);
  return stale;
}

/** Describes an element as errors show it, and binds its ref as another one was. */
function summary(it: Seen, was: Partial<Ref>): Summary {
  const { role, name, bound } = present(it);
  const number = refOf(it);
  const ref = refs.get(number);
  if (ref && was.row && !ref.row) bindRow(ref, rowLike(was.row, it.element));
  const within = ref?.row ? surroundingOf(ref) : withinOf(it, name);
  return { role, name: marked(it, cut(name || bound, LONGEST), hasMisleadingName(it, name)), within, ref: number };
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
    if (shownRole(it) !== was.role || e === was.element || !isVisible(it) || styleOf(it).pointerEvents === "none") continue;
    const score = scoreOf(it, was, key);
    if (!score || score < best || isAnother(e, was)) continue;
    if (score > best) found = [];
    best = score;
    found.push(it);
  }
  // If all similar elements were replaced, they are matched in document order.
  const stale = best < SAME_NAME || !was.number ? [was] : staleLike(was as Ref);
  const it = found.length === stale.length && found[stale.indexOf(was)];
  return it ? summary(it, was) : undefined;
}

function scoreOf(it: Seen, was: Identity & Partial<Ref>, key: string): number {
  const { name, bound } = present(it);
  const isKey = !!key && keyOf(it.element) === key;
  const score = (isKey ? SAME_KEY : 0) + (bound === was.bound || name === was.bound ? SAME_NAME : 0);
  if (!score && likeness(bound, was.bound) < 0.5) return 0;
  if (was.row) return isInSameItem(was.row, it.element) ? (score || LIKE_NAME) + 1 : isKey ? score : 0;
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
    ref.last === was.last &&
    ref.role === was.role &&
    ref.bound === was.bound &&
    ref.within === was.within &&
    ref.row?.text.lines === was.row?.text.lines &&
    !isStill(ref);
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
  for (let outer = parentOf(it); outer; outer = parentOf(outer)) {
    const role = shownRole(outer);
    const { text } = shownName(outer);
    if (text && text !== name && !isPresentational(role)) return labelOf(role, text);
  }
  return "";
}

export function labelOf(role: string, name: string): string {
  return `${role} ${JSON.stringify(cut(name, LONGEST))}`;
}
