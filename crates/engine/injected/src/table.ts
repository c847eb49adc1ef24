// Tables as grids: what spans several rows or columns stands in each of them.

import { roleOf } from "./aria/roles";
import { displayOf, tagOf } from "./dom";
import { shownText } from "./hidden";
import { queryDeep } from "./selector/css";

/** A table. `headers` is empty where it has none. */
export interface Grid {
  headers: string[];
  rows: string[][];
}

const WIDEST = 1_000;
const LONGEST = 10_000;

interface Cell {
  text: string;
  header: boolean;
}

interface Line {
  cells: (Cell | undefined)[];
  /** It stands in the table's head. */
  head: boolean;
  hidden: boolean;
}

/** The table that the element is, or the first one in it. */
export function gridOf(e: Element): Grid | undefined {
  const html = tagOf(e) === "table" ? e : queryDeep(e, "table")[0];
  const aria = isTable(e) ? e : html ? undefined : queryDeep(e, "[role]").find(isTable);
  if (html && !(aria && tagOf(aria) !== "table")) return told(linesOf(html as HTMLTableElement));
  return aria && told(ariaLines(aria));
}

const isTable = (e: Element): boolean => /^(table|grid|treegrid)$/.test(roleOf(e) ?? "");

function linesOf(table: HTMLTableElement): Line[] {
  const rows = [...table.rows].slice(0, LONGEST);
  const lines: Line[] = rows.map((row) => ({
    cells: [],
    head: row.parentElement !== null && tagOf(row.parentElement) === "thead",
    hidden: false,
  }));
  const shown = displayOf(table) !== "none";
  rows.forEach((row, y) => {
    const line = lines[y] as Line;
    line.hidden = shown && (displayOf(row) === "none" || (row.parentElement !== null && displayOf(row.parentElement) === "none"));
    // Nothing spans the end of its section.
    let end = y + 1;
    while (end < rows.length && rows[end]?.parentElement === row.parentElement) end++;
    let x = 0;
    for (const cell of row.cells) {
      while (line.cells[x]) x++;
      const text = { text: textOf(cell), header: tagOf(cell) === "th" || roleOf(cell) === "columnheader" };
      const width = Math.min(cell.colSpan, WIDEST);
      const bottom = cell.rowSpan === 0 ? end : Math.min(y + cell.rowSpan, end);
      for (let below = y; below < bottom; below++)
        for (let right = x; right < x + width; right++) (lines[below] as Line).cells[right] ??= text;
      x += width;
    }
  });
  return lines;
}

function ariaLines(table: Element): Line[] {
  const rows = queryDeep(table, "[role=row], tr")
    .filter((row) => roleOf(row) === "row")
    .slice(0, LONGEST);
  return rows.map((row) => {
    const cells = queryDeep(row, "[role], td, th").filter((cell) => /^((grid)?cell|(column|row)header)$/.test(roleOf(cell) ?? ""));
    return {
      cells: cells.map((cell) => ({ text: textOf(cell), header: roleOf(cell) === "columnheader" })),
      head: false,
      hidden: displayOf(row) === "none",
    };
  });
}

function textOf(cell: Element): string {
  const text = shownText(cell);
  return text
    .trim()
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n\s*/g, "\n");
}

function told(all: Line[]): Grid {
  const lines = all.filter((line) => !line.hidden && line.cells.length);
  const width = lines.reduce((most, line) => Math.max(most, line.cells.length), 0);
  let head = 0;
  if (lines.some((line) => line.head)) while (lines[head]?.head) head++;
  else while (head < lines.length && isHead(lines[head] as Line)) head++;
  // A table of nothing but headers has none.
  if (head === lines.length && !lines.some((line) => line.head)) head = 0;
  const texts = (line: Line): string[] => Array.from({ length: width }, (_, x) => line.cells[x]?.text ?? "");
  const heads = lines.slice(0, head).map(texts);
  const headers = heads.length
    ? Array.from({ length: width }, (_, x) => [...new Set(heads.map((texts) => texts[x]).filter(Boolean))].join(" "))
    : [];
  return { headers, rows: lines.slice(head).map(texts) };
}

/** Whether all of a row's cells that say anything are headers. */
function isHead({ cells }: Line): boolean {
  const said = cells.filter((cell) => cell?.text);
  return said.length > 0 && said.every((cell) => cell?.header);
}
