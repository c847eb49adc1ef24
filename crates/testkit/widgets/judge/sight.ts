// What is painted, and what a pointer reaches.
import { ancestors, contains, isElement, parent, styleOf } from "./tree";

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const MIN_OPACITY = 0.05;
/** Boxes for screen readers are one pixel wide and high. */
const MIN_SIZE = 1.5;

export const widthOf = (box: Box) => box.right - box.left;
export const heightOf = (box: Box) => box.bottom - box.top;
export const areaOf = (box: Box) => Math.max(0, widthOf(box)) * Math.max(0, heightOf(box));
const isEmpty = (box: Box) => widthOf(box) < MIN_SIZE || heightOf(box) < MIN_SIZE;

export const intersection = (one: Box, other: Box): Box => ({
  left: Math.max(one.left, other.left),
  top: Math.max(one.top, other.top),
  right: Math.min(one.right, other.right),
  bottom: Math.min(one.bottom, other.bottom),
});

/** Whether it has a box and is neither `display: none` nor `visibility: hidden`. */
export const isRendered = (element: Element) => element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: false });

/** Whether neither the element nor an ancestor is transparent. */
function isOpaque(element: Element): boolean {
  let opacity = 1;
  for (const at of [element, ...ancestors(element)]) opacity *= Number(styleOf(at).opacity);
  return opacity >= MIN_OPACITY;
}

/** Cuts a box where ancestors clip it for good. What a person can scroll to is not cut. */
function clipped(element: Element, box: Box): Box {
  // The properties of a `DOMRect` are not its own.
  let result: Box = { left: box.left, top: box.top, right: box.right, bottom: box.bottom };
  let position = styleOf(element).position;
  for (const at of [element, ...ancestors(element)]) {
    const style = styleOf(at);
    const own = at.getBoundingClientRect();
    const isClipped = /^rect\((0|1)px,? ?(0|1)px,? ?(0|1)px,? ?(0|1)px\)$/.test(style.clip) && style.position !== "static";
    if (isClipped || /inset\((50|100)%\)|circle\(0|polygon\(0(px|%)? 0(px|%)?, 0(px|%)? 0(px|%)?,/.test(style.clipPath))
      return { left: 0, top: 0, right: 0, bottom: 0 };
    if (at === element) continue;
    const isContainingBlock = style.position !== "static" || style.transform !== "none" || style.contain.includes("paint");
    const escapes = (position === "fixed" && style.transform === "none") || (position === "absolute" && !isContainingBlock);
    if (escapes || at.localName === "body" || at.localName === "html") continue;
    if (at.localName === "iframe") break;
    const isTiny = own.width < MIN_SIZE || own.height < MIN_SIZE;
    const cuts = (overflow: string) => overflow === "hidden" || overflow === "clip" || (isTiny && overflow !== "visible");
    const isScrolled = at.scrollWidth > at.clientWidth || at.scrollHeight > at.clientHeight;
    const canScroll = (overflow: string) => isScrolled && !isTiny && (overflow === "auto" || overflow === "scroll");
    if (canScroll(style.overflowX) || canScroll(style.overflowY)) break;
    if (cuts(style.overflowX)) result = intersection(result, { ...result, left: own.left, right: own.right });
    if (cuts(style.overflowY)) result = intersection(result, { ...result, top: own.top, bottom: own.bottom });
    position = style.position;
  }
  const view = element.ownerDocument.defaultView ?? window;
  const isOutside = result.right + view.scrollX <= 0 || result.bottom + view.scrollY <= 0;
  return isOutside ? { left: 0, top: 0, right: 0, bottom: 0 } : result;
}

/** The boxes of an element that are not cut away. */
export function boxesOf(element: Element): Box[] {
  if (!isRendered(element)) return [];
  const rects = [...element.getClientRects()];
  return rects.map((rect) => clipped(element, rect)).filter((box) => !isEmpty(box));
}

/** Whether text in the element is painted, apart from its own box. */
export function paintsText(element: Element): boolean {
  const { color, fontSize, webkitTextFillColor: fill } = styleOf(element) as CSSStyleDeclaration & { webkitTextFillColor: string };
  const isTransparent = (value: string) => /^rgba\(.*, 0\)$|^transparent$/.test(value);
  return isRendered(element) && isOpaque(element) && !isTransparent(color) && !(fill && isTransparent(fill)) && parseFloat(fontSize) >= 2;
}

/** The boxes of a text node that are painted. */
export function textBoxes(text: Text): Box[] {
  const element = parent(text);
  if (!element || !paintsText(element)) return [];
  const range = text.ownerDocument.createRange();
  range.selectNodeContents(text);
  const rects = [...range.getClientRects()].filter((rect) => rect.width > 0);
  return (
    rects
      .map((rect) => clipped(element, rect))
      // A child of the element's own box can be cut by the element itself.
      .map((box) =>
        styleOf(element).overflow === "visible" || styleOf(element).display.startsWith("inline")
          ? box
          : intersection(box, element.getBoundingClientRect()),
      )
      .filter((box) => widthOf(box) > 0.5 && heightOf(box) >= MIN_SIZE)
  );
}

/** Whether something of the element can be seen: its box, and not only that of its text. */
export function isPainted(element: Element): boolean {
  return boxesOf(element).length > 0 && isOpaque(element);
}

/** Whether the element itself paints a background, a border, an image or generated content. */
export function paintsBox(element: Element): boolean {
  if (/^(img|svg|canvas|video|input|select|textarea|progress|meter|hr)$/.test(element.localName)) return true;
  const isShown = (style: CSSStyleDeclaration) =>
    !/^rgba\(.*, 0\)$|^transparent$/.test(style.backgroundColor) ||
    style.backgroundImage !== "none" ||
    (parseFloat(style.borderTopWidth) > 0 && style.borderTopStyle !== "none") ||
    (parseFloat(style.borderLeftWidth) > 0 && style.borderLeftStyle !== "none") ||
    style.maskImage?.includes("url");
  if (isShown(styleOf(element))) return true;
  const view = element.ownerDocument.defaultView ?? window;
  return ["::before", "::after"].some((pseudo) => {
    const style = view.getComputedStyle(element, pseudo);
    if (style.content === "none" || style.content === "normal") return false;
    return style.content !== '""' || isShown(style);
  });
}

/** The innermost element at a point, also in shadow roots. */
function elementAtPoint(document: Document, x: number, y: number): Element | null {
  let found = document.elementFromPoint(x, y);
  for (;;) {
    const inner: Element | null | undefined = found?.shadowRoot?.elementFromPoint(x, y);
    if (!inner || inner === found) return found;
    found = inner;
  }
}

export interface Hits {
  /** What a pointer reaches at points of the element. */
  elements: Element[];
  /** Whether a point is in the viewport. */
  isInView: boolean;
}

/** What a pointer reaches at a grid of points in the boxes of an element. */
export function hits(element: Element, steps = 5): Hits {
  const view = element.ownerDocument.defaultView ?? window;
  const viewport = { left: 0, top: 0, right: view.innerWidth, bottom: view.innerHeight };
  const found: Element[] = [];
  let isInView = false;
  for (const whole of boxesOf(element)) {
    const box = intersection(whole, viewport);
    if (isEmpty(box)) continue;
    isInView = true;
    for (let row = 0; row < steps; row += 1) {
      for (let column = 0; column < steps; column += 1) {
        const x = box.left + (widthOf(box) * (column + 0.5)) / steps;
        const y = box.top + (heightOf(box) * (row + 0.5)) / steps;
        const hit = elementAtPoint(element.ownerDocument, x, y);
        if (hit && isElement(hit)) found.push(hit);
      }
    }
  }
  return { elements: found, isInView };
}

/** Whether a pointer reaches the element; where it is outside of the viewport, whether it can be scrolled to. */
export function isReachable(element: Element): boolean {
  if (boxesOf(element).length === 0) return false;
  const { elements, isInView } = hits(element);
  if (!isInView) return true;
  return elements.some((hit) => contains(element, hit)) || isScrolledOut(element);
}

/** Whether a box that scrolls hides it now. */
export function isScrolledOut(element: Element): boolean {
  const [box] = boxesOf(element);
  if (!box) return false;
  for (const above of ancestors(element)) {
    const style = styleOf(above);
    if (!/auto|scroll/.test(style.overflowX + style.overflowY)) continue;
    const outer = above.getBoundingClientRect();
    if (isEmpty(intersection(box, outer))) return true;
  }
  return false;
}
