// The check of a document: facts that need no request.

import { shown, type Shown } from "./core";
import { smallTargets } from "./targets";

/** A problem of a document. */
interface Finding {
  kind: "image" | "mixed" | "label" | "placeholder" | "target" | "id" | "missing";
  /** The elements, the first one or all. */
  elements: (Shown | null)[];
  /** The address, size, id or name that belongs to it. */
  detail: string;
}

/** The number of elements that are read. */
const MAX_ELEMENTS = 50_000;
/** The number of problems of each kind whose elements are described. */
const MAX_FINDINGS = 50;
/** The number of elements with the same id that are described. */
const MAX_DUPLICATES = 5;
/** The time for the decoding of an image, in milliseconds. */
const DECODE_TIMEOUT = 1_000;

const FIELDS = 'input:not([type="hidden" i], [type="submit" i], [type="reset" i], [type="button" i], [type="image" i]), select, textarea';
/** The attributes with addresses that a document loads or sends to. */
const LOADED = [
  ["img, script, iframe, audio, video, source, track, embed, input", "src"],
  ["object", "data"],
  ["video", "poster"],
  ['link[rel~="stylesheet" i], link[rel~="icon" i], link[rel~="preload" i], link[rel~="manifest" i]', "href"],
  ["form", "action"],
] as const;

/** Returns the problems of the document. `main` is true for the document of the page, which also needs metadata. */
export async function checkPage({ main, marks }: { main: boolean; marks?: boolean }): Promise<{ findings: Finding[]; counts: object }> {
  const all: Element[] = [];
  collect(document, all);
  const found = [
    ...(main ? missing() : []),
    ...(await brokenImages(all)),
    ...mixedContent(all),
    ...unlabelled(all),
    ...smallTargets(all).map(({ element, width, height }): Raw => ["target", [element], `${round(width)}×${round(height)}`]),
    ...duplicateIds(all),
  ];
  const counts: Record<string, number> = {};
  const findings: Finding[] = [];
  for (const [kind, elements, detail] of found) {
    const count = (counts[kind] = (counts[kind] ?? 0) + 1);
    if (count <= MAX_FINDINGS) findings.push({ kind, elements: elements.slice(0, MAX_DUPLICATES).map((e) => shown(e, marks)), detail });
  }
  return { findings, counts };
}

type Raw = [kind: Finding["kind"], elements: Element[], detail: string];

function collect(root: Document | ShadowRoot, all: Element[]): void {
  for (const e of root.querySelectorAll("*")) {
    if (all.length >= MAX_ELEMENTS) return;
    all.push(e);
    if (e.shadowRoot) collect(e.shadowRoot, all);
  }
}

function round(length: number): number {
  return Math.round(length * 10) / 10;
}

function missing(): Raw[] {
  // Documents of images, texts and the like have no markup of an author.
  if (!/html/.test(document.contentType)) return [];
  const root = document.documentElement;
  const has = (selector: string): boolean => [...document.querySelectorAll(selector)].some((e) => e.getAttribute("content")?.trim());
  const found: Raw[] = [];
  if (!root?.getAttribute("lang")?.trim()) found.push(["missing", [], "lang"]);
  if (!document.title.trim()) found.push(["missing", [], "title"]);
  if (!has('meta[name="viewport" i]')) found.push(["missing", [], "meta viewport"]);
  if (!has('meta[name="description" i]')) found.push(["missing", [], "meta description"]);
  return found;
}

async function brokenImages(all: Element[]): Promise<Raw[]> {
  const images = all.filter((e): e is HTMLImageElement => e instanceof HTMLImageElement);
  // An SVG without a size has no width either, but can be decoded.
  const suspects = images.filter((e) => e.complete && !e.naturalWidth && !!(e.currentSrc || e.getAttribute("src")));
  const broken = await Promise.all(suspects.map(async (e) => ((await canBeDecoded(e)) ? [] : [e])));
  return broken.flat().map((e) => ["image", [e], e.currentSrc || e.src]);
}

async function canBeDecoded(e: HTMLImageElement): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), DECODE_TIMEOUT));
  const decoded = e.decode().then(
    () => true,
    () => false,
  );
  return Promise.race([decoded, late]);
}

function mixedContent(all: Element[]): Raw[] {
  if (location.protocol !== "https:") return [];
  const found: Raw[] = [];
  for (const e of all) {
    for (const [selector, attribute] of LOADED) {
      const address = e.getAttribute(attribute);
      if (!address || !e.matches(selector)) continue;
      const url = absolute(address);
      if (url && url.protocol === "http:" && !isLoopback(url)) found.push(["mixed", [e], url.href]);
    }
  }
  return found;
}

function absolute(address: string): URL | undefined {
  try {
    return new URL(address, document.baseURI);
  } catch {
    // An invalid address.
    return undefined;
  }
}

/** Returns whether a URL is trustworthy without encryption (https://w3c.github.io/webappsec-secure-contexts/#is-origin-trustworthy). */
function isLoopback({ hostname }: URL): boolean {
  return /^(127\.\d+\.\d+\.\d+|\[::1\]|(.*\.)?localhost)$/.test(hostname);
}

function unlabelled(all: Element[]): Raw[] {
  const found: Raw[] = [];
  for (const e of all) {
    if (!e.matches(FIELDS) || !e.checkVisibility({ visibilityProperty: true })) continue;
    const name = shown(e)?.name;
    if (name === undefined) continue;
    if (!name) found.push(["label", [e], ""]);
    else if (isNamedByPlaceholder(e)) found.push(["placeholder", [e], ""]);
  }
  return found;
}

function isNamedByPlaceholder(e: Element): boolean {
  const has = (name: string): boolean => !!e.getAttribute(name)?.trim();
  return has("placeholder") && !has("aria-label") && !has("aria-labelledby") && !has("title") && !(e as HTMLInputElement).labels?.length;
}

function duplicateIds(all: Element[]): Raw[] {
  const groups = new Map<Node, Map<string, Element[]>>();
  for (const e of all) {
    const id = e.getAttribute("id");
    if (!id) continue;
    const root = e.getRootNode();
    const ids = groups.get(root) ?? new Map<string, Element[]>();
    groups.set(root, ids);
    const group = ids.get(id);
    if (group) group.push(e);
    else ids.set(id, [e]);
  }
  const found: Raw[] = [];
  for (const ids of groups.values()) for (const [id, group] of ids) if (group.length > 1) found.push(["id", group, id]);
  return found;
}
