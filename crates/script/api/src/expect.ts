// Assertions about pages and locators that wait until they hold, as those of Playwright Test.

import { sleep } from "./calls";
import * as inPage from "./in_page";
import { Locator } from "./locator";
import { urlMatcher } from "./matching";
import { type Options, offer, options } from "./offer";
import { Page } from "./page";
import { EXPRESSION, IS_NEGATED, RUN, SUBJECT } from "./symbols";

/** The timeout of an assertion without one, and the pause before the next attempt, in ms. */
const TIMEOUT = 5000;
const POLL_INTERVAL = 50;
/** The least time for reading a state, in ms: a failure then says what was read. */
const MIN_READ_TIMEOUT = 500;

const shown = (value: unknown) => (value instanceof RegExp ? String(value) : JSON.stringify(value));

/** Returns whether a text is the expected one, or matches the pattern. */
const isMatch = (text: string, expected: unknown) =>
  expected instanceof RegExp ? new RegExp(expected.source, expected.flags.replace(/[gy]/g, "")).test(text) : text === String(expected);

/** Reads a state until it is the expected one. `read` receives the time that is left, in ms. */
const match = async <S>(
  api: string,
  isNegated: boolean,
  given: Options | undefined,
  read: (left: number) => Promise<S> | S,
  test: (state: S) => boolean,
) => {
  const timeout = Number(options(api, given, "timeout").timeout ?? TIMEOUT);
  const end = Date.now() + timeout;
  for (;;) {
    const state = await read(Math.max(end - Date.now(), MIN_READ_TIMEOUT));
    if (test(state) !== isNegated) return;
    if (Date.now() + POLL_INTERVAL >= end) throw new Error(`${api}: Timeout ${timeout}ms exceeded.\nReceived: ${shown(state)}`);
    await sleep(POLL_INTERVAL);
  }
};

const apiName = (subject: string, isNegated: boolean, matcher: string) => `expect(${subject})${isNegated ? ".not" : ""}.${matcher}`;

class LocatorAssertions {
  readonly [SUBJECT]: Locator;
  readonly [IS_NEGATED]: boolean;
  constructor(subject: Locator, isNegated: boolean) {
    this[SUBJECT] = subject;
    this[IS_NEGATED] = isNegated;
  }
  get not() {
    return new LocatorAssertions(this[SUBJECT], !this[IS_NEGATED]);
  }
  async toBeVisible(given?: Options) {
    await this.#match("toBeVisible", given, () => this[SUBJECT].isVisible(), Boolean);
  }
  async toBeChecked(given?: Options) {
    await this.#match("toBeChecked", given, (timeout) => this[SUBJECT].isChecked({ timeout }), Boolean);
  }
  async toHaveValue(value: unknown, given?: Options) {
    const test = (state: string) => isMatch(state, value);
    await this.#match(`toHaveValue(${shown(value)})`, given, (timeout) => this[SUBJECT].inputValue({ timeout }), test);
  }
  async toBeEmpty(given?: Options) {
    const read = (timeout: number) => this[SUBJECT][RUN]("toBeEmpty", inPage.valueOrText, [], { timeout });
    await this.#match("toBeEmpty", given, read, (state) => !state);
  }
  async #match<S>(matcher: string, given: Options | undefined, read: (left: number) => Promise<S>, test: (state: S) => boolean) {
    const api = apiName(this[SUBJECT][EXPRESSION], this[IS_NEGATED], matcher);
    await match(api, this[IS_NEGATED], given, read, test);
  }
}
offer(LocatorAssertions, "expect(locator)");

class PageAssertions {
  readonly [SUBJECT]: Page;
  readonly [IS_NEGATED]: boolean;
  constructor(subject: Page, isNegated: boolean) {
    this[SUBJECT] = subject;
    this[IS_NEGATED] = isNegated;
  }
  get not() {
    return new PageAssertions(this[SUBJECT], !this[IS_NEGATED]);
  }
  async toHaveURL(url: string | RegExp | ((url: any) => boolean), given?: Options) {
    const api = apiName("page", this[IS_NEGATED], `toHaveURL(${shown(url)})`);
    await match(api, this[IS_NEGATED], given, () => this[SUBJECT].url(), urlMatcher(url));
  }
}
offer(PageAssertions, "expect(page)");

/** Returns the assertions about a page or a locator. */
export const expect = (subject: unknown) => {
  if (subject instanceof Locator) return new LocatorAssertions(subject, false);
  if (subject instanceof Page) return new PageAssertions(subject, false);
  throw new Error("expect: expected a page or a locator; to check a value, throw an error");
};
