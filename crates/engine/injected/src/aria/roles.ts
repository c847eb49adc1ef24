// Which role an element has: https://www.w3.org/TR/html-aam-1.0/ and https://www.w3.org/TR/wai-aria-1.2/#document-handling_author-errors_roles.

import { attributeOf, cached, closest, displayOf, flatChildren, flatParent, hasAttribute, hasTextBox, isPainted, parentOrHost, shadowRootOf, tagOf } from "../dom";

const words = (s: string): Set<string> => new Set(s.split(" "));

const ROLES = words(
  "alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox " +
    "complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid " +
    "gridcell group heading img insertion link list listbox listitem log main mark marquee math menu menubar menuitem " +
    "menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar radio " +
    "radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong " +
    "subscript superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem",
);

const PLAIN = new Map(Object.entries({
  article: "article",
  aside: "complementary",
  blockquote: "blockquote",
  button: "button",
  caption: "caption",
  code: "code",
  datalist: "listbox",
  dd: "definition",
  del: "deletion",
  details: "group",
  dfn: "term",
  dialog: "dialog",
  dt: "term",
  em: "emphasis",
  fieldset: "group",
  figure: "figure",
  h1: "heading",
  h2: "heading",
  h3: "heading",
  h4: "heading",
  h5: "heading",
  h6: "heading",
  hr: "separator",
  html: "document",
  ins: "insertion",
  li: "listitem",
  main: "main",
  mark: "mark",
  math: "math",
  menu: "list",
  meter: "meter",
  nav: "navigation",
  ol: "list",
  optgroup: "group",
  option: "option",
  output: "status",
  p: "paragraph",
  progress: "progressbar",
  search: "search",
  strong: "strong",
  sub: "subscript",
  sup: "superscript",
  svg: "img",
  table: "table",
  tbody: "rowgroup",
  textarea: "textbox",
  tfoot: "rowgroup",
  thead: "rowgroup",
  time: "time",
  tr: "row",
  ul: "list",
}));

const INPUTS: Record<string, string> = {
  button: "button",
  checkbox: "checkbox",
  file: "button",
  image: "button",
  number: "spinbutton",
  radio: "radio",
  range: "slider",
  reset: "button",
  submit: "button",
};

// A role of none on the container takes these required children along.
const OWNERS = new Map<string, string[]>([
  ["li", ["ul", "ol", "menu"]],
  ["dd", ["dl"]],
  ["dt", ["dl"]],
  ["tbody", ["table"]],
  ["thead", ["table"]],
  ["tfoot", ["table"]],
  ["tr", ["tbody", "thead", "tfoot", "table"]],
  ["td", ["tr"]],
  ["th", ["tr"]],
]);

const GLOBAL_ATTRIBUTES = (
  "atomic braillelabel brailleroledescription busy controls current describedby description details dropeffect flowto grabbed hidden " +
  "keyshortcuts label labelledby live owns relevant roledescription"
).split(" ");
// Global by an older version of the standard, and prohibited where a role does not support them.
const ONCE_GLOBAL = "disabled errormessage haspopup invalid".split(" ");
const UNNAMED = words("caption code deletion emphasis generic insertion none paragraph presentation strong subscript superscript");
const SECTIONING = ":is(article,aside,main,nav,section):not([role]),[role=article],[role=complementary],[role=main],[role=navigation],[role=region]";

/** The role, explicit or implied by the tag; null where there is none, and `presentation` or `none` as written. */
export const roleOf: (e: Element) => string | null = cached((e) => {
  const explicit = explicitRole(e);
  if (!explicit) return impliedRole(e);
  if (!isPresentational(explicit)) return explicit;
  const implied = impliedRole(e);
  return mustBeExposed(e, implied) ? implied : explicit;
});

/** Whether a role says that there is none. */
export function isPresentational(role: string | null | undefined): boolean {
  return role === "none" || role === "presentation";
}

function explicitRole(e: Element): string | undefined {
  return attributeOf(e, "role")?.split(/\s+/).find((role) => ROLES.has(role));
}

function hasGlobalAttribute(e: Element, role: string | null): boolean {
  return (
    GLOBAL_ATTRIBUTES.some((name) => hasAttribute(e, "aria-" + name) && !((name === "label" || name === "labelledby") && UNNAMED.has(role ?? ""))) ||
    ONCE_GLOBAL.some((name) => hasAttribute(e, "aria-" + name))
  );
}

/** Whether the element can have the focus, by its nature or by a tabindex. */
export function isFocusable(e: Element): boolean {
  return !isNativelyDisabled(e) && (isNativelyFocusable(e) || hasTabIndex(e));
}

function hasTabIndex(e: Element): boolean {
  return !Number.isNaN(Number.parseInt(attributeOf(e, "tabindex") ?? "", 10));
}

function isNativelyFocusable(e: Element): boolean {
  const tag = tagOf(e);
  if (tag === "a" || tag === "area") return hasAttribute(e, "href");
  if (tag === "input") return (e as HTMLInputElement).type !== "hidden";
  return /^(button|details|select|textarea)$/.test(tag);
}

/** Whether the element is a form control that is disabled by itself, its optgroup or its fieldset. */
export function isNativelyDisabled(e: Element): boolean {
  const tag = tagOf(e);
  if (!/^(button|input|select|textarea|option|optgroup)$/.test(tag)) return false;
  if (hasAttribute(e, "disabled")) return true;
  if (tag === "option" && e.closest("optgroup[disabled]")) return true;
  const fieldset = e.parentElement?.closest("fieldset[disabled]");
  if (!fieldset) return false;
  // The first legend of a disabled fieldset keeps its controls usable.
  const legend = fieldset.querySelector(":scope > legend");
  return !legend?.contains(e) || !!fieldset.parentElement?.closest("fieldset[disabled]");
}

function mustBeExposed(e: Element, implied: string | null): boolean {
  return hasGlobalAttribute(e, implied) || isFocusable(e);
}

function impliedRole(e: Element): string | null {
  const role = tagRole(e) || null;
  if (!role) return null;
  return strippedBy(e) || role;
}

/** The `none` or `presentation` by which a list, table or row makes its parts into nothing as well, unless they must be exposed; else empty. */
const strippedBy: (e: Element) => string = cached((e) => {
  const owners = OWNERS.get(tagOf(e));
  const parent = owners && parentOrHost(e);
  if (!parent || !owners.includes(tagOf(parent))) return "";
  const explicit = explicitRole(parent);
  return explicit && isPresentational(explicit) && !mustBeExposed(parent, "none") ? explicit : strippedBy(parent);
});

function tagRole(e: Element): string | null | undefined {
  const tag = tagOf(e);
  switch (tag) {
    case "a":
    case "area":
      return hasAttribute(e, "href") ? "link" : null;
    case "footer":
      return isInSection(e) ? null : "contentinfo";
    case "header":
      return isInSection(e) ? null : "banner";
    case "form":
      return isNamed(e) ? "form" : null;
    case "section":
      return isNamed(e) ? "region" : null;
    case "img":
      return attributeOf(e, "alt") === "" && !attributeOf(e, "title") && !hasGlobalAttribute(e, null) && !hasTabIndex(e) ? "presentation" : "img";
    case "input":
      return inputRole(e as HTMLInputElement);
    case "select":
      return hasAttribute(e, "multiple") || (e as HTMLSelectElement).size > 1 ? "listbox" : "combobox";
    case "td":
    case "th":
      return cellRole(e as HTMLTableCellElement);
    default:
      return PLAIN.get(tag);
  }
}

function isInSection(e: Element): boolean {
  return !!closest(parentOrHost(e), SECTIONING);
}

function isNamed(e: Element): boolean {
  return hasAttribute(e, "aria-label") || hasAttribute(e, "aria-labelledby");
}

function inputRole(e: HTMLInputElement): string | null {
  const type = e.type;
  if (type === "hidden") return null;
  if (/^(search|email|tel|text|url)$/.test(type)) {
    if (e.list) return "combobox";
    return type === "search" ? "searchbox" : "textbox";
  }
  return INPUTS[type] ?? "textbox";
}

interface Table {
  readonly table: HTMLTableElement | null;
  readonly explicit?: string;
}

const NO_TABLE: Table = { table: null };

/** The table around a row, and its own role. */
const tableOf = cached((row: Element): Table => {
  const table = row.closest("table");
  return table ? { table, explicit: explicitRole(table) } : NO_TABLE;
});

function cellRole(e: HTMLTableCellElement): string | null {
  const row = e.parentElement;
  const { table, explicit } = row ? tableOf(row) : NO_TABLE;
  const cell = explicit === "grid" || explicit === "treegrid" ? "gridcell" : "cell";
  if (tagOf(e) === "td") return cell;
  if (isPresentational(explicit)) return null;
  const scope = attributeOf(e, "scope");
  if (scope === "col" || scope === "colgroup") return "columnheader";
  if (scope === "row" || scope === "rowgroup") return "rowheader";
  const data = (cells: Element | null | undefined): boolean => !!cells && [...cells.children].some((c) => tagOf(c) === "td");
  const first = table?.rows[0];
  return row === first && !data(row) ? "columnheader" : data(row) ? "rowheader" : "columnheader";
}

const NEVER_READ = words("style script noscript template");

// --- Hidden from assistive technology ---

/** Whether assistive technology does not see the element: not rendered, not visible, or below `aria-hidden`. https://www.w3.org/TR/wai-aria-1.2/#tree_exclusion */
export const isHiddenForAria: (e: Element) => boolean = cached((e) => {
  const tag = tagOf(e);
  if (NEVER_READ.has(tag)) return true;
  const slot = tag === "slot";
  if (displayOf(e) === "contents" && !slot) {
    for (const child of flatChildren(e)) {
      if (child instanceof Element ? !isHiddenForAria(child) : child.nodeType === Node.TEXT_NODE && hasTextBox(child)) return false;
    }
    return true;
  }
  const closedOption = tag === "option" && !!e.closest("select");
  if (!closedOption && !slot && !isPainted(e)) return true;
  return isCutOff(e);
});

const isCutOff: (e: Element) => boolean = cached((e) => {
  const parent = flatParent(e);
  // A child of a host that no slot takes is rendered nowhere.
  if (parent && shadowRootOf(parent) && e.parentElement === parent) return true;
  if (displayOf(e) === "none" || attributeOf(e, "aria-hidden") === "true") return true;
  return !!parent && isCutOff(parent);
});
