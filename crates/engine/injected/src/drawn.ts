// Controls that a page hides and draws by their label, such as cards of radio buttons, switches and styled file inputs.

import { boxOf, isVisible, parentOf, styleOf } from "./dom";
import { isAway, isUnseen } from "./hidden";
import { seen, withCaches, type Seen } from "./seen";

/** The types of inputs that a click on their label activates. */
const ACTIVATED = /^(button|checkbox|color|file|image|radio|reset|submit)$/;

/** Returns the visible label of a control that is not visible itself. A user clicks this label instead of the control. */
export function labelDrawing(it: Seen): Seen | null {
  if (it.tag !== "input" && it.tag !== "button") return null;
  return it.drawing === undefined ? (it.drawing = computeLabel(it)) : it.drawing;
}

/** Returns the visible label of a control that is not visible itself, or the element. */
export function shownFor(e: Element): Element {
  return withCaches(() => labelDrawing(seen(e))?.element ?? e);
}

function computeLabel(it: Seen): Seen | null {
  const control = it.element as HTMLInputElement;
  if ((it.tag === "input" && !ACTIVATED.test(control.type)) || isUsable(it)) return null;
  for (const label of control.labels ?? []) if (isUsable(seen(label))) return seen(label);
  return null;
}

/** Returns whether a control that is transparent or has no size is drawn by its label or by the elements beside it. */
export function isDrawnByOthers(it: Seen): boolean {
  if (it.tag !== "input" || !DRAWN.test((it.element as HTMLInputElement).type)) return false;
  const parent = parentOf(it);
  if (labelDrawing(it) || !parent || !isUsable(parent)) return !!it.drawing;
  const [, , width = 0, height = 0] = boxOf(parent) ?? [];
  if (width <= MAX_CONTROL_SIZE && height <= MAX_CONTROL_SIZE) return true;
  return [...parent.element.children].some((beside) => beside !== it.element && isUsable(seen(beside)));
}

/** The maximum size of an element that can be the look of one control, in CSS pixels. */
const MAX_CONTROL_SIZE = 60;

/** The types of inputs whose look is not that of a text. */
const DRAWN = /^(checkbox|color|file|radio|range)$/;

/** Returns whether a user can see an element and click it. */
function isUsable(it: Seen): boolean {
  return isVisible(it) && styleOf(it).pointerEvents !== "none" && !isUnseen(it) && !isAway(it);
}
