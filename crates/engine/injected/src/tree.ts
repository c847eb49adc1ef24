// The nodes of a tree, and the entries in which the engine receives them.

import type { Handle } from "./handles";
import type { Action } from "./interactive";
import type { Box, Name } from "./seen";
import { isComplete } from "./shown";
import type { Checked } from "./unchanged";

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

export type Child = string | TreeNode;

/** The position in the tree at which a DOM node is added. */
export interface Position {
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
  /** The nearest node around it. */
  readonly around?: TreeNode | undefined;
  /** Whether nothing of the last snapshot is used again in it. */
  readonly isChanged?: boolean | undefined;
}

export interface TreeNode extends Checked {
  readonly role: string;
  readonly ref: number;
  readonly facts: Facts;
  readonly content: Child[];
  /** What the node depends on of its position, besides the node `outer`. */
  readonly parentRole: string;
  readonly flags: number;
  readonly box: Box | undefined;
  /** The size of the node and those in it, which counts for the limit. */
  size: number;
  /** The nodes of the sources of the name. */
  sources?: TreeNode[];
  name: Name;
  /** Whether the name is the text of the content, and whether it is not shown because a part of that is invisible. */
  readonly isFromContent: boolean;
  isNameInContent?: boolean;
  /** Whether the element is invisible, so that its name is marked. */
  unseen?: boolean;
  /** The index of the node in the tree, and the index after its last descendant. */
  index: number;
  end: number;
  /** The nearest ancestor in the tree with a name. */
  outer: TreeNode | undefined;
  /** The role and name, computed on demand. */
  label?: string | undefined;
}

/** Returns whether a node would be the same at a position. */
export function isPlacedIn({ parentRole, flags, outer }: TreeNode, position: Position): boolean {
  const { named } = position;
  if (parentRole !== position.role || flags !== flagsOf(position)) return false;
  return (
    outer === named ||
    (outer?.name.text === named?.name.text && outer?.role === named?.role && outer?.isFromContent === named?.isFromContent)
  );
}

export function flagsOf({ depth, readable, isInLabel, isInAriaHidden, isInDrawn, isCovered, hasDay }: Position): number {
  return [readable, isInLabel, isInAriaHidden, isInDrawn, isCovered, hasDay].reduce((flags, flag) => 2 * flags + (flag ? 1 : 0), depth);
}

/** The maximum length of texts, names and URLs. */
export const MAX_TEXT = 100_000;

export function bounded(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
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
export function list(children: Child[], entries: Entry[]): number {
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
