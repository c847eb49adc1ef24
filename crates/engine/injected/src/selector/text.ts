// The text of elements, and conditions for texts.

import { isElement, rootOf, squash, tagOf } from "../dom";
import { cached, seen } from "../seen";
import { orReject, type TextMatch } from "./steps";

export interface ElementText {
  /** The text of the element and its descendants, including those in open shadow roots. */
  full: string;
  /** The full text with normalized white space. */
  squashed: string;
  /** The texts of the element itself between its child elements, with normalized white space. */
  runs: string[];
}

/** Returns whether the text of an element is not content: scripts, styles and the head of the document. */
export function isTextOmitted(e: Element): boolean {
  return /^(script|noscript|style)$/.test(tagOf(e)) || !!e.ownerDocument.head?.contains(e);
}

/** Returns the text of an element: its content, or the value of a button. */
export const textOf: (e: Element) => ElementText = cached((e) => {
  if (isTextOmitted(e)) return { full: "", squashed: "", runs: [] };
  if (e instanceof HTMLInputElement && /^(submit|button)$/.test(e.type)) {
    return { full: e.value, squashed: squash(e.value), runs: [squash(e.value)] };
  }
  let full = "";
  let run = "";
  const runs: string[] = [];
  const add = (children: Iterable<Node>): void => {
    for (const child of children) {
      if (child.nodeType === Node.TEXT_NODE) {
        full += child.nodeValue ?? "";
        run += child.nodeValue ?? "";
      } else if (isElement(child)) {
        if (run) runs.push(squash(run));
        run = "";
        full += textOf(child).full;
      }
    }
    if (run) runs.push(squash(run));
    run = "";
  };
  add(e.childNodes);
  if (e.shadowRoot) add(e.shadowRoot.childNodes);
  return { full, squashed: squash(full), runs };
});

/** A condition for a string, whose regular expression is compiled. */
export type Condition = (s: string) => boolean;

/** Returns the condition for strings that are not normalized: a regular expression, an exact match, or a match that ignores case. */
export function condition(match: TextMatch): Condition {
  if ("regex" in match) {
    const regex = orReject("regex", `/${match.regex}/${match.flags ?? ""}`, () => new RegExp(match.regex, match.flags));
    return (s) => ((regex.lastIndex = 0), regex.test(s));
  }
  if (match.exact) return (s) => s === match.text;
  const part = match.text.toLowerCase();
  return (s) => s.toLowerCase().includes(part);
}

/** Returns the condition for the text of an element: a regular expression matches the full text, a string the normalized one. */
export function textCondition(match: TextMatch): (text: ElementText) => boolean {
  const test = condition("regex" in match ? match : { ...match, text: squash(match.text) });
  return "regex" in match ? (text) => test(text.full) : (text) => test(text.squashed);
}

/** Returns the condition for the innermost elements with a text. With `nodes`, one of the runs of the element must match a string. */
export function textTest(match: TextMatch, nodes: boolean): (e: Element) => boolean {
  if (nodes && !("regex" in match)) {
    const test = condition({ ...match, text: squash(match.text) });
    return (e) => !isTextOmitted(e) && textOf(e).runs.some(test);
  }
  const test = textCondition(match);
  const has = (e: Element): boolean => !isTextOmitted(e) && test(textOf(e));
  return (e) => has(e) && ![...e.children, ...(e.shadowRoot?.children ?? [])].some(has);
}

/** Returns the labels of an element for `getByLabel`: those of `aria-labelledby`, else `aria-label`, else the `<label>` elements. */
export const labelsOf: (e: Element) => ElementText[] = cached((e) => {
  const ids = e.getAttribute("aria-labelledby")?.split(/\s+/) ?? [];
  const root = rootOf(seen(e));
  const referred = ids.map((id) => id && root.getElementById(id)).filter((found) => !!found) as Element[];
  if (referred.length) return referred.map(textOf);
  const label = e.getAttribute("aria-label");
  if (label?.trim()) return [{ full: label, squashed: squash(label), runs: [squash(label)] }];
  const labels = (e as HTMLInputElement).labels as NodeListOf<HTMLLabelElement> | null | undefined;
  return labels instanceof NodeList ? [...labels].map(textOf) : [];
});
