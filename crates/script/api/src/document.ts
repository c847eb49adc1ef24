// The methods that pages and frames share.

import { call, sleep, TimeoutError } from "./calls";
import * as inPage from "./in_page";
import { Locator, returned } from "./locator";
import { type UrlPattern, urlMatcher } from "./matching";
import { methods, type Options, options } from "./offer";
import type { Page } from "./page";
import { type Finders, quote } from "./selectors";
import { script } from "./source";
import { ALL, FIND, ID, NAME, SCOPE, RUN, SHORTCUT, TIMEOUTS, WAIT_FOR_STATE } from "./symbols";

const LOADS: Record<string, string> = {
  commit: "committed",
  domcontentloaded: "domContentLoaded",
  load: "loaded",
  networkidle: "networkIdle",
};

/** Returns the name of a load state in the server's protocol. */
export const loadState = (api: string, state = "load") => {
  if (Object.hasOwn(LOADS, state)) return LOADS[state];
  throw new Error(`${api}: state: expected one of (load|domcontentloaded|networkidle|commit)`);
};

const POLL_INTERVAL = 50;

/** Evaluates a condition repeatedly until its value is truthy, and returns the value. The timeout is `limit` ms; 0 means no timeout. */
const poll = async <T>(api: string, limit: number, what: string, condition: () => T): Promise<NonNullable<Awaited<T>>> => {
  const end = limit > 0 ? Date.now() + limit : Number.POSITIVE_INFINITY;
  for (;;) {
    const found = await condition();
    if (found) return found;
    if (Date.now() >= end) throw new TimeoutError(`${api}: Timeout ${limit}ms exceeded.${what ? `\nCall log:\n  - ${what}` : ""}`);
    await sleep(POLL_INTERVAL);
  }
};

interface Target extends Finders {
  /** The page and the frame in which expressions are evaluated. The main frame is undefined. */
  readonly [SCOPE]: { page: Page; frame: string | undefined };
  /** The prefix of error messages. */
  readonly [NAME]: string;
  url(): string;
}

export const DOCUMENT = methods<Target>()({
  [FIND](step: string): Locator {
    return new Locator(this[SCOPE].page, step, this[SCOPE].frame);
  },
  async evaluate(code: unknown, ...args: unknown[]): Promise<any> {
    const [first] = args;
    // The function in the page receives the element of a locator that `$` returned.
    if (args.length === 1 && first instanceof Locator) return first[RUN]("evaluate", code, []);
    const { page, frame } = this[SCOPE];
    const api = `${this[NAME]}.evaluate`;
    return returned(await call(api, "evaluatePage", { page: page[ID], frame, script: script(api, code, args) }));
  },
  async content(): Promise<string> {
    return this.evaluate(inPage.content);
  },
  async setContent(html: string, given?: Options): Promise<void> {
    options(`${this[NAME]}.setContent`, given, "timeout", "waitUntil");
    await this.evaluate(inPage.writeDocument, html);
    await this.waitForLoadState(given?.waitUntil, given);
  },
  async title(): Promise<string> {
    return this.evaluate(inPage.title);
  },
  async waitForTimeout(ms: number): Promise<void> {
    await sleep(ms);
  },
  async waitForSelector(selector: string, given?: Options): Promise<Locator | null> {
    const found = this[SHORTCUT](selector);
    await found[WAIT_FOR_STATE]("waitForSelector", given);
    return ["hidden", "detached"].includes(given?.state) ? null : found;
  },
  async waitForFunction(code: unknown, ...rest: [unknown?, Options?]): Promise<{ jsonValue(): Promise<any> }> {
    const api = `${this[NAME]}.waitForFunction`;
    const [arg, given] = rest;
    const { timeout } = options(api, given, "polling", "timeout");
    const { page, frame } = this[SCOPE];
    const text = script(api, code, rest.length ? [arg] : []);
    const found = await poll(api, timeout ?? page[TIMEOUTS].action, "", async () => {
      const answer = returned(await call(api, "evaluatePage", { page: page[ID], frame, script: text, patient: true }));
      return answer && { answer };
    });
    return { jsonValue: async () => found.answer };
  },
  async waitForURL(wanted: UrlPattern, given?: Options): Promise<void> {
    const api = `${this[NAME]}.waitForURL`;
    const { timeout, waitUntil } = options(api, given, "timeout", "waitUntil");
    const matches = urlMatcher(wanted);
    const limit = timeout ?? this[SCOPE].page[TIMEOUTS].navigation;
    await poll(api, limit, `waiting for navigation to "${wanted}" until "${waitUntil ?? "load"}"`, () => matches(this.url()));
    await this.waitForLoadState(waitUntil, { timeout });
  },
  async waitForLoadState(state?: string, given?: Options): Promise<void> {
    const api = `${this[NAME]}.waitForLoadState`;
    const { page } = this[SCOPE];
    const limit = given?.timeout ?? page[TIMEOUTS].navigation;
    await call(api, "waitForLoad", { page: page[ID], until: loadState(api, state), timeout: limit });
  },
  async addScriptTag(given?: Options): Promise<void> {
    const { content, type, url } = options(`${this[NAME]}.addScriptTag`, given, "content", "type", "url");
    await this.evaluate(inPage.addTag, { tag: "script", content, address: { src: url }, type });
  },
  async addStyleTag(given?: Options): Promise<void> {
    const { content, url } = options(`${this[NAME]}.addStyleTag`, given, "content", "url");
    await this.evaluate(inPage.addTag, { tag: url ? "link" : "style", content, address: { href: url, rel: "stylesheet" } });
  },
  async $(selector: string): Promise<Locator | null> {
    const all = this.locator(selector);
    return (await all.count()) ? all.first() : null;
  },
  async $$(selector: string): Promise<Locator[]> {
    return this.locator(selector).all();
  },
  async $eval(selector: string, code: unknown, ...args: unknown[]): Promise<any> {
    return this[SHORTCUT](selector)[RUN]("$eval", code, args);
  },
  async $$eval(selector: string, code: unknown, ...args: unknown[]): Promise<any> {
    return this[SHORTCUT](selector, false)[ALL]("$$eval", code, args);
  },
  async dragAndDrop(from: string, to: string, given?: Options): Promise<void> {
    await this[SHORTCUT](from).dragTo(this[SHORTCUT](to), given);
  },
  [SHORTCUT](selector: string, one = true): Locator {
    return new Locator(this[SCOPE].page, `locator(${quote(selector)})${one ? ".first()" : ""}`, this[SCOPE].frame, this[NAME]);
  },
});
export type DocumentMethods = typeof DOCUMENT;

/** The methods of locators that pages and frames also have, with a selector as the first parameter. */
const SHORTCUTS = [
  "blur",
  "check",
  "clear",
  "click",
  "dblclick",
  "dispatchEvent",
  "fill",
  "focus",
  "getAttribute",
  "hover",
  "innerHTML",
  "innerText",
  "inputValue",
  "isChecked",
  "isDisabled",
  "isEditable",
  "isEnabled",
  "isHidden",
  "isVisible",
  "press",
  "selectOption",
  "setChecked",
  "setInputFiles",
  "textContent",
  "type",
  "uncheck",
] as const;
for (const name of SHORTCUTS) {
  const shortcut = async function (this: DocumentMethods, selector: string, ...args: unknown[]) {
    const locator: Record<string, any> = this[SHORTCUT](selector);
    return locator[name](...args);
  };
  Object.assign(DOCUMENT, { [name]: shortcut });
}
