// Controls that a page hides and draws by other elements, such as cards of radio buttons, switches, styled file inputs and code editors.

import { isHidden } from "./aria/roles";
import { isDisabled } from "./aria/states";
import { boxOf, childrenOf, isElement, isPainted, isSlot, isVisible, parentOf, rootOf, shadowRootOf, styleOf } from "./dom";
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
  return (it.drawing =
    (/^(input|button)$/.test(it.tag) && labelDrawing(it)) ||
    (isField(it) && fieldDrawing(it)) ||
    (it.tag === "area" && imageOf(it)) ||
    null);
}

/** Returns the visible image of an area with a link. https://html.spec.whatwg.org/multipage/image-maps.html */
export function imageOf(it: Seen): Seen | null {
  const name = it.has("href") && it.element.closest("map")?.getAttribute("name");
  const images = name ? [...rootOf(it).querySelectorAll<HTMLImageElement>("img[usemap]")] : [];
  const image = images.find(({ useMap }) => useMap === "#" + name);
  return image && isUsable(seen(image)) ? seen(image) : null;
}

/** Returns the visible element that a user clicks instead of an element, or the element. */
export function shownFor(e: Element): Element {
  return withCaches(() => drawingOf(seen(e))?.element ?? e);
}

function labelDrawing(it: Seen): Seen | null {
  const control = it.element as HTMLInputElement;
  if ((it.tag === "input" && !ACTIVATED.test(control.type)) || isUsable(it)) return null;
  for (const label of control.labels ?? []) if (isUsable(seen(label)) && !hasTwin(it, label)) return seen(label);
  return null;
}

/** Returns whether a field is only there for its form: neither the keyboard nor assistive technology reaches it. */
function isOnlyForForm(it: Seen): boolean {
  return (it.element as HTMLElement).tabIndex < 0 && isHidden(it);
}

/** Returns whether a label has a control that users see in place of a field that is only there for its form. */
function hasTwin(it: Seen, label: Element): boolean {
  return isOnlyForForm(it) && [...label.querySelectorAll("[role]")].some((other) => isField(seen(other)) && isUsable(seen(other)));
}

/**
 * Returns whether an element is a field that neither the keyboard nor the pointer reaches, and that is neither painted nor drawn by others: a
 * library draws a control of its own in place of it.
 */
export function isUnreachableField(it: Seen): boolean {
  if (!/^(input|select|textarea)$/.test(it.tag) || !isField(it) || (it.element as HTMLElement).tabIndex >= 0) return false;
  if (it.tag === "input" && /^(checkbox|radio)$/.test((it.element as HTMLInputElement).type) && !isHidden(it)) return false;
  return isVisible(it) && !isSeen(it) && !isReachable(it) && !drawingOf(it);
}

/** The types of inputs that are no fields. */
const BUTTONS = /^(button|file|hidden|image|reset|submit)$/;
const FIELD_ROLES = new Set("checkbox combobox radio searchbox slider spinbutton switch textbox".split(" "));

/** Returns whether an element has a value or a state that a user changes. */
function isField(it: Seen): boolean {
  if (it.tag === "input") return !BUTTONS.test((it.element as HTMLInputElement).type);
  return it.tag === "textarea" || it.tag === "select" || (it.has("role") && FIELD_ROLES.has(it.attribute("role") ?? ""));
}

/** Returns whether a user changes the value of an element with the keyboard, also where the pointer does not reach it. */
function isKeyboardField(it: Seen): boolean {
  return isField(it) && !it.element.matches(":disabled") && isKeyboardTarget(it.element);
}

const CONTROLS = new Set("button link menuitem menuitemcheckbox menuitemradio option tab treeitem".split(" "));

/** Returns whether a user acts on an element that lets pointer events through: with the keyboard, or by a part of it. */
export function isUsedByKeyboard(it: Seen, role: string): boolean {
  if (isKeyboardField(it)) return true;
  return CONTROLS.has(role) && !isDisabled(it) && (isKeyboardTarget(it.element) || !!shadowRootOf(it));
}

/**
 * Returns whether a click on an element is one on a field below it, such as a placeholder: an element around both responds to presses, and
 * there is no other field in it.
 */
export function isLookOf(field: Element, cover: Element): boolean {
  const it = seen(field);
  if (!isKeyboardField(it)) return false;
  for (let at = parentOf(it), level = 0; at && level < MAX_LEVELS && at.tag !== "body"; level++, at = parentOf(at)) {
    if (hasOtherTarget(at, it)) return false;
    const between = pathTo(at, cover);
    if (between.some(respondsToPress)) return true;
  }
  return false;
}

/** Returns an element and those around it up to `outer`; none if it is not in that. */
function pathTo(outer: Seen, e: Element): Seen[] {
  const path: Seen[] = [];
  for (let at: Seen | null = seen(e); at; at = parentOf(at)) {
    path.push(at);
    if (at.element === outer.element) return path;
  }
  return [];
}

/** Returns whether the keyboard reaches something else in an element than a field. */
function hasOtherTarget(at: Seen, field: Seen): boolean {
  return [...at.element.querySelectorAll(TARGETS)].some((other) => other !== field.element && isKeyboardTarget(other));
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
    if (hasOtherTarget(at, it)) return null;
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

/** The minimum size of an element that the pointer reaches, in CSS pixels: a hidden field has its borders. */
const MIN_TARGET_SIZE = 3;

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
  let [inner, parent] = [it, parentOf(it)];
  // The parts that draw a slotted control are beside its slot, and those of one in a box that only hides it are beside the box.
  while (parent && (isSlot(parent) || isBox(parent))) {
    inner = parent;
    parent = parentOf(parent);
  }
  if (!parent || !isSeen(parent)) return false;
  const [, , width = 0, height = 0] = boxOf(parent) ?? [];
  if (width <= MAX_CONTROL_SIZE && height <= MAX_CONTROL_SIZE) return true;
  const isLook = (beside: Seen): boolean => isSeen(beside) && (it.tag !== "select" || overlaps(it, beside));
  return childrenOf(parent).some((beside) => beside !== inner.element && isElement(beside) && isLook(seen(beside)));
}

/** Returns whether an element is not visible and only wraps another one. */
const isBox = ({ element }: Seen): boolean => element.childElementCount === 1 && !element.textContent?.trim() && !isSeen(seen(element));

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
