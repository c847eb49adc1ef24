// The elements that a person can act on, and those whose ref stands for another one.
import { listensToPointer } from "./listeners";
import { nameOf } from "./names";
import {
  areaOf,
  boxesOf,
  heightOf,
  hits,
  intersection,
  isPainted,
  isReachable,
  isRendered,
  isScrolledOut,
  paintsBox,
  textBoxes,
  widthOf,
} from "./sight";
import { ancestors, contains, elements, isText, nodes, parent, styleOf } from "./tree";

/** Why a person can act on an element. */
export type Reason = "native" | "role" | "editable" | "focusable" | "draggable" | "label" | "pointer" | "listener";

export interface Target {
  element: Element;
  reason: Reason;
}

const CONTROLS = new Set(
  "button link checkbox radio switch combobox textbox searchbox spinbutton slider tab menuitem menuitemcheckbox menuitemradio option treeitem".split(
    " ",
  ),
);
/** Controls in which nothing else is expected to be a target, unless it has a listener of its own. */
const ATOMS = new Set("button link checkbox radio switch tab menuitem menuitemcheckbox menuitemradio option".split(" "));
/** Roles that only the author of an interactive widget writes. */
const PARTS = new Set(["gridcell", "columnheader", "rowheader", "separator", "scrollbar"]);
/** Elements with listeners that contain more than this are containers that handle the events of their content. */
const MAX_CONTENT = 8;
const MAX_AREA = 0.2;
/** The part of an outer control that a control of its own in it may have. */
const MAX_PART = 0.5;

export const writtenRole = (element: Element) => element.getAttribute("role")?.trim().split(/\s+/)[0]?.toLowerCase() ?? "";

const isInput = (element: Element): element is HTMLInputElement => element.localName === "input";

export const isEditingHost = (element: Element) =>
  (element as HTMLElement).isContentEditable && !(parent(element) as HTMLElement | null)?.isContentEditable;

function isNative(element: Element): boolean {
  switch (element.localName) {
    case "a":
      return element.hasAttribute("href");
    case "input":
      return (element as HTMLInputElement).type !== "hidden";
    case "summary":
      return parent(element)?.localName === "details";
    default:
      return /^(button|select|textarea)$/.test(element.localName);
  }
}

const isDisabled = (element: Element) => element.matches(":disabled") || element.getAttribute("aria-disabled") === "true";

/** Whether it or an ancestor cannot be used, or is an option of a native select. */
const isInert = (element: Element) => [element, ...ancestors(element)].some((at) => at.hasAttribute("inert") || isDisabled(at));

const isAtom = (element: Element) => (isNative(element) && element.localName !== "textarea") || ATOMS.has(writtenRole(element));

export const labelsOf = (element: Element): Element[] => [...((element as HTMLInputElement).labels ?? [])];

/** Whether one of the texts or images in the element can be seen. */
function hasPaintedContent(element: Element): boolean {
  for (const node of nodes(element)) {
    if (isText(node)) {
      if (node.data.trim() && textBoxes(node).length > 0) return true;
    } else if (node.nodeType === Node.ELEMENT_NODE && paintsBox(node as Element) && isPainted(node as Element)) return true;
  }
  return false;
}

/** Whether the pointer reaches the element where no other target is in it. */
function hasOwnArea(element: Element, isOther: (inner: Element) => boolean): boolean {
  const { elements: reached, isInView } = hits(element);
  const isOwn = (hit: Element) => {
    if (!contains(element, hit)) return false;
    for (let at: Element | null = hit; at && at !== element; at = parent(at)) if (isOther(at)) return false;
    return true;
  };
  return isInView && !isScrolledOut(element)
    ? reached.some(isOwn)
    : ![...elements(element)].some((inner) => inner !== element && isOther(inner));
}

/** Finds what a person can act on, in the order of the document. */
export function findTargets(): Target[] {
  const found = new Map<Element, Reason>();
  const all = [...elements(document.documentElement)];
  for (const element of all) {
    const reason = ownReason(element);
    if (reason && !isInert(element)) {
      if (isReachable(element)) found.set(element, reason);
      else if (isDrawnByLabel(element) && labelsOf(element).some((label) => isPainted(label) && isReachable(label)))
        found.set(element, "label");
      else if (canBeTabbedTo(element)) found.set(element, "focusable");
    }
  }
  const strong = new Map(found);
  // Listeners around other targets handle the events of these.
  for (const element of all.toReversed()) {
    if (found.has(element) || isInert(element) || !isPainted(element)) continue;
    const reason = weakReason(element);
    if (!reason || !isReachable(element) || !hasPaintedContent(element)) continue;
    const above = [...ancestors(element)];
    const outer = above.find((at) => isAtom(at) || at.localName === "label");
    if (outer && (reason === "pointer" || areaOf(boxOf(element)) > MAX_PART * areaOf(boxOf(outer)))) continue;
    if (reason === "listener") {
      const content = [...elements(element)].length - 1;
      const isLarge = areaOf(boxOf(element)) > MAX_AREA * innerWidth * innerHeight;
      if (isLarge || content > MAX_CONTENT || [...found.keys()].some((inner) => contains(element, inner))) continue;
    }
    const isLabel = element.localName === "label" && (element as HTMLLabelElement).control;
    if (isLabel) continue;
    if (hasOwnArea(element, (inner) => strong.has(inner) || inner.localName === "label")) found.set(element, reason);
  }
  // A listener around a single other target is the same target.
  for (const [element, reason] of found) {
    if (reason !== "listener" && reason !== "pointer") continue;
    const twin = [...found.keys()].some((inner) => inner !== element && contains(element, inner) && isSameBox(element, inner));
    if (twin) found.delete(element);
  }
  return all.flatMap((element) => {
    const reason = found.get(element);
    return reason ? [{ element, reason }] : [];
  });
}

/** Whether it is a control that a label can draw: a click on the label is a click on the control. */
const isDrawnByLabel = (element: Element) => isInput(element) && /^(checkbox|radio|file)$/.test(element.type);

/** Whether the keyboard reaches an element that the pointer does not reach. */
function canBeTabbedTo(element: Element): boolean {
  const isHidden = [element, ...ancestors(element)].some((at) => at.getAttribute("aria-hidden") === "true");
  // Elements without a name only keep the focus in a dialog or a grid.
  const isControl = rolesOf(element).length > 0 || nameOf(element) !== "";
  return isRendered(element) && (element as HTMLElement).tabIndex >= 0 && !isHidden && isControl;
}

function ownReason(element: Element): Reason | undefined {
  const role = writtenRole(element);
  const tabindex = element.getAttribute("tabindex");
  if (element.localName === "option" || element.localName === "optgroup") return undefined;
  if (isNative(element)) return "native";
  if (isEditingHost(element)) return "editable";
  if (CONTROLS.has(role)) return "role";
  if (PARTS.has(role) && tabindex !== null) return "role";
  if (tabindex !== null && Number(tabindex) >= 0) return "focusable";
  if (element.getAttribute("draggable") === "true") return "draggable";
  return undefined;
}

function weakReason(element: Element): Reason | undefined {
  if (/^(html|body)$/.test(element.localName)) return undefined;
  if (listensToPointer(element)) return "listener";
  const above = parent(element);
  const isPointer = styleOf(element).cursor === "pointer" && (!above || styleOf(above).cursor !== "pointer");
  return isPointer ? "pointer" : undefined;
}

function boxOf(element: Element) {
  const boxes = boxesOf(element);
  const [first = { left: 0, top: 0, right: 0, bottom: 0 }] = boxes;
  return boxes.reduce(
    (sum, box) => ({
      left: Math.min(sum.left, box.left),
      top: Math.min(sum.top, box.top),
      right: Math.max(sum.right, box.right),
      bottom: Math.max(sum.bottom, box.bottom),
    }),
    first,
  );
}

const SAME = 0.6;

function isSameBox(one: Element, other: Element): boolean {
  const [a, b] = [boxOf(one), boxOf(other)];
  const common = intersection(a, b);
  if (widthOf(common) <= 0 || heightOf(common) <= 0) return false;
  return areaOf(common) >= SAME * Math.max(areaOf(a), areaOf(b));
}

/** Whether a click on the middle of `outer` reaches `inner`. */
function leadsTo(outer: Element, inner: Element): boolean {
  const { elements: reached } = hits(outer, 1);
  return reached.some((hit) => contains(inner, hit) || labelsOf(inner).some((label) => contains(label, hit)));
}

/** Returns how well a ref of `shown` stands for `target`: 0 is the element itself; `undefined`: not at all. */
export function rank(target: Element, shown: Element, isTarget: (element: Element) => boolean): number | undefined {
  if (target === shown) return 0;
  const labels = labelsOf(target);
  if (labels.some((label) => label === shown) || labelsOf(shown).includes(target)) return 1;
  if (labels.some((label) => contains(label, shown)) && !isTarget(shown)) return 2;
  if (shown.localName === "label" && contains(target, shown)) return 2;
  if (isLabelFor(target, shown)) return 1;
  if (contains(target, shown)) {
    if (isSameBox(target, shown)) return 3;
    const isCellOf = PARTS.has(writtenRole(target)) && !(target as HTMLElement).innerText?.trim();
    return isCellOf || !(isTarget(shown) || labelsOf(shown).length > 0) ? 4 : undefined;
  }
  if (contains(shown, target)) {
    if (isSameBox(target, shown)) return 3;
    return !isTarget(shown) && leadsTo(shown, target) ? 5 : undefined;
  }
  return undefined;
}

/** Whether an element is the label of another one by an attribute. */
function isLabelFor(label: Element, element: Element): boolean {
  const labelledBy = element.getAttribute("aria-labelledby")?.split(/\s+/) ?? [];
  return (label.id !== "" && labelledBy.includes(label.id)) || (element.id !== "" && label.getAttribute("for") === element.id);
}

const INPUTS: Record<string, string[]> = {
  button: ["button"],
  submit: ["button"],
  reset: ["button"],
  image: ["button"],
  checkbox: ["checkbox", "switch"],
  radio: ["radio"],
  range: ["slider"],
  number: ["spinbutton"],
  search: ["searchbox", "combobox"],
  file: ["button", "textbox"],
};

/** The roles with which a line says what the control is. Empty: any. */
export function rolesOf(element: Element): string[] {
  const written = writtenRole(element);
  if (CONTROLS.has(written)) return [written];
  if (!isNative(element)) return isEditingHost(element) && !written ? ["textbox"] : [];
  if (isInput(element)) return INPUTS[element.type] ?? ["textbox", "combobox", "button", "spinbutton"];
  if (element.localName === "select") return ["combobox", "listbox"];
  if (element.localName === "summary") return [];
  const own = { a: "link", button: "button", textarea: "textbox" }[element.localName] ?? "";
  return written ? [own, written] : [own];
}
