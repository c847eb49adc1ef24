// Elements that the engine refers to by handles.

/** A number that identifies an element of this document until the document is replaced. */
export type Handle = number;

const MAX_HANDLES = 20_000;
const elements = new Map<Handle, Element>();
let last = 0;

/** Returns a new handle of the element. Beyond a limit the oldest handles are removed, so that they do not keep removed elements alive. */
export function keep(element: Element): Handle {
  elements.set(++last, element);
  if (elements.size > MAX_HANDLES) {
    const oldest = elements.keys().next().value;
    if (oldest !== undefined) elements.delete(oldest);
  }
  return last;
}

/** Returns the element of a handle, or undefined if the handle was removed. */
export function held(handle: Handle): Element | undefined {
  return elements.get(handle);
}
