// Names and descriptions: https://www.w3.org/TR/accname-1.2/#mapping_additional_nd_te, with the native sources of https://www.w3.org/TR/html-aam-1.0/#accname-computation.

import { attributeOf, cached, cachedByRoot, displayOf, flatChildren, flatParent, hasAttribute, isSvg, rootOf, shadowRootOf, squash, tagOf } from "../dom";
import { isHiddenForAria, isPresentational, roleOf } from "./roles";

const roles = (s: string): Set<string> => new Set(s.split(" "));

const UNNAMED = roles("caption code definition deletion emphasis generic insertion mark paragraph presentation strong subscript suggestion superscript term time");
const BY_CONTENT = roles(
  "button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio row rowheader switch tab tooltip treeitem",
);
// What gives its content to the name of an element around it, though it has no such name of its own; the first is that of no role.
const PASSES_CONTENT = roles(
  " caption code contentinfo definition deletion emphasis insertion list listitem mark none paragraph presentation region rowgroup section strong subscript superscript table term time",
);
const RANGES = roles("meter progressbar scrollbar slider spinbutton");

/** A name, and the elements whose own text or attributes make it up; `parts` stands for those of a caption, legend or label. */
export interface Name {
  readonly text: string;
  readonly sources: readonly (Element | "parts")[];
}

interface Walk {
  readonly includeHidden: boolean;
  readonly visited: Set<Element>;
  readonly sources: (Element | "parts")[];
  /** Below an element that `aria-labelledby` or `aria-describedby` points to. */
  readonly referred: boolean;
  /** In a label, a reference or the content of the element whose name it is: a control stands for its value. */
  readonly embedded: boolean;
  /** In the content of an element that is named by it. */
  readonly inside: boolean;
}

const shown = cached((e: Element) => compute(e, false));
const all = cached((e: Element) => compute(e, true));

/** The accessible name, as one line. A hidden element has none, unless hidden elements are included. */
export function nameOf(e: Element, options: { includeHidden?: boolean } = {}): string {
  return (options.includeHidden ? all(e) : shown(e)).text;
}

/** The accessible name with what it was taken from. */
export function sourcedNameOf(e: Element): Name {
  return shown(e);
}

const NAMELESS: Name = { text: "", sources: [] };
const NAMED_BY_HTML = roles("area button fieldset figure img input meter output progress select summary table textarea");

/** Whether nothing about the element could give it a name; so for most elements of a page. */
function isNameless(e: Element): boolean {
  const role = roleOf(e) ?? "";
  if (UNNAMED.has(role)) return true;
  if (BY_CONTENT.has(role) || NAMED_BY_HTML.has(tagOf(e)) || isSvg(e)) return false;
  return !hasAttribute(e, "aria-label") && !hasAttribute(e, "aria-labelledby") && !hasAttribute(e, "title");
}

function compute(e: Element, includeHidden: boolean): Name {
  if (isNameless(e)) return NAMELESS;
  const plain = includeHidden ? "" : plainName(e);
  if (plain) return { text: plain, sources: [e] };
  const sources: Walk["sources"] = [];
  return { text: squash(alternative(e, { includeHidden, visited: new Set(), sources, referred: false, embedded: false, inside: false })), sources };
}

/** The name of what is named by its content, and holds nothing but text; so for most cells, links and items of a page. Else empty. */
function plainName(e: Element): string {
  if (!BY_CONTENT.has(roleOf(e) ?? "") || NAMED_BY_HTML.has(tagOf(e)) || isSvg(e)) return "";
  if (hasAttribute(e, "aria-label") || hasAttribute(e, "aria-labelledby") || isHiddenForAria(e)) return "";
  return squash(plainText(e) ?? "");
}

/** The text of an element that holds nothing but text. */
const plainText = cached((e: Element): string | null => {
  if (e.firstElementChild || shadowRootOf(e) || tagOf(e) === "slot" || hasAttribute(e, "aria-owns")) return null;
  const text = e.textContent ?? "";
  return mayGenerate(e) ? pseudoText(e, "::before") + text + pseudoText(e, "::after") : text;
});

/** The accessible description: of `aria-describedby`, else `aria-description`, else the title. */
export function descriptionOf(e: Element): string {
  if (hasAttribute(e, "aria-describedby")) {
    const texts = references(e, "aria-describedby").map((r) => ofReference(r, { includeHidden: false, visited: new Set(), sources: [] }));
    return squash(texts.join(" "));
  }
  const own = squash(attributeOf(e, "aria-description") ?? "");
  if (own) return own;
  return squash(attributeOf(e, "title") ?? "");
}

function ofReference(e: Element, { includeHidden, visited, sources }: Pick<Walk, "includeHidden" | "visited" | "sources">): string {
  return alternative(e, { includeHidden: includeHidden || isHiddenForAria(e), visited, sources, referred: true, embedded: true, inside: false });
}

const NONE: readonly Element[] = [];

/** The elements that an attribute with a list of ids names, in the order of the list. */
export function references(e: Element, attribute: string): readonly Element[] {
  const ids = attributeOf(e, attribute);
  if (!ids) return NONE;
  entanglements++;
  const root = rootOf(e);
  const found = new Set<Element>();
  for (const id of ids.split(/\s+/)) {
    const target = id && root.getElementById(id);
    if (target) found.add(target);
  }
  return [...found];
}

function alternative(e: Element, walk: Walk): string {
  if (walk.visited.has(e)) {
    entanglements++;
    return "";
  }
  if (!walk.includeHidden && isHiddenForAria(e)) {
    walk.visited.add(e);
    return "";
  }
  if (!walk.referred && hasAttribute(e, "aria-labelledby")) {
    const text = squash(references(e, "aria-labelledby").map((r) => ofReference(r, walk)).join(" "));
    if (text) return text;
  }
  const role = roleOf(e) ?? "";
  if (walk.embedded) {
    const value = embeddedValue(e, role, walk);
    if (value !== undefined) {
      entanglements++;
      return value;
    }
  }
  walk.visited.add(e);
  const label = attributeOf(e, "aria-label")?.trim();
  if (label) return own(e, label, walk);
  const presentational = isPresentational(role);
  const native = presentational ? undefined : nativeName(e, walk);
  if (native !== undefined) return native;
  const tag = tagOf(e);
  const summary = tag === "summary";
  if (tag === "label") entanglements++;
  if (BY_CONTENT.has(role) || walk.referred || summary || ((walk.inside || walk.embedded) && PASSES_CONTENT.has(role))) {
    const text = contentText(e, walk.inside && walk.embedded ? walk : { ...walk, embedded: true, inside: true });
    if (walk.inside ? text : text.trim()) return text;
  }
  return presentational ? "" : own(e, attributeOf(e, "title") ?? "", walk);
}

/** Notes the element as the source of a text, if there is some. */
function own(e: Element, text: string, walk: Walk): string {
  if (text.trim()) walk.sources.push(e);
  return text;
}

/** The value by which a control stands in the name of something else. */
function embeddedValue(e: Element, role: string, walk: Walk): string | undefined {
  if (role === "textbox" || role === "searchbox") {
    walk.visited.add(e);
    return own(e, isTextField(e) ? shownValue(e) : (e.textContent ?? ""), walk);
  }
  if (role === "combobox" || role === "listbox") {
    walk.visited.add(e);
    if (isTextField(e)) return own(e, shownValue(e), walk);
    noteLabelAround(e, walk);
    const texts = chosen(e, role).map((option) => alternative(option, { ...walk, inside: true }));
    return texts.join(" ");
  }
  if (RANGES.has(role)) {
    walk.visited.add(e);
    return own(e, attributeOf(e, "aria-valuetext") ?? attributeOf(e, "aria-valuenow") ?? attributeOf(e, "value") ?? "", walk);
  }
  if (role === "menu") {
    walk.visited.add(e);
    return "";
  }
  return undefined;
}

function chosen(e: Element, role: string): Element[] {
  if (e instanceof HTMLSelectElement) {
    const [first] = e.options;
    return e.selectedOptions.length || !first ? [...e.selectedOptions] : [first];
  }
  const list = role === "combobox" ? [...e.querySelectorAll("*")].find((child) => roleOf(child) === "listbox") : e;
  return list ? [...list.querySelectorAll("[aria-selected=true]")].filter((child) => roleOf(child) === "option") : [];
}

/** Whether it is an `input` or a `textarea`. */
export function isTextField(e: Element): e is HTMLInputElement | HTMLTextAreaElement {
  const tag = tagOf(e);
  return (tag === "input" || tag === "textarea") && (e instanceof HTMLInputElement || e instanceof HTMLTextAreaElement);
}

/** The value of a field as it is on the screen: of a password only its length leaves the page. */
export function shownValue(e: HTMLInputElement | HTMLTextAreaElement): string {
  return e.type === "password" ? "•".repeat(e.value.length) : e.value;
}

/** The name that the element's own kind of HTML gives it, which may be empty; undefined where content or title is to decide. */
function nativeName(e: Element, walk: Walk): string | undefined {
  const attribute = (name: string): string => attributeOf(e, name) ?? "";
  const titled = (text: string): string => own(e, text.trim() ? text : attribute("title"), walk);
  const tag = tagOf(e);
  switch (tag) {
    case "input": {
      const type = (e as HTMLInputElement).type;
      if (/^(button|submit|reset)$/.test(type)) {
        return titled((e as HTMLInputElement).value || (type === "submit" ? "Submit" : type === "reset" ? "Reset" : ""));
      }
      const labels = labelsText(e, walk);
      if (labels !== undefined) return labels;
      if (type === "file") return own(e, "Choose File", walk);
      if (type === "image") return own(e, attribute("alt").trim() || attribute("title").trim() || "Submit", walk);
      return own(e, placeholderOrTitle(e, !/^(checkbox|color|date|datetime-local|month|radio|range|time|week)$/.test(type)), walk);
    }
    case "textarea":
      return labelsText(e, walk) ?? own(e, placeholderOrTitle(e, true), walk);
    case "select":
    case "output":
      return labelsText(e, walk) ?? titled("");
    case "button":
    case "meter":
    case "progress":
      return labelsText(e, walk);
    case "fieldset":
      return partText(e, "legend", walk) ?? titled("");
    case "figure":
      return partText(e, "figcaption", walk) ?? titled("");
    case "img":
    case "area":
      return titled(attribute("alt").trim());
    case "table":
      return partText(e, "caption", walk) ?? (own(e, attribute("summary"), walk) || undefined);
    default:
      return isSvg(e) ? svgTitle(e, tag, walk) : undefined;
  }
}

function placeholderOrTitle(e: Element, hasPlaceholder: boolean): string {
  const title = attributeOf(e, "title") ?? "";
  return title || !hasPlaceholder ? title : (attributeOf(e, "placeholder") ?? "");
}

function labelsText(e: Element, walk: Walk): string | undefined {
  const labels = walk.referred ? NONE : labelsOf(e);
  if (!labels.length) return undefined;
  entanglements++;
  noteLabelAround(e, walk);
  const texts = labels.map((label) => alternative(label, { ...walk, sources: [], embedded: true, inside: true }));
  return texts.filter((text) => text).join(" ");
}

/** Whether anything under a root can be a label: looking for the labels of each control costs much more. */
const hasLabels = cachedByRoot((root) => !!root.querySelector("label"));

const labelsOf = cached((e: Element): readonly Element[] => (hasLabels(e) ? [...((e as HTMLInputElement).labels ?? NONE)] : NONE));

/** A control in the label that is being read has that label for its name, which tells of it. */
function noteLabelAround(e: Element, walk: Walk): void {
  if (labelsOf(e).some((label) => walk.visited.has(label) && label.contains(e))) walk.sources.push("parts");
}

function partText(e: Element, part: string, walk: Walk): string | undefined {
  const child = [...e.children].find((child) => tagOf(child) === part);
  if (!child) return undefined;
  if (walk.inside) walk.sources.push("parts");
  return alternative(child, { ...walk, sources: walk.inside ? [] : walk.sources, embedded: true, inside: true });
}

function svgTitle(e: Element, tag: string, walk: Walk): string | undefined {
  for (const child of e.children) {
    if (child.localName === "title") return alternative(child, { ...walk, sources: [], includeHidden: true, referred: true, embedded: true });
  }
  return (tag === "a" && attributeOf(e, "xlink:title")?.trim()) || undefined;
}

// Counts what makes the text of an element depend on where the walk has come from: labels, references, and what was visited before.
let entanglements = 0;

/** The text of content that is the same wherever it is read from. */
const plainContents = cached((_: Element): { name?: Name } => ({}));

function contentText(e: Element, walk: Walk): string {
  const plain = plainText(e);
  if (plain !== null) return own(e, plain, walk);
  const reusable = walk.includeHidden || walk.referred ? undefined : plainContents(e);
  if (reusable?.name) {
    for (const source of reusable.name.sources) walk.sources.push(source);
    return reusable.name.text;
  }
  const before = walk.sources.length;
  const entangledBefore = entanglements;
  let text = pseudoText(e, "::before");
  const add = (child: Element): void => {
    const part = alternative(child, walk);
    text += tagOf(child) !== "br" && (displayOf(child) || "inline") === "inline" ? part : ` ${part} `;
  };
  for (const child of flatChildren(e)) {
    if (child instanceof Element) {
      flatParent.tell(child, e);
      add(child);
    } else if (child.nodeType === Node.TEXT_NODE) {
      text += child.nodeValue ?? "";
    }
  }
  for (const owned of references(e, "aria-owns")) add(owned);
  text += pseudoText(e, "::after");
  if (before === walk.sources.length) own(e, text, walk);
  if (reusable && entangledBefore === entanglements) reusable.name = { text, sources: walk.sources.slice(before) };
  return text;
}

/** The text that CSS puts before or after the content of an element. https://www.w3.org/TR/css-content-3/#alt */
export function pseudoText(e: Element, pseudo: "::before" | "::after"): string {
  if (!mayGenerate(e)) return "";
  return pseudo === "::before" ? textBefore(e) : textAfter(e);
}

const textBefore = cached((e: Element) => generatedText(e, "::before"));
const textAfter = cached((e: Element) => generatedText(e, "::after"));

/** Whether a style sheet could put text before or after an element under a root: asking each element costs much more. */
export const mayGenerate = cachedByRoot((root) => [...root.styleSheets, ...root.adoptedStyleSheets].some(sheetGenerates));

function sheetGenerates(sheet: CSSStyleSheet): boolean {
  try {
    return rulesGenerate(sheet.cssRules);
  } catch {
    // Of another origin: nobody can look into it.
    return true;
  }
}

function rulesGenerate(rules: CSSRuleList): boolean {
  for (let at = 0; at < rules.length; at++) {
    const rule = rules[at] as CSSStyleRule & CSSImportRule;
    // Most often it is an empty box that is put there, for looks.
    const { content } = rule.style ?? {};
    if (content && !/^(none|normal|(["'])\s*\2)$/.test(content) && /before|after/i.test(rule.selectorText ?? "::before")) return true;
    if (rule.cssRules?.length && rulesGenerate(rule.cssRules)) return true;
    if (rule.styleSheet && sheetGenerates(rule.styleSheet)) return true;
  }
  return false;
}

function generatedText(e: Element, pseudo: string): string {
  const style = getComputedStyle(e, pseudo);
  const { content } = style;
  if (content === "none" || content === "normal" || !content || style.display === "none" || style.visibility !== "visible") return "";
  const text = contentValue(e, content);
  return text && style.display !== "inline" ? ` ${text} ` : text;
}

const TOKEN = /\s*(?:"((?:[^"\\]|\\.)*)"|attr\(\s*([\w-]+)\s*\)|(\/))/gy;

/** The text of a `content` value that consists of strings and attributes; what comes after a slash is its alternative. */
function contentValue(e: Element, content: string): string {
  let text = "";
  let read = 0;
  for (const [token, string, attribute, slash] of content.matchAll(TOKEN)) {
    read += token.length;
    if (slash) text = "";
    else if (attribute) text += attributeOf(e, attribute) ?? "";
    else text += (string ?? "").replace(/\\([0-9a-f]{1,6}) ?|\\(.)/gi, (_, hex, char) => (hex ? String.fromCodePoint(Number.parseInt(hex, 16)) : char));
  }
  // Counters, images and quotation marks have no text that could be read here.
  const slash = content.lastIndexOf("/");
  return read === content.trimEnd().length ? text : slash < 0 ? "" : contentValue(e, content.slice(slash + 1));
}
