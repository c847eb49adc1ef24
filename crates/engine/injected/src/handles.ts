// Elements that Rust holds on to: numbers outside, elements in here.

/** Names an element of this document across calls; dies with the document. */
export type Handle = number;

const KEPT = 20_000;
const elements = new Map<Handle, Element>();
let last = 0;

/** Gives the element a number. The oldest are forgotten beyond a bound, so that a long-lived page keeps no tree alive. */
export function keep(element: Element): Handle {
  elements.set(++last, element);
  if (elements.size > KEPT) {
    const oldest = elements.keys().next().value;
    if (oldest !== undefined) elements.delete(oldest);
  }
  return last;
}

/** The element of a handle, or undefined once it was forgotten. */
export function held(handle: Handle): Element | undefined {
  return elements.get(handle);
}
