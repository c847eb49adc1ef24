// Controls that a page hides and draws by other elements, such as cards of radio buttons, switches, styled file inputs and code editors.

import { isHidden } from "./aria/roles";
import { boxOf, isPainted, isVisible, parentOf, styleOf } from "./dom";
import { isAway, isUnseen } from "./hidden";
import { respondsToPress } from "./interactive";
import { seen, withCaches, type Seen } from "./seen";

/** The types of inputs that a click on their label activates. */
const ACTIVATED = /^(button|checkbox|color|file|image|radio|reset|submit)$/;

/**
 * Returns the visible element that a user clicks instead of a control that is not visible: its label, else the element around a field that
 * only the keyboard reaches.
 */
export function drawingOf(it: Seen): Seen | null {
  if (it.drawing !== undefined) return it.drawing;
  // The search asks for the element itself.
  it.drawing = null;
  return (it.drawing = (/^(input|button)$/.test(it.tag) && labelDrawing(it)) || (isField(it) && fieldDrawing(it)) || null);
}

/** Returns the visible element that a user clicks instead of an element, or the element. */
export function shownFor(e: Element): Element {
  return withCaches(() => drawingOf(seen(e))?.element ?? e);
}

function labelDrawing(it: Seen): Seen | null {
  const control = it.element as HTMLInputElement;
  if ((it.tag === "input" && !ACTIVATED.test(control.type)) || isUsable(it)) return null;
  for (const label of control.labels ?? []) if (isUsable(seen(label))) return seen(label);
  return null;
}

/** The types of inputs that are no fields. */
const BUTTONS = /^(button|file|hidden|image|reset|submit)$/;
const FIELD_ROLES = new Set("checkbox combobox radio searchbox slider spinbutton switch textbox".split(" "));

/** Returns whether an element has a value or a state that a user changes. */
function isField(it: Seen): boolean {
  if (it.tag === "input") return !BUTTONS.test((it.element as HTMLInputElement).type);
  return it.tag === "textarea" || it.tag === "select" || (it.has("role") && FIELD_ROLES.has(it.attribute("role") ?? ""));
}

/** The maximum number of elements around a field that are searched for the one that draws it. */
const MAX_LEVELS = 5;

/**
 * Returns the nearest element around a field that responds to a press or has the cursor of a text, if the keyboard reaches the field, and
 * no other one in it, and the pointer does not.
 */
function fieldDrawing(it: Seen): Seen | null {
  if (!isKeyboardTarget(it.element) || isReachable(it)) return null;
  let at = parentOf(it);
  for (let level = 0; at && level < MAX_LEVELS && at.tag !== "body"; level++, at = parentOf(at)) {
    const { element } = at;
    if ([...element.querySelectorAll(TARGETS)].some((other) => other !== it.element && isKeyboardTarget(other))) return null;
    if (!isUsable(at)) continue;
    if ([at, ...[...element.children].map(seen)].some((part) => part !== it && respondsToPress(part))) return at;
    if (isTextArea(it) && [...element.querySelectorAll("*")].slice(0, MAX_PARTS).some((part) => isTextOf(seen(part), it))) return at;
  }
  return null;
}

/** The maximum number of elements that are searched for the text of an editor. */
const MAX_PARTS = 300;

/** Returns whether an element is a field of several lines, as that of a code editor. */
const isTextArea = (it: Seen): boolean => it.tag === "textarea" || it.attribute("role") === "textbox";

/** Returns whether an element is where a user places the cursor in a text that it draws for a field. */
const isTextOf = (part: Seen, field: Seen): boolean => part !== field && styleOf(part).cursor === "text" && isUsable(part);

const TARGETS = "a[href], button, input, select, textarea, [tabindex], [contenteditable]";

/** Returns whether a user can move the focus to an element with the keyboard. */
function isKeyboardTarget(e: Element): boolean {
  const it = seen(e);
  return (e as HTMLElement).tabIndex >= 0 && isPainted(it) && !isHidden(it);
}

/** The minimum size of an element that the pointer reaches, in CSS pixels. */
const MIN_TARGET_SIZE = 2;

/** Returns whether the pointer reaches an element: no element cuts it off, and it does not let events through. */
function isReachable(it: Seen): boolean {
  if (!isVisible(it) || styleOf(it).pointerEvents === "none" || isAway(it)) return false;
  for (let at: Seen | null = it, level = 0; at && level < MAX_LEVELS; level++, at = parentOf(at)) {
    const [, , width = MIN_TARGET_SIZE, height = MIN_TARGET_SIZE] = boxOf(at) ?? [];
    if ((width < MIN_TARGET_SIZE || height < MIN_TARGET_SIZE) && isUnseen(at)) return false;
  }
  return true;
}

/** Returns whether a control that is transparent or has no size is drawn by its label or by the elements beside it. */
export function isDrawnByOthers(it: Seen): boolean {
  if (drawingOf(it)) return true;
  if (it.tag !== "select" && (it.tag !== "input" || !DRAWN.test((it.element as HTMLInputElement).type))) return false;
  const parent = parentOf(it);
  if (!parent || !isSeen(parent)) return false;
  const [, , width = 0, height = 0] = boxOf(parent) ?? [];
  if (width <= MAX_CONTROL_SIZE && height <= MAX_CONTROL_SIZE) return true;
  const isLook = (beside: Seen): boolean => isSeen(beside) && (it.tag !== "select" || overlaps(it, beside));
  return [...parent.element.children].some((beside) => beside !== it.element && isLook(seen(beside)));
}

function overlaps(one: Seen, other: Seen): boolean {
  const [a, b] = [boxOf(one), boxOf(other)];
  return !!a && !!b && a[0] < b[0] + b[2] && b[0] < a[0] + a[2] && a[1] < b[1] + b[3] && b[1] < a[1] + a[3];
}

/** Returns whether the value of an invisible field is visible, because others draw it. */
export function isValueDrawn(it: Seen, value: string): boolean {
  if (!isDrawnByOthers(it)) return false;
  const { drawing, element } = it;
  if (!drawing || DRAWN.test((element as HTMLInputElement).type)) return true;
  const bare = (text: string): string => text.replace(/\s+/g, "");
  return bare((drawing.element as HTMLElement).innerText ?? "").includes(bare(value));
}

/** The maximum size of an element that can be the look of one control, in CSS pixels. */
const MAX_CONTROL_SIZE = 60;

/** The types of inputs whose look is not that of a text. */
const DRAWN = /^(checkbox|color|date|datetime-local|file|month|radio|range|time|week)$/;

/** Returns whether a user can see an element and click it. */
function isUsable(it: Seen): boolean {
  return isSeen(it) && styleOf(it).pointerEvents !== "none";
}

function isSeen(it: Seen): boolean {
  return isVisible(it) && !isUnseen(it) && !isAway(it);
}
