// A cache of the properties of elements: while scripts of the page do not run, styles, roles and names are computed once.

import { semanticsOf } from "./causes";

/** An accessible name, and the elements whose own text or attributes it consists of; `parts` are those of a caption, legend or label. */
export interface Name {
  readonly text: string;
  readonly sources: readonly (Seen | "parts")[];
  /** The name without the values of controls and the items below a tree item, if it contains some. */
  readonly constant?: string;
}

/** A bounding box in the viewport. */
export type Box = readonly [x: number, y: number, width: number, height: number];

/** The table that contains a row, and the role of the table. */
export interface Table {
  readonly table: HTMLTableElement | null;
  readonly role: string | null;
}

/** The properties of a computed style that are needed. Storing the whole style costs much more. */
export interface ComputedStyle {
  readonly display: string;
  readonly cursor: string;
  readonly pointerEvents: string;
}

/** Derived properties of a style, which all elements with the same style share. */
export interface Style {
  readonly id?: number;
  isFaint?: boolean;
  /** The product of the opacities of the element and of those around it. */
  opacity?: number;
  clipPath?: string;
  overflow?: string;
  /** The visibility of the text; `alike` if its color is similar to the background color. */
  text?: "seen" | "unseen" | "alike";
  background?: string;
}

const NO_NAMES: readonly string[] = [];

/**
 * The cached properties of an element. `undefined` means that a property was not computed. Each property has a function that computes it;
 * code that traverses a tree also sets the properties that it has computed already.
 */
export class Seen {
  /** The lower-case tag name. */
  readonly tag: string;
  readonly attributeNames: readonly string[];
  /** The parent in the flat tree. */
  parent: Seen | null | undefined = undefined;
  /** The parent element, or the host for the children of a shadow root. */
  owner: Seen | null | undefined = undefined;
  /** The document or shadow root that contains the element. */
  root: Document | ShadowRoot | undefined = undefined;
  shadow: ShadowRoot | null | undefined = undefined;
  svg: boolean | undefined = undefined;
  computed: ComputedStyle | undefined = undefined;
  inLink: boolean | undefined = undefined;
  /** The visible element that a user clicks instead of a control that is not visible. */
  drawing: Seen | null | undefined = undefined;
  /** How a person can act on the element; null if not at all. */
  action: "pointer" | "own" | "listens" | "weak" | null | undefined = undefined;
  /** How the element responds to events; null if not at all. */
  listening: "grabs" | "listens" | "weak" | null | undefined = undefined;
  /** The types of events to which the element responds. */
  types: readonly string[] | undefined = undefined;
  painted: boolean | undefined = undefined;
  /** Whether it is painted, and neither the element nor one around it is transparent. */
  rendered: boolean | undefined = undefined;
  visible: boolean | undefined = undefined;
  /** The bounding box in the viewport. */
  box: Box | undefined = undefined;
  style: Style | undefined = undefined;
  /** Whether nothing of the element and its content is visible. */
  unseen: boolean | undefined = undefined;
  /** Whether it is unseen only because an element without size clips it. */
  isCut: boolean | undefined = undefined;
  /** Whether the bounding box is where a user cannot scroll to. */
  away: boolean | undefined = undefined;
  /** The nearest inclusive ancestor that clips its overflow. */
  clip: Seen | null | undefined = undefined;
  role: string | null | undefined = undefined;
  /** The role of the `role` attribute; empty if it has no valid role. */
  explicit: string | undefined = undefined;
  /** Whether a role of the `role` attribute is ignored, because its required name is missing. */
  ignored = false;
  /** The presentational role that a required child inherits; empty if there is none. */
  inherited: string | undefined = undefined;
  table: Table | undefined = undefined;
  hidden: boolean | undefined = undefined;
  cutOff: boolean | undefined = undefined;
  disabled: boolean | undefined = undefined;
  name: Name | undefined = undefined;
  /** The text of the element, if it has no other content; else null. */
  text: string | null | undefined = undefined;
  /** The text of the content, if it does not depend on the element that it is computed for. */
  content: Name | undefined = undefined;
  /** The index in the tree of the snapshot; -1 before it has one. */
  index = -1;
  visited = false;

  /** The role and the ARIA properties that a custom element has without attributes, by the names of the attributes. */
  readonly internals: ReadonlyMap<string, string> | undefined;

  constructor(readonly element: Element) {
    this.tag = element.localName;
    const names = element.hasAttributes() ? element.getAttributeNames() : NO_NAMES;
    this.internals = readsInternals && this.tag.includes("-") ? semanticsOf(element) : undefined;
    this.attributeNames = this.internals ? [...names, ...this.internals.keys()] : names;
  }

  /** Whether the element has an attribute. Most elements have none of those that are needed, and each call of the DOM is slow. */
  has(name: string): boolean {
    return this.attributeNames.length > 0 && this.attributeNames.includes(name);
  }

  /** Returns the value of an attribute, or null if there is none. */
  attribute(name: string): string | null {
    return this.has(name) ? (this.element.getAttribute(name) ?? this.internals?.get(name) ?? null) : null;
  }
}

let readsInternals = false;

/** Sets whether the semantics of custom elements count that they have by `ElementInternals`. Locators of Playwright ignore these. */
export function setReadsInternals(on: boolean): void {
  readsInternals = on;
}

let callers = 0;
let all = new Map<Element, Seen>();
// Successive calls are mostly about one element and its parent.
let last: Seen | undefined;
let other: Seen | undefined;
const resets: (() => void)[] = [];

/** Calls a function with caches. Scripts of the page must not run meanwhile. */
export function withCaches<T>(work: () => T): T {
  callers++;
  try {
    return work();
  } finally {
    if (!--callers) forget();
  }
}

/** Clears the caches. */
export function forget(): void {
  all = new Map();
  last = other = undefined;
  for (const reset of resets) reset();
}

/** Returns the cached properties of an element. Outside of `withCaches` they are a new, empty object each time. */
export function seen(e: Element): Seen {
  if (!callers) return new Seen(e);
  if (last?.element === e) return last;
  if (other?.element === e) return other;
  let found = all.get(e);
  if (!found) all.set(e, (found = new Seen(e)));
  other = last;
  last = found;
  return found;
}

/** Returns a function that caches its results during `withCaches`, and computes each result outside of it. */
export function cached<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const results = new Map<K, V>();
  // Successive calls are mostly about the same root.
  let lastKey: K | undefined;
  let lastResult: V | undefined;
  resets.push(() => {
    results.clear();
    lastKey = lastResult = undefined;
  });
  return (key) => {
    if (!callers) return compute(key);
    if (key === lastKey) return lastResult as V;
    let result = results.get(key);
    if (result === undefined) results.set(key, (result = compute(key)));
    lastKey = key;
    lastResult = result;
    return result;
  };
}
