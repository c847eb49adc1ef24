// Locators and frame locators.

import { Buffer, contentBase64 } from "./bytes";
import { call } from "./calls";
import * as inPage from "./in_page";
import { mix, type Options, offer, options } from "./offer";
import type { Page } from "./page";
import { FINDERS, type Finders, filterConditions } from "./selectors";
import { script } from "./source";
import { ALL, API, DO, EXPRESSION, FIND, FRAME, ID, OPTIONS, PAGE, RUN, TIMEOUTS, WAIT_FOR_STATE } from "./symbols";

const CLICK = ["button", "clickCount", "delay", "force", "modifiers", "position", "timeout"];
export const SCREENSHOT = ["clip", "fullPage", "omitBackground", "path", "quality", "scale", "timeout", "type"];

/** Returns the result of a function in the page; null stands for `undefined`, which JSON cannot represent. */
export const returned = (answer: { value: unknown } | null): any => (answer === null ? undefined : answer.value);

export interface Locator extends Finders {}
export class Locator {
  // The bundler renames classes that refer to themselves.
  static readonly name = "Locator";
  readonly [PAGE]: Page;
  readonly [EXPRESSION]: string;
  readonly [FRAME]: string | undefined;
  readonly [API]: string;
  /** Creates a locator. `frame` is the id of the frame of the expression, if it is not the main frame. Error messages begin with `api`. */
  constructor(page: Page, expression: string, frame: string | undefined, api = "locator") {
    this[PAGE] = page;
    this[EXPRESSION] = expression;
    this[FRAME] = frame;
    this[API] = api;
  }
  [FIND](step: string) {
    return new Locator(this[PAGE], `${this[EXPRESSION]}.${step}`, this[FRAME]);
  }
  [DO](name: string, op: string, parameters?: object) {
    const target = { page: this[PAGE][ID], frame: this[FRAME], locator: this[EXPRESSION] };
    return call(`${this[API]}.${name}`, op, { ...target, timeout: this[PAGE][TIMEOUTS].action, ...parameters });
  }
  [OPTIONS](name: string, given: Options | undefined, ...known: string[]) {
    return options(`${this[API]}.${name}`, given, ...known);
  }

  filter(given?: Options): Locator {
    const conditions = filterConditions(given);
    return conditions ? this[FIND](`filter(${conditions})`) : this;
  }
  first() {
    return this[FIND]("first()");
  }
  last() {
    return this[FIND]("last()");
  }
  nth(index: number) {
    return this[FIND](`nth(${Number(index)})`);
  }
  and(other: Locator) {
    return this[FIND](`and(${other[EXPRESSION]})`);
  }
  or(other: Locator) {
    return this[FIND](`or(${other[EXPRESSION]})`);
  }
  contentFrame() {
    return new FrameLocator(this);
  }
  page() {
    return this[PAGE];
  }
  describe() {
    return this;
  }

  async click(given?: Options) {
    await this[DO]("click", "click", this[OPTIONS]("click", given, ...CLICK));
  }
  async dblclick(given?: Options) {
    await this[DO]("dblclick", "click", { ...this[OPTIONS]("dblclick", given, ...CLICK), clickCount: 2 });
  }
  async hover(given?: Options) {
    await this[DO]("hover", "hover", this[OPTIONS]("hover", given, "force", "modifiers", "position", "timeout"));
  }
  async fill(value: unknown, given?: Options) {
    if (typeof value !== "string") throw new Error(`${this[API]}.fill: value: expected string, got ${typeof value}`);
    await this[DO]("fill", "fill", { value, ...this[OPTIONS]("fill", given, "timeout", "force") });
  }
  async clear(given?: Options) {
    await this[DO]("clear", "fill", { value: "", ...this[OPTIONS]("clear", given, "timeout", "force") });
  }
  async pressSequentially(text: unknown, given?: Options) {
    await this[DO]("pressSequentially", "type", { text: String(text), ...this[OPTIONS]("pressSequentially", given, "delay", "timeout") });
  }
  async type(text: unknown, given?: Options) {
    await this[DO]("type", "type", { text: String(text), ...this[OPTIONS]("type", given, "delay", "timeout") });
  }
  async press(key: unknown, given?: Options) {
    await this[DO]("press", "press", { key: String(key), ...this[OPTIONS]("press", given, "delay", "timeout") });
  }
  async focus(given?: Options) {
    await this[DO]("focus", "focus", this[OPTIONS]("focus", given, "timeout"));
  }
  async blur(given?: Options) {
    await this[RUN]("blur", inPage.blur, [], given);
  }
  async check(given?: Options) {
    await this.#check("check", true, given);
  }
  async uncheck(given?: Options) {
    await this.#check("uncheck", false, given);
  }
  async setChecked(checked: unknown, given?: Options) {
    await this.#check("setChecked", Boolean(checked), given);
  }
  #check(name: string, checked: boolean, given?: Options) {
    return this[DO](name, "setChecked", { checked, ...this[OPTIONS](name, given, "timeout", "force") });
  }
  async selectOption(values: unknown, given?: Options) {
    const named: (string | number)[] = [values ?? []].flat().map((value: any) => {
      if (typeof value === "string") return value;
      const { value: byValue, label, index } = value ?? {};
      const name = byValue ?? label ?? index;
      if (name === undefined) {
        throw new Error(`${this[API]}.selectOption: an option is named by a string, { value }, { label } or { index }`);
      }
      return name;
    });
    if (named.some((name) => typeof name === "number")) {
      const count = await this[RUN]("selectOption", inPage.optionCount, [], given);
      for (const [at, name] of named.entries()) {
        if (typeof name !== "number") continue;
        if (!(name in Array(count).fill(0))) throw new Error(`${this[API]}.selectOption: there is no option of index ${name}`);
        named[at] = await this[RUN]("selectOption", inPage.optionValue, [name], given);
      }
    }
    return this[DO]("selectOption", "selectOptions", { values: named, ...this[OPTIONS]("selectOption", given, "timeout", "force") });
  }
  async setInputFiles(files: unknown, given?: Options) {
    const paths: any[] = [files].flat();
    if (paths.every((file) => typeof file === "object" && file?.name !== undefined)) {
      const contents = paths.map(({ name, mimeType, buffer }) => ({
        name: String(name),
        type: mimeType ?? "",
        data: contentBase64(buffer),
      }));
      return this[RUN]("setInputFiles", inPage.setFiles, [contents], given);
    }
    if (!paths.every((file) => typeof file === "string")) {
      throw new Error(`${this[API]}.setInputFiles: files are all paths, or all { name, mimeType, buffer }`);
    }
    await this[DO]("setInputFiles", "setInputFiles", { paths, ...this[OPTIONS]("setInputFiles", given, "timeout") });
  }
  async dragTo(target: Locator, given?: Options) {
    await this[DO]("dragTo", "dragTo", { target: target[EXPRESSION], ...this[OPTIONS]("dragTo", given, "timeout") });
  }
  async selectText(given?: Options) {
    await this[RUN]("selectText", inPage.selectText, [], given);
  }
  async scrollIntoViewIfNeeded(given?: Options) {
    await this[DO]("scrollIntoViewIfNeeded", "scrollIntoView", this[OPTIONS]("scrollIntoViewIfNeeded", given, "timeout"));
  }
  async dispatchEvent(type: string, init?: object, given?: Options) {
    await this[RUN]("dispatchEvent", inPage.dispatchEvent, [[type, init ?? {}]], given);
  }
  async waitFor(given?: Options) {
    await this[WAIT_FOR_STATE]("waitFor", given);
  }
  [WAIT_FOR_STATE](name: string, given?: Options) {
    return this[DO](name, "waitFor", this[OPTIONS](name, given, "state", "timeout"));
  }
  async screenshot(given?: Options) {
    return Buffer.from(await this[DO]("screenshot", "screenshot", this[OPTIONS]("screenshot", given, ...SCREENSHOT)), "base64");
  }

  async textContent(given?: Options) {
    return this[DO]("textContent", "text", this[OPTIONS]("textContent", given, "timeout"));
  }
  async innerText(given?: Options) {
    return this[DO]("innerText", "innerText", this[OPTIONS]("innerText", given, "timeout"));
  }
  async innerHTML(given?: Options) {
    return this[RUN]("innerHTML", inPage.innerHTML, [], given);
  }
  async inputValue(given?: Options) {
    return this[DO]("inputValue", "value", this[OPTIONS]("inputValue", given, "timeout"));
  }
  async getAttribute(name: unknown, given?: Options) {
    return this[DO]("getAttribute", "attribute", { name: String(name), ...this[OPTIONS]("getAttribute", given, "timeout") });
  }
  async isVisible() {
    return this[DO]("isVisible", "isVisible");
  }
  async isHidden() {
    return !(await this[DO]("isHidden", "isVisible"));
  }
  async isEnabled(given?: Options) {
    return (await this[DO]("isEnabled", "states", this[OPTIONS]("isEnabled", given, "timeout"))).enabled;
  }
  async isDisabled(given?: Options) {
    return !(await this[DO]("isDisabled", "states", this[OPTIONS]("isDisabled", given, "timeout"))).enabled;
  }
  async isChecked(given?: Options) {
    const { checked } = await this[DO]("isChecked", "states", this[OPTIONS]("isChecked", given, "timeout"));
    if (checked === null) throw new Error(`${this[API]}.isChecked: Not a checkbox or radio button`);
    return checked;
  }
  async isEditable(given?: Options) {
    const { editable } = await this[DO]("isEditable", "states", this[OPTIONS]("isEditable", given, "timeout"));
    return Boolean(editable);
  }
  async count(): Promise<number> {
    return this[DO]("count", "count");
  }
  async $(selector: string) {
    const inside = this.locator(selector);
    return (await inside.count()) ? inside.first() : null;
  }
  async $$(selector: string) {
    return this.locator(selector).all();
  }
  async $eval(selector: string, code: unknown, ...args: unknown[]) {
    return this.locator(selector).first()[RUN]("$eval", code, args);
  }
  async $$eval(selector: string, code: unknown, ...args: unknown[]) {
    return this.locator(selector)[ALL]("$$eval", code, args);
  }
  async elementHandle() {
    return this;
  }
  async elementHandles() {
    return this.all();
  }
  async all() {
    const count = await this[DO]("all", "count");
    return Array.from({ length: count }, (_, index) => this.nth(index));
  }
  async allTextContents() {
    return this[ALL]("allTextContents", inPage.textContents, []);
  }
  async allInnerTexts() {
    return this[ALL]("allInnerTexts", inPage.innerTexts, []);
  }
  async boundingBox(given?: Options) {
    return this[DO]("boundingBox", "bounds", this[OPTIONS]("boundingBox", given, "timeout"));
  }
  async evaluate(code: unknown, ...args: unknown[]) {
    return this[RUN]("evaluate", code, args);
  }
  async evaluateAll(code: unknown, ...args: unknown[]) {
    return this[ALL]("evaluateAll", code, args);
  }
  /** Calls a function in the page with the element. */
  [RUN](name: string, code: unknown, args: unknown[], given?: Options): Promise<any> {
    const text = script(`${this[API]}.${name}`, code, args, "element");
    return this[DO](name, "evaluate", { script: text, ...this[OPTIONS](name, given, "timeout") }).then(returned);
  }
  /** Calls a function in the page with an array of all matching elements. */
  [ALL](name: string, code: unknown, args: unknown[]): Promise<any> {
    return this[DO](name, "evaluateAll", { script: script(`${this[API]}.${name}`, code, args, "elements") }).then(returned);
  }

  toString() {
    return this[EXPRESSION];
  }
  toJSON() {
    return { _apiName: "Locator", _selector: this[EXPRESSION] };
  }
}
mix(Locator, FINDERS);
offer(Locator, "locator");

export interface FrameLocator extends Finders {}
export class FrameLocator {
  readonly [PAGE]: Page;
  readonly [EXPRESSION]: string;
  readonly [FRAME]: string | undefined;
  constructor(owner: Locator) {
    this[PAGE] = owner[PAGE];
    this[EXPRESSION] = owner[EXPRESSION];
    this[FRAME] = owner[FRAME];
  }
  [FIND](step: string) {
    return new Locator(this[PAGE], `${this[EXPRESSION]}.contentFrame().${step}`, this[FRAME]);
  }
  owner() {
    return new Locator(this[PAGE], this[EXPRESSION], this[FRAME]);
  }
  first(): FrameLocator {
    return this.owner().first().contentFrame();
  }
  last(): FrameLocator {
    return this.owner().last().contentFrame();
  }
  nth(index: number): FrameLocator {
    return this.owner().nth(index).contentFrame();
  }
}
mix(FrameLocator, FINDERS);
offer(FrameLocator, "frameLocator");
