// What a page says, as data: elements, tables, links, facts about the page.

import { nameOf } from "./aria/names";
import { roleOf } from "./aria/roles";
import { marking, preview, squash, tagOf } from "./dom";
import { itsNameDiffers, MARK, marked as markedText, saysOther, shownText } from "./hidden";
import type { Handle } from "./handles";
import { markdown } from "./markdown";
import { isPassword, marked as markedPassword, markup } from "./passwords";
import { refOf, renew } from "./refs";
import { seen, withCaches } from "./seen";
import { queryDeep } from "./selector/css";
import { attached, type Gone } from "./states";
import { gridOf, type Grid } from "./table";

const LONGEST_TEXT = 500;
const LONGEST_TITLE = 8_000;
const MOST_LINKS = 2_000;

/** An element for those who look for one. */
export interface Described {
  tag: string;
  "attributes": Record<string, string>;
  text: string;
  role: string;
  name: string;
  /** In the viewport of its frame. */
  box: { x: number; y: number; width: number; height: number };
  ref: number;
}

/** What is asked, and whether what a person cannot see is marked. */
type Of<Question> = Question & { marks?: boolean };

function marked<T>(marks: boolean | undefined, work: () => T): T {
  return marking(marks, () => withCaches(work));
}

/** The whole text of each element that is still there. */
export function texts({ handles, marks }: Of<{ handles: Handle[] }>): string[] {
  return marked(marks, () => handles.flatMap((handle) => attached(handle) ?? []).map(shownText));
}

/** Each element that is still there. The refs add to those of the last snapshot. */
export function describe({ handles, marks }: Of<{ handles: Handle[] }>): Described[] {
  renew();
  return marked(marks, () =>
    handles.flatMap((handle) => {
      const e = attached(handle);
      if (!e) return [];
      const { x, y, width, height } = e.getBoundingClientRect();
      const it = seen(e);
      const role = roleOf(e) ?? "generic";
      const name = nameOf(e);
      const text = shownText(e).trim();
      return {
        tag: tagOf(e),
        "attributes": Object.fromEntries(
          [...e.attributes].map(({ name, value }) => [
            name,
            name === "value" && isPassword(e)
              ? markedPassword(value)
              : cut(SAID.test(name) ? markedText(it, value, name !== "value" && saysOther(it, value)) : value),
          ]),
        ),
        text: cut(text),
        role,
        // One that is made of the text has what cannot be seen of that.
        name: cut(markedText(it, name, itsNameDiffers(it, name) || (text.includes(MARK) && !it.has("aria-label")))),
        box: { x, y, width, height },
        ref: refOf(it),
      };
    }),
  );
}

/** Attributes that are read out, or shown. */
const SAID = /^(aria-\w*(label|description|holder|text)|title|alt|placeholder|value)$/;

/** From a bundle of its own, which is there when it is asked for. */
declare const __playhouseReader: (from: Element, marks?: boolean) => string;

/** The page, or one element of it. `room`: what is longer is cut off. */
export function read({
  handle,
  form,
  room,
  marks,
}: Of<{ handle?: Handle; form: "html" | "text" | "markdown" | "reader"; room: number }>): { content: string; cut: boolean } | Gone {
  const e = handle === undefined ? undefined : attached(handle);
  if (handle !== undefined && !e) return { gone: true };
  const content = marked(marks, () => {
    if (form === "html") return e ? markup(e) : wholeHtml();
    const from = e ?? document.body ?? document.documentElement;
    if (!from) return "";
    if (form === "reader") return __playhouseReader(from, marks);
    return form === "text" ? shownText(from) : markdown(from);
  });
  return { content: content.slice(0, room), cut: content.length > room };
}

/** The title of the document, cut off where it is longer than anybody reads: it stands in every answer. */
export function titleOf(): string {
  const { title } = document;
  return title.length > LONGEST_TITLE ? `${title.slice(0, LONGEST_TITLE)}… (cut off)` : title;
}

function wholeHtml(): string {
  const doctype = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : "";
  return doctype + (document.documentElement ? markup(document.documentElement) : "");
}

/** The table that the element is, or the first one in it. */
export function table({ handle, marks }: Of<{ handle: Handle }>): Grid | { mismatch: string } | Gone {
  const e = attached(handle);
  if (!e) return { gone: true };
  return marked(marks, () => gridOf(e) ?? { mismatch: preview(e) });
}

/** The links of the page, or of one element; `count` is how many there are. */
export function links({ handle, marks }: Of<{ handle?: Handle }>): { count: number; links: { text: string; href: string }[] } | Gone {
  const e = handle === undefined ? undefined : attached(handle);
  if (handle !== undefined && !e) return { gone: true };
  return marked(marks, () => {
    const all = queryDeep(e ?? document, "a[href], area[href]");
    if (e?.matches("a[href], area[href]")) all.unshift(e);
    const links = all
      .slice(0, MOST_LINKS)
      .map((link) => ({ text: cut(squash(shownText(link)) || markedText(seen(link), nameOf(link))), href: hrefOf(link) }));
    return { count: all.length, links };
  });
}

/** Where a link leads, as an absolute URL where it is one. */
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
  /** Properties without their `og:`; several of one name are a list. */
  openGraph: Record<string, string | string[]>;
  jsonLd: unknown[];
  /** All other named ones. */
  meta: Record<string, string>;
}

const OPEN_GRAPH = /^og:/i;

/** What the document says of itself. */
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
      // A page's own mistake.
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
  return text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) + "…" : text;
}
