// The browser context.

const FOR_EVER = 'the context lives as long as the session; use browser_close';

class BrowserContext {
  constructor() {
    this[LISTENERS] = {};
    this[ROUTES] = [];
    this[LIMIT] = limits;
  }
  [LISTEN](event, on) {
    if (event !== 'page' && event !== 'close') throw new Error(`context.on: the event "${event}" is not supported by browser_run_code_unsafe; see docs/run-code.md`);
    call('context.on', 'listen', { page: null, event, on }).catch(() => {});
  }
  pages() {
    return ask('pages').map(pageOf);
  }
  async newPage() {
    const page = pageOf(await call('context.newPage', 'newPage'));
    await routing();
    return page;
  }
  async cookies(urls) {
    const all = await call('context.cookies', 'cookies');
    const wanted = [urls ?? []].flat().map((url) => new URL(url));
    if (!wanted.length) return all;
    return all.filter(({ domain, path, secure }) =>
      wanted.some(({ hostname, pathname, protocol }) => {
        const host = domain.startsWith('.') ? `.${hostname}`.endsWith(domain) : hostname === domain;
        return host && pathname.startsWith(path) && (!secure || protocol === 'https:' || hostname === 'localhost');
      }));
  }
  async addCookies(cookies) {
    const whole = cookies.map(({ url, ...cookie }) => {
      if (url === undefined) return { path: '/', ...cookie };
      const { hostname, pathname, protocol } = new URL(url);
      return { domain: hostname, path: pathname.slice(0, pathname.lastIndexOf('/') + 1), secure: protocol === 'https:', ...cookie };
    });
    await call('context.addCookies', 'addCookies', { cookies: whole });
  }
  async clearCookies(given) {
    const wanted = Object.entries(options('context.clearCookies', given, 'domain', 'name', 'path'));
    const gone = (await this.cookies()).filter((cookie) =>
      wanted.every(([key, value]) => (value instanceof RegExp ? value.test(cookie[key]) : value === cookie[key])));
    await call('context.clearCookies', 'removeCookies', { cookies: gone });
  }
  async storageState(given) {
    options('context.storageState', given);
    return call('context.storageState', 'storageState');
  }
  async setOffline(offline) {
    await call('context.setOffline', 'setOffline', { offline: Boolean(offline) });
  }
  async grantPermissions(permissions, given) {
    await call('context.grantPermissions', 'grantPermissions', { permissions, ...options('context.grantPermissions', given, 'origin') });
  }
  async clearPermissions() {
    await call('context.clearPermissions', 'clearPermissions');
  }
  async setGeolocation(geolocation) {
    await call('context.setGeolocation', 'setGeolocation', { geolocation });
  }
  async setExtraHTTPHeaders(headers) {
    await call('context.setExtraHTTPHeaders', 'setExtraHeaders', { headers: Object.entries(headers) });
  }
  async addInitScript(code, ...args) {
    await call('context.addInitScript', 'addInitScript', { script: initial('context.addInitScript', code, args) });
  }
  setDefaultTimeout(ms) {
    for (const each of [this, ...this.pages()]) each[LIMIT] = { action: ms, navigation: ms };
  }
  setDefaultNavigationTimeout(ms) {
    for (const each of [this, ...this.pages()]) each[LIMIT] = { ...each[LIMIT], navigation: ms };
  }
  async close() {
    throw new Error(`context.close is not supported by browser_run_code_unsafe: ${FOR_EVER}`);
  }
  toJSON() {
    return { _type: 'BrowserContext' };
  }
}
mix(BrowserContext, EMITTER);
mix(BrowserContext, ROUTER);
offer(BrowserContext, 'context');

const context = new BrowserContext();
const pages = new Map();
const pageOf = (id) => {
  if (!pages.has(id)) pages.set(id, new Page(id));
  return pages.get(id);
};

// What the server calls.

/** Runs the code's function with the page; how it ended is told once. */
const start = async (code, module) => {
  let outcome;
  try {
    if (typeof code !== 'function') throw new TypeError(module ? 'the module must have a function as its default export: export default async ({ page }) => { … }' : 'the code must be a function: async (page) => { … }');
    const page = pageOf(current);
    const result = await code(module ? { page } : page);
    if (pending.size > MOST_CALLS) throw new Error('more calls are waiting than may');
    outcome = { value: typeof result === 'function' ? null : json(result) ?? null };
  } catch (error) {
    // Without memory for an error the engine throws null.
    const message = error === null ? 'null was thrown, as it is when memory is used up' : String(error);
    outcome = { error: { name: error?.name ?? '', message } };
  }
  native.ended(JSON.stringify(outcome));
};

/** Nothing is awaited or listened to any more. */
const idle = () => pending.size === 0 && [context, ...pages.values()].every((each) => Object.values(each[LISTENERS]).every((all) => all.length === 0) && each[ROUTES].length === 0);

const rejected = (promise, reason, handled) => void (handled ? unhandled.delete(promise) : unhandled.set(promise, reason));
const rejections = () => {
  for (const reason of unhandled.values()) report('Unhandled rejection:', reason);
  unhandled.clear();
};

/** The names that each object offers. */
const surface = () => json(offered.map(([name, type]) => [name, Object.getOwnPropertyNames(type.prototype).filter((key) => key !== 'constructor' && key !== 'toJSON').sort()]));

return { start, settle, happened, idle, rejected, rejections, surface };
