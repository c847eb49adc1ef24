// The computed roles of elements: https://www.w3.org/TR/html-aam-1.0/#html-element-role-mappings,
// https://www.w3.org/TR/svg-aam-1.0/#mapping_role_table and https://www.w3.org/TR/core-aam-1.2/#roleMappingComputedRole.

import {
  closest,
  hasTextBox,
  isElement,
  isHtml,
  isPainted,
  isSvg,
  childrenOf,
  styleOf,
  ownerOf,
  parentOf,
  rootOf,
  shadowRootOf,
  parentOrHost,
} from "../dom";
import { cached, forget, seen, type Seen, type Table } from "../seen";

const words = (s: string): Set<string> => new Set(s.split(" "));

// The non-abstract roles of ARIA 1.2, the stable ones of ARIA 1.3, and those of Graphics-ARIA and DPUB-ARIA.
const ROLES = words(
  "alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox comment " +
    "complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid gridcell " +
    "group heading image img insertion link list listbox listitem log main mark marquee math menu menubar menuitem " +
    "menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar radio radiogroup region " +
    "row rowgroup rowheader scrollbar search searchbox sectionfooter sectionheader separator slider spinbutton status strong " +
    "subscript suggestion superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid " +
    "treeitem graphics-document graphics-object graphics-symbol doc-abstract doc-acknowledgments doc-afterword doc-appendix " +
    "doc-backlink doc-biblioentry doc-bibliography doc-biblioref doc-chapter doc-colophon doc-conclusion doc-cover doc-credit " +
    "doc-credits doc-dedication doc-endnote doc-endnotes doc-epigraph doc-epilogue doc-errata doc-example doc-footnote " +
    "doc-foreword doc-glossary doc-glossref doc-index doc-introduction doc-noteref doc-notice doc-pagebreak doc-pagefooter " +
    "doc-pageheader doc-pagelist doc-part doc-preface doc-prologue doc-pullquote doc-qna doc-subtitle doc-tip doc-toc",
);

/**
 * The roles for which naming is prohibited: https://www.w3.org/TR/wai-aria-1.2/#namefromprohibited, and those of ARIA 1.3 and DPUB-ARIA
 * 1.1.
 */
export const NAME_PROHIBITED = words(
  "caption code definition deletion emphasis generic insertion mark none paragraph presentation strong subscript suggestion superscript term " +
    "time doc-pagefooter doc-pageheader",
);

/** The roles of elements whose role only depends on the tag. */
const ROLE_BY_TAG = new Map(
  Object.entries({
    address: "group",
    article: "article",
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
    dir: "list",
    div: "generic",
    dt: "term",
    em: "emphasis",
    fieldset: "group",
    figcaption: "caption",
    figure: "figure",
    h1: "heading",
    h2: "heading",
    h3: "heading",
    h4: "heading",
    h5: "heading",
    h6: "heading",
    hgroup: "group",
    hr: "separator",
    ins: "insertion",
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
    s: "deletion",
    search: "search",
    span: "generic",
    strong: "strong",
    sub: "subscript",
    sup: "superscript",
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

// Elements without a corresponding ARIA role. All elements in none of these tables are generic.
const ROLELESS = words("abbr audio canvas cite dl embed frame iframe kbd label legend map object picture rp rt ruby slot var video");

const SHAPES = "circle ellipse line path polygon polyline rect";
// The roles of SVG elements that are included in the accessibility tree: https://www.w3.org/TR/svg-aam-1.0/#include_elements.
const SVG_ROLES = new Map([
  ...SHAPES.split(" ").map((tag): [string, string] => [tag, "graphics-symbol"]),
  ["a", "group"],
  ["foreignObject", "group"],
  ["g", "group"],
  ["image", "img"],
  ["mesh", "img"],
  ["symbol", "graphics-object"],
  ["textPath", "group"],
  ["tspan", "group"],
  ["use", "graphics-object"],
]);

/** The tags of elements whose role also depends on other conditions, by role. */
const CONDITIONAL_TAGS = new Map<string, string[]>([
  ["link", ["a", "area"]],
  ["contentinfo", ["footer"]],
  ["sectionfooter", ["footer"]],
  ["banner", ["header"]],
  ["sectionheader", ["header"]],
  ["complementary", ["aside"]],
  ["form", ["form"]],
  ["region", ["section"]],
  ["listitem", ["li"]],
  ["img", ["img", "image", "mesh"]],
  ["graphics-document", ["svg"]],
  ["graphics-object", ["symbol", "use"]],
  ["graphics-symbol", SHAPES.split(" ")],
  ["listbox", ["select"]],
  ["combobox", ["select", "input"]],
  ["cell", ["td", "th"]],
  ["gridcell", ["td", "th"]],
  ["columnheader", ["th"]],
  ["rowheader", ["th"]],
  ...["textbox", "searchbox", ...Object.values(INPUTS)].map((role): [string, string[]] => [role, ["input"]]),
]);

/** Returns a CSS selector that matches at least all elements with a role; undefined if every element can have it. */
export function candidateSelector(role: string): string | undefined {
  // Attributes such as `popover` and SVG make elements without another role groups.
  if (isPresentational(role) || /^(generic|group)$/.test(role)) return undefined;
  const tags = [...ROLE_BY_TAG.keys()].filter((tag) => ROLE_BY_TAG.get(tag) === role);
  return ["[role]", ...tags, ...(CONDITIONAL_TAGS.get(role) ?? [])].join();
}

/** Returns the preferred name of a role that has synonyms. https://w3c.github.io/aria/#image */
export function preferred(role: string | null): string | null {
  return role === "image" ? "img" : role === "presentation" ? "none" : role;
}

// The parents whose presentational role these required children inherit.
const REQUIRED_PARENTS = new Map<string, string[]>([
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

// The last four are global attributes in ARIA 1.1.
const GLOBAL_ATTRIBUTES = words(
  (
    "atomic braillelabel brailleroledescription busy controls current describedby description details dropeffect flowto grabbed hidden " +
    "keyshortcuts label labelledby live owns relevant roledescription disabled errormessage haspopup invalid"
  ).replace(/\w+/g, "aria-$&"),
);
// The sectioning elements. The role of an `<aside>`, `<header>` or `<footer>` in them differs from that of one scoped to the body.
const SECTIONING = ":is(article,aside,nav,section):not([role]),[role=article i],[role=complementary i],[role=navigation i],[role=region i]";
const SECTIONING_OR_MAIN = `main:not([role]),[role=main i],${SECTIONING}`;

/**
 * Returns the accessible name including hidden content. `names.ts` sets this function, because names depend on roles and some roles on
 * names.
 */
let nameByAttributes: (it: Seen) => string;

/** Sets the function that computes names. */
export function provideNames(name: (it: Seen) => string): void {
  nameByAttributes = name;
}

/** Returns the computed role: the explicit or the implied one; null if there is none. `presentation` and `none` are not unified. */
export function roleOf(it: Seen): string | null {
  if (it.role === undefined) {
    // The role can depend on a name whose computation requires this role again.
    it.role = null;
    it.role = computedRole(it);
  }
  return it.role;
}

/** Returns the computed role of an element; see `roleOf`. */
export function elementRole(e: Element): string | null {
  return roleOf(seen(e));
}

function computedRole(it: Seen): string | null {
  const explicit = it.attributeNames.length ? explicitRole(it) : undefined;
  if (explicit && !isPresentational(explicit) && explicit !== "generic") return explicit;
  const implied = explicit === "generic" ? explicit : impliedRole(it);
  if (needsGroup(it) && (!implied || implied === "generic" || isPresentational(implied)) && !isSvg(it)) {
    // https://w3c.github.io/html-aam/#minimum-role
    return ROLELESS.has(it.tag) ? implied : "group";
  }
  if (!explicit || explicit === "generic") return implied;
  return mustBeExposed(it) ? implied : explicit;
}

/** Returns whether an attribute makes an element without another role a group. */
function needsGroup(it: Seen): boolean {
  if (!it.attributeNames.length) return false;
  return it.has("autofocus") || it.has("popover") || (it.has("draggable") && it.attribute("draggable") !== "false");
}

/** Returns whether a role is `none` or `presentation`. */
export function isPresentational(role: string | null | undefined): boolean {
  return role === "none" || role === "presentation";
}

/** Returns the first role of the attribute that is valid and has the required name. Whether it is in its required context does not matter. */
function explicitRole(it: Seen): string | undefined {
  if (it.explicit !== undefined) return it.explicit || undefined;
  const tokens = it.attribute("role")?.toLowerCase().split(/\s+/) ?? [];
  const role = tokens.find((token) => {
    if (!ROLES.has(token)) return false;
    const isUsable = !/^(form|region)$/.test(token) || isNamed(it);
    if (!isUsable) it.ignored = true;
    return isUsable;
  });
  it.explicit = role === "image" ? "img" : (role ?? "");
  return role && it.explicit;
}

/** Returns whether an `<li>` is in a list. https://w3c.github.io/html-aam/#el-li */
function isInList(it: Seen): boolean {
  for (let at = accessibilityParentOf(it), steps = 0; at && steps < MAX_DEPTH; at = accessibilityParentOf(at), steps++) {
    const role = roleOf(at);
    if (role && role !== "generic" && !isPresentational(role)) return role === "list" || role === "directory";
  }
  return false;
}

/** The maximum number of ancestors that are searched for a list, because `aria-owns` can be circular. */
const MAX_DEPTH = 1_000;

/** Returns the owner by `aria-owns`, else the parent in the flat tree. */
function accessibilityParentOf(it: Seen): Seen | null {
  const id = it.attribute("id");
  const owner = id ? ownersOf(rootOf(it)).get(id) : undefined;
  return owner && owner !== it.element ? seen(owner) : parentOf(it);
}

/** Returns the elements with `aria-owns` by the ids of the elements that they own. */
const ownersOf = cached((root: Document | ShadowRoot) => {
  const owners = new Map<string, Element>();
  for (const owner of root.querySelectorAll("[aria-owns]")) {
    for (const id of owner.getAttribute("aria-owns")?.split(/\s+/) ?? []) if (!owners.has(id)) owners.set(id, owner);
  }
  return owners;
});

/** Returns whether the element has a global ARIA attribute with a value. */
function hasGlobalAttribute(it: Seen): boolean {
  return it.attributeNames.some((name) => GLOBAL_ATTRIBUTES.has(name) && !!it.attribute(name)?.trim());
}

/** Returns whether the element is focusable. */
function isFocusable(it: Seen): boolean {
  return !isNativelyDisabled(it) && (isNativelyFocusable(it) || hasTabIndex(it));
}

function hasTabIndex(it: Seen): boolean {
  return !Number.isNaN(Number.parseInt(it.attribute("tabindex") ?? "", 10));
}

function isNativelyFocusable(it: Seen): boolean {
  const { tag } = it;
  if (tag === "a" || tag === "area") return it.has("href");
  if (it.has("contenteditable") && it.attribute("contenteditable") !== "false") return true;
  if (tag === "input") return (it.element as HTMLInputElement).type !== "hidden";
  return /^(button|iframe|select|textarea)$/.test(tag) || (/^(audio|video)$/.test(tag) && it.has("controls")) || isSummary(it);
}

const CONTROLS = words("button input select textarea option optgroup");

/** Returns whether the element is a form control that is disabled by its attribute, its optgroup or its fieldset. */
export function isNativelyDisabled(it: Seen): boolean {
  const { element: e, tag } = it;
  if (!CONTROLS.has(tag)) return false;
  if (it.has("disabled")) return true;
  if (tag === "option" && e.closest("optgroup[disabled]")) return true;
  const fieldset = e.parentElement?.closest("fieldset[disabled]");
  if (!fieldset) return false;
  // Controls in the first legend of a disabled fieldset are not disabled.
  const legend = fieldset.querySelector(":scope > legend");
  return !legend?.contains(e) || !!fieldset.parentElement?.closest("fieldset[disabled]");
}

/** Returns whether a presentational role is ignored. https://www.w3.org/TR/wai-aria-1.2/#conflict_resolution_presentation_none */
function mustBeExposed(it: Seen): boolean {
  return hasGlobalAttribute(it) || isFocusable(it);
}

/** Returns the role that an element has without the `role` attribute. */
export function impliedRole(it: Seen): string | null {
  return (REQUIRED_PARENTS.has(it.tag) && inheritedPresentation(it)) || (tagRole(it) ?? null);
}

/** Returns the presentational role that a required child inherits from its list, table or row; empty if there is none. */
function inheritedPresentation(it: Seen): string {
  return it.inherited ?? (it.inherited = computeInheritedPresentation(it));
}

function computeInheritedPresentation(it: Seen): string {
  const parents = REQUIRED_PARENTS.get(it.tag);
  const parent = parents && ownerOf(it);
  if (!parent || !parents.includes(parent.tag)) return "";
  const explicit = parent.attributeNames.length ? explicitRole(parent) : undefined;
  return explicit && isPresentational(explicit) && !mustBeExposed(parent) ? explicit : inheritedPresentation(parent);
}

function tagRole(it: Seen): string | null | undefined {
  const { tag, element: e } = it;
  const plain = ROLE_BY_TAG.get(tag);
  if (plain) return plain;
  if (isSvg(it)) return drawingRole(it);
  switch (tag) {
    case "a":
    case "area":
      return it.has("href") ? "link" : "generic";
    case "aside":
      return isInside(e, SECTIONING) && !isNamed(it) ? "generic" : "complementary";
    case "footer":
      return isInside(e, SECTIONING_OR_MAIN) ? "sectionfooter" : "contentinfo";
    case "header":
      return isInside(e, SECTIONING_OR_MAIN) ? "sectionheader" : "banner";
    case "form":
      return isNamed(it) ? "form" : "generic";
    case "section":
      return isNamed(it) ? "region" : "generic";
    case "li":
      return isInList(it) ? "listitem" : "generic";
    case "img":
      return it.attribute("alt") === "" && !hasTabIndex(it) && !hasGlobalAttribute(it) && !isNamed(it) ? "presentation" : "img";
    case "input":
      return inputRole(e as HTMLInputElement);
    case "select":
      return it.has("multiple") || (e as HTMLSelectElement).size > 1 ? "listbox" : "combobox";
    case "summary":
      return isSummary(it) ? null : "generic";
    case "td":
    case "th":
      return cellRole(it);
    default:
      return ROLELESS.has(tag) ? null : "generic";
  }
}

/** Returns whether the element is the summary of its parent `<details>`. */
export function isSummary(it: Seen): boolean {
  const details = it.tag === "summary" && it.element.parentElement;
  return (
    !!details && isHtml(seen(details), "details") && [...details.children].find((child) => child.localName === "summary") === it.element
  );
}

function drawingRole(it: Seen): string {
  const { tag, element: e } = it;
  if (tag === "svg") return "graphics-document";
  if (tag === "text") return "group";
  if (tag === "a" && (it.has("href") || it.has("xlink:href"))) return "link";
  const role = SVG_ROLES.get(tag);
  const isIncluded = (): boolean =>
    hasTabIndex(it) ||
    hasGlobalAttribute(it) ||
    [...e.children].some((child) => /^(title|desc)$/.test(child.localName) && !!child.textContent?.trim());
  return role && isIncluded() ? role : "generic";
}

function isInside(e: Element, selector: string): boolean {
  return !!closest(parentOrHost(e), selector);
}

function isNamed(it: Seen): boolean {
  return (it.has("aria-label") || it.has("aria-labelledby") || it.has("title")) && !!nameByAttributes(it);
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

const NO_TABLE: Table = { table: null, role: "table" };

function tableOf(row: Seen): Table {
  if (!row.table) {
    const table = row.element.closest("table");
    row.table = table ? { table, role: roleOf(seen(table)) } : NO_TABLE;
  }
  return row.table;
}

function cellRole(it: Seen): string | null {
  const owner = ownerOf(it);
  // A cell that is a child of a shadow root has no row.
  const row = owner && (!shadowRootOf(owner) || it.element.parentElement) ? owner : null;
  const { table, role } = row ? tableOf(row) : NO_TABLE;
  const cell = role === "table" ? "cell" : /^(tree)?grid$/.test(role ?? "") ? "gridcell" : null;
  if (it.tag === "td" || !cell) return cell;
  const scope = it.attribute("scope")?.toLowerCase();
  if (scope === "col" || scope === "colgroup") return "columnheader";
  if (scope === "row" || scope === "rowgroup") return "rowheader";
  if (!row || ![...row.element.children].some((child) => child.localName === "td")) return "columnheader";
  return table && isAboveData(it.element, table) ? cell : "rowheader";
}

/** Returns whether a column that a cell covers contains data cells. https://html.spec.whatwg.org/multipage/tables.html#row-header */
function isAboveData(cell: Element, table: HTMLTableElement): boolean {
  const { starts, data } = columnsOf(table);
  const start = starts.get(cell) ?? 0;
  for (let at = start; at < start + spanOf(cell, "colSpan"); at++) if (data.has(at)) return true;
  return false;
}

const spanOf = (cell: Element, name: "colSpan" | "rowSpan"): number =>
  cell.hasAttributes() ? ((cell as HTMLTableCellElement)[name] ?? 1) : 1;

/**
 * Returns the first column of each cell of a table, and the columns with data cells.
 * https://html.spec.whatwg.org/multipage/tables.html#forming-a-table
 */
const columnsOf = cached((table: HTMLTableElement) => {
  const starts = new Map<Element, number>();
  const data = new Set<number>();
  const covered: number[] = [];
  for (const row of table.rows) {
    let at = 0;
    for (const cell of row.children) {
      while ((covered[at] ?? 0) > 0) at++;
      starts.set(cell, at);
      const height = spanOf(cell, "rowSpan") || Number.POSITIVE_INFINITY;
      for (let width = spanOf(cell, "colSpan"); width > 0; width--, at++) {
        if (cell.localName === "td") data.add(at);
        covered[at] = height;
      }
    }
    for (let column = 0; column < covered.length; column++) covered[column] = (covered[column] ?? 0) - 1;
  }
  return { starts, data };
});

const NEVER_READ = words("style script noscript template");

/**
 * Returns whether the element is excluded from the accessibility tree: not rendered, not visible, or in an element with `aria-hidden`.
 * https://www.w3.org/TR/wai-aria-1.2/#tree_exclusion
 */
export function isHidden(it: Seen): boolean {
  return it.hidden ?? (it.hidden = isExcluded(it));
}

/** Returns whether an element is excluded from the accessibility tree; see `isHidden`. */
export function isElementHidden(e: Element): boolean {
  return isHidden(seen(e));
}

function isExcluded(it: Seen): boolean {
  const { tag } = it;
  if (NEVER_READ.has(tag)) return true;
  const slot = tag === "slot";
  if (!slot && styleOf(it).display === "contents") {
    for (const child of childrenOf(it)) {
      if (isElement(child) ? !isElementHidden(child) : child.nodeType === Node.TEXT_NODE && hasTextBox(child)) return false;
    }
    return true;
  }
  const closedOption = tag === "option" && !!it.element.closest("select");
  if (!closedOption && !slot && !isPainted(it)) return true;
  return isCutOff(it);
}

/** Returns whether the element has `aria-hidden`, which is ignored for `<html>` and `<body>`. https://w3c.github.io/html-aam/#el-body */
function hasAriaHidden(it: Seen): boolean {
  return it.attribute("aria-hidden")?.toLowerCase() === "true" && it.tag !== "body" && it.tag !== "html";
}

let ignoresCovers = false;
let hasCovers = false;

/**
 * Calls a function with an element counting as shown that hides visible content from assistive technology, as overlays do with the rest of
 * the page. Returns the result.
 */
export function ignoringCovers<T>(enabled: boolean, work: () => T): T {
  if (!enabled || ignoresCovers) return work();
  ignoresCovers = true;
  try {
    return work();
  } finally {
    ignoresCovers = false;
    if (hasCovers) forget();
    hasCovers = false;
  }
}

/** What makes an element more than a part of a control, such as an icon. */
const SEMANTIC =
  "a[href], button, input, select, textarea, summary, [tabindex], [contenteditable], iframe, h1, h2, h3, h4, h5, h6, table, nav, main, form";
/** What is named by its content. */
const NAMED_BY_CONTENT = "a, button, label, summary, h1, h2, h3, h4, h5, h6, [role=button], [role=link], [role=option], [role=menuitem]";

/** Returns whether an element hides more than parts of a control from assistive technology, and that does not count. */
export function isCover(it: Seen): boolean {
  if (!ignoresCovers || !(it.has("inert") || hasAriaHidden(it))) return false;
  const { element: e } = it;
  // An empty element only keeps the focus in a dialog.
  const isGuard = !e.firstChild && it.tag !== "input" && !shadowRootOf(it);
  const covers = !isGuard && (e.matches(SEMANTIC) || !!e.querySelector(SEMANTIC)) && !e.parentElement?.closest(NAMED_BY_CONTENT);
  hasCovers ||= covers;
  return covers;
}

function isCutOff(it: Seen): boolean {
  return it.cutOff ?? (it.cutOff = isCutOffHere(it));
}

function isCutOffHere(it: Seen): boolean {
  const parent = parentOf(it);
  // A child of a shadow host without a slot is not rendered.
  if (parent && shadowRootOf(parent) && it.element.parentElement === parent.element) return true;
  if (styleOf(it).display === "none") return true;
  if ((it.has("inert") || hasAriaHidden(it)) && !isCover(it)) return true;
  return !!parent && isCutOff(parent);
}
