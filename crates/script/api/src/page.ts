// Pages and their frames.

import { Buffer } from "./bytes";
import { call, pause, query } from "./calls";
import { DOCUMENT, type DocumentMethods, loadState } from "./document";
import { EMITTER, type Emitter, type Listeners } from "./emitter";
import { EVENTS, type Request, Response } from "./events";
import { Keyboard, Mouse } from "./input";
import { SCREENSHOT } from "./locator";
import { type UrlPattern, urlMatcher } from "./matching";
import { mix, type Options, offer, options } from "./offer";
import { pageOf, registry } from "./registry";
import { type RouteEntry, ROUTER, type Router } from "./routes";
import { FINDERS, type Finders } from "./selectors";
import { initScript } from "./source";
import {
  COUNT_DIALOGS,
  FRAME_OF,
  ID,
  LISTEN,
  LISTENERS,
  NAME,
  PAGE,
  ROUTED,
  ROUTES,
  ROUTING,
  SCOPE,
  TIMEOUTS,
  UPDATE,
  WAIT,
} from "./symbols";

const NAVIGATION = ["timeout", "waitUntil", "referer"];
const PDF = ["format", "height", "landscape", "path", "printBackground", "width"];

interface FrameFacts {
  id: string;
  parent: string | null;
  url: string;
  name: string;
}

/** A URL pattern, or a predicate for a request or response. */
type Matching<T> = string | RegExp | ((subject: T) => unknown);

const subjectMatcher = <T extends { url(): string }>(pattern: Matching<T>): ((subject: T) => unknown) => {
  if (typeof pattern === "function") return pattern;
  const matches = urlMatcher(pattern);
  return (subject) => matches(subject.url());
};

export interface Page extends DocumentMethods, Finders, Emitter, Router {}
export class Page {
  readonly [ID]: string;
  [LISTENERS]: Listeners = {};
  [ROUTES]: RouteEntry[] = [];
  [ROUTED] = false;
  [ROUTING]: Promise<unknown> | undefined;
  [TIMEOUTS] = { ...registry.context[TIMEOUTS] };
  #dialogs = 0;
  #frames = new Map<string, Frame>();
  #keyboard: Keyboard;
  #mouse: Mouse;
  constructor(id: string) {
    this[ID] = id;
    this.#keyboard = new Keyboard(id);
    this.#mouse = new Mouse(id);
  }
  get keyboard() {
    return this.#keyboard;
  }
  get mouse() {
    return this.#mouse;
  }
  get [SCOPE]() {
    return { page: this, frame: undefined };
  }
  get [NAME]() {
    return "page";
  }
  /** Changes the number of open dialogs that the code handles. The server leaves dialogs to the code until the number is 0. */
  [COUNT_DIALOGS](change: number) {
    this.#dialogs += change;
    if (this.#dialogs === 0 && !this[LISTENERS].dialog?.length) this[LISTEN]("dialog", false);
  }
  [LISTEN](event: string, on: boolean) {
    if (event === "dialog" && !on && this.#dialogs > 0) return;
    if (!Object.hasOwn(EVENTS, event)) {
      throw new Error(`page.on: the event "${event}" is not supported by browser_run_code_unsafe; see docs/run-code.md`);
    }
    call("page.on", "listen", { page: this[ID], event, on }).catch(() => {});
  }
  /** Returns the frame with this id, which may be detached. */
  [FRAME_OF](id: string) {
    return this.frames().find((frame) => frame[ID] === id) ?? new Frame(this, { id, parent: null, url: "", name: "" });
  }
  async #navigate(name: string, op: string, given: Options | undefined, parameters?: object) {
    const api = `page.${name}`;
    const { timeout, waitUntil, referer } = options(api, given, ...NAVIGATION);
    if (referer) throw new Error(`${api}: the option "referer" is not supported by browser_run_code_unsafe; see docs/run-code.md`);
    const limit = timeout ?? this[TIMEOUTS].navigation;
    const facts = await call(api, op, { page: this[ID], until: loadState(api, waitUntil), timeout: limit, ...parameters });
    return facts && new Response(this, facts);
  }

  async goto(url: unknown, given?: Options) {
    return this.#navigate("goto", "goto", given, { url: String(url) });
  }
  async reload(given?: Options) {
    return this.#navigate("reload", "reload", given);
  }
  async goBack(given?: Options) {
    return this.#navigate("goBack", "go", given, { delta: -1 });
  }
  async goForward(given?: Options) {
    return this.#navigate("goForward", "go", given, { delta: 1 });
  }
  url(): string {
    return query("url", { page: this[ID] });
  }
  isClosed(): boolean {
    return query("isClosed", { page: this[ID] });
  }
  context() {
    return registry.context;
  }
  async opener() {
    const id = query("opener", { page: this[ID] });
    return id === null ? null : pageOf(id);
  }
  frames(): Frame[] {
    const all: FrameFacts[] = query("frames", { page: this[ID] });
    for (const id of this.#frames.keys()) if (!all.some((facts) => facts.id === id)) this.#frames.delete(id);
    return all.map((facts) => {
      const known = this.#frames.get(facts.id);
      if (known) return known[UPDATE](facts);
      const frame = new Frame(this, facts);
      this.#frames.set(facts.id, frame);
      return frame;
    });
  }
  mainFrame() {
    return this.frames()[0] as Frame;
  }
  frame(selector: string | { name?: string; url?: UrlPattern }) {
    const { name, url } = typeof selector === "string" ? { name: selector } : selector;
    const matches = urlMatcher(url);
    return this.frames().find((frame) => (name !== undefined ? frame.name() === name : matches(frame.url()))) ?? null;
  }
  viewportSize() {
    return query("viewport", { page: this[ID] });
  }
  async setViewportSize({ width, height }: { width: number; height: number }) {
    await call("page.setViewportSize", "resize", { page: this[ID], width, height });
  }
  async emulateMedia(given?: Options) {
    const media = options("page.emulateMedia", given, "media", "colorScheme", "reducedMotion", "forcedColors", "contrast");
    await call("page.emulateMedia", "emulateMedia", { page: this[ID], media });
  }
  async addInitScript(code: unknown, ...args: unknown[]) {
    await call("page.addInitScript", "addInitScript", { page: this[ID], script: initScript("page.addInitScript", code, args) });
  }
  async setExtraHTTPHeaders(headers: Record<string, string>) {
    await call("page.setExtraHTTPHeaders", "setExtraHeaders", { page: this[ID], headers: Object.entries(headers) });
  }
  async bringToFront() {
    await call("page.bringToFront", "activate", { page: this[ID] });
  }
  async close(given?: Options) {
    options("page.close", given, "runBeforeUnload", "reason");
    await call("page.close", "close", { page: this[ID] });
  }
  async screenshot(given?: Options) {
    const parameters = { page: this[ID], timeout: this[TIMEOUTS].action, ...options("page.screenshot", given, ...SCREENSHOT) };
    return Buffer.from(await call("page.screenshot", "screenshot", parameters), "base64");
  }
  async pdf(given?: Options) {
    return Buffer.from(await call("page.pdf", "pdf", { page: this[ID], ...options("page.pdf", given, ...PDF) }), "base64");
  }
  async pause() {
    await pause("page.pause");
  }
  setDefaultTimeout(ms: number) {
    this[TIMEOUTS] = { action: ms, navigation: ms };
  }
  setDefaultNavigationTimeout(ms: number) {
    this[TIMEOUTS] = { ...this[TIMEOUTS], navigation: ms };
  }
  async waitForRequest(pattern: Matching<Request>, given?: Options): Promise<Request> {
    return this[WAIT]("waitForRequest", "request", given, subjectMatcher(pattern));
  }
  async waitForResponse(pattern: Matching<Response>, given?: Options): Promise<Response> {
    return this[WAIT]("waitForResponse", "response", given, subjectMatcher(pattern));
  }
  async waitForNavigation(given?: Options) {
    const { url, waitUntil, timeout } = options("page.waitForNavigation", given, "timeout", "url", "waitUntil");
    const matches = urlMatcher(url);
    const main = this.mainFrame()[ID];
    const limit = timeout ?? this[TIMEOUTS].navigation;
    const isMain = (frame: Frame) => frame[ID] === main && matches(frame.url());
    await this[WAIT]("waitForNavigation", "framenavigated", { timeout: limit }, isMain);
    await this.waitForLoadState(waitUntil, { timeout });
    return null;
  }
  toJSON() {
    return { _type: "Page", _guid: `page@${this[ID]}` };
  }
}
mix(Page, DOCUMENT);
mix(Page, FINDERS);
mix(Page, EMITTER);
mix(Page, ROUTER);
offer(Page, "page");

export interface Frame extends DocumentMethods, Finders {}
export class Frame {
  readonly [PAGE]: Page;
  #facts: FrameFacts;
  constructor(page: Page, facts: FrameFacts) {
    this[PAGE] = page;
    this.#facts = facts;
  }
  [UPDATE](facts: FrameFacts) {
    this.#facts = facts;
    return this;
  }
  get [ID]() {
    return this.#facts.id;
  }
  get [SCOPE]() {
    return { page: this[PAGE], frame: this.#facts.parent === null ? undefined : this[ID] };
  }
  get [NAME]() {
    return "frame";
  }
  url(): string {
    const current = this[PAGE].frames().find((frame) => frame[ID] === this[ID]) ?? this;
    return current.#facts.url;
  }
  name() {
    return this.#facts.name;
  }
  page() {
    return this[PAGE];
  }
  isDetached() {
    return !this[PAGE].frames().some((frame) => frame[ID] === this[ID]);
  }
  parentFrame() {
    return this[PAGE].frames().find((frame) => frame[ID] === this.#facts.parent) ?? null;
  }
  childFrames() {
    return this[PAGE].frames().filter((frame) => frame.#facts.parent === this[ID]);
  }
  async goto(url: unknown, given?: Options) {
    if (this[SCOPE].frame === undefined) return this[PAGE].goto(url, given);
    throw new Error("frame.goto is not supported by browser_run_code_unsafe for frames inside the page; see docs/run-code.md");
  }
  toJSON() {
    return { _type: "Frame", _guid: `frame@${this[ID]}` };
  }
}
mix(Frame, DOCUMENT);
mix(Frame, FINDERS);
offer(Frame, "frame");
