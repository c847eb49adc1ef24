// CSS selectors that pierce open shadow roots, with Playwright's pseudo-classes such as `:has-text()`, `:text()` and `:visible`.

import { isElement, isElementVisible, parentOrHost } from "../dom";
import { elementShadowRoot } from "../roots";
import { cached } from "../seen";
import { distanceOf, ranked } from "./layout";
import { orReject, type Complex, type Compound, type Css, type CssTest } from "./steps";
import { isTextOmitted, textCondition, textOf, textTest } from "./text";

/** The root of a query: the document, or an element whose descendants are searched. */
export type Scope = Document | Element;
type Root = Scope | ShadowRoot;

/** Returns the open shadow roots below a root, at all depths, in document order. */
export const shadowRootsOf: (root: Root) => ShadowRoot[] = cached((root) => {
  const found: ShadowRoot[] = [];
  const add = (shadow: ShadowRoot | null): void => {
    if (shadow) found.push(shadow, ...shadowRootsOf(shadow));
  };
  if (isElement(root)) add(elementShadowRoot(root));
  for (const e of root.querySelectorAll("*")) {
    const shadow = elementShadowRoot(e);
    if (shadow) add(shadow);
  }
  return found;
});

/** Returns all elements below a root, including those in open shadow roots. */
export const everyElement: (root: Root) => Element[] = cached((root) => queryDeep(root, "*"));

/** Returns the elements below a root that match a standard CSS selector, including those in open shadow roots. */
export function queryDeep(root: Root, css: string): Element[] {
  return orReject("css", css, () => {
    const found = [...root.querySelectorAll(css)];
    for (const shadow of shadowRootsOf(root)) found.push(...shadow.querySelectorAll(css));
    return found;
  });
}

/** Returns the elements below the scope that match the selector. With layout pseudo-classes they are sorted by distance. */
export function queryCss(scope: Scope, css: Css): Element[] {
  const native =
    scope instanceof Document && css.native && !shadowRootsOf(scope).length && !css.list.some((complex) => complex[0]?.combinator);
  if (native) return orReject("css", css.css, () => [...scope.querySelectorAll(css.css)]);
  return queryList(scope, css.list);
}

function queryList(scope: Scope, list: Complex[]): Element[] {
  if (list.length === 1 && list[0]) return queryComplex(scope, list[0]);
  return inOrder(new Set(list.flatMap((complex) => queryComplex(scope, complex))), scope);
}

function queryComplex(scope: Scope, complex: Complex): Element[] {
  const last = complex[complex.length - 1] as Compound;
  const candidates = last.css ? queryDeep(scope, last.css) : everyElement(scope);
  if (complex.length === 1 && !last.tests && !last.combinator) return candidates;
  return ranked(() => candidates.filter((e) => matchesComplex(e, complex, scope)));
}

function matchesComplex(e: Element, complex: Complex, scope: Scope, i = complex.length - 1): boolean {
  const compound = complex[i];
  if (!compound) return true;
  // The scope itself only matches `:scope`, because queries return descendants.
  if (e === scope && !compound.tests?.some(({ test }) => test === "scope")) return false;
  if (!matchesCompound(e, compound, scope)) return false;
  if (!i && !compound.combinator) return true;
  // The first combinator is relative to the scope.
  const matches = (other: Element): boolean => (i ? matchesComplex(other, complex, scope, i - 1) : other === scope);
  switch (compound.combinator) {
    case ">": {
      const parent = parentWithin(e, scope);
      return !!parent && matches(parent);
    }
    case "+":
      return !!e.previousElementSibling && matches(e.previousElementSibling);
    case "~":
      for (let other = e.previousElementSibling; other; other = other.previousElementSibling) if (matches(other)) return true;
      return false;
    default:
      for (let other = parentWithin(e, scope); other; other = parentWithin(other, scope)) if (matches(other)) return true;
      return false;
  }
}

/** Returns the parent element or host, but undefined for the scope. */
function parentWithin(e: Element, scope: Scope): Element | undefined {
  return e === scope ? undefined : parentOrHost(e);
}

function matchesCompound(e: Element, { css, tests }: Compound, scope: Scope): boolean {
  if (css && !orReject("css", css, () => e.matches(css))) return false;
  return !tests || tests.every((test) => passes(e, test, scope));
}

function passes(e: Element, test: CssTest, scope: Scope): boolean {
  switch (test.test) {
    case "is":
      return test.list.some((complex) => matchesComplex(e, complex, scope));
    case "not":
      return !test.list.some((complex) => matchesComplex(e, complex, scope));
    case "has":
      return test.list.some((complex) => hasComplex(e, complex));
    case "scope":
      return e === (scope instanceof Document ? scope.documentElement : scope);
    case "visible":
      return isElementVisible(e);
    case "hasText":
      return !isTextOmitted(e) && textCondition(test.text)(textOf(e));
    case "text":
      return textTest(test.text, test.nodes)(e);
    case "nthMatch":
      return queryList(e.ownerDocument, test.list)[test.n - 1] === e;
    case "layout":
      return distanceOf(e, test, scope, () => queryList(scope, test.list)) !== undefined;
  }
}

function hasComplex(e: Element, [first, ...rest]: Complex): boolean {
  if (!first) return false;
  const relative = [{ ...first, combinator: first.combinator ?? " " }, ...rest];
  if (relative.some(({ combinator }) => combinator === "+" || combinator === "~")) {
    // Siblings are not descendants of the element, so the query starts at the parent, with the element as the scope.
    const parent = parentOrHost(e);
    const last = relative[relative.length - 1] as Compound;
    return !!parent && queryDeep(parent, last.css || "*").some((other) => matchesComplex(other, relative, e));
  }
  return queryComplex(e, relative).length > 0;
}

/** Returns the elements in document order. The elements of a shadow tree follow the children of the host. */
export function inOrder(elements: Set<Element>, scope: Scope): Element[] {
  const list = [...elements];
  if (list.length < 2) return list;
  if (!shadowRootsOf(scope).length) {
    return list.sort((a, b) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
  }
  const sorted: Element[] = [];
  const visit = (e: Element): void => {
    if (elements.has(e)) sorted.push(e);
    for (const child of e.children) visit(child);
    for (const child of elementShadowRoot(e)?.children ?? []) visit(child);
  };
  visit(isElement(scope) ? scope : scope.documentElement);
  return sorted;
}
