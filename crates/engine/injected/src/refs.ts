// Refs: what each is bound to, what has become of its element since, and which element answers to what it was.

import { itsFullName, itsName, NAMELESS } from "./aria/names";
import { isPresentational, itIsHidden, itsRole } from "./aria/roles";
import { itIsVisible, itsLook, itsParent, itsRoot, marking, preview, squash } from "./dom";
import { keep, type Handle } from "./handles";
import { itsNameDiffers, marked } from "./hidden";
import { cached, seen, withCaches, type Name, type Seen } from "./seen";
import { everyElement } from "./selector/css";

/** What tells an element from others. */
interface Identity {
  readonly role: string;
  readonly name: string;
  /** What it is recognized by besides its role: mostly its name. */
  bound: string;
  /** Role and name of what it is in. */
  within: string;
  /** Its id, or that for tests, once it has left the document. */
  key?: string;
}

interface Ref extends Identity {
  readonly number: number;
  /** The first and the last snapshot that showed it, and its place among all that were shown. */
  readonly first: number;
  last: number;
  at: number;
  /** Nothing once it has left the document, which would be kept with it. */
  element?: Element | undefined;
}

/** An element for the reader of an error. */
interface Summary {
  role: string;
  name: string;
  within: string;
  ref: number;
}

/** What became of a ref: nothing is known of one that was never given; without `now` its element has left the document. */
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
/** With so many, those whose elements have left the document are forgotten. */
const CROWDED = 10_000;
let crowded = CROWDED;
/** A name or text is cut off there. */
const LONGEST = 100;
/** So many elements of a document are searched for one that answers to a ref. */
const SEARCHED = 20_000;
/** An element with more others in it is more than a text. */
const PARTS = 4;

/** Begins another snapshot. */
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

/** The ref of an element: another one once its role or its name has changed, or the text that stands for its name. */
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

/** The ref of an element that no snapshot needs to have shown. */
export function refOf(it: Seen): number {
  const { role, name, bound } = present(it);
  return refTo(it.element, role, name, bound, withinOf(it, name));
}

interface Question {
  ref: string;
  testId: string;
  /** What a person cannot see is marked. */
  marks: boolean;
}

/** The element of a ref, as a locator finds it, or why it is no longer what it was. */
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

/** The element that answers to the role and the name that one of an earlier document had. */
export function similar({ role, name, marks }: { role: string; name: string; marks: boolean }): Summary | null {
  return marking(marks, () => withCaches(() => bestMatch({ role, name, bound: name, within: "" }) ?? null));
}

/** Whether the element is here, and still what the ref is bound to. */
function isStill(ref: Ref): boolean {
  const { element, role, bound } = ref;
  if (!element || !isHere(element)) return false;
  const it = seen(element);
  const now = present(it);
  if (now.role !== role) return false;
  if (now.bound === bound || (!ref.name && bound && textOf(it) === bound)) return true;
  // A hidden element is named by all that is in it, hidden or not: that may be more than before.
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

/** The role as a snapshot has it. */
function roleIn(it: Seen): string {
  return isFrame(it) ? "iframe" : (itsRole(it) ?? "generic");
}

export function isFrame({ tag }: Seen): boolean {
  return tag === "iframe" || tag === "frame";
}

/**
 * What an element is recognized by: its name, but for the values of controls and of edited content in it. A short one without a name that
 * can be clicked stands in a list by its text.
 */
export function boundTo(it: Seen, role: string, name: Name, mayBeEdited = hasEdited(itsRoot(it))): string {
  if (isFrame(it)) return "";
  if (itIsHidden(it)) name = itsFullName(it);
  if (!name.text) return /^(generic|listitem|paragraph|article)$/.test(role) && itsLook(it).cursor === "pointer" ? textOf(it) : "";
  const isEdited = mayBeEdited && (it.element as HTMLElement).isContentEditable && !it.has("aria-label") && !it.has("aria-labelledby");
  return isEdited ? "" : (name.constant ?? name.text);
}

/** Whether anything under a root can be edited content: asking each element of a snapshot costs more. */
const hasEdited = cached((root: Document | ShadowRoot) => !!root.querySelector("[contenteditable]"));

/** The text of an element that is little more than that. */
function textOf({ element }: Seen): string {
  let parts = 0;
  for (let child = element.firstChild; child; child = child.nextSibling) {
    if (child.nodeType === Node.ELEMENT_NODE && ((child as Element).firstElementChild || ++parts > PARTS)) return "";
  }
  return cut(squash(element.textContent ?? ""));
}

/** The words of a text, in their order, among those of another. */
function isPartOf(part: string, whole: string): boolean {
  const words = whole.split(" ");
  let at = 0;
  return part.split(" ").every((word) => (at = words.indexOf(word, at) + 1) > 0);
}

function staleFacts(ref: Ref): Stale {
  const { role, name, within, element } = ref;
  // What is found now was not there before.
  snapshots++;
  const stale: Stale = { was: { role, name: cut(name || ref.bound), within }, match: bestMatch(ref) };
  if (element && isHere(element)) stale.now = summary(seen(element));
  return stale;
}

function summary(it: Seen): Summary {
  const { role, name, bound } = present(it);
  return { role, name: marked(it, cut(name || bound), itsNameDiffers(it, name)), within: withinOf(it, name), ref: refOf(it) };
}

/** What counts for an element that may answer to a ref; one that is in the same has a little more. */
const SAME_NAME = 8;
const SAME_KEY = 4;
const LIKE_NAME = 1;

/** The one element that answers best to what another was; none if several do. */
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
  // Where all of a kind were replaced, each has its place among them.
  const gone = best < SAME_NAME || !was.number ? [was] : goneLike(was as Ref);
  const it = found.length === gone.length && found[gone.indexOf(was)];
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
  // One of the same name in another row is another one.
  return around > 0.5 || isKey ? (score || LIKE_NAME) + around : 0;
}

/** Whether the snapshot that showed the one showed the element as another. */
function isAnother(e: Element, was: Partial<Ref>): boolean {
  const ref = known.get(e);
  return !!ref && ref !== was && was.last !== undefined && ref.first <= was.last && isStill(ref);
}

/** All that were alike in the snapshot that showed the one last, and are no longer, in the order of that snapshot. */
function goneLike(was: Ref): Ref[] {
  const isLike = (ref: Ref): boolean =>
    ref.last === was.last && ref.role === was.role && ref.bound === was.bound && ref.within === was.within && !isStill(ref);
  return [...refs.values()].filter(isLike).sort((a, b) => a.at - b.at);
}

/** How much of the words of two texts is the same, from 0 to 1. */
function likeness(a: string, b: string): number {
  if (a === b) return 1;
  const [words, others] = [a, b].map((text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu)));
  if (!words || !others) return 0;
  return [...words].filter((word) => others.has(word)).length / Math.max(words.size, others.size, 1);
}

/** Its id, or that for tests. */
function keyOf(e: Element): string {
  for (const name of ["id", ...testIds]) {
    const value = e.getAttribute(name);
    if (value) return `${name} ${value}`;
  }
  return "";
}

/** Role and name of the nearest element around it that has another name. */
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
