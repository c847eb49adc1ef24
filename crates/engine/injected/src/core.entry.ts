// Everything Rust may call in a page, as one object. Evaluates to that object.
import "./own";
import { attribute, content, dispatchDrop, fileInput, fill, focus, selectOptions } from "./forms";
import { dragBegan, watchDrag } from "./drag";
import { generate } from "./generate";
import { held, keep, release } from "./handles";
import { aim, aimThrough, bounds } from "./hit";
import { matches, query } from "./selector/query";
import { nextChange, settled, watch } from "./settle";
import { byRef, refOf, snapshot } from "./snapshot";
import { states } from "./states";

// Names that elements have too are in quotes: the bundle calls those otherwise.
const core = {
  release: ({ handles }: { handles: number[] }): null => (release(handles), null),
  element: (handle: number): Element | undefined => held(handle),
  handle: (element: Element): number => keep(element),
  watchDrag,
  dragBegan,
  snapshot,
  byRef,
  refOf,
  query,
  "matches": matches,
  title: (): string => document.title,
  states,
  aim,
  aimThrough,
  bounds,
  fill,
  selectOptions,
  "focus": focus,
  content,
  attribute,
  fileInput,
  dispatchDrop,
  watch,
  settled,
  nextChange,
  generate,
};

type Function = (argument: unknown) => unknown;

/** Calls a function of the core; its answer, or a promise of it, as JSON. That is read far faster than objects are handed over. */
function call(name: keyof typeof core, argument: unknown): string | Promise<string> {
  const answer = (core[name] as Function)(argument);
  return answer instanceof Promise ? answer.then(written) : written(answer);
}

function written(answer: unknown): string {
  const json = JSON.stringify(answer ?? null);
  // Half a surrogate pair is no text to most readers of JSON.
  return /\\ud[89a-f]/i.test(json) ? JSON.stringify(answer, (_, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value)) : json;
}

(globalThis as { __playhouseCore?: unknown }).__playhouseCore = { ...core, call };
