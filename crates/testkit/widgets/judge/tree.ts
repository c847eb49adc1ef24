// The tree that a person sees: shadow roots, slots and frames of the same origin are part of it.

/** Closed shadow roots, which `attachShadow` returned to the page. */
const closedRoots = new WeakMap<Element, ShadowRoot>();

/** Records closed shadow roots. It runs before the scripts of the page. */
export function recordRoots(): void {
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options);
    if (options.mode === "closed") closedRoots.set(this, root);
    return root;
  };
}

// Elements of frames are instances of the classes of their own window.
export const isElement = (node: Node): node is Element => node.nodeType === Node.ELEMENT_NODE;
export const isText = (node: Node): node is Text => node.nodeType === Node.TEXT_NODE;

const rootOf = (element: Element) => element.shadowRoot ?? closedRoots.get(element);

export function children(node: Node): Node[] {
  if (!isElement(node)) return [...node.childNodes];
  const root = rootOf(node);
  if (root) return [...root.childNodes];
  if (node.localName === "slot") {
    const assigned = (node as HTMLSlotElement).assignedNodes();
    if (assigned.length > 0) return assigned;
  }
  if (node.localName === "iframe") {
    const inner = (node as HTMLIFrameElement).contentDocument?.documentElement;
    return inner ? [inner] : [];
  }
  return [...node.childNodes];
}

export function parent(node: Node): Element | null {
  const slot = (node as Element | Text).assignedSlot;
  if (slot) return slot;
  const above = node.parentNode;
  if (!above) return null;
  if (isElement(above)) return above;
  if (above.nodeType === Node.DOCUMENT_FRAGMENT_NODE) return (above as ShadowRoot).host ?? null;
  return (above as Document).defaultView?.frameElement ?? null;
}

export function* ancestors(node: Node): Generator<Element> {
  for (let above = parent(node); above; above = parent(above)) yield above;
}

/** All nodes in the order of the tree. */
export function* nodes(node: Node): Generator<Node> {
  yield node;
  for (const child of children(node)) yield* nodes(child);
}

export function* elements(from: Node): Generator<Element> {
  for (const node of nodes(from)) if (isElement(node)) yield node;
}

/** Whether `inner` is `outer` or in it. */
export function contains(outer: Element, inner: Element): boolean {
  if (outer === inner) return true;
  for (const above of ancestors(inner)) if (above === outer) return true;
  return false;
}

export const styleOf = (element: Element) => (element.ownerDocument.defaultView ?? window).getComputedStyle(element);

/** The indices of children from the root of the document, by which the same element is found in another browser. */
export function pathOf(element: Element): string {
  const path: number[] = [];
  let at: Element = element;
  for (const above of ancestors(element)) {
    path.unshift(children(above).filter(isElement).indexOf(at));
    at = above;
  }
  return path.join("/");
}

export function elementAt(path: string): Element | undefined {
  let at: Element | undefined = document.documentElement;
  for (const index of path ? path.split("/") : []) at = at && children(at).filter(isElement)[Number(index)];
  return at;
}
