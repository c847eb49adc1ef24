// What has been seen of the page's elements: while the page stands still, styles, roles and names are computed once.

/** A name, and the elements whose own text or attributes make it up; `parts` stands for those of a caption, legend or label. */
export interface Name {
  readonly text: string;
  readonly sources: readonly (Seen | "parts")[];
}

/** The table around a row, and its own role. */
export interface Table {
  readonly table: HTMLTableElement | null;
  readonly explicit?: string;
}

/** What of an element's computed style is asked for; to keep the whole of it costs much more. */
export interface Look {
  readonly display: string;
  readonly cursor: string;
  readonly pointerEvents: string;
}

/** What is known of the style of an element, and of all that have the same. */
export interface Style {
  readonly id?: number;
  isFaint?: boolean;
  clipPath?: string;
  overflow?: string;
  text?: "seen" | "unseen" | "like what is behind";
  background?: string;
}

const NO_NAMES: readonly string[] = [];

/**
 * What is known of an element. What is undefined nobody has asked for yet: each has a function that computes it, and whoever walks a tree
 * writes down what it knows already.
 */
export class Seen {
  /** The lower-case tag name. */
  readonly tag: string;
  readonly attributeNames: readonly string[];
  /** The parent in the flat tree. */
  parent: Seen | null | undefined = undefined;
  /** The parent element, or the host for the children of a shadow root. */
  owner: Seen | null | undefined = undefined;
  /** The document or shadow root that it is in. */
  root: Document | ShadowRoot | undefined = undefined;
  shadow: ShadowRoot | null | undefined = undefined;
  svg: boolean | undefined = undefined;
  look: Look | undefined = undefined;
  inLink: boolean | undefined = undefined;
  painted: boolean | undefined = undefined;
  visible: boolean | undefined = undefined;
  /** In the viewport, where it was looked at whether it is visible and what a person cannot see is marked. */
  box: readonly [x: number, y: number, width: number, height: number] | undefined = undefined;
  style: Style | undefined = undefined;
  unseen: boolean | undefined = undefined;
  away: boolean | undefined = undefined;
  cutter: Seen | null | undefined = undefined;
  role: string | null | undefined = undefined;
  stripped: string | undefined = undefined;
  table: Table | undefined = undefined;
  hidden: boolean | undefined = undefined;
  cutOff: boolean | undefined = undefined;
  disabled: boolean | undefined = undefined;
  name: Name | undefined = undefined;
  /** Its text, if it holds nothing else; else null. */
  text: string | null | undefined = undefined;
  /** The text of its content, where that is the same wherever it is read from. */
  content: Name | undefined = undefined;
  /** Its place in the tree that is told, once it has one. */
  place = -1;
  visited = false;

  constructor(readonly element: Element) {
    this.tag = element.localName;
    this.attributeNames = element.hasAttributes() ? element.getAttributeNames() : NO_NAMES;
  }

  /** Whether it has an attribute. Most have none of those that are asked for, and to ask the browser each time takes longest. */
  has(name: string): boolean {
    return this.attributeNames.length > 0 && this.attributeNames.includes(name);
  }

  /** The value of an attribute, null where there is none. */
  attribute(name: string): string | null {
    return this.has(name) ? this.element.getAttribute(name) : null;
  }
}

let callers = 0;
let all = new Map<Element, Seen>();
// Questions about one element and its parent mostly come one after the other.
let last: Seen | undefined;
let other: Seen | undefined;
const forgetful: (() => void)[] = [];

/** Runs a piece of work during which the page stands still. */
export function withCaches<T>(work: () => T): T {
  callers++;
  try {
    return work();
  } finally {
    if (!--callers) {
      all = new Map();
      last = other = undefined;
      for (const forget of forgetful) forget();
    }
  }
}

/** What is known of an element; outside `withCaches` it is a new record each time, which knows nothing yet. */
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

/** A function that remembers its answers for the length of `withCaches`, and computes afresh outside it. */
export function cached<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  // What is known of a root is asked for by one neighbour after the other.
  let lastKey: K | undefined;
  let lastAnswer: V | undefined;
  forgetful.push(() => {
    known.clear();
    lastKey = lastAnswer = undefined;
  });
  return (key) => {
    if (!callers) return compute(key);
    if (key === lastKey) return lastAnswer as V;
    let answer = known.get(key);
    if (answer === undefined) known.set(key, (answer = compute(key)));
    lastKey = key;
    lastAnswer = answer;
    return answer;
  };
}
