// What two libraries say of the roles and names of elements, for tests/it/second_opinions.rs, which bundles this for a page.
import { elementRoles, roles } from "aria-query";
import { computeAccessibleName, getRole } from "dom-accessibility-api";

/** The role and the name that `dom-accessibility-api` computes for each element of a page. */
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

/** An element in those that it needs around it. */
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

/** Adds elements for all that `aria-query` knows of HTML and of roles, and says what it expects of each, in their order. */
window.examples = () => {
  const wanted = [];
  const add = (e, expected, parentOf) => {
    e.setAttribute("data-at", wanted.length);
    e.setAttribute("data-r", "");
    wanted.push({ title: e.outerHTML.replace(/ data-\w+="[^"]*"/g, ""), ...expected });
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
  // In the order of the document.
  return [...document.querySelectorAll("[data-at]")].map((e) => wanted[e.getAttribute("data-at")]);
};
