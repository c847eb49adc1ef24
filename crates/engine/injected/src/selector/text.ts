// The text of elements, and conditions on it.

import { itsRoot, squash, tagOf } from "../dom";
import { cached, seen } from "../seen";
import { orRefuse, type TextMatch } from "./steps";

export interface ElementText {
  /** All text in and below the element, shadow roots included. */
  full: string;
  /** The same as it reads. */
  squashed: string;
  /** Each run of text directly in the element, as it reads. */
  runs: string[];
}

/** Scripts, styles and the head say nothing to a reader. */
export function isSilent(e: Element): boolean {
  return /^(script|noscript|style)$/.test(tagOf(e)) || !!e.ownerDocument.head?.contains(e);
}

export const textOf: (e: Element) => ElementText = cached((e) => {
  if (isSilent(e)) return { full: "", squashed: "", runs: [] };
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
      } else if (child instanceof Element) {
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

/** A condition on a string, ready to be asked often. */
export type Condition = (s: string) => boolean;

/** The condition on a string that is compared as it is: regular expressions see it raw, strings see it raw or in lower case. */
export function condition(match: TextMatch): Condition {
  if ("regex" in match) {
    const regex = orRefuse("regex", `/${match.regex}/${match.flags ?? ""}`, () => new RegExp(match.regex, match.flags));
    return (s) => ((regex.lastIndex = 0), regex.test(s));
  }
  if (match.exact) return (s) => s === match.text;
  const wanted = match.text.toLowerCase();
  return (s) => s.toLowerCase().includes(wanted);
}

/** The condition on an element's text; white space in the wanted string reads as in the page. */
export function textCondition(match: TextMatch): (text: ElementText) => boolean {
  const test = condition("regex" in match ? match : { ...match, text: squash(match.text) });
  return "regex" in match ? (text) => test(text.full) : (text) => test(text.squashed);
}

/** Whether the element has the text and no child has it: the innermost one. With `nodes`, whether a run of its own text is it. */
export function textTest(match: TextMatch, nodes: boolean): (e: Element) => boolean {
  if (nodes && !("regex" in match)) {
    const test = condition({ ...match, text: squash(match.text) });
    return (e) => !isSilent(e) && textOf(e).runs.some(test);
  }
  const test = textCondition(match);
  const has = (e: Element): boolean => !isSilent(e) && test(textOf(e));
  return (e) => has(e) && ![...e.children, ...(e.shadowRoot?.children ?? [])].some(has);
}

/** What labels the element for `getByLabel`: `aria-labelledby`, else `aria-label`, else its label elements. */
export const labelsOf: (e: Element) => ElementText[] = cached((e) => {
  const ids = e.getAttribute("aria-labelledby")?.split(/\s+/) ?? [];
  const root = itsRoot(seen(e));
  const referred = ids.map((id) => id && root.getElementById(id)).filter((found) => !!found) as Element[];
  if (referred.length) return referred.map(textOf);
  const label = e.getAttribute("aria-label");
  if (label?.trim()) return [{ full: label, squashed: squash(label), runs: [squash(label)] }];
  const labels = (e as HTMLInputElement).labels as NodeListOf<HTMLLabelElement> | null | undefined;
  return labels instanceof NodeList ? [...labels].map(textOf) : [];
});
