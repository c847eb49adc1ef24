// Elements that the engine refers to by handles.

/** A number that identifies an element of this document until the document is replaced. */
export type Handle = number;

const MAX_HANDLES = 20_000;
const elements = new Map<Handle, { readonly element: Element; readonly isStill?: (() => boolean) | undefined }>();
let last = 0;

/**
 * Returns a new handle of the element, which is valid as long as `isStill` returns true. Beyond a limit the oldest handles are removed, so
 * that they do not keep removed elements alive.
 */
export function keep(element: Element, isStill?: () => boolean): Handle {
  elements.set(++last, { element, isStill });
  if (elements.size > MAX_HANDLES) {
    const oldest = elements.keys().next().value;
    if (oldest !== undefined) elements.delete(oldest);
  }
  return last;
}

/** Returns the element of a handle, or undefined if the handle was removed or is no longer valid. */
export function held(handle: Handle): Element | undefined {
  const kept = elements.get(handle);
  return kept && kept.isStill?.() !== false ? kept.element : undefined;
}

/** Returns whether the validity of the handle depends on what its element is. */
export function isBound(handle: Handle): boolean {
  return !!elements.get(handle)?.isStill;
}
