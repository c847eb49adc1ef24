// The tree as people see it: across open shadow roots and slots, and what of it is on screen.

import { dots, isPassword } from "./passwords";
import { seen, type Look, type Seen } from "./seen";

// `roleOf(e)` takes an element, `itsRole(it)` what has been seen of it; so do all that begin with `its` or `itIs`.

/** The lower-case tag name. */
export function tagOf(e: Element): string {
  return seen(e).tag;
}

const HTML = "http://www.w3.org/1999/xhtml";
const SVG = "http://www.w3.org/2000/svg";
const MATHML = "http://www.w3.org/1998/Math/MathML";

// Elements of a frame are no instances of this window's classes, so kinds are told by their names.

export function isElement(node: Node): node is Element {
  return node.nodeType === Node.ELEMENT_NODE;
}

function isShadowRoot(node: Node | null): node is ShadowRoot {
  return node?.nodeType === Node.DOCUMENT_FRAGMENT_NODE && !!(node as ShadowRoot).host;
}

export function itIsHtml(it: Seen, tag: string): boolean {
  return it.tag === tag && it.element.namespaceURI === HTML;
}

/** Whether it is part of a drawing. */
export function itIsSvg(it: Seen): boolean {
  return it.svg ?? (it.svg = it.element.namespaceURI === SVG);
}

export function itIsSlot(it: Seen): boolean {
  return itIsHtml(it, "slot");
}

/** The element itself, if it is an `input` or a `textarea`. */
export function itsField(it: Seen): HTMLInputElement | HTMLTextAreaElement | undefined {
  return itIsHtml(it, "input") || itIsHtml(it, "textarea") ? (it.element as HTMLInputElement | HTMLTextAreaElement) : undefined;
}

/** The open shadow root of an element. */
export function itsShadow(it: Seen): ShadowRoot | null {
  return it.shadow === undefined ? (it.shadow = it.element.shadowRoot) : it.shadow;
}

/** The parent element, or the host for the children of a shadow root. */
export function parentOrHost(e: Node): Element | undefined {
  if (e.parentElement) return e.parentElement;
  const parent = e.parentNode;
  return isShadowRoot(parent) ? parent.host : undefined;
}

/** The same, of what has been seen. */
export function itsOwner(it: Seen): Seen | null {
  if (it.owner === undefined) {
    const owner = parentOrHost(it.element);
    it.owner = owner ? seen(owner) : null;
  }
  return it.owner;
}

/** The parent in the flat tree: a slotted element's is its slot, then the host, then as in the document. */
export function itsParent(it: Seen): Seen | null {
  if (it.parent === undefined) {
    const slot = it.element.assignedSlot;
    it.parent = slot ? seen(slot) : itsOwner(it);
  }
  return it.parent;
}

/** The same, of a node of any kind. */
export function flatParent(e: Node): Element | undefined {
  return (e as Partial<Slottable>).assignedSlot ?? parentOrHost(e);
}

/** The children in the flat tree: those of the open shadow root, or those that a slot shows. */
export function itsChildren(it: Seen): Node[] {
  const assigned = itIsSlot(it) ? (it.element as HTMLSlotElement).assignedNodes() : NO_NODES;
  if (assigned.length) return assigned;
  const children: Node[] = [];
  // Far quicker than to walk a live list.
  for (let child = (itsShadow(it) ?? it.element).firstChild; child; child = child.nextSibling) children.push(child);
  return children;
}

const NO_NODES: Node[] = [];

/** The document or shadow root whose ids and names an element can refer to. */
export function itsRoot(it: Seen): Document | ShadowRoot {
  if (it.root === undefined) {
    const root = it.element.getRootNode();
    it.root = isShadowRoot(root) ? root : it.element.ownerDocument;
  }
  return it.root;
}

/** The element itself or its nearest ancestor, across shadow roots, that matches. */
export function closest(e: Element | undefined, selector: string): Element | undefined {
  while (e) {
    const found = e.closest(selector);
    if (found) return found;
    e = (itsRoot(seen(e)) as Partial<ShadowRoot>).host;
  }
  return undefined;
}

let marks = false;

/** Does some work, during which texts are marked that a person cannot see, if that is wanted. */
export function marking<T>(wanted: boolean | undefined, work: () => T): T {
  const before = marks;
  marks = !!wanted;
  try {
    return work();
  } finally {
    marks = before;
  }
}

export function isMarking(): boolean {
  return marks;
}

export function itsLook(it: Seen): Look {
  return it.look ?? (it.look = lookAt(it));
}

function lookAt(it: Seen): Look {
  const { display, cursor, pointerEvents } = getComputedStyle(it.element);
  // WebKit's own style sheet leaves the cursor over links to whoever draws it.
  return {
    display: display === "inline" && isBlockOfDrawing(it) ? "block" : display,
    cursor: cursor === "auto" && isInLink(it) ? "pointer" : cursor,
    pointerEvents,
  };
}

function isInLink(it: Seen): boolean {
  if (it.inLink === undefined) {
    const isLink = it.tag === "a" && it.element.matches("a:any-link");
    const parent = isLink ? null : itsParent(it);
    it.inLink = isLink || (!!parent && isInLink(parent));
  }
  return it.inLink;
}

/** Whether it is text of a drawing or a part of a formula: laid out by itself, which not every browser's `display` says. */
function isBlockOfDrawing(it: Seen): boolean {
  return (it.tag === "text" && itIsSvg(it)) || (it.tag !== "math" && it.element.namespaceURI === MATHML);
}

/** The element's computed `display`. */
export function displayOf(e: Element): string {
  return itsLook(seen(e)).display;
}

const PAINTED = { visibilityProperty: true };

/** Whether neither `visibility`, `content-visibility`, a closed `details` nor `display: none` keeps the element from being painted. */
export function itIsPainted(it: Seen): boolean {
  return it.painted ?? (it.painted = it.element.checkVisibility(PAINTED));
}

/** Whether the text is laid out with some size. */
export function hasTextBox(text: Node): boolean {
  const range = (text.ownerDocument ?? document).createRange();
  range.selectNode(text);
  const box = range.getBoundingClientRect();
  return box.width > 0 && box.height > 0;
}

/** Whether the element has a box with some size and is painted; one with `display: contents` is as visible as its children. */
export function itIsVisible(it: Seen): boolean {
  return it.visible ?? (it.visible = isOnScreen(it));
}

/** The same, of an element. */
export function isVisible(e: Element): boolean {
  return itIsVisible(seen(e));
}

function isOnScreen(it: Seen): boolean {
  if (itsLook(it).display === "contents") {
    for (const child of it.element.childNodes) {
      if (isElement(child) ? isVisible(child) : child.nodeType === Node.TEXT_NODE && hasTextBox(child)) return true;
    }
    return false;
  }
  if (!itIsPainted(it)) return false;
  const box = it.element.getBoundingClientRect();
  const { width, height } = box;
  if (marks) it.box = [box.x, box.y, width, height];
  return width > 0 && height > 0;
}

const UNEVEN = /[^\S ]|[\u200b\u00ad]| {2}|^ | $/;

/** Text as it reads: white space collapsed, zero width space and soft hyphen dropped, trimmed. */
export function squash(s: string): string {
  if (!UNEVEN.test(s)) return s;
  return s
    .replace(/[\u200b\u00ad]/g, "")
    .trim()
    .replace(/\s+/g, " ");
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
    const shown = name === "value" && isPassword(e) ? dots(value) : value;
    attributes.push(value === "" && BOOLEAN.has(name) ? ` ${name}` : ` ${name}="${shown}"`);
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
