// The accessibility audit of axe-core. The engine runs it in each document and merges the results in the first one, so that no document
// sends messages to another.

import type { Handle } from "../handles";
import { core, shown, type Shown } from "./core";

/** An element in a result of axe-core: strings that identify it, each a list with those of the frame elements around it first. */
interface Spec {
  selector: string[];
  source: string;
  ancestry: string[];
  xpath: string[];
  nodeIndexes: number[];
  fromFrame: boolean;
}

interface CheckResult {
  message: string;
  relatedNodes?: { html: string; target: unknown[] }[];
}

interface NodeResult {
  any: CheckResult[];
  all: CheckResult[];
  none: CheckResult[];
  xpath: string[];
}

interface RuleResult {
  id: string;
  nodes: NodeResult[];
}

interface Results {
  violations: RuleResult[];
  incomplete: RuleResult[];
  passes: RuleResult[];
  inapplicable: RuleResult[];
}

/** The part of axe-core that is used. */
interface Axe {
  frameMessenger(messenger: { open: () => undefined; post: () => false }): void;
  getRules(): { ruleId: string; tags: string[] }[];
  runPartial(context: unknown, options: object): Promise<unknown>;
  finishRun(partials: unknown[], options: object): Promise<Results>;
  utils: {
    getFrameContexts(context: unknown, options: object): { frameSelector: unknown; frameContext: object }[];
    shadowSelect(selector: unknown): Element | null;
    nodeSerializer: { update(serializer: { toSpec: (node: Spec & { element: Element }) => Spec }): void };
  };
}

/** How long axe-core may load media that rules depend on, in milliseconds. */
const PRELOAD_TIMEOUT = 3_000;

/** The tags that an error lists: levels of WCAG and categories. */
const COMMON_TAG = /^(wcag2\d?a+|best-practice|cat\..*)$/;

interface Options {
  /** The identifiers of rules or the tags that limit the audit. */
  rules: string[];
}

let axe: Axe;
/** The result of the document in which the audit began. */
let first: unknown;
/** The elements in results, by their numbers. */
let elements: Element[];
let numbers: Map<Element, number>;

/** Begins an audit with a new instance of axe-core, which is in no global variable. */
export function load(question: object): void {
  ({ axe } = question as { axe: Axe });
  elements = [];
  numbers = new Map();
  hideReflectedElements();
  // Without a messenger, axe-core listens to no messages, which pages can send too.
  axe.frameMessenger({ open: () => undefined, post: () => false });
  axe.utils.nodeSerializer.update({
    // XPaths are not used, so the numbers of elements take their place: axe-core merges them as well with those of the frame elements.
    toSpec: ({ selector, source, ancestry, nodeIndexes, fromFrame, element }) => ({
      selector,
      source,
      ancestry,
      xpath: [String(numberOf(element))],
      nodeIndexes,
      fromFrame,
    }),
  });
}

/**
 * In Firefox, a process crashes if both the page and a sandbox read a property such as `ariaLabelledByElements` of the same element. Without
 * these properties, axe-core reads the attributes. The properties are hidden only in the sandbox.
 */
function hideReflectedElements(): void {
  if (!("wrappedJSObject" in globalThis)) return;
  for (const name of Object.getOwnPropertyNames(Element.prototype)) {
    if (/^aria.*Elements?$/.test(name)) Object.defineProperty(Element.prototype, name, { value: undefined, configurable: true });
  }
}

function numberOf(e: Element): number {
  let number = numbers.get(e);
  if (number === undefined) {
    number = elements.push(e) - 1;
    numbers.set(e, number);
  }
  return number;
}

function optionsOf({ rules }: Options): object {
  const known = axe.getRules();
  const type = rules.every((rule) => known.some(({ ruleId }) => ruleId === rule)) ? "rule" : "tag";
  return {
    resultTypes: ["violations", "incomplete"],
    xpath: true,
    preload: { assets: ["cssom", "media"], timeout: PRELOAD_TIMEOUT },
    ...(rules.length ? { runOnly: { type, values: rules } } : {}),
  };
}

/** A frame in the audited part of a document. */
interface Frame {
  handle: Handle;
  /** The number of its element. */
  number: number;
  /** What axe-core audits in it. */
  context: object;
}

interface Run extends Options {
  /** The only element that is audited. */
  handle?: Handle;
  /** In a frame: what axe-core audits in it. */
  context?: object;
}

/** Audits the document. Returns its frames, in a frame also its result, or the rules that do not exist, or `gone` for a removed element. */
export async function run({ handle, context, rules }: Run): Promise<object> {
  const all = axe.getRules();
  const ids = new Set(all.map(({ ruleId }) => ruleId));
  const tags = new Set(all.flatMap(({ tags }) => tags));
  // All are rules, or all are tags.
  const kind = rules.every((rule) => ids.has(rule)) ? ids : tags;
  const unknown = rules.filter((rule) => !kind.has(rule));
  if (unknown.length) return { unknown, tags: [...tags].filter((tag) => COMMON_TAG.test(tag)).sort() };
  const target = handle === undefined ? (context ?? document) : core.element(handle);
  if (!target) return { gone: true };
  const options = optionsOf({ rules });
  const frames = axe.utils.getFrameContexts(target, options).map(({ frameSelector, frameContext }): Frame | null => {
    const e = axe.utils.shadowSelect(frameSelector);
    return e && { handle: core.handle(e), number: numberOf(e), context: frameContext };
  });
  const partial = await axe.runPartial(target, options);
  if (context) return { frames, partial };
  first = partial;
  return { frames };
}

interface Finish extends Options {
  /** The results of the frames, in the order of the documents; null for a frame without a result. */
  partials: unknown[];
  /** Whether to return the whole report. */
  whole: boolean;
}

/** Merges the results. Each node has a `path`: the numbers of the frame elements around it, and its own. */
export async function finish({ partials, rules, whole }: Finish): Promise<object> {
  const results = await axe.finishRun([first, ...partials], optionsOf({ rules }));
  const { violations, incomplete, passes, inapplicable } = results;
  const withPaths = (rule: RuleResult): object => ({ ...rule, nodes: rule.nodes.map(withPath) });
  const withoutNodes = ({ nodes: _, ...rule }: RuleResult): object => rule;
  return {
    violations: violations.map(withPaths),
    counts: { incomplete: incomplete.length, passes: passes.length },
    report: whole && {
      ...results,
      violations: [],
      incomplete: incomplete.map(withPaths),
      passes: passes.map(withoutNodes),
      inapplicable: inapplicable.map(withoutNodes),
    },
  };
}

function withPath({ xpath, ...node }: NodeResult): object {
  const checks = (results: CheckResult[]): object[] =>
    results.map(({ relatedNodes, ...check }) => ({
      ...check,
      relatedNodes: relatedNodes?.map(({ html, target }) => ({ html, target })),
    }));
  return { ...node, any: checks(node.any), all: checks(node.all), none: checks(node.none), path: xpath.map(Number) };
}

/** Returns the elements with these numbers as an answer shows them. */
export function identify({ numbers, marks }: { numbers: number[]; marks?: boolean }): (Shown | null)[] {
  return numbers.map((number) => shown(elements[number], marks));
}
