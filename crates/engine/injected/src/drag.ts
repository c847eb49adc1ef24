// Whether a press and a move made the page begin a native drag.

import { deepestAt, type Point } from "./hit";

let started: Event | undefined;
let watching = false;

/** Forgets what was seen and looks out from now on. */
export function watchDrag(): null {
  started = undefined;
  if (!watching) {
    watching = true;
    addEventListener("dragstart", (event) => (started = event), { capture: true });
  }
  return null;
}

/** Whether a drag began since then and the page did not prevent it. */
export function dragBegan(): boolean {
  return started !== undefined && !started.defaultPrevented;
}

// Where the browser hands no drag over, the one that a page begins is taken from it, and carried on here.

let source: EventTarget | null;
let transfer: DataTransfer | undefined;
let over: Element | undefined;

/** Takes the next drag that begins. */
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

/** Whether a drag is under way. */
export function dragTaken(): boolean {
  return !!source;
}

function send(target: EventTarget | null | undefined, type: string, { x, y }: Point): boolean | undefined {
  return target?.dispatchEvent(
    new DragEvent(type, { bubbles: true, cancelable: true, composed: true, dataTransfer: transfer, clientX: x, clientY: y }),
  );
}

/** Moves the drag; whether it could be dropped there. */
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

/** Ends the drag at this point. What the mouse then does is part of it, and told to nobody. */
export function dropDrag(point: Point): null {
  removeEventListener("dragstart", take);
  if (source) {
    const accepted = dragTo(point);
    send(over, accepted ? "drop" : "dragleave", point);
    send(source, "dragend", point);
    for (const type of ["pointerup", "mouseup", "click"]) {
      const swallow = (event: Event): void => event.stopImmediatePropagation();
      addEventListener(type, swallow, { capture: true, once: true });
      setTimeout(() => removeEventListener(type, swallow, { capture: true }), 100);
    }
  }
  source = null;
  return null;
}
