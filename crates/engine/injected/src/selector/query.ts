// The evaluation of selectors in a document.

import { isDisabled, checkedState, expandedState, levelOf, pressedState, selectedState } from "../aria/states";
import { descriptionOf, elementName } from "../aria/names";
import { candidateSelector, isElementHidden, preferred, elementRole } from "../aria/roles";
import { isElement, isElementVisible, preview, squash } from "../dom";
import { held, keep, type Handle } from "../handles";
import { seen, withCaches, type Seen } from "../seen";
import { everyElement, inOrder, queryCss, queryDeep, type Scope } from "./css";
import { orReject, Rejected, type Rejection, type Role, type Step, type TextMatch } from "./steps";
import { condition, type Condition, labelsOf, textCondition, textOf, textTest } from "./text";

export interface Found {
  /** The number of elements that match. */
  count: number;
  /** The first of these elements, at most `limit`. */
  elements: { handle: Handle; preview: string }[];
}

const DEFAULT_LIMIT = 100;

/**
 * Returns the elements that a selector matches in the document or below the element `root`. The result is `error` if the browser rejects a
 * part of the selector, and `gone` if `root` is not valid.
 */
export function query({
  steps,
  root,
  limit = DEFAULT_LIMIT,
}: {
  steps: Step[];
  root?: Handle;
  limit?: number;
}): Found | { error: Rejection } | { gone: true } {
  const scope = root === undefined ? document : held(root);
  if (!scope) return { gone: true };
  try {
    return withCaches(() => {
      const found = follow(steps, scope);
      return { count: found.length, elements: found.slice(0, limit).map((e) => ({ handle: keep(e), preview: preview(e) })) };
    });
  } catch (error) {
    if (error instanceof Rejected) return { error: error.rejection };
    throw error;
  }
}

/** Returns the elements that the steps of a selector match, starting at the document or below an element. */
export function follow(steps: Step[], start: Scope): Element[] {
  let current: Scope[] = [start];
  for (const step of steps) {
    // Only `or` can match elements if the previous steps matched none.
    if (!current.length && step.engine !== "or") continue;
    current = filter(step, current, start) ?? descend(step, current);
  }
  return current.filter(isElement);
}

/** Returns the elements after a step that filters or combines them; undefined for a step that searches descendants. */
function filter(step: Step, current: Scope[], start: Scope): Element[] | undefined {
  const elements = current.filter(isElement);
  switch (step.engine) {
    case "nth": {
      const one = elements.at(step.index);
      return one ? [one] : [];
    }
    case "visible":
      return elements.filter((e) => isElementVisible(e) === step.visible);
    case "hasText": {
      const test = textCondition(step.text);
      return elements.filter((e) => test(textOf(e)) !== !!step.not);
    }
    case "has":
      return elements.filter((e) => follow(step.selector, e).length > 0 !== !!step.not);
    case "and": {
      const others = new Set(follow(step.selector, start));
      return elements.filter((e) => others.has(e));
    }
    case "or":
      return inOrder(new Set([...elements, ...follow(step.selector, start)]), start);
  }
  return undefined;
}

function descend(step: Step, current: Scope[]): Element[] {
  const search = searchOf(step);
  const [only] = current;
  if (current.length === 1 && only) return search(only);
  const found = new Set<Element>();
  for (const scope of current) for (const e of search(scope)) found.add(e);
  return [...found];
}

function searchOf(step: Step): (scope: Scope) => Element[] {
  switch (step.engine) {
    case "css":
      return (scope) => queryCss(scope, step);
    case "xpath":
      return (scope) => queryXpath(scope, step.expression);
    case "text": {
      const test = textTest(step.text, !!step.nodes);
      return (scope) => [...(isElement(scope) ? [scope] : []), ...everyElement(scope)].filter(test);
    }
    case "role": {
      const test = roleTest(step);
      const css = candidateSelector(preferred(step.role) ?? "");
      return (scope) => (css ? queryDeep(scope, css) : everyElement(scope)).filter(test);
    }
    case "label": {
      const test = textCondition(step.text);
      return (scope) => everyElement(scope).filter((e) => labelsOf(e).some(test));
    }
    case "attribute":
      return attributeSearch(step.name, step.text);
    case "testId":
      return attributeSearch(step.attribute, step.text);
    default:
      throw new Error(`unknown step ${step.engine}`);
  }
}

function attributeSearch(name: string, text: TextMatch): (scope: Scope) => Element[] {
  const test = condition(text);
  return (scope) => queryDeep(scope, `[${CSS.escape(name)}]`).filter((e) => test(e.getAttribute(name) ?? ""));
}

function queryXpath(scope: Scope, expression: string): Element[] {
  const relative = expression.startsWith("/") && isElement(scope) ? "." + expression : expression;
  return orReject("xpath", expression, () => {
    const result = document.evaluate(relative, scope, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE);
    const found: Element[] = [];
    for (let i = 0; i < result.snapshotLength; i++) {
      const node = result.snapshotItem(i);
      if (node && isElement(node)) found.push(node);
    }
    return found;
  });
}

function roleTest(expected: Role): (e: Element) => boolean {
  const role = preferred(expected.role);
  const hasName = expected.name && normalizedCondition(expected.name);
  const hasDescription = expected.description && normalizedCondition(expected.description);
  const is = <T>(value: T | undefined, actual: (it: Seen) => T | undefined, defaultValue?: T): ((e: Element) => boolean) =>
    value === undefined ? () => true : (e) => (actual(seen(e)) ?? defaultValue) === value;
  const states = [
    is(expected.checked, checkedState, false),
    is(expected.disabled, isDisabled),
    is(expected.expanded, expandedState),
    is(expected.level, levelOf),
    is(expected.pressed, pressedState, false),
    is(expected.selected, selectedState, false),
  ];
  return (e) =>
    preferred(elementRole(e)) === role &&
    states.every((state) => state(e)) &&
    (!!expected.includeHidden || !isElementHidden(e)) &&
    (!hasName || hasName(elementName(e, { includeHidden: !!expected.includeHidden }))) &&
    (!hasDescription || hasDescription(descriptionOf(e)));
}

/** Returns the condition for names and descriptions, whose white space is normalized. */
function normalizedCondition(match: TextMatch): Condition {
  return condition("regex" in match ? match : { ...match, text: squash(match.text) });
}
