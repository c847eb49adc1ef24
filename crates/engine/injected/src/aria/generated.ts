// The generated content of pseudo-elements and list markers. https://www.w3.org/TR/accname-1.2/#comp_name_from_content_pseudo_element

import { styleOf, rootOf } from "../dom";
import { cached, type Seen } from "../seen";

/** Returns the text of `::before`. */
export const textBefore = cached((it: Seen) => generatedText(it, "::before"));
/** Returns the text of `::after`. */
export const textAfter = cached((it: Seen) => generatedText(it, "::after"));

/**
 * Returns whether a style sheet of a root can generate text. Checking this once is much faster than reading the style of each
 * pseudo-element.
 */
export const mayGenerate = cached((root: Document | ShadowRoot) => {
  let generates = false;
  const isReadable = eachRule(root, (rule) => {
    // Most pseudo-elements are decorative boxes without text.
    const { content } = rule.style ?? {};
    generates ||= !!content && !/^(none|normal|(["'])\s*\2)$/.test(content) && /before|after/i.test(rule.selectorText ?? "::before");
  });
  return generates || !isReadable;
});

/** Visits the rules of the style sheets of a root. Returns false if some cannot be read, because they have another origin. */
function eachRule(root: Document | ShadowRoot, visit: (rule: CSSStyleRule) => void): boolean {
  const visitAll = (sheet: CSSStyleSheet | CSSGroupingRule): void => {
    const rules = sheet.cssRules;
    for (let at = 0; at < rules.length; at++) {
      const rule = rules[at] as CSSStyleRule & CSSImportRule;
      visit(rule);
      if (rule.cssRules?.length) visitAll(rule);
      if (rule.styleSheet) tryAll(rule.styleSheet);
    }
  };
  let isReadable = true;
  const tryAll = (sheet: CSSStyleSheet): void => {
    try {
      visitAll(sheet);
    } catch {
      isReadable = false;
    }
  };
  for (const sheet of [...root.styleSheets, ...root.adoptedStyleSheets]) tryAll(sheet);
  return isReadable;
}

type Pseudo = "::before" | "::after";

function generatedText(it: Seen, pseudo: Pseudo): string {
  const style = getComputedStyle(it.element, pseudo);
  const { content } = style;
  if (content === "none" || content === "normal" || !content || style.display === "none" || style.visibility !== "visible") return "";
  const text = contentValue(it, content, pseudo);
  return text && style.display !== "inline" ? ` ${text} ` : text;
}

/** Returns the text of the marker of a list item. https://www.w3.org/TR/css-lists-3/#content-property */
export function markerText(it: Seen): string {
  if (styleOf(it).display !== "list-item") return "";
  const { content } = getComputedStyle(it.element, "::marker");
  if (content === "none") return "";
  if (content && content !== "normal") return contentValue(it, content);
  const { listStyleImage, listStyleType: type } = getComputedStyle(it.element);
  // Disclosure triangles are drawn by the browser and have no text.
  if (listStyleImage !== "none" || /^(none|disclosure.*)$/.test(type)) return "";
  if (type.startsWith('"')) return contentValue(it, type);
  return type in BULLETS ? `${BULLETS[type]} ` : `${counterText(numberOf(it.element), type)}. `;
}

/** Returns the ordinal value of a list item. https://html.spec.whatwg.org/multipage/grouping-content.html#ordinal-value */
function numberOf(e: Element): number {
  const list = e.parentElement;
  const items = [...(list?.children ?? [e])];
  const isReversed = !!list?.hasAttribute("reversed");
  const step = isReversed ? -1 : 1;
  const start = (element: Element | null, name: string): number => Number.parseInt(element?.getAttribute(name) ?? "", 10);
  const first = start(list, "start");
  let number = (Number.isNaN(first) ? (isReversed ? items.length : 1) : first) - step;
  for (const item of items) {
    const own = start(item, "value");
    number = Number.isNaN(own) ? number + step : own;
    if (item === e) break;
  }
  return number;
}

const BULLETS: Record<string, string> = { disc: "•", circle: "◦", square: "▪" };
const ROMAN: [number, string][] = [
  [1000, "m"],
  [900, "cm"],
  [500, "d"],
  [400, "cd"],
  [100, "c"],
  [90, "xc"],
  [50, "l"],
  [40, "xl"],
  [10, "x"],
  [9, "ix"],
  [5, "v"],
  [4, "iv"],
  [1, "i"],
];

/** Returns the value of a counter in a predefined style; in decimal digits for other styles. https://www.w3.org/TR/css-counter-styles-3/ */
function counterText(value: number, style: string): string {
  const bullet = style === "none" ? "" : BULLETS[style];
  if (bullet !== undefined) return bullet;
  const [, upper, alphabet] = /^(?:lower|(upper))-(alpha|latin|roman|greek)$/.exec(style) ?? [];
  if (!alphabet || value < 1 || value > 3999)
    return style === "decimal-leading-zero" && value >= 0 ? `${value}`.padStart(2, "0") : `${value}`;
  let text = "";
  if (alphabet === "roman") {
    let rest = value;
    for (const [weight, letters] of ROMAN) {
      for (; rest >= weight; rest -= weight) text += letters;
    }
  } else {
    const letters = alphabet === "greek" ? "αβγδεζηθικλμνξοπρστυφχψω" : "abcdefghijklmnopqrstuvwxyz";
    for (let rest = value; rest > 0; rest = Math.floor((rest - 1) / letters.length)) text = letters[(rest - 1) % letters.length] + text;
  }
  return upper ? text.toUpperCase() : text;
}

const TOKEN =
  /\s*(?:"((?:[^"\\]|\\.)*)"|attr\(\s*([\w-]+)\s*\)|counters?\(\s*([\w-]+)\s*(?:,\s*"((?:[^"\\]|\\.)*)"\s*)?(?:,\s*([\w-]+)\s*)?\)|(open|close)-quote|([\w-]+\((?:[^()"]|"[^"]*"|\([^()]*\))*\)|no-(?:open|close)-quote)|(\/))/gy;

/** Returns the text of a `content` value: the alternative text after a slash, if there is one. https://www.w3.org/TR/css-content-3/#alt */
function contentValue(it: Seen, content: string, pseudo?: Pseudo): string {
  let text = "";
  let read = 0;
  // Images have no text.
  for (const [token, string, attribute, counter, separator, style, quote, , slash] of content.matchAll(TOKEN)) {
    read += token.length;
    if (slash) text = "";
    else if (attribute) text += it.attribute(attribute) ?? "";
    else if (counter) text += countersText(it, pseudo, counter, separator, style);
    else if (quote) text += quote === "open" ? "“" : "”";
    else text += unescaped(string ?? "");
  }
  const slash = content.lastIndexOf("/");
  return read === content.trimEnd().length ? text : slash < 0 ? "" : contentValue(it, content.slice(slash + 1), pseudo);
}

function unescaped(text: string): string {
  return text.replace(/\\([0-9a-f]{1,6}) ?|\\(.)/gi, (_, hex, char) => (hex ? String.fromCodePoint(Number.parseInt(hex, 16)) : char));
}

function countersText(it: Seen, pseudo: Pseudo | undefined, name: string, separator?: string, style = "decimal"): string {
  const all = (pseudo && countersOf(rootOf(it)).get(it.element)?.[pseudo]?.[name]) ?? [0];
  const shown = separator === undefined ? all.slice(-1) : all;
  return shown.map((value) => counterText(value, style)).join(unescaped(separator ?? ""));
}

interface Counter {
  value: number;
  /** The node in which the counter is in scope, after the element that created it. */
  readonly scope: Node;
}

type Counters = Record<string, number[]>;

/**
 * Returns the values of the counters at pseudo-elements, for elements whose rules use counters.
 * https://www.w3.org/TR/css-lists-3/#auto-numbering
 */
const countersOf = cached((root: Document | ShadowRoot) => {
  const selectors: string[] = [];
  eachRule(root, ({ style, selectorText }) => {
    // `&` is not resolved: the elements of a nested rule are only found if the parent rule uses counters too.
    if (selectorText && /counter/.test(style?.cssText ?? ""))
      selectors.push(selectorText.replace(/::?(before|after|marker)\b/g, "") || "*");
  });
  const found = new Map<Element, { [pseudo in Pseudo]?: Counters }>();
  const counters = new Map<string, Counter[]>();
  const visible = (name: string, node: Node): Counter[] => {
    let all = counters.get(name);
    if (!all) counters.set(name, (all = []));
    while (all.length && !all.at(-1)?.scope.contains(node)) all.pop();
    return all;
  };
  const change = (list: string, otherwise: number, apply: (name: string, value: number) => void): void => {
    if (list === "none") return;
    for (const [, name = "", value] of list.matchAll(/([\w-]+)(?:\s+(-?\d+))?/g)) apply(name, value ? Number(value) : otherwise);
  };
  const count = (e: Element, scope: Node, pseudo?: Pseudo): void => {
    const { display, counterReset, counterIncrement, counterSet, content } = getComputedStyle(e, pseudo);
    if (display === "none" || (pseudo && (content === "none" || content === "normal"))) return;
    const make = (name: string, value: number): void => {
      const all = visible(name, e);
      // A counter of a preceding sibling is replaced.
      if (all.at(-1)?.scope === scope) all.pop();
      all.push({ scope, value });
    };
    const last = (name: string): Counter => {
      if (!visible(name, e).length) make(name, 0);
      return visible(name, e).at(-1) as Counter;
    };
    change(counterReset, 0, make);
    change(counterIncrement, 1, (name, value) => (last(name).value += value));
    change(counterSet, 0, (name, value) => (last(name).value = value));
    if (!pseudo) return;
    const values: Counters = {};
    for (const name of counters.keys()) values[name] = visible(name, e).map(({ value }) => value);
    found.set(e, { ...found.get(e), [pseudo]: values });
  };
  const open: Element[] = [];
  const close = (next?: Element): void => {
    for (let e = open.at(-1); e && !(next && e.contains(next)); e = open.at(-1)) {
      count(e, e, "::after");
      open.pop();
    }
  };
  for (const e of elementsOf(root, selectors)) {
    close(e);
    count(e, e.parentNode ?? e);
    count(e, e, "::before");
    open.push(e);
  }
  close();
  return found;
});

function elementsOf(root: Document | ShadowRoot, selectors: string[]): Iterable<Element> {
  const usable = selectors.filter((selector) => CSS.supports(`selector(${selector})`));
  return usable.length ? root.querySelectorAll(usable.join()) : [];
}
