// Everything Rust may call in a page, as one object. Evaluates to that object.
import { release } from "./handles";
import { matches, query } from "./selector/query";

const core = {
  release: ({ handles }: { handles: number[] }): null => (release(handles), null),
  query,
  matches,
};

export type Core = typeof core;
(globalThis as { __playhouseCore?: Core }).__playhouseCore = core;
