// Shadow roots, also closed ones.

/** The closed shadow roots that the browser reported, by their hosts. */
export const closedRoots = new WeakMap<Element, ShadowRoot>();

let found: Element[] = [];

/** Records a closed shadow root that the browser reported. */
export function addClosedRoot(root: ShadowRoot): void {
  if (!closedRoots.has(root.host)) found.push(root.host);
  closedRoots.set(root.host, root);
}

/** Returns the hosts of the closed shadow roots that were recorded since the last call. */
export function takeHostsFound(): Element[] {
  const taken = found;
  found = [];
  return taken;
}

/** Returns the shadow root of an element, if it is open or known. */
export function elementShadowRoot(e: Element): ShadowRoot | null {
  return e.shadowRoot ?? closedRoots.get(e) ?? null;
}
