// The nodes of the last snapshot of the document that can be used again, because nothing that they depend on has changed since.
//
// Mutations say which elements changed. What a page changes without them is checked: visibility, boxes, style sheets, the viewport,
// listeners and refs. Elements whose properties change without a trace, such as fields, are read anew each time.

import { setTimer } from "./causes";
import { flatParent, isElement, isElementRendered, isRendered, rootOf } from "./dom";
import { hasReports, storedTypes, takeRelisted, trackListeners, typesOf } from "./interactive";
import { hasLostRow, numberOf } from "./refs";
import { elementShadowRoot } from "./roots";
import { cached, seen, type Box, type Seen } from "./seen";

/** What is checked of an element that was read. */
interface Checks {
  readonly isRendered: boolean;
  readonly isHost: boolean;
  /** The bounding box of an element with several children, and of an image. Others keep theirs if nothing around them changes. */
  readonly bounds?: Box | undefined;
  /** The scroll position of an element with children. */
  readonly scroll: number;
  /** The types of its event listeners, where the browser does not report them. */
  readonly types?: string | undefined;
}

export interface Checked {
  readonly element: Element;
  readonly checks: Checks;
  /** The ref in the snapshot; 0 if it has none. */
  readonly ref: number;
  /** The elements in it that are in no node below it. */
  others?: Checked[];
}

/** What was recorded while the tree was read. */
export interface Reading<N extends Checked> {
  readonly from: Element;
  /** The nodes in their order, and the elements in none of them. */
  readonly nodes: readonly N[];
  readonly others: readonly Checked[];
  /** The elements that are read anew each time. */
  readonly volatile: ReadonlySet<Element>;
  readonly roots: readonly Root[];
  /** The properties of the question that the nodes depend on. */
  readonly question: string;
}

type Root = Document | ShadowRoot;
type Handlers = ReadonlyMap<Element, readonly string[]>;

interface Last<N extends Checked> extends Reading<N> {
  readonly conditions: string;
  /** The elements with the focus, and under the pointer, and those that were animated. */
  readonly current: readonly Element[];
  readonly animated: readonly Element[];
  readonly stored: Handlers;
}

/** The numbers of changed and of added elements above which the whole document is read. */
const MOST_CHANGES = 1_000;
const MOST_ADDED = 10_000;
/** The number of siblings and of children that are read anew if one of them changes. */
const FEW = 20;
/** The number of rules above which those in groups are not counted. */
const MOST_RULES = 500;
/** How long nodes are kept, in ms. */
const LIFETIME = 60_000;
const OBSERVED: MutationObserverInit = { subtree: true, childList: true, "attributes": true, characterData: true };
const MEDIA = [
  "(prefers-color-scheme: dark)",
  "(prefers-reduced-motion: reduce)",
  "(prefers-contrast: more)",
  "(forced-colors: active)",
  "print",
];
/** In quirks mode, `:hover` alone matches only links. */
const HOVERED = ":hover:nth-child(n)";
/** The elements with properties that change without a mutation, or with names and looks from elsewhere. */
const VOLATILE = new Set(
  (
    "area audio canvas datalist embed fieldset frame iframe input label legend map meter object optgroup option output progress select " +
    "textarea th video"
  ).split(" "),
);
const REFERENCES = [
  "aria-labelledby",
  "aria-labeledby",
  "aria-describedby",
  "aria-owns",
  "aria-activedescendant",
  "aria-errormessage",
  "popovertarget",
  "commandfor",
];

let last: Last<Checked> | undefined;
let nodes = new WeakMap<Element, Checked>();
/** The elements that changed since, those of which everything inside changed, and those that were added or moved. */
const changed = new Set<Element>();
const changedInside = new Set<Element>();
const added = new Set<Element>();
let isAllChanged = false;
let expiry: ReturnType<typeof setTimeout> | undefined;
const observer = new MutationObserver(record);

/** Which elements changed since the last snapshot. */
export interface Unchanged<N extends Checked> {
  /** Returns the node of an element if neither the element nor anything in it changed. */
  nodeOf(e: Element): N | undefined;
  /** Returns whether an element or something in it changed. */
  isChanged(e: Element): boolean;
  /** Returns whether nothing in an element can be used again. */
  isChangedInside(e: Element): boolean;
}

/** Forgets the last snapshot. */
export function forgetNodes(): void {
  observer.disconnect();
  clearTimeout(expiry);
  trackListeners(false);
  last = undefined;
  nodes = new WeakMap();
  reset();
}

function reset(): void {
  for (const set of [changed, changedInside, added]) set.clear();
  isAllChanged = false;
}

/** Keeps the nodes of a snapshot for the next one. */
export function keepNodes<N extends Checked>(reading: Reading<N>): void {
  observer.disconnect();
  reset();
  trackListeners(true);
  const roots = [...new Set([...reading.roots, ...(last?.roots ?? [])])].filter(isHere);
  nodes = new WeakMap(reading.nodes.map((node) => [node.element, node]));
  last = {
    ...reading,
    roots,
    conditions: conditionsOf(roots),
    current: currentIn(roots),
    animated: animatedIn(roots),
    stored: storedTypes(),
  };
  for (const root of roots) observer.observe(root, OBSERVED);
  clearTimeout(expiry);
  expiry = setTimer(forgetNodes, LIFETIME);
}

/** Returns what can be used again of the last snapshot; undefined if that is nothing. */
export function unchangedSince<N extends Checked>(from: Element, question: string): Unchanged<N> | undefined {
  const before = last;
  record(observer.takeRecords());
  if (before?.from !== from || before.question !== question || isAllChanged) return undefined;
  const { roots } = before;
  // What an element owns is read with it.
  if (before.conditions !== conditionsOf(roots) || hasOwners(roots)) return undefined;
  const stale = new Set<Element>();
  const inside = new Set([...changedInside, ...added]);
  const mark = (e: Element): void => {
    for (let at: Element | undefined = e; at && !stale.has(at); at = flatParent(at)) stale.add(at);
  };
  const elements = [...before.animated, ...animatedIn(roots), ...differing(before.stored, storedTypes()), ...takeRelisted()];
  for (const e of elements) inside.add(e);
  // The states of fields show in the styles of what follows them.
  for (const e of before.volatile) for (const other of followersOf(e)) inside.add(other);
  for (const e of [...changed, ...inside, ...before.volatile, ...before.current, ...currentIn(roots)]) mark(e);
  const check = (of: Checked): void => {
    const { element, checks, others, ref } = of;
    for (const other of others ?? []) check(other);
    if (!element.isConnected || stale.has(element)) return;
    if (checks.types !== undefined && checks.types !== typesOf(seen(element)).join()) inside.add(element);
    if (inside.has(element) || hasOtherState(element, checks) || (ref && numberOf(element) !== ref)) mark(element);
  };
  for (const other of before.others) check(other);
  for (const node of before.nodes) check(node);
  const isChanged = (e: Element): boolean => stale.has(e);
  for (const { element, ref } of before.nodes) if (ref && !stale.has(element) && hasLostRow(element, isChanged)) mark(element);
  return {
    nodeOf: (e) => (stale.has(e) ? undefined : (nodes.get(e) as N | undefined)),
    isChanged,
    isChangedInside: (e) => inside.has(e),
  };
}

function hasOtherState(element: Element, { isRendered, isHost, bounds, scroll }: Checks): boolean {
  if (isElementRendered(element) !== isRendered || !!elementShadowRoot(element) !== isHost) return true;
  return (bounds && isOther(bounds, element.getBoundingClientRect())) || scrollOf(element) !== scroll;
}

/** Returns whether a box is another one. */
export function isOther([x, y, width, height]: Box, now: DOMRect): boolean {
  return now.x !== x || now.y !== y || now.width !== width || now.height !== height;
}

/** Returns whether an element has properties that change without a mutation, or a name or a look from elsewhere. */
export function isVolatile(it: Seen): boolean {
  const { tag, element, attributeNames } = it;
  if (VOLATILE.has(tag) || tag.includes("-") || (tag === "img" && !it.has("alt"))) return true;
  if (attributeNames.length && REFERENCES.some((name) => attributeNames.includes(name))) return true;
  // A button can have a label, too.
  return tag === "button" && ((it.has("id") && hasLabelFor(rootOf(it))) || (hasLabel(rootOf(it)) && !!element.closest("label")));
}

const hasLabel = cached((root: Root) => !!root.querySelector("label"));
const hasLabelFor = cached((root: Root) => !!root.querySelector("label[for]"));

/** What is checked of an element in snapshots that are not kept. */
export const UNCHECKED: Checks = { isRendered: false, isHost: false, scroll: 0 };

/** Returns what is checked of an element at the next snapshot. */
export function checksOf(it: Seen): Checks {
  const { element } = it;
  return {
    isRendered: isRendered(it),
    isHost: !!elementShadowRoot(element),
    bounds: element.childElementCount > 1 || it.tag === "img" ? (it.box ?? boundsOf(element)) : undefined,
    scroll: scrollOf(element),
    types: hasReports() ? undefined : typesOf(it).join(),
  };
}

function boundsOf(e: Element): Box {
  const { x, y, width, height } = e.getBoundingClientRect();
  return [x, y, width, height];
}

/** What never scrolls, or hardly ever. */
const NO_SCROLLER = /^(a|button|span|tbody|td|tfoot|th|thead|tr)$/;

function scrollOf(e: Element): number {
  return e.firstElementChild && !NO_SCROLLER.test(e.localName) ? e.scrollTop + e.scrollLeft / 1e6 : 0;
}

/** Collects the elements of mutations. */
function record(records: MutationRecord[]): void {
  if (!last) return;
  for (const mutation of records) {
    if (isAllChanged) break;
    const { type, target, attributeName } = mutation;
    const host = (target as Partial<ShadowRoot>).host;
    const e = isElement(target) ? target : (target.parentElement ?? host);
    if (!e) continue;
    const isOutermost = e === document.documentElement || e === document.body;
    if (isOutermost ? type === "attributes" : isStyle(e)) isAllChanged = true;
    else if (type === "attributes") {
      changedInside.add(e);
      for (const other of followersOf(e)) changedInside.add(other);
      for (const other of childrenIfFew(e.parentElement)) changed.add(other);
      // Another slot has it now.
      if (attributeName === "slot" && e.parentElement) changedInside.add(e.parentElement);
    } else {
      // The content of a host is in its slots.
      (!host && elementShadowRoot(e) ? changedInside : changed).add(e);
      if (type === "childList") recordChildren(mutation);
    }
    if (changed.size + changedInside.size > MOST_CHANGES || added.size > MOST_ADDED) isAllChanged = true;
  }
  if (isAllChanged) observer.disconnect();
}

/** Collects what was added, and the elements beside what was added or removed, whose roles and actions can depend on their siblings. */
function recordChildren(mutation: MutationRecord): void {
  const { target, addedNodes, removedNodes } = mutation;
  const elements = [...addedNodes, ...removedNodes].filter(isElement);
  if (elements.some((e) => e.matches(SOURCES) || e.querySelector(SOURCES))) isAllChanged = true;
  for (const e of elements) added.add(e);
  if (!elements.length) return;
  for (const e of childrenIfFew(target as Element | ShadowRoot)) changed.add(e);
  for (const step of ["previousSibling", "nextSibling"] as const) {
    let beside = mutation[step];
    while (beside && !isElement(beside)) beside = step === "nextSibling" ? beside.nextSibling : beside.previousSibling;
    if (beside) changed.add(beside);
  }
}

/** What other elements depend on. */
const SOURCES = "style, link, label";

function childrenIfFew(e: ParentNode | null): Element[] {
  return e && e.childElementCount <= FEW ? [...e.children] : [];
}

/** Returns the siblings after an element whose styles can depend on it. */
function followersOf(e: Element): Element[] {
  const followers: Element[] = [];
  for (let next = e.nextElementSibling; next && followers.length < FEW; next = next.nextElementSibling) followers.push(next);
  return followers;
}

/** Returns whether an element is a style sheet or in the head, apart from the title and from scripts. */
function isStyle(e: Element): boolean {
  if (/^(style|link)$/.test(e.localName)) return true;
  return !!document.head?.contains(e) && !/^(head|script|title)$/.test(e.localName);
}

function isHere(root: Root): boolean {
  return root === document || (root.isConnected && root.ownerDocument === document);
}

/** Returns the elements with the focus and those under the pointer. */
function currentIn(roots: readonly Root[]): Element[] {
  const hovered = roots.map((root) => [...root.querySelectorAll(HOVERED)].at(-1));
  return [...hovered, ...roots.map((root) => root.activeElement)].filter((e) => !!e);
}

/** Returns the elements that animations change. */
function animatedIn(roots: readonly Root[]): Element[] {
  const effects = roots.flatMap((root) => root.getAnimations().map(({ effect }) => effect as KeyframeEffect | null));
  return effects.flatMap((effect) => effect?.target ?? []);
}

/** Returns the elements whose handlers differ. */
function differing(before: Handlers, now: Handlers): Element[] {
  const elements = [...new Set([...before.keys(), ...now.keys()])];
  return elements.filter((e) => before.get(e)?.join() !== now.get(e)?.join());
}

/** Returns what all nodes depend on: the viewport, the position in the document, media, fonts and style sheets. */
function conditionsOf(roots: readonly Root[]): string {
  const sheets = roots.flatMap((root) => [...root.styleSheets, ...root.adoptedStyleSheets].map(sheetOf));
  const fonts = [...document.fonts].filter(({ status }) => status === "loaded").length;
  const media = MEDIA.map((query) => matchMedia(query)["matches"]);
  const view = [innerWidth, innerHeight, devicePixelRatio, scrollX, scrollY, location.hash, document.designMode];
  return [...view, !!document.fullscreenElement, hasReports(), hasOwners(roots), fonts, ...media, ...sheets].join();
}

function hasOwners(roots: readonly Root[]): boolean {
  return roots.some((root) => root.querySelector("[aria-owns]"));
}

function sheetOf(sheet: CSSStyleSheet): string {
  try {
    return `${sheet.disabled} ${countOf(sheet.cssRules)}`;
  } catch {
    // The rules of a style sheet of another origin cannot be read.
    return `${sheet.disabled}`;
  }
}

/** Returns the number of rules, with those in groups unless there are too many. */
function countOf(rules: CSSRuleList): number {
  if (rules.length > MOST_RULES) return rules.length;
  return [...rules].reduce((count, rule) => count + countOf((rule as CSSGroupingRule).cssRules ?? []), rules.length);
}
