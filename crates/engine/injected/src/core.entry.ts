// Defines `globalThis.__playhouseCore`, the object with all functions that the engine calls in pages.
import "./own";
import { attribute, content, discarded, dispatchDrop, fileInput, fill, focus, insertText, selectOptions, setFiles } from "./forms";
import { dragBegan, dragTaken, dragTo, dropDrag, swallowWheel, takeDrag, watchDrag } from "./drag";
import { generate, locator } from "./generate";
import { introduce } from "./frames";
import { introduceCauses } from "./causes";
import { held, keep, type Handle } from "./handles";
import { takeHosts } from "./hosts";
import { aim, aimThrough, bounds } from "./hit";
import { reported, setListeners } from "./interactive";
import { intercept, missed, stopInterceptor } from "./interceptor";
import { isPassword, marked, passwordValues, typing, watchPasswords } from "./passwords";
import { describe, links, metadata, read, table, texts, titleOf } from "./reading";
import { describeRestyled, takeRestyled, type Restyled } from "./looks";
import { byRef, similar } from "./refs";
import { query } from "./selector/query";
import { isBlank, isBusy, keepWatching, nextChange, pending, settled, waits, watch } from "./settle";
import { recordClosedRoots } from "./dom";
import { withCaches } from "./seen";
import { home, snapshot } from "./snapshot";
import { states } from "./states";
import { takeTransients, type Transient } from "./transient";
import { shown } from "./waiting";

// Keys that are names of src/own.json are quoted, because the build renames unquoted ones.
const core = {
  element: held,
  handle: (e: Element) => keep(e),
  watchDrag,
  dragBegan,
  takeDrag,
  dragTaken,
  dragTo,
  dropDrag,
  swallowWheel,
  snapshot,
  setListeners,
  recordClosedRoots,
  byRef,
  similar,
  query,
  title: titleOf,
  titled,
  overview,
  states,
  aim,
  aimThrough,
  bounds,
  missed,
  stopInterceptor,
  fill,
  discarded,
  insertText,
  selectOptions,
  "focus": focus,
  content,
  attribute,
  fileInput,
  setFiles,
  dispatchDrop,
  watch,
  isBlank,
  settled,
  pending,
  waits,
  nextChange,
  shown,
  generate,
  locator,
  describe,
  read,
  texts,
  table,
  links,
  metadata,
  passwords: () => null,
  typing,
  bundle,
  origin: () => ({ isOpaque: globalThis.origin === "null" }),
  about,
  abouts,
};

type Question = Parameters<typeof snapshot>[0] & { transients?: boolean; causes?: number };

/** Reads the document; with `causes` only if nothing is pending within so many ms that input caused. */
function titled(question: Question): {
  title: string;
  tree?: unknown;
  hosts?: Handle[] | undefined;
  transients?: Transient[];
  restyled?: Restyled[];
  busy: boolean;
  pending: boolean;
} {
  if (isPending(question)) return { title: "", busy: false, pending: true };
  const restyled = question.transients ? takeRestyled() : [];
  const [title, tree] = [titleOf(), snapshot(question)];
  const observed = question.transients && { transients: newTransients(), restyled: describeRestyled(restyled) };
  return { title, tree, hosts: takeHosts(), ...observed, busy: isBusy(), pending: false };
}

/** Reads what an answer without a snapshot contains, under the same condition. */
function overview(question: { transients?: boolean; causes?: number }): { title: string; transients: Transient[]; pending: boolean } {
  if (isPending(question)) return { title: "", transients: [], pending: true };
  return { title: titleOf(), transients: question.transients ? newTransients() : [], pending: false };
}

function isPending({ causes: limit }: { causes?: number }): boolean {
  if (!limit) return false;
  const caused = pending({ limit, holds: false });
  return caused.pending || caused.within.length > 0;
}

/** Returns the texts that were shown since the last answer and are gone. */
function newTransients(): Transient[] {
  keepWatching();
  return takeTransients();
}

type Function = (argument: unknown) => unknown;

/** The functions of the core that other bundles use, because they need the state of the core. */
const services = { keep: core.handle, isPassword, marked };

export type Services = typeof services;

/** Calls the function that another bundle defines. Returns undefined if the document does not have the bundle. */
function bundle({ name, argument }: { name: string; argument: unknown }): unknown {
  return (globalThis as Record<string, unknown> as Record<string, (argument: unknown, services: Services) => unknown>)[name]?.(
    argument,
    services,
  );
}

interface About {
  /** The function that resolves the element. */
  find: "byRef" | "query";
  /** The argument of `find`. */
  which: never;
  /** The function that is called for the element. */
  ask: keyof typeof core;
  /** The argument of `ask` without the handle. */
  argument: object;
}

/**
 * Resolves an element and, if exactly one is found, calls a function for it, which saves a round trip. Returns the result of `find`, and
 * the result of `ask` if it was called.
 */
function about({ find, which, ask, argument }: About): unknown {
  const found = core[find](which) as { handle?: Handle; count?: number; elements?: { handle: Handle }[] } | null;
  const handle = found?.count === 1 ? found.elements?.[0]?.handle : found?.handle;
  if (handle === undefined) return { found };
  const answer = (core[ask] as Function)({ ...argument, handle });
  return after(answer, (answer) => ({ found, answer }));
}

/** Returns the results of `about` for several elements, which share the caches. */
function abouts(calls: About[]): unknown[] {
  return withCaches(() => calls.map(about));
}

/**
 * The functions whose results can contain values of fields, or that end a call whose answer can. The values of all password fields are
 * sent with these results.
 */
const READING = new Set([
  "snapshot",
  "title",
  "titled",
  "overview",
  "read",
  "texts",
  "describe",
  "content",
  "attribute",
  "passwords",
  "bundle",
  "audit",
]);

/**
 * Calls a function of the core. Returns the result, or a promise of it, as JSON, which is transferred much faster than objects. Protocols
 * escape each quote in it, some browsers twice, so another character replaces the quotes; the result begins with that character. The values
 * of password fields follow as JSON in a second line.
 */
function call(name: keyof typeof core, argument: unknown): string | Promise<string> {
  watchPasswords();
  // Other bundles add functions, such as `audit`.
  const answer = (exposed[name] as Function)(argument);
  const ask = name === "about" ? (argument as About).ask : name;
  return after(answer, (answer) => serialize(answer, ask));
}

/** Calls a function with an answer, or with what it resolves to: another bundle's promise is not of the class of the core. */
function after<T>(answer: unknown, next: (answer: unknown) => T): T | Promise<T> {
  return answer instanceof Promise ? Promise.resolve(answer).then(next) : next(answer);
}

const QUOTES = ["~", "`", "^", "|", ";"];

function serialize(answer: unknown, name: string): string {
  const passwords = passwordValues(READING.has(name));
  const text = toJson(answer ?? null) + (passwords.some((values) => values.length) ? "\n" + toJson(passwords) : "");
  const quote = QUOTES.find((quote) => !text.includes(quote)) ?? '"';
  return quote + text.replaceAll('"', quote);
}

function toJson(answer: unknown): string {
  const text = JSON.stringify(answer);
  // Most JSON parsers reject lone surrogates.
  return text.includes("\\ud")
    ? JSON.stringify(answer, (_, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value))
    : text;
}

const exposed = {
  ...core,
  call,
  intercept,
  reported,
  /** The identity of this script, after `introduce` was called. */
  self: undefined as ReturnType<typeof introduce> | undefined,
  introduce: (identity: Parameters<typeof introduce>[0]): void => {
    exposed.self = introduce(identity, home);
    introduceCauses(identity.causes, !!identity.separate);
  },
};

(globalThis as { __playhouseCore?: unknown }).__playhouseCore = exposed;
