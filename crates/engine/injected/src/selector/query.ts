// Follows the steps of a selector within one document.

import { itIsDisabled, itsChecked, itsExpanded, itsLevel, itsPressed, itsSelected } from "../aria/states";
import { descriptionOf, nameOf } from "../aria/names";
import { candidates, isHiddenForAria, preferred, roleOf } from "../aria/roles";
import { isVisible, preview, squash } from "../dom";
import { held, keep, type Handle } from "../handles";
import { seen, withCaches, type Seen } from "../seen";
import { everyElement, inOrder, queryCss, queryDeep, type Scope } from "./css";
import { orRefuse, Refused, type Refusal, type Role, type Step, type TextMatch } from "./steps";
import { condition, type Condition, labelsOf, textCondition, textOf, textTest } from "./text";

export interface Found {
  /** How many elements match. */
  count: number;
  /** The first of them, as many as were asked for. */
  elements: { handle: Handle; preview: string }[];
}

const LISTED = 100;

/** The elements that the steps lead to, from the document or from an element; `error` if the browser refuses a part of the selector. */
export function query({
  steps,
  root,
  limit = LISTED,
}: {
  steps: Step[];
  root?: Handle;
  limit?: number;
}): Found | { error: Refusal } | { gone: true } {
  const scope = root === undefined ? document : held(root);
  if (!scope) return { gone: true };
  try {
    return withCaches(() => {
      const found = follow(steps, scope);
      return { count: found.length, elements: found.slice(0, limit).map((e) => ({ handle: keep(e), preview: preview(e) })) };
    });
  } catch (error) {
    if (error instanceof Refused) return { error: error.refusal };
    throw error;
  }
}

/** The elements that the steps lead to. */
export function follow(steps: Step[], start: Scope): Element[] {
  let current: Scope[] = [start];
  for (const step of steps) {
    // Nothing leads on from nothing, but for an alternative.
    if (!current.length && step.engine !== "or") continue;
    current = narrow(step, current, start) ?? descend(step, current);
  }
  return current.filter((found) => found instanceof Element);
}

/** What is left of the elements after a step that only chooses among them; undefined for a step that searches. */
function narrow(step: Step, current: Scope[], start: Scope): Element[] | undefined {
  const elements = current.filter((found) => found instanceof Element);
  switch (step.engine) {
    case "nth": {
      const one = elements.at(step.index);
      return one ? [one] : [];
    }
    case "visible":
      return elements.filter((e) => isVisible(e) === step.visible);
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
      return (scope) => [...(scope instanceof Element ? [scope] : []), ...everyElement(scope)].filter(test);
    }
    case "role": {
      const test = roleTest(step);
      const css = candidates(preferred(step.role) ?? "");
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
  const relative = expression.startsWith("/") && scope instanceof Element ? "." + expression : expression;
  return orRefuse("xpath", expression, () => {
    const result = document.evaluate(relative, scope, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE);
    const found: Element[] = [];
    for (let i = 0; i < result.snapshotLength; i++) {
      const node = result.snapshotItem(i);
      if (node instanceof Element) found.push(node);
    }
    return found;
  });
}

function roleTest(wanted: Role): (e: Element) => boolean {
  const role = preferred(wanted.role);
  const named = wanted.name && lineCondition(wanted.name);
  const described = wanted.description && lineCondition(wanted.description);
  const is = <T>(want: T | undefined, actual: (it: Seen) => T | undefined, none?: T): ((e: Element) => boolean) =>
    want === undefined ? () => true : (e) => (actual(seen(e)) ?? none) === want;
  const states = [
    is(wanted.checked, itsChecked, false),
    is(wanted.disabled, itIsDisabled),
    is(wanted.expanded, itsExpanded),
    is(wanted.level, itsLevel),
    is(wanted.pressed, itsPressed, false),
    is(wanted.selected, itsSelected, false),
  ];
  return (e) =>
    preferred(roleOf(e)) === role &&
    states.every((state) => state(e)) &&
    (!!wanted.includeHidden || !isHiddenForAria(e)) &&
    (!named || named(nameOf(e, { includeHidden: !!wanted.includeHidden }))) &&
    (!described || described(descriptionOf(e)));
}

/** The condition on a name or description, which has been made into one line. */
function lineCondition(match: TextMatch): Condition {
  return condition("regex" in match ? match : { ...match, text: squash(match.text) });
}
