// Tables as grids of texts. A cell that spans several rows or columns is repeated in each of them.

import { elementRole } from "./aria/roles";
import { elementDisplay, tagOf } from "./dom";
import { shownText } from "./hidden";
import { queryDeep } from "./selector/css";

/** The texts of a table. `headers` is empty if the table has none. */
export interface Grid {
  headers: string[];
  rows: string[][];
}

const MAX_COLUMN_SPAN = 1_000;
const MAX_ROWS = 10_000;

interface Cell {
  text: string;
  header: boolean;
}

interface Row {
  cells: (Cell | undefined)[];
  /** Whether the row is in the `<thead>`. */
  head: boolean;
  hidden: boolean;
}

/** Returns the table that the element is, or the first table in it; undefined if there is none. */
export function gridOf(e: Element): Grid | undefined {
  const html = tagOf(e) === "table" ? e : queryDeep(e, "table")[0];
  const aria = isTable(e) ? e : html ? undefined : queryDeep(e, "[role]").find(isTable);
  if (html && !(aria && tagOf(aria) !== "table")) return gridFrom(htmlRows(html as HTMLTableElement));
  return aria && gridFrom(ariaRows(aria));
}

const isTable = (e: Element): boolean => /^(table|grid|treegrid)$/.test(elementRole(e) ?? "");

function htmlRows(table: HTMLTableElement): Row[] {
  const elements = [...table.rows].slice(0, MAX_ROWS);
  const rows: Row[] = elements.map((row) => ({
    cells: [],
    head: row.parentElement !== null && tagOf(row.parentElement) === "thead",
    hidden: false,
  }));
  const isRendered = elementDisplay(table) !== "none";
  elements.forEach((element, y) => {
    const row = rows[y] as Row;
    const section = element.parentElement;
    row.hidden = isRendered && (elementDisplay(element) === "none" || (section !== null && elementDisplay(section) === "none"));
    // Cells do not extend beyond the end of their row group.
    let end = y + 1;
    while (end < elements.length && elements[end]?.parentElement === section) end++;
    let x = 0;
    for (const cell of element.cells) {
      while (row.cells[x]) x++;
      const content = { text: textOf(cell), header: tagOf(cell) === "th" || elementRole(cell) === "columnheader" };
      const width = Math.min(cell.colSpan, MAX_COLUMN_SPAN);
      const bottom = cell.rowSpan === 0 ? end : Math.min(y + cell.rowSpan, end);
      for (let below = y; below < bottom; below++)
        for (let right = x; right < x + width; right++) (rows[below] as Row).cells[right] ??= content;
      x += width;
    }
  });
  return rows;
}

function ariaRows(table: Element): Row[] {
  const rows = queryDeep(table, "[role=row], tr")
    .filter((row) => elementRole(row) === "row")
    .slice(0, MAX_ROWS);
  return rows.map((row) => {
    const cells = queryDeep(row, "[role], td, th").filter((cell) => /^((grid)?cell|(column|row)header)$/.test(elementRole(cell) ?? ""));
    return {
      cells: cells.map((cell) => ({ text: textOf(cell), header: elementRole(cell) === "columnheader" })),
      head: false,
      hidden: elementDisplay(row) === "none",
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

function gridFrom(all: Row[]): Grid {
  const rows = all.filter((row) => !row.hidden && row.cells.length);
  const width = rows.reduce((most, row) => Math.max(most, row.cells.length), 0);
  let headerCount = 0;
  if (rows.some((row) => row.head)) while (rows[headerCount]?.head) headerCount++;
  else while (headerCount < rows.length && isHeaderRow(rows[headerCount] as Row)) headerCount++;
  // Without a `<thead>`, rows of headers are data if there are no other rows.
  if (headerCount === rows.length && !rows.some((row) => row.head)) headerCount = 0;
  const texts = (row: Row): string[] => Array.from({ length: width }, (_, x) => row.cells[x]?.text ?? "");
  const headerRows = rows.slice(0, headerCount).map(texts);
  const headers = headerRows.length
    ? Array.from({ length: width }, (_, x) => [...new Set(headerRows.map((texts) => texts[x]).filter(Boolean))].join(" "))
    : [];
  return { headers, rows: rows.slice(headerCount).map(texts) };
}

/** Returns whether a row has text and all of its cells with text are headers. */
function isHeaderRow({ cells }: Row): boolean {
  const withText = cells.filter((cell) => cell?.text);
  return withText.length > 0 && withText.every((cell) => cell?.header);
}
