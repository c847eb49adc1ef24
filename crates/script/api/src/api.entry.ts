// What `runtime.rs` calls.

import { hasPendingCalls, hasTooManyCalls, json, settle } from "./calls";
import { BrowserContext } from "./context";
import { EVENTS } from "./events";
import { defineGlobals } from "./globals";
import { surface as offered } from "./offer";
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

/** Runs the code's function with the page, and reports its outcome. */
const start = async (code: unknown, isModule: boolean) => {
  let outcome: object;
  try {
    if (typeof code !== "function") throw new TypeError(isModule ? NO_DEFAULT_EXPORT : NO_FUNCTION);
    const page = pageOf(currentPage);
    const result = await code(isModule ? { page } : page);
    if (hasTooManyCalls()) throw new Error("more calls are waiting than may");
    outcome = { value: typeof result === "function" ? null : (json(result) ?? null) };
  } catch (error) {
    // Without memory for an error the engine throws null.
    const message = error === null ? "null was thrown, as it is when memory is used up" : String(error);
    outcome = { error: { name: (error as Error)?.name ?? "", message } };
  }
  native.ended(JSON.stringify(outcome));
};

/** Gives an event to its listeners, and a paused request to its routes. */
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

/** Whether nothing is awaited or listened to any more. */
const isIdle = () =>
  !hasPendingCalls() &&
  [context, ...knownPages()].every(
    (each) => Object.values(each[LISTENERS]).every((listeners) => listeners.length === 0) && each[ROUTES].length === 0,
  );

const unhandled = new Map<Promise<unknown>, unknown>();

/** Notes that a promise was rejected, or that its rejection is handled after all. */
const trackRejection = (promise: Promise<unknown>, reason: unknown, isHandled: boolean) => {
  if (isHandled) unhandled.delete(promise);
  else unhandled.set(promise, reason);
};

/** Reports the unhandled rejections. */
const reportRejections = () => {
  for (const reason of unhandled.values()) report("Unhandled rejection:", reason);
  unhandled.clear();
};

/** The names that each object offers, as JSON. */
const surface = () => json(offered());

export { dispatch, isIdle, reportRejections, settle, start, surface, trackRejection };
