// The texts that a person can read, in the order of the document.
import { squash } from "./names";
import { type Box, textBoxes } from "./sight";
import { isText, nodes } from "./tree";

export interface Run {
  text: string;
  /** Whether it touches the text before or after it, so that both are one word. */
  isJoined: boolean;
}

/** Texts nearer to each other than this are one word. */
const MAX_GAP = 1.5;

export function findTexts(): Run[] {
  const runs: (Run & { first: Box; last: Box; raw: string })[] = [];
  for (const node of nodes(document.documentElement)) {
    if (!isText(node) || !squash(node.data)) continue;
    if (/^(script|style|noscript|template|title|option|textarea)$/.test(node.parentElement?.localName ?? "")) continue;
    const boxes = textBoxes(node);
    const [first] = boxes;
    const last = boxes.at(-1);
    if (!first || !last) continue;
    const run = { text: squash(node.data), isJoined: false, first, last, raw: node.data };
    const before = runs.at(-1);
    if (before && !/\s$/.test(before.raw) && !/^\s/.test(run.raw)) {
      const isSameLine = Math.abs(before.last.bottom - first.bottom) < (first.bottom - first.top) / 2;
      if (isSameLine && Math.abs(first.left - before.last.right) < MAX_GAP) before.isJoined = run.isJoined = true;
    }
    runs.push(run);
  }
  return runs.map(({ text, isJoined }) => ({ text, isJoined }));
}
