// Playwright's layout pseudo-classes: `:right-of()`, `:left-of()`, `:above()`, `:below()` and `:near()`.

import { cached } from "../seen";
import type { Layout } from "./steps";

/** The default maximum distance of `:near()`, in CSS pixels. */
const NEAR_DISTANCE = 50;

interface Anchor {
  readonly element: Element;
  readonly box: DOMRect;
}

// The anchors of one scope are sufficient, because queries handle scopes one after another.
const anchorsOf = cached((_: Layout): { scope?: object; found: Anchor[] } => ({ found: [] }));

// The distances of the elements that the current query matched.
let distances = new Map<Element, number>();

/**
 * Returns the distance of an element from the nearest anchor, in CSS pixels, plus the length by which the anchor extends beyond the element
 * in the other direction; undefined if the element is not on the required side of any anchor.
 */
export function distanceOf(e: Element, layout: Layout, scope: object, others: () => Element[]): number | undefined {
  const anchors = anchorsOf(layout);
  if (anchors.scope !== scope) {
    anchors.scope = scope;
    anchors.found = others().map((element) => ({ element, box: element.getBoundingClientRect() }));
  }
  const box = e.getBoundingClientRect();
  let least: number | undefined;
  for (const anchor of anchors.found) {
    if (anchor.element === e) continue;
    const distance = distanceBetween(box, anchor.box, layout);
    if (distance !== undefined && !(distance >= (least ?? Infinity))) least = distance;
  }
  if (least !== undefined) distances.set(e, least);
  return least;
}

function distanceBetween(box: DOMRect, other: DOMRect, { side, distance: maxDistance }: Layout): number | undefined {
  const right = box.left - other.right;
  const left = other.left - box.right;
  const above = other.top - box.bottom;
  const below = box.top - other.bottom;
  if (side === "near") {
    const distance = [right, left, above, below].reduce((sum, gap) => sum + Math.max(gap, 0), 0);
    return distance > (maxDistance ?? NEAR_DISTANCE) ? undefined : distance;
  }
  const gap = { rightOf: right, leftOf: left, above, below }[side];
  if (gap < 0 || gap > (maxDistance ?? Infinity)) return undefined;
  const beside = side === "rightOf" || side === "leftOf";
  return (
    gap +
    (beside
      ? Math.max(other.bottom - box.bottom, 0) + Math.max(box.top - other.top, 0)
      : Math.max(box.left - other.left, 0) + Math.max(other.right - box.right, 0))
  );
}

/** Returns the results of a query, sorted by their distances. Elements without a distance come last. */
export function ranked(query: () => Element[]): Element[] {
  const outer = distances;
  distances = new Map();
  try {
    const found = query();
    const rank = (e: Element): number => distances.get(e) ?? Infinity;
    // The difference of two infinities is NaN.
    return distances.size ? found.sort((a, b) => rank(a) - rank(b) || 0) : found;
  } finally {
    distances = outer;
  }
}
