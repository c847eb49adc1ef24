// The supported members of the objects of the API. Accessing another member throws an error with its name instead of returning `undefined`.

/** Options that code passes. The API checks their names, the server their values. */
export type Options = Record<string, any>;

type Type = { prototype: object };

/** Members that the language and test frameworks read from any object. */
const PROBED = new Set(["then", "toJSON", "nodeType", "asymmetricMatch"]);
const ALTERNATIVES: Record<string, string> = {
  accessibility: "browser_snapshot shows the page",
  ariaSnapshot: "browser_snapshot shows the page",
  clock: "page.addInitScript can replace Date",
  evaluateHandle: "page.$ returns a locator, which page.evaluate accepts",
  exposeBinding: 'page.on("console") receives the console messages of the page',
  exposeFunction: 'page.on("console") receives the console messages of the page',
  request: "use page.evaluate(() => fetch(…))",
};

const offered: [string, Type][] = [];

/** Declares the members of a class as supported. `name` is the name of the object in error messages. */
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

/** Returns the names of the objects with the names of their supported members, both sorted. */
export const surface = () =>
  offered
    .map(([name, type]): [string, string[]] => {
      const names = Object.getOwnPropertyNames(type.prototype).filter((key) => key !== "constructor" && key !== "toJSON");
      return [name, names.sort()];
    })
    .sort(([one], [other]) => (one < other ? -1 : 1));

/** Adds shared methods to a class. */
export const mix = (type: Type, shared: object) => Object.defineProperties(type.prototype, Object.getOwnPropertyDescriptors(shared));

/** Returns methods for `mix`. `This` has the members of the class that the methods use. */
export const methods =
  <This>() =>
  <M>(shared: M & ThisType<M & This>): M =>
    shared;

/** The options that have no effect. */
const IGNORED_OPTIONS = new Set(["noWaitAfter", "strict", "signal", "animations", "caret", "mask", "maskColor", "style", "steps"]);

/** Returns the options that have an effect. Throws an error if an option is not supported. */
export const options = (api: string, given: Options | undefined, ...known: string[]): Options => {
  const effective: Options = {};
  for (const [key, value] of Object.entries(given ?? {})) {
    if (value === undefined || IGNORED_OPTIONS.has(key)) continue;
    if (!known.includes(key)) {
      throw new Error(`${api}: the option "${key}" is not supported by browser_run_code_unsafe; see docs/run-code.md`);
    }
    effective[key] = value;
  }
  return effective;
};
