// Text that is in the page, and that a person does not see.

import { displayOf, isMarking, itIsVisible, itsLook, itsParent, itsRoot } from "./dom";
import { cached, seen, type Seen } from "./seen";

/** Stands before such a text. */
export const MARK = "[hidden-text]";

/** Less opacity, and smaller letters, in pixels, nobody reads. */
const FAINT = 0.1;
const TINY = 3;
/** How much two colours may differ in each channel and be the same to a reader. */
const ALIKE = 12;
/** An indent by which text leaves its box, in pixels. */
const FAR = 500;

/** Whether nothing in an element can be seen: it is all but transparent, has no size and cuts off what it holds, or lies where nobody can scroll to. */
export function itIsUnseen(it: Seen): boolean {
  const style = itsStyle(it);
  if (style.isFaint ?? (style.isFaint = Number(getComputedStyle(it.element).opacity) < FAINT)) return true;
  // Known of those that it was asked of whether they are visible.
  const { box } = it;
  if (!box) return false;
  const [x, y, width, height] = box;
  if (width <= 1 && height <= 1) return width + height > 0 || getComputedStyle(it.element).overflow !== "visible";
  if (!width || !height) return getComputedStyle(it.element).overflow !== "visible";
  const [right, bottom] = [x + width, y + height];
  if (right > 0 && bottom > 0) return false;
  const view = it.element.ownerDocument.defaultView;
  return (right <= -(view?.scrollX ?? 0) || bottom <= -(view?.scrollY ?? 0)) && !isScrolledAway(it);
}

/** Whether the text of an element cannot be seen, for all that its box can. */
export function itsTextIsUnseen(it: Seen): boolean {
  const style = itsStyle(it);
  const text = style.text ?? (style.text = lookOfText(it, style));
  return text === "like what is behind" ? !hasOtherBehind(it, getComputedStyle(it.element).webkitTextFillColor) : text === "unseen";
}

/** What is known of the style of an element, and of all that have the same. */
export interface Style {
  readonly id: number;
  isFaint?: boolean;
  text?: "seen" | "unseen" | "like what is behind";
  background?: string;
}

const stylesOf = cached((_: Document) => new Map<string, Style>());
let lastStyle = 0;

/**
 * To ask each element for its style takes longer than all else. Elements of the same name, class, id and `style` whose parents are alike
 * have the same, unless a style sheet tells them apart by anything else.
 */
function itsStyle(it: Seen): Style {
  if (it.style) return it.style;
  const parent = itsParent(it);
  if (tellsApart(itsRoot(it))) return (it.style = { id: ++lastStyle });
  let key = `${parent ? itsStyle(parent).id : 0} ${it.tag}`;
  if (it.attributeNames.length) for (const name of ["class", "id", "style"]) key += ` ${it.attribute(name) ?? ""}`;
  const styles = stylesOf(document);
  let style = styles.get(key);
  if (!style) styles.set(key, (style = { id: ++lastStyle }));
  return (it.style = style);
}

const NAMES_ONLY = /::[\w-]+|:(hover|focus(-visible|-within)?|active|visited|link|any-link|root|host)\b/g;
const HIDES = /opacity|color|background|font|indent|fill|overflow|clip|animation/;

const tellsApart = cached((root: Document | ShadowRoot): boolean => {
  const animations = root.getAnimations?.().length;
  return !!animations || [...root.styleSheets, ...root.adoptedStyleSheets].some(sheetTellsApart);
});

function sheetTellsApart(sheet: CSSStyleSheet): boolean {
  try {
    return rulesTellApart(sheet.cssRules);
  } catch {
    // Of another origin: nobody can look into it.
    return true;
  }
}

function rulesTellApart(rules: CSSRuleList): boolean {
  for (const rule of rules as Iterable<CSSStyleRule & CSSImportRule>) {
    const { selectorText = "" } = rule;
    if (/[:+~[]/.test(selectorText.replace(NAMES_ONLY, "")) && HIDES.test(rule.style.cssText)) return true;
    if (rule.cssRules?.length && rulesTellApart(rule.cssRules)) return true;
    if (rule.styleSheet && sheetTellsApart(rule.styleSheet)) return true;
  }
  return false;
}

function lookOfText(it: Seen, known: Style): Style["text"] {
  const style = getComputedStyle(it.element);
  if (Number.parseFloat(style.fontSize) < TINY) return "unseen";
  const { textIndent } = style;
  if (Math.abs(Number.parseFloat(textIndent)) > FAR) return "unseen";
  // The colour of the text, unless it is filled with another.
  const color = style.webkitTextFillColor;
  known.background = style.backgroundColor;
  const text = colorOf(color);
  if (!text || style.textShadow !== "none") return "seen";
  if (text.alpha < FAINT) return style.backgroundClip === "text" ? "seen" : "unseen";
  return isLike(color, backgroundBehind(it)) ? "like what is behind" : "seen";
}

/** The first colour behind an element that is not transparent. */
function backgroundBehind(it: Seen): string {
  let at: Seen | null = it;
  while (at) {
    const style = itsStyle(at);
    style.background ??= getComputedStyle(at.element).backgroundColor;
    if (style.background !== "rgba(0, 0, 0, 0)") return style.background;
    at = itsParent(at);
  }
  return "rgb(255, 255, 255)";
}

/** Whether something of another colour, or a picture, lies behind an element, as far as that is in view. */
function hasOtherBehind(it: Seen, color: string): boolean {
  for (let at: Seen | null = it; at; at = itsParent(at)) {
    const { backgroundImage, colorScheme } = getComputedStyle(at.element);
    if (backgroundImage !== "none") return true;
    // What is behind all is black there.
    if (/dark/.test(colorScheme) && !isLike(color, "rgb(0, 0, 0)")) return true;
  }
  const { x, y, width, height } = it.element.getBoundingClientRect();
  const owner = it.element.ownerDocument;
  for (const e of owner.elementsFromPoint(x + width / 2, y + height / 2)) {
    if (e === it.element) continue;
    if (/^(img|video|canvas|svg|picture)$/.test(e.localName)) return true;
    const { backgroundColor, backgroundImage } = getComputedStyle(e);
    if (backgroundImage !== "none") return true;
    if (backgroundColor !== "rgba(0, 0, 0, 0)") return !isLike(color, backgroundColor);
  }
  return false;
}

interface Color {
  channels: number[];
  alpha: number;
}

const colors = new Map<string, Color | undefined>();
const RGB = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/;
const MOST_COLORS = 1_000;

/** A colour as styles have it; none of those outside of sRGB. */
function colorOf(text: string): Color | undefined {
  if (!colors.has(text)) {
    if (colors.size > MOST_COLORS) colors.clear();
    const [, r, g, b, alpha = "1"] = RGB.exec(text) ?? [];
    colors.set(text, r ? { channels: [r, g, b].map(Number), alpha: Number(alpha) } : undefined);
  }
  return colors.get(text);
}

function isLike(one: string, other: string): boolean {
  if (one === other) return true;
  const [mine, theirs] = [colorOf(one), colorOf(other)];
  return !!mine && !!theirs && theirs.alpha === 1 && mine.channels.every((channel, index) => Math.abs(channel - (theirs.channels[index] ?? 0)) <= ALIKE);
}

/** Whether something around an element was scrolled: then it can be scrolled back. */
function isScrolledAway(it: Seen): boolean {
  for (let at = itsParent(it); at; at = itsParent(at)) if (at.element.scrollTop || at.element.scrollLeft) return true;
  return false;
}

/** Whether an element shows a text that has no word in common with its accessible name. */
export function itsNameDiffers(it: Seen, name: string): boolean {
  if (!it.has("aria-label") && !it.has("title")) return false;
  const e = it.element;
  if (e.firstElementChild && e.querySelector("[aria-hidden=true], svg, style, script")) return false;
  const shown = words(e.textContent ?? "");
  const named = new Set(words(name));
  return shown.length > 0 && named.size > 0 && !shown.some((word) => named.has(word));
}

function words(text: string): string[] {
  return text.slice(0, 1_000).toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];
}

/** The text of an element as it is laid out; with a mark before what cannot be seen of it, where that is wanted. */
export function shownText(e: Element): string {
  const isShown = displayOf(e) !== "none";
  const text = e instanceof HTMLElement && isShown ? e.innerText : (e.textContent ?? "");
  if (!isMarking() || !/\S/.test(text)) return text;
  return isShown ? withMarks(e, text) : `${MARK} ${text}`;
}

/** How far ahead the text of a node is looked for; it may have been laid out otherwise than it is written. */
const NEAR = 300;

function withMarks(e: Element, text: string): string {
  let marked = "";
  let done = 0;
  let at = 0;
  const next = (words: string): number => text.slice(at, at + NEAR + words.length).indexOf(words);
  for (const part of partsOf(e)) {
    if (typeof part === "string") {
      for (const word of part.split(/\s+/)) {
        const found = word ? next(word) : -1;
        if (found >= 0) at += found + word.length;
      }
      continue;
    }
    const hidden = (part as HTMLElement).innerText?.trim();
    if (!hidden) continue;
    const [line = ""] = hidden.split("\n");
    const found = next(line);
    if (found > 0) at += found;
    marked += `${text.slice(done, at)}${MARK} `;
    done = at;
    if (found >= 0) at += hidden.length;
  }
  return marked + text.slice(done);
}

/** In the order of the document, the texts in an element that can be seen, and the outermost elements whose texts cannot, itself included. */
function* partsOf(e: Element): Generator<string | Element> {
  const it = seen(e);
  const { display } = itsLook(it);
  if (display === "none") return;
  if (display !== "contents") {
    itIsVisible(it);
    if (itIsUnseen(it)) {
      yield e;
      return;
    }
  }
  for (let child = e.firstChild; child; child = child.nextSibling) {
    if (child.nodeType === Node.ELEMENT_NODE) yield* partsOf(child as Element);
    else if (child.nodeType === Node.TEXT_NODE && /\S/.test(child.nodeValue ?? "")) {
      if (itsTextIsUnseen(it)) {
        yield e;
        return;
      }
      yield child.nodeValue ?? "";
    }
  }
}
