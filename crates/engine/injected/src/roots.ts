// Shadow roots, also closed ones.

/** The closed shadow roots that the browser reported, by their hosts. */
export const closedRoots = new WeakMap<Element, ShadowRoot>();

/** Returns the shadow root of an element, if it is open or known. */
export function elementShadowRoot(e: Element): ShadowRoot | null {
  return e.shadowRoot ?? closedRoots.get(e) ?? null;
}
