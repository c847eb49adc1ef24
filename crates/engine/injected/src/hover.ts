// The elements over which style sheets show what is hidden otherwise, such as menus that open below the pointer.

import { rootOf } from "./dom";
import { cached, type Seen } from "./seen";

/** A rule that shows elements while the pointer is over an element around them. */
interface Revealing {
  owner: string;
  shown: string;
}

const HOVERED = /^(.+):hover([^\s>+~]*)(?:\s*>\s*|\s+)([^>+~]+)$/;
/** What makes it worthwhile to see the elements. */
const USABLE = "a[href], button, input, select, textarea, li, [role], [tabindex]";
/** The maximum number of elements that are examined for each rule. */
const MOST = 100;

const known = new WeakMap<CSSStyleSheet, { length: number; found: Revealing[] }>();

/** Returns whether a style sheet shows controls in the element while the pointer is over it. */
export function revealsOnHover(it: Seen): boolean {
  return revealersIn(rootOf(it)).has(it.element);
}

const revealersIn = cached((root: Document | ShadowRoot): Set<Element> => {
  const revealers = new Set<Element>();
  for (const sheet of [...root.styleSheets, ...root.adoptedStyleSheets]) {
    for (const { owner, shown } of revealingRules(sheet)) {
      for (const e of select(root, owner)) {
        if (select(e, shown).some((inner) => inner.matches(USABLE) || inner.querySelector(USABLE))) revealers.add(e);
      }
    }
  }
  return revealers;
});

function select(root: ParentNode, selector: string): Element[] {
  try {
    return [...root.querySelectorAll(selector)].slice(0, MOST);
  } catch {
    // A selector that was not understood.
    return [];
  }
}

function revealingRules(sheet: CSSStyleSheet): Revealing[] {
  try {
    const { length } = sheet.cssRules;
    const before = known.get(sheet);
    if (before?.length === length) return before.found;
    const found: Revealing[] = [];
    collect(sheet.cssRules, found);
    known.set(sheet, { length, found });
    return found;
  } catch {
    // The rules of a style sheet of another origin cannot be read.
    return [];
  }
}

function collect(rules: CSSRuleList, found: Revealing[]): void {
  for (const rule of rules as Iterable<CSSStyleRule & CSSImportRule>) {
    const { selectorText = "", style } = rule;
    if (selectorText.includes(":hover") && style && reveals(style)) {
      for (const selector of selectorText.split(",")) {
        const [, before = "", after = "", shown] = HOVERED.exec(selector.trim()) ?? [];
        if (shown) found.push({ owner: before + after, shown });
      }
    }
    if (rule.cssRules?.length) collect(rule.cssRules, found);
    if (rule.styleSheet) found.push(...revealingRules(rule.styleSheet));
  }
}

function reveals({ display, visibility }: CSSStyleDeclaration): boolean {
  return (!!display && display !== "none") || visibility === "visible";
}
