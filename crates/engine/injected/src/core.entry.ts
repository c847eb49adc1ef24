// Everything Rust may call in a page, as one object. Evaluates to that object.
import { attribute, content, dispatchDrop, fileInput, fill, focus, selectOptions } from "./forms";
import { dragBegan, watchDrag } from "./drag";
import { generate } from "./generate";
import { held, keep, release } from "./handles";
import { aim, aimThrough, bounds } from "./hit";
import { matches, query } from "./selector/query";
import { nextChange, settled, watch } from "./settle";
import { byRef, refOf, snapshot } from "./snapshot";
import { states } from "./states";

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
  matches,
  title: (): string => document.title,
  states,
  aim,
  aimThrough,
  bounds,
  fill,
  selectOptions,
  focus,
  content,
  attribute,
  fileInput,
  dispatchDrop,
  watch,
  settled,
  nextChange,
  generate,
};

export type Core = typeof core;
(globalThis as { __playhouseCore?: Core }).__playhouseCore = core;
