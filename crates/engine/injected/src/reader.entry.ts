// Defines `globalThis.__playhouseReader`, which returns the main article of a page as Markdown. Mozilla's Readability finds the article in
// a copy of the page. The text is read from the page itself, so that hidden text, shadow roots and password fields are handled as usual.
import "./own";
import { Readability } from "@mozilla/readability";
import { marking, parentOrHost } from "./dom";
import { markdown } from "./markdown";
import { seen, withCaches } from "./seen";

/**
 * The name of the attribute with which an element of the copy refers to its original. The index is in the name, because Readability merges
 * the attributes of elements.
 */
const INDEX_ATTRIBUTE = /^playhouse-(\d+)$/;

/** Returns the article in an element as Markdown, or the whole element if Readability finds no article. */
function article(from: Element, marks?: boolean): string {
  return marking(marks, () =>
    withCaches(() => {
      const originals = [...from.querySelectorAll("*")];
      const found = articleIn(from);
      if (found) exclude(originals, new Set(indicesIn(found).map((index) => originals[index])));
      return markdown(from);
    }),
  );
}

/** Returns the article that Readability finds in a copy of an element. */
function articleIn(from: Element): Element | null | undefined {
  // A document without a browsing context runs no scripts and loads no resources.
  const copy = document.implementation.createHTMLDocument();
  const body = copy.importNode(from, true);
  for (const [index, e] of [...body.querySelectorAll("*")].entries()) e.setAttribute(`playhouse-${index}`, "");
  // Fields of a form shadow properties of the form that Readability uses.
  for (const e of body.querySelectorAll("form [name], form [id]")) for (const name of ["name", "id"]) e.removeAttribute(name);
  // Readability replaces `javascript:` links by their text.
  for (const e of body.querySelectorAll('a[href^="javascript:" i]')) e.setAttribute("href", "#");
  copy.body.append(...body.childNodes);
  return new Readability<Element>(copy, { keepClasses: true, disableJSONLD: true, serializer: (e) => e as Element }).parse()?.content;
}

/** Returns the indices of the originals of the elements in the article. */
function indicesIn(found: Element): number[] {
  return [...found.querySelectorAll("*")].flatMap((e) =>
    e.getAttributeNames().flatMap((name) => {
      const [, index] = INDEX_ATTRIBUTE.exec(name) ?? [];
      return index === undefined ? [] : Number(index);
    }),
  );
}

/**
 * Sets the cached styles so that the elements outside of an article are not rendered, and that its ancestors are rendered without their own
 * text.
 */
function exclude(all: Element[], kept: Set<Element | undefined>): void {
  const ancestors = new Set<Element>();
  for (const e of kept) for (let at = e && parentOrHost(e); at && !ancestors.has(at); at = parentOrHost(at)) ancestors.add(at);
  for (const e of all) {
    // Readability replaces line breaks by paragraphs, so the article does not contain them.
    if (kept.has(e) || e instanceof HTMLBRElement) continue;
    if (ancestors.has(e)) seen(e).painted = false;
    else seen(e).computed = { display: "none", cursor: "", pointerEvents: "" };
  }
}

Object.defineProperty(globalThis, "__playhouseReader", { value: article, configurable: true });
