// Interception of the pointer events of an action that reach another element than its target.

/** The pointer events of an action: those of a pressed button, or those of a moved pointer. */
export type PointerAction = "press" | "move";

/** Why an event did not reach the target: the element that it reached and its ancestor that covers the target, if that is another one. */
export type Miss = { cover: string; from?: string } | { gone: true };

interface Interceptor {
  readonly action: PointerAction;
  /** Returns why an event does not reach the target. */
  readonly check: (event: MouseEvent) => Miss | undefined;
  readonly start: number;
  miss?: Miss;
}

const EVENTS: Record<PointerAction, readonly string[]> = {
  press: ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu"],
  move: ["pointerover", "mouseover", "pointermove", "mousemove"],
};
/** The time in milliseconds after which the first event belongs to another action, because this one was cancelled. */
const MAX_WAIT = 2000;

let interceptor: Interceptor | undefined;

/**
 * Checks the first event of the next action. If it does not reach the target, neither the page nor the browser handles the events of a
 * pressed button, until `stopInterceptor` is called. Otherwise the events that follow are not checked: what the page does in response to
 * the first one is a result of the action.
 */
export function startInterceptor(action: PointerAction, check: Interceptor["check"]): void {
  interceptor = { action, check, start: performance.now() };
  listen();
}

/** Returns why the events of the last action did not reach its target; null if they did, or if there were none. */
export function missed(): Miss | null {
  return interceptor?.miss ?? null;
}

/** Returns like `missed`, and ends the interception. */
export function stopInterceptor(): Miss | null {
  const miss = missed();
  interceptor = undefined;
  return miss;
}

/** Adds the listeners. Those that exist already keep their position, but `document.open` removes them. */
function listen(): void {
  for (const type of [...EVENTS.press, ...EVENTS.move]) addEventListener(type, intercept as (event: Event) => void, true);
}

/** Checks an event of the action in progress, and prevents it if the action missed its target. */
export function intercept(event: MouseEvent): void {
  if (!interceptor || !event.isTrusted || !EVENTS[interceptor.action].includes(event.type)) return;
  if (!interceptor.miss) {
    const miss = performance.now() - interceptor.start < MAX_WAIT && interceptor.check(event);
    if (!miss) {
      interceptor = undefined;
      return;
    }
    interceptor.miss = miss;
  }
  if (interceptor.action === "move") return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

// Listeners are called in the order in which they were added, so these are added before the first action. Chromium adds some that call
// `intercept` with each document.
listen();
