// The generation of locators: the best one is short and describes what users see, so that changes of the markup do not break it.

import { descriptionOf, elementName, references } from "./aria/names";
import { elementRole } from "./aria/roles";
import { closest, isElementVisible, parentOrHost, tagOf } from "./dom";
import { shownFor } from "./drawn";
import { held, type Handle } from "./handles";
import { seen, withCaches } from "./seen";
import { follow } from "./selector/query";
import type { Step, TextMatch } from "./selector/steps";
import { labelsOf, textOf } from "./selector/text";

// The costs of the kinds of steps. The locator with the lowest total cost is the best.
const TEST_ID = 1;
const OTHER_TEST_ID = 2;
const FRAME = 10;
const ROLE_NAME = 100;
const PLACEHOLDER = 120;
const LABEL = 140;
const ALT = 160;
const TEXT = 180;
const TITLE = 200;
const REGEX = 250;
const ID = 500;
const ROLE = 510;
const ATTRIBUTE = 520;
const TAG = 530;
const NTH = 10_000;
const PATH = 10_000_000;
const EXACT = 5;
const DESCRIPTION = 1;

const OTHER_TEST_IDS = ["data-testid", "data-test-id", "data-test"];
/** The maximum index of `nth`. */
const MAX_INDEX = 5;
/** The maximum lengths of texts that are cut. */
const SHORT_TEXT = 30;
const LONG_TEXT = 80;
/** The maximum length of a complete text or attribute in a locator. */
const MAX_TEXT = 1_000;
/** The maximum number of queries for one element. */
const MAX_QUERIES = 600;

/** A locator with the cost of each step, which may match other elements too. */
interface Candidate {
  steps: Step[];
  costs: number[];
}

/** The controls that are the target instead of elements inside them. */
const CONTROL = "button,select,input,a,[role=button],[role=checkbox],[role=radio],[role=link]";

/** Returns the best locator of each element, or of the control that contains it; null if the element was removed. */
export function generate({ handles, testIdAttribute }: { handles: Handle[]; testIdAttribute: string }): (Step[] | null)[] {
  return withCaches(() =>
    handles.map((handle) => {
      const e = held(handle);
      return e?.isConnected ? locatorOf(e, testIdAttribute) : null;
    }),
  );
}

/** Returns the best locator of an element, or of the control that contains it; null if the element was removed. */
export function locator({ handle, testIdAttribute }: { handle: Handle; testIdAttribute: string }): Step[] | null {
  return generate({ handles: [handle], testIdAttribute })[0] ?? null;
}

/** Returns the best locator of an element, or of the control that contains it. */
export function locatorOf(e: Element, testIdAttribute: string): Step[] {
  const target = targetOf(shownFor(e));
  return (new Search(target, testIdAttribute).best(target, true) ?? path(target)).steps;
}

/** Returns the control that contains the element, if it is visible; else the element. */
function targetOf(e: Element): Element {
  if (e.matches("input,textarea,select") || (e as HTMLElement).isContentEditable) return e;
  const control = closest(e, CONTROL);
  return control && isElementVisible(control) ? control : e;
}

class Search {
  private budget = MAX_QUERIES;
  /** The results of `best` for an element, without and with text. */
  private readonly cache = new Map<Element, [(Candidate | undefined)?, (Candidate | undefined)?]>();

  constructor(
    private readonly target: Element,
    private readonly testId: string,
  ) {}

  /**
   * Returns the best candidate that matches only this element in its document. With `byText` it may contain the text of the element or of
   * an ancestor.
   */
  best(e: Element, byText: boolean): Candidate | undefined {
    let results = this.cache.get(e);
    if (!results) this.cache.set(e, (results = []));
    const index = byText ? 1 : 0;
    if (!(index in results)) results[index] = this.find(e, byText);
    return results[index];
  }

  private find(e: Element, byText: boolean): Candidate | undefined {
    if (e === e.ownerDocument.documentElement) return candidate(TEST_ID, css("html"));
    const withText = byText ? textCandidates(e, e === this.target) : [];
    const { usable, best: alone } = this.matching(e, sorted([...withText, ...noTextCandidates(e, this.testId, e === this.target)]));
    // A locator has at most two parts: one for an ancestor and one for the target.
    if (e !== this.target) return alone;
    let best = this.nested(e, usable, byText && !withText.length, alone);
    // The text of an ancestor can result in a better locator than the text of the target.
    if (withText.length)
      best = this.nested(
        e,
        usable.filter((one) => !withText.includes(one)),
        true,
        best,
      );
    return best;
  }

  /**
   * Returns the candidates that have the element among their first matches, and the best of them: the first that matches only the element,
   * or for the target the first in combination with `nth`.
   */
  private matching(e: Element, candidates: Candidate[]): { usable: Candidate[]; best: Candidate | undefined } {
    const usable: Candidate[] = [];
    let best: Candidate | undefined;
    for (const one of candidates) {
      if (this.budget-- <= 0) break;
      const found = follow(one.steps, e.ownerDocument);
      if (found[0] === e && found.length === 1) return { usable, best: one };
      const index = found.indexOf(e);
      if (index < 0 || index > MAX_INDEX) continue;
      usable.push(one);
      if (e === this.target) best ??= joined(one, candidate(NTH, { engine: "nth", index }));
    }
    return { usable, best };
  }

  /** Returns the cheapest of `best` and the candidates that start at an ancestor. */
  private nested(e: Element, candidates: Candidate[], byText: boolean, best: Candidate | undefined): Candidate | undefined {
    const cheaper = candidates.filter((one) => !best || cost(one) < cost(best));
    const [cheapest] = cheaper;
    for (let parent = parentOrHost(e); parent && cheapest; parent = parentOrHost(parent)) {
      const outside = this.best(parent, byText);
      if (!outside || (best && cost(joined(outside, cheapest)) >= cost(best))) continue;
      const inside = this.inside(parent, e, cheaper);
      if (!inside) return best;
      const both = joined(outside, inside);
      if (!best || cost(both) < cost(best)) best = both;
    }
    return best;
  }

  /** Returns the first candidate that matches only the element inside `parent`, or for the target one with `nth`. */
  private inside(parent: Element, e: Element, candidates: Candidate[]): Candidate | undefined {
    let withIndex: Candidate | undefined;
    for (const one of candidates) {
      if (this.budget-- <= 0) break;
      const found = follow(one.steps, parent);
      if (found[0] === e && found.length === 1) return one;
      const index = found.indexOf(e);
      if (e === this.target && index >= 0 && index <= MAX_INDEX) withIndex ??= joined(one, candidate(NTH, { engine: "nth", index }));
    }
    return withIndex;
  }
}

function candidate(price: number, step: Step): Candidate {
  return { steps: [step], costs: [price] };
}

function joined(a: Candidate, b: Candidate): Candidate {
  const last = a.steps.at(-1);
  const [first, ...rest] = b.steps;
  if (last?.engine === "css" && first?.engine === "css") {
    // One CSS selector is easier to read than a chain of two.
    const [outer, inner] = [last.list[0] ?? [], first.list[0] ?? []];
    const list = [[...outer, ...inner.map((compound, i) => (i ? compound : { ...compound, combinator: " " }))]];
    const one: Step = { engine: "css", css: `${last.css} ${first.css}`, native: true, list };
    return { steps: [...a.steps.slice(0, -1), one, ...rest], costs: [...a.costs, ...b.costs] };
  }
  return { steps: [...a.steps, ...b.steps], costs: [...a.costs, ...b.costs] };
}

/** Returns the total cost. Earlier steps have a higher weight. */
function cost({ costs }: Candidate): number {
  return costs.reduce((sum, price, i) => sum + price * (costs.length - i), 0);
}

function sorted(candidates: Candidate[]): Candidate[] {
  return candidates.sort((a, b) => cost(a) - cost(b));
}

/** Returns the cost of a step with a text: one more for every ten characters, at most ten. */
function costOfText(price: number, text: string): number {
  return price + Math.min(10, Math.floor(text.length / 10));
}

function css(selector: string): Step {
  const compound = { css: selector };
  return { engine: "css", css: selector, native: true, list: [[compound]] };
}

/** Returns the candidates that do not contain the text of the element. */
function noTextCandidates(e: Element, testId: string, isTarget: boolean): Candidate[] {
  const candidates: Candidate[] = [];
  const tag = tagOf(e);
  const id = shortAttribute(e, testId);
  if (id) candidates.push(candidate(TEST_ID, { engine: "testId", attribute: testId, text: { text: id, exact: true } }));
  for (const attribute of OTHER_TEST_IDS) {
    const value = shortAttribute(e, attribute);
    if (value && attribute !== testId) candidates.push(candidate(OTHER_TEST_ID, css(`[${attribute}=${quoted(value)}]`)));
  }
  if (tag === "iframe") {
    for (const attribute of ["name", "title"]) {
      const value = shortAttribute(e, attribute);
      if (value) candidates.push(candidate(FRAME, css(`iframe[${attribute}=${quoted(value)}]`)));
    }
  }
  const own = shortAttribute(e, "id");
  if (own && !looksRandom(own)) candidates.push(candidate(ID, css(idSelector(own))));
  candidates.push(candidate(TAG, css(CSS.escape(tag))));
  if (/^(button|fieldset|iframe|input|map|meta|object|output|param|select|slot|textarea|form)$/.test(tag)) {
    const name = shortAttribute(e, "name");
    if (name && tag !== "iframe") candidates.push(candidate(ATTRIBUTE, css(`${tag}[name=${quoted(name)}]`)));
  }
  const type = tag === "input" && shortAttribute(e, "type");
  if (type && type !== "hidden") candidates.push(candidate(ATTRIBUTE, css(`input[type=${quoted(type)}]`)));
  if (tag === "input" || tag === "textarea") {
    const placeholder = e.getAttribute("placeholder");
    if (placeholder)
      candidates.push(
        ...textMatches(placeholder, PLACEHOLDER, "placeholder", (text) => ({ engine: "attribute", name: "placeholder", text })),
      );
  }
  // For an ancestor whose name comes from its content, candidates with labels and names contain text.
  const named = isTarget || !hasNameFromContent(e);
  if (named) candidates.push(...labelCandidates(e));
  const role = writtenRole(e);
  if (isUsableRole(role)) {
    if (named && !isTarget) candidates.push(...roleCandidates(e, role));
    candidates.push(candidate(ROLE, { engine: "role", role }));
  }
  return candidates;
}

/** Returns the role; null for a custom element with `ElementInternals`, whose role and name Playwright does not know. */
function writtenRole(e: Element): string | null {
  return seen(e).internals ? null : elementRole(e);
}

/** Returns the value of an attribute, or null if it has none or one that is too long for a locator. */
function shortAttribute(e: Element, name: string): string | null {
  const value = e.getAttribute(name);
  return value && value.length <= MAX_TEXT ? value : null;
}

/** Returns the candidates with the text, the name, the title or the alternative text of the element. */
function textCandidates(e: Element, isTarget: boolean): Candidate[] {
  const candidates: Candidate[] = [];
  const tag = tagOf(e);
  if (tag === "select") return candidates;
  const title = e.getAttribute("title");
  if (title) candidates.push(...textMatches(title, TITLE, "title", (text) => ({ engine: "attribute", name: "title", text })));
  const alt = e.getAttribute("alt");
  if (alt && /^(applet|area|img|input)$/.test(tag))
    candidates.push(...textMatches(alt, ALT, "alt", (text) => ({ engine: "attribute", name: "alt", text })));
  const text = textOf(e).squashed;
  const parts = text ? alternatives(text) : [];
  const regex: TextMatch | undefined = text.length <= LONG_TEXT && isTarget ? { regex: `^${escapeRegex(text)}$` } : undefined;
  const addWithText = (step: Step, price: number): void => {
    for (const part of parts)
      candidates.push(
        joined(
          candidate(price, step),
          candidate(costOfText(TEXT, part.text) - part.bonus, { engine: "hasText", text: { text: part.text } }),
        ),
      );
    if (regex)
      candidates.push(joined(candidate(price, step), candidate(costOfText(REGEX, regex.regex), { engine: "hasText", text: regex })));
  };
  if (text && isTarget) {
    candidates.push(...textMatches(text, TEXT, "", (match) => ({ engine: "text", text: match }), LONG_TEXT));
  }
  if (text) addWithText(css(CSS.escape(tag)), TAG);
  const role = writtenRole(e);
  if (isUsableRole(role)) {
    const names = roleCandidates(e, role);
    if (!names.length) addWithText({ engine: "role", role }, ROLE);
    else if (isTarget || hasNameFromContent(e)) candidates.push(...names);
  }
  if (!isTarget && hasNameFromContent(e)) candidates.push(...labelCandidates(e));
  return candidates;
}

function labelCandidates(e: Element): Candidate[] {
  if (tagOf(e) === "iframe") return [];
  const labels = labelsOf(e).map(({ squashed }) => squashed);
  return labels.flatMap((label) => (label ? textMatches(label, LABEL, "", (text) => ({ engine: "label", text })) : []));
}

/** Returns the candidates with the role and the name, without and with the description; with the description alone if there is no name. */
function roleCandidates(e: Element, role: string): Candidate[] {
  const name = tagOf(e) === "select" ? "" : elementName(e);
  const description = descriptionOf(e);
  const prefix = `${role}[name=]`;
  const withDescription = (match: TextMatch): TextMatch => ({ ...match, text: description });
  // The glyphs of icon fonts are in the private use area of Unicode.
  if (!name || /^\p{Co}+$/u.test(name)) {
    if (!description || description.length > MAX_TEXT) return [];
    return [candidate(ROLE + EXACT, { engine: "role", role, description: { text: description, exact: true } })];
  }
  const candidates = textMatches(name, ROLE_NAME, prefix, (match) => ({ engine: "role", role, name: match }));
  if (description && description.length <= MAX_TEXT) {
    candidates.push(
      ...textMatches(name, ROLE_NAME + DESCRIPTION, `${prefix}[description="${description}"i]`, (match) => ({
        engine: "role",
        role,
        name: match,
        description: withDescription(match),
      })),
    );
  }
  return candidates;
}

/** Returns whether the accessible name comes from the content of the element, not from an attribute or a label outside. */
function hasNameFromContent(e: Element): boolean {
  const labels = references(seen(e), "aria-labelledby");
  if (labels.length) return labels.some((label) => e.contains(label));
  const name = elementName(e);
  return !!name && !e.getAttribute("aria-label")?.trim() && e.getAttribute("title")?.trim() !== name;
}

/** Returns whether `getByRole` of Playwright supports the role, and the role is neither generic nor presentational. */
function isUsableRole(role: string | null): role is string {
  return !!role && !/^(none|presentation|generic|comment|suggestion|section(header|footer)|(doc|graphics)-.*)$/.test(role);
}

/** Returns the candidates of a step with the whole text, matched exactly, unless it is too long; and with each shorter form of the text. */
function textMatches(text: string, price: number, prefix: string, step: (text: TextMatch) => Step, maxLength = MAX_TEXT): Candidate[] {
  const whole = text.length <= maxLength ? [candidate(costOfText(price, `${prefix}"${text}"s`) + EXACT, step({ text, exact: true }))] : [];
  return [
    ...whole,
    ...alternatives(text).map((part) => candidate(costOfText(price, `${prefix}"${part.text}"i`) - part.bonus, step({ text: part.text }))),
  ];
}

/** Returns shorter forms of a text with their bonus: cut, and without a number at the start or end, which is likely to change. */
function alternatives(text: string): { text: string; bonus: number }[] {
  const found: { text: string; bonus: number }[] = [];
  const add = (part: string): void => {
    if (part) found.push({ text: part, bonus: part.length <= SHORT_TEXT ? 2 : 1 });
  };
  const leading = /^[\d.,]+(?=[^.,\w])/.exec(text);
  if (leading) add(cut(text.slice(leading[0].length).trimStart(), LONG_TEXT));
  const trailing = /[^.,\w]([\d.,]+)$/.exec(text);
  if (trailing?.[1]) add(cut(text.slice(0, -trailing[1].length).trimEnd(), LONG_TEXT));
  if (text.length <= SHORT_TEXT) found.push({ text, bonus: 0 });
  else found.push({ text: cut(text, LONG_TEXT), bonus: 0 }, { text: cut(text, SHORT_TEXT), bonus: 1 });
  return found.filter((one) => one.text);
}

/** Returns the words of a text that fit into a length; empty if the first word does not fit. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const start = text.slice(0, length);
  return (/^(.*)\b.+?$/.exec(start)?.[1] ?? "").trimEnd();
}

/** Returns whether an id is probably generated: the kind of character (lower case, upper case, digit) changes often. */
function looksRandom(id: string): boolean {
  let changes = 0;
  let last = "";
  for (const c of id) {
    if (c === "-" || c === "_") continue;
    const kind = c >= "a" && c <= "z" ? "lower" : c >= "A" && c <= "Z" ? "upper" : c >= "0" && c <= "9" ? "digit" : "other";
    if (last && last !== kind && !(last === "upper" && kind === "lower")) changes++;
    last = kind;
  }
  return changes >= id.length / 4;
}

/** Returns a CSS path of tags, ids, classes and positions, for elements without a better locator. */
function path(e: Element): Candidate {
  const parts: string[] = [];
  // Returns the path as a candidate, if the element is its first match.
  const first = (selector: string): Candidate | undefined => {
    const step = pathStep(selector);
    const found = follow([step], e.ownerDocument);
    if (found[0] !== e) return undefined;
    return found.length === 1 ? candidate(PATH, step) : joined(candidate(PATH, step), candidate(NTH, { engine: "nth", index: 0 }));
  };
  for (let at: Element | undefined = e; at && at !== e.ownerDocument.documentElement; at = parentOrHost(at)) {
    const tag = CSS.escape(tagOf(at));
    const siblings = at.parentNode ? [...at.parentNode.children] : [at];
    const isFirst = siblings.find((other) => other.matches(tag)) === at;
    let own = isFirst ? tag : `${tag}:nth-child(${siblings.indexOf(at) + 1})`;
    const id = shortAttribute(at, "id");
    for (const option of [...(id ? [idSelector(id)] : []), ...classSelectors(at), own]) {
      const found = first([option, ...parts].join(" > "));
      if (found) return found;
    }
    own = classSelectors(at).find((selector) => at?.parentNode?.querySelectorAll(selector).length === 1) ?? own;
    parts.unshift(own);
  }
  return candidate(PATH, pathStep(parts.join(" > ")));
}

function classSelectors(e: Element): string[] {
  const classes = [...e.classList].filter((name) => name.length <= MAX_TEXT).map((name) => `.${CSS.escape(name)}`);
  return classes.map((_, i) => classes.slice(0, i + 1).join(""));
}

function pathStep(selector: string): Step {
  const compounds = selector.split(" > ").map((compound, i) => (i ? { combinator: ">", css: compound } : { css: compound }));
  return { engine: "css", css: selector, native: true, list: [compounds] };
}

function idSelector(id: string): string {
  return /^[a-zA-Z][\w-]+$/.test(id) ? `#${id}` : `[id=${quoted(id)}]`;
}

function quoted(value: string): string {
  return `"${value.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\a ")}"`;
}

function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
