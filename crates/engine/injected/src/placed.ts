// The order of elements that are not where their position in the document puts them, such as the rows of virtual lists.

import { boxOf, styleOf } from "./dom";
import { seen, type Box, type Seen } from "./seen";

/** The properties of a `style` attribute that move an element. */
const MOVES = /(^|[;\s])(top|left|right|bottom|inset[\w-]*|transform|translate)\s*:/;
/** The overlap of boxes that are still beside each other, in CSS pixels. */
const TOLERANCE = 1;

interface Placed {
  readonly element: Element;
  readonly box: Box;
}

/**
 * Returns the children of an element in their order on the screen, if all are elements of the same kind that style properties place in
 * lines; undefined if that is the order of the document.
 */
export function childrenAsPlaced(it: Seen): Element[] | undefined {
  const first = it.element.firstElementChild;
  if (!first?.nextElementSibling) return undefined;
  const isFlexible = /flex|grid/.test(styleOf(it).display);
  if (!isFlexible && !isMoved(first)) return undefined;
  const children = likeChildren(it.element, first);
  if (!children || (!isFlexible && !children.every(isMoved))) return undefined;
  const placed: Placed[] = [];
  const hidden: Element[] = [];
  for (const element of children) {
    const box = boxOf(seen(element));
    if (box && box[2] > 0 && box[3] > 0) placed.push({ element, box });
    else hidden.push(element);
  }
  if (isInOrder(placed)) return undefined;
  if (isFlexible && !isReordered(it.element, children)) return undefined;
  if (getComputedStyle(it.element).direction === "rtl") return undefined;
  placed.sort(compare);
  return isInOrder(placed) && isInLines(placed) ? [...placed.map(({ element }) => element), ...hidden] : undefined;
}

function isMoved(e: Element): boolean {
  return MOVES.test(e.getAttribute("style") ?? "");
}

/** Returns the children of an element if all have the tag and the role of the first one, and no text is beside them. */
function likeChildren(e: Element, first: Element): Element[] | undefined {
  const children = [...e.children];
  const role = first.getAttribute("role");
  if (children.some((child) => child.localName !== first.localName || child.getAttribute("role") !== role)) return undefined;
  const hasText = [...e.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && /\S/.test(child.nodeValue ?? ""));
  return hasText ? undefined : children;
}

/** Returns whether the layout changes the order of the children of a flexible box or a grid. */
function isReordered(e: Element, children: Element[]): boolean {
  if (getComputedStyle(e).flexDirection.endsWith("reverse")) return true;
  return children.some((child) => {
    const { order, gridRowStart, gridColumnStart } = getComputedStyle(child);
    return order !== "0" || gridRowStart !== "auto" || gridColumnStart !== "auto";
  });
}

function isInOrder(placed: readonly Placed[]): boolean {
  return placed.every((one, index) => !index || compare(placed[index - 1] ?? one, one) <= 0);
}

/** Returns whether each box begins at the same height as the one before it, or below it. */
function isInLines(placed: readonly Placed[]): boolean {
  return placed.every(({ box: [, y] }, index) => {
    const [, top, , height] = placed[index - 1]?.box ?? [0, y, 0, 0];
    return !index || Math.abs(y - top) <= TOLERANCE || y >= top + height - TOLERANCE;
  });
}

/** Compares two boxes: negative if the first is above or left of the second, 0 if one covers the other. */
function compare({ box: [x, y, width, height] }: Placed, { box: [left, top, otherWidth, otherHeight] }: Placed): number {
  if (y + height <= top + TOLERANCE) return -1;
  if (top + otherHeight <= y + TOLERANCE) return 1;
  if (x + width <= left + TOLERANCE) return -1;
  return left + otherWidth <= x + TOLERANCE ? 1 : 0;
}
