// Short texts that were shown and are gone when the page is read, such as toasts.

import { setTimer } from "./causes";
import { cut, isVisible, marking, squash } from "./dom";
import { isTextUnseen } from "./hidden";
import { seen, withCaches } from "./seen";
import { frame } from "./states";

/** Regions whose changes assistive technology announces. */
const LIVE = "[role=alert], [role=alertdialog], [role=status], [role=log], [aria-live=assertive], [aria-live=polite], output";
const ROLES = /^(alert|alertdialog|status|log)$/;
/** How many additions are remembered. */
const MOST = 40;
/** How many nodes at each end of an addition are examined: a toast is not in the middle of a thousand rows. */
const EDGE = 10;
/** The largest number of nodes in an addition. */
const MOST_NODES = 40;
/** The longest text of an addition, and the most of it that is reported. */
const LONGEST = 1_000;
const SHOWN = 200;
/** How many texts are reported. */
const MOST_REPORTED = 5;
/** How often it is checked whether an addition can be seen, which may fade in, and the time between two checks. */
const CHECKS = 4;
const BETWEEN_CHECKS = 120;

/** A text that was shown; the role is that of its live region, or empty. */
export interface Transient {
  role: string;
  text: string;
}

interface Addition {
  node: Element | Text;
  role: string;
  /** The text as it was added. */
  raw: string;
  /** What could be seen of it; empty before that was checked. */
  shown: string;
  checks: number;
}

let additions: Addition[] = [];
let isScheduled = false;

/** Remembers what was added to the document. Documents of frames are ignored. */
export function recordAdditions(records: MutationRecord[]): void {
  for (const { type, target, addedNodes } of records) {
    if (target.ownerDocument !== document) continue;
    if (type === "childList") {
      const most =
        addedNodes.length > 2 * EDGE ? [...Array.from(addedNodes).slice(0, EDGE), ...Array.from(addedNodes).slice(-EDGE)] : addedNodes;
      for (const node of most) add(node);
    } else if (type === "characterData") {
      if (target.parentElement?.closest(LIVE)) add(target);
    } else if ((target as Element).matches(LIVE)) {
      add(target);
    }
  }
  if (additions.some((it) => !it.checks)) schedule(0);
}

function add(node: Node): void {
  const isText = node.nodeType === Node.TEXT_NODE;
  if (!isText && node.nodeType !== Node.ELEMENT_NODE) return;
  const e = (isText ? node.parentElement : node) as Element | null;
  const around = e?.closest(LIVE);
  const live = around ?? (isText ? null : e?.querySelector(LIVE));
  const shown = (around ? node : (live ?? node)) as Element | Text;
  const raw = textsOf(shown)
    ?.map((text) => text.nodeValue)
    .join("");
  if (!raw?.trim() || additions.some((other) => other.node === shown && other.raw === raw)) return;
  if (additions.length >= MOST) {
    const least = additions.findIndex((other) => !other.role);
    additions.splice(Math.max(0, least), 1);
  }
  additions.push({ node: shown, role: live ? elementRole(live) : "", raw, shown: "", checks: 0 });
}

function elementRole(live: Element): string {
  const role = live.getAttribute("role") ?? "";
  if (ROLES.test(role)) return role;
  return live.getAttribute("aria-live") === "assertive" ? "alert" : "status";
}

/** The texts in a node; undefined if there is more than a short text. */
function textsOf(node: Element | Text): Text[] | undefined {
  if (node.nodeType === Node.TEXT_NODE) return (node.nodeValue ?? "").length > LONGEST ? undefined : [node as Text];
  const texts: Text[] = [];
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  let length = 0;
  for (let count = 0, next = walker.nextNode(); next; next = walker.nextNode(), count++) {
    if (count > MOST_NODES) return undefined;
    if (next.nodeType !== Node.TEXT_NODE) continue;
    if (isCode(next as Text)) continue;
    length += next.nodeValue?.length ?? 0;
    if (length > LONGEST) return undefined;
    texts.push(next as Text);
  }
  return texts;
}

function schedule(delay: number): void {
  if (isScheduled) return;
  isScheduled = true;
  setTimer(() => {
    void frame().then(() => {
      isScheduled = false;
      check();
    });
  }, delay);
}

function check(): void {
  const isPending = (it: Addition): boolean => !it.shown && it.checks < CHECKS && it.node.isConnected;
  withCaches(() => {
    for (const addition of additions.filter(isPending)) {
      addition.checks += 1;
      addition.shown = visibleText(addition.node);
    }
  });
  additions = additions.filter((it) => it.shown || isPending(it));
  if (additions.some(isPending)) schedule(BETWEEN_CHECKS);
}

/** What a person sees of the texts in a node. */
function visibleText(node: Element | Text): string {
  const isSeen = (e: Element | null): boolean => {
    if (!e) return false;
    return isVisible(seen(e)) && !isTextUnseen(seen(e));
  };
  const texts = marking(true, () => (textsOf(node) ?? []).filter((text) => isSeen(text.parentElement)));
  return cut(squash(texts.map((text) => text.nodeValue).join(" ")), SHOWN);
}

/** The text of the document without its scripts, which can contain the texts that they show. */
function documentText(): string {
  const walker = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
  let all = "";
  for (let text = walker.nextNode(); text; text = walker.nextNode()) if (!isCode(text as Text)) all += text.nodeValue;
  return all;
}

function isCode(text: Text): boolean {
  return /^(script|style|noscript|template)$/.test(text.parentElement?.localName ?? "");
}

/**
 * The texts that were shown since the last call and are gone; those of live regions first. A text that is still shown is in the snapshot that
 * is taken now.
 */
export function takeTransients(): Transient[] {
  const shown = additions.filter((it) => it.shown);
  additions = withCaches(() => additions.filter((it) => !it.shown && !visibleText(it.node)));
  if (!shown.length) return [];
  const isGone = ({ node, raw }: Addition): boolean =>
    !node.isConnected ||
    textsOf(node)
      ?.map((text) => text.nodeValue)
      .join("") !== raw ||
    !visibleText(node);
  const gone = withCaches(() => shown.filter(isGone));
  if (!gone.length) return [];
  // A text that was only rendered again is not gone.
  const rest = documentText();
  const texts: Transient[] = [];
  for (const { role, shown, raw } of gone.sort((one, other) => Number(!one.role) - Number(!other.role))) {
    if (rest.includes(raw) || texts.some(({ text }) => text.includes(shown))) continue;
    texts.push({ role, text: shown });
  }
  return texts.slice(0, MOST_REPORTED);
}
