// The days of calendars that place their events by position, so that nothing but their place on the screen says when these are.

import { boxOf, squash } from "./dom";
import { cached, seen, type Box, type Seen } from "./seen";

interface Day {
  readonly label: string;
  readonly box: Box;
}

/** The days of a week, or of a part of it, beside each other, and the elements with the days and with the space below them. */
interface Week {
  readonly days: readonly Day[];
  readonly row: Element;
  readonly space: Element;
}

/** The numbers of days that a calendar has beside each other, and how many elements may be beside these. */
const FEWEST = 5;
const MOST = 7;
const MOST_BESIDE = 2;
/** The minimum width of a day in which there is room for events, and the tolerance of positions, in CSS pixels. */
const MIN_WIDTH = 50;
const TOLERANCE = 2;
/** The longest label of a day, and the longest text that is examined for one. */
const LONGEST = 20;
const LONGEST_SOURCE = 1_000;
/** How many levels around days their space is searched, and how much wider it may be: beside days are the times of the day. */
const MAX_LEVELS = 6;
const MAX_MARGIN = 1.25;
const DAY = /(?:^|\D)(\d{1,2})(?!\d)/;

/** Returns the label of the day, or of the first and the last day, below which an element is placed in a calendar; empty if there is none. */
export function dayOf(it: Seen): string {
  const weeks = weeksIn(it.element.ownerDocument);
  const box = weeks.length ? boxOf(it) : undefined;
  if (!box || it.element.closest("td, [role=cell], [role=gridcell]") || !/\S/.test(it.element.textContent ?? "")) return "";
  const [x, y, width] = box;
  let found: Week | undefined;
  for (const week of weeks) {
    const { row, space } = week;
    if (row.contains(it.element) || it.element.contains(row)) return "";
    const top = topOf(week);
    if (top <= y + TOLERANCE && space.contains(it.element) && (!found || top > topOf(found))) found = week;
  }
  const at = (place: number): number =>
    found?.days.findIndex(({ box: [left, , size] }) => place >= left - TOLERANCE && place < left + size - TOLERANCE) ?? -1;
  const [first, last] = [at(x + TOLERANCE), at(x + width - 2 * TOLERANCE)];
  // What is below all days contains events.
  if (!found || first < 0 || last - first === found.days.length - 1) return "";
  const [from, to] = [found?.days[first]?.label ?? "", found?.days[last]?.label ?? ""];
  return last > first ? `${from} – ${to}` : from;
}

const topOf = ({ days }: Week): number => days[0]?.box[1] ?? 0;

const weeksIn = cached((owner: Document): Week[] => {
  const weeks: Week[] = [];
  const walker = owner.createTreeWalker(owner, NodeFilter.SHOW_ELEMENT);
  for (let e = walker.nextNode() as Element | null; e; e = walker.nextNode() as Element | null) {
    const count = e.childElementCount;
    if (count < FEWEST || count > MOST + MOST_BESIDE) continue;
    const days = daysIn(e);
    const space = days && spaceOf(e, days);
    if (space) weeks.push({ days, row: e, space });
  }
  return weeks;
});

/** Returns the elements in another one that are days beside each other. */
function daysIn(row: Element): Day[] | undefined {
  const days: Day[] = [];
  let before = 0;
  for (const child of row.children) {
    const text = child.textContent ?? "";
    const label = text.length <= LONGEST_SOURCE ? squash(text) : "";
    const number = label.length <= LONGEST ? Number(DAY.exec(label)?.[1] ?? 0) : 0;
    if (number < 1 || number > 31) {
      if (days.length) break;
      continue;
    }
    if (days.length && number !== before + 1 && !(number === 1 && before >= 28)) return undefined;
    before = number;
    const box = boxOf(seen(child));
    if (!box || box[2] < MIN_WIDTH) return undefined;
    const [left = box[0], top = box[1], width = box[2]] = days.at(-1)?.box ?? [];
    const isBeside = !days.length || Math.abs(left + width - box[0]) <= TOLERANCE;
    if (!isBeside || Math.abs(top - box[1]) > TOLERANCE || Math.abs(width - box[2]) > TOLERANCE) return undefined;
    days.push({ label, box });
  }
  // The numbers of pages and of columns are no days.
  const isWeek = days.length === MOST || (days.length >= FEWEST && days.every(({ label }) => /\p{L}/u.test(label)));
  return isWeek && days.length <= MOST ? days : undefined;
}

/** Returns the outermost of the nearest elements around days that is not much wider than they are; null if there is none. */
function spaceOf(row: Element, days: readonly Day[]): Element | null {
  const most = MAX_MARGIN * days.reduce((sum, { box: [, , width] }) => sum + width, 0);
  let space: Element | null = null;
  for (let at = row.parentElement, level = 0; at && level < MAX_LEVELS && at.localName !== "body"; at = at.parentElement, level++) {
    if ((boxOf(seen(at))?.[2] ?? 0) > most) break;
    space = at;
  }
  return space;
}
