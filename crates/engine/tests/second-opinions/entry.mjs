// The roles and names of elements according to two libraries. tests/it/second_opinions.rs bundles this script for a page.
import { elementRoles, roles } from "aria-query";
import { computeAccessibleName, getRole } from "dom-accessibility-api";

/** Returns the role and the name that `dom-accessibility-api` computes for each element of a page. */
window.opinions = () =>
  [...document.querySelectorAll("[data-r]")].map((e) => ({ role: getRole(e) ?? "generic", name: computeAccessibleName(e) }));

const CONTEXTS = {
  caption: "table",
  cell: "row",
  columnheader: "row",
  gridcell: "row",
  listitem: "list",
  rowheader: "row",
  tab: "tablist",
};
for (const role of ["menuitem", "menuitemcheckbox", "menuitemradio"]) CONTEXTS[role] = "menu";
Object.assign(CONTEXTS, { option: "listbox", row: "table", rowgroup: "table", treeitem: "tree" });

const PARENTS = {
  td: "tr",
  th: "tr",
  tr: "tbody",
  tbody: "table",
  tfoot: "table",
  thead: "table",
  caption: "table",
  li: "ul",
  option: "select",
};

/** Adds an element to the document, in the ancestors that it requires. */
function inContext(e, parentOf) {
  let outermost = e;
  for (let parent = parentOf(e); parent; parent = parentOf(parent)) {
    parent.append(outermost);
    outermost = parent;
  }
  document.body.append(outermost);
}

const withRole = (role) => {
  const e = document.createElement("div");
  e.setAttribute("role", role);
  return e;
};

/** Adds an element for each HTML element and each role in `aria-query`. Returns the expected roles and names in document order. */
window.examples = () => {
  const examples = [];
  const add = (e, expected, parentOf) => {
    e.setAttribute("data-at", examples.length);
    e.setAttribute("data-r", "");
    examples.push({ title: e.outerHTML.replace(/ data-\w+="[^"]*"/g, ""), ...expected });
    inContext(e, parentOf);
  };
  for (const [{ name, attributes = [], constraints = [] }, found] of elementRoles.entries()) {
    const e = document.createElement(name);
    for (const attribute of attributes) {
      if (!attribute.constraints?.includes("undefined")) e.setAttribute(attribute.name, attribute.value ?? "list");
    }
    const context = constraints.join(", ");
    const parentOf = (child) => {
      const parent = PARENTS[child.localName] && document.createElement(PARENTS[child.localName]);
      const role = /grid/.exec(context)?.[0];
      if (parent?.localName === "table" && role) parent.setAttribute("role", role);
      return parent;
    };
    add(e, { roles: [...found], context }, parentOf);
  }
  for (const [role, { abstract, nameFrom }] of roles.entries()) {
    if (abstract || /^(none|presentation)$/.test(role)) continue;
    const parentOf = (child) => CONTEXTS[child.getAttribute("role")] && withRole(CONTEXTS[child.getAttribute("role")]);
    for (const label of ["", "label"]) {
      const e = withRole(role);
      e.textContent = "content";
      if (label) e.setAttribute("aria-label", label);
      const name = nameFrom.includes("prohibited") ? "" : label || (nameFrom.includes("contents") ? "content" : "");
      add(e, { roles: [role], name, context: "" }, parentOf);
    }
  }
  return [...document.querySelectorAll("[data-at]")].map((e) => examples[e.getAttribute("data-at")]);
};
