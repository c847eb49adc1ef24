// Text that is in the page, and that a person does not see.

import { displayOf, isMarking, itIsVisible, itsLook, itsParent, itsRoot } from "./dom";
import { cached, seen, type Seen, type Style } from "./seen";

/** Stands before such a text. */
export const MARK = "[hidden-text]";

/** Less opacity, and smaller letters, in pixels, nobody reads. */
const FAINT = 0.1;
const TINY = 3;
/** How much two colours may differ in each channel and be the same to a reader. */
const ALIKE = 12;
/** An indent by which text leaves its box, in pixels. */
const FAR = 500;

/** Whether a person sees nothing of an element, nor of anything in it: because of what it is, or of what it is in. */
export function itIsUnseen(it: Seen): boolean {
  if (it.unseen === undefined) {
    const parent = itsParent(it);
    it.unseen = (!!parent && itIsUnseen(parent)) || hidesAll(it);
  }
  return it.unseen;
}

/** Whether an element hides what is in it: it is all but transparent, clipped or scaled to nothing, or has no size and cuts off what it holds. */
function hidesAll(it: Seen): boolean {
  if (itsLook(it).display === "contents") return false;
  itIsVisible(it);
  const style = itsStyle(it);
  if (style.isFaint === undefined) {
    const { opacity, filter, clip, clipPath, position } = getComputedStyle(it.element);
    style.isFaint = Number(opacity) < FAINT || isFaintFilter(filter) || (clip !== "auto" && isNothing(clip) && /^(abs|fix)/.test(position));
    style.clipPath = clipPath;
  }
  if (style.isFaint) return true;
  const { box } = it;
  // What is cut off by the outermost boxes is cut off by the window, which scrolls.
  if (!box || isOutermost(it)) return false;
  const [, , width, height] = box;
  if (style.clipPath !== "none" && isClippedAway(style.clipPath ?? "", width, height)) return true;
  const isDot = width <= 1 && height <= 1;
  if (isDot && width + height > 0) return true;
  if (width >= TINY && height >= TINY) return false;
  // Those are its sizes before it is transformed.
  const e = it.element as HTMLElement;
  if (width < FAINT * e.offsetWidth || height < FAINT * e.offsetHeight) return true;
  return (isDot || !width || !height) && getComputedStyle(e).overflow !== "visible";
}

const isOutermost = (it: Seen): boolean => it.tag === "body" || it.tag === "html";

function isFaintFilter(filter: string): boolean {
  return Number(/opacity\(([\d.]+)\)/.exec(filter)?.[1]) < FAINT;
}

/** Whether a rectangle of `clip` has no inside. */
function isNothing(clip: string): boolean {
  const [top = 0, right = 0, bottom = 0, left = 0] = (clip.match(/-?[\d.]+/g) ?? []).map(Number);
  return !/auto/.test(clip) && (right <= left || bottom <= top);
}

/** Whether a shape of `clip-path` leaves nothing of a box of this size. */
function isClippedAway(path: string, width: number, height: number): boolean {
  const [, shape, values = ""] = /^(\w+)\((.*)\)/.exec(path) ?? [];
  if (shape === "inset") {
    const [top = "", right = top, bottom = top, left = right] = values.split(" round")[0]?.split(" ") ?? [];
    const inset = (side: string, size: number): number => Number.parseFloat(side) * (side.endsWith("%") ? size / 100 : 1);
    return inset(top, height) + inset(bottom, height) >= height || inset(left, width) + inset(right, width) >= width;
  }
  if (shape === "polygon") {
    const points = values
      .replace(/^\w+, /, "")
      .split(", ")
      .map((point) => point.split(" "));
    return [0, 1].some((axis) => new Set(points.map((point) => point[axis])).size === 1);
  }
  return /^([\d.]+(px|%) )?[01](\.\d+)?(px|%)/.test(values);
}

/** Whether the box of an element lies where nobody can scroll to. What is in it may lie elsewhere: in a carousel, on the screen. */
export function itIsAway(it: Seen): boolean {
  return it.away ?? (it.away = isAway(it));
}

function isAway(it: Seen): boolean {
  itIsVisible(it);
  const parent = itsParent(it);
  const { box } = it;
  if (!box) return itsLook(it).display === "contents" && !!parent && itIsAway(parent);
  const [x, y, width, height] = box;
  const [right, bottom] = [x + width, y + height];
  const hasSize = width > 0 && height > 0;
  const edge = hasSize ? 0 : -1;
  if (right <= edge || bottom <= edge) {
    const view = it.element.ownerDocument.defaultView;
    if ((right <= edge - (view?.scrollX ?? 0) || bottom <= edge - (view?.scrollY ?? 0)) && !isScrolledAway(it)) return true;
  }
  for (let at = hasSize && parent; at; at = itsParent(at)) {
    const cutter = itsCutter(at);
    if (!cutter) break;
    if (isOutside(it, cutter)) return isCutAway(it);
    at = cutter;
  }
  return false;
}

/** The first of an element and what it is in that cuts off what does not fit, without a way to scroll there. */
function itsCutter(it: Seen): Seen | null {
  if (it.cutter === undefined) {
    const parent = itsParent(it);
    const style = itsStyle(it);
    style.overflow ??= overflowOf(it);
    it.cutter = style.overflow === "hidden" ? it : style.overflow === "visible" && parent ? itsCutter(parent) : null;
  }
  return it.cutter;
}

/** `scroll` where a person can scroll. */
function overflowOf(it: Seen): string {
  if (isOutermost(it) || /^(inline|contents)$/.test(itsLook(it).display)) return "visible";
  const { overflow } = getComputedStyle(it.element);
  return overflow === "visible" ? overflow : /auto|scroll/.test(overflow) ? "scroll" : "hidden";
}

function isOutside({ box }: Seen, around: Seen): boolean {
  itIsVisible(around);
  if (!box || !around.box) return false;
  const [x, y, width, height] = box;
  const [left, top, right, bottom] = around.box;
  return x + width <= left || x >= left + right || y + height <= top || y >= top + bottom;
}

/** Whether one of the boxes that do cut off an element, by its position, leaves nothing of it. */
function isCutAway(it: Seen): boolean {
  let { position } = getComputedStyle(it.element);
  for (let at = itsParent(it); at; at = itsParent(at)) {
    const style = getComputedStyle(at.element);
    const isFree = style.transform === "none" && (position === "fixed" || (position === "absolute" && style.position === "static"));
    if (isFree) continue;
    const overflow = overflowOf(at);
    if (overflow === "scroll") return false;
    if (overflow === "hidden" && isOutside(it, at)) return true;
    ({ position } = style);
  }
  return false;
}

/** Whether a text that stands in an element, or that a style sheet puts there, cannot be seen. All that is read of a page is judged by this. */
export function itsTextIsUnseen(it: Seen, pseudo?: string): boolean {
  if (itIsUnseen(it) || itIsAway(it)) return true;
  const style = pseudo ? {} : itsStyle(it);
  const computed = (): CSSStyleDeclaration => getComputedStyle(it.element, pseudo);
  const text = style.text ?? (style.text = lookOfText(it, computed(), style, pseudo));
  return text === "like what is behind" ? !hasOtherBehind(it, computed().webkitTextFillColor) : text === "unseen";
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
const HIDES = /opacity|color|background|font|indent|fill|filter|overflow|clip|animation/;

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

function lookOfText(it: Seen, style: CSSStyleDeclaration, known: Style, pseudo?: string): Style["text"] {
  const { backgroundColor, textIndent } = style;
  if (Number.parseFloat(style.fontSize) < TINY || (pseudo && Number(style.opacity) < FAINT)) return "unseen";
  if (Math.abs(Number.parseFloat(textIndent)) > FAR) return "unseen";
  // The colour of the text, unless it is filled with another.
  const color = style.webkitTextFillColor;
  known.background = backgroundColor;
  const text = colorOf(color);
  if (!text || style.textShadow !== "none") return "seen";
  if (text.alpha < FAINT) return style.backgroundClip === "text" ? "seen" : "unseen";
  return isLike(color, backgroundColor === CLEAR ? backgroundBehind(it) : backgroundColor) ? "like what is behind" : "seen";
}

const CLEAR = "rgba(0, 0, 0, 0)";

/** The first colour behind an element that is not transparent. */
function backgroundBehind(it: Seen): string {
  let at: Seen | null = it;
  while (at) {
    const style = itsStyle(at);
    style.background ??= getComputedStyle(at.element).backgroundColor;
    if (style.background !== CLEAR) return style.background;
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
    if (backgroundColor !== CLEAR) return !isLike(color, backgroundColor);
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
  return (
    !!mine &&
    !!theirs &&
    theirs.alpha === 1 &&
    mine.channels.every((channel, index) => Math.abs(channel - (theirs.channels[index] ?? 0)) <= ALIKE)
  );
}

/** Whether something around an element was scrolled: then it can be scrolled back. */
function isScrolledAway(it: Seen): boolean {
  for (let at = itsParent(it); at; at = itsParent(at)) if (at.element.scrollTop || at.element.scrollLeft) return true;
  return false;
}

/** Whether an element has a name of its own that has no word in common with the text that it shows. */
export function itsNameDiffers(it: Seen, name: string): boolean {
  return (it.has("aria-label") || it.has("title")) && saysOther(it, name);
}

/** Whether a text has no word in common with the one that an element shows. */
export function saysOther(it: Seen, text: string): boolean {
  const e = it.element;
  if (e.firstElementChild && e.querySelector("[aria-hidden=true], svg, style, script")) return false;
  const shown = words(e.textContent ?? "");
  const said = new Set(words(text));
  return shown.length > 0 && said.size > 0 && !shown.some((word) => said.has(word));
}

/** A text that says something of an element, as its name does, with a mark before it where that is wanted: if it misleads, or nothing is seen of it. */
export function marked(it: Seen, text: string, misleads = false): string {
  return isMarking() && text && (misleads || itIsUnseen(it) || itIsAway(it)) ? `${MARK} ${text}` : text;
}

function words(text: string): string[] {
  return (
    text
      .slice(0, 1_000)
      .toLowerCase()
      .match(/[\p{L}\p{N}]{2,}/gu) ?? []
  );
}

/** The text of an element as it is laid out; with a mark before what cannot be seen of it, where that is wanted. */
export function shownText(e: Element): string {
  const isShown = displayOf(e) !== "none";
  const text = e instanceof HTMLElement && isShown ? e.innerText : (e.textContent ?? "");
  if (!isMarking() || !/\S/.test(text)) return text;
  return isShown && !itIsUnseen(seen(e)) ? withMarks(e, text) : `${MARK} ${text}`;
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
  if (itsLook(it).display === "none") return;
  if (itIsUnseen(it)) {
    yield e;
    return;
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
