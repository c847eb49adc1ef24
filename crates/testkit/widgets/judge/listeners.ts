// Listeners, recorded before the scripts of the page add them, and handlers that React keeps in the properties of elements.

const ACTIONS = /^(click|dblclick|auxclick|mousedown|mouseup|pointerdown|pointerup|touchstart|touchend|dragstart)$/;
/** Frameworks add a listener of each type to their root, and dispatch the events themselves. */
const MAX_TYPES = 20;

const recorded = new WeakMap<EventTarget, Map<string, Set<unknown>>>();

export function recordListeners(): void {
  const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
  EventTarget.prototype.addEventListener = function (
    this: EventTarget | undefined,
    type: string,
    listener: EventListener,
    options?: unknown,
  ) {
    const target = this ?? window;
    const types = recorded.get(target) ?? new Map<string, Set<unknown>>();
    recorded.set(target, types);
    if (listener) types.set(type, (types.get(type) ?? new Set()).add(listener));
    return add.call(target, type, listener, options as AddEventListenerOptions);
  };
  EventTarget.prototype.removeEventListener = function (
    this: EventTarget | undefined,
    type: string,
    listener: EventListener,
    options?: unknown,
  ) {
    const target = this ?? window;
    recorded.get(target)?.get(type)?.delete(listener);
    return remove.call(target, type, listener, options as EventListenerOptions);
  };
}

const HANDLER = /^on(Click|DoubleClick|MouseDown|MouseUp|PointerDown|PointerUp|TouchStart|TouchEnd|DragStart)$/;

/** Whether the element itself listens to presses of a pointer or to a drag. */
export function listensToPointer(element: Element): boolean {
  const types = [...(recorded.get(element) ?? [])].filter(([, listeners]) => listeners.size > 0).map(([type]) => type);
  if (types.length <= MAX_TYPES && types.some((type) => ACTIONS.test(type))) return true;
  const { onclick, onmousedown, onpointerdown, ondragstart } = element as HTMLElement;
  if (onclick || onmousedown || onpointerdown || ondragstart) return true;
  const key = Object.keys(element).find((name) => name.startsWith("__reactProps$"));
  const props = key && (element as unknown as Record<string, Record<string, unknown>>)[key];
  return !!props && Object.entries(props).some(([name, value]) => HANDLER.test(name) && typeof value === "function");
}
