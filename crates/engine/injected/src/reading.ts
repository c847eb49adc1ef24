// Reading the content of a page: texts, properties of elements, tables, links and metadata.

import { elementName } from "./aria/names";
import { elementRole } from "./aria/roles";
import { marking, preview, squash, tagOf } from "./dom";
import { hasMisleadingName, MARK, marked as markedText, saysOther, shownText } from "./hidden";
import type { Handle } from "./handles";
import { markdown } from "./markdown";
import { isPassword, marked as markedPassword, markup } from "./passwords";
import { refOf, renew } from "./refs";
import { seen, withCaches } from "./seen";
import { queryDeep } from "./selector/css";
import { attached, type Gone } from "./states";
import { gridOf, type Grid } from "./table";

const MAX_TEXT = 500;
const MAX_TITLE = 8_000;
const MAX_LINKS = 2_000;

/** The properties of an element that was found by a selector. */
export interface Described {
  tag: string;
  "attributes": Record<string, string>;
  text: string;
  role: string;
  name: string;
  /** The bounding box in the viewport of the frame. */
  box: { x: number; y: number; width: number; height: number };
  ref: number;
}

/** The arguments of a function. `marks` is true if text that a user cannot see is to be marked. */
type WithMarks<Arguments> = Arguments & { marks?: boolean };

function withMarks<T>(marks: boolean | undefined, work: () => T): T {
  return marking(marks, () => withCaches(work));
}

/** Returns the complete text of each element that is still in the document. */
export function texts({ handles, marks }: WithMarks<{ handles: Handle[] }>): string[] {
  return withMarks(marks, () => handles.flatMap((handle) => attached(handle) ?? []).map(shownText));
}

/** Returns the properties of each element that is still in the document. The refs of the last snapshot stay valid. */
export function describe({ handles, marks }: WithMarks<{ handles: Handle[] }>): Described[] {
  renew();
  return withMarks(marks, () =>
    handles.flatMap((handle) => {
      const e = attached(handle);
      if (!e) return [];
      const { x, y, width, height } = e.getBoundingClientRect();
      const it = seen(e);
      const role = elementRole(e) ?? "generic";
      const name = elementName(e);
      const text = shownText(e).trim();
      return {
        tag: tagOf(e),
        "attributes": Object.fromEntries(
          [...e.attributes].map(({ name, value }) => [
            name,
            name === "value" && isPassword(e)
              ? markedPassword(value)
              : cut(TEXT_ATTRIBUTES.test(name) ? markedText(it, value, name !== "value" && saysOther(it, value)) : value),
          ]),
        ),
        text: cut(text),
        role,
        // A name from content also contains the text of it that a user cannot see.
        name: cut(markedText(it, name, hasMisleadingName(it, name) || (text.includes(MARK) && !it.has("aria-label")))),
        box: { x, y, width, height },
        ref: refOf(it),
      };
    }),
  );
}

/** The attributes whose text is displayed or read by assistive technology. */
const TEXT_ATTRIBUTES = /^(aria-\w*(label|description|holder|text)|title|alt|placeholder|value)$/;

/** The function of the bundle `reader.js`, which the engine evaluates before the first call of `read` with the form `reader`. */
declare const __playhouseReader: (from: Element, marks?: boolean) => string;

/** Returns the content of the page or of an element in one of the forms, with at most `room` characters. `cut` is true if it is longer. */
export function read({
  handle,
  form,
  room: maxLength,
  marks,
}: WithMarks<{ handle?: Handle; form: "html" | "text" | "markdown" | "reader"; room: number }>): { content: string; cut: boolean } | Gone {
  const e = handle === undefined ? undefined : attached(handle);
  if (handle !== undefined && !e) return { gone: true };
  const content = withMarks(marks, () => {
    if (form === "html") return e ? markup(e) : wholeHtml();
    const from = e ?? document.body ?? document.documentElement;
    if (!from) return "";
    if (form === "reader") return __playhouseReader(from, marks);
    return form === "text" ? shownText(from) : markdown(from);
  });
  const isCut = content.length > maxLength;
  return { content: isCut ? `${content.slice(0, maxLength)}…` : content, cut: isCut };
}

/** Returns the title of the document. It is cut after `MAX_TITLE` characters, because many answers contain it. */
export function titleOf(): string {
  const { title } = document;
  return title.length > MAX_TITLE ? `${title.slice(0, MAX_TITLE)}… (cut off)` : title;
}

function wholeHtml(): string {
  const doctype = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : "";
  return doctype + (document.documentElement ? markup(document.documentElement) : "");
}

/** Returns the table that the element is, or the first one in it. `mismatch` is the preview of an element without a table. */
export function table({ handle, marks }: WithMarks<{ handle: Handle }>): Grid | { mismatch: string } | Gone {
  const e = attached(handle);
  if (!e) return { gone: true };
  return withMarks(marks, () => gridOf(e) ?? { mismatch: preview(e) });
}

/** Returns the first links of the page or of an element, and their total number. */
export function links({
  handle,
  marks,
}: WithMarks<{ handle?: Handle }>): { count: number; links: { text: string; href: string }[] } | Gone {
  const e = handle === undefined ? undefined : attached(handle);
  if (handle !== undefined && !e) return { gone: true };
  return withMarks(marks, () => {
    const all = queryDeep(e ?? document, "a[href], area[href]");
    if (e?.matches("a[href], area[href]")) all.unshift(e);
    const links = all
      .slice(0, MAX_LINKS)
      .map((link) => ({ text: cut(squash(shownText(link)) || markedText(seen(link), elementName(link))), href: hrefOf(link) }));
    return { count: all.length, links };
  });
}

/** Returns the absolute URL of a link; the `href` attribute as it is, if it is not a valid URL. */
export function hrefOf(link: Element): string {
  return absolute(link.getAttribute("href") ?? "");
}

function absolute(url: string): string {
  try {
    return new URL(url, document.baseURI).href;
  } catch {
    return url;
  }
}

interface Metadata {
  title: string;
  url: string;
  description: string | null;
  canonical: string | null;
  language: string | null;
  charset: string;
  viewport: string | null;
  /** The Open Graph properties by name, without the prefix `og:`. Several values of one property are a list. */
  openGraph: Record<string, string | string[]>;
  jsonLd: unknown[];
  /** The contents of all other `<meta>` elements by name. */
  meta: Record<string, string>;
}

const OPEN_GRAPH = /^og:/i;

/** Returns the metadata of the document. */
export function metadata(): Metadata {
  const openGraph: Metadata["openGraph"] = {};
  const meta: Record<string, string> = {};
  for (const e of document.querySelectorAll("meta[content]")) {
    const name = e.getAttribute("property") ?? e.getAttribute("name") ?? e.getAttribute("itemprop");
    const content = e.getAttribute("content") ?? "";
    if (!name) continue;
    if (!OPEN_GRAPH.test(name)) {
      meta[name.toLowerCase()] ??= content;
      continue;
    }
    const key = name.replace(OPEN_GRAPH, "");
    const before = openGraph[key];
    openGraph[key] = before === undefined ? content : [before, content].flat();
  }
  const { description = null, viewport = null, ...others } = meta;
  const jsonLd = [...document.querySelectorAll('script[type="application/ld+json" i]')].flatMap((e) => {
    try {
      return [JSON.parse(e.textContent ?? "") as unknown];
    } catch {
      // Invalid JSON-LD is omitted.
      return [];
    }
  });
  const canonical = document.querySelector('link[rel~="canonical" i][href]');
  const root = document.documentElement;
  return {
    title: titleOf(),
    url: location.href,
    description,
    canonical: canonical && hrefOf(canonical),
    language: root?.getAttribute("lang") || root?.getAttribute("xml:lang") || meta["content-language"] || null,
    charset: document.characterSet,
    viewport,
    openGraph,
    jsonLd,
    meta: others,
  };
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) + "…" : text;
}
