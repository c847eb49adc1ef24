// Targets that are too small for a finger: WCAG 2.5.8, Target Size (Minimum).

/** The minimum size of a target in CSS pixels. */
const MIN_SIZE = 24;
/** The number of targets that are compared. */
const MAX_TARGETS = 3_000;

const TARGETS = [
  "a[href], area[href], button, input:not([type=hidden i]), select, textarea, summary, [contenteditable=''], [contenteditable=true i]",
  ...[
    "button",
    "link",
    "checkbox",
    "radio",
    "switch",
    "tab",
    "option",
    "slider",
    "spinbutton",
    "combobox",
    "textbox",
    "searchbox",
    "treeitem",
  ].map((role) => `[role=${role}]`),
  "[role^=menuitem]",
].join(", ");
/** The controls whose size the browser determines. */
const NATIVE = "input[type=checkbox i], input[type=radio i], input[type=range i], input[type=color i]";

interface Target {
  element: Element;
  left: number;
  top: number;
  width: number;
  height: number;
  isSmall: boolean;
}

/**
 * Returns the targets that are smaller than 24 by 24 CSS pixels and have too little space around them: a circle with a diameter of 24 CSS
 * pixels at the centre of each reaches another target, or the circle of another small one. Targets within a sentence and native controls
 * may be smaller.
 */
export function smallTargets(all: Element[]): Target[] {
  const targets: Target[] = [];
  for (const element of all) {
    if (targets.length >= MAX_TARGETS) break;
    if (!element.matches(TARGETS) || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (getComputedStyle(element).pointerEvents === "none") continue;
    const { left, top, width, height } = element.getBoundingClientRect();
    if (width <= 1 || height <= 1) continue;
    targets.push({ element, left, top, width, height, isSmall: width < MIN_SIZE || height < MIN_SIZE });
  }
  return targets.filter((it) => it.isSmall && !isExempt(it.element) && targets.some((other) => isTooNear(it, other)));
}

function isTooNear(it: Target, other: Target): boolean {
  if (it === other || it.element.contains(other.element) || other.element.contains(it.element)) return false;
  const [x, y] = centre(it);
  const [otherX, otherY] = other.isSmall ? centre(other) : nearest(other, x, y);
  return Math.hypot(x - otherX, y - otherY) < (other.isSmall ? MIN_SIZE : MIN_SIZE / 2);
}

function centre({ left, top, width, height }: Target): [number, number] {
  return [left + width / 2, top + height / 2];
}

/** Returns the point of a target that is nearest to another point. */
function nearest({ left, top, width, height }: Target, x: number, y: number): [number, number] {
  return [Math.min(Math.max(x, left), left + width), Math.min(Math.max(y, top), top + height)];
}

function isExempt(e: Element): boolean {
  const { display, appearance } = getComputedStyle(e);
  if (e.matches(NATIVE)) return appearance !== "none";
  return display === "inline" && isInSentence(e);
}

/** Returns whether there is text beside an inline element in the same block. */
function isInSentence(e: Element): boolean {
  let block = e.parentElement;
  while (block && getComputedStyle(block).display === "inline") block = block.parentElement;
  const text = (node: Node | null): string => (node?.textContent ?? "").replace(/[\s|·•/,>»-]+/g, "");
  if (!block) return false;
  const inTargets = [...block.querySelectorAll(TARGETS)].filter((target) => !target.parentElement?.closest("a[href], button"));
  return text(block).length > inTargets.reduce((sum, target) => sum + text(target).length, 0);
}
