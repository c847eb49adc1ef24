// Adds the function `visibleBoxes` to the injected script: what of elements a user sees, for the boxes on a screenshot.
import "./own";
import { flatParent, isElementVisible } from "./dom";
import { shownFor } from "./drawn";
import type { Handle } from "./handles";
import { deepestAt, pointOf, receives } from "./hit";
import { isInside } from "./states";

/** The injected script of this document, as far as this bundle uses it. */
interface Core {
  byRef(question: { ref: string; testId: string; marks: boolean }): { handle?: Handle };
  element(handle: Handle): Element | undefined;
  visibleBoxes?: typeof visibleBoxes;
}

const core = (globalThis as unknown as { __playhouseCore: Core }).__playhouseCore;
core.visibleBoxes = visibleBoxes;

/** Returns the visible part of the box of each ref's element: x, y, width and height in the viewport of the frame. */
function visibleBoxes({ refs, testId }: { refs: number[]; testId: string }): (number[] | null)[] {
  return refs.map((ref) => {
    const { handle } = core.byRef({ ref: `e${ref}`, testId, marks: false });
    const e = handle === undefined ? undefined : core.element(handle);
    return (e && visibleBox(e)) ?? null;
  });
}

/**
 * Returns the part of an element's box that ancestors do not clip. Undefined if a user does not see the element: nothing is left, or, in the
 * viewport, another element covers its point.
 */
function visibleBox(e: Element): number[] | undefined {
  const shown = shownFor(e);
  if (!isElementVisible(shown)) return undefined;
  let { left, top, right, bottom } = shown.getBoundingClientRect();
  let { position } = getComputedStyle(shown);
  for (let up = flatParent(shown); up && up !== document.documentElement && up !== document.body; up = flatParent(up)) {
    const style = getComputedStyle(up);
    const isContained = style.transform !== "none" || (position !== "fixed" && (position !== "absolute" || style.position !== "static"));
    if (!isContained) continue;
    if (style.overflow !== "visible" && style.display !== "inline" && style.display !== "contents") {
      const box = up.getBoundingClientRect();
      [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
      [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
    }
    ({ position } = style);
  }
  const [width, height] = [right - left, bottom - top];
  if (width < 1 || height < 1) return undefined;
  const point = pointOf(e) ?? { x: left + width / 2, y: top + height / 2 };
  // Outside of the viewport there is no hit target.
  const found = point.x < 0 || point.y < 0 ? undefined : deepestAt(point, e);
  return !found || receives(e, found) || isInside(found, shown) ? [left, top, width, height] : undefined;
}
