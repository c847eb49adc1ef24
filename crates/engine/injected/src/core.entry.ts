// Everything Rust may call in a page, as one object. Evaluates to that object.
import "./own";
import { attribute, content, dispatchDrop, fileInput, fill, focus, selectOptions, setFiles } from "./forms";
import { dragBegan, dragTaken, dragTo, dropDrag, takeDrag, watchDrag } from "./drag";
import { generate, locator } from "./generate";
import { introduce } from "./frames";
import { held, keep, type Handle } from "./handles";
import { aim, aimThrough, bounds } from "./hit";
import { passwordValues, watchPasswords } from "./passwords";
import { describe, links, metadata, read, table, texts, titleOf } from "./reading";
import { byRef, similar } from "./refs";
import { query } from "./selector/query";
import { nextChange, settled, waits, watch } from "./settle";
import { withCaches } from "./seen";
import { home, snapshot } from "./snapshot";
import { states } from "./states";

// Names that elements have too are in quotes: the bundle calls those otherwise.
const core = {
  element: held,
  handle: (e: Element) => keep(e),
  watchDrag,
  dragBegan,
  takeDrag,
  dragTaken,
  dragTo,
  dropDrag,
  snapshot,
  byRef,
  similar,
  query,
  title: titleOf,
  titled: (question: Parameters<typeof snapshot>[0]) => ({ title: titleOf(), tree: snapshot(question) }),
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
  setFiles,
  dispatchDrop,
  watch,
  settled,
  waits,
  nextChange,
  generate,
  locator,
  describe,
  read,
  texts,
  table,
  links,
  metadata,
  passwords: () => null,
  origin: () => ({ isOpaque: globalThis.origin === "null" }),
  about,
  abouts,
};

type Function = (argument: unknown) => unknown;

interface About {
  find: "byRef" | "query";
  /** What that function takes. */
  which: never;
  ask: keyof typeof core;
  /** What this one takes besides the handle. */
  argument: object;
}

/** Looks for an element and, if exactly one is found, calls a function about it: one round trip instead of two. */
function about({ find, which, ask, argument }: About): unknown {
  const found = core[find](which) as { handle?: Handle; count?: number; elements?: { handle: Handle }[] } | null;
  const handle = found?.count === 1 ? found.elements?.[0]?.handle : found?.handle;
  if (handle === undefined) return { found };
  const answer = (core[ask] as Function)({ ...argument, handle });
  return answer instanceof Promise ? answer.then((answer: unknown) => ({ found, answer })) : { found, answer };
}

/** The same for several elements, while the page stands still. */
function abouts(questions: About[]): unknown[] {
  return withCaches(() => questions.map(about));
}

/** What tells of values, or ends a call that does: the passwords of the document go along. */
const READING = new Set(["snapshot", "title", "titled", "read", "texts", "describe", "content", "attribute", "passwords"]);

/**
 * Calls a function of the core; its answer, or a promise of it, as JSON, which is read far faster than objects are handed over. On its way
 * each quote would be escaped, by some browsers twice: another character stands for it, which the answer begins with. Values of password
 * fields follow on a line of their own.
 */
function call(name: keyof typeof core, argument: unknown): string | Promise<string> {
  watchPasswords();
  const answer = (core[name] as Function)(argument);
  const ask = name === "about" ? (argument as About).ask : name;
  return answer instanceof Promise ? answer.then((answer) => written(answer, ask)) : written(answer, ask);
}

const QUOTES = ["~", "`", "^", "|", ";"];

function written(answer: unknown, name: string): string {
  const passwords = passwordValues(READING.has(name));
  const text = json(answer ?? null) + (passwords.length ? "\n" + json(passwords) : "");
  const quote = QUOTES.find((quote) => !text.includes(quote)) ?? '"';
  return quote + text.replaceAll('"', quote);
}

function json(answer: unknown): string {
  const text = JSON.stringify(answer);
  // Half a surrogate pair is no text to most readers of JSON.
  return text.includes("\\ud")
    ? JSON.stringify(answer, (_, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value))
    : text;
}

const exposed = {
  ...core,
  call,
  /** Who this is, once it was told. */
  self: undefined as ReturnType<typeof introduce> | undefined,
  introduce: (who: Parameters<typeof introduce>[0]): void => {
    exposed.self = introduce(who, home);
  },
};

(globalThis as { __playhouseCore?: unknown }).__playhouseCore = exposed;
