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
import { NAME_FROM_CONTENT, references } from "./aria/names";
import { dayOf } from "./calendar";
import { ignoringCovers, isCover, isHidden, isPresentational } from "./aria/roles";
import { boxOf, isSlot, isVisible, inputOf, styleOf, marking, parentOf, rootOf, shadowRootOf, slotOf, squash } from "./dom";
import { drawingOf, isDrawnByOthers, isUnreachableField, isUsedByKeyboard, isValueDrawn } from "./drawn";
import { coreIn, type Home, type Other } from "./frames";
import { isAway, isUnseen, hasMisleadingName, isTextUnseen, MARK } from "./hidden";
import { held, keep, type Handle } from "./handles";
import { actionOf, hasReports, isEditingHost, type Action } from "./interactive";
import { isPassword, marked } from "./passwords";
import { recordLooks } from "./looks";
import { bindRows, boundTo, hasRef, labelOf, refTo, renew } from "./refs";
import { seen, withCaches, type Name, type Seen } from "./seen";
import { childrenAsPlaced } from "./placed";
import { isComplete, isFrame, setComplete, shownName, shownRole } from "./shown";

/** The properties of an element besides its role, name and ref. False and empty ones are omitted. */
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
  /** Whether the element is inert by an attribute. Only complete trees have it. */
  inert?: true;
  /** Whether the element hides visible content from assistive technology, as overlays do with the rest of the page. */
  covers?: true;
  /** Whether the element has `cursor: pointer`. A complete tree has `action` instead. */
  pointer?: true;
  /** How a person can act on the element. */
  action?: Action;
  /** Whether the content can be edited, of an element with another role than that of a text box. */
  editable?: true;
  /** The day below which an element is placed in a calendar. */
  day?: string;
  url?: string;
  placeholder?: string;
  /** The rounded x, y, width and height of the bounding box, in the viewport of the frame. */
  box?: number[];
  /** The handle of a frame element, whose document is inserted here. */
  frame?: Handle;
  /** The id of that frame, if the script of its document can be called from this document. */
  frameId?: string;
  /** The tree of that document, if it was created together with this tree. */
  content?: Entry[];
  /** The indices in the tree of the descendants that the name was computed from. */
  sources?: number[];
  /** Whether the name contains the text of a caption, legend or label of a descendant. */
  parts?: true;
  /** Whether the element is invisible, or its visible text differs from its name. */
  unseen?: true;
}

/**
 * An element. Its children follow it in the list, each with its own children; `children` is their number, or -1 if the only child is a text
 * that equals the name. The ref is 0 if the element has none.
 */
export type ElementEntry = [role: string, name: string, ref: number, children: number, facts?: Facts];

/**
 * A text, or an element. White space in texts is collapsed but not trimmed, because two texts are joined if the engine omits the element
 * between them. A tree is a flat list in preorder, because JSON parsers limit the nesting.
 */
export type Entry = string | ElementEntry;

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
}

function treeOf(from: Element, home: Home, question: Question, depth: number): Entry[] {
  const { room, frameRoom } = question;
  const builder = new TreeBuilder(home, question, room);
  const entries = builder.tree(from);
  home.bindRows();
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

/** The maximum depth of elements. The content of deeper ones is added to their ancestor. */
const MAX_DEPTH = 400;
/** The maximum depth of frames that are included. */
const MAX_FRAME_DEPTH = 10;
const TOO_DEEP = "… What is nested deeper is not shown. Take a snapshot of it alone.";
/** The maximum length of texts, names and URLs. */
const MAX_TEXT = 100_000;
/** The number of characters of an element besides its texts. */
const ELEMENT_SIZE = 40;
const CUT_OFF = "… The page is too large: the rest is cut off. Take a snapshot of a part of it.";

type Child = string | TreeNode;

/** The position in the tree at which a DOM node is added. */
interface Position {
  /** The role of the parent in the tree. */
  readonly role: string;
  readonly into: Child[];
  /** Whether text is included. */
  readonly readable: boolean;
  readonly depth: number;
  /** The nearest ancestor in the tree with a name. */
  readonly named?: TreeNode | undefined;
  /** Whether texts are omitted, because they are the name of the control of the label around them. */
  readonly isInLabel?: boolean;
  /** Whether texts that are neither visible nor in the accessibility tree are omitted: invisible ones in an element with `aria-hidden`. */
  readonly isInAriaHidden?: boolean;
  /** Whether texts are visible although their element is not: the options of a list that others draw. */
  readonly isInDrawn?: boolean;
  /** Whether an overlay hides the element, which keeps its name and its ref. */
  readonly isCovered?: boolean;
  /** Whether it is in an element with a day. */
  readonly hasDay?: boolean;
}

interface TreeNode {
  readonly role: string;
  readonly ref: number;
  readonly facts: Facts;
  readonly content: Child[];
  readonly name: Name;
  /** Whether the name is the text of the content, and whether it is not shown because a part of that is invisible. */
  readonly isFromContent: boolean;
  isNameInContent?: boolean;
  /** Whether the element is invisible, so that its name is marked. */
  unseen?: boolean;
  /** The index of the node in the tree, and the index after its last descendant. */
  readonly index: number;
  end: number;
  /** The nearest ancestor in the tree with a name. */
  readonly outer: TreeNode | undefined;
  /** The role and name, computed on demand. */
  label?: string;
}

class TreeBuilder {
  private readonly nodes: TreeNode[] = [];
  private tooDeep = false;
  /** The elements with a ref. */
  readonly shown: Element[] = [];
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
  ) {
    const { document } = home;
    this.focused = document.hasFocus() ? document.activeElement : null;
    this.height = document.defaultView?.innerHeight ?? 0;
  }

  tree(root: Element): Entry[] {
    const top: Child[] = [];
    this.visit(root, { role: "", into: top, readable: true, depth: 0 });
    if (this.budget < 0) top.push(" " + CUT_OFF);
    for (const node of this.nodes) {
      if (node.name.sources.length && node.end !== node.index + 1) this.sources(node);
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

  /** Adds a text of the page, with a mark if invisible text is marked and this text is invisible. */
  private text(text: string, { into, named, isInLabel, isInAriaHidden, isInDrawn }: Position, owner: Seen | null, pseudo?: string): void {
    if (isInLabel) return;
    if (isInAriaHidden && named && owner && isComplete() && isIconFont(owner)) return;
    if (this.question.marks && owner && !isInDrawn && /[^\s\u200b\u00ad]/.test(text) && isTextUnseen(owner, pseudo)) {
      if (isInAriaHidden || (isComplete() && SEPARATOR.test(text))) return;
      const inName = named?.name.text.includes(squash(text)) && named;
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
    const isDrawn = isComplete() && !!drawingOf(it);
    if (isComplete() && isUnreachableField(it)) return;
    if (display === "none" && !isDrawn) {
      into.push(" ");
      for (const owned of references(it, "aria-owns")) this.visit(owned, { ...position, readable: false });
      return;
    }
    const isCovered = isComplete() && (position.isCovered || isCover(it));
    const isInAriaHidden = isComplete() && (position.isInAriaHidden || (isAriaHidden(it) && !isCover(it)));
    if (isInAriaHidden && !isDrawn && display !== "contents" && isUnseen(it) && !isDrawnByOthers(it)) return;
    const readable = isDrawn || !isHidden(it) || isVisible(it);
    const isInLabel = isComplete() && (it.tag === "label" ? isLabelOfName(it) : !!position.isInLabel);
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
      });
      if (node.isNameInContent && ICONS.has(node.role) && !hasVisibleText(node.content)) {
        node.isNameInContent = false;
        removeTexts(node.content);
      }
      node.end = this.nodes.length;
      return;
    }
    const gap = display === "inline" && !(isComplete() && it.tag === "br") ? "" : " ";
    if (gap) into.push(gap);
    const { named, hasDay } = position;
    this.content(it, { role, into, readable, depth: depth + 1, named, isInLabel, isInAriaHidden, isCovered, hasDay });
    if (gap) into.push(gap);
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

  private build(it: Seen, { named: outer, isInLabel, hasDay }: Position, isDrawn: boolean, isCovered: boolean): TreeNode | undefined {
    const { element: e } = it;
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
      this.shown.push(e);
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
    } else if (this.question.view) {
      const box = boxOf(it);
      if (box && box[1] < this.height && box[1] + box[3] > 0) facts.box = box.map(Math.round);
    }
    if (!frame && isStateful(role)) addStates(it, role, facts);
    if (!frame && isComplete() && it.attributeNames.length) addWrittenStates(it, facts);
    if (!frame && it.attributeNames.length) addAttributes(it, role, name.text, facts);
    it.index = this.nodes.length;
    const isFromContent = NAME_FROM_CONTENT.has(role) && !it.has("aria-label") && !references(it, "aria-labelledby").length;
    const node: TreeNode = { role, ref, facts, content: [], name, isFromContent, index: it.index, end: 0, outer };
    this.nodes.push(node);
    return node;
  }

  /** Adds the indices of the sources of a name that are descendants with a ref. */
  private sources({ facts, name, index, end }: TreeNode): void {
    const indices = new Set<number>();
    for (const source of name.sources) {
      if (source === "parts") {
        facts.parts = true;
        continue;
      }
      let it: Seen | null = source;
      while (it && it.index < 0) it = parentOf(it);
      if (it && it.index > index && it.index < end && this.nodes[it.index]?.ref) indices.add(it.index);
    }
    if (indices.size) facts.sources = [...indices];
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

/** The elements that were reported as possible hosts of closed shadow roots. */
const reportedHosts = new WeakSet<Element>();
let hosts: Handle[] = [];
/** The maximum number of such elements for each snapshot, and the minimum size of their boxes, in CSS pixels. */
const MAX_HOSTS = 20;
/** The maximum number of those that are no custom elements, for each document. */
const MAX_PLAIN_HOSTS = 20;
let plainHosts = 0;
const MIN_HOST_SIZE = 8;

/** Records an element that is larger than its content explains, because it may be the host of a closed shadow root. */
function recordHost(it: Seen): void {
  if (hosts.length >= MAX_HOSTS || !hasReports() || shadowRootOf(it) || reportedHosts.has(it.element) || !isVisible(it)) return;
  const [, , width = 0, height = 0] = it.box ?? [];
  if (width < MIN_HOST_SIZE || height < MIN_HOST_SIZE || (!it.tag.includes("-") && plainHosts++ >= MAX_PLAIN_HOSTS)) return;
  reportedHosts.add(it.element);
  hosts.push(keep(it.element));
}

/** Returns the elements of the last snapshot that may be hosts of closed shadow roots, each once. */
export function takeHosts(): Handle[] | undefined {
  const taken = hosts;
  hosts = [];
  return taken.length ? taken : undefined;
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

function bounded(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

function shortened(url: string): string {
  const comma = url.startsWith("data:") ? url.indexOf(",") : -1;
  return comma < 0 ? url : url.slice(0, comma + 1) + "…";
}

function isEmpty(facts: Facts): boolean {
  for (const _ in facts) return false;
  return true;
}

const NOT_NORMALIZED = /[^\S ]|[\u200b\u00ad]| {2}/;

/**
 * Adds the children and their descendants to the entries. Adjacent texts are joined and normalized, empty ones omitted. Returns the number
 * of children.
 */
function list(children: Child[], entries: Entry[]): number {
  let count = 0;
  let text = "";
  for (const child of children) {
    if (typeof child === "string") {
      text += child;
      continue;
    }
    if (text) count += addTextEntry(text, entries);
    text = "";
    count++;
    const entry: ElementEntry = [child.role, child.isNameInContent ? "" : bounded(child.name.text), child.ref, 0];
    if (!isEmpty(child.facts)) entry.push(child.facts);
    const before = entries.push(entry);
    entry[3] = list(child.content, entries);
    if (entries.length === before + 1 && entries[before] === entry[1]) {
      entries.pop();
      entry[3] = -1;
    }
  }
  return text ? count + addTextEntry(text, entries) : count;
}

/** Adds a text to the entries. Returns the number of entries: 0 for an empty text. */
function addTextEntry(text: string, entries: Entry[]): number {
  const normalized = NOT_NORMALIZED.test(text) ? text.replace(/[\u200b\u00ad]/g, "").replace(/\s+/g, " ") : text;
  // In a complete tree, the engine separates the texts beside an element that it omits.
  if (!normalized || (normalized === " " && isComplete())) return 0;
  entries.push(bounded(normalized));
  return 1;
}
