// Elements by their position relative to others: `:right-of()`, `:left-of()`, `:above()`, `:below()`, `:near()`.

import { cached } from "../seen";
import type { Layout } from "./steps";

/** How far off an element may be that is near, unless the selector says it. */
const NEAR = 50;

interface Anchor {
  readonly element: Element;
  readonly box: DOMRect;
}

// Searches go through one scope after the other.
const anchorsOf = cached((_: Layout): { scope?: object; found: Anchor[] } => ({ found: [] }));

// The distances of the elements of the query under way.
let distances = new Map<Element, number>();

/**
 * The distance of an element from the nearest of the others, plus what it stands out beyond that one sideways; undefined where it is not on
 * the wanted side of any.
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

function distanceBetween(box: DOMRect, other: DOMRect, { side, distance: most }: Layout): number | undefined {
  const right = box.left - other.right;
  const left = other.left - box.right;
  const above = other.top - box.bottom;
  const below = box.top - other.bottom;
  if (side === "near") {
    const distance = [right, left, above, below].reduce((sum, gap) => sum + Math.max(gap, 0), 0);
    return distance > (most ?? NEAR) ? undefined : distance;
  }
  const gap = { rightOf: right, leftOf: left, above, below }[side];
  if (gap < 0 || gap > (most ?? Infinity)) return undefined;
  const beside = side === "rightOf" || side === "leftOf";
  return (
    gap +
    (beside
      ? Math.max(other.bottom - box.bottom, 0) + Math.max(box.top - other.top, 0)
      : Math.max(box.left - other.left, 0) + Math.max(other.right - box.right, 0))
  );
}

/** The elements that a query finds, those with a distance first, from the nearest to the farthest. */
export function ranked(query: () => Element[]): Element[] {
  const outer = distances;
  distances = new Map();
  try {
    const found = query();
    const rank = (e: Element): number => distances.get(e) ?? Infinity;
    // Infinity less itself is no number.
    return distances.size ? found.sort((a, b) => rank(a) - rank(b) || 0) : found;
  } finally {
    distances = outer;
  }
}
