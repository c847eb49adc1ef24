// The point of an element for pointer input, and the hit target at the point.

import { closest, flatParent, isElement, isElementVisible, parentOrHost, preview, tagOf } from "./dom";
import { elementShadowRoot } from "./roots";
import { imageOf, isLookOf, shownFor } from "./drawn";
import { startInterceptor, type Miss, type PointerAction } from "./interceptor";
import { attached, controlOf, drawn, isInside, lacking, type Gone, type State } from "./states";
import { isBound, type Handle } from "./handles";
import { seen, withCaches } from "./seen";

export interface Point {
  x: number;
  y: number;
}

export interface Box extends Point {
  width: number;
  height: number;
}

/** How an element is scrolled into view. Each retry uses another alignment, because sticky headers and footers can cover the element. */
export type Align = "nearest" | "center" | "end" | "start";

export interface Aim {
  handle: Handle;
  wanted: State[];
  align: Align;
  /** A position relative to the padding box of the element. The default is the center of its visible part. */
  position?: Point;
  /** Whether to check the hit target. */
  hit: boolean;
  /** The action whose first event is checked too. */
  action?: PointerAction | null;
}

export type Aimed =
  | { lacks: State | "attached" | "viewport" }
  | Miss
  /** The point in the viewport of the frame. */
  | { point: Point };

/** Checks the required states, scrolls the element into view and returns the point for an action, in one call. */
export async function aim({ handle, wanted, align, position, hit, action }: Aim): Promise<Aimed> {
  const target = attached(handle);
  if (!target) return { gone: true };
  const e = shownFor(target);
  position ??= e === target ? undefined : centerIn(e, target);
  const lacks = await lacking(e, wanted);
  // The element may have changed its identity during the wait.
  if (lacks === "attached" || !attached(handle)) return { gone: true };
  if (lacks) return { lacks };
  let point = pointOf(e, position);
  if (!point || align !== "nearest" || !isInView(e, point)) {
    e.scrollIntoView({ block: align, inline: align, behavior: "instant" });
    point = pointOf(e, position);
    if (align === "nearest" && point && !isInView(e, point)) {
      e.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
      point = pointOf(e, position);
    }
    if (isBound(handle)) {
      // The scroll handler of a virtualised list can assign other rows to its elements, at once or in a later task.
      await drawn();
      await drawn();
      if (!attached(handle)) return { gone: true };
      point = pointOf(e, position);
    }
  }
  if (!point) return { lacks: "visible" };
  return checkHit(e, point, hit, action);
}

/** Checks a point of a frame like `aim`. `handle` is the frame element, `point` is in its viewport. The result is in this viewport. */
export function aimThrough({ handle, point, hit, action }: Pick<Aim, "handle" | "hit" | "action"> & { point: Point }): Aimed {
  const owner = attached(handle);
  if (!owner) return { gone: true };
  let outer = outside(owner, point);
  if (hit && !isInView(owner, outer)) {
    owner.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    outer = outside(owner, point);
    if (outer.x < 0 || outer.y < 0 || outer.x >= innerWidth || outer.y >= innerHeight) {
      scrollBy({ left: outer.x - innerWidth / 2, top: outer.y - innerHeight / 2, behavior: "instant" });
      outer = outside(owner, point);
    }
  }
  return checkHit(owner, outer, hit, action);
}

/** Returns the bounding box of the element in the viewport of the frame; null if it has none. */
export function bounds({ handle }: { handle: Handle }): { box: Box | null } | Gone {
  const e = attached(handle);
  if (!e) return { gone: true };
  const shown = shownFor(e);
  const { x, y, width, height } = shown.getBoundingClientRect();
  return { box: isElementVisible(shown) ? { x, y, width, height } : null };
}

function checkHit(e: Element, point: Point, hit: boolean, action: Aim["action"]): Aimed {
  if (!hit) return { point };
  if (point.x < 0 || point.y < 0 || point.x >= innerWidth || point.y >= innerHeight) return { lacks: "viewport" };
  const found = deepestAt(point, e);
  if (!found) return { lacks: "viewport" };
  if (!receives(e, found)) return coverOf(e, found);
  if (action) startInterceptor(action, (event) => missOf(e, event));
  return { point };
}

/** Returns why an event does not reach the element. */
function missOf(e: Element, event: MouseEvent): Miss | undefined {
  if (!e.isConnected) return { gone: true };
  const [target] = event.composedPath();
  let found = isElement(target as Node) ? (target as Element) : document.documentElement;
  // The path of an event ends at the host of a closed shadow root.
  if (isInside(e, found) && e.getRootNode() !== found.getRootNode()) found = deepestAt({ x: event.clientX, y: event.clientY }, e) ?? found;
  return receives(e, found) ? undefined : coverOf(e, found);
}

/** Whether an event at `found` counts as one at the element: it is in the element, in its button or link, or in a label of its control. */
export function receives(e: Element, found: Element): boolean {
  const control = controlOf(e);
  // The control of a label can be anywhere: it counts as the target only if it contains the element.
  const target = isInside(e, control) ? control : e;
  if (isInside(found, target)) return true;
  const label = closest(found, "label") as HTMLLabelElement | undefined;
  return (!!label && label.control === target) || withCaches(() => isLookOf(e, found) || imageOf(seen(found))?.element === e);
}

function coverOf(e: Element, found: Element): Miss {
  let root = found;
  for (let up = flatParent(root); up && !isInside(e, up); up = flatParent(root)) root = up;
  const from = root === found ? undefined : preview(root);
  return { cover: preview(found), ...(from && { from }) };
}

/** Returns the innermost element at the point, in open shadow roots and in the closed ones that contain `target`. */
export function deepestAt({ x, y }: Point, target?: Element): Element | undefined {
  const roots = new Map<Element, ShadowRoot>();
  for (let e = target; e; ) {
    const root = e.getRootNode();
    if (!(root instanceof ShadowRoot)) break;
    roots.set(root.host, root);
    e = root.host;
  }
  let found = document.elementFromPoint(x, y) ?? undefined;
  for (;;) {
    const root: ShadowRoot | undefined = found && (elementShadowRoot(found) ?? roots.get(found));
    const inner = root?.elementFromPoint(x, y);
    if (!root) return found;
    if (!inner || inner === found || inner.getRootNode() !== root) return slotAt({ x, y }, root) ?? found;
    found = inner;
  }
}

/** Returns the slot of the text at the point. The element at such a point is the host, but events are dispatched at the slot. */
function slotAt({ x, y }: Point, root: ShadowRoot): Element | undefined {
  const isHere = (node: Node): boolean => {
    if (node.nodeType !== Node.TEXT_NODE) return false;
    const range = document.createRange();
    range.selectNodeContents(node);
    return [...range.getClientRects()].some((box) => x >= box.left && x < box.right && y >= box.top && y < box.bottom);
  };
  return [...root.querySelectorAll("slot")].find((slot) => slot.assignedNodes().some(isHere));
}

export function pointOf(e: Element, position?: Point): Point | undefined {
  if (position) {
    const box = e.getBoundingClientRect();
    return { x: box.x + e.clientLeft + position.x, y: box.y + e.clientTop + position.y };
  }
  const boxes = boxesOf(e);
  for (const box of boxes) {
    const visible = clipped(box);
    if (visible.width >= 1 && visible.height >= 1) return freePoint(e, visible);
  }
  const [first] = boxes;
  return first && { x: first.x + first.width / 2, y: first.y + first.height / 2 };
}

/** Returns the center of an area, relative to the padding box of its image; undefined for other elements, and for one without coordinates. */
function centerIn(image: Element, e: Element): Point | undefined {
  if (tagOf(e) !== "area") return undefined;
  const { coords, shape } = e as HTMLAreaElement;
  const numbers = coords.split(",").map(Number.parseFloat);
  if (shape === "default" || numbers.length < 2 || numbers.some(Number.isNaN)) return undefined;
  const { paddingLeft, paddingTop } = getComputedStyle(image);
  // A circle has one point and a radius, a rectangle two points, a polygon any number.
  const middle = (start: number): number => {
    const sides = numbers.filter((_, index) => index % 2 === start);
    if (shape.startsWith("circ")) return numbers[start] ?? 0;
    return sides.reduce((sum, side) => sum + side, 0) / sides.length;
  };
  return { x: Number.parseFloat(paddingLeft) + middle(0), y: Number.parseFloat(paddingTop) + middle(1) };
}

/** The parts of a label that do not act for its control. */
const INNER = "a[href], button, input, select, textarea, [role=button], [role=link]";
/** The number of points of a label that are tried. */
const TRIES = 8;

/** Returns the center of a visible box of an element; for a label with another control at the center, a point that acts for its control. */
function freePoint(e: Element, { x, y, width, height }: Box): Point {
  const center = { x: x + width / 2, y: y + height / 2 };
  const isFree = (point: Point): boolean => {
    const inner = closest(deepestAt(point, e), INNER);
    return !inner || !isInside(inner, e) || inner === (e as HTMLLabelElement).control;
  };
  if (tagOf(e) !== "label" || isFree(center)) return center;
  for (let part = 0; part < TRIES; part++) {
    const point = { x: x + (width * (part + 0.5)) / TRIES, y: center.y };
    if (isFree(point)) return point;
  }
  return center;
}

/** Returns the boxes of an element with an area: one for each line of an inline element, those of the content for `display: contents`. */
function boxesOf(e: Element): Box[] {
  let boxes = [...e.getClientRects()];
  if (!boxes.length) {
    const range = document.createRange();
    range.selectNodeContents(e);
    boxes = [...range.getClientRects()];
  }
  return boxes.filter(({ width, height }) => width * height > 0);
}

function clipped({ x, y, width, height }: Box): Box {
  const left = Math.max(x, 0);
  const top = Math.max(y, 0);
  return { x: left, y: top, width: Math.min(x + width, innerWidth) - left, height: Math.min(y + height, innerHeight) - top };
}

/** Whether the point is in the viewport and not clipped by an ancestor. */
function isInView(e: Element, { x, y }: Point): boolean {
  if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return false;
  for (let up = parentOrHost(e); up && up !== document.documentElement && up !== document.body; up = parentOrHost(up)) {
    if (getComputedStyle(up).overflow === "visible") continue;
    const box = up.getBoundingClientRect();
    if (x < box.left || y < box.top || x > box.right || y > box.bottom) return false;
  }
  return true;
}

/** Converts a point in the viewport of a frame to the viewport of the document that contains the frame. */
function outside(owner: Element, { x, y }: Point): Point {
  const box = owner.getBoundingClientRect();
  const style = getComputedStyle(owner);
  const width = (owner as HTMLElement).offsetWidth;
  const height = (owner as HTMLElement).offsetHeight;
  const scaleX = width ? box.width / width : 1;
  const scaleY = height ? box.height / height : 1;
  return {
    x: box.x + (owner.clientLeft + Number.parseFloat(style.paddingLeft) + x) * scaleX,
    y: box.y + (owner.clientTop + Number.parseFloat(style.paddingTop) + y) * scaleY,
  };
}
