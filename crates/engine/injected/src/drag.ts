// Whether a press and a move made the page begin a native drag.

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
