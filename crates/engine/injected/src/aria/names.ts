// Accessible names and descriptions: https://www.w3.org/TR/accname-1.2/#mapping_additional_nd_te, with the native sources of
// https://www.w3.org/TR/html-aam-1.0/#accname-computation.

import { closest, isElement, isHtml, isSvg, childrenOf, inputOf, styleOf, rootOf, shadowRootOf, squash } from "../dom";
import { dots, isPassword } from "../passwords";
import { cached, seen, type Name, type Seen } from "../seen";
import { markerText, mayGenerate, textAfter, textBefore } from "./generated";
import { isPresentational, isHidden, isSummary, roleOf, provideNames, elementRole, NAME_PROHIBITED } from "./roles";

const roles = (s: string): Set<string> => new Set(s.split(" "));

/** The roles whose name is the text of the content. */
export const NAME_FROM_CONTENT = roles(
  "button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio row rowheader switch tab " +
    "tooltip treeitem doc-backlink doc-biblioref doc-glossref doc-noteref graphics-object",
);

/** The state of one computation of a name or description. */
interface Walk {
  readonly includeHidden: boolean;
  readonly visited: Set<Element>;
  readonly sources: (Seen | "parts")[];
  /** Whether the element is referenced by `aria-labelledby` or `aria-describedby`. */
  readonly referred: boolean;
  /** Whether the element is in a label, a reference or the content of the named element, where a control is replaced by its value. */
  readonly embedded: boolean;
  /** Whether the element is in the content that the name is computed from. */
  readonly inside: boolean;
}

const ofAll = cached((it: Seen) => compute(it, true));

/** Returns the accessible name in one line. The name of a hidden element is empty, unless hidden elements are included. */
export function elementName(e: Element, options: { includeHidden?: boolean } = {}): string {
  const it = seen(e);
  return (options.includeHidden ? ofAll(it) : nameOf(it)).text;
}

/** Returns the accessible name with its sources. */
export function nameOf(it: Seen): Name {
  return it.name ?? (it.name = compute(it, false));
}

/** Returns the accessible name including hidden content. */
export function fullNameOf(it: Seen): Name {
  return ofAll(it);
}

export const NAMELESS: Name = { text: "", sources: [] };

/**
 * Returns the name that the author gave an element whose role prohibits names, such as a generic one, by `aria-labelledby`, `aria-label` or
 * `title`.
 */
export function authorNameOf(it: Seen): Name {
  if (!it.attributeNames.length) return NAMELESS;
  const sources: Walk["sources"] = [];
  const labels = labelledBy(it);
  const visited = new Set<Element>();
  const referred = labels ? references(it, labels).map((e) => ofReference(e, { includeHidden: false, visited, sources })) : [];
  const text = squash(referred.join(" "));
  if (text) return { text, sources };
  const own = squash(it.attribute("aria-label") ?? "") || squash(it.attribute("title") ?? "");
  return own ? { text: own, sources: [it] } : NAMELESS;
}

/** Returns the name of a control that is not rendered, without the hidden parts of its labels. */
export function nameByVisibleLabels(it: Seen): Name {
  const own = squash(it.attribute("aria-label") ?? "");
  if (own) return { text: own, sources: [it] };
  const walk: Walk = { includeHidden: false, visited: new Set([it.element]), sources: [], referred: false, embedded: true, inside: true };
  return {
    text: squash(
      labelsOf(it)
        .map((label) => alternative(seen(label), walk))
        .join(" "),
    ),
    sources: ["parts"],
  };
}
const NAMED_BY_HTML = roles("area button fieldset img input meter output progress select summary table textarea");

/** Returns whether the element type has a native source of names. */
function hasNativeName(it: Seen): boolean {
  const { tag } = it;
  return NAMED_BY_HTML.has(tag) || !!it.internals || isSvg(it) || (it.has("label") && /^opt(ion|group)$/.test(tag));
}

provideNames((it) => compute(it, true).text);

/** The element whose name is computed. */
let named: Element | undefined;

function compute(it: Seen, includeHidden: boolean): Name {
  const outer = named;
  named = it.element;
  try {
    return computeName(it, includeHidden);
  } finally {
    named = outer;
  }
}

function computeName(it: Seen, includeHidden: boolean): Name {
  const role = roleOf(it) ?? "";
  if (NAME_PROHIBITED.has(role)) return NAMELESS;
  const byContent = NAME_FROM_CONTENT.has(role);
  const byHtml = hasNativeName(it);
  const labelled = it.attributeNames.length > 0 && (it.has("aria-label") || !!labelledBy(it));
  // Most elements of a page have no name.
  if (!byContent && !byHtml && !labelled && !it.has("title")) return NAMELESS;
  if (byContent && !byHtml && !labelled && !includeHidden && !isHidden(it)) {
    const plain = squash(plainText(it) ?? "");
    if (plain) return { text: plain, sources: [it] };
  }
  const read = (sources: Walk["sources"]): string =>
    squash(alternative(it, { includeHidden, visited: new Set(), sources, referred: false, embedded: false, inside: false }));
  const sources: Walk["sources"] = [];
  const before = valueCount;
  const text = read(sources);
  if (before === valueCount || omitsValues) return { text, sources };
  try {
    omitsValues = true;
    return { text, sources, constant: read([]) };
  } finally {
    omitsValues = false;
  }
}

/** The number of control values, of groups in tree items, and of controls in their labels that were read. */
let valueCount = 0;
/** Whether they are omitted. */
let omitsValues = false;

/** Returns the text of an element without child elements, such as most cells, links and list items; null for other elements. */
function plainText(it: Seen): string | null {
  if (it.text === undefined) {
    const e = it.element;
    if (e.firstElementChild || shadowRootOf(it) || it.tag === "slot" || it.has("aria-owns")) it.text = null;
    else {
      const text = e.textContent ?? "";
      it.text = markerText(it) + (mayGenerate(rootOf(it)) ? textBefore(it) + text + textAfter(it) : text);
    }
  }
  return it.text;
}

/** Returns the accessible description. https://www.w3.org/TR/html-aam-1.0/#accdesc-computation */
export function descriptionOf(e: Element): string {
  const it = seen(e);
  const referred = references(it, "aria-describedby");
  const read = (target: Element): string => ofReference(target, { includeHidden: false, visited: new Set(), sources: [] });
  if (referred.length) return squash(referred.map(read).join(" "));
  const description = squash(it.attribute("aria-description") ?? "");
  if (description) return description;
  const name = nameOf(it).text;
  const part = isSvg(it) ? "desc" : isHtml(it, "table") ? "caption" : "";
  const child = part && [...e.children].find((child) => child.localName === part);
  const isButton = it.tag === "input" && it.has("value") && BUTTON.test((e as HTMLInputElement).type);
  const native = child ? read(child) : isSummary(it) ? read(e) : isButton ? (e as HTMLInputElement).value : "";
  const title = it.attribute("title") ?? (isSvg(it) ? svgTitleText(it) : "");
  // A source of the name is not a source of the description.
  return [native, title].map(squash).find((text) => text && text !== name) ?? "";
}

const BUTTON = /^(button|submit|reset)$/;

function ofReference(e: Element, { includeHidden, visited, sources }: Pick<Walk, "includeHidden" | "visited" | "sources">): string {
  const it = seen(e);
  return alternative(it, {
    includeHidden: includeHidden || isHidden(it),
    visited,
    sources,
    referred: true,
    embedded: true,
    inside: false,
  });
}

const NONE: readonly Element[] = [];

/**
 * Returns the name of the `aria-labelledby` attribute, which has an alternative spelling; empty if there is none.
 * https://www.w3.org/TR/core-aam-1.2/#ariaLabelledBy
 */
function labelledBy(it: Seen): string {
  return it.has("aria-labelledby") ? "aria-labelledby" : it.has("aria-labeledby") ? "aria-labeledby" : "";
}

/** Returns the elements that an attribute references with a list of ids, in the order of the list. */
export function references(it: Seen, attribute: string): readonly Element[] {
  const ids = it.attribute(attribute);
  if (!ids) return NONE;
  dependencies++;
  const root = rootOf(it);
  const found = new Set<Element>();
  for (const id of ids.split(/\s+/)) {
    const target = id && root.getElementById(id);
    if (target) found.add(target);
  }
  return [...found];
}

function alternative(it: Seen, walk: Walk): string {
  if (walk.visited.has(it.element)) {
    dependencies++;
    return "";
  }
  if (!walk.includeHidden && isHidden(it)) {
    walk.visited.add(it.element);
    return "";
  }
  const labels = walk.referred ? "" : labelledBy(it);
  if (labels) {
    // An element that refers to itself is not embedded in another widget, so its value does not replace its label.
    const own: Walk = { ...walk, referred: true, embedded: false, inside: false };
    const text = squash(
      references(it, labels)
        .map((r) => (r === it.element ? alternative(it, own) : ofReference(r, walk)))
        .join(" "),
    );
    if (text) return text;
  }
  const role = roleOf(it) ?? "";
  if (walk.embedded) {
    const value = embeddedValue(it, role, walk);
    if (value !== undefined) {
      dependencies++;
      return value;
    }
    // A tree item has the items below it in a group, which users open and close. A label can contain the mark of its control.
    if (role === "group" || it.element === named) {
      valueCount++;
      dependencies++;
      if (omitsValues) return "";
    }
  }
  walk.visited.add(it.element);
  const { tag } = it;
  const label = tag === "slot" ? undefined : it.attribute("aria-label")?.trim();
  if (label) return withSource(it, label, walk);
  const presentational = isPresentational(role);
  const byHtml = !presentational && hasNativeName(it);
  const native = byHtml ? nativeName(it, walk) : undefined;
  if (native !== undefined) return native;
  if (tag === "label") dependencies++;
  // https://www.w3.org/TR/accname-1.2/#comp_recursive_name_from_content
  const isInside = (walk.inside || walk.embedded) && role !== "img";
  if (NAME_FROM_CONTENT.has(role) || walk.referred || tag === "summary" || isInside) {
    const text = contentText(it, walk.inside && walk.embedded ? walk : { ...walk, embedded: true, inside: true });
    if (walk.inside ? text : text.trim()) return text;
  }
  return presentational ? "" : withSource(it, it.attribute("title") ?? "", walk);
}

/** Adds the element to the sources if the text is not blank. Returns the text. */
function withSource(it: Seen, text: string, walk: Walk): string {
  if (squash(text)) walk.sources.push(it);
  return text;
}

// The roles of controls that are replaced by their values in the names of other elements.
const VALUE_ROLES = roles("textbox searchbox combobox listbox meter progressbar scrollbar slider spinbutton");

/** Returns the value of a control for the name of another element; undefined if the element is not such a control. */
function embeddedValue(it: Seen, role: string, walk: Walk): string | undefined {
  if (!VALUE_ROLES.has(role)) return undefined;
  walk.visited.add(it.element);
  valueCount++;
  if (omitsValues) return "";
  const field = inputOf(it);
  if (role === "textbox" || role === "searchbox") return withSource(it, field ? maskedValue(field) : (it.element.textContent ?? ""), walk);
  if (role === "combobox" || role === "listbox") {
    if (field) return withSource(it, maskedValue(field), walk);
    addLabelSource(it, walk);
    const texts = selectedOptionsOf(it, role).map((option) => alternative(seen(option), { ...walk, inside: true }));
    return texts.join(" ");
  }
  return withSource(
    it,
    it.attribute("aria-valuetext") ?? it.attribute("aria-valuenow") ?? field?.value ?? it.attribute("value") ?? "",
    walk,
  );
}

function selectedOptionsOf(it: Seen, role: string): Element[] {
  const e = it.element;
  if (isHtml(it, "select")) {
    const { options, selectedOptions } = e as HTMLSelectElement;
    const [first] = options;
    return selectedOptions.length || !first ? [...selectedOptions] : [first];
  }
  const list = role === "combobox" ? [...e.querySelectorAll("*")].find((child) => elementRole(child) === "listbox") : e;
  return list ? [...list.querySelectorAll("[aria-selected=true]")].filter((child) => elementRole(child) === "option") : [];
}

/** Returns the value of a field for a name; bullets for a password. */
function maskedValue(e: HTMLInputElement | HTMLTextAreaElement): string {
  return isPassword(e) ? dots(e.value) : e.value;
}

/**
 * Returns the name from the native source of the element type, which can be empty; undefined if the content or the title is used instead.
 */
function nativeName(it: Seen, walk: Walk): string | undefined {
  const attribute = (name: string): string => it.attribute(name) ?? "";
  const titled = (text: string): string => withSource(it, text.trim() ? text : attribute("title"), walk);
  const { tag, element: e } = it;
  switch (tag) {
    case "input": {
      const { type, value } = e as HTMLInputElement;
      const labels = labelsText(it, walk);
      if (labels !== undefined) return labels;
      if (BUTTON.test(type)) return titled(value || (it.has("value") || type === "button" ? "" : type === "submit" ? "Submit" : "Reset"));
      if (type === "file") return withSource(it, "Choose File", walk);
      if (type === "image") return withSource(it, attribute("alt").trim() || attribute("title").trim() || "Submit", walk);
      return withSource(it, placeholderOrTitle(it, !/^(checkbox|color|date|datetime-local|month|radio|range|time|week)$/.test(type)), walk);
    }
    case "textarea":
      return labelsText(it, walk) ?? withSource(it, placeholderOrTitle(it, true), walk);
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
      return caption ? readPart(caption, walk) : it.has("alt") ? withSource(it, attribute("alt").trim(), walk) : titled("");
    }
    case "area":
      return titled(attribute("alt").trim());
    case "option":
    case "optgroup":
      return withSource(it, attribute("label"), walk) || undefined;
    case "table":
      return partText(e, "caption", walk);
    default:
      return it.internals ? labelsText(it, walk) : isSvg(it) ? svgTitle(it) : undefined;
  }
}

/**
 * Returns the caption of the figure that contains an image, if the figure has no other content.
 * https://www.w3.org/TR/html-aam-1.0/#el-img-name
 */
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
  dependencies++;
  addLabelSource(it, walk);
  const texts = labels.map((label) => partOf(label, { ...walk, sources: [], referred: false }));
  return texts.filter((text) => text.trim()).join(" ") || undefined;
}

/** Returns whether a root contains labels. Checking this once is much faster than reading the labels of each control. */
const hasLabels = cached((root: Document | ShadowRoot) => !!root.querySelector("label"));

const labelsOf = cached((it: Seen): readonly Element[] => {
  const root = rootOf(it);
  if (!hasLabels(root)) return NONE;
  // A custom element has no property for its labels.
  if (it.internals) return [...root.querySelectorAll("label")].filter((label) => label.control === it.element);
  return [...((it.element as HTMLInputElement).labels ?? NONE)];
});

/** Adds `parts` to the sources if the control is in one of its labels that is being read, because the label names the control. */
function addLabelSource(it: Seen, walk: Walk): void {
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

/** Returns the text of a label, legend or caption, even if it is hidden. https://www.w3.org/TR/accname-1.2/#comp_hidden_not_referenced */
function partOf(part: Element, walk: Walk): string {
  const it = seen(part);
  return alternative(it, { ...walk, includeHidden: walk.includeHidden || isHidden(it), embedded: true, inside: true });
}

function svgTitle(it: Seen): string | undefined {
  const text = svgTitleText(it);
  if (text.trim()) return text;
  return (it.tag === "a" && it.attribute("xlink:title")?.trim()) || undefined;
}

function svgTitleText(it: Seen): string {
  return [...it.element.children].find((child) => child.localName === "title")?.textContent ?? "";
}

// Counts the labels, references and visited elements that make the text of an element depend on the state of the computation. The text is
// not cached then.
let dependencies = 0;

function contentText(it: Seen, walk: Walk): string {
  const plain = plainText(it);
  if (plain !== null) return withSource(it, plain, walk);
  const reusable = !walk.includeHidden && !walk.referred;
  if (reusable && it.content) {
    for (const source of it.content.sources) walk.sources.push(source);
    return it.content.text;
  }
  const before = walk.sources.length;
  const dependenciesBefore = dependencies;
  const generates = mayGenerate(rootOf(it));
  let text = markerText(it) + (generates ? textBefore(it) : "");
  const add = (child: Seen): void => {
    const part = alternative(child, walk);
    text += child.tag !== "br" && (styleOf(child).display || "inline") === "inline" ? part : ` ${part} `;
  };
  for (const child of childrenOf(it)) {
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
  if (before === walk.sources.length) withSource(it, text, walk);
  if (reusable && dependenciesBefore === dependencies) it.content = { text, sources: walk.sources.slice(before) };
  return text;
}
