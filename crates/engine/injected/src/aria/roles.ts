// Which role an element has: https://www.w3.org/TR/html-aam-1.0/ and https://www.w3.org/TR/wai-aria-1.2/#document-handling_author-errors_roles.

import { closest, hasTextBox, isElement, itIsPainted, itsChildren, itsLook, itsOwner, itsParent, itsShadow, parentOrHost } from "../dom";
import { seen, type Seen, type Table } from "../seen";

const words = (s: string): Set<string> => new Set(s.split(" "));

const ROLES = words(
  "alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox " +
    "complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid " +
    "gridcell group heading img insertion link list listbox listitem log main mark marquee math menu menubar menuitem " +
    "menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar radio " +
    "radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong " +
    "subscript superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem",
);

const PLAIN = new Map(
  Object.entries({
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
  }),
);

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

/** The tags whose role depends on more than the tag, by each role that they can have. */
const BY_MORE = new Map<string, string[]>([
  ["link", ["a", "area"]],
  ["contentinfo", ["footer"]],
  ["banner", ["header"]],
  ["form", ["form"]],
  ["region", ["section"]],
  ["img", ["img"]],
  ["listbox", ["select"]],
  ["combobox", ["select", "input"]],
  ["cell", ["td"]],
  ["gridcell", ["td"]],
  ["columnheader", ["th"]],
  ["rowheader", ["th"]],
  ...["textbox", "searchbox", ...Object.values(INPUTS)].map((role): [string, string[]] => [role, ["input"]]),
]);

/** The CSS that finds everything that can have a role, and more; undefined where anything can. */
export function candidates(role: string): string | undefined {
  if (isPresentational(role)) return undefined;
  const tags = [...PLAIN.keys()].filter((tag) => PLAIN.get(tag) === role);
  return ["[role]", ...tags, ...(BY_MORE.get(role) ?? [])].join();
}

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
const SECTIONING =
  ":is(article,aside,main,nav,section):not([role]),[role=article],[role=complementary],[role=main],[role=navigation],[role=region]";

/** The role, explicit or implied by the tag; null where there is none, and `presentation` or `none` as written. */
export function itsRole(it: Seen): string | null {
  return it.role === undefined ? (it.role = computedRole(it)) : it.role;
}

/** The same, of an element. */
export function roleOf(e: Element): string | null {
  return itsRole(seen(e));
}

function computedRole(it: Seen): string | null {
  const explicit = it.attributeNames.length ? explicitRole(it) : undefined;
  if (!explicit) return impliedRole(it);
  if (!isPresentational(explicit)) return explicit;
  const implied = impliedRole(it);
  return mustBeExposed(it, implied) ? implied : explicit;
}

/** Whether a role says that there is none. */
export function isPresentational(role: string | null | undefined): boolean {
  return role === "none" || role === "presentation";
}

function explicitRole(it: Seen): string | undefined {
  return it
    .attribute("role")
    ?.split(/\s+/)
    .find((role) => ROLES.has(role));
}

function hasGlobalAttribute(it: Seen, role: string | null): boolean {
  if (!it.attributeNames.length) return false;
  return (
    GLOBAL_ATTRIBUTES.some((name) => it.has("aria-" + name) && !((name === "label" || name === "labelledby") && UNNAMED.has(role ?? ""))) ||
    ONCE_GLOBAL.some((name) => it.has("aria-" + name))
  );
}

/** Whether the element can have the focus, by its nature or by a tabindex. */
function isFocusable(it: Seen): boolean {
  return !isNativelyDisabled(it) && (isNativelyFocusable(it) || hasTabIndex(it));
}

function hasTabIndex(it: Seen): boolean {
  return !Number.isNaN(Number.parseInt(it.attribute("tabindex") ?? "", 10));
}

function isNativelyFocusable(it: Seen): boolean {
  const { tag } = it;
  if (tag === "a" || tag === "area") return it.has("href");
  if (tag === "input") return (it.element as HTMLInputElement).type !== "hidden";
  return /^(button|details|select|textarea)$/.test(tag);
}

const CONTROLS = words("button input select textarea option optgroup");

/** Whether the element is a form control that is disabled by itself, its optgroup or its fieldset. */
export function isNativelyDisabled(it: Seen): boolean {
  const { element: e, tag } = it;
  if (!CONTROLS.has(tag)) return false;
  if (it.has("disabled")) return true;
  if (tag === "option" && e.closest("optgroup[disabled]")) return true;
  const fieldset = e.parentElement?.closest("fieldset[disabled]");
  if (!fieldset) return false;
  // The first legend of a disabled fieldset keeps its controls usable.
  const legend = fieldset.querySelector(":scope > legend");
  return !legend?.contains(e) || !!fieldset.parentElement?.closest("fieldset[disabled]");
}

function mustBeExposed(it: Seen, implied: string | null): boolean {
  return hasGlobalAttribute(it, implied) || isFocusable(it);
}

function impliedRole(it: Seen): string | null {
  const role = tagRole(it) || null;
  return role && (strippedBy(it) || role);
}

/** The `none` or `presentation` by which a list, table or row makes its parts into nothing as well, unless they must be exposed; else empty. */
function strippedBy(it: Seen): string {
  return it.stripped ?? (it.stripped = foundStripped(it));
}

function foundStripped(it: Seen): string {
  const owners = OWNERS.get(it.tag);
  const parent = owners && itsOwner(it);
  if (!parent || !owners.includes(parent.tag)) return "";
  const explicit = parent.attributeNames.length ? explicitRole(parent) : undefined;
  return explicit && isPresentational(explicit) && !mustBeExposed(parent, "none") ? explicit : strippedBy(parent);
}

function tagRole(it: Seen): string | null | undefined {
  const { tag, element: e } = it;
  const plain = PLAIN.get(tag);
  if (plain) return plain;
  switch (tag) {
    case "a":
    case "area":
      return it.has("href") ? "link" : null;
    case "footer":
      return isInSection(e) ? null : "contentinfo";
    case "header":
      return isInSection(e) ? null : "banner";
    case "form":
      return isNamed(it) ? "form" : null;
    case "section":
      return isNamed(it) ? "region" : null;
    case "img":
      return it.attribute("alt") === "" && !it.attribute("title") && !hasGlobalAttribute(it, null) && !hasTabIndex(it)
        ? "presentation"
        : "img";
    case "input":
      return inputRole(e as HTMLInputElement);
    case "select":
      return it.has("multiple") || (e as HTMLSelectElement).size > 1 ? "listbox" : "combobox";
    case "td":
    case "th":
      return cellRole(it);
    default:
      return undefined;
  }
}

function isInSection(e: Element): boolean {
  return !!closest(parentOrHost(e), SECTIONING);
}

function isNamed(it: Seen): boolean {
  return it.has("aria-label") || it.has("aria-labelledby");
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

const NO_TABLE: Table = { table: null };

function itsTable(row: Seen): Table {
  if (!row.table) {
    const table = row.element.closest("table");
    row.table = table ? { table, explicit: explicitRole(seen(table)) } : NO_TABLE;
  }
  return row.table;
}

function cellRole(it: Seen): string | null {
  const owner = itsOwner(it);
  // What stands at the top of a shadow root has no row.
  const row = owner && (!itsShadow(owner) || it.element.parentElement) ? owner.element : null;
  const { table, explicit } = row && owner ? itsTable(owner) : NO_TABLE;
  const cell = explicit === "grid" || explicit === "treegrid" ? "gridcell" : "cell";
  if (it.tag === "td") return cell;
  if (isPresentational(explicit)) return null;
  const scope = it.attribute("scope");
  if (scope === "col" || scope === "colgroup") return "columnheader";
  if (scope === "row" || scope === "rowgroup") return "rowheader";
  const data = (cells: Element | null | undefined): boolean => !!cells && [...cells.children].some((c) => c.localName === "td");
  const first = table?.rows[0];
  return row === first && !data(row) ? "columnheader" : data(row) ? "rowheader" : "columnheader";
}

const NEVER_READ = words("style script noscript template");

// --- Hidden from assistive technology ---

/** Whether assistive technology does not see the element: not rendered, not visible, or below `aria-hidden`. https://www.w3.org/TR/wai-aria-1.2/#tree_exclusion */
export function itIsHidden(it: Seen): boolean {
  return it.hidden ?? (it.hidden = isExcluded(it));
}

/** The same, of an element. */
export function isHiddenForAria(e: Element): boolean {
  return itIsHidden(seen(e));
}

function isExcluded(it: Seen): boolean {
  const { tag } = it;
  if (NEVER_READ.has(tag)) return true;
  const slot = tag === "slot";
  if (!slot && itsLook(it).display === "contents") {
    for (const child of itsChildren(it)) {
      if (isElement(child) ? !isHiddenForAria(child) : child.nodeType === Node.TEXT_NODE && hasTextBox(child)) return false;
    }
    return true;
  }
  const closedOption = tag === "option" && !!it.element.closest("select");
  if (!closedOption && !slot && !itIsPainted(it)) return true;
  return isCutOff(it);
}

function isCutOff(it: Seen): boolean {
  return it.cutOff ?? (it.cutOff = isCutOffHere(it));
}

function isCutOffHere(it: Seen): boolean {
  const parent = itsParent(it);
  // A child of a host that no slot takes is rendered nowhere.
  if (parent && itsShadow(parent) && it.element.parentElement === parent.element) return true;
  if (itsLook(it).display === "none" || it.attribute("aria-hidden") === "true") return true;
  return !!parent && isCutOff(parent);
}
