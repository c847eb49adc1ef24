// Detection of text that a user cannot see.

import { NAME_FROM_CONTENT } from "./aria/names";
import { roleOf } from "./aria/roles";
import { boxOf, elementDisplay, isMarking, styleOf, parentOf, rootOf } from "./dom";
import { cached, seen, type Seen, type Style } from "./seen";

/** The mark before text that a user cannot see. */
export const MARK = "[hidden-text]";

/** The minimum opacity of visible elements. */
const MIN_OPACITY = 0.1;
/** The minimum font size and box size of visible text, in CSS pixels. */
const MIN_SIZE = 3;
/** The maximum difference in each channel of two colors that look the same. */
const MAX_COLOR_DIFFERENCE = 12;
/** The maximum text indent of visible text, in CSS pixels. */
const MAX_INDENT = 500;

/** Returns whether nothing of an element and its content is visible, because of its style or size or those of an ancestor. */
export function isUnseen(it: Seen): boolean {
  if (it.unseen === undefined) {
    const parent = parentOf(it);
    it.unseen = (!!parent && isUnseen(parent)) || hidesContent(it);
  }
  return it.unseen;
}

/**
 * Returns whether an element makes its content invisible: it is transparent, clipped or scaled to nothing, or has no size and hidden
 * overflow.
 */
function hidesContent(it: Seen): boolean {
  if (styleOf(it).display === "contents") return false;
  const style = sharedStyleOf(it);
  if (style.isFaint === undefined) {
    const { opacity, filter, clip, clipPath, position } = getComputedStyle(it.element);
    style.isFaint =
      Number(opacity) < MIN_OPACITY || isFaintFilter(filter) || (clip !== "auto" && isEmptyRect(clip) && /^(abs|fix)/.test(position));
    style.clipPath = clipPath;
  }
  if (style.isFaint) return true;
  const box = boxOf(it);
  // The overflow of `<html>` and `<body>` is that of the viewport, which scrolls.
  if (!box || isOutermost(it)) return false;
  const [, , width, height] = box;
  if (style.clipPath !== "none" && isClippedAway(style.clipPath ?? "", width, height)) return true;
  const isDot = width <= 1 && height <= 1;
  if (isDot && width + height > 0) return true;
  if (width >= MIN_SIZE && height >= MIN_SIZE) return false;
  // `offsetWidth` and `offsetHeight` are the sizes without transforms.
  const e = it.element as HTMLElement;
  if (width < MIN_OPACITY * e.offsetWidth || height < MIN_OPACITY * e.offsetHeight) return true;
  return (isDot || !width || !height) && getComputedStyle(e).overflow !== "visible";
}

const isOutermost = (it: Seen): boolean => it.tag === "body" || it.tag === "html";

function isFaintFilter(filter: string): boolean {
  return Number(/opacity\(([\d.]+)\)/.exec(filter)?.[1]) < MIN_OPACITY;
}

/** Returns whether a rectangle of `clip` has no area. */
function isEmptyRect(clip: string): boolean {
  const [top = 0, right = 0, bottom = 0, left = 0] = (clip.match(/-?[\d.]+/g) ?? []).map(Number);
  return !/auto/.test(clip) && (right <= left || bottom <= top);
}

/** Returns whether a shape of `clip-path` clips a box of this size completely. */
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

/**
 * Returns whether the bounding box of an element is where a user cannot scroll to. Its descendants can be visible, for example in a
 * carousel.
 */
export function isAway(it: Seen): boolean {
  return it.away ?? (it.away = computeAway(it));
}

function computeAway(it: Seen): boolean {
  const parent = parentOf(it);
  const box = boxOf(it);
  if (!box) return styleOf(it).display === "contents" && !!parent && isAway(parent);
  const [x, y, width, height] = box;
  const [right, bottom] = [x + width, y + height];
  const hasSize = width > 0 && height > 0;
  const edge = hasSize ? 0 : -1;
  if (right <= edge || bottom <= edge) {
    const view = it.element.ownerDocument.defaultView;
    if ((right <= edge - (view?.scrollX ?? 0) || bottom <= edge - (view?.scrollY ?? 0)) && !hasScrolledAncestor(it)) return true;
  }
  for (let at = hasSize && parent; at; at = parentOf(at)) {
    const clipper = clipperOf(at);
    if (!clipper) break;
    if (isOutside(it, clipper)) return isClippedByAncestor(it);
    at = clipper;
  }
  return false;
}

/** Returns the nearest inclusive ancestor that clips its overflow; null if there is none or a scroll container is nearer. */
function clipperOf(it: Seen): Seen | null {
  if (it.clip === undefined) {
    const parent = parentOf(it);
    const style = sharedStyleOf(it);
    style.overflow ??= overflowOf(it);
    it.clip = style.overflow === "hidden" ? it : style.overflow === "visible" && parent ? clipperOf(parent) : null;
  }
  return it.clip;
}

/** Returns `scroll` for a scroll container, `hidden` if the overflow is clipped, else `visible`. */
function overflowOf(it: Seen): string {
  if (isOutermost(it) || /^(inline|contents)$/.test(styleOf(it).display)) return "visible";
  const { overflow } = getComputedStyle(it.element);
  return overflow === "visible" ? overflow : /auto|scroll/.test(overflow) ? "scroll" : "hidden";
}

/** Returns whether the bounding box of an element is completely outside of that of an ancestor. */
function isOutside(it: Seen, ancestor: Seen): boolean {
  const [box, outer] = [boxOf(it), boxOf(ancestor)];
  if (!box || !outer) return false;
  const [x, y, width, height] = box;
  const [left, top, right, bottom] = outer;
  return x + width <= left || x >= left + right || y + height <= top || y >= top + bottom;
}

/** Returns whether an ancestor that contains the element by its `position` clips it completely. */
function isClippedByAncestor(it: Seen): boolean {
  let { position } = getComputedStyle(it.element);
  for (let at = parentOf(it); at; at = parentOf(at)) {
    const style = getComputedStyle(at.element);
    const isNotContained = style.transform === "none" && (position === "fixed" || (position === "absolute" && style.position === "static"));
    if (isNotContained) continue;
    const overflow = overflowOf(at);
    if (overflow === "scroll") return false;
    if (overflow === "hidden" && isOutside(it, at)) return true;
    ({ position } = style);
  }
  return false;
}

/** Returns whether the text of an element, or of one of its pseudo-elements, is invisible. All functions that read text use this one. */
export function isTextUnseen(it: Seen, pseudo?: string): boolean {
  if (isUnseen(it) || isAway(it)) return true;
  const style = pseudo ? {} : sharedStyleOf(it);
  const computed = (): CSSStyleDeclaration => getComputedStyle(it.element, pseudo);
  const text = style.text ?? (style.text = textVisibility(it, computed(), style, pseudo));
  return text === "alike" ? !hasOtherBackground(it, computed().webkitTextFillColor) : text === "unseen";
}

const stylesOf = cached((_: Document) => new Map<string, Style>());
let lastStyle = 0;

/**
 * Returns the cached style of an element. Reading computed styles is slow, so elements with the same tag, class, id and `style` share one
 * if their parents do, unless a style sheet distinguishes elements by other properties.
 */
function sharedStyleOf(it: Seen): Style {
  if (it.style) return it.style;
  const parent = parentOf(it);
  if (hasOtherSelectors(rootOf(it))) return (it.style = { id: ++lastStyle });
  let key = `${parent ? sharedStyleOf(parent).id : 0} ${it.tag}`;
  if (it.attributeNames.length) for (const name of ["class", "id", "style"]) key += ` ${it.attribute(name) ?? ""}`;
  const styles = stylesOf(document);
  let style = styles.get(key);
  if (!style) styles.set(key, (style = { id: ++lastStyle }));
  return (it.style = style);
}

/** The pseudo-elements and pseudo-classes that do not distinguish elements. */
const IGNORED_PSEUDO = /::[\w-]+|:(hover|focus(-visible|-within)?|active|visited|link|any-link|root|host)\b/g;
const HIDING_PROPERTIES = /opacity|color|background|font|indent|fill|filter|overflow|clip|animation/;

/**
 * Returns whether elements under a root can have different styles despite the same tag, class, id and `style`: because of animations, or of
 * other selectors.
 */
const hasOtherSelectors = cached((root: Document | ShadowRoot): boolean => {
  const animations = root.getAnimations?.().length;
  return !!animations || [...root.styleSheets, ...root.adoptedStyleSheets].some(sheetHasOtherSelectors);
});

function sheetHasOtherSelectors(sheet: CSSStyleSheet): boolean {
  try {
    return rulesHaveOtherSelectors(sheet.cssRules);
  } catch {
    // The rules of a style sheet of another origin cannot be read.
    return true;
  }
}

function rulesHaveOtherSelectors(rules: CSSRuleList): boolean {
  for (const rule of rules as Iterable<CSSStyleRule & CSSImportRule>) {
    const { selectorText = "" } = rule;
    if (/[:+~[]/.test(selectorText.replace(IGNORED_PSEUDO, "")) && HIDING_PROPERTIES.test(rule.style.cssText)) return true;
    if (rule.cssRules?.length && rulesHaveOtherSelectors(rule.cssRules)) return true;
    if (rule.styleSheet && sheetHasOtherSelectors(rule.styleSheet)) return true;
  }
  return false;
}

function textVisibility(it: Seen, style: CSSStyleDeclaration, cache: Style, pseudo?: string): Style["text"] {
  const { backgroundColor, textIndent } = style;
  if (Number.parseFloat(style.fontSize) < MIN_SIZE || (pseudo && Number(style.opacity) < MIN_OPACITY)) return "unseen";
  if (Math.abs(Number.parseFloat(textIndent)) > MAX_INDENT) return "unseen";
  // `-webkit-text-fill-color` is `color` by default.
  const color = style.webkitTextFillColor;
  cache.background = backgroundColor;
  const text = colorOf(color);
  if (!text || style.textShadow !== "none") return "seen";
  if (text.alpha < MIN_OPACITY) return style.backgroundClip === "text" ? "seen" : "unseen";
  return isSimilar(color, backgroundColor === TRANSPARENT ? backgroundBehind(it) : backgroundColor) ? "alike" : "seen";
}

const TRANSPARENT = "rgba(0, 0, 0, 0)";

/** Returns the background color of the nearest ancestor whose background is not transparent; white if there is none. */
function backgroundBehind(it: Seen): string {
  let at: Seen | null = it;
  while (at) {
    const style = sharedStyleOf(at);
    style.background ??= getComputedStyle(at.element).backgroundColor;
    if (style.background !== TRANSPARENT) return style.background;
    at = parentOf(at);
  }
  return "rgb(255, 255, 255)";
}

/** Returns whether an image or another color is behind an element, as far as it is in the viewport. */
function hasOtherBackground(it: Seen, color: string): boolean {
  for (let at: Seen | null = it; at; at = parentOf(at)) {
    const { backgroundImage, colorScheme } = getComputedStyle(at.element);
    if (backgroundImage !== "none") return true;
    // The canvas is dark with a dark color scheme.
    if (/dark/.test(colorScheme) && !isSimilar(color, "rgb(0, 0, 0)")) return true;
  }
  const { x, y, width, height } = it.element.getBoundingClientRect();
  const owner = it.element.ownerDocument;
  for (const e of owner.elementsFromPoint(x + width / 2, y + height / 2)) {
    if (e === it.element) continue;
    if (/^(img|video|canvas|svg|picture)$/.test(e.localName)) return true;
    const { backgroundColor, backgroundImage } = getComputedStyle(e);
    if (backgroundImage !== "none") return true;
    if (backgroundColor !== TRANSPARENT) return !isSimilar(color, backgroundColor);
  }
  return false;
}

interface Color {
  channels: number[];
  alpha: number;
}

const colors = new Map<string, Color | undefined>();
const RGB = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/;
const MAX_COLORS = 1_000;

/** Parses a computed color; undefined for colors outside of sRGB. */
function colorOf(text: string): Color | undefined {
  if (!colors.has(text)) {
    if (colors.size > MAX_COLORS) colors.clear();
    const [, r, g, b, alpha = "1"] = RGB.exec(text) ?? [];
    colors.set(text, r ? { channels: [r, g, b].map(Number), alpha: Number(alpha) } : undefined);
  }
  return colors.get(text);
}

function isSimilar(one: string, other: string): boolean {
  if (one === other) return true;
  const [first, second] = [colorOf(one), colorOf(other)];
  return (
    !!first &&
    !!second &&
    second.alpha === 1 &&
    first.channels.every((channel, index) => Math.abs(channel - (second.channels[index] ?? 0)) <= MAX_COLOR_DIFFERENCE)
  );
}

/** Returns whether an ancestor is scrolled, so that a user can scroll back to the element. */
function hasScrolledAncestor(it: Seen): boolean {
  for (let at = parentOf(it); at; at = parentOf(at)) if (at.element.scrollTop || at.element.scrollLeft) return true;
  return false;
}

/** Returns whether the name of an element is that of an attribute in place of its text, and has no word in common with the text. */
export function hasMisleadingName(it: Seen, name: string): boolean {
  const role = it.has("aria-label") ? roleOf(it) : null;
  return !!role && role !== "row" && NAME_FROM_CONTENT.has(role) && saysOther(it, name);
}

/** Returns whether a text has no word in common with the visible text of an element. */
export function saysOther(it: Seen, text: string): boolean {
  const e = it.element as HTMLElement;
  const parts = e.firstElementChild ? [...e.querySelectorAll("*")] : [];
  if (parts.some((part) => part.matches("[aria-hidden=true], svg, style, script"))) return false;
  const shown = words(e.innerText ?? e.textContent ?? "");
  const other = text.toLowerCase();
  if (!shown.length || !words(text).length || shown.some((word) => other.includes(word))) return false;
  // The names of the icons of a font are its text.
  return ![e, ...parts].some((part) => ICON_FONT.test(getComputedStyle(part).fontFamily));
}

const ICON_FONT = /icon|symbol|glyph|awesome/i;

/**
 * Returns a text about an element, such as its name. If invisible text is marked, it has a mark if it misleads or the element is invisible.
 */
export function marked(it: Seen, text: string, misleads = false): string {
  return isMarking() && text && (misleads || isUnseen(it) || isAway(it)) ? `${MARK} ${text}` : text;
}

function words(text: string): string[] {
  return (
    text
      .slice(0, 1_000)
      .toLowerCase()
      .match(/[\p{L}\p{N}]{2,}/gu) ?? []
  );
}

/** Returns the rendered text of an element. If invisible text is marked, it has marks before the invisible parts. */
export function shownText(e: Element): string {
  const isShown = elementDisplay(e) !== "none";
  const text = e instanceof HTMLElement && isShown ? e.innerText : (e.textContent ?? "");
  if (!isMarking() || !/\S/.test(text)) return text;
  return isShown && !isUnseen(seen(e)) ? withMarks(e, text) : `${MARK} ${text}`;
}

/** The maximum distance at which the text of a node is searched in the rendered text, because rendering can change it. */
const MAX_DISTANCE = 300;

function withMarks(e: Element, text: string): string {
  let marked = "";
  let done = 0;
  let at = 0;
  const next = (words: string): number => text.slice(at, at + MAX_DISTANCE + words.length).indexOf(words);
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

/** Yields the visible texts in an element and the outermost inclusive descendants whose text is invisible, in document order. */
function* partsOf(e: Element): Generator<string | Element> {
  const it = seen(e);
  if (styleOf(it).display === "none") return;
  if (isUnseen(it)) {
    yield e;
    return;
  }
  for (let child = e.firstChild; child; child = child.nextSibling) {
    if (child.nodeType === Node.ELEMENT_NODE) yield* partsOf(child as Element);
    else if (child.nodeType === Node.TEXT_NODE && /\S/.test(child.nodeValue ?? "")) {
      if (isTextUnseen(it)) {
        yield e;
        return;
      }
      yield child.nodeValue ?? "";
    }
  }
}
