// Conversion of the visible content of a page to Markdown.

import { elementDisplay, isElement, isMarking, isPainted, childrenOf, tagOf } from "./dom";
import { isTextUnseen, MARK, marked, shownText } from "./hidden";
import { seen } from "./seen";
import { gridOf } from "./table";

/** The tags of elements whose content is omitted. */
const OMITTED = new Set(
  (
    "script style noscript template head title meta link iframe frame object embed canvas audio video svg math " +
    "select datalist input textarea"
  ).split(" "),
);
const HEADING = /^h([1-6])$/;
const MAX_DEPTH = 400;

/** Returns the visible content of an element as Markdown. */
export function markdown(e: Element): string {
  const writer = new Writer();
  writer.element(e, 0);
  return writer.finished();
}

class Writer {
  /** The blocks that are complete. */
  private readonly blocks: string[] = [];
  /** The block that is being written. */
  private line = "";

  finished(): string {
    this.end();
    return this.blocks.join("\n\n");
  }

  element(e: Element, depth: number): void {
    const tag = tagOf(e);
    if (OMITTED.has(tag) || depth > MAX_DEPTH) return;
    const display = elementDisplay(e);
    if (display === "none") return;
    const inline = /^(inline|contents|ruby)/.test(display);
    const heading = HEADING.exec(tag)?.[1];
    if (tag === "br") this.line += "\n";
    else if (tag === "hr") this.block("---");
    else if (tag === "img") this.image(e);
    else if (tag === "pre") this.block(fenced(e));
    else if (tag === "ul" || tag === "ol") this.list(e, depth);
    else if (tag === "table") this.table(e, depth);
    else if (tag === "blockquote") this.block(prefixed(contentOf(e, depth), "> ", "> "));
    else if (heading) {
      const text = inOneLine(contentOf(e, depth));
      if (text) this.block(`${"#".repeat(Number(heading))} ${text}`);
    } else if (tag === "a") this.link(e, depth, inline);
    else if (tag === "dd") this.block(prefixed(contentOf(e, depth), ": ", "  "));
    else {
      const delimiter = inline ? delimiterOf(tag) : "";
      if (delimiter) this.delimited(e, delimiter, depth);
      else if (inline) this.content(e, depth);
      else {
        this.end();
        this.content(e, depth);
        this.end();
      }
    }
  }

  private content(e: Element, depth: number): void {
    const closed = e instanceof HTMLDetailsElement && !e.open;
    for (const child of childrenOf(seen(e))) {
      if (closed && !(isElement(child) && tagOf(child) === "summary")) continue;
      if (child.nodeType === Node.TEXT_NODE) {
        if (isPainted(seen(e)) || elementDisplay(e) === "contents") this.text(child.nodeValue ?? "", isMarking() && isTextUnseen(seen(e)));
      } else if (isElement(child)) this.element(child, depth + 1);
    }
  }

  private text(text: string, unseen?: boolean): void {
    let clean = escaped(text.replace(/\s+/g, " "));
    if (unseen) clean = clean.replace(/\S/, `${MARK} $&`);
    this.line += /(^|\s)$/.test(this.line) ? clean.trimStart() : clean;
  }

  private delimited(e: Element, delimiter: string, depth: number): void {
    const content = delimiter === "`" ? shownText(e).replace(/\s+/g, " ") : inOneLine(contentOf(e, depth));
    const text = content.trim();
    if (!text) {
      this.text(content);
      return;
    }
    const fence = delimiter === "`" && text.includes("`") ? "``" : delimiter;
    this.line += `${/^\s/.test(content) ? " " : ""}${fence}${text}${fence}${/\s$/.test(content) ? " " : ""}`;
  }

  private link(e: Element, depth: number, inline: boolean): void {
    const content = contentOf(e, depth);
    const href = e.hasAttribute("href") ? (e as HTMLAnchorElement).href : "";
    const isLink = typeof href === "string" && /^(https?|mailto|tel|ftp|file):/.test(href);
    if (!inline) this.end();
    // A Markdown link cannot contain blocks, so the link follows them.
    const hasBlocks = /\n\n|^#{1,6} /.test(content);
    if (!isLink || !content.trim()) this.line += content;
    else if (hasBlocks) {
      this.end();
      this.blocks.push(content, `[→](${escapedUrl(href)})`);
    } else this.line += `[${inOneLine(content).trim()}](${escapedUrl(href)})`;
    if (!inline) this.end();
  }

  private image(e: Element): void {
    const alt = escaped((e.getAttribute("alt") ?? "").replace(/\s+/g, " ").trim());
    const source = (e as HTMLImageElement).currentSrc || (e as HTMLImageElement).src;
    // An image without an alternative text is decorative.
    if (!alt || !isPainted(seen(e))) return;
    this.line += marked(seen(e), /^https?:/.test(source) ? `![${alt}](${escapedUrl(source)})` : alt);
  }

  private list(e: Element, depth: number): void {
    let number = Number(e.getAttribute("start") ?? 1) || 1;
    const items: string[] = [];
    for (const item of childrenOf(seen(e))) {
      if (!isElement(item) || elementDisplay(item) === "none") continue;
      const marker = tagOf(e) === "ol" ? `${number++}. ` : "- ";
      const content = contentOf(item, depth + 1);
      if (content.trim()) items.push(prefixed(content.replace(/\n\n(?=\s*(-|\d+\.) )/g, "\n"), marker, " ".repeat(marker.length)));
    }
    if (items.length) this.block(items.join("\n"));
  }

  private table(e: Element, depth: number): void {
    const grid = gridOf(e);
    const width = grid ? Math.max(grid.headers.length, grid.rows[0]?.length ?? 0) : 0;
    // Tables that are only used for the layout are not written as tables.
    if (!grid || width < 2 || e.querySelector("table") || /^(none|presentation)$/.test(e.getAttribute("role") ?? "")) {
      this.end();
      this.content(e, depth);
      this.end();
      return;
    }
    const row = (cells: string[]): string =>
      `| ${cells.map((cell) => escaped(cell).replace(/\n/g, "<br>").replace(/\|/g, "\\|")).join(" | ")} |`;
    const headers = grid.headers.length ? grid.headers : Array.from({ length: width }, () => "");
    const caption = e.querySelector(":scope > caption");
    if (caption) this.element(caption, depth + 1);
    this.block([row(headers), row(headers.map(() => "---")), ...grid.rows.map(row)].join("\n"));
  }

  private block(text: string): void {
    this.end();
    if (text.trim()) this.blocks.push(text);
  }

  private end(): void {
    const lines = this.line.split("\n").map((line) => line.replace(/ +/g, " ").trim());
    const text = lines
      .join("\n")
      .trim()
      .replace(/\n{3,}/g, "\n\n");
    this.line = "";
    if (text) this.blocks.push(text.replace(/(?<=\S)\n(?=\S)/g, "  \n"));
  }

  /** Returns the content of an element as Markdown, without the syntax for the element itself. */
  static of(e: Element, depth: number): string {
    const writer = new Writer();
    writer.content(e, depth);
    return writer.inner();
  }

  /** Returns the blocks; or the single line, if there are none, with the white space around it. */
  private inner(): string {
    if (this.blocks.length) return this.finished();
    return this.line.replace(/ +/g, " ");
  }
}

const contentOf = (e: Element, depth: number): string => Writer.of(e, depth);

function delimiterOf(tag: string): string {
  if (tag === "b" || tag === "strong") return "**";
  if (tag === "i" || tag === "em" || tag === "cite") return "*";
  if (tag === "s" || tag === "del" || tag === "strike") return "~~";
  return tag === "code" || tag === "kbd" || tag === "samp" ? "`" : "";
}

function fenced(e: Element): string {
  const text = shownText(e).replace(/\n$/, "");
  const language =
    /\blang(?:uage)?-([\w+#.-]+)/.exec(`${e.getAttribute("class") ?? ""} ${e.querySelector("code")?.getAttribute("class") ?? ""}`)?.[1] ??
    "";
  let fence = "```";
  while (text.includes(fence)) fence += "`";
  return text.trim() ? `${fence}${language}\n${text}\n${fence}` : "";
}

/** Returns a text with line breaks replaced by spaces. */
const inOneLine = (text: string): string => text.replace(/\s*\n\s*/g, " ");

function prefixed(text: string, first: string, others: string): string {
  const lines = text.trim().split("\n");
  return lines.map((line, index) => ((index ? others : first) + line).trimEnd()).join("\n");
}

/** Returns a text in which the characters with a meaning in Markdown are escaped. */
function escaped(text: string): string {
  return text
    .replace(/[\\`*[\]]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|<(?=[a-z/!])/giu, "\\$&")
    .replace(/^(\s*)(#{1,6} |[-+>] )/, "$1\\$2")
    .replace(/^(\s*\d+)(?=[.)] )/, "$1\\");
}

const escapedUrl = (url: string): string => url.replace(/\(/g, "%28").replace(/\)/g, "%29");
