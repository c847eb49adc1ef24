// Rows: the parts of a page that each contain one of several elements with the same role and name. The text of its row is what such an
// element is recognized by.
//
// A row is the largest element around the element without another of them, beside others of the same form. It is recognized by the words
// that no other row of the list had: most words of its title, which is its first text with such a word, must remain. Numbers count half, so
// counters may change. If the title is a status or a time, all other words must remain, at least three. Where no row has a word of its own,
// images and links count, and the texts beside it.

import { nameOf } from "./aria/names";
import { flatParent, isElement, parentOf, shadowRootOf, squash, tagOf } from "./dom";
import { cached, seen, type Seen } from "./seen";

/** The row of an element, as a snapshot showed it. No element is stored, so that removed trees are not kept alive. */
export interface Row {
  /** The tags from the element to its row. */
  readonly path: readonly string[];
  /** Whether texts beside the row and attributes in it count, because the texts in it are those of each row. */
  wide: boolean;
  text: RowText;
  readonly list: List;
  /** The role and name of its element. */
  role?: string;
  name?: string;
}

/** The texts in a row, one a line. */
interface RowText {
  readonly lines: string;
  /** The words of each line. */
  words?: string[][];
}

/** The rows that have the same parent and the same path. */
interface List {
  texts: RowText[];
  /** The number of rows that contain a word. */
  counts?: Map<string, number>;
}

/** The rows of a snapshot: by the parent and the path, with their list. Controls in the same row share it. */
export type Rows = Map<Element, Map<string, { list: List; rows: Map<Element, Row> }>>;

/** The longest text of a row that counts. */
const LONGEST = 400;
/** The number of words, besides those of the title, by which a row is recognized. */
const FEW = 3;
/** The number of elements beside a row that belong to it. */
const PARTS = 12;
/** What names an image, a link or a part without text. */
const ATTRIBUTES = ["alt", "aria-label", "title", "src", "href"];
/** The end of an address that counts, in characters. */
const ADDRESS = 100;
/** The elements whose text can be edited, or is not shown. */
const NO_TEXT = new Set("script style template textarea select noscript".split(" "));
const FIELDS = "input, textarea";
// Properties of Unicode are slow.
const WORDS = /[a-z0-9\u0080-\uffff]+/g;
const LETTER = /[a-z\u0080-\uffff]/i;

/** Returns the rows of elements with the same role and name; undefined for an element that is not in one of several similar rows. */
export function rowsOf(elements: readonly Element[], rows: Rows): (Row | undefined)[] {
  const shared = new Map<Seen, boolean>();
  for (const e of elements) {
    for (let up: Seen | null = seen(e); up && !shared.get(up); up = parentOf(up)) shared.set(up, shared.has(up));
  }
  const changed = new Map<List, Map<Element, Row>>();
  const found = elements.map((e) => {
    let it = seen(e);
    const path = [it.tag];
    let parent = parentOf(it);
    for (; parent && !shared.get(parent); parent = parentOf(parent)) path.push((it = parent).tag);
    if (!parent) return undefined;
    const inParent = entry(rows, parent.element, () => new Map<string, { list: List; rows: Map<Element, Row> }>());
    const { list, rows: known } = entry(inParent, path.join(), () => ({ list: { texts: [] }, rows: new Map<Element, Row>() }));
    return entry(known, it.element, () => {
      const text = textIn(it.element);
      list.texts.push(text);
      changed.set(list, known);
      return { path, wide: false, text, list };
    });
  });
  for (const [list, rows] of changed) widen(list, rows);
  return found.map((row) => (row && row.list.texts.length > 1 ? row : undefined));
}

/** Adds what is beside the rows of a list, and attributes, if no row has a word in letters that another one has not. */
function widen(list: List, rows: Map<Element, Row>): void {
  const letters = ({ lines }: RowText): string =>
    wordsIn(lines)
      .filter((word) => LETTER.test(word))
      .join();
  const [first, ...others] = list.texts;
  if (!first || !others.length || others.some((other) => letters(other) !== letters(first))) return;
  for (const [element, row] of rows) {
    row.wide = true;
    row.text = textAround(element, row.path);
  }
  list.texts = [...rows.values()].map((row) => row.text);
}

function entry<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = create()));
  return value;
}

/**
 * Returns whether a row still shows the same item. Of the words that no other row had, most of those of its title must remain, so that a
 * counter or a status may change; or all others, if the title is a status or a time itself. An element that was moved out of its row is
 * still the same.
 */
export function isSameRow(row: Row, e: Element): boolean {
  const element = elementOf(row, e);
  return !element || isSameItem(row, element);
}

/** Returns whether an element is in a row of the same form that shows the same item. */
export function isInSameItem(row: Row, e: Element): boolean {
  const element = elementOf(row, e);
  return !!element && isSameItem(row, element);
}

/** Returns the row of an element that is in a row of the same form as another one. */
export function rowLike(row: Row, e: Element): Row | undefined {
  const element = elementOf(row, e);
  const parent = element && flatParent(element);
  if (!parent) return undefined;
  const siblings = [...parent.children].filter((sibling) => tagOf(sibling) === tagOf(element));
  const { path, wide } = row;
  const texts = siblings.map((sibling) => textNow(sibling, row));
  return { path, wide, text: textNow(element, row), list: { texts } };
}

/** Returns the ancestor of an element that is its row. */
export function elementOf({ path }: Row, e: Element): Element | undefined {
  let it: Seen | null = seen(e);
  for (const [level, tag] of path.entries()) {
    if (level && it) it = parentOf(it);
    if (it?.tag !== tag) return undefined;
  }
  return it?.element;
}

/** Returns the text by which a row is recognized first. */
export function titleOf(row: Row): string {
  return row.text.lines.split("\n")[titleLine(row, ownWords(row))] ?? "";
}

/** Returns the index of the first line with letters that has one of these words; without letters, of the first one that has one. */
function titleLine({ text }: Row, own: Set<string>): number {
  const lines = wordsOf(text);
  const isOwn = (words: string[]): boolean => words.some((word) => own.has(word));
  const titled = lines.findIndex((words) => isOwn(words) && words.some((word) => LETTER.test(word)));
  return titled < 0 ? lines.findIndex(isOwn) : titled;
}

const resultsOf = cached((_: Row) => new Map<Element, boolean>());

function isSameItem(row: Row, element: Element): boolean {
  return textNow(element, row).lines === row.text.lines || entry(resultsOf(row), element, () => isSimilar(row, element));
}

function isSimilar(row: Row, element: Element): boolean {
  const own = ownWords(row);
  if (!own.size) return true;
  const there = new Set(wordsOf(textNow(element, row)).flat());
  // Text that is being edited is the value of a field.
  for (const field of element.querySelectorAll(FIELDS)) {
    for (const word of wordsIn((field as HTMLInputElement).value)) there.add(word);
  }
  const titleWords = wordsOf(row.text)[titleLine(row, own)] ?? [];
  const title = titleWords.filter((word) => own.has(word));
  const others = [...own].filter((word) => !titleWords.includes(word));
  return remain(title, there) || (others.length >= FEW && others.every((word) => there.has(word)));
}

/** Returns the words that no other row of the list had; without such words, those that not every row had. */
function ownWords({ text, list }: Row): Set<string> {
  const { texts } = list;
  if (!list.counts) {
    list.counts = new Map();
    for (const other of texts) for (const word of new Set(wordsOf(other).flat())) list.counts.set(word, (list.counts.get(word) ?? 0) + 1);
  }
  const countOf = (word: string): number => list.counts?.get(word) ?? 0;
  const words = wordsOf(text).flat();
  const own = words.filter((word) => countOf(word) < 2);
  return new Set(own.length ? own : words.filter((word) => countOf(word) < texts.length));
}

/** Returns whether more than half of the words are there. Numbers count half, because most of them are counters. */
function remain(words: string[], there: Set<string>): boolean {
  const weight = (words: string[]): number => words.reduce((sum, word) => sum + (LETTER.test(word) ? 2 : 1), 0);
  return 2 * weight(words.filter((word) => there.has(word))) > weight(words);
}

function wordsOf(text: RowText): string[][] {
  return text.words ?? (text.words = text.lines.split("\n").map(wordsIn));
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(WORDS) ?? [];
}

function textNow(element: Element, { path, wide }: Row): RowText {
  return wide ? textAround(element, path) : textIn(element);
}

/** Whether there are texts before the first element of each form in a parent. */
const textsBefore = cached((_: Element | ShadowRoot) => new Map<string, boolean>());

/**
 * Returns the texts of a row whose parts are beside each other, such as `<dt>` and `<dd>` or the cells of a grid: those since the previous
 * element of the same form, or if the first of these elements is the first part of its row, those up to the next one.
 */
function textAround(element: Element, path: readonly string[]): RowText {
  const [tag = ""] = path;
  const { text } = nameOf(seen(element));
  const isLike = (other: Element): boolean =>
    tagOf(other) === tagOf(element) && (path.length > 1 ? !!other.querySelector(tag) : nameOf(seen(other)).text === text);
  const beside = (element: Element, step: "previousSibling" | "nextSibling"): string[] => {
    const texts: string[] = [];
    for (let other = element[step]; other && texts.length < PARTS; other = other[step]) {
      if (isElement(other) && isLike(other)) break;
      const text = other.nodeType === Node.TEXT_NODE ? squash(other.nodeValue ?? "") : "";
      const lines = isElement(other) ? attributesIn(other).lines : text;
      if (lines) texts.push(lines);
    }
    return texts;
  };
  const parent = element.parentNode as Element | ShadowRoot;
  const form = `${tagOf(element)} ${path.length > 1 ? tag : `"${text}"`}`;
  const isBefore = entry(textsBefore(parent), form, () => {
    let first = parent.firstElementChild;
    while (first && first !== element && !isLike(first)) first = first.nextElementSibling;
    return beside(first ?? element, "previousSibling").length > 0;
  });
  const around = isBefore ? beside(element, "previousSibling").reverse() : beside(element, "nextSibling");
  return { lines: [...around, attributesIn(element).lines].join("\n").slice(0, LONGEST) };
}

/** Returns the texts in an element, one a line. Values and edited content do not count. */
const textIn = cached((e: Element): RowText => collect(e, false));

/** Returns the texts in an element, with descriptions and addresses of images and links. */
const attributesIn = cached((e: Element): RowText => collect(e, true));

function collect(e: Element, withAttributes: boolean): RowText {
  const texts: string[] = [];
  let length = 0;
  const walk = (it: Seen): void => {
    if (NO_TEXT.has(it.tag) || it.has("contenteditable")) return;
    for (const name of withAttributes ? ATTRIBUTES : []) {
      const value = squash(it.element.getAttribute(name) ?? "");
      if (value && !/^(data|blob|javascript):/.test(value)) texts.push(value.slice(-ADDRESS));
    }
    for (let child = (shadowRootOf(it) ?? it.element).firstChild; child && length < LONGEST; child = child.nextSibling) {
      if (child.nodeType === Node.TEXT_NODE) {
        const text = squash(child.nodeValue ?? "");
        if (text) texts.push(text);
        length += text.length;
      } else if (child.nodeType === Node.ELEMENT_NODE) walk(seen(child as Element));
    }
  };
  walk(seen(e));
  return { lines: texts.join("\n").slice(0, LONGEST) };
}
