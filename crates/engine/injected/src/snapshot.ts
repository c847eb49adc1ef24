// What a snapshot is made of: the tree of roles, names and states of a document, as facts. Rust decides what of it is shown.

import { checkedOf, disabledOf, expandedOf, invalidOf, isStateful, levelOf, pressedOf, selectedOf } from "./aria/states";
import { isTextField, mayGenerate, pseudoText, references, shownValue, sourcedNameOf, type Name } from "./aria/names";
import { isHiddenForAria, isPresentational, roleOf } from "./aria/roles";
import { attributeOf, cached, displayOf, flatParent, isSlot, isVisible, lookOf, preview, rootOf, shadowRootOf, tagOf, withCaches } from "./dom";
import { coreIn, type Other } from "./frames";
import { held, keep, type Handle } from "./handles";

/** What there is to say of an element besides its role, its name and its ref. What is false or empty is left out. */
export interface Facts {
  checked?: true | "mixed";
  disabled?: true;
  expanded?: true;
  active?: true;
  invalid?: true | "grammar" | "spelling";
  level?: number;
  pressed?: true | "mixed";
  selected?: true;
  ariaHidden?: true;
  /** The cursor over it is a hand. */
  pointer?: true;
  url?: string;
  placeholder?: string;
  /** x, y, width and height in the viewport of its frame, rounded. */
  box?: number[];
  /** The element whose document belongs here. */
  frame?: Handle;
  /** The id of that frame, if its document is of the same origin and can be asked. */
  frameId?: string;
  /** The tree of that document, if it was asked. */
  content?: Entry[];
  /** The places, in the order of the tree, of the elements below that its name was read from. */
  sources?: number[];
  /** The name was read, among others, from a caption, legend or label of something below. */
  parts?: true;
}

/**
 * An element. The number of its children says how many of the entries that follow they are, where their own children stand between them;
 * -1 is one child, a text that is the element's name. A ref of 0 is none.
 */
export type Told = [role: string, name: string, ref: number, children: number, facts?: Facts];

/**
 * A text, or an element. Texts have their white space collapsed but not trimmed: two come together when what is between them is not shown.
 * A tree is the list of its entries, parents first, because JSON nested as deep as a page can be is refused by its readers.
 */
export type Entry = string | Told;

interface Known {
  readonly role: string;
  readonly name: string;
  readonly ref: number;
  readonly element: Element;
}

const known = new WeakMap<Element, Known>();
let lastRef = 0;
let current = new Map<number, Known>();
/** With so many, those that have left the document are forgotten. */
const CROWDED = 10_000;
let crowded = CROWDED;

/** The element of a ref, if the last snapshot showed it and it is still attached. */
export function elementOfRef(ref: string): Element | undefined {
  const number = /^(?:f\d+)?e(\d+)$/.exec(ref)?.[1];
  const e = number ? current.get(Number(number))?.element : undefined;
  return e?.isConnected ? e : undefined;
}

/** The element of a ref, as a locator finds it. */
export function byRef({ ref }: { ref: string }): { handle: Handle; preview: string } | null {
  const e = elementOfRef(ref);
  return e ? { handle: keep(e), preview: preview(e) } : null;
}

/**
 * The tree of the document's body, or of one element; null if that element has gone. Refs of a part add to those of the last whole.
 * `room`: how many characters it may have, roughly; a larger one is cut off there, and says so. Its frames share as much once more, and
 * have `frameRoom` each at least; those of the same origin that know our code are asked at once.
 */
export function snapshot(question: Question): Entry[] | null {
  const { root, boxes, room } = question;
  const from = root === undefined ? document.body : held(root);
  if (!from) return root === undefined ? [] : null;
  if (!from.isConnected) return null;
  if (root === undefined) current = new Map();
  const walk = new Walk(!!boxes, room);
  const entries = withCaches(() => walk.of(from));
  const { frames } = walk;
  const { depth = 0, frameRoom } = question;
  if (frameRoom && depth < DEEPEST_FRAME) {
    const below = { boxes, room: Math.max(Math.floor(room / frames.length), frameRoom), frameRoom, depth: depth + 1 };
    for (const { facts, core } of frames) {
      try {
        const content = core?.snapshot(below);
        if (content) facts.content = content;
      } catch {
        // It is asked alone.
      }
    }
  }
  return entries;
}

export interface Question {
  root?: Handle;
  boxes?: boolean;
  room: number;
  frameRoom?: number;
  /** How many frames are around it. */
  depth?: number;
}

/** Deeper than this, elements are no nodes of their own any more. */
const DEEPEST = 400;
/** Frames that are nested deeper are asked alone. */
const DEEPEST_FRAME = 10;
const TOO_DEEP = "… What is nested deeper is not shown. Take a snapshot of it alone.";
/** A text, name or address that is longer is cut off there. */
const LONGEST = 100_000;
/** What an element takes besides its texts. */
const NODE = 40;
const CUT_OFF = "… The page is too large: the rest is cut off. Take a snapshot of a part of it.";

type Child = string | Built;

/** Where in the tree a node of the document comes. */
interface Place {
  /** The role of what it is in. */
  readonly role: string;
  readonly into: Child[];
  /** Whether text there is told. */
  readonly readable: boolean;
  readonly depth: number;
}

interface Built {
  readonly role: string;
  readonly ref: number;
  readonly facts: Facts;
  readonly content: Child[];
  readonly name: Name;
  /** The place of the node in the tree, and of the first node after its end. */
  readonly place: number;
  end: number;
}

const isVisited = cached((_: Node): boolean => false);
const builtOf = cached((_: Element): Built | undefined => undefined);

class Walk {
  private readonly built: Built[] = [];
  private tooDeep = false;
  /** The frame elements, with our code in their documents. */
  readonly frames: { readonly facts: Facts; readonly core?: Other | undefined }[] = [];
  private readonly focused = document.hasFocus() ? document.activeElement : null;

  constructor(
    private readonly boxes: boolean,
    private room: number,
  ) {}

  of(root: Element): Entry[] {
    const top: Child[] = [];
    this.visit(root, { role: "", into: top, readable: true, depth: 0 });
    if (this.room < 0) top.push(" " + CUT_OFF);
    for (const built of this.built) this.resolve(built);
    const entries: Entry[] = [];
    list(top, entries);
    return entries;
  }

  private visit(node: Node, place: Place, under?: { parent: Element; root: Document | ShadowRoot }): void {
    if (this.room < 0) return;
    const type = node.nodeType;
    if (type === Node.TEXT_NODE) {
      // The text of an edited element is its value, which is not told: it may be a whole document.
      const text = place.readable && place.role !== "textbox" && node.nodeValue;
      if (text) this.text(text, place.into);
    } else if (type === Node.ELEMENT_NODE) {
      if (isVisited(node)) return;
      if (place.depth >= 2 * DEEPEST) {
        if (!this.tooDeep) place.into.push(TOO_DEEP);
        this.tooDeep = true;
        return;
      }
      isVisited.tell(node, true);
      if (under) {
        flatParent.tell(node, under.parent);
        rootOf.tell(node, under.root);
      }
      this.element(node as Element, place);
    }
  }

  private text(text: string, into: Child[]): void {
    this.room -= Math.min(text.length, LONGEST);
    into.push(text);
  }

  private element(e: Element, place: Place): void {
    const { role, into, depth } = place;
    const display = displayOf(e);
    if (display === "none") {
      into.push(" ");
      for (const owned of references(e, "aria-owns")) this.visit(owned, { ...place, readable: false });
      return;
    }
    const readable = !isHiddenForAria(e) || isVisible(e);
    const built = readable && depth < DEEPEST ? this.build(e) : undefined;
    if (built) {
      into.push(built);
      this.content(e, { role: built.role, into: built.content, readable, depth: depth + 1 });
      built.end = this.built.length;
      return;
    }
    const gap = display === "inline" ? "" : " ";
    if (gap) into.push(gap);
    this.content(e, { role, into, readable, depth: depth + 1 });
    if (gap) into.push(gap);
  }

  private content(e: Element, place: Place): void {
    if (isFrame(e)) return;
    const { into, readable } = place;
    const generates = readable && mayGenerate(e);
    if (generates) into.push(pseudoText(e, "::before"));
    const assigned = isSlot(e) ? e.assignedNodes() : [];
    if (assigned.length) {
      for (const child of assigned) this.visit(child, place);
    } else if (tagOf(e) !== "textarea") {
      const shadow = shadowRootOf(e);
      const here = { parent: e, root: rootOf(e) };
      for (let child = e.firstChild; child; child = child.nextSibling) {
        // What is slotted belongs to its slot.
        if (!shadow || !(child as Partial<Slottable>).assignedSlot) this.visit(child, place, here);
      }
      const inside = shadow && { parent: e, root: shadow };
      for (let child = shadow?.firstChild; inside && child; child = child.nextSibling) this.visit(child, place, inside);
    }
    for (const owned of references(e, "aria-owns")) this.visit(owned, place);
    if (!readable) return;
    if (generates) into.push(pseudoText(e, "::after"));
    if (isTextField(e) && !/^(checkbox|radio|file)$/.test(e.type)) this.text(shownValue(e), into);
  }

  private build(e: Element): Built | undefined {
    const frame = isFrame(e);
    const role = frame ? "iframe" : (roleOf(e) ?? "generic");
    if (isPresentational(role) || (role === "generic" && isRunOfText(e))) return undefined;
    const name: Name = frame ? { text: "", sources: [] } : sourcedNameOf(e);
    const facts: Facts = {};
    let ref = 0;
    this.room -= NODE + Math.min(name.text.length, LONGEST);
    if (isVisible(e) && (frame || lookOf(e).pointerEvents !== "none")) {
      ref = refTo(e, role, name.text);
      if (frame) {
        facts.frame = keep(e);
        const core = coreIn(e as HTMLIFrameElement);
        if (core) facts.frameId = core.frame;
        this.frames.push({ facts, core });
      }
      if (lookOf(e).cursor === "pointer") facts.pointer = true;
    }
    if (e === this.focused) facts.active = true;
    if (attributeOf(e, "aria-hidden")?.toLowerCase() === "true") facts.ariaHidden = true;
    if (this.boxes) {
      const { x, y, width, height } = e.getBoundingClientRect();
      facts.box = [x, y, width, height].map(Math.round);
    }
    if (!frame) describe(e, role, name.text, facts);
    const built: Built = { role, ref, facts, content: [], name, place: this.built.length, end: 0 };
    this.built.push(built);
    builtOf.tell(e, built);
    return built;
  }

  /** Says where in the tree the sources of a name are, as far as they are below it and can be referred to. */
  private resolve({ facts, name, place, end }: Built): void {
    if (!name.sources.length || end === place + 1) return;
    const places = new Set<number>();
    for (const source of name.sources) {
      if (source === "parts") {
        facts.parts = true;
        continue;
      }
      let e: Element | undefined = source;
      while (e && !builtOf(e)) e = flatParent(e);
      const below = e && builtOf(e);
      if (below && below.place > place && below.place < end && below.ref) places.add(below.place);
    }
    if (places.size) facts.sources = [...places];
  }
}

function isFrame(e: Element): boolean {
  const tag = tagOf(e);
  return tag === "iframe" || tag === "frame";
}

/** Whether an element is but a stretch of text in a line, as `<b>` and `<span>` mostly are. */
function isRunOfText(e: Element): boolean {
  return e.childNodes.length === 1 && e.firstChild?.nodeType === Node.TEXT_NODE && /^(inline|contents)$/.test(displayOf(e));
}

/** The ref of an element, whether or not the last snapshot showed it; it is good as long as that one's are. */
export function refTo(e: Element, role: string, name: string): number {
  let entry = known.get(e);
  if (entry?.role !== role || entry.name !== name) known.set(e, (entry = { role, name, ref: ++lastRef, element: e }));
  current.set(entry.ref, entry);
  if (current.size > crowded) {
    for (const [ref, { element }] of current) if (!element.isConnected) current.delete(ref);
    crowded = Math.max(CROWDED, 2 * current.size);
  }
  return entry.ref;
}

function describe(e: Element, role: string, name: string, facts: Facts): void {
  if (isStateful(role)) {
    const checked = checkedOf(e);
    if (checked) facts.checked = checked;
    if (disabledOf(e)) facts.disabled = true;
    // An open `details` shows what it holds; it needs no word.
    if (role !== "group" && expandedOf(e)) facts.expanded = true;
    const invalid = invalidOf(e);
    if (invalid) facts.invalid = invalid;
    const level = levelOf(e);
    if (level) facts.level = level;
    const pressed = pressedOf(e);
    if (pressed) facts.pressed = pressed;
    if (selectedOf(e)) facts.selected = true;
  }
  const url = role === "link" ? attributeOf(e, "href") : null;
  if (url !== null) facts.url = bounded(shortened(url));
  if (role === "textbox") {
    const placeholder = attributeOf(e, "placeholder");
    if (placeholder && placeholder !== name) facts.placeholder = bounded(placeholder);
  }
}

function bounded(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function shortened(url: string): string {
  const comma = url.startsWith("data:") ? url.indexOf(",") : -1;
  return comma < 0 ? url : url.slice(0, comma + 1) + "…";
}

function isEmpty(facts: Facts): boolean {
  for (const _ in facts) return false;
  return true;
}

const UNEVEN = /[^\S ]|[\u200b\u00ad]| {2}/;

/** Lists the children and all below them; joins neighbouring texts, collapses their white space, leaves out what is empty. Says how many children there are. */
function list(children: Child[], entries: Entry[]): number {
  let count = 0;
  let text = "";
  const flush = (): void => {
    if (UNEVEN.test(text)) text = text.replace(/[\u200b\u00ad]/g, "").replace(/\s+/g, " ");
    if (text) count = (entries.push(bounded(text)), count + 1);
    text = "";
  };
  for (const child of children) {
    if (typeof child === "string") {
      text += child;
    } else {
      flush();
      count++;
      const told: Told = [child.role, bounded(child.name.text), child.ref, 0];
      if (!isEmpty(child.facts)) told.push(child.facts);
      const before = entries.push(told);
      told[3] = list(child.content, entries);
      if (entries.length === before + 1 && entries[before] === told[1]) {
        entries.pop();
        told[3] = -1;
      }
    }
  }
  flush();
  return count;
}
