// The viewport, for the coordinates of a screenshot.

import type { Point } from "../hit";

/** Returns where the viewport of the page is, and how large its pixels are. */
export function view(): { scroll: Point; scale: number; ratio: number } {
  return { scroll: { x: scrollX, y: scrollY }, scale: visualViewport?.scale ?? 1, ratio: devicePixelRatio };
}
