// Shadow roots, also closed ones.

/** The closed shadow roots that the browser reported, by their hosts. */
export const closedRoots = new WeakMap<Element, ShadowRoot>();

let hasClosedRoots = false;

/** Records a closed shadow root that the browser reported. */
export function addClosedRoot(root: ShadowRoot): void {
  hasClosedRoots = true;
  closedRoots.set(root.host, root);
}

/** Returns the shadow root of an element, if it is open or known. */
export function elementShadowRoot(e: Element): ShadowRoot | null {
  return e.shadowRoot ?? (hasClosedRoots ? (closedRoots.get(e) ?? null) : null);
}
