// The functions that `runtime.rs` calls.

import { hasPendingCalls, hasTooManyCalls, json, settle } from "./calls";
import { BrowserContext } from "./context";
import { EVENTS } from "./events";
import { defineGlobals } from "./globals";
import { surface as supportedMembers } from "./offer";
import { Page } from "./page";
import { knownPages, pageOf, registry } from "./registry";
import { decide, dropRoutes, updateRouting } from "./routes";
import { EMIT, LISTENERS, ROUTES } from "./symbols";
import { report } from "./timers";

defineGlobals();
registry.context = new BrowserContext();
registry.createPage = (id) => new Page(id);
const { context } = registry;

const NO_FUNCTION = "the code must be a function: async (page) => { … }";
const NO_DEFAULT_EXPORT = "the module must have a function as its default export: export default async ({ page }) => { … }";

/** Calls the function of the client code with the page, and reports its outcome to the server. */
const start = async (code: unknown, isModule: boolean) => {
  let outcome: object;
  try {
    if (typeof code !== "function") throw new TypeError(isModule ? NO_DEFAULT_EXPORT : NO_FUNCTION);
    const page = pageOf(currentPage);
    const result = await code(isModule ? { page } : page);
    if (hasTooManyCalls()) throw new Error("too many calls are pending");
    outcome = { value: typeof result === "function" ? null : (json(result) ?? null) };
  } catch (error) {
    // QuickJS throws null if there is no memory for an error object.
    const message = error === null ? "null was thrown, which QuickJS does if the memory limit is reached" : String(error);
    outcome = { error: { name: (error as Error)?.name ?? "", message } };
  }
  native.ended(JSON.stringify(outcome));
};

/** Dispatches an event to its listeners, and a paused request to its routes. */
const dispatch = (text: string) => {
  const { page: id, event, facts } = JSON.parse(text);
  if (event === "unroute") return dropRoutes(id === null ? context : pageOf(id), facts.wanted);
  if (event === "page") {
    if (context[ROUTES].length) updateRouting().catch(() => {});
    return context[EMIT](event, pageOf(facts.page));
  }
  const page = pageOf(id);
  if (event === "route") return void decide(page, facts).catch((error) => report("In a route:", error));
  page[EMIT](event, EVENTS[event]?.(page, facts));
};

/** Returns whether there are no pending calls, listeners and routes. */
const isIdle = () =>
  !hasPendingCalls() &&
  [context, ...knownPages()].every(
    (each) => Object.values(each[LISTENERS]).every((listeners) => listeners.length === 0) && each[ROUTES].length === 0,
  );

const unhandled = new Map<Promise<unknown>, unknown>();

/** Records that a promise was rejected without a handler, or that a handler was added later. */
const trackRejection = (promise: Promise<unknown>, reason: unknown, isHandled: boolean) => {
  if (isHandled) unhandled.delete(promise);
  else unhandled.set(promise, reason);
};

/** Reports the unhandled rejections. */
const reportRejections = () => {
  for (const reason of unhandled.values()) report("Unhandled rejection:", reason);
  unhandled.clear();
};

/** Returns the names of the supported members of each object, as JSON. */
const surface = () => json(supportedMembers());

export { dispatch, isIdle, reportRejections, settle, start, surface, trackRejection };
