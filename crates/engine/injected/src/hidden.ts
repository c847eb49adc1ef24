// Detection of text that a user cannot see.

import { NAME_FROM_CONTENT } from "./aria/names";
import { roleOf } from "./aria/roles";
import { backgroundOf, colorOf, isClippedAway, isSimilar, isTransparent, isTurnedAway, masksAll } from "./paint";
import { boxOf, elementDisplay, isMarking, styleOf, parentOf, rootOf } from "./dom";
import { isAlone } from "./frames";
import { cached, seen, type Seen, type Style } from "./seen";

/** The mark before text that a user cannot see. */
export const MARK = "[hidden-text]";

/** The minimum opacity of visible elements. */
const MIN_OPACITY = 0.1;
/** The minimum font size and box size of visible text, in CSS pixels. */
const MIN_SIZE = 3;
/** The minimum and maximum spaces between visible letters, in sizes of the font. */
const MIN_SPACING = -0.45;
const MAX_SPACING = 8;
/** The maximum text indent of visible text, in CSS pixels. */
const MAX_INDENT = 500;

/** Returns whether nothing of an element and its content is visible, because of its style or size or those of an ancestor. */
export function isUnseen(it: Seen): boolean {
  if (it.unseen === undefined) {
    const parent = parentOf(it);
    it.unseen = (parent ? isUnseen(parent) || isNotRendered(it, parent) : isInHiddenFrame(it)) || hidesContent(it);
  }
  return it.unseen;
}

/** Returns whether the frame of this document is invisible, as far as scripts of the document can tell. */
function isInHiddenFrame(it: Seen): boolean {
  if (it.tag !== "html") return false;
  const view = it.element.ownerDocument.defaultView;
  if (!view || view.parent === view) return false;
  if (Math.min(view.innerWidth, view.innerHeight) < MIN_SIZE) return true;
  // In WebKit, the frame would get the prototypes of this window.
  if (isAlone()) return false;
  try {
    const frame = view.frameElement;
    if (!frame) return false;
    const outer = seen(frame);
    return isUnseen(outer) || isAway(outer);
  } catch {
    return false;
  }
}

const FALLBACK = /^(canvas|video|audio)$/;

/** Returns whether a child is not rendered although it has a style for it: in closed details, or in place of what is drawn. */
function isNotRendered(it: Seen, parent: Seen): boolean {
  if (FALLBACK.test(parent.tag)) return true;
  if (parent.tag === "object") return !it.element.getClientRects().length;
  if (parent.tag === "details" && it.tag !== "summary") return !(parent.element as HTMLDetailsElement).open;
  return /^(defs|symbol|clippath|mask|pattern|marker)$/i.test(parent.tag);
}

/** Returns the product of the opacities of an element and of those around it. */
function opacityOf(it: Seen): number {
  const style = sharedStyleOf(it);
  if (style.opacity === undefined) {
    const parent = parentOf(it);
    const { opacity, filter } = getComputedStyle(it.element);
    const own =
      styleOf(it).display === "contents"
        ? 1
        : Math.max(Number(opacity), nextOpacity(it, opacity)) * Number(/opacity\(([\d.]+)\)/.exec(filter)?.[1] ?? 1);
    style.opacity = own * (parent ? opacityOf(parent) : 1);
  }
  return style.opacity;
}

/** The maximum time, in ms, that an element may take to appear. */
const MAX_ENTRANCE = 2_000;

/** Returns the opacity of an element that is about to appear at the end of its animation; 0 for other elements. */
function nextOpacity(it: Seen, opacity: string): number {
  if (Number(opacity) >= MIN_OPACITY) return 0;
  const isRising = performance.now() - (rising.get(it.element) ?? -Infinity) < STEP_TIME;
  return isRising ? 1 : Number(endOf(it, "opacity") ?? 0);
}

/** When scripts increased the opacity of elements, as they do in each frame of an animation. */
const rising = new WeakMap<Element, number>();
/** The maximum time between two steps of such an animation, in ms. */
const STEP_TIME = 150;
const OPACITY = /(?:^|[;\s])opacity:\s*([\d.]+)/;

/** Records which elements scripts make less transparent. */
export function recordOpacities(records: MutationRecord[]): void {
  for (const { target, attributeName, oldValue } of records) {
    if (attributeName !== "style") continue;
    const before = OPACITY.exec(oldValue ?? "")?.[1];
    const now = before && (target as HTMLElement).style?.opacity;
    if (now && Number(now) > Number(before)) rising.set(target as Element, performance.now());
  }
}

/** Returns the value that a property has soon, at the end of an animation; undefined if there is none. */
function endOf({ element }: Seen, property: "opacity" | "transform"): string | undefined {
  for (const animation of element.getAnimations()) {
    const { effect, currentTime, playState } = animation;
    if (playState !== "running" || !(effect instanceof KeyframeEffect)) continue;
    const left = Number(effect.getComputedTiming().endTime) - Number(currentTime);
    const end = effect.getKeyframes().at(-1)?.[property];
    if (left <= MAX_ENTRANCE && typeof end === "string") return end;
  }
  return undefined;
}

/**
 * Returns whether an element makes its content invisible: it is transparent, clipped or scaled to nothing, or has no size and hidden
 * overflow.
 */
function hidesContent(it: Seen): boolean {
  if (styleOf(it).display === "contents") return false;
  const style = sharedStyleOf(it);
  if (style.isFaint === undefined) {
    const computed = getComputedStyle(it.element);
    const { clip, position } = computed;
    style.isFaint =
      opacityOf(it) < MIN_OPACITY ||
      (clip !== "auto" && isEmptyRect(clip) && /^(abs|fix)/.test(position)) ||
      computed.contentVisibility === "hidden" ||
      masksAll(computed.maskImage) ||
      isTurnedAway(computed);
    style.clipPath = computed.clipPath;
  }
  if (style.isFaint) return true;
  const box = boxOf(it);
  // The overflow of `<html>` and `<body>` is that of the viewport, which scrolls.
  if (!box || isOutermost(it)) return false;
  const [, , width, height] = box;
  if (style.clipPath !== "none" && isClippedAway(style.clipPath ?? "", width, height, it.element.ownerDocument)) return true;
  const isDot = width <= 1 && height <= 1;
  if (isDot && width + height > 0) return true;
  if (width >= MIN_SIZE && height >= MIN_SIZE) return false;
  // `offsetWidth` and `offsetHeight` are the sizes without transforms.
  const e = it.element as HTMLElement;
  if (width < MIN_OPACITY * e.offsetWidth || height < MIN_OPACITY * e.offsetHeight) return !growsSoon(it);
  return (isDot || !width || !height) && getComputedStyle(e).overflow !== "visible";
}

/** Returns whether an element that is scaled to nothing, or one around it, is about to appear. */
function growsSoon(it: Seen): boolean {
  for (let at: Seen | null = it; at; at = parentOf(at)) {
    const end = endOf(at, "transform");
    if (end !== undefined) return !/scale(3d|X|Y)?\(\s*0\b(?!\.)/i.test(end);
  }
  return false;
}

const isOutermost = (it: Seen): boolean => it.tag === "body" || it.tag === "html";

/** Returns whether a rectangle of `clip` has no area. */
function isEmptyRect(clip: string): boolean {
  const [top = 0, right = 0, bottom = 0, left = 0] = (clip.match(/-?[\d.]+/g) ?? []).map(Number);
  return !/auto/.test(clip) && (right <= left || bottom <= top);
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
  if (text !== "alike") return text === "unseen";
  const { fill, webkitTextFillColor } = computed();
  if (it.element.namespaceURI !== SVG) return !hasOtherBackground(it, webkitTextFillColor);
  return !(it.element as SVGElement).ownerSVGElement?.querySelector(SHAPES) && !hasOtherBackground(it, fill);
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
const HIDING_PROPERTIES =
  /opacity|color|background|font|indent|fill|filter|overflow|clip|animation|mask|spacing|transform|rotate|backface|content-vis/;

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
  const { textIndent } = style;
  if (Number.parseFloat(style.fontSize) < MIN_SIZE || (pseudo && Number(style.opacity) < MIN_OPACITY)) return "unseen";
  if (Math.abs(Number.parseFloat(textIndent)) > MAX_INDENT) return "unseen";
  if (pseudo ? isMovedAway(style) : isSpacedAway(it, style)) return "unseen";
  // `-webkit-text-fill-color` is `color` by default; text of SVG has `fill`.
  const isSvg = it.element.namespaceURI === SVG;
  if (isSvg && style.stroke !== "none") return "seen";
  const color = isSvg ? style.fill : style.webkitTextFillColor;
  if (isSvg && color === "none") return "unseen";
  const own = backgroundOf(style);
  const clip = style.backgroundClip || style.webkitBackgroundClip;
  if (clip !== "text") cache.background = own ?? "";
  const text = colorOf(color);
  if (!text || style.textShadow !== "none") return "seen";
  const parent = parentOf(it);
  const behind = clip === "text" || own === undefined || isTransparent(own) ? backgroundBehind(clip === "text" ? parent : it) : own;
  if (text.alpha >= MIN_OPACITY) return own !== undefined && isSimilar(color, behind) ? "alike" : "seen";
  // The background is the color of the letters.
  const isPainted = clip === "text" && (own === undefined || (!isTransparent(own) && !isSimilar(own, behind)));
  return isPainted ? "seen" : "unseen";
}

const SVG = "http://www.w3.org/2000/svg";
/** Elements of SVG that can be behind a text. */
const SHAPES = "rect, path, circle, ellipse, polygon, image, use, foreignObject";

/** Returns whether the box of a pseudo-element is moved out of the page. */
function isMovedAway({ position, left, top, marginLeft, transform }: CSSStyleDeclaration): boolean {
  const [, , , , x = 0, y = 0] = (/^matrix\((.*)\)/.exec(transform)?.[1] ?? "").split(", ").map(Number);
  const isPlaced = /^(abs|fix)/.test(position);
  const offsets = [marginLeft, ...(isPlaced ? [left, top] : [])].map((offset) => Number.parseFloat(offset) || 0);
  return [...offsets, x, y].some((offset) => offset < -MAX_INDENT);
}

/** Returns whether the space between letters, or a margin, moves them over each other or out of the page. */
function isSpacedAway(it: Seen, { letterSpacing, fontSize, direction }: CSSStyleDeclaration): boolean {
  const ratio = (Number.parseFloat(letterSpacing) || 0) / Number.parseFloat(fontSize);
  if (ratio < MIN_SPACING || ratio > MAX_SPACING) return true;
  const [x = 0, , width = 0] = boxOf(it) ?? [];
  if (x > -MAX_INDENT || x + width <= 0 || direction === "rtl") return false;
  // The box begins far out of the page and reaches into it.
  const range = it.element.ownerDocument.createRange();
  for (const child of it.element.childNodes) {
    if (child.nodeType !== Node.TEXT_NODE || !/\S/.test(child.nodeValue ?? "")) continue;
    range.selectNodeContents(child);
    const scrolled = it.element.ownerDocument.defaultView?.scrollX ?? 0;
    if ([...range.getClientRects()].some((rect) => rect.right > -scrolled)) return false;
  }
  return !hasScrolledAncestor(it);
}

/** Returns the background color of the nearest inclusive ancestor whose background is not transparent; white if there is none. */
function backgroundBehind(it: Seen | null): string {
  for (let at = it; at; at = parentOf(at)) {
    const style = sharedStyleOf(at);
    style.background ??= backgroundOf(getComputedStyle(at.element)) ?? "";
    if (!style.background || !isTransparent(style.background)) return style.background;
  }
  return "rgb(255, 255, 255)";
}

/** Returns whether an image or another color is behind an element, as far as it is in the viewport. */
function hasOtherBackground(it: Seen, color: string): boolean {
  for (let at: Seen | null = it; at; at = parentOf(at)) {
    const style = getComputedStyle(at.element);
    const { colorScheme } = style;
    if (backgroundOf(style) === undefined) return true;
    if (at === it && paintsBelow(at, color)) return true;
    // The canvas is dark with a dark color scheme.
    if (/dark/.test(colorScheme) && !isSimilar(color, "rgb(0, 0, 0)")) return true;
  }
  const { x, y, width, height } = it.element.getBoundingClientRect();
  const owner = it.element.ownerDocument;
  for (const e of owner.elementsFromPoint(x + width / 2, y + height / 2)) {
    if (e === it.element) continue;
    if (/^(img|video|canvas|svg|picture)$/.test(e.localName)) return true;
    const background = backgroundOf(getComputedStyle(e));
    if (background === undefined) return true;
    if (!isTransparent(background)) return !isSimilar(color, background);
  }
  return false;
}

/** Returns whether a pseudo-element paints another color below the whole text of an element. */
function paintsBelow(it: Seen, color: string): boolean {
  const [, , width = 0, height = 0] = boxOf(it) ?? [];
  return ["::before", "::after"].some((pseudo) => {
    const style = getComputedStyle(it.element, pseudo);
    if (style.content === "none" || style.position !== "absolute" || Number(style.opacity) < MIN_OPACITY) return false;
    const offsets = [style.left, style.top].map((offset) => Math.abs(Number.parseFloat(offset)));
    const covers = Number.parseFloat(style.width) >= width - MIN_SIZE && Number.parseFloat(style.height) >= height - MIN_SIZE;
    const background = backgroundOf(style);
    const isUpright = /^(none|matrix\(1, 0, 0, 1, 0, 0\))$/.test(style.transform);
    return (
      covers &&
      isUpright &&
      offsets.every((offset) => offset <= MIN_SIZE) &&
      !!background &&
      !isTransparent(background) &&
      !isSimilar(color, background)
    );
  });
}

/** Returns whether an ancestor is scrolled, so that a user can scroll back to the element. */
function hasScrolledAncestor(it: Seen): boolean {
  for (let at = parentOf(it); at; at = parentOf(at)) if (at.element.scrollTop || at.element.scrollLeft) return true;
  return false;
}

/** Returns whether the name of an element is that of an attribute in place of its text, and has no word in common with the text. */
export function hasMisleadingName(it: Seen, name: string): boolean {
  const role = it.has("aria-label") || isLabelledByHidden(it) ? roleOf(it) : null;
  return !!role && role !== "row" && NAME_FROM_CONTENT.has(role) && saysOther(it, name);
}

/** Returns whether the elements that `aria-labelledby` names are not displayed. */
function isLabelledByHidden(it: Seen): boolean {
  const ids = it.attribute("aria-labelledby")?.split(/\s+/) ?? [];
  const labels = ids.map((id) => id && (rootOf(it) as Document).getElementById?.(id)).filter((label) => !!label);
  return !!labels.length && labels.every((label) => elementDisplay(label as Element) === "none");
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
    // Elements of SVG have no rendered text.
    const hidden = ((part as Partial<HTMLElement>).innerText ?? part.textContent).trim();
    if (!hidden) continue;
    const [line = ""] = hidden.split("\n");
    const found = next(line);
    // The text in place of a canvas is not a part of the rendered text.
    if (found < 0 && !part.getClientRects().length) continue;
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
