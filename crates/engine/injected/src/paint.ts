// What computed styles paint: colors in sRGB, gradients, shapes of `clip-path`, transforms.

export interface Color {
  channels: number[];
  alpha: number;
}

/** The maximum difference in each channel of two colors that look the same. */
const MAX_COLOR_DIFFERENCE = 12;
/** The cosine of the angle between the axes of a transform, from which on letters are only a line. */
const MAX_SHEAR = 0.995;

const colors = new Map<string, Color | undefined>();
const RGB = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/;
const MAX_COLORS = 1_000;
let canvas: CanvasRenderingContext2D | null | undefined;

/** Returns a computed color in sRGB; undefined if it is none. */
export function colorOf(text: string): Color | undefined {
  if (!colors.has(text)) {
    if (colors.size > MAX_COLORS) colors.clear();
    const [, r, g, b, alpha = "1"] = RGB.exec(text) ?? [];
    colors.set(text, r ? { channels: [r, g, b].map(Number), alpha: Number(alpha) } : drawnColor(text));
  }
  return colors.get(text);
}

/** Returns a color of another color space as a canvas draws it. */
function drawnColor(text: string): Color | undefined {
  if (!/^(color|oklch|oklab|lch|lab|hsla?|hwb|rgba?)\(|^#|^transparent$/.test(text)) return undefined;
  canvas ??= (document.createElementNS("http://www.w3.org/1999/xhtml", "canvas") as HTMLCanvasElement).getContext("2d", {
    willReadFrequently: true,
  });
  if (!canvas) return undefined;
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = text;
  canvas.fillRect(0, 0, 1, 1);
  const [r = 0, g = 0, b = 0, alpha = 0] = canvas.getImageData(0, 0, 1, 1).data;
  return { channels: [r, g, b], alpha: alpha / 255 };
}

export const isTransparent = (text: string): boolean => colorOf(text)?.alpha === 0;

export function isSimilar(one: string, other: string): boolean {
  if (one === other) return true;
  const [first, second] = [colorOf(one), colorOf(other)];
  return (
    !!first &&
    !!second &&
    second.alpha === 1 &&
    first.channels.every((channel, index) => Math.abs(channel - (second.channels[index] ?? 0)) <= MAX_COLOR_DIFFERENCE)
  );
}

const COLOR = /(?:color|oklch|oklab|lch|lab|hsla?|hwb|rgba?)\((?:[^()]|\([^()]*\))*\)|#[\da-f]{3,8}|transparent/gi;

/** Returns the color of a background; undefined if it is an image, or a gradient of several colors. */
export function backgroundOf({ backgroundColor, backgroundImage }: CSSStyleDeclaration): string | undefined {
  if (backgroundImage === "none") return backgroundColor;
  const [first, ...others] = /\b(url|image-set|element|paint)\(/.test(backgroundImage) ? [] : (backgroundImage.match(COLOR) ?? []);
  return first && others.every((color) => isSimilar(color, first)) ? first : undefined;
}

/** Returns whether a mask leaves nothing: all of its colors are transparent. */
export function masksAll(maskImage: string | undefined): boolean {
  if (!maskImage || maskImage === "none" || maskImage.includes("url(")) return false;
  const all = maskImage.match(COLOR) ?? [];
  return !!all.length && all.every(isTransparent);
}

const numbers = (text: string): number[] => (text.match(/-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?/g) ?? []).map(Number);

/** Returns whether points span no area within a box of this size. */
function isEmptyShape(points: number[][], width: number, height: number): boolean {
  const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis] ?? 0));
  const part = (values: number[] = [], size: number): number => Math.min(Math.max(...values), size) - Math.max(Math.min(...values), 0);
  return !points.length || part(xs, width) <= 0 || part(ys, height) <= 0;
}

/** Returns whether a shape of `clip-path` clips a box of this size completely. */
export function isClippedAway(path: string, width: number, height: number, owner: Document): boolean {
  const [, shape, values = ""] = /^([\w-]+)\((.*)\)/.exec(path) ?? [];
  const length = (text = "", size: number): number => Number.parseFloat(text) * (text.endsWith("%") ? size / 100 : 1);
  const [one, two, three, four] = values.split(" round")[0]?.split(" ") ?? [];
  if (shape === "inset") {
    const [top, right = top, bottom = top, left = right] = [one, two, three, four];
    return length(top, height) + length(bottom, height) >= height || length(left, width) + length(right, width) >= width;
  }
  if (shape === "rect") return length(three, height) <= length(one, height) || length(two, width) <= length(four, width);
  if (shape === "xywh") return length(three, width) <= 0 || length(four, height) <= 0;
  if (shape === "polygon") {
    const points = values.replace(/^\w+, /, "").split(", ");
    const [x, y] = [width, height];
    const parsed = points.map((point) => point.split(" ").map((text, axis) => length(text, axis ? y : x)));
    return parsed.every((point) => point.every(Number.isFinite)) && isEmptyShape(parsed, width, height);
  }
  if (shape === "path") {
    const drawn = values.replace(/^\w+, /, "");
    // The points of other commands are not those of the shape.
    if (/[a-z]/i.test(drawn.replace(/[MLZ"\\]/g, ""))) return false;
    const all = numbers(drawn);
    return isEmptyShape(
      all.flatMap((x, index) => (index % 2 ? [] : [[x, all[index + 1] ?? 0]])),
      width,
      height,
    );
  }
  if (shape === "url") {
    const clip = owner.getElementById(values.replace(/^.*#|["']$/g, ""));
    const boxes = clip?.localName === "clipPath" ? [...clip.children].map((child) => (child as SVGGraphicsElement).getBBox?.()) : undefined;
    return !!boxes && boxes.every((box) => !!box && !(box.width * box.height));
  }
  return /^([\d.]+(px|%) )?[01](\.\d+)?(px|%)/.test(values);
}

/** Returns whether a transform makes a line of letters, or turns the back of an element to a person who cannot see it. */
export function isTurnedAway({ transform, rotate, backfaceVisibility }: CSSStyleDeclaration): boolean {
  if (backfaceVisibility === "hidden" && (/^[xy] -?180deg/.test(rotate) || (numbers(transform.replace("matrix3d", ""))[10] ?? 1) < 0))
    return true;
  if (!transform.startsWith("matrix(")) return false;
  const [a = 1, b = 0, c = 0, d = 1] = numbers(transform.slice(7));
  const lengths = Math.hypot(a, b) * Math.hypot(c, d);
  return lengths > 0 && Math.abs(a * c + b * d) / lengths > MAX_SHEAR;
}
