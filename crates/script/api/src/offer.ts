// What objects offer to code. Whatever else code uses of them is an error that names it, not `undefined`.

/** What a client writes: options are checked by name, and their values by the server. */
export type Options = Record<string, any>;

type Type = { prototype: object };

/** What the language and its tools look for in any object. */
const PROBED = new Set(["then", "toJSON", "nodeType", "asymmetricMatch"]);
const ALTERNATIVES: Record<string, string> = {
  accessibility: "browser_snapshot shows the page",
  ariaSnapshot: "browser_snapshot shows the page",
  clock: "page.addInitScript can replace Date",
  evaluateHandle: "page.$ gives a locator, which page.evaluate takes",
  exposeBinding: 'page.on("console") hears what the page says',
  exposeFunction: 'page.on("console") hears what the page says',
  pause: "use page.waitForTimeout",
  request: "use page.evaluate(() => fetch(…))",
};

const offered: [string, Type][] = [];

/** Offers the methods and properties of a class under a name. */
export const offer = (type: Type, name: string) => {
  const missing = new Proxy(Object.prototype, {
    get(target, key) {
      if (typeof key === "symbol" || key in target || PROBED.has(key)) return Reflect.get(target, key);
      const alternative = Object.hasOwn(ALTERNATIVES, key) ? `${ALTERNATIVES[key]}, and ` : "";
      throw new Error(`${name}.${key} is not supported by browser_run_code_unsafe; ${alternative}see docs/run-code.md`);
    },
  });
  Object.setPrototypeOf(type.prototype, missing);
  offered.push([name, type]);
};

/** The objects and the names that each offers, both sorted. */
export const surface = () =>
  offered
    .map(([name, type]): [string, string[]] => {
      const names = Object.getOwnPropertyNames(type.prototype).filter((key) => key !== "constructor" && key !== "toJSON");
      return [name, names.sort()];
    })
    .sort(([one], [other]) => (one < other ? -1 : 1));

/** Adds methods that several classes share. */
export const mix = (type: Type, shared: object) => Object.defineProperties(type.prototype, Object.getOwnPropertyDescriptors(shared));

/** Methods for `mix`. `This` is what they need of the class. */
export const methods =
  <This>() =>
  <M>(shared: M & ThisType<M & This>): M =>
    shared;

/** Options that change nothing here. */
const IGNORED_OPTIONS = new Set(["noWaitAfter", "strict", "signal", "animations", "caret", "mask", "maskColor", "style", "steps"]);

/** The given options, if all of them are known. */
export const options = (api: string, given: Options | undefined, ...known: string[]): Options => {
  const taken: Options = {};
  for (const [key, value] of Object.entries(given ?? {})) {
    if (value === undefined || IGNORED_OPTIONS.has(key)) continue;
    if (!known.includes(key)) {
      throw new Error(`${api}: the option "${key}" is not supported by browser_run_code_unsafe; see docs/run-code.md`);
    }
    taken[key] = value;
  }
  return taken;
};
