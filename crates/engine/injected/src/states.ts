// What state an element is in, as far as acting on it goes.

import { itIsDisabled, itsChecked, itsReadonly } from "./aria/states";
import { closest, flatParent, isVisible, tagOf } from "./dom";
import { held, type Handle } from "./handles";
import { seen, withCaches } from "./seen";

/** A state that an action may need. `stable`: the box stands still. */
export type State = "visible" | "enabled" | "editable" | "stable";

/** The states of an element at once; null where the question makes no sense for it. */
export interface States {
  visible: boolean;
  enabled: boolean;
  editable: boolean | null;
  checked: boolean | "mixed" | null;
  /** The element itself, or the control of its label, is a radio button. */
  radio: boolean;
  focused: boolean;
}

export interface Gone {
  gone: true;
}

const FIELDS = new Set("input textarea select".split(" "));

/** The states of the element; those of a control are also those of its label. */
export function states({ handle }: { handle: Handle }): States | Gone {
  const e = attached(handle);
  if (!e) return { gone: true };
  return withCaches(() => {
    const control = controlOf(e);
    return {
      visible: isVisible(e),
      enabled: !itIsDisabled(seen(control)),
      editable: editableOf(control) ?? null,
      checked: itsChecked(seen(control)) ?? null,
      radio:
        (control instanceof HTMLInputElement && control.type === "radio") || /^(menuitem)?radio$/.test(control.getAttribute("role") ?? ""),
      focused: (control.getRootNode() as Document | ShadowRoot).activeElement === control,
    };
  });
}

/** The element of a handle as long as it is in the document. */
export function attached(handle: Handle): Element | undefined {
  const e = held(handle);
  return e?.isConnected ? e : undefined;
}

/** Whether the value can be changed by typing; undefined for what holds none. */
export function editableOf(e: Element): boolean | undefined {
  const it = seen(e);
  const readonly = itsReadonly(it);
  return readonly === undefined ? undefined : !readonly && !itIsDisabled(it);
}

/** What an action on the element really works on: the button or link around it, else the control of the label around it. */
export function controlOf(e: Element): Element {
  if (FIELDS.has(tagOf(e)) || (e as HTMLElement).isContentEditable) return e;
  const button = closest(
    e,
    "button, a, [role=button], [role=link], [role=checkbox], [role=radio], [role=switch], [role=option], [role=menuitem], [role=tab]",
  );
  if (button) return button;
  return (closest(e, "label") as HTMLLabelElement | undefined)?.control ?? e;
}

/** Whether `inner` is `outer` or in it, in the flat tree. */
export function isInside(inner: Element | undefined, outer: Element): boolean {
  for (let e = inner; e; e = flatParent(e)) if (e === outer) return true;
  return false;
}

/** Which of the wanted states the element lacks first; undefined when it has them all. */
export async function lacking(e: Element, wanted: State[]): Promise<State | "attached" | undefined> {
  const missing = withCaches(() => {
    const control = controlOf(e);
    return wanted.find((state) => {
      if (state === "visible") return !isVisible(e);
      if (state === "enabled") return itIsDisabled(seen(control));
      if (state === "editable") return editableOf(control) === false;
      return false;
    });
  });
  if (missing) return missing;
  if (wanted.includes("stable") && mayMove(e)) {
    const moved = await moves(e);
    if (!e.isConnected) return "attached";
    if (moved) return "stable";
  }
  return undefined;
}

// Animating one of these moves nothing.
const STILL =
  /color|shadow|background|opacity|filter|visibility|outline|fill|stroke|decoration|^(offset|computedOffset|easing|composite|cursor)$/i;
const SCROLL_TAIL = 100;
let scrolledAt = -Infinity;
addEventListener("scroll", () => (scrolledAt = performance.now()), { capture: true, passive: true });
addEventListener("scrollend", () => (scrolledAt = -Infinity), { capture: true, passive: true });

/** Whether anything is under way that could move the element: an animation, or a scroll. Without, its box needs no watching. */
function mayMove(e: Element): boolean {
  if (performance.now() - scrolledAt < SCROLL_TAIL) return true;
  return document.getAnimations().some((animation) => {
    const effect = animation.effect;
    if (animation.playState !== "running" || !(effect instanceof KeyframeEffect)) return false;
    const still = effect.getKeyframes().every((frame) => Object.keys(frame).every((property) => STILL.test(property)));
    if (still) return false;
    if (!effect.target || isInside(e, effect.target)) return true;
    // An animated size elsewhere pushes the element around; a transform does not.
    return effect
      .getKeyframes()
      .some((frame) =>
        Object.keys(frame).some((property) => !STILL.test(property) && !/^(transform|translate|rotate|scale)$/.test(property)),
      );
  });
}

/** How long a frame of a page in view may take to be drawn. Until it is, nothing has moved, whatever is under way. */
const DRAWN = 500;

async function moves(e: Element): Promise<boolean> {
  const boxWhenDrawn = async (): Promise<DOMRect> => (await drawn(), e.getBoundingClientRect());
  const before = await boxWhenDrawn();
  const after = await boxWhenDrawn();
  return (["x", "y", "width", "height"] as const).some((side) => before[side] !== after[side]);
}

/** Waits until the page was drawn. */
export function drawn(): Promise<void> {
  return frame(document.hidden ? FRAME_AT_MOST : DRAWN);
}

const FRAME_AT_MOST = 50;

/** The next animation frame, or a moment later where frames are not drawn (a hidden tab). */
export function frame(atMost = FRAME_AT_MOST): Promise<void> {
  return new Promise((done) => {
    requestAnimationFrame(() => done());
    setTimeout(done, atMost);
  });
}
