// Names and descriptions: https://www.w3.org/TR/accname-1.2/#mapping_additional_nd_te, with the native sources of https://www.w3.org/TR/html-aam-1.0/#accname-computation.

import { closest, isElement, itIsHtml, itIsSvg, itsChildren, itsField, itsLook, itsRoot, itsShadow, squash } from "../dom";
import { dots, isPassword } from "../passwords";
import { cached, seen, type Name, type Seen } from "../seen";
import { markerText, mayGenerate, textAfter, textBefore } from "./generated";
import { isPresentational, itIsHidden, itIsSummary, itsRole, provideNames, roleOf, UNNAMED } from "./roles";

const roles = (s: string): Set<string> => new Set(s.split(" "));

const BY_CONTENT = roles(
  "button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio row rowheader switch tab " +
    "tooltip treeitem doc-backlink doc-biblioref doc-glossref doc-noteref graphics-object",
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
const NAMED_BY_HTML = roles("area button fieldset img input meter output progress select summary table textarea");

/** Whether the element can have a name by its kind of HTML or SVG. */
function isNamedByHtml(it: Seen): boolean {
  const { tag } = it;
  return NAMED_BY_HTML.has(tag) || itIsSvg(it) || (it.has("label") && /^opt(ion|group)$/.test(tag));
}

provideNames((it) => compute(it, true).text);

function compute(it: Seen, includeHidden: boolean): Name {
  const role = itsRole(it) ?? "";
  if (UNNAMED.has(role)) return NAMELESS;
  const byContent = BY_CONTENT.has(role);
  const byHtml = isNamedByHtml(it);
  const labelled = it.attributeNames.length > 0 && (it.has("aria-label") || !!labelledBy(it));
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
    else {
      const text = e.textContent ?? "";
      it.text = markerText(it) + (mayGenerate(itsRoot(it)) ? textBefore(it) + text + textAfter(it) : text);
    }
  }
  return it.text;
}

/** The accessible description. https://www.w3.org/TR/html-aam-1.0/#accdesc-computation */
export function descriptionOf(e: Element): string {
  const it = seen(e);
  const referred = references(it, "aria-describedby");
  const read = (target: Element): string => ofReference(target, { includeHidden: false, visited: new Set(), sources: [] });
  if (referred.length) return squash(referred.map(read).join(" "));
  const own = squash(it.attribute("aria-description") ?? "");
  if (own) return own;
  const name = itsName(it).text;
  const part = itIsSvg(it) ? "desc" : itIsHtml(it, "table") ? "caption" : "";
  const child = part && [...e.children].find((child) => child.localName === part);
  const isButton = it.tag === "input" && it.has("value") && BUTTON.test((e as HTMLInputElement).type);
  const native = child ? read(child) : itIsSummary(it) ? read(e) : isButton ? (e as HTMLInputElement).value : "";
  const title = it.attribute("title") ?? (itIsSvg(it) ? svgTitleText(it) : "");
  // What the name was read from does not describe the element as well.
  return [native, title].map(squash).find((text) => text && text !== name) ?? "";
}

const BUTTON = /^(button|submit|reset)$/;

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

/** The attribute that refers to the elements that name one, also by its other spelling. https://www.w3.org/TR/core-aam-1.2/#ariaLabelledBy */
function labelledBy(it: Seen): string {
  return it.has("aria-labelledby") ? "aria-labelledby" : it.has("aria-labeledby") ? "aria-labeledby" : "";
}

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
  const labels = walk.referred ? "" : labelledBy(it);
  if (labels) {
    const text = squash(
      references(it, labels)
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
  const label = tag === "slot" ? undefined : it.attribute("aria-label")?.trim();
  if (label) return own(it, label, walk);
  const presentational = isPresentational(role);
  const byHtml = !presentational && isNamedByHtml(it);
  const native = byHtml ? nativeName(it, walk) : undefined;
  if (native !== undefined) return native;
  if (tag === "label") entanglements++;
  // https://www.w3.org/TR/accname-1.2/#comp_recursive_name_from_content
  if (BY_CONTENT.has(role) || walk.referred || tag === "summary" || walk.inside || walk.embedded) {
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
const VALUED = roles("textbox searchbox combobox listbox meter progressbar scrollbar slider spinbutton");

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
  return own(it, it.attribute("aria-valuetext") ?? it.attribute("aria-valuenow") ?? field?.value ?? it.attribute("value") ?? "", walk);
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
      const { type, value } = e as HTMLInputElement;
      const labels = labelsText(it, walk);
      if (labels !== undefined) return labels;
      if (BUTTON.test(type)) return titled(value || (it.has("value") || type === "button" ? "" : type === "submit" ? "Submit" : "Reset"));
      if (type === "file") return own(it, "Choose File", walk);
      if (type === "image") return own(it, attribute("alt").trim() || attribute("title").trim() || "Submit", walk);
      return own(it, placeholderOrTitle(it, !/^(checkbox|color|date|datetime-local|month|radio|range|time|week)$/.test(type)), walk);
    }
    case "textarea":
      return labelsText(it, walk) ?? own(it, placeholderOrTitle(it, true), walk);
    case "select":
      return labelsText(it, walk) ?? titled("");
    case "button":
    case "meter":
    case "output":
    case "progress":
      return labelsText(it, walk);
    case "fieldset":
      return partText(e, "legend", walk);
    case "img": {
      const caption = it.has("alt") || attribute("title").trim() ? undefined : soleCaption(e);
      return caption ? readPart(caption, walk) : it.has("alt") ? own(it, attribute("alt").trim(), walk) : titled("");
    }
    case "area":
      return titled(attribute("alt").trim());
    case "option":
    case "optgroup":
      return own(it, attribute("label"), walk) || undefined;
    case "table":
      return partText(e, "caption", walk);
    default:
      return itIsSvg(it) ? svgTitle(it) : undefined;
  }
}

/** The caption of the figure around an image, if the figure holds nothing else. https://www.w3.org/TR/html-aam-1.0/#el-img-name */
function soleCaption(e: Element): Element | undefined {
  const figure = closest(e, "figure");
  const caption = figure && [...figure.children].find((child) => child.localName === "figcaption");
  if (!caption) return undefined;
  const isAlone = (node: Node): boolean =>
    node === caption ||
    node === e ||
    (node.nodeType === Node.TEXT_NODE
      ? !node.nodeValue?.trim()
      : !isElement(node) || (node.contains(e) && [...node.childNodes].every(isAlone)));
  return [...figure.childNodes].every(isAlone) ? caption : undefined;
}

function placeholderOrTitle(it: Seen, hasPlaceholder: boolean): string {
  const title = it.attribute("title") ?? "";
  return title.trim() || !hasPlaceholder ? title : it.attribute("placeholder")?.trim() || (it.attribute("aria-placeholder") ?? "");
}

function labelsText(it: Seen, walk: Walk): string | undefined {
  const labels = labelsOf(it);
  if (!labels.length) return undefined;
  entanglements++;
  noteLabelAround(it, walk);
  const texts = labels.map((label) => partOf(label, { ...walk, sources: [], referred: false }));
  return texts.filter((text) => text.trim()).join(" ") || undefined;
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
  return child && readPart(child, walk);
}

function readPart(part: Element, walk: Walk): string | undefined {
  if (walk.inside) walk.sources.push("parts");
  const text = partOf(part, { ...walk, sources: walk.inside ? [] : walk.sources });
  return text.trim() ? text : undefined;
}

/** The text of a label, legend or caption, also of a hidden one. https://www.w3.org/TR/accname-1.2/#comp_hidden_not_referenced */
function partOf(part: Element, walk: Walk): string {
  const it = seen(part);
  return alternative(it, { ...walk, includeHidden: walk.includeHidden || itIsHidden(it), embedded: true, inside: true });
}

function svgTitle(it: Seen): string | undefined {
  const text = svgTitleText(it);
  if (text.trim()) return text;
  return (it.tag === "a" && it.attribute("xlink:title")?.trim()) || undefined;
}

function svgTitleText(it: Seen): string {
  return [...it.element.children].find((child) => child.localName === "title")?.textContent ?? "";
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
  let text = markerText(it) + (generates ? textBefore(it) : "");
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
