// The browser context.

import { call, query } from "./calls";
import { EMITTER, type Emitter, type Listeners } from "./emitter";
import { mix, type Options, offer, options } from "./offer";
import { pageOf } from "./registry";
import { type RouteEntry, ROUTER, type Router, updateRouting } from "./routes";
import { initScript } from "./source";
import { LISTEN, LISTENERS, NAME, ROUTES, TIMEOUTS } from "./symbols";
import { URL } from "./url";

const NO_CLOSE = "the context lives as long as the session; use browser_close";

interface Cookie {
  name: string;
  domain: string;
  path: string;
  secure: boolean;
}

export interface BrowserContext extends Emitter, Router {}
export class BrowserContext {
  [LISTENERS]: Listeners = {};
  [ROUTES]: RouteEntry[] = [];
  [TIMEOUTS] = timeouts;
  get [NAME]() {
    return "context";
  }
  [LISTEN](event: string, on: boolean) {
    if (event !== "page" && event !== "close") {
      throw new Error(`context.on: the event "${event}" is not supported by browser_run_code_unsafe; see docs/run-code.md`);
    }
    call("context.on", "listen", { page: null, event, on }).catch(() => {});
  }
  pages() {
    return (query("pages") as string[]).map(pageOf);
  }
  async newPage() {
    const page = pageOf(await call("context.newPage", "newPage"));
    await updateRouting();
    return page;
  }
  async cookies(urls?: string | string[]): Promise<Cookie[]> {
    const all: Cookie[] = await call("context.cookies", "cookies");
    const wanted = [urls ?? []].flat().map((url) => new URL(url));
    if (!wanted.length) return all;
    return all.filter(({ domain, path, secure }) =>
      wanted.some(({ hostname, pathname, protocol }) => {
        const host = domain.startsWith(".") ? `.${hostname}`.endsWith(domain) : hostname === domain;
        return host && pathname.startsWith(path) && (!secure || protocol === "https:" || hostname === "localhost");
      }),
    );
  }
  async addCookies(cookies: Options[]) {
    const whole = cookies.map(({ url, ...cookie }) => {
      if (url === undefined) return { path: "/", ...cookie };
      const { hostname, pathname, protocol } = new URL(url);
      const path = pathname.slice(0, pathname.lastIndexOf("/") + 1);
      return { domain: hostname, path, secure: protocol === "https:", ...cookie };
    });
    await call("context.addCookies", "addCookies", { cookies: whole });
  }
  async clearCookies(given?: Options) {
    const wanted = Object.entries(options("context.clearCookies", given, "domain", "name", "path"));
    const removed = (await this.cookies()).filter((cookie) =>
      wanted.every(([key, value]) => {
        const own = cookie[key as keyof Cookie];
        return value instanceof RegExp ? value.test(String(own)) : value === own;
      }),
    );
    await call("context.clearCookies", "removeCookies", { cookies: removed });
  }
  async storageState(given?: Options) {
    options("context.storageState", given);
    return call("context.storageState", "storageState");
  }
  async setOffline(offline: unknown) {
    await call("context.setOffline", "setOffline", { offline: Boolean(offline) });
  }
  async grantPermissions(permissions: string[], given?: Options) {
    await call("context.grantPermissions", "grantPermissions", { permissions, ...options("context.grantPermissions", given, "origin") });
  }
  async clearPermissions() {
    await call("context.clearPermissions", "clearPermissions");
  }
  async setGeolocation(geolocation: object | null) {
    await call("context.setGeolocation", "setGeolocation", { geolocation });
  }
  async setExtraHTTPHeaders(headers: Record<string, string>) {
    await call("context.setExtraHTTPHeaders", "setExtraHeaders", { headers: Object.entries(headers) });
  }
  async addInitScript(code: unknown, ...args: unknown[]) {
    await call("context.addInitScript", "addInitScript", { script: initScript("context.addInitScript", code, args) });
  }
  setDefaultTimeout(ms: number) {
    for (const each of [this, ...this.pages()]) each[TIMEOUTS] = { action: ms, navigation: ms };
  }
  setDefaultNavigationTimeout(ms: number) {
    for (const each of [this, ...this.pages()]) each[TIMEOUTS] = { ...each[TIMEOUTS], navigation: ms };
  }
  async close() {
    throw new Error(`context.close is not supported by browser_run_code_unsafe: ${NO_CLOSE}`);
  }
  toJSON() {
    return { _type: "BrowserContext" };
  }
}
mix(BrowserContext, EMITTER);
mix(BrowserContext, ROUTER);
offer(BrowserContext, "context");
