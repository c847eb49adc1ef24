// The source text of functions and values, for scripts that run in the page.

import { Buffer } from "./bytes";
import { json } from "./calls";
import type { Locator } from "./locator";
import { API } from "./symbols";
import { URL } from "./url";

/** Returns whether a value is a locator. Only locators have `[API]`; importing the class would be a circular import. */
export const isLocator = (value: unknown): value is Locator => typeof value === "object" && value !== null && API in value;

const TOO_MANY_ARGUMENTS = "Too many arguments. If you need to pass more than 1 argument to the function wrap them in an object.";

/** Returns the source text of a value. `ancestors` are the objects that contain it. */
export const source = (value: any, ancestors: unknown[] = []): string => {
  if (value === undefined || typeof value === "function" || typeof value === "symbol") return "undefined";
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (typeof value !== "object" || value === null) return json(value) as string;
  if (value instanceof Date) return `new Date(${value.getTime()})`;
  if (value instanceof RegExp) return String(value);
  if (value instanceof URL) return `new URL(${json(value.href)})`;
  if (value instanceof Error) return `Object.assign(new Error(${json(value.message)}), { name: ${json(value.name)} })`;
  if (isLocator(value)) {
    throw new Error("an element must be the whole argument; use page.evaluate(fn, element) or locator.evaluate");
  }
  if (ancestors.includes(value)) throw new Error("an argument for the page must not contain a circular reference");
  const path = [...ancestors, value];
  if (value instanceof Map) return `new Map(${source([...value], path)})`;
  if (value instanceof Set) return `new Set(${source([...value], path)})`;
  if (ArrayBuffer.isView(value)) {
    const type = value instanceof Buffer ? "Uint8Array" : value.constructor.name;
    return `new ${type}([${Array.from(value as Uint8Array)}])`;
  }
  if (Array.isArray(value)) return `[${value.map((item) => source(item, path)).join(", ")}]`;
  if (typeof value.toJSON === "function") return source(value.toJSON(), path);
  return `{ ${Object.entries(value)
    .map(([key, item]) => `[${json(key)}]: ${source(item, path)}`)
    .join(", ")} }`;
};

/**
 * Returns the source text of a function that calls the code with its argument. `subject` is the name of the first parameter, if the
 * function has one.
 */
export const script = (api: string, code: unknown, args: unknown[], subject = "") => {
  if (args.length > 1) throw new Error(`${api}: ${TOO_MANY_ARGUMENTS}`);
  const text = String(code);
  if (typeof code !== "function" && args.length === 0 && !subject) return text;
  const called = functionExpression(typeof code === "function" ? text : `(${text})`);
  const parameters = [subject, ...args.map((arg) => source(arg))].filter(Boolean).join(", ");
  return `(${subject}) => (${called})(${parameters})`;
};

/** Returns the source text of an init script, which is a function with its argument, a text, or `{ content }`. */
export const initScript = (api: string, code: any, args: unknown[]): string => {
  const text = typeof code === "function" ? `(${script(api, code, args)})()` : (code?.content ?? code);
  if (typeof text !== "string") throw new Error(`${api}: expected a function, a string or { content }`);
  return text;
};

/** Returns the source text of a function as an expression. The text of a method, such as `name() {}`, is not one. */
const functionExpression = (text: string) => {
  if (/^(async\s+)?(function\b|class\b|\(|[\w$]+\s*=>)/.test(text) || text.startsWith("(")) return text;
  return /^async\s/.test(text) ? text.replace(/^async\s+/, "async function ") : `function ${text}`;
};
