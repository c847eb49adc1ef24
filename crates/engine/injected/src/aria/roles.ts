// Which role an element has: https://www.w3.org/TR/html-aam-1.0/#html-element-role-mappings, https://www.w3.org/TR/svg-aam-1.0/#mapping_role_table
// and https://www.w3.org/TR/core-aam-1.2/#roleMappingComputedRole.

import {
  closest,
  hasTextBox,
  isElement,
  itIsHtml,
  itIsPainted,
  itIsSvg,
  itsChildren,
  itsLook,
  itsOwner,
  itsParent,
  itsRoot,
  itsShadow,
  parentOrHost,
} from "../dom";
import { cached, seen, type Seen, type Table } from "../seen";

const words = (s: string): Set<string> => new Set(s.split(" "));

// Those of ARIA that are not abstract, of ARIA 1.3 as far as it is settled, of Graphics-ARIA and of DPUB-ARIA.
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

/** Roles that may have no name: https://www.w3.org/TR/wai-aria-1.2/#namefromprohibited, and those of ARIA 1.3 and DPUB-ARIA 1.1. */
export const UNNAMED = words(
  "caption code definition deletion emphasis generic insertion mark none paragraph presentation strong subscript suggestion superscript term " +
    "time doc-pagefooter doc-pageheader",
);

// The roles of the accessibility parent without which a role is ignored: https://www.w3.org/TR/wai-aria-1.2/#scope.
const CONTEXTS = new Map<string, Set<string>>();
for (const [roles, parents] of [
  ["caption", "figure grid table treegrid"],
  ["cell columnheader gridcell rowheader", "row"],
  ["listitem", "list directory"],
  ["menuitem menuitemcheckbox menuitemradio", "group menu menubar"],
  ["option", "group listbox"],
  ["row", "grid rowgroup table treegrid"],
  ["rowgroup", "grid table treegrid"],
  ["tab", "tablist"],
  ["treeitem", "group tree"],
] as const) {
  for (const role of words(roles)) CONTEXTS.set(role, words(parents));
}

const PLAIN = new Map(
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

// Elements without a role of ARIA, which may have a name. Those that neither this nor another table has are generic.
const ROLELESS = words("abbr audio canvas cite dl embed frame iframe kbd label legend map object picture rp rt ruby slot var video");

const SHAPES = "circle ellipse line path polygon polyline rect";
// Elements of drawings that have a role if they are included in the accessibility tree: https://www.w3.org/TR/svg-aam-1.0/#include_elements.
const DRAWN = new Map([
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

/** The tags whose role depends on more than the tag, by each role that they can have. */
const BY_MORE = new Map<string, string[]>([
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

/** The CSS that finds everything that can have a role, and more; undefined where anything can. */
export function candidates(role: string): string | undefined {
  // Any element without a role can have that of a group, by an attribute or as a part of a drawing.
  if (isPresentational(role) || /^(generic|group)$/.test(role)) return undefined;
  const tags = [...PLAIN.keys()].filter((tag) => PLAIN.get(tag) === role);
  return ["[role]", ...tags, ...(BY_MORE.get(role) ?? [])].join();
}

/** The preferred one of roles that are synonyms. https://w3c.github.io/aria/#image */
export function preferred(role: string | null): string | null {
  return role === "image" ? "img" : role === "presentation" ? "none" : role;
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

// The last four are global by an older version of the standard.
const GLOBAL_ATTRIBUTES = words(
  (
    "atomic braillelabel brailleroledescription busy controls current describedby description details dropeffect flowto grabbed hidden " +
    "keyshortcuts label labelledby live owns relevant roledescription disabled errormessage haspopup invalid"
  ).replace(/\w+/g, "aria-$&"),
);
// Elements to which an `aside`, and with `main` a `header` or `footer`, is scoped instead of to the body.
const SECTIONING = ":is(article,aside,nav,section):not([role]),[role=article i],[role=complementary i],[role=navigation i],[role=region i]";
const SECTIONING_OR_MAIN = `main:not([role]),[role=main i],${SECTIONING}`;

/** Computes the name of an element by its attributes. Names depend on roles and some roles on names, so `names.ts` provides it. */
let nameByAttributes: (it: Seen) => string;

export function provideNames(name: (it: Seen) => string): void {
  nameByAttributes = name;
}

/** The role, explicit or implied by the tag; null where there is none, and `presentation` or `none` as written. */
export function itsRole(it: Seen): string | null {
  if (it.role === undefined) {
    // A name that decides about the role may be read from elements whose roles depend on this one.
    it.role = null;
    it.role = computedRole(it);
  }
  return it.role;
}

/** The same, of an element. */
export function roleOf(e: Element): string | null {
  return itsRole(seen(e));
}

function computedRole(it: Seen): string | null {
  const explicit = it.attributeNames.length ? explicitRole(it) : undefined;
  if (explicit && !isPresentational(explicit) && explicit !== "generic") return explicit;
  const implied = explicit === "generic" ? explicit : impliedRole(it);
  if (needsGroup(it) && (!implied || implied === "generic" || isPresentational(implied)) && !itIsSvg(it)) {
    // https://w3c.github.io/html-aam/#minimum-role
    return ROLELESS.has(it.tag) ? implied : "group";
  }
  if (!explicit || explicit === "generic") return implied;
  return mustBeExposed(it) ? implied : explicit;
}

/** Whether an attribute makes a group of an element that has no other role. */
function needsGroup(it: Seen): boolean {
  if (!it.attributeNames.length) return false;
  return it.has("autofocus") || it.has("popover") || (it.has("draggable") && it.attribute("draggable") !== "false");
}

/** Whether a role says that there is none. */
export function isPresentational(role: string | null | undefined): boolean {
  return role === "none" || role === "presentation";
}

/** The first role of the attribute that is known, in its context, and has the name that it requires. */
function explicitRole(it: Seen): string | undefined {
  if (it.explicit !== undefined) return it.explicit || undefined;
  const tokens = it.attribute("role")?.toLowerCase().split(/\s+/) ?? [];
  const role = tokens.find((token) => {
    if (!ROLES.has(token)) return false;
    const isUsable = isInContext(it, token) && (!/^(form|region)$/.test(token) || isNamed(it));
    if (!isUsable) it.ignored = true;
    return isUsable;
  });
  it.explicit = role === "image" ? "img" : (role ?? "");
  return role && it.explicit;
}

/** Whether the accessibility parent of an element has a role that the element's own requires. */
function isInContext(it: Seen, role: string): boolean {
  const parents = CONTEXTS.get(role);
  if (!parents) return true;
  for (let at = itsAccessibilityParent(it), steps = 0; at && steps < FARTHEST; at = itsAccessibilityParent(at), steps++) {
    const around = itsRole(at);
    if (around && around !== "generic" && !isPresentational(around)) return parents.has(around);
  }
  return false;
}

/** So far up is a context looked for; elements may own each other in a circle. */
const FARTHEST = 1_000;

function itsAccessibilityParent(it: Seen): Seen | null {
  const id = it.attribute("id");
  const owner = id ? ownersOf(itsRoot(it)).get(id) : undefined;
  return owner && owner !== it.element ? seen(owner) : itsParent(it);
}

/** The elements that own others by `aria-owns`, by the ids of these. */
const ownersOf = cached((root: Document | ShadowRoot) => {
  const owners = new Map<string, Element>();
  for (const owner of root.querySelectorAll("[aria-owns]")) {
    for (const id of owner.getAttribute("aria-owns")?.split(/\s+/) ?? []) if (!owners.has(id)) owners.set(id, owner);
  }
  return owners;
});

/** Whether the element has a global attribute of ARIA with a value, for which a role of none is ignored. */
function hasGlobalAttribute(it: Seen): boolean {
  return it.attributeNames.some((name) => GLOBAL_ATTRIBUTES.has(name) && !!it.attribute(name)?.trim());
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
  if (it.has("contenteditable") && it.attribute("contenteditable") !== "false") return true;
  if (tag === "input") return (it.element as HTMLInputElement).type !== "hidden";
  return /^(button|iframe|select|textarea)$/.test(tag) || (/^(audio|video)$/.test(tag) && it.has("controls")) || itIsSummary(it);
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

/** Whether a role of none is ignored. https://www.w3.org/TR/wai-aria-1.2/#conflict_resolution_presentation_none */
function mustBeExposed(it: Seen): boolean {
  return hasGlobalAttribute(it) || isFocusable(it);
}

function impliedRole(it: Seen): string | null {
  return (OWNERS.has(it.tag) && strippedBy(it)) || (tagRole(it) ?? null);
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
  return explicit && isPresentational(explicit) && !mustBeExposed(parent) ? explicit : strippedBy(parent);
}

function tagRole(it: Seen): string | null | undefined {
  const { tag, element: e } = it;
  const plain = PLAIN.get(tag);
  if (plain) return plain;
  if (itIsSvg(it)) return drawingRole(it);
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
      return isInContext(it, "listitem") ? "listitem" : "generic";
    case "img":
      return it.attribute("alt") === "" && !hasTabIndex(it) && !hasGlobalAttribute(it) && !isNamed(it) ? "presentation" : "img";
    case "input":
      return inputRole(e as HTMLInputElement);
    case "select":
      return it.has("multiple") || (e as HTMLSelectElement).size > 1 ? "listbox" : "combobox";
    case "summary":
      return itIsSummary(it) ? null : "generic";
    case "td":
    case "th":
      return cellRole(it);
    default:
      return ROLELESS.has(tag) ? null : "generic";
  }
}

/** Whether the element is the summary of the details around it. */
export function itIsSummary(it: Seen): boolean {
  const details = it.tag === "summary" && it.element.parentElement;
  return (
    !!details && itIsHtml(seen(details), "details") && [...details.children].find((child) => child.localName === "summary") === it.element
  );
}

function drawingRole(it: Seen): string {
  const { tag, element: e } = it;
  if (tag === "svg") return "graphics-document";
  if (tag === "text") return "group";
  if (tag === "a" && (it.has("href") || it.has("xlink:href"))) return "link";
  const role = DRAWN.get(tag);
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

function itsTable(row: Seen): Table {
  if (!row.table) {
    const table = row.element.closest("table");
    row.table = table ? { table, role: itsRole(seen(table)) } : NO_TABLE;
  }
  return row.table;
}

function cellRole(it: Seen): string | null {
  const owner = itsOwner(it);
  // What stands at the top of a shadow root has no row.
  const row = owner && (!itsShadow(owner) || it.element.parentElement) ? owner : null;
  const { table, role } = row ? itsTable(row) : NO_TABLE;
  const cell = role === "table" ? "cell" : /^(tree)?grid$/.test(role ?? "") ? "gridcell" : null;
  if (it.tag === "td" || !cell) return cell;
  const scope = it.attribute("scope")?.toLowerCase();
  if (scope === "col" || scope === "colgroup") return "columnheader";
  if (scope === "row" || scope === "rowgroup") return "rowheader";
  if (!row || ![...row.element.children].some((child) => child.localName === "td")) return "columnheader";
  return table && isAboveData(it.element, table) ? cell : "rowheader";
}

/** Whether a column that a cell covers has data. https://html.spec.whatwg.org/multipage/tables.html#row-header */
function isAboveData(cell: Element, table: HTMLTableElement): boolean {
  const { starts, data } = columnsOf(table);
  const start = starts.get(cell) ?? 0;
  for (let at = start; at < start + spanOf(cell, "colSpan"); at++) if (data.has(at)) return true;
  return false;
}

const spanOf = (cell: Element, name: "colSpan" | "rowSpan"): number =>
  cell.hasAttributes() ? ((cell as HTMLTableCellElement)[name] ?? 1) : 1;

/** The column in which each cell of a table starts, and the columns with data. https://html.spec.whatwg.org/multipage/tables.html#forming-a-table */
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

/** Whether `aria-hidden` hides the element, which it does not do for the document. https://w3c.github.io/html-aam/#el-body */
function itIsAriaHidden(it: Seen): boolean {
  return it.attribute("aria-hidden")?.toLowerCase() === "true" && it.tag !== "body" && it.tag !== "html";
}

function isCutOff(it: Seen): boolean {
  return it.cutOff ?? (it.cutOff = isCutOffHere(it));
}

function isCutOffHere(it: Seen): boolean {
  const parent = itsParent(it);
  // A child of a host that no slot takes is rendered nowhere.
  if (parent && itsShadow(parent) && it.element.parentElement === parent.element) return true;
  if (itsLook(it).display === "none" || it.has("inert") || itIsAriaHidden(it)) return true;
  return !!parent && isCutOff(parent);
}
