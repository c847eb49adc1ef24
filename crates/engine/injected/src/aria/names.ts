// Names and descriptions: https://www.w3.org/TR/accname-1.2/#mapping_additional_nd_te, with the native sources of https://www.w3.org/TR/html-aam-1.0/#accname-computation.

import { isElement, itIsHtml, itIsSvg, itsChildren, itsField, itsLook, itsRoot, itsShadow, squash } from "../dom";
import { dots, isPassword } from "../passwords";
import { cached, seen, type Name, type Seen } from "../seen";
import { isPresentational, itIsHidden, itsRole, roleOf } from "./roles";

const roles = (s: string): Set<string> => new Set(s.split(" "));

const UNNAMED = roles(
  "caption code definition deletion emphasis generic insertion mark paragraph presentation strong subscript suggestion superscript term time",
);
const BY_CONTENT = roles(
  "button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio row rowheader switch tab tooltip treeitem",
);
// What gives its content to the name of an element around it, though it has no such name of its own; the first is that of no role.
const PASSES_CONTENT = roles(
  " caption code contentinfo definition deletion emphasis insertion list listitem mark none paragraph presentation region rowgroup section strong subscript superscript table term time",
);

interface Walk {
  readonly includeHidden: boolean;
  readonly visited: Set<Element>;
  readonly sources: (Seen | "parts")[];
  /** Below an element that `aria-labelledby` or `aria-describedby` points to. */
  readonly referred: boolean;
  /** In a label, a reference or the content of the element whose name it is: a control stands for its value. */
  readonly embedded: boolean;
  /** In the content of an element that is named by it. */
  readonly inside: boolean;
}

const ofAll = cached((it: Seen) => compute(it, true));

/** The accessible name, as one line. A hidden element has none, unless hidden elements are included. */
export function nameOf(e: Element, options: { includeHidden?: boolean } = {}): string {
  const it = seen(e);
  return (options.includeHidden ? ofAll(it) : itsName(it)).text;
}

/** The accessible name with what it was taken from. */
export function itsName(it: Seen): Name {
  return it.name ?? (it.name = compute(it, false));
}

/** Returns the accessible name including hidden content. */
export function itsFullName(it: Seen): Name {
  return ofAll(it);
}

export const NAMELESS: Name = { text: "", sources: [] };
const NAMED_BY_HTML = roles("area button fieldset figure img input meter output progress select summary table textarea");

function compute(it: Seen, includeHidden: boolean): Name {
  const role = itsRole(it) ?? "";
  if (UNNAMED.has(role)) return NAMELESS;
  const byContent = BY_CONTENT.has(role);
  const byHtml = NAMED_BY_HTML.has(it.tag) || itIsSvg(it);
  const labelled = it.attributeNames.length > 0 && (it.has("aria-label") || it.has("aria-labelledby"));
  // So it is for most elements of a page.
  if (!byContent && !byHtml && !labelled && !it.has("title")) return NAMELESS;
  if (byContent && !byHtml && !labelled && !includeHidden && !itIsHidden(it)) {
    const plain = squash(plainText(it) ?? "");
    if (plain) return { text: plain, sources: [it] };
  }
  const read = (sources: Walk["sources"]): string =>
    squash(alternative(it, { includeHidden, visited: new Set(), sources, referred: false, embedded: false, inside: false }));
  const sources: Walk["sources"] = [];
  const before = values;
  const text = read(sources);
  if (before === values || valueless) return { text, sources };
  try {
    valueless = true;
    return { text, sources, constant: read([]) };
  } finally {
    valueless = false;
  }
}

/** The number of values of controls that were read, and whether they are omitted. */
let values = 0;
let valueless = false;

/** The text of an element that holds nothing but text; so it is for most cells, links and items of a page. */
function plainText(it: Seen): string | null {
  if (it.text === undefined) {
    const e = it.element;
    if (e.firstElementChild || itsShadow(it) || it.tag === "slot" || it.has("aria-owns")) it.text = null;
    else it.text = mayGenerate(itsRoot(it)) ? textBefore(it) + (e.textContent ?? "") + textAfter(it) : (e.textContent ?? "");
  }
  return it.text;
}

/** The accessible description: of `aria-describedby`, else `aria-description`, else the title. */
export function descriptionOf(e: Element): string {
  const it = seen(e);
  if (it.has("aria-describedby")) {
    const texts = references(it, "aria-describedby").map((r) => ofReference(r, { includeHidden: false, visited: new Set(), sources: [] }));
    return squash(texts.join(" "));
  }
  const own = squash(it.attribute("aria-description") ?? "");
  if (own) return own;
  return squash(it.attribute("title") ?? "");
}

function ofReference(e: Element, { includeHidden, visited, sources }: Pick<Walk, "includeHidden" | "visited" | "sources">): string {
  const it = seen(e);
  return alternative(it, {
    includeHidden: includeHidden || itIsHidden(it),
    visited,
    sources,
    referred: true,
    embedded: true,
    inside: false,
  });
}

const NONE: readonly Element[] = [];

/** The elements that an attribute with a list of ids names, in the order of the list. */
export function references(it: Seen, attribute: string): readonly Element[] {
  const ids = it.attribute(attribute);
  if (!ids) return NONE;
  entanglements++;
  const root = itsRoot(it);
  const found = new Set<Element>();
  for (const id of ids.split(/\s+/)) {
    const target = id && root.getElementById(id);
    if (target) found.add(target);
  }
  return [...found];
}

function alternative(it: Seen, walk: Walk): string {
  if (walk.visited.has(it.element)) {
    entanglements++;
    return "";
  }
  if (!walk.includeHidden && itIsHidden(it)) {
    walk.visited.add(it.element);
    return "";
  }
  if (!walk.referred && it.has("aria-labelledby")) {
    const text = squash(
      references(it, "aria-labelledby")
        .map((r) => ofReference(r, walk))
        .join(" "),
    );
    if (text) return text;
  }
  const role = itsRole(it) ?? "";
  if (walk.embedded) {
    const value = embeddedValue(it, role, walk);
    if (value !== undefined) {
      entanglements++;
      return value;
    }
  }
  walk.visited.add(it.element);
  const { tag } = it;
  const label = it.attribute("aria-label")?.trim();
  if (label) return own(it, label, walk);
  const presentational = isPresentational(role);
  const byHtml = !presentational && (NAMED_BY_HTML.has(tag) || itIsSvg(it));
  const native = byHtml ? nativeName(it, walk) : undefined;
  if (native !== undefined) return native;
  if (tag === "label") entanglements++;
  if (BY_CONTENT.has(role) || walk.referred || tag === "summary" || ((walk.inside || walk.embedded) && PASSES_CONTENT.has(role))) {
    const text = contentText(it, walk.inside && walk.embedded ? walk : { ...walk, embedded: true, inside: true });
    if (walk.inside ? text : text.trim()) return text;
  }
  return presentational ? "" : own(it, it.attribute("title") ?? "", walk);
}

/** Notes the element as the source of a text, if there is some. */
function own(it: Seen, text: string, walk: Walk): string {
  if (text.trim()) walk.sources.push(it);
  return text;
}

// What stands in the name of something else by its value, or not at all.
const VALUED = roles("textbox searchbox combobox listbox menu meter progressbar scrollbar slider spinbutton");

/** The value by which a control stands in the name of something else. */
function embeddedValue(it: Seen, role: string, walk: Walk): string | undefined {
  if (!VALUED.has(role)) return undefined;
  walk.visited.add(it.element);
  values++;
  if (valueless) return "";
  const field = itsField(it);
  if (role === "textbox" || role === "searchbox") return own(it, field ? shownValue(field) : (it.element.textContent ?? ""), walk);
  if (role === "combobox" || role === "listbox") {
    if (field) return own(it, shownValue(field), walk);
    noteLabelAround(it, walk);
    const texts = chosen(it, role).map((option) => alternative(seen(option), { ...walk, inside: true }));
    return texts.join(" ");
  }
  return role === "menu"
    ? ""
    : own(it, it.attribute("aria-valuetext") ?? it.attribute("aria-valuenow") ?? it.attribute("value") ?? "", walk);
}

function chosen(it: Seen, role: string): Element[] {
  const e = it.element;
  if (itIsHtml(it, "select")) {
    const { options, selectedOptions } = e as HTMLSelectElement;
    const [first] = options;
    return selectedOptions.length || !first ? [...selectedOptions] : [first];
  }
  const list = role === "combobox" ? [...e.querySelectorAll("*")].find((child) => roleOf(child) === "listbox") : e;
  return list ? [...list.querySelectorAll("[aria-selected=true]")].filter((child) => roleOf(child) === "option") : [];
}

/** The value of a field as a name has it: of a password only its length. */
function shownValue(e: HTMLInputElement | HTMLTextAreaElement): string {
  return isPassword(e) ? dots(e.value) : e.value;
}

/** The name that the element's own kind of HTML gives it, which may be empty; undefined where content or title is to decide. */
function nativeName(it: Seen, walk: Walk): string | undefined {
  const attribute = (name: string): string => it.attribute(name) ?? "";
  const titled = (text: string): string => own(it, text.trim() ? text : attribute("title"), walk);
  const { tag, element: e } = it;
  switch (tag) {
    case "input": {
      const type = (e as HTMLInputElement).type;
      if (/^(button|submit|reset)$/.test(type)) {
        return titled((e as HTMLInputElement).value || (type === "submit" ? "Submit" : type === "reset" ? "Reset" : ""));
      }
      const labels = labelsText(it, walk);
      if (labels !== undefined) return labels;
      if (type === "file") return own(it, "Choose File", walk);
      if (type === "image") return own(it, attribute("alt").trim() || attribute("title").trim() || "Submit", walk);
      return own(it, placeholderOrTitle(it, !/^(checkbox|color|date|datetime-local|month|radio|range|time|week)$/.test(type)), walk);
    }
    case "textarea":
      return labelsText(it, walk) ?? own(it, placeholderOrTitle(it, true), walk);
    case "select":
    case "output":
      return labelsText(it, walk) ?? titled("");
    case "button":
    case "meter":
    case "progress":
      return labelsText(it, walk);
    case "fieldset":
      return partText(e, "legend", walk) ?? titled("");
    case "figure":
      return partText(e, "figcaption", walk) ?? titled("");
    case "img":
    case "area":
      return titled(attribute("alt").trim());
    case "table":
      return partText(e, "caption", walk) ?? (own(it, attribute("summary"), walk) || undefined);
    default:
      return itIsSvg(it) ? svgTitle(it, walk) : undefined;
  }
}

function placeholderOrTitle(it: Seen, hasPlaceholder: boolean): string {
  const title = it.attribute("title") ?? "";
  return title || !hasPlaceholder ? title : (it.attribute("placeholder") ?? "");
}

function labelsText(it: Seen, walk: Walk): string | undefined {
  const labels = labelsOf(it);
  if (!labels.length) return undefined;
  entanglements++;
  noteLabelAround(it, walk);
  const texts = labels.map((label) => alternative(seen(label), { ...walk, sources: [], referred: false, embedded: true, inside: true }));
  return texts.filter((text) => text).join(" ");
}

/** Whether anything under a root can be a label: looking for the labels of each control costs much more. */
const hasLabels = cached((root: Document | ShadowRoot) => !!root.querySelector("label"));

const labelsOf = cached((it: Seen): readonly Element[] =>
  hasLabels(itsRoot(it)) ? [...((it.element as HTMLInputElement).labels ?? NONE)] : NONE,
);

/** A control in the label that is being read has that label for its name, which tells of it. */
function noteLabelAround(it: Seen, walk: Walk): void {
  if (labelsOf(it).some((label) => walk.visited.has(label) && label.contains(it.element))) walk.sources.push("parts");
}

function partText(e: Element, part: string, walk: Walk): string | undefined {
  const child = [...e.children].find((child) => child.localName === part);
  if (!child) return undefined;
  if (walk.inside) walk.sources.push("parts");
  return alternative(seen(child), { ...walk, sources: walk.inside ? [] : walk.sources, embedded: true, inside: true });
}

function svgTitle(it: Seen, walk: Walk): string | undefined {
  for (const child of it.element.children) {
    if (child.localName === "title")
      return alternative(seen(child), { ...walk, sources: [], includeHidden: true, referred: true, embedded: true });
  }
  return (it.tag === "a" && it.attribute("xlink:title")?.trim()) || undefined;
}

// Counts what makes the text of an element depend on where the walk has come from: labels, references, and what was visited before.
let entanglements = 0;

function contentText(it: Seen, walk: Walk): string {
  const plain = plainText(it);
  if (plain !== null) return own(it, plain, walk);
  const reusable = !walk.includeHidden && !walk.referred;
  if (reusable && it.content) {
    for (const source of it.content.sources) walk.sources.push(source);
    return it.content.text;
  }
  const before = walk.sources.length;
  const entangledBefore = entanglements;
  const generates = mayGenerate(itsRoot(it));
  let text = generates ? textBefore(it) : "";
  const add = (child: Seen): void => {
    const part = alternative(child, walk);
    text += child.tag !== "br" && (itsLook(child).display || "inline") === "inline" ? part : ` ${part} `;
  };
  for (const child of itsChildren(it)) {
    if (isElement(child)) {
      const below = seen(child);
      below.parent = it;
      if (it.tag !== "slot") below.owner = it;
      add(below);
    } else if (child.nodeType === Node.TEXT_NODE) {
      text += child.nodeValue ?? "";
    }
  }
  for (const owned of references(it, "aria-owns")) add(seen(owned));
  if (generates) text += textAfter(it);
  if (before === walk.sources.length) own(it, text, walk);
  if (reusable && entangledBefore === entanglements) it.content = { text, sources: walk.sources.slice(before) };
  return text;
}

// The text that CSS puts before or after the content of an element. https://www.w3.org/TR/css-content-3/#alt
export const textBefore = cached((it: Seen) => generatedText(it, "::before"));
export const textAfter = cached((it: Seen) => generatedText(it, "::after"));

/** Whether a style sheet could put text before or after an element under a root: asking each element costs much more. */
export const mayGenerate = cached((root: Document | ShadowRoot) => [...root.styleSheets, ...root.adoptedStyleSheets].some(sheetGenerates));

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

function generatedText(it: Seen, pseudo: string): string {
  const style = getComputedStyle(it.element, pseudo);
  const { content } = style;
  if (content === "none" || content === "normal" || !content || style.display === "none" || style.visibility !== "visible") return "";
  const text = contentValue(it, content);
  return text && style.display !== "inline" ? ` ${text} ` : text;
}

const TOKEN = /\s*(?:"((?:[^"\\]|\\.)*)"|attr\(\s*([\w-]+)\s*\)|(\/))/gy;

/** The text of a `content` value that consists of strings and attributes; what comes after a slash is its alternative. */
function contentValue(it: Seen, content: string): string {
  let text = "";
  let read = 0;
  for (const [token, string, attribute, slash] of content.matchAll(TOKEN)) {
    read += token.length;
    if (slash) text = "";
    else if (attribute) text += it.attribute(attribute) ?? "";
    else
      text += (string ?? "").replace(/\\([0-9a-f]{1,6}) ?|\\(.)/gi, (_, hex, char) =>
        hex ? String.fromCodePoint(Number.parseInt(hex, 16)) : char,
      );
  }
  // Counters, images and quotation marks have no text that could be read here.
  const slash = content.lastIndexOf("/");
  return read === content.trimEnd().length ? text : slash < 0 ? "" : contentValue(it, content.slice(slash + 1));
}
