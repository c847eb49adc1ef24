// Routes: handlers of intercepted requests.

import { Buffer, contentBase64 } from "./bytes";
import { call, json } from "./calls";
import { Request, type RequestFacts } from "./events";
import { type UrlPattern, urlMatcher } from "./matching";
import { methods, type Options, offer, options } from "./offer";
import type { Page } from "./page";
import { knownPages, registry } from "./registry";
import { ID, ROUTED, ROUTES, ROUTING } from "./symbols";
import { report } from "./timers";

interface FetchedFacts {
  status: number;
  statusText: string;
  headers: Record<string, string>;
  body: string;
}

/** The response that `route.fetch` returns. */
class FetchedResponse {
  #facts: FetchedFacts;
  #url: string;
  constructor(url: string, facts: FetchedFacts) {
    this.#url = url;
    this.#facts = facts;
  }
  url() {
    return this.#url;
  }
  status() {
    return this.#facts.status;
  }
  statusText() {
    return this.#facts.statusText;
  }
  ok() {
    return this.status() >= 200 && this.status() <= 299;
  }
  headers() {
    return { ...this.#facts.headers };
  }
  async body() {
    return Buffer.from(this.#facts.body, "base64");
  }
  async text(): Promise<string> {
    return (await this.body()).toString();
  }
  async json() {
    return JSON.parse(await this.text());
  }
  async dispose() {}
  toJSON() {
    return { url: this.url(), status: this.status() };
  }
}
offer(FetchedResponse, "fetchedResponse");

interface RouteFacts extends RequestFacts {
  pause: string;
}
/** The outcome of a handler. Without a decision, the changes apply to the next handler. */
type Outcome = { decided: true } | { decided: false; changes: Options };
type Handler = (route: Route, request: Request) => unknown;

/** A handler for the requests whose URLs match a pattern. */
export interface RouteEntry {
  pattern: string;
  handler: Handler;
  matches(url: string): boolean;
  /** The number of requests that the handler is still called for. */
  remaining: number;
}

class Route {
  #facts: RouteFacts;
  #request: Request;
  #changes: Options;
  #resolve: ((outcome: Outcome) => void) | undefined;
  constructor(request: Request, facts: RouteFacts, changes: Options) {
    this.#facts = facts;
    this.#request = request;
    this.#changes = changes;
  }
  /** Calls a handler. Resolves when it has decided. */
  [ROUTED](handler: Handler): Promise<Outcome> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      const failed = (error: unknown) => {
        report("In a route:", error);
        if (this.#resolve) resolve({ decided: false, changes: this.#changes });
      };
      try {
        Promise.resolve(handler(this, this.#request)).catch(failed);
      } catch (error) {
        failed(error);
      }
    });
  }
  #end(name: string, outcome: Outcome) {
    if (!this.#resolve) throw new Error(`route.${name}: Route is already handled!`);
    this.#resolve(outcome);
    this.#resolve = undefined;
  }
  #decide(name: string, verdict: object) {
    this.#end(name, { decided: true });
    return call(`route.${name}`, "decide", { pause: this.#facts.pause, verdict });
  }
  request() {
    return this.#request;
  }
  async fulfill(given?: Options) {
    const known = ["body", "contentType", "headers", "json", "path", "response", "status"];
    const { body, contentType, headers, json: data, path, response, status } = options("route.fulfill", given, ...known);
    const all: Record<string, string> = { ...(response?.headers() ?? {}) };
    for (const [name, value] of Object.entries(headers ?? {})) all[name.toLowerCase()] = String(value);
    let content = data !== undefined ? json(data) : body;
    if (content === undefined && response) content = await response.body();
    if (data !== undefined) all["content-type"] ??= "application/json";
    if (contentType) all["content-type"] = contentType;
    delete all["content-encoding"];
    delete all["content-length"];
    const verdict = {
      kind: "fulfill",
      status: status ?? response?.status() ?? 200,
      headers: Object.entries(all),
      body: content === undefined ? "" : contentBase64(content),
      path,
    };
    await this.#decide("fulfill", verdict);
  }
  async fetch(given?: Options) {
    if (!this.#resolve) throw new Error("route.fetch: Route is already handled!");
    const { timeout, ...own } = options("route.fetch", given, "headers", "method", "postData", "timeout", "url");
    const verdict = continueVerdict({ ...this.#changes, ...own });
    const facts = await call("route.fetch", "fetchRoute", { pause: this.#facts.pause, verdict });
    return new FetchedResponse(own.url ?? this.#request.url(), facts);
  }
  async abort(reason = "failed") {
    await this.#decide("abort", { kind: "abort", reason });
  }
  async continue(given?: Options) {
    await this.#decide("continue", continueVerdict({ ...this.#changes, ...overrides("continue", given) }));
  }
  async fallback(given?: Options) {
    this.#end("fallback", { decided: false, changes: { ...this.#changes, ...overrides("fallback", given) } });
  }
}
offer(Route, "route");

const overrides = (name: string, given?: Options) => options(`route.${name}`, given, "headers", "method", "postData", "url");

/** Returns the verdict that continues a request with changes. */
const continueVerdict = ({ headers, method, postData, url }: Options) => {
  const isData = postData !== null && typeof postData === "object" && !ArrayBuffer.isView(postData);
  const content = isData ? json(postData) : postData;
  const pairs = headers && Object.entries(headers).filter(([, value]) => value !== undefined);
  return {
    kind: "continue",
    url,
    method,
    headers: pairs?.map(([name, value]: [string, unknown]) => [name, String(value)]),
    body: content === undefined ? undefined : contentBase64(content),
  };
};

interface Routed {
  [ROUTES]: RouteEntry[];
  /** The id of a page; undefined for the context. */
  [ID]?: string;
}

/** The methods of pages and of the context for routes. */
export const ROUTER = methods<Routed>()({
  async route(pattern: UrlPattern, handler: Handler, given?: Options) {
    const { times } = options("page.route", given, "times");
    this[ROUTES].push({ pattern: String(pattern), handler, matches: urlMatcher(pattern), remaining: times ?? Number.POSITIVE_INFINITY });
    await updateRouting();
  },
  async unroute(pattern: UrlPattern, handler?: Handler) {
    const isSame = (route: RouteEntry) => route.pattern === String(pattern) && (!handler || route.handler === handler);
    this[ROUTES] = this[ROUTES].filter((route) => !isSame(route));
    if (!handler) await call("page.unroute", "unroute", { of: this[ID] ?? null, wanted: String(pattern) });
    await updateRouting();
  },
  async unrouteAll(given?: Options) {
    options("page.unrouteAll", given, "behavior");
    this[ROUTES] = [];
    await call("page.unrouteAll", "unroute", { of: this[ID] ?? null, wanted: null });
    await updateRouting();
  },
});
export type Router = typeof ROUTER;

/** Turns interception on for pages with routes and off for others. Resolves when it is in effect, also if an earlier call started that. */
export const updateRouting = () =>
  Promise.all(
    [...registry.context.pages(), ...knownPages()].map((page) => {
      const on = page[ROUTES].length + registry.context[ROUTES].length > 0;
      if (page.isClosed()) return undefined;
      if (on !== page[ROUTED]) {
        page[ROUTED] = on;
        page[ROUTING] = call("page.route", "routing", { page: page[ID], on }).catch((error) => {
          page[ROUTED] = !on;
          throw error;
        });
      }
      return page[ROUTING];
    }),
  );

/**
 * Calls the matching handlers for a paused request until one decides: first those of the page, then those of the context, each in reverse
 * order.
 */
export const decide = async (page: Page, facts: RouteFacts) => {
  const request = new Request(page, facts);
  let changes: Options = {};
  for (const owner of [page, registry.context]) {
    for (const route of [...owner[ROUTES]].reverse()) {
      if (!owner[ROUTES].includes(route) || !route.matches(request.url())) continue;
      route.remaining -= 1;
      if (route.remaining <= 0) owner[ROUTES] = owner[ROUTES].filter((other) => other !== route);
      const outcome = await new Route(request, facts, changes)[ROUTED](route.handler);
      if (outcome.decided) return void (await updateRouting());
      ({ changes } = outcome);
    }
  }
  const verdict = Object.keys(changes).length ? continueVerdict(changes) : { kind: "pass" };
  await call("route", "decide", { pause: facts.pause, verdict });
  await updateRouting();
};

/** Removes the routes with this pattern, or all, because other code removed them. */
export const dropRoutes = (owner: Routed, pattern: string | null) => {
  owner[ROUTES] = owner[ROUTES].filter((route) => pattern !== null && route.pattern !== pattern);
  updateRouting().catch(() => {});
};
