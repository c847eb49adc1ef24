// Detection of native drags, and drags that the script continues.

import { setTimer } from "./causes";
import { deepestAt, type Point } from "./hit";

let started: Event | undefined;
let watching = false;

/** Resets the last drag and starts to listen for the next one. */
export function watchDrag(): null {
  started = undefined;
  if (!watching) {
    watching = true;
    addEventListener("dragstart", (event) => (started = event), { capture: true });
  }
  return null;
}

/** Whether a drag started since `watchDrag` and the page did not prevent it. */
export function dragBegan(): boolean {
  return started !== undefined && !started.defaultPrevented;
}

// If the browser cannot continue a drag, the script cancels the native drag and dispatches its events.

let source: EventTarget | null;
let transfer: DataTransfer | undefined;
let over: Element | undefined;

/** Intercepts the next drag. */
export function takeDrag(): null {
  source = null;
  over = undefined;
  addEventListener("dragstart", take);
  return null;
}

function take(event: DragEvent): void {
  const { dataTransfer, target } = event;
  if (event.defaultPrevented || !dataTransfer) return;
  transfer = new DataTransfer();
  for (const type of dataTransfer.types) if (type !== "Files") transfer.setData(type, dataTransfer.getData(type));
  source = target;
  event.preventDefault();
}

/** Whether a drag was intercepted and is in progress. */
export function dragTaken(): boolean {
  return !!source;
}

function send(target: EventTarget | null | undefined, type: string, { x, y }: Point): boolean | undefined {
  return target?.dispatchEvent(
    new DragEvent(type, { bubbles: true, cancelable: true, composed: true, dataTransfer: transfer, clientX: x, clientY: y }),
  );
}

/** Moves the drag to a point. Returns whether a drop is allowed there. */
export function dragTo(point: Point): boolean {
  if (!source) return false;
  send(source, "drag", point);
  const e = deepestAt(point);
  if (e !== over) {
    send(e, "dragenter", point);
    send(over, "dragleave", point);
    over = e;
  }
  return send(e, "dragover", point) === false;
}

/** Ends the drag at a point. The pointer events that follow belong to the drag, so the page does not receive them. */
export function dropDrag(point: Point): null {
  removeEventListener("dragstart", take);
  if (source) {
    const accepted = dragTo(point);
    send(over, accepted ? "drop" : "dragleave", point);
    send(source, "dragend", point);
    for (const type of ["pointerup", "mouseup", "click"]) swallow(type, (event) => event.stopImmediatePropagation());
  }
  source = null;
  return null;
}

/** Prevents the next event of the wheel. */
export function swallowWheel(): null {
  swallow("wheel", (event) => {
    event.stopImmediatePropagation();
    event.preventDefault();
  });
  return null;
}

function swallow(type: string, listener: (event: Event) => void): void {
  addEventListener(type, listener, { capture: true, once: true, passive: false });
  setTimer(() => removeEventListener(type, listener, { capture: true }), 100);
}
