// The tree as people see it: across open shadow roots and slots, and what of it is on screen.

// What was computed about each node, by the number of the function that computed it.
let facts = new Map<object, unknown[]>();
let functions = 0;
let callers = 0;
// Questions about one node and its parent mostly come one after the other.
let lastKey: object | undefined;
let lastFacts: unknown[] = [];
let otherKey: object | undefined;
let otherFacts: unknown[] = [];

const ofRoots: (() => void)[] = [];

/** Runs a piece of work during which the page stands still, so that styles, roles and names are computed once. */
export function withCaches<T>(work: () => T): T {
  callers++;
  try {
    return work();
  } finally {
    if (!--callers) {
      facts = new Map();
      lastKey = otherKey = undefined;
      for (const forget of ofRoots) forget();
    }
  }
}

/** A function that remembers its answers. */
export interface Cached<K, V> {
  (key: K): V;
  /** Has it remember an answer that is known already. */
  tell(key: K, value: V): void;
}

/** A function that remembers its answers for the length of `withCaches`, and computes afresh outside it. */
export function cached<K extends object, V>(compute: (key: K) => V): Cached<K, V> {
  const slot = functions++;
  const answer = (key: K): V => {
    if (!callers) return compute(key);
    const mine = factsOf(key);
    if (mine[slot] === undefined) mine[slot] = compute(key);
    return mine[slot] as V;
  };
  answer.tell = (key: K, value: V): void => {
    if (callers) factsOf(key)[slot] = value;
  };
  return answer;
}

function factsOf(key: object): unknown[] {
  if (key === lastKey) return lastFacts;
  if (key === otherKey) return otherFacts;
  let found = facts.get(key);
  if (!found) facts.set(key, (found = new Array<unknown>(functions)));
  [otherKey, otherFacts] = [lastKey, lastFacts];
  [lastKey, lastFacts] = [key, found];
  return found;
}

/** The lower-case tag name. */
export const tagOf = cached((e: Element): string => e.localName);

const NO_NAMES: readonly string[] = [];

/** The names of an element's attributes. */
const attributeNames = cached((e: Element): readonly string[] => (e.hasAttributes() ? e.getAttributeNames() : NO_NAMES));

/** Whether an element has an attribute. Most have none of those that are asked for, and to ask the browser each time takes longest. */
export function hasAttribute(e: Element, name: string): boolean {
  return callers ? attributeNames(e).includes(name) : e.hasAttribute(name);
}

/** The value of an attribute, null where there is none. */
export function attributeOf(e: Element, name: string): string | null {
  return callers && !attributeNames(e).includes(name) ? null : e.getAttribute(name);
}

/** Whether it is part of a drawing. */
export const isSvg = cached((e: Element): boolean => e instanceof SVGElement);

export function isSlot(e: Element): e is HTMLSlotElement {
  return tagOf(e) === "slot" && e instanceof HTMLSlotElement;
}

/** The open shadow root of an element. */
export const shadowRootOf = cached((e: Element): ShadowRoot | null => e.shadowRoot);

/** The parent element, or the host for the children of a shadow root. */
export function parentOrHost(e: Node): Element | undefined {
  if (e.parentElement) return e.parentElement;
  const parent = e.parentNode;
  return parent instanceof ShadowRoot ? parent.host : undefined;
}

/** The parent in the flat tree: a slotted element's is its slot, then the host, then as in the document. */
export const flatParent = cached((e: Node): Element | undefined => (e as Partial<Slottable>).assignedSlot ?? parentOrHost(e));

/** The children in the flat tree: those of the open shadow root, or those that a slot shows. */
export function flatChildren(e: Element): Node[] {
  const assigned = isSlot(e) ? e.assignedNodes() : [];
  if (assigned.length) return assigned;
  const children: Node[] = [];
  // Far quicker than to walk a live list.
  for (let child = (shadowRootOf(e) ?? e).firstChild; child; child = child.nextSibling) children.push(child);
  return children;
}

/** The document or shadow root whose ids and names an element can refer to. */
export const rootOf = cached((e: Node): Document | ShadowRoot => {
  const root = e.getRootNode();
  return root instanceof ShadowRoot ? root : (e.ownerDocument ?? (e as Document));
});

/** The element itself or its nearest ancestor, across shadow roots, that matches. */
export function closest(e: Element | undefined, selector: string): Element | undefined {
  while (e) {
    const found = e.closest(selector);
    if (found) return found;
    e = (rootOf(e) as Partial<ShadowRoot>).host;
  }
  return undefined;
}

/** A function of the document or shadow root that an element is in; remembers its answers for the length of `withCaches` too. */
export function cachedByRoot<V>(compute: (root: Document | ShadowRoot) => V): (e: Node) => V {
  const known = new Map<Document | ShadowRoot, V>();
  // Neighbours mostly have the same.
  let last: { root: Document | ShadowRoot; value: V } | undefined;
  ofRoots.push(() => {
    known.clear();
    last = undefined;
  });
  return (e) => {
    const root = rootOf(e);
    if (!callers) return compute(root);
    if (last?.root === root) return last.value;
    if (!known.has(root)) known.set(root, compute(root));
    last = { root, value: known.get(root) as V };
    return last.value;
  };
}

interface Look {
  readonly display: string;
  readonly cursor: string;
  readonly pointerEvents: string;
}

/** What of the element's computed style is asked for; to keep the whole of it costs much more. */
export const lookOf: (e: Element) => Look = cached((e) => {
  const { display, cursor, pointerEvents } = getComputedStyle(e);
  // WebKit's own style sheet leaves the cursor over links to whoever draws it.
  return { display: display === "inline" && isBlockOfDrawing(e) ? "block" : display, cursor: cursor === "auto" && isInLink(e) ? "pointer" : cursor, pointerEvents };
});

const isInLink: (e: Element) => boolean = cached((e) => {
  if (tagOf(e) === "a" && e.matches("a:any-link")) return true;
  const parent = flatParent(e);
  return !!parent && isInLink(parent);
});

/** Whether it is text of a drawing or a part of a formula: laid out by itself, which not every browser's `display` says. */
function isBlockOfDrawing(e: Element): boolean {
  return (isSvg(e) && tagOf(e) === "text") || (e instanceof MathMLElement && tagOf(e) !== "math");
}

/** The element's computed `display`. */
export function displayOf(e: Element): string {
  return lookOf(e).display;
}

const PAINTED = { visibilityProperty: true };

/** Whether neither `visibility`, `content-visibility`, a closed `details` nor `display: none` keeps the element from being painted. */
export const isPainted = cached((e: Element): boolean => e.checkVisibility(PAINTED));

/** Whether the text is laid out with some size. */
export function hasTextBox(text: Node): boolean {
  const range = document.createRange();
  range.selectNode(text);
  const box = range.getBoundingClientRect();
  return box.width > 0 && box.height > 0;
}

/** Whether the element has a box with some size and is painted; one with `display: contents` is as visible as its children. */
export const isVisible: (e: Element) => boolean = cached((e) => {
  if (displayOf(e) === "contents") {
    for (const child of e.childNodes) {
      if (child instanceof Element ? isVisible(child) : child.nodeType === Node.TEXT_NODE && hasTextBox(child)) return true;
    }
    return false;
  }
  if (!isPainted(e)) return false;
  const box = e.getBoundingClientRect();
  return box.width > 0 && box.height > 0;
});

const UNEVEN = /[^\S ]|[\u200b\u00ad]| {2}|^ | $/;

/** Text as it reads: white space collapsed, zero width space and soft hyphen dropped, trimmed. */
export function squash(s: string): string {
  if (!UNEVEN.test(s)) return s;
  return s.replace(/[\u200b\u00ad]/g, "").trim().replace(/\s+/g, " ");
}

const VOID = new Set("area base br col embed hr img input link meta param source track wbr".split(" "));
const BOOLEAN = new Set("checked disabled multiple readonly selected".split(" "));
const PREVIEWED_TEXT = 50;
const PREVIEWED_ATTRIBUTES = 500;

/** The start of an element as one line of HTML, for error texts: `<button id="log" type="button">Log</button>`. */
export function preview(e: Element): string {
  const attributes: string[] = [];
  for (const { name, value } of e.attributes) {
    if (name === "style") continue;
    attributes.push(value === "" && BOOLEAN.has(name) ? ` ${name}` : ` ${name}="${value}"`);
  }
  attributes.sort((a, b) => a.length - b.length);
  const tag = tagOf(e);
  const open = tag + cut(attributes.join(""), PREVIEWED_ATTRIBUTES);
  if (VOID.has(tag)) return oneLine(`<${open}/>`);
  const children = [...e.childNodes];
  const texts = children.every((child) => child.nodeType === Node.TEXT_NODE);
  const content = texts ? cut(e.textContent ?? "", PREVIEWED_TEXT) : "…";
  return oneLine(`<${open}>${content}</${tag}>`);
}

function cut(s: string, length: number): string {
  return s.length > length ? s.slice(0, length - 1) + "…" : s;
}

function oneLine(s: string): string {
  return s.replace(/\n/g, "↵").replace(/\t/g, "⇆");
}
