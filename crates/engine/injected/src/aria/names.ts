// Names and descriptions: https://www.w3.org/TR/accname-1.2/#mapping_additional_nd_te, with the native sources of https://www.w3.org/TR/html-aam-1.0/#accname-computation.

import { cached, flatChildren, rootOf, squash, styleOf, tagOf } from "../dom";
import { isHiddenForAria, roleOf } from "./roles";

const roles = (s: string): Set<string> => new Set(s.split(" "));

const UNNAMED = roles("caption code definition deletion emphasis generic insertion mark paragraph presentation strong subscript suggestion superscript term time");
const BY_CONTENT = roles(
  "button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio row rowheader switch tab tooltip treeitem",
);
// What gives its content to the name of an element around it, though it has no such name of its own.
const PASSES_CONTENT = roles(
  " caption code contentinfo definition deletion emphasis insertion list listitem mark none paragraph presentation region rowgroup section strong subscript superscript table term time",
);
const RANGES = roles("meter progressbar scrollbar slider spinbutton");

interface Walk {
  readonly includeHidden: boolean;
  readonly visited: Set<Element>;
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
  return options.includeHidden ? all(e) : shown(e);
}

function compute(e: Element, includeHidden: boolean): string {
  if (UNNAMED.has(roleOf(e) ?? "")) return "";
  return squash(alternative(e, { includeHidden, visited: new Set(), referred: false, embedded: false, inside: false }));
}

/** The accessible description: of `aria-describedby`, else `aria-description`, else a title that is not already the name. */
export function descriptionOf(e: Element): string {
  const referred = references(e, "aria-describedby");
  if (referred.length || e.hasAttribute("aria-describedby")) {
    return squash(referred.map((r) => textOfReference(r, false)).join(" "));
  }
  const own = squash(e.getAttribute("aria-description") ?? "");
  if (own) return own;
  const title = squash(e.getAttribute("title") ?? "");
  return title === nameOf(e) ? "" : title;
}

function textOfReference(e: Element, includeHidden: boolean, visited = new Set<Element>()): string {
  return alternative(e, { includeHidden: includeHidden || isHiddenForAria(e), visited, referred: true, embedded: true, inside: false });
}

/** The elements that an attribute with a list of ids names, in the order of the list. */
export function references(e: Element, attribute: string): Element[] {
  const ids = e.getAttribute(attribute);
  if (!ids) return [];
  const root = rootOf(e);
  const found = new Set<Element>();
  for (const id of ids.split(/\s+/)) {
    const target = id && root.getElementById(id);
    if (target) found.add(target);
  }
  return [...found];
}

function alternative(e: Element, walk: Walk): string {
  if (walk.visited.has(e)) return "";
  if (!walk.includeHidden && isHiddenForAria(e)) {
    walk.visited.add(e);
    return "";
  }
  if (!walk.referred) {
    const referred = references(e, "aria-labelledby");
    const text = squash(referred.map((r) => textOfReference(r, walk.includeHidden)).join(" "));
    if (text) return text;
  }
  const role = roleOf(e) ?? "";
  if (walk.embedded) {
    const value = embeddedValue(e, role, walk);
    if (value !== undefined) {
      walk.visited.add(e);
      return value;
    }
  }
  const label = e.getAttribute("aria-label")?.trim();
  if (label && !(walk.embedded && role === "menu")) {
    walk.visited.add(e);
    return label;
  }
  const presentational = role === "presentation" || role === "none";
  if (!presentational) {
    const native = nativeName(e, walk);
    if (native !== undefined) {
      walk.visited.add(e);
      return native;
    }
  }
  const tag = tagOf(e);
  if (BY_CONTENT.has(role) || walk.referred || ((walk.inside || walk.embedded) && PASSES_CONTENT.has(role)) || tag === "summary") {
    walk.visited.add(e);
    const text = contentText(e, { ...walk, embedded: true, inside: true });
    if (walk.inside ? text : text.trim()) return text;
  }
  if (!presentational || tag === "summary") {
    walk.visited.add(e);
    return e.getAttribute("title") ?? "";
  }
  walk.visited.add(e);
  return "";
}

/** The value by which a control stands in the name of something else. */
function embeddedValue(e: Element, role: string, walk: Walk): string | undefined {
  if (role === "textbox" || role === "searchbox") {
    return isTextField(e) ? e.value : (e.textContent ?? "");
  }
  if (role === "combobox" || role === "listbox") {
    let options: Iterable<Element>;
    if (e instanceof HTMLSelectElement) {
      options = e.selectedOptions.length || !e.options[0] ? e.selectedOptions : [e.options[0]];
    } else {
      const list = role === "combobox" ? [...e.querySelectorAll("*")].find((child) => roleOf(child) === "listbox") : e;
      options = list ? [...list.querySelectorAll("[aria-selected=true]")].filter((child) => roleOf(child) === "option") : [];
    }
    const texts = [...options].map((option) => alternative(option, { ...walk, inside: true }));
    if (!texts.length && isTextField(e)) return e.value;
    return texts.join(" ");
  }
  if (RANGES.has(role)) {
    return e.getAttribute("aria-valuetext") ?? e.getAttribute("aria-valuenow") ?? e.getAttribute("value") ?? "";
  }
  if (role === "menu") return "";
  return undefined;
}

function isTextField(e: Element): e is HTMLInputElement | HTMLTextAreaElement {
  return e instanceof HTMLInputElement || e instanceof HTMLTextAreaElement;
}

/** The name that the element's own kind of HTML gives it, which may be empty; undefined where content or title is to decide. */
function nativeName(e: Element, walk: Walk): string | undefined {
  const title = (): string => e.getAttribute("title") ?? "";
  const alt = (): string => e.getAttribute("alt") ?? "";
  const tag = tagOf(e);
  switch (tag) {
    case "input": {
      const type = (e as HTMLInputElement).type;
      if (/^(button|submit|reset)$/.test(type)) {
        const value = (e as HTMLInputElement).value;
        if (value.trim()) return value;
        return type === "submit" ? "Submit" : type === "reset" ? "Reset" : title();
      }
      const labels = labelsText(e, walk);
      if (labels !== undefined) return labels;
      if (type === "file") return "Choose File";
      if (type === "image") return alt().trim() || title().trim() || "Submit";
      return placeholderOrTitle(e, /^(text|password|search|tel|email|url)$/.test(type));
    }
    case "textarea":
      return labelsText(e, walk) ?? placeholderOrTitle(e, true);
    case "select":
    case "output":
      return labelsText(e, walk) ?? title();
    case "button":
    case "meter":
    case "progress":
      return labelsText(e, walk);
    case "fieldset":
      return partText(e, "legend", walk) ?? title();
    case "figure":
      return partText(e, "figcaption", walk) ?? title();
    case "img":
      return alt().trim() || title();
    case "area":
      return alt().trim() || title();
    case "table":
      return partText(e, "caption", walk) ?? (e.getAttribute("summary") || undefined);
    default:
      return e instanceof SVGElement ? svgTitle(e, tag, walk) : undefined;
  }
}

function placeholderOrTitle(e: Element, hasPlaceholder: boolean): string {
  const title = e.getAttribute("title") ?? "";
  return title || !hasPlaceholder ? title : (e.getAttribute("placeholder") ?? "");
}

function labelsText(e: Element, walk: Walk): string | undefined {
  const labels = (e as HTMLInputElement).labels;
  if (!labels?.length || walk.referred) return undefined;
  walk.visited.add(e);
  const texts = [...labels].map((label) => alternative(label, { ...walk, embedded: true, inside: true }));
  return texts.filter((text) => text).join(" ");
}

function partText(e: Element, part: string, walk: Walk): string | undefined {
  walk.visited.add(e);
  for (const child of e.children) {
    if (tagOf(child) === part) return alternative(child, { ...walk, embedded: true, inside: true });
  }
  return undefined;
}

function svgTitle(e: SVGElement, tag: string, walk: Walk): string | undefined {
  for (const child of e.children) {
    if (child.localName === "title") return alternative(child, { ...walk, includeHidden: true, referred: true, embedded: true });
  }
  const title = tag === "a" ? e.getAttribute("xlink:title")?.trim() : undefined;
  return title || undefined;
}

function contentText(e: Element, walk: Walk): string {
  let text = "";
  const add = (child: Node): void => {
    if (child instanceof Element) {
      const part = alternative(child, walk);
      const inline = tagOf(child) !== "br" && /^(inline|contents)$/.test(styleOf(child).display || "inline");
      text += inline ? part : ` ${part} `;
    } else if (child.nodeType === Node.TEXT_NODE) {
      text += child.nodeValue ?? "";
    }
  };
  text += pseudoText(e, "::before");
  for (const child of flatChildren(e)) {
    // What is slotted belongs to its slot.
    if (e instanceof HTMLSlotElement || !(child as Partial<Slottable>).assignedSlot) add(child);
  }
  for (const owned of references(e, "aria-owns")) add(owned);
  return text + pseudoText(e, "::after");
}

/** The text that CSS puts before or after the content of an element. https://www.w3.org/TR/css-content-3/#alt */
export function pseudoText(e: Element, pseudo: "::before" | "::after"): string {
  const style = getComputedStyle(e, pseudo);
  const content = style.content;
  if (content === "none" || content === "normal" || !content || style.display === "none" || style.visibility !== "visible") return "";
  const text = contentValue(e, content);
  return text && style.display !== "inline" ? ` ${text} ` : text;
}

function contentValue(e: Element, content: string): string {
  let text = "";
  for (const [token, quoted, attribute, slash] of content.matchAll(/"((?:[^"\\]|\\.)*)"|attr\(\s*([\w-]+)\s*\)|(\/)|[^"/]+?(?=["/]|attr\(|$)/g)) {
    if (slash) text = "";
    else if (quoted !== undefined) text += quoted.replace(/\\([0-9a-f]{1,6})\s?|\\(.)/gi, (_, hex, char) => (hex ? String.fromCodePoint(Number.parseInt(hex, 16)) : char));
    else if (attribute) text += e.getAttribute(attribute) ?? "";
    else if (!token.trim()) continue;
  }
  return text;
}
