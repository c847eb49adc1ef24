// The states of elements, and the actionability checks.

import { isDisabled, checkedState, readonlyState } from "./aria/states";
import { requestFrame, setTimer } from "./causes";
import { closest, flatParent, isElementVisible, tagOf } from "./dom";
import { drawingOf } from "./drawn";
import { held, type Handle } from "./handles";
import { seen, withCaches } from "./seen";

/** A state that an action can require. An element is `stable` if its bounding box is the same in two successive frames. */
export type State = "visible" | "enabled" | "editable" | "stable";

/** The states of an element. A state is null if it does not apply to the element. */
export interface States {
  visible: boolean;
  enabled: boolean;
  editable: boolean | null;
  checked: boolean | "mixed" | null;
  /** Whether the element, or the control of its label, is a radio button. */
  radio: boolean;
  focused: boolean;
}

export interface Gone {
  gone: true;
}

const FIELDS = new Set("input textarea select".split(" "));

/** Returns the states of an element. The states of a label are those of its control, except `visible`. A label can make its control visible. */
export function states({ handle }: { handle: Handle }): States | Gone {
  const e = attached(handle);
  if (!e) return { gone: true };
  return withCaches(() => {
    const control = controlOf(e);
    return {
      visible: isShown(e),
      enabled: !isDisabled(seen(control)),
      editable: editableOf(control) ?? null,
      checked: checkedState(seen(control)) ?? null,
      radio:
        (control instanceof HTMLInputElement && control.type === "radio") || /^(menuitem)?radio$/.test(control.getAttribute("role") ?? ""),
      focused: (control.getRootNode() as Document | ShadowRoot).activeElement === control,
    };
  });
}

/** Returns whether the element is visible, or drawn by a visible one. */
function isShown(e: Element): boolean {
  return isElementVisible(e) || !!drawingOf(seen(e));
}

/** Returns the element of a handle, or undefined if it is not in the document. */
export function attached(handle: Handle): Element | undefined {
  const e = held(handle);
  return e?.isConnected ? e : undefined;
}

/** Returns whether the value can be changed by input; undefined if the element has no value. */
export function editableOf(e: Element): boolean | undefined {
  const it = seen(e);
  const readonly = readonlyState(it);
  return readonly === undefined ? undefined : !readonly && !isDisabled(it);
}

/** Returns the control whose states are those of an element: the button or link around it, else the control of the label around it. */
export function controlOf(e: Element): Element {
  if (FIELDS.has(tagOf(e)) || (e as HTMLElement).isContentEditable) return e;
  const button = closest(
    e,
    "button, a, [role=button], [role=link], [role=checkbox], [role=radio], [role=switch], [role=option], [role=menuitem], [role=tab]",
  );
  if (button) return button;
  return (closest(e, "label") as HTMLLabelElement | undefined)?.control ?? e;
}

/** Returns whether `inner` is an inclusive descendant of `outer` in the flat tree. */
export function isInside(inner: Element | undefined, outer: Element): boolean {
  for (let e = inner; e; e = flatParent(e)) if (e === outer) return true;
  return false;
}

/**
 * Returns the first of the required states that the element does not have; `attached` if the element was removed; undefined if it has all
 * required states.
 */
export async function lacking(e: Element, required: State[]): Promise<State | "attached" | undefined> {
  const missing = withCaches(() => {
    const control = controlOf(e);
    return required.find((state) => {
      if (state === "visible") return !isShown(e);
      if (state === "enabled") return isDisabled(seen(control));
      if (state === "editable") return editableOf(control) === false;
      return false;
    });
  });
  if (missing) return missing;
  if (required.includes("stable") && canMove(e)) {
    const moved = await isMoving(e);
    if (!e.isConnected) return "attached";
    if (moved) return "stable";
  }
  return undefined;
}

// Animations of these properties do not change bounding boxes.
const STATIC_PROPERTIES =
  /color|shadow|background|opacity|filter|visibility|outline|fill|stroke|decoration|^(offset|computedOffset|easing|composite|cursor)$/i;
/** The time after a scroll event, in ms, during which further ones can follow. */
const SCROLL_TIMEOUT = 100;
let scrolledAt = -Infinity;
addEventListener("scroll", () => (scrolledAt = performance.now()), { capture: true, passive: true });
addEventListener("scrollend", () => (scrolledAt = -Infinity), { capture: true, passive: true });

/** Returns whether an animation or scrolling is in progress that can change the bounding box of the element. */
function canMove(e: Element): boolean {
  if (performance.now() - scrolledAt < SCROLL_TIMEOUT) return true;
  return document.getAnimations().some((animation) => {
    const effect = animation.effect;
    if (animation.playState !== "running" || !(effect instanceof KeyframeEffect)) return false;
    const isStatic = effect.getKeyframes().every((frame) => Object.keys(frame).every((property) => STATIC_PROPERTIES.test(property)));
    if (isStatic) return false;
    if (!effect.target || isInside(e, effect.target)) return true;
    // Animating the size of another element can move this element; animating a transform cannot.
    return effect
      .getKeyframes()
      .some((frame) =>
        Object.keys(frame).some((property) => !STATIC_PROPERTIES.test(property) && !/^(transform|translate|rotate|scale)$/.test(property)),
      );
  });
}

/** The timeout of an animation frame of a visible page, in ms. Elements do not move before the frame. */
const FRAME_TIMEOUT = 500;

async function isMoving(e: Element): Promise<boolean> {
  const nextBox = async (): Promise<DOMRect> => (await drawn(), e.getBoundingClientRect());
  const before = await nextBox();
  const after = await nextBox();
  return (["x", "y", "width", "height"] as const).some((side) => before[side] !== after[side]);
}

/** Resolves at the next animation frame, or after a timeout. */
export function drawn(): Promise<void> {
  return frame(document.hidden ? HIDDEN_FRAME_TIMEOUT : FRAME_TIMEOUT);
}

const HIDDEN_FRAME_TIMEOUT = 50;

/** Resolves at the next animation frame, or after a timeout in ms, because pages in the background have no frames. */
export function frame(timeout = HIDDEN_FRAME_TIMEOUT): Promise<void> {
  return new Promise((done) => {
    requestFrame(() => done());
    setTimer(done, timeout);
  });
}
