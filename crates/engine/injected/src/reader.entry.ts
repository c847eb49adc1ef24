// The reader mode: the main article of a page as Markdown. Mozilla's Readability finds it in a copy of the page; what is read is the page
// itself, so that hidden text, shadow roots and password fields are what they are everywhere else.
import "./own";
import { Readability } from "@mozilla/readability";
import { marking, parentOrHost } from "./dom";
import { markdown } from "./markdown";
import { seen, withCaches } from "./seen";

/** The attribute of an element of the copy that names its original: Readability renames elements, and merges the attributes of others. */
const ORIGIN = /^playhouse-(\d+)$/;

/** What is in an element of the article; all of the element where nothing in it is one. */
function article(from: Element, marks?: boolean): string {
  return marking(marks, () =>
    withCaches(() => {
      const originals = [...from.querySelectorAll("*")];
      const found = readable(from);
      if (found) leaveOut(originals, new Set(originsIn(found).map((index) => originals[index])));
      return markdown(from);
    }),
  );
}

/** The article that a copy of an element has, taken out of it. */
function readable(from: Element): Element | null | undefined {
  // A document without a window runs nothing and loads nothing.
  const copy = document.implementation.createHTMLDocument();
  const body = copy.importNode(from, true);
  for (const [index, e] of [...body.querySelectorAll("*")].entries()) e.setAttribute(`playhouse-${index}`, "");
  // Fields of a form are its properties, before those that every element has.
  for (const e of body.querySelectorAll("form [name], form [id]")) for (const name of ["name", "id"]) e.removeAttribute(name);
  // Links to scripts are replaced with their text.
  for (const e of body.querySelectorAll('a[href^="javascript:" i]')) e.setAttribute("href", "#");
  copy.body.append(...body.childNodes);
  return new Readability<Element>(copy, { keepClasses: true, disableJSONLD: true, serializer: (e) => e as Element }).parse()?.content;
}

function originsIn(found: Element): number[] {
  return [...found.querySelectorAll("*")].flatMap((e) =>
    e.getAttributeNames().flatMap((name) => {
      const [, index] = ORIGIN.exec(name) ?? [];
      return index === undefined ? [] : Number(index);
    }),
  );
}

/** Lets elements that are not of an article count as not displayed, and those around it as without a text of their own. */
function leaveOut(all: Element[], kept: Set<Element | undefined>): void {
  const around = new Set<Element>();
  for (const e of kept) for (let at = e && parentOrHost(e); at && !around.has(at); at = parentOrHost(at)) around.add(at);
  for (const e of all) {
    // Readability makes paragraphs of line breaks.
    if (kept.has(e) || e instanceof HTMLBRElement) continue;
    if (around.has(e)) seen(e).painted = false;
    else seen(e).look = { display: "none", cursor: "", pointerEvents: "" };
  }
}

Object.defineProperty(globalThis, "__playhouseReader", { value: article, configurable: true });
