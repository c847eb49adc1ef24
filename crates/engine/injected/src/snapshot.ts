// The accessibility tree of a document with roles, names, states and refs. The engine formats it as a snapshot.

import {
  isStateful,
  isDisabled,
  checkedState,
  expandedState,
  invalidState,
  levelOf,
  hasUnsupported,
  pressedState,
  rangeValue,
  selectedState,
} from "./aria/states";
import { mayGenerate, textAfter, textBefore } from "./aria/generated";
import { NAME_FROM_CONTENT, NAMELESS, references } from "./aria/names";
import { dayOf } from "./calendar";
import { ignoringCovers, isCover, isHidden, isPresentational } from "./aria/roles";
import { boxOf, isSlot, isVisible, inputOf, styleOf, marking, parentOf, rootOf, shadowRootOf, slotOf, squash } from "./dom";
import { drawingOf, isDrawnByOthers, isUnreachableField, isUsedByKeyboard, isValueDrawn } from "./drawn";
import { coreIn, type Home, type Other } from "./frames";
import { isAway, isUnseen, hasMisleadingName, isTextUnseen, MARK } from "./hidden";
import { held, keep, type Handle } from "./handles";
import { actionOf, isEditingHost } from "./interactive";
import { isPassword, marked } from "./passwords";
import { recordLooks } from "./looks";
import { bindRows, boundTo, hasRef, keepRef, labelOf, refTo, renew } from "./refs";
import { recordHost } from "./hosts";
import { seen, withCaches, type Box, type Seen } from "./seen";
import { childrenAsPlaced } from "./placed";
import { isComplete, isFrame, setComplete, shownName, shownRole } from "./shown";
import { bounded, flagsOf, isPlacedIn, list, MAX_TEXT, type Child, type Entry, type Facts, type Position, type TreeNode } from "./tree";
import {
  checksOf,
  forgetNodes,
  isOther,
  isVolatile,
  keepNodes,
  UNCHECKED,
  unchangedSince,
  type Checked,
  type Unchanged,
} from "./unchanged";

/** The injected script of this document. */
export const home: Home = {
  // A window can outlive its first document.
  get document() {
    return document;
  },
  keep,
  refTo,
  renew: (complete) => {
    setComplete(complete);
    renew();
  },
  bindRows,
};

/**
 * Returns the tree of the body of the document, or of one element; null if that element was removed. It has approximately `room` characters
 * at most; if it is cut, a text says so. The documents of its frames share the same number again, with a minimum of `frameRoom` for each.
 * Documents of frames whose script can be called are included.
 */
export function snapshot(question: Question): Entry[] | null {
  const { root } = question;
  setComplete(!!question.complete);
  const from = root === undefined ? bodyOf(document) : held(root);
  if (!from) return root === undefined ? [] : null;
  if (!from.isConnected) return null;
  home.renew(isComplete());
  const read = (): Entry[] => treeOf(from, home, question, 0);
  return marking(question.marks, () => withCaches(() => ignoringCovers(isComplete(), read)));
}

/** Returns the body, or the root element of a document without one, such as SVG. */
function bodyOf({ body, documentElement }: Document): Element | null {
  return body ?? (isComplete() ? documentElement : null);
}

export interface Question {
  root?: Handle;
  /** Whether the tree has everything that a person can act on, also where `@playwright/mcp` does not show it. */
  complete?: boolean;
  boxes?: boolean;
  /** Whether the elements in the viewport have their boxes. */
  view?: boolean;
  room: number;
  frameRoom?: number;
  /** Whether text that a user cannot see is marked. */
  marks?: boolean;
  /** Whether the looks of the elements are recorded. */
  transients?: boolean;
  /** Whether nodes of the last snapshot are used again; undefined if this snapshot is not kept for the next one. */
  incremental?: boolean;
}

function treeOf(from: Element, own: Home, question: Question, depth: number): Entry[] {
  const { room, frameRoom } = question;
  const { incremental } = question;
  const isWhole = own === home && isComplete() && incremental !== undefined && !question.boxes;
  const kind = String(!!question.marks);
  const before = isWhole && incremental ? attempt(() => unchangedSince<TreeNode>(from, kind)) : undefined;
  const builder = new TreeBuilder(own, question, room, isWhole, before);
  const entries = builder.tree(from);
  if (isWhole) bindRows(before?.isChanged);
  else own.bindRows();
  if (isWhole && builder.isEntire) attempt(() => keepNodes({ ...builder.reading, from, question: kind }));
  else if (own === home && question.root === undefined) forgetNodes();
  if (question.transients && !depth) recordLooks(builder.shown);
  const { frames } = builder;
  if (!frameRoom || depth >= MAX_FRAME_DEPTH) return entries;
  const share = Math.max(Math.floor(room / frames.length), frameRoom);
  for (const { facts, core } of frames) {
    if (!core) continue;
    try {
      core.renew(isComplete());
      const body = bodyOf(core.document);
      facts.content = body ? treeOf(body, core, { ...question, room: share }, depth + 1) : [];
    } catch {
      // The engine reads the document of this frame separately.
    }
  }
  return entries;
}

/** Returns the result of a function; undefined if it fails, as a page can replace what it calls. Nothing is used again then. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    forgetNodes();
    return undefined;
  }
}

/** The maximum depth of elements. The content of deeper ones is added to their ancestor. */
const MAX_DEPTH = 400;
/** The maximum depth of frames that are included. */
const MAX_FRAME_DEPTH = 10;
const TOO_DEEP = "… What is nested deeper is not shown. Take a snapshot of it alone.";
/** The number of characters of an element besides its texts. */
const ELEMENT_SIZE = 40;
const CUT_OFF = "… The page is too large: the rest is cut off. Take a snapshot of a part of it.";

class TreeBuilder {
  private readonly nodes: TreeNode[] = [];
  private tooDeep = false;
  /** The elements with a ref, with their boxes. */
  readonly shown: { readonly element: Element; readonly box: Box | undefined }[] = [];
  /** The frame elements, with the scripts of their documents. */
  readonly frames: { readonly facts: Facts; readonly core?: Other | undefined }[] = [];
  private readonly focused: Element | null;
  /** The height of the viewport. */
  private readonly height: number;
  /** The position of the last invisible text. */
  private lastMarked: { into?: Child[]; length: number } = { length: 0 };

  constructor(
    private readonly home: Home,
    private readonly question: Question,
    private budget: number,
    /** Whether the nodes are kept for the next snapshot. */
    private readonly isKept: boolean,
    private readonly before: Unchanged<TreeNode> | undefined,
  ) {
    const { document } = home;
    this.focused = document.hasFocus() ? document.activeElement : null;
    this.height = document.defaultView?.innerHeight ?? 0;
  }

  /** What the next snapshot must know to use nodes again. */
  readonly reading = {
    nodes: this.nodes,
    others: [] as Checked[],
    volatile: new Set<Element>(),
    roots: [document] as (Document | ShadowRoot)[],
  };

  /** Whether everything is in the tree. */
  get isEntire(): boolean {
    return this.budget >= 0 && !this.tooDeep;
  }

  tree(root: Element): Entry[] {
    const top: Child[] = [];
    this.visit(root, { role: "", into: top, readable: true, depth: 0 });
    if (this.budget < 0) top.push(" " + CUT_OFF);
    for (const node of this.nodes) {
      if (node.name.sources.length && node.end !== node.index + 1) this.sources(node);
      if (node.sources) node.facts.sources = node.sources.map(({ index }) => index);
      node.name = { text: node.name.text, sources: NAMELESS.sources };
    }
    const entries: Entry[] = [];
    list(top, entries);
    return entries;
  }

  /** Adds a DOM node. `owner` and `root` are its parent or host and its root, if the caller has them. */
  private visit(node: Node, position: Position, owner?: Seen, root?: Document | ShadowRoot): void {
    if (this.budget < 0) return;
    const type = node.nodeType;
    if (type === Node.TEXT_NODE) {
      const text = position.readable && (position.role !== "textbox" || isComplete()) && node.nodeValue;
      // The text in a slot has the style of the slot, and is in front of what is around that.
      const around = owner ? null : (slotOf(node) ?? node.parentElement);
      const of = owner ?? (around && seen(around));
      const isClosed = of?.tag === "details" && !(of.element as HTMLDetailsElement).open;
      if (text && !isClosed) this.text(text, position, of);
    } else if (type === Node.ELEMENT_NODE) {
      const kept = this.before && this.nodeOf(node as Element, this.before, position);
      if (kept) {
        this.use(kept, position);
        return;
      }
      const it = seen(node as Element);
      if (it.visited) return;
      if (position.depth >= 2 * MAX_DEPTH) {
        if (!this.tooDeep) position.into.push(TOO_DEEP);
        this.tooDeep = true;
        return;
      }
      it.visited = true;
      if (owner) {
        it.parent = it.owner = owner;
        it.root = root;
      }
      this.element(it, position);
    }
  }

  /** Returns the node of the last snapshot for an element, if it is the same at its position now. */
  private nodeOf(e: Element, { nodeOf }: Unchanged<TreeNode>, position: Position): TreeNode | undefined {
    if (position.isChanged) return undefined;
    const node = nodeOf(e);
    if (!node || node.size > this.budget || !isPlacedIn(node, position)) return undefined;
    return node.box && isOther(node.box, e.getBoundingClientRect()) ? undefined : node;
  }

  /** Adds a node of the last snapshot with those in it. */
  private use(node: TreeNode, { into, named }: Position): void {
    this.budget -= node.size;
    into.push(node);
    this.add(node, named);
  }

  private add(node: TreeNode, named: TreeNode | undefined): void {
    node.index = this.nodes.length;
    node.outer = named;
    node.label = undefined;
    this.nodes.push(node);
    if (node.ref) {
      keepRef(node.element);
      this.shown.push(node);
    }
    for (const child of node.content) if (typeof child !== "string") this.add(child, node.name.text ? node : named);
    node.end = this.nodes.length;
  }

  /** Adds a text of the page, with a mark if invisible text is marked and this text is invisible. */
  private text(text: string, { into, named, isInLabel, isInAriaHidden, isInDrawn }: Position, owner: Seen | null, pseudo?: string): void {
    if (isInLabel) return;
    if (isInAriaHidden && named && owner && isComplete() && isIconFont(owner)) return;
    if (this.question.marks && owner && !isInDrawn && /[^\s\u200b\u00ad]/.test(text) && isTextUnseen(owner, pseudo)) {
      if (isInAriaHidden || (isComplete() && SEPARATOR.test(text))) return;
      const inName = named?.name.text.includes(squash(text)) && named;
      // The text changes what is shown of another element.
      if (inName) this.reading.volatile.add(owner.element);
      if (inName && isComplete() && !inName.unseen) {
        // What an attribute says is not repeated. Other names are not shown if their content is, with marks.
        if (!inName.isFromContent) return;
        inName.isNameInContent = true;
      } else if (inName) {
        inName.facts.unseen = true;
      }
      // biome-ignore lint/complexity/useOptionalChain: `false` has no member.
      if (!inName || !inName.unseen) text = this.marked(text, into);
    }
    this.append(text, into);
  }

  /** Returns an invisible text with a mark, unless it directly follows another one. */
  private marked(text: string, into: Child[]): string {
    const continues = this.lastMarked.into === into && this.lastMarked.length === into.length;
    this.lastMarked = { into, length: into.length + 1 };
    return continues ? text : text.replace(/^\s*/, ` ${MARK} `);
  }

  /** Returns whether a text is in the content that is read so far, without a mark. */
  private shows(content: Child[], text: string): boolean {
    return content.some((child) => {
      if (typeof child !== "string") return this.shows(child.content, text);
      return !child.includes(MARK) && withoutSpace(child).includes(withoutSpace(text));
    });
  }

  private append(text: string, into: Child[]): void {
    this.budget -= Math.min(text.length, MAX_TEXT);
    into.push(text);
  }

  private element(it: Seen, position: Position): void {
    const { role, into, depth } = position;
    const { display } = styleOf(it);
    if (this.isKept && isVolatile(it)) this.reading.volatile.add(it.element);
    const isDrawn = isComplete() && !!drawingOf(it);
    if (isComplete() && isUnreachableField(it)) return;
    if (display === "none" && !isDrawn) {
      this.addOther(it, position);
      into.push(" ");
      for (const owned of references(it, "aria-owns")) this.visit(owned, { ...position, readable: false });
      return;
    }
    const isCovered = isComplete() && (position.isCovered || isCover(it));
    const isInAriaHidden = isComplete() && (position.isInAriaHidden || (isAriaHidden(it) && !isCover(it)));
    if (isInAriaHidden && !isDrawn && display !== "contents" && isUnseen(it) && !isDrawnByOthers(it)) {
      this.addOther(it, position);
      return;
    }
    const readable = isDrawn || !isHidden(it) || isVisible(it);
    const isInLabel = isComplete() && (it.tag === "label" ? isLabelOfName(it) : !!position.isInLabel);
    const { budget, before } = this;
    const isChanged = position.isChanged || before?.isChangedInside(it.element);
    const node = readable && depth < MAX_DEPTH ? this.build(it, position, isDrawn, isCovered) : undefined;
    if (node) {
      into.push(node);
      // An element without a name can be omitted, so its texts are marked instead.
      const { text } = node.name;
      if (text && this.question.marks) {
        node.unseen = !position.isInDrawn && (isUnseen(it) || isAway(it)) && !isDrawnByOthers(it);
        if (node.unseen || hasMisleadingName(it, text)) node.facts.unseen = true;
      }
      this.content(it, {
        role: node.role,
        into: node.content,
        readable,
        depth: depth + 1,
        named: text ? node : position.named,
        isInLabel: isInLabel && (node.role === "generic" || node.role === "paragraph") && !text,
        isInAriaHidden,
        isInDrawn: position.isInDrawn || (it.tag === "select" && this.question.marks && isUnseen(it) && isDrawnByOthers(it)),
        isCovered,
        hasDay: position.hasDay || !!node.facts.day,
        around: node,
        isChanged,
      });
      if (node.isNameInContent && ICONS.has(node.role) && !hasVisibleText(node.content)) {
        node.isNameInContent = false;
        removeTexts(node.content);
      }
      node.end = this.nodes.length;
      node.size = budget - this.budget;
      return;
    }
    this.addOther(it, position);
    const gap = display === "inline" && !(isComplete() && it.tag === "br") ? "" : " ";
    if (gap) into.push(gap);
    const { named, hasDay, around } = position;
    const within = { named, isInLabel, isInAriaHidden, isCovered, hasDay, around, isChanged };
    this.content(it, { role, into, readable, depth: depth + 1, ...within });
    if (gap) into.push(gap);
  }

  /** Remembers an element without a node. */
  private addOther(it: Seen, { around }: Position): void {
    if (!this.isKept) return;
    const holder = around ?? this.reading;
    (holder.others ??= []).push({ element: it.element, ref: 0, checks: checksOf(it) });
  }

  private content(it: Seen, position: Position): void {
    if (isFrame(it)) return;
    const { element: e, tag } = it;
    const { readable } = position;
    const root = rootOf(it);
    const generates = readable && mayGenerate(root);
    if (generates) this.text(textBefore(it), position, it, "::before");
    const assigned = isSlot(it) ? (e as HTMLSlotElement).assignedNodes() : undefined;
    if (assigned?.length) {
      for (const child of assigned) this.visit(child, position);
    } else if (tag !== "textarea") {
      const shadow = shadowRootOf(it);
      if (shadow) this.reading.roots.push(shadow);
      const placed = isComplete() && !shadow ? childrenAsPlaced(it) : undefined;
      for (const child of placed ?? []) this.visit(child, position, it, root);
      for (let child = placed ? null : e.firstChild; child; child = child.nextSibling) {
        // Slotted nodes are added with their slot.
        if (!shadow || !slotOf(child)) this.visit(child, position, it, root);
      }
      for (let child = shadow?.firstChild; shadow && child; child = child.nextSibling) this.visit(child, position, it, shadow);
    }
    if (it.attributeNames.length) for (const owned of references(it, "aria-owns")) this.visit(owned, position);
    if (!readable) return;
    if (generates) this.text(textAfter(it), position, it, "::after");
    const field = inputOf(it);
    if (field && !/^(checkbox|radio|file)$/.test(field.type)) {
      const value = isPassword(field) ? marked(field.value) : field.value;
      if (isValueDrawn(it, value)) this.append(value, position.into);
      else this.text(value, position, it);
    } else if (isComplete() && !field) {
      const value = rangeValue(it);
      if (value && !this.shows(position.into, value)) this.append(` ${value}`, position.into);
    }
  }

  private build(it: Seen, position: Position, isDrawn: boolean, isCovered: boolean): TreeNode | undefined {
    const { element: e } = it;
    const { named: outer, isInLabel, hasDay } = position;
    const frame = isFrame(it);
    const role = shownRole(it);
    const own = isComplete() && !frame ? actionOf(it) : undefined;
    // A click on a part of a label is one on its control.
    const action = isInLabel && own !== "own" && role === "generic" && /\S/.test(e.textContent ?? "") ? undefined : own;
    if (isComplete() && role === "generic" && (it.tag.includes("-") || isEmptyElement(it))) recordHost(it);
    if (isPresentational(role) || (!isComplete() && role === "generic" && !it.ignored && isInlineText(it))) return undefined;
    const name = shownName(it);
    if (isComplete() && !action && !name.text && isTransparent(it, role)) return undefined;
    const facts: Facts = {};
    let ref = 0;
    this.budget -= ELEMENT_SIZE + Math.min(name.text.length, MAX_TEXT);
    const { cursor, pointerEvents } = styleOf(it);
    // Some overlays take the pointer from the rest of the page.
    const isReached =
      frame || pointerEvents !== "none" || ((isCovered || isLocked(it)) && hasRef(e)) || (isComplete() && isUsedByKeyboard(it, role));
    if (isDrawn || (isVisible(it) && isReached)) {
      this.shown.push({ element: e, box: it.box });
      ref = this.home.refTo(e, role, name.text, boundTo(it, role, name), labelAround(outer, name.text));
      if (frame) {
        facts.frame = this.home.keep(e);
        const core = coreIn(e as HTMLIFrameElement);
        if (core) facts.frameId = core.frame;
        this.frames.push({ facts, core });
      }
      if (action) facts.action = action;
      const day = isComplete() && !hasDay && (action || name.text) ? dayOf(it) : "";
      if (day) facts.day = day;
      else if (cursor === "pointer" && !isComplete()) facts.pointer = true;
    }
    if (action === "own" && role !== "textbox" && isEditingHost(it)) facts.editable = true;
    if (e === this.focused) facts.active = true;
    if (isAriaHidden(it)) facts.ariaHidden = true;
    if (isComplete() && it.has("inert")) facts.inert = true;
    if (isComplete() && isCover(it)) facts.covers = true;
    if (this.question.boxes) {
      const { x, y, width, height } = e.getBoundingClientRect();
      facts.box = [x, y, width, height].map(Math.round);
    } else if (this.question.view || this.isKept) {
      const box = boxOf(it);
      if (box && box[1] < this.height && box[1] + box[3] > 0) facts.box = box.map(Math.round);
    }
    if (!frame && isStateful(role)) addStates(it, role, facts);
    if (!frame && isComplete() && it.attributeNames.length) addWrittenStates(it, facts);
    if (!frame && it.attributeNames.length) addAttributes(it, role, name.text, facts);
    it.index = this.nodes.length;
    const isFromContent = NAME_FROM_CONTENT.has(role) && !it.has("aria-label") && !references(it, "aria-labelledby").length;
    const node: TreeNode = {
      element: e,
      role,
      ref,
      facts,
      content: [],
      name,
      isFromContent,
      index: it.index,
      end: 0,
      size: 0,
      outer,
      box: it.box,
      checks: this.isKept ? checksOf(it) : UNCHECKED,
      parentRole: position.role,
      flags: flagsOf(position),
    };
    if (facts.day) this.reading.volatile.add(e);
    this.nodes.push(node);
    return node;
  }

  /** Adds the indices of the sources of a name that are descendants with a ref. */
  private sources(node: TreeNode): void {
    const { facts, name, index, end } = node;
    const sources = new Set<TreeNode>();
    for (const source of name.sources) {
      if (source === "parts") {
        facts.parts = true;
        continue;
      }
      let it: Seen | null = source;
      let found = this.builtFor(it);
      while (!found && (it = parentOf(it))) found = this.builtFor(it);
      if (found && found.index > index && found.index < end && found.ref) sources.add(found);
    }
    if (sources.size) node.sources = [...sources];
  }

  /** Returns the node of an element in this tree. */
  private builtFor({ index, element }: Seen): TreeNode | undefined {
    if (index >= 0) return this.nodes[index];
    const node = this.before?.nodeOf(element);
    return node && this.nodes[node.index] === node ? node : undefined;
  }
}

/** A text that only separates others. */
const SEPARATOR = /^[\p{P}\p{S}\s]*$/u;
const ICON_FONT = /^["']?[^,]*(icon|symbol|glyph)/i;

/** Returns whether an element shows icons in place of its text, because their font is loaded. */
function isIconFont(it: Seen): boolean {
  const { fontFamily } = getComputedStyle(it.element);
  if (!ICON_FONT.test(fontFamily)) return false;
  const [first = ""] = fontFamily.split(",");
  const name = first.replace(/["']/g, "").trim();
  return [...it.element.ownerDocument.fonts].some(({ family, status }) => status === "loaded" && family.replace(/["']/g, "") === name);
}

/** The controls that can be an icon with an invisible text as their name. */
const ICONS = new Set("button checkbox link menuitem menuitemcheckbox menuitemradio option radio switch tab".split(" "));

function hasVisibleText(content: Child[]): boolean {
  return content.some((child) =>
    typeof child === "string" ? /\S/.test(child) && !child.includes(MARK) : !!child.name.text || hasVisibleText(child.content),
  );
}

function removeTexts(content: Child[]): void {
  for (const [index, child] of content.entries()) {
    if (typeof child === "string") content[index] = "";
    else removeTexts(child.content);
  }
}

/** Returns the role and name of the nearest element around it with another name. */
function labelAround(outer: TreeNode | undefined, name: string): string {
  while (outer?.name.text === name) outer = outer.outer;
  if (!outer) return "";
  return outer.label ?? (outer.label = labelOf(outer.role, outer.name.text));
}

function isAriaHidden(it: Seen): boolean {
  return it.attributeNames.length > 0 && it.attribute("aria-hidden")?.toLowerCase() === "true";
}

/** Returns whether an element around an element takes the pointer from its content, as menus do with the rest of the page. */
function isLocked(it: Seen): boolean {
  const parent = parentOf(it);
  return isComplete() && !!parent && styleOf(parent).pointerEvents === "none";
}

/** The maximum length of names that snapshots show. */
const MAX_NAME = 900;

/** Returns whether the text of a label is the name of its control, which is in it or beside it, so that the label need not be shown. */
function isLabelOfName(it: Seen): boolean {
  const label = it.element as HTMLLabelElement;
  const { control } = label;
  if (!control || !(label.contains(control) || label.previousElementSibling === control || label.nextElementSibling === control))
    return false;
  const owner = seen(control);
  if (isUnreachableField(owner)) return false;
  const name = shownName(owner).text;
  const isShown = drawingOf(owner) || (isVisible(owner) && styleOf(owner).pointerEvents !== "none");
  return !!isShown && name.length <= MAX_NAME && withoutSpace(name).includes(withoutSpace(label.textContent ?? ""));
}

const withoutSpace = (text: string): string => text.replace(/[\s\u200b\u00ad]+/g, "");

/** The roles of inline elements that only change how their text looks. */
const PHRASING = new Set("code emphasis generic mark strong subscript superscript time".split(" "));

/** Returns whether an element without an action adds nothing to its text: an inline one, or an empty block. */
function isTransparent(it: Seen, role: string): boolean {
  if (it.ignored || !PHRASING.has(role) || it.has("aria-hidden") || it.has("inert")) return false;
  const { display } = styleOf(it);
  return display === "inline" || display === "contents" || (role === "generic" && isEmptyElement(it));
}

function isEmptyElement(it: Seen): boolean {
  return !it.element.firstChild && !shadowRootOf(it);
}

/** Returns whether an element is inline and only contains a text, like most `<b>` and `<span>`. */
function isInlineText(it: Seen): boolean {
  const { display } = styleOf(it);
  if (display !== "inline" && display !== "contents") return false;
  const first = it.element.firstChild;
  return first?.nodeType === Node.TEXT_NODE && !first.nextSibling;
}

function addStates(it: Seen, role: string, facts: Facts): void {
  const checked = checkedState(it);
  if (checked) facts.checked = checked;
  if (isDisabled(it)) facts.disabled = true;
  // The content of an open `<details>` shows its state.
  if (role !== "group" && expandedState(it)) facts.expanded = true;
  const level = levelOf(it);
  if (level) facts.level = level;
  if (selectedState(it)) facts.selected = true;
  if (!it.attributeNames.length) return;
  const invalid = invalidState(it);
  if (invalid) facts.invalid = invalid;
  const pressed = pressedState(it);
  if (pressed) facts.pressed = pressed;
}

/** Adds the states that the author wrote although the role does not support them. */
function addWrittenStates(it: Seen, facts: Facts): void {
  for (const state of ["checked", "expanded", "pressed", "selected"] as const) {
    if (hasUnsupported(it, state)) facts[state] = true;
  }
}

function addAttributes(it: Seen, role: string, name: string, facts: Facts): void {
  const url = role === "link" ? it.attribute("href") : null;
  if (url !== null) facts.url = bounded(shortened(url));
  if (role === "textbox") {
    const placeholder = it.attribute("placeholder");
    if (placeholder && placeholder !== name) facts.placeholder = bounded(placeholder);
  }
}

function shortened(url: string): string {
  const comma = url.startsWith("data:") ? url.indexOf(",") : -1;
  return comma < 0 ? url : url.slice(0, comma + 1) + "…";
}
