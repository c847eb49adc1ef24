// Requests that code decides about.

/** What a server answered to a request that still waits. */
class FetchedResponse {
  #facts;
  #url;
  constructor(url, facts) {
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
    return Buffer.from(this.#facts.body, 'base64');
  }
  async text() {
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
offer(FetchedResponse, 'fetchedResponse');

class Route {
  #facts;
  #request;
  #changes;
  #over;
  constructor(request, facts, changes) {
    this.#facts = facts;
    this.#request = request;
    this.#changes = changes;
  }
  /** Asks a handler; whether it decided, and with which changes it did not. */
  [ROUTED](handler) {
    return new Promise((resolve) => {
      this.#over = resolve;
      const failed = (error) => {
        report('In a route:', error);
        if (this.#over) resolve({ decided: false, changes: this.#changes });
      };
      try {
        Promise.resolve(handler(this, this.#request)).catch(failed);
      } catch (error) {
        failed(error);
      }
    });
  }
  #end(name, outcome) {
    if (!this.#over) throw new Error(`route.${name}: Route is already handled!`);
    this.#over(outcome);
    this.#over = undefined;
  }
  #decide(name, verdict) {
    this.#end(name, { decided: true });
    return call(`route.${name}`, 'decide', { pause: this.#facts.pause, verdict });
  }
  request() {
    return this.#request;
  }
  async fulfill(given) {
    const { body, contentType, headers, json: data, path, response, status } = options('route.fulfill', given, 'body', 'contentType', 'headers', 'json', 'path', 'response', 'status');
    const all = { ...(response?.headers() ?? {}) };
    for (const [name, value] of Object.entries(headers ?? {})) all[name.toLowerCase()] = String(value);
    let content = data !== undefined ? json(data) : body;
    if (content === undefined && response) content = await response.body();
    if (data !== undefined) all['content-type'] ??= 'application/json';
    if (contentType) all['content-type'] = contentType;
    delete all['content-encoding'];
    delete all['content-length'];
    const bytes = content === undefined ? '' : base64(typeof content === 'string' ? new TextEncoder().encode(content) : content);
    await this.#decide('fulfill', { kind: 'fulfill', status: status ?? response?.status() ?? 200, headers: Object.entries(all), body: bytes, path });
  }
  async fetch(given) {
    if (!this.#over) throw new Error('route.fetch: Route is already handled!');
    const { timeout, ...own } = options('route.fetch', given, 'headers', 'method', 'postData', 'timeout', 'url');
    const verdict = { kind: 'continue', ...changed({ ...this.#changes, ...own }) };
    const facts = await call('route.fetch', 'fetchRoute', { pause: this.#facts.pause, verdict });
    return new FetchedResponse(own.url ?? this.#request.url(), facts);
  }
  async abort(reason = 'failed') {
    await this.#decide('abort', { kind: 'abort', reason });
  }
  async continue(given) {
    await this.#decide('continue', { kind: 'continue', ...changed({ ...this.#changes, ...changesOf('continue', given) }) });
  }
  async fallback(given) {
    this.#end('fallback', { decided: false, changes: { ...this.#changes, ...changesOf('fallback', given) } });
  }
}
offer(Route, 'route');

const changesOf = (name, given) => options(`route.${name}`, given, 'headers', 'method', 'postData', 'url');
const changed = ({ headers, method, postData, url }) => {
  const content = postData !== null && typeof postData === 'object' && !ArrayBuffer.isView(postData) ? json(postData) : postData;
  return {
    url,
    method,
    headers: headers && Object.entries(headers).filter(([, value]) => value !== undefined).map(([name, value]) => [name, String(value)]),
    body: content === undefined ? undefined : base64(typeof content === 'string' ? new TextEncoder().encode(content) : content),
  };
};

/** The routes of a page or of the context. */
const ROUTER = {
  async route(wanted, handler, given) {
    const { times } = options('page.route', given, 'times');
    this[ROUTES].push({ wanted: String(wanted), handler, matches: matcher(wanted), left: times ?? Infinity });
    await routing();
  },
  async unroute(wanted, handler) {
    const same = (route) => route.wanted === String(wanted) && (!handler || route.handler === handler);
    this[ROUTES] = this[ROUTES].filter((route) => !same(route));
    if (!handler) await call('page.unroute', 'unroute', { of: this[ID] ?? null, wanted: String(wanted) });
    await routing();
  },
  async unrouteAll(given) {
    options('page.unrouteAll', given, 'behavior');
    this[ROUTES] = [];
    await call('page.unrouteAll', 'unroute', { of: this[ID] ?? null, wanted: null });
    await routing();
  },
};

/** Has the requests of pages that have routes wait for us. Resolves when they do, also if an earlier call began that. */
const routing = () => Promise.all([...context.pages(), ...pages.values()].map((page) => {
  const on = page[ROUTES].length + context[ROUTES].length > 0;
  if (page.isClosed()) return undefined;
  if (on !== page[ROUTED]) {
    page[ROUTED] = on;
    page[ROUTING] = call('page.route', 'routing', { page: page[ID], on }).catch((error) => {
      page[ROUTED] = !on;
      throw error;
    });
  }
  return page[ROUTING];
}));

/** Asks the routes about a request, the newest first, those of the page before those of the context. */
const routed = async (page, facts) => {
  const request = new Request(page, facts);
  let changes = {};
  for (const owner of [page, context]) {
    for (const route of [...owner[ROUTES]].reverse()) {
      if (!owner[ROUTES].includes(route) || !route.matches(request.url())) continue;
      route.left -= 1;
      if (route.left <= 0) owner[ROUTES] = owner[ROUTES].filter((other) => other !== route);
      const outcome = await new Route(request, facts, changes)[ROUTED](route.handler);
      if (outcome.decided) return routing();
      ({ changes } = outcome);
    }
  }
  const verdict = Object.keys(changes).length ? { kind: 'continue', ...changed(changes) } : { kind: 'pass' };
  await call('route', 'decide', { pause: facts.pause, verdict });
  await routing();
};
