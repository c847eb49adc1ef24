// The best locator for an element: the shortest way to name it that a person would choose and that survives a redesign.

import { descriptionOf, nameOf, references } from "./aria/names";
import { roleOf } from "./aria/roles";
import { closest, isVisible, parentOrHost, tagOf } from "./dom";
import { held, type Handle } from "./handles";
import { seen, withCaches } from "./seen";
import { follow } from "./selector/query";
import type { Step, TextMatch } from "./selector/steps";
import { labelsOf, textOf } from "./selector/text";

// What each way costs; the cheapest that names the element wins.
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
/** A number beyond this says nothing to a reader. */
const COUNTED = 5;
const SHORT = 30;
const LONG = 80;
/** A value that is longer is in no locator. */
const LONGEST = 1_000;
/** How many searches one element is worth. */
const SEARCHES = 600;

interface Way {
  steps: Step[];
  costs: number[];
}

/** What a click on a part of it means. */
const CONTROL = "button,select,input,a,[role=button],[role=checkbox],[role=radio],[role=link]";

/** The best locator of the element, or of the control around it. */
export function generate({ handles, testIdAttribute }: { handles: Handle[]; testIdAttribute: string }): (Step[] | null)[] {
  return withCaches(() =>
    handles.map((handle) => {
      const e = held(handle);
      return e?.isConnected ? locatorOf(e, testIdAttribute) : null;
    }),
  );
}

/** The same for one element. */
export function locator({ handle, testIdAttribute }: { handle: Handle; testIdAttribute: string }): Step[] | null {
  return generate({ handles: [handle], testIdAttribute })[0] ?? null;
}

/** The steps of the element's best locator, or of that of the control around it. */
export function locatorOf(e: Element, testIdAttribute: string): Step[] {
  const target = meant(e);
  return (new Search(target, testIdAttribute).best(target, true) ?? path(target)).steps;
}

function meant(e: Element): Element {
  if (e.matches("input,textarea,select") || (e as HTMLElement).isContentEditable) return e;
  const control = closest(e, CONTROL);
  return control && isVisible(control) ? control : e;
}

class Search {
  private left = SEARCHES;
  private readonly known = new Map<Element, [(Way | undefined)?, (Way | undefined)?]>();

  constructor(
    private readonly target: Element,
    private readonly testId: string,
  ) {}

  /** The cheapest way to name the element and no other in its document; with `byText` by what it or an ancestor says, too. */
  best(e: Element, byText: boolean): Way | undefined {
    let known = this.known.get(e);
    if (!known) this.known.set(e, (known = []));
    const slot = byText ? 1 : 0;
    if (!(slot in known)) known[slot] = this.find(e, byText);
    return known[slot];
  }

  private find(e: Element, byText: boolean): Way | undefined {
    if (e === e.ownerDocument.documentElement) return way(TEST_ID, css("html"));
    const says = byText ? textWays(e, e === this.target) : [];
    const { usable, best: alone } = this.tried(e, sorted([...says, ...plainWays(e, this.testId, e === this.target)]));
    // A locator of more than two parts is none that a person would write.
    if (e !== this.target) return alone;
    let best = this.below(e, usable, byText && !says.length, alone);
    // What the element says may serve worse than what one of its ancestors says.
    if (says.length)
      best = this.below(
        e,
        usable.filter((one) => !says.includes(one)),
        true,
        best,
      );
    return best;
  }

  /** The first way that leads to the element alone, or else with a number; and the ways among whose first matches it is. */
  private tried(e: Element, ways: Way[]): { usable: Way[]; best: Way | undefined } {
    const usable: Way[] = [];
    let best: Way | undefined;
    for (const one of ways) {
      if (this.left-- <= 0) break;
      const found = follow(one.steps, e.ownerDocument);
      if (found[0] === e && found.length === 1) return { usable, best: one };
      const index = found.indexOf(e);
      if (index < 0 || index > COUNTED) continue;
      usable.push(one);
      if (e === this.target) best ??= joined(one, way(NTH, { engine: "nth", index }));
    }
    return { usable, best };
  }

  /** The best of `best` and of the ways that start at an ancestor that can be named alone. */
  private below(e: Element, ways: Way[], byText: boolean, best: Way | undefined): Way | undefined {
    const cheaper = ways.filter((one) => !best || cost(one) < cost(best));
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

  /** The first way that, below the parent, leads to the element alone, or else with a number. */
  private inside(parent: Element, e: Element, ways: Way[]): Way | undefined {
    let numbered: Way | undefined;
    for (const one of ways) {
      if (this.left-- <= 0) break;
      const found = follow(one.steps, parent);
      if (found[0] === e && found.length === 1) return one;
      const index = found.indexOf(e);
      if (e === this.target && index >= 0 && index <= COUNTED) numbered ??= joined(one, way(NTH, { engine: "nth", index }));
    }
    return numbered;
  }
}

function way(price: number, step: Step): Way {
  return { steps: [step], costs: [price] };
}

function joined(a: Way, b: Way): Way {
  const last = a.steps.at(-1);
  const [first, ...rest] = b.steps;
  if (last?.engine === "css" && first?.engine === "css") {
    // Two selectors in CSS read better as one.
    const [outer, inner] = [last.list[0] ?? [], first.list[0] ?? []];
    const list = [[...outer, ...inner.map((compound, i) => (i ? compound : { ...compound, combinator: " " }))]];
    const one: Step = { engine: "css", css: `${last.css} ${first.css}`, native: true, list };
    return { steps: [...a.steps.slice(0, -1), one, ...rest], costs: [...a.costs, ...b.costs] };
  }
  return { steps: [...a.steps, ...b.steps], costs: [...a.costs, ...b.costs] };
}

/** What comes first weighs more: it narrows all that follows. */
function cost({ costs }: Way): number {
  return costs.reduce((sum, price, i) => sum + price * (costs.length - i), 0);
}

function sorted(ways: Way[]): Way[] {
  return ways.sort((a, b) => cost(a) - cost(b));
}

/** Every ten characters of what is to be read cost one, at most ten. */
function spelled(price: number, spelling: string): number {
  return price + Math.min(10, Math.floor(spelling.length / 10));
}

function css(selector: string): Step {
  const compound = { css: selector };
  return { engine: "css", css: selector, native: true, list: [[compound]] };
}

/** Ways that say nothing of the element's text. */
function plainWays(e: Element, testId: string, isTarget: boolean): Way[] {
  const ways: Way[] = [];
  const tag = tagOf(e);
  const id = spoken(e, testId);
  if (id) ways.push(way(TEST_ID, { engine: "testId", attribute: testId, text: { text: id, exact: true } }));
  for (const attribute of OTHER_TEST_IDS) {
    const value = spoken(e, attribute);
    if (value && attribute !== testId) ways.push(way(OTHER_TEST_ID, css(`[${attribute}=${quoted(value)}]`)));
  }
  if (tag === "iframe") {
    for (const attribute of ["name", "title"]) {
      const value = spoken(e, attribute);
      if (value) ways.push(way(FRAME, css(`iframe[${attribute}=${quoted(value)}]`)));
    }
  }
  const own = spoken(e, "id");
  if (own && !looksRandom(own)) ways.push(way(ID, css(idSelector(own))));
  ways.push(way(TAG, css(CSS.escape(tag))));
  if (/^(button|fieldset|iframe|input|map|meta|object|output|param|select|slot|textarea|form)$/.test(tag)) {
    const name = spoken(e, "name");
    if (name && tag !== "iframe") ways.push(way(ATTRIBUTE, css(`${tag}[name=${quoted(name)}]`)));
  }
  const type = tag === "input" && spoken(e, "type");
  if (type && type !== "hidden") ways.push(way(ATTRIBUTE, css(`input[type=${quoted(type)}]`)));
  if (tag === "input" || tag === "textarea") {
    const placeholder = e.getAttribute("placeholder");
    if (placeholder)
      ways.push(...wordings(placeholder, PLACEHOLDER, "placeholder", (text) => ({ engine: "attribute", name: "placeholder", text })));
  }
  // An ancestor may be called by something besides what can be read in it.
  const named = isTarget || !saysName(e);
  if (named) ways.push(...labelWays(e));
  const role = roleOf(e);
  if (isRole(role)) {
    if (named && !isTarget) ways.push(...roleNames(e, role));
    ways.push(way(ROLE, { engine: "role", role }));
  }
  return ways;
}

/** An attribute's value, if it is short enough for a locator. */
function spoken(e: Element, name: string): string | null {
  const value = e.getAttribute(name);
  return value && value.length <= LONGEST ? value : null;
}

/** Ways by what the element says or is called. */
function textWays(e: Element, isTarget: boolean): Way[] {
  const ways: Way[] = [];
  const tag = tagOf(e);
  if (tag === "select") return ways;
  const title = e.getAttribute("title");
  if (title) ways.push(...wordings(title, TITLE, "title", (text) => ({ engine: "attribute", name: "title", text })));
  const alt = e.getAttribute("alt");
  if (alt && /^(applet|area|img|input)$/.test(tag))
    ways.push(...wordings(alt, ALT, "alt", (text) => ({ engine: "attribute", name: "alt", text })));
  const text = textOf(e).squashed;
  const parts = text ? alternatives(text) : [];
  const regex: TextMatch | undefined = text.length <= LONG && isTarget ? { regex: `^${escapeRegex(text)}$` } : undefined;
  const withText = (step: Step, price: number): void => {
    for (const part of parts)
      ways.push(joined(way(price, step), way(spelled(TEXT, part.text) - part.bonus, { engine: "hasText", text: { text: part.text } })));
    if (regex) ways.push(joined(way(price, step), way(spelled(REGEX, regex.regex), { engine: "hasText", text: regex })));
  };
  if (text && isTarget) {
    ways.push(...wordings(text, TEXT, "", (match) => ({ engine: "text", text: match }), LONG));
  }
  if (text) withText(css(CSS.escape(tag)), TAG);
  const role = roleOf(e);
  if (isRole(role)) {
    const names = roleNames(e, role);
    if (!names.length) withText({ engine: "role", role }, ROLE);
    else if (isTarget || saysName(e)) ways.push(...names);
  }
  if (!isTarget && saysName(e)) ways.push(...labelWays(e));
  return ways;
}

function labelWays(e: Element): Way[] {
  if (tagOf(e) === "iframe") return [];
  const words = labelsOf(e).map(({ squashed }) => squashed);
  return words.flatMap((label) => (label ? wordings(label, LABEL, "", (text) => ({ engine: "label", text })) : []));
}

/** Ways by role and name, the description besides where the name is not enough; by the description alone where there is no name. */
function roleNames(e: Element, role: string): Way[] {
  const name = tagOf(e) === "select" ? "" : nameOf(e);
  const description = descriptionOf(e);
  const around = `${role}[name=]`;
  const described = (text: TextMatch): TextMatch => ({ ...text, text: description });
  // Icon fonts put their glyphs into the private use area.
  if (!name || /^\p{Co}+$/u.test(name)) {
    if (!description || description.length > LONGEST) return [];
    return [way(ROLE + EXACT, { engine: "role", role, description: { text: description, exact: true } })];
  }
  const ways = wordings(name, ROLE_NAME, around, (match) => ({ engine: "role", role, name: match }));
  if (description && description.length <= LONGEST) {
    ways.push(
      ...wordings(name, ROLE_NAME + DESCRIPTION, `${around}[description="${description}"i]`, (match) => ({
        engine: "role",
        role,
        name: match,
        description: described(match),
      })),
    );
  }
  return ways;
}

/** Whether the element's name is what can be read in it, rather than an attribute or a label elsewhere. */
function saysName(e: Element): boolean {
  const labels = references(seen(e), "aria-labelledby");
  if (labels.length) return labels.some((label) => e.contains(label));
  const name = nameOf(e);
  return !!name && !e.getAttribute("aria-label")?.trim() && e.getAttribute("title")?.trim() !== name;
}

/** Whether `getByRole` of Playwright takes the role, and elements have it by their own. */
function isRole(role: string | null): role is string {
  return !!role && !/^(none|presentation|generic|comment|suggestion|section(header|footer)|(doc|graphics)-.*)$/.test(role);
}

/** The step with the whole text exactly, where it is not too long, then with each of its alternatives. */
function wordings(text: string, price: number, around: string, step: (text: TextMatch) => Step, longest = LONGEST): Way[] {
  const whole = text.length <= longest ? [way(spelled(price, `${around}"${text}"s`) + EXACT, step({ text, exact: true }))] : [];
  return [
    ...whole,
    ...alternatives(text).map((part) => way(spelled(price, `${around}"${part.text}"i`) - part.bonus, step({ text: part.text }))),
  ];
}

/** Shorter forms of a text: without a number at its start or end, which is likely to change, and cut. */
function alternatives(text: string): { text: string; bonus: number }[] {
  const found: { text: string; bonus: number }[] = [];
  const add = (part: string): void => {
    if (part) found.push({ text: part, bonus: part.length <= SHORT ? 2 : 1 });
  };
  const leading = /^[\d.,]+(?=[^.,\w])/.exec(text);
  if (leading) add(cut(text.slice(leading[0].length).trimStart(), LONG));
  const trailing = /[^.,\w]([\d.,]+)$/.exec(text);
  if (trailing?.[1]) add(cut(text.slice(0, -trailing[1].length).trimEnd(), LONG));
  if (text.length <= SHORT) found.push({ text, bonus: 0 });
  else found.push({ text: cut(text, LONG), bonus: 0 }, { text: cut(text, SHORT), bonus: 1 });
  return found.filter((one) => one.text);
}

/** The text up to a length, without the word that was cut; nothing if no word ends before. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const start = text.slice(0, length);
  return (/^(.*)\b.+?$/.exec(start)?.[1] ?? "").trimEnd();
}

/** Whether the kinds of characters change as often as chance would have it. */
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

/** A path of tags, classes and places from the nearest ancestor that makes it lead here first, when nothing else will do. */
function path(e: Element): Way {
  const parts: string[] = [];
  // The step of the path, if the element is the first it leads to.
  const first = (selector: string): Way | undefined => {
    const step = pathStep(selector);
    const found = follow([step], e.ownerDocument);
    if (found[0] !== e) return undefined;
    return found.length === 1 ? way(PATH, step) : joined(way(PATH, step), way(NTH, { engine: "nth", index: 0 }));
  };
  for (let at: Element | undefined = e; at && at !== e.ownerDocument.documentElement; at = parentOrHost(at)) {
    const tag = CSS.escape(tagOf(at));
    const siblings = at.parentNode ? [...at.parentNode.children] : [at];
    const leads = siblings.find((other) => other.matches(tag)) === at;
    let own = leads ? tag : `${tag}:nth-child(${siblings.indexOf(at) + 1})`;
    const id = spoken(at, "id");
    for (const option of [...(id ? [idSelector(id)] : []), ...classSelectors(at), own]) {
      const found = first([option, ...parts].join(" > "));
      if (found) return found;
    }
    own = classSelectors(at).find((selector) => at?.parentNode?.querySelectorAll(selector).length === 1) ?? own;
    parts.unshift(own);
  }
  return way(PATH, pathStep(parts.join(" > ")));
}

function classSelectors(e: Element): string[] {
  const classes = [...e.classList].filter((name) => name.length <= LONGEST).map((name) => `.${CSS.escape(name)}`);
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
