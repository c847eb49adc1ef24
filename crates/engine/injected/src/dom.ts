// The flat tree, with open shadow roots and slots, and the visibility of its elements.

import { dots, isPassword } from "./passwords";
import { addClosedRoot, closedRoots, elementShadowRoot } from "./roots";
import { seen, type Box, type ComputedStyle, type Seen } from "./seen";

// Most functions take the cached properties of an element (`Seen`), such as `roleOf(it)`. Functions with `element` in their name take the
// element: `elementRole(e)` is `roleOf(seen(e))`.

/** Returns the local name of an element, such as `div`. */
export function tagOf(e: Element): string {
  return seen(e).tag;
}

const HTML = "http://www.w3.org/1999/xhtml";
const SVG = "http://www.w3.org/2000/svg";
const MATHML = "http://www.w3.org/1998/Math/MathML";

// Elements of a frame are not instances of the interfaces of this window, so these functions compare names instead of using `instanceof`.

export function isElement(node: Node): node is Element {
  return node.nodeType === Node.ELEMENT_NODE;
}

function isShadowRoot(node: Node | null): node is ShadowRoot {
  return node?.nodeType === Node.DOCUMENT_FRAGMENT_NODE && !!(node as ShadowRoot).host;
}

export function isHtml(it: Seen, tag: string): boolean {
  return it.tag === tag && it.element.namespaceURI === HTML;
}

/** Returns whether the element is in the SVG namespace. */
export function isSvg(it: Seen): boolean {
  return it.svg ?? (it.svg = it.element.namespaceURI === SVG);
}

export function isSlot(it: Seen): boolean {
  return isHtml(it, "slot");
}

/** Returns the element if it is an `<input>` or a `<textarea>`. */
export function inputOf(it: Seen): HTMLInputElement | HTMLTextAreaElement | undefined {
  return isHtml(it, "input") || isHtml(it, "textarea") ? (it.element as HTMLInputElement | HTMLTextAreaElement) : undefined;
}

/** Records the closed shadow roots around a node that the browser reported. */
export function recordClosedRoots(node: Node): void {
  for (let root = node.getRootNode(); isShadowRoot(root); root = root.host.getRootNode()) {
    if (root.mode === "closed") addClosedRoot(root);
  }
}

/** Returns the slot to which a node is assigned, if its shadow root is open or known. */
export function slotOf(node: Node): HTMLSlotElement | null {
  const open = (node as Partial<Slottable>).assignedSlot;
  const closed = !open && node.parentElement && closedRoots.get(node.parentElement);
  if (!closed) return open ?? null;
  return [...closed.querySelectorAll("slot")].find((slot) => slot.assignedNodes().includes(node)) ?? null;
}

/** Returns the shadow root of an element, if it is open or known. */
export function shadowRootOf(it: Seen): ShadowRoot | null {
  return it.shadow === undefined ? (it.shadow = elementShadowRoot(it.element)) : it.shadow;
}

/** Returns the parent element of a node, or the host for a child of a shadow root. */
export function parentOrHost(e: Node): Element | undefined {
  if (e.parentElement) return e.parentElement;
  const parent = e.parentNode;
  return isShadowRoot(parent) ? parent.host : undefined;
}

/** Returns the parent element, or the host for a child of a shadow root. */
export function ownerOf(it: Seen): Seen | null {
  if (it.owner === undefined) {
    const owner = parentOrHost(it.element);
    it.owner = owner ? seen(owner) : null;
  }
  return it.owner;
}

/** Returns the parent in the flat tree: the slot of a slotted element, the host for a child of a shadow root, else the parent element. */
export function parentOf(it: Seen): Seen | null {
  if (it.parent === undefined) {
    const slot = slotOf(it.element);
    it.parent = slot ? seen(slot) : ownerOf(it);
  }
  return it.parent;
}

/** Returns the parent of a node in the flat tree. */
export function flatParent(e: Node): Element | undefined {
  return slotOf(e) ?? parentOrHost(e);
}

/** Returns the child nodes in the flat tree: the nodes assigned to a slot, else the children of the open shadow root, else the children. */
export function childrenOf(it: Seen): Node[] {
  const assigned = isSlot(it) ? (it.element as HTMLSlotElement).assignedNodes() : NO_NODES;
  if (assigned.length) return assigned;
  const children: Node[] = [];
  // Following siblings is much faster than iterating over a live `NodeList`.
  for (let child = (shadowRootOf(it) ?? it.element).firstChild; child; child = child.nextSibling) children.push(child);
  return children;
}

const NO_NODES: Node[] = [];

/** Returns the document or shadow root in which the ids of an element's references are resolved. */
export function rootOf(it: Seen): Document | ShadowRoot {
  if (it.root === undefined) {
    const root = it.element.getRootNode();
    it.root = isShadowRoot(root) ? root : it.element.ownerDocument;
  }
  return it.root;
}

/** Returns the nearest inclusive ancestor that matches the selector. The search continues at the host of each shadow root. */
export function closest(e: Element | undefined, selector: string): Element | undefined {
  while (e) {
    const found = e.closest(selector);
    if (found) return found;
    e = (rootOf(seen(e)) as Partial<ShadowRoot>).host;
  }
  return undefined;
}

let marks = false;

/** Calls a function and returns its result. If `enabled`, text that a user cannot see is marked during the call. */
export function marking<T>(enabled: boolean | undefined, work: () => T): T {
  const before = marks;
  marks = !!enabled;
  try {
    return work();
  } finally {
    marks = before;
  }
}

/** Returns whether text that a user cannot see is marked. */
export function isMarking(): boolean {
  return marks;
}

/** Returns the computed style, as far as it is cached. */
export function styleOf(it: Seen): ComputedStyle {
  return it.computed ?? (it.computed = computeStyle(it));
}

function computeStyle(it: Seen): ComputedStyle {
  const { display, cursor, pointerEvents } = getComputedStyle(it.element);
  // The user agent style sheet of WebKit sets `cursor: auto` for links and buttons with an image.
  return {
    display: display === "inline" && isSvgOrMathBlock(it) ? "block" : display,
    cursor: cursor === "auto" && (isInLink(it) || isImageButton(it)) ? "pointer" : cursor,
    pointerEvents,
  };
}

function isImageButton(it: Seen): boolean {
  return it.tag === "input" && (it.element as HTMLInputElement).type === "image";
}

function isInLink(it: Seen): boolean {
  if (it.inLink === undefined) {
    const isLink = it.tag === "a" && it.element.matches("a:any-link");
    const parent = isLink ? null : parentOf(it);
    it.inLink = isLink || (!!parent && isInLink(parent));
  }
  return it.inLink;
}

/** Returns whether the element is an SVG text or inside MathML: a block in the layout, but with `display: inline` in some browsers. */
function isSvgOrMathBlock(it: Seen): boolean {
  return (it.tag === "text" && isSvg(it)) || (it.tag !== "math" && it.element.namespaceURI === MATHML);
}

/** Returns the computed `display`; `block` for an SVG text and inside MathML. */
export function elementDisplay(e: Element): string {
  return styleOf(seen(e)).display;
}

const CHECK_VISIBILITY_OPTIONS = { visibilityProperty: true };
const RENDERED = { visibilityProperty: true, opacityProperty: true, contentVisibilityAuto: true };

/** Returns whether an element is rendered and not transparent; see `isRendered`. */
export function isElementRendered(e: Element): boolean {
  return checkVisibility(e, RENDERED);
}

const OPTION = /^opt(ion|group)$/;

/** Returns whether an element is rendered. In WebKit, the options of a list box have boxes and are not rendered: their list paints them. */
function checkVisibility(e: Element, options: CheckVisibilityOptions): boolean {
  if (e.checkVisibility(options)) return true;
  const list = OPTION.test(e.localName) ? e.closest("select") : null;
  if (!list || (!list.multiple && list.size < 2)) return false;
  const { display, visibility } = getComputedStyle(e);
  return display !== "none" && visibility === "visible" && list.checkVisibility(options);
}

/** Returns whether an element is painted, and neither it nor an element around it is transparent. */
export function isRendered(it: Seen): boolean {
  return it.rendered ?? (it.rendered = isElementRendered(it.element));
}

/** Returns whether the element is rendered and not hidden by `visibility`, `content-visibility` or a closed `<details>`. */
export function isPainted(it: Seen): boolean {
  // Incremental snapshots need the other answer, too, which is the same for most elements.
  return it.painted ?? (it.painted = isRendered(it) || checkVisibility(it.element, CHECK_VISIBILITY_OPTIONS));
}

/** Returns whether the bounding box of a text node has an area. */
export function hasTextBox(text: Node): boolean {
  const range = (text.ownerDocument ?? document).createRange();
  range.selectNode(text);
  const box = range.getBoundingClientRect();
  return box.width > 0 && box.height > 0;
}

/** Returns whether the element is painted and its bounding box has an area. With `display: contents`, one visible child is sufficient. */
export function isVisible(it: Seen): boolean {
  return it.visible ?? (it.visible = computeVisible(it));
}

/** Returns whether the element is painted and its bounding box has an area; see `isVisible`. */
export function isElementVisible(e: Element): boolean {
  return isVisible(seen(e));
}

function computeVisible(it: Seen): boolean {
  if (styleOf(it).display === "contents") {
    for (const child of it.element.childNodes) {
      if (isElement(child) ? isElementVisible(child) : child.nodeType === Node.TEXT_NODE && hasTextBox(child)) return true;
    }
    return false;
  }
  if (!isPainted(it)) return false;
  const [, , width, height] = boxIn(it);
  return width > 0 && height > 0;
}

function boxIn(it: Seen): Box {
  if (it.box) return it.box;
  const { x, y, width, height } = it.element.getBoundingClientRect();
  return (it.box = [x, y, width, height]);
}

/** Returns the bounding box of an element in the viewport; undefined if it is not painted, or has `display: contents`. */
export function boxOf(it: Seen): Box | undefined {
  return it.box ?? (styleOf(it).display !== "contents" && isPainted(it) ? boxIn(it) : undefined);
}

const NOT_NORMALIZED = /[^\S ]|[\u200b\u00ad]| {2}|^ | $/;

/** Returns a text with collapsed white space, trimmed, and without zero width spaces and soft hyphens. */
export function squash(s: string): string {
  if (!NOT_NORMALIZED.test(s)) return s;
  return s
    .replace(/[\u200b\u00ad]/g, "")
    .trim()
    .replace(/\s+/g, " ");
}

const VOID_ELEMENTS = new Set("area base br col embed hr img input link meta param source track wbr".split(" "));
const BOOLEAN_ATTRIBUTES = new Set("checked disabled multiple readonly selected".split(" "));
const MAX_PREVIEW_TEXT = 50;
const MAX_PREVIEW_ATTRIBUTES = 500;

/** Returns a shortened outer HTML of an element in one line, for error messages: `<button id="log" type="button">Log</button>`. */
export function preview(e: Element): string {
  const attributes: string[] = [];
  for (const { name, value } of e.attributes) {
    if (name === "style") continue;
    const shown = name === "value" && isPassword(e) ? dots(value) : value;
    attributes.push(value === "" && BOOLEAN_ATTRIBUTES.has(name) ? ` ${name}` : ` ${name}="${shown}"`);
  }
  attributes.sort((a, b) => a.length - b.length);
  const tag = tagOf(e);
  const open = tag + cut(attributes.join(""), MAX_PREVIEW_ATTRIBUTES);
  if (VOID_ELEMENTS.has(tag)) return oneLine(`<${open}/>`);
  const children = [...e.childNodes];
  const texts = children.every((child) => child.nodeType === Node.TEXT_NODE);
  const content = texts ? cut(e.textContent ?? "", MAX_PREVIEW_TEXT) : "…";
  return oneLine(`<${open}>${content}</${tag}>`);
}

/** Returns the beginning of a text; `…` marks what is left out. */
export function cut(s: string, length: number): string {
  return s.length > length ? s.slice(0, length - 1) + "…" : s;
}

function oneLine(s: string): string {
  return s.replace(/\n/g, "↵").replace(/\t/g, "⇆");
}
