// What a snapshot is made of: the tree of roles, names and states of a document, as facts. Rust decides what of it is shown.

import { isStateful, itIsDisabled, itsChecked, itsExpanded, itsInvalid, itsLevel, itsPressed, itsSelected } from "./aria/states";
import { mayGenerate, textAfter, textBefore } from "./aria/generated";
import { itsName, references } from "./aria/names";
import { isPresentational, itIsHidden, itsRole } from "./aria/roles";
import { itIsSlot, itIsVisible, itsField, itsLook, marking, itsParent, itsRoot, itsShadow, squash } from "./dom";
import { coreIn, type Home, type Other } from "./frames";
import { itIsAway, itIsUnseen, itsNameDiffers, itsTextIsUnseen, MARK } from "./hidden";
import { held, keep, type Handle } from "./handles";
import { isPassword, marked } from "./passwords";
import { boundTo, isFrame, labelOf, refTo, renew } from "./refs";
import { seen, withCaches, type Name, type Seen } from "./seen";

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
  /** A person sees nothing of it, or reads something else than its name. */
  unseen?: true;
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

/** Our code in this document. */
export const home: Home = {
  // A window may outlive its first document.
  get document() {
    return document;
  },
  keep,
  refTo,
  renew,
};

/**
 * The tree of the document's body, or of one element; null if that element has gone.
 * `room`: how many characters it may have, roughly; a larger one is cut off there, and says so. Its frames share as much once more, and
 * have `frameRoom` each at least; those of the same origin that know our code are walked at once.
 */
export function snapshot(question: Question): Entry[] | null {
  const { root } = question;
  const from = root === undefined ? document.body : held(root);
  if (!from) return root === undefined ? [] : null;
  if (!from.isConnected) return null;
  home.renew();
  return marking(question.marks, () => withCaches(() => treeOf(from, home, question, 0)));
}

export interface Question {
  root?: Handle;
  boxes?: boolean;
  room: number;
  frameRoom?: number;
  /** What a person cannot see is marked. */
  marks?: boolean;
}

function treeOf(from: Element, where: Home, question: Question, depth: number): Entry[] {
  const { room, frameRoom } = question;
  const walk = new Walk(where, question, room);
  const entries = walk.of(from);
  const { frames } = walk;
  if (!frameRoom || depth >= DEEPEST_FRAME) return entries;
  const share = Math.max(Math.floor(room / frames.length), frameRoom);
  for (const { facts, core } of frames) {
    if (!core) continue;
    try {
      core.renew();
      const { body } = core.document;
      facts.content = body ? treeOf(body, core, { ...question, room: share }, depth + 1) : [];
    } catch {
      // It is asked alone.
    }
  }
  return entries;
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
  /** What it is in that has a name. */
  readonly named?: Built | undefined;
}

interface Built {
  readonly role: string;
  readonly ref: number;
  readonly facts: Facts;
  readonly content: Child[];
  readonly name: Name;
  /** Nothing of it can be seen, which the mark on its name says. */
  unseen?: boolean;
  /** The place of the node in the tree, and of the first node after its end. */
  readonly place: number;
  end: number;
  /** The nearest element around it with a name. */
  readonly outer: Built | undefined;
  /** The role and name, computed on demand. */
  label?: string;
}

class Walk {
  private readonly built: Built[] = [];
  private tooDeep = false;
  /** The frame elements, with our code in their documents. */
  readonly frames: { readonly facts: Facts; readonly core?: Other | undefined }[] = [];
  private readonly focused: Element | null;
  /** Where the last unseen text stands. */
  private lastMarked: { into?: Child[]; length: number } = { length: 0 };

  constructor(
    private readonly home: Home,
    private readonly question: Question,
    private room: number,
  ) {
    const { document } = home;
    this.focused = document.hasFocus() ? document.activeElement : null;
  }

  of(root: Element): Entry[] {
    const top: Child[] = [];
    this.visit(root, { role: "", into: top, readable: true, depth: 0 });
    if (this.room < 0) top.push(" " + CUT_OFF);
    for (const built of this.built) {
      if (built.name.sources.length && built.end !== built.place + 1) this.resolve(built);
    }
    const entries: Entry[] = [];
    list(top, entries);
    return entries;
  }

  /** A node, with what is above it where that is known. */
  private visit(node: Node, place: Place, owner?: Seen, root?: Document | ShadowRoot): void {
    if (this.room < 0) return;
    const type = node.nodeType;
    if (type === Node.TEXT_NODE) {
      // The text of an edited element is its value, which is not told: it may be a whole document.
      const text = place.readable && place.role !== "textbox" && node.nodeValue;
      if (text) this.said(text, place, owner ?? (node.parentElement && seen(node.parentElement)));
    } else if (type === Node.ELEMENT_NODE) {
      const it = seen(node as Element);
      if (it.visited) return;
      if (place.depth >= 2 * DEEPEST) {
        if (!this.tooDeep) place.into.push(TOO_DEEP);
        this.tooDeep = true;
        return;
      }
      it.visited = true;
      if (owner) {
        it.parent = it.owner = owner;
        it.root = root;
      }
      this.element(it, place);
    }
  }

  /** A text of the page, with a mark before it where that is wanted and a person does not see it. */
  private said(text: string, { into, named }: Place, owner: Seen | null, pseudo?: string): void {
    if (this.question.marks && owner && /\S/.test(text) && itsTextIsUnseen(owner, pseudo)) {
      const by = named?.name.text.includes(squash(text)) && named;
      if (by) by.facts.unseen = true;
      // biome-ignore lint/complexity/useOptionalChain: `false` has no member.
      if (!by || !by.unseen) text = this.marked(text, into);
    }
    this.text(text, into);
  }

  /** An unseen text with a mark before it, unless it goes on with one that has it. */
  private marked(text: string, into: Child[]): string {
    const goesOn = this.lastMarked.into === into && this.lastMarked.length === into.length;
    this.lastMarked = { into, length: into.length + 1 };
    return goesOn ? text : text.replace(/^\s*/, ` ${MARK} `);
  }

  private text(text: string, into: Child[]): void {
    this.room -= Math.min(text.length, LONGEST);
    into.push(text);
  }

  private element(it: Seen, place: Place): void {
    const { role, into, depth } = place;
    const { display } = itsLook(it);
    if (display === "none") {
      into.push(" ");
      for (const owned of references(it, "aria-owns")) this.visit(owned, { ...place, readable: false });
      return;
    }
    const readable = !itIsHidden(it) || itIsVisible(it);
    const built = readable && depth < DEEPEST ? this.build(it, place.named) : undefined;
    if (built) {
      into.push(built);
      // What has no name may not be shown itself: there each text is marked.
      const { text } = built.name;
      if (text && this.question.marks) {
        built.unseen = itIsUnseen(it) || itIsAway(it);
        if (built.unseen || itsNameDiffers(it, text)) built.facts.unseen = true;
      }
      this.content(it, { role: built.role, into: built.content, readable, depth: depth + 1, named: text ? built : place.named });
      built.end = this.built.length;
      return;
    }
    const gap = display === "inline" ? "" : " ";
    if (gap) into.push(gap);
    this.content(it, { role, into, readable, depth: depth + 1, named: place.named });
    if (gap) into.push(gap);
  }

  private content(it: Seen, place: Place): void {
    if (isFrame(it)) return;
    const { element: e, tag } = it;
    const { readable } = place;
    const root = itsRoot(it);
    const generates = readable && mayGenerate(root);
    if (generates) this.said(textBefore(it), place, it, "::before");
    const assigned = itIsSlot(it) ? (e as HTMLSlotElement).assignedNodes() : undefined;
    if (assigned?.length) {
      for (const child of assigned) this.visit(child, place);
    } else if (tag !== "textarea") {
      const shadow = itsShadow(it);
      for (let child = e.firstChild; child; child = child.nextSibling) {
        // What is slotted belongs to its slot.
        if (!shadow || !(child as Partial<Slottable>).assignedSlot) this.visit(child, place, it, root);
      }
      for (let child = shadow?.firstChild; shadow && child; child = child.nextSibling) this.visit(child, place, it, shadow);
    }
    if (it.attributeNames.length) for (const owned of references(it, "aria-owns")) this.visit(owned, place);
    if (!readable) return;
    if (generates) this.said(textAfter(it), place, it, "::after");
    const field = itsField(it);
    if (field && !/^(checkbox|radio|file)$/.test(field.type)) this.said(isPassword(field) ? marked(field.value) : field.value, place, it);
  }

  private build(it: Seen, outer: Built | undefined): Built | undefined {
    const { element: e } = it;
    const frame = isFrame(it);
    const role = frame ? "iframe" : (itsRole(it) ?? "generic");
    if (isPresentational(role) || (role === "generic" && !it.ignored && isRunOfText(it))) return undefined;
    const name = itsName(it);
    const facts: Facts = {};
    let ref = 0;
    this.room -= NODE + Math.min(name.text.length, LONGEST);
    const { cursor, pointerEvents } = itsLook(it);
    if (itIsVisible(it) && (frame || pointerEvents !== "none")) {
      ref = this.home.refTo(e, role, name.text, boundTo(it, role, name), labelAround(outer, name.text));
      if (frame) {
        facts.frame = this.home.keep(e);
        const core = coreIn(e as HTMLIFrameElement);
        if (core) facts.frameId = core.frame;
        this.frames.push({ facts, core });
      }
      if (cursor === "pointer") facts.pointer = true;
    }
    if (e === this.focused) facts.active = true;
    if (it.attributeNames.length && it.attribute("aria-hidden")?.toLowerCase() === "true") facts.ariaHidden = true;
    if (this.question.boxes) {
      const { x, y, width, height } = e.getBoundingClientRect();
      facts.box = [x, y, width, height].map(Math.round);
    }
    if (!frame && isStateful(role)) addStates(it, role, facts);
    if (!frame && it.attributeNames.length) addAttributes(it, role, name.text, facts);
    it.place = this.built.length;
    const built: Built = { role, ref, facts, content: [], name, place: it.place, end: 0, outer };
    this.built.push(built);
    return built;
  }

  /** Says where in the tree the sources of a name are, as far as they are below it and can be referred to. */
  private resolve({ facts, name, place, end }: Built): void {
    const places = new Set<number>();
    for (const source of name.sources) {
      if (source === "parts") {
        facts.parts = true;
        continue;
      }
      let it: Seen | null = source;
      while (it && it.place < 0) it = itsParent(it);
      if (it && it.place > place && it.place < end && this.built[it.place]?.ref) places.add(it.place);
    }
    if (places.size) facts.sources = [...places];
  }
}

/** Returns the role and name of the nearest element around it with another name. */
function labelAround(outer: Built | undefined, name: string): string {
  while (outer?.name.text === name) outer = outer.outer;
  if (!outer) return "";
  return outer.label ?? (outer.label = labelOf(outer.role, outer.name.text));
}

/** Whether an element is but a stretch of text in a line, as `<b>` and `<span>` mostly are. */
function isRunOfText(it: Seen): boolean {
  const { display } = itsLook(it);
  if (display !== "inline" && display !== "contents") return false;
  const first = it.element.firstChild;
  return first?.nodeType === Node.TEXT_NODE && !first.nextSibling;
}

function addStates(it: Seen, role: string, facts: Facts): void {
  const checked = itsChecked(it);
  if (checked) facts.checked = checked;
  if (itIsDisabled(it)) facts.disabled = true;
  // An open `details` shows what it holds; it needs no word.
  if (role !== "group" && itsExpanded(it)) facts.expanded = true;
  const level = itsLevel(it);
  if (level) facts.level = level;
  if (itsSelected(it)) facts.selected = true;
  if (!it.attributeNames.length) return;
  const invalid = itsInvalid(it);
  if (invalid) facts.invalid = invalid;
  const pressed = itsPressed(it);
  if (pressed) facts.pressed = pressed;
}

function addAttributes(it: Seen, role: string, name: string, facts: Facts): void {
  const url = role === "link" ? it.attribute("href") : null;
  if (url !== null) facts.url = bounded(shortened(url));
  if (role === "textbox") {
    const placeholder = it.attribute("placeholder");
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
  for (const child of children) {
    if (typeof child === "string") {
      text += child;
      continue;
    }
    if (text) count += tell(text, entries);
    text = "";
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
  return text ? count + tell(text, entries) : count;
}

function tell(text: string, entries: Entry[]): number {
  const even = UNEVEN.test(text) ? text.replace(/[\u200b\u00ad]/g, "").replace(/\s+/g, " ") : text;
  if (!even) return 0;
  entries.push(bounded(even));
  return 1;
}
