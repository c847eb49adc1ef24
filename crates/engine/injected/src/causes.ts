// What the script in the page's world knows (timers.entry.ts): what an action caused that has not run yet, the semantics of custom elements,
// and the handlers that libraries store in elements.

/** What is pending. All zero if the page has no such script. */
export interface Causes {
  /** When the last timer that is waited for is due, in ms from now. */
  left: number;
  /** The numbers of frames and messages, and of idle callbacks, that the action has requested so far. */
  steps: number;
  idle: number;
}

let type: string | undefined;
/** The functions of the browser, in place of those that the other script has replaced in this world. */
interface Natives {
  setTimer: typeof setTimeout;
  requestFrame: typeof requestAnimationFrame;
  requestIdle: typeof requestIdleCallback | undefined;
  post: MessagePort["postMessage"];
}
let natives: Natives | undefined;

/** Sets the type of the events that the other script listens for. `isSameWorld`: both are in the page's world. */
export function introduceCauses(event: string | undefined, isSameWorld: boolean): void {
  if (!event || type) return;
  type = event;
  if (!isSameWorld) return;
  // Otherwise the timers of the core would count as those of the page.
  const detail = (_: unknown, of: Natives): void => {
    natives = of;
  };
  performance["dispatchEvent"](new CustomEvent(event, { detail }));
}

/** Until when the timers of the document that were due have run, as a timer of the core ran after them. */
let ranUntil = -Infinity;

/** Resolves after so many ms. */
export function pause(ms: number): Promise<void> {
  const due = performance.now() + ms;
  return new Promise((done) =>
    setTimer(() => {
      ranUntil = Math.max(ranUntil, due);
      done();
    }, ms),
  );
}

/** Sends a command, or with a number asks what is pending within so many ms. */
export function causes(command: "begin" | "hold" | "rest" | "end" | number): Causes {
  const detail = typeof command === "string" ? command : `${command} ${performance.now() - ranUntil}`;
  const [left = 0, steps = 0, idle = 0] = ask(performance, performance, detail)
    .split(" ")
    .map((part) => Number(part) || 0);
  return { left, steps, idle };
}

/**
 * Returns the role and the ARIA properties that a custom element has by `ElementInternals`, by the names of the attributes; undefined if it
 * has none.
 */
export function semanticsOf(e: Element): Map<string, string> | undefined {
  const view = e.ownerDocument.defaultView;
  const lines = view ? ask(e, view.performance, "").split("\n") : [];
  const semantics = lines.map((line) => /^(role|aria-[a-z]+) (.*)$/.exec(line));
  const found = semantics.flatMap((match): [string, string][] => (match ? [[match[1] ?? "", match[2] ?? ""]] : []));
  return found.length ? new Map(found) : undefined;
}

/** Returns the names of the handlers that libraries store in the elements of a document: `onClick` of React, `__click` of Svelte. */
export function handlersIn(owner: Document): Map<Element, string[]> {
  const handlers = new Map<Element, string[]>();
  const view = owner.defaultView;
  const lines = view ? ask(view.performance, view.performance, "handlers").split("\n") : [];
  const elements = lines.length > 1 ? owner.querySelectorAll("*") : [];
  for (const line of lines) {
    const [at, ...names] = line.split(" ");
    const e = elements[Number(at)];
    if (e && names.length) handlers.set(e, names);
  }
  return handlers;
}

/** Sends an event to the other script, which answers on the `performance` of its window. */
function ask(target: EventTarget, answers: Performance, detail: string): string {
  let answer: unknown;
  if (!type) return "";
  const listen = (event: Event): void => {
    answer = (event as CustomEvent<unknown>).detail;
  };
  answers.addEventListener(`${type}.`, listen);
  target["dispatchEvent"](new CustomEvent(type, { detail }));
  answers.removeEventListener(`${type}.`, listen);
  return typeof answer === "string" ? answer : "";
}

export function setTimer(callback: () => void, delay: number): ReturnType<typeof setTimeout> {
  return natives ? natives.setTimer.call(globalThis, callback, delay) : setTimeout(callback, delay);
}

export function requestFrame(callback: () => void): void {
  if (natives) natives.requestFrame.call(globalThis, callback);
  else requestAnimationFrame(callback);
}

/** Calls the callback when the browser is idle, or at once if it has no idle callbacks. */
export function requestIdle(callback: () => void, timeout: number): void {
  const request = natives ? natives.requestIdle : globalThis.requestIdleCallback;
  if (request) request.call(globalThis, callback, { timeout });
  else callback();
}

/** Calls the callback after the tasks that are already queued. */
export function queueTask(callback: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    callback();
  };
  if (natives) natives.post.call(port2, null);
  else port2.postMessage(null);
}
