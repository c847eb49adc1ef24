// Functions and values as source text, for code that runs in the page.

import { Buffer } from "./bytes";
import { json } from "./calls";
import type { Locator } from "./locator";
import { API } from "./symbols";
import { URL } from "./url";

/** Whether a value is a locator. This file cannot import the class, which needs this file; only locators have an `[API]`. */
export const isLocator = (value: unknown): value is Locator => typeof value === "object" && value !== null && API in value;

const TOO_MANY_ARGUMENTS = "Too many arguments. If you need to pass more than 1 argument to the function wrap them in an object.";

/** A value as source text. */
export const source = (value: any, above: unknown[] = []): string => {
  if (value === undefined || typeof value === "function" || typeof value === "symbol") return "undefined";
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (typeof value !== "object" || value === null) return json(value) as string;
  if (value instanceof Date) return `new Date(${value.getTime()})`;
  if (value instanceof RegExp) return String(value);
  if (value instanceof URL) return `new URL(${json(value.href)})`;
  if (value instanceof Error) return `Object.assign(new Error(${json(value.message)}), { name: ${json(value.name)} })`;
  if (isLocator(value)) {
    throw new Error("an element goes to the page by itself only: page.evaluate(fn, element), or locator.evaluate");
  }
  if (above.includes(value)) throw new Error("an argument for the page may not contain itself");
  const inside = [...above, value];
  if (value instanceof Map) return `new Map(${source([...value], inside)})`;
  if (value instanceof Set) return `new Set(${source([...value], inside)})`;
  if (ArrayBuffer.isView(value)) {
    const type = value instanceof Buffer ? "Uint8Array" : value.constructor.name;
    return `new ${type}([${Array.from(value as Uint8Array)}])`;
  }
  if (Array.isArray(value)) return `[${value.map((item) => source(item, inside)).join(", ")}]`;
  if (typeof value.toJSON === "function") return source(value.toJSON(), inside);
  return `{ ${Object.entries(value)
    .map(([key, item]) => `[${json(key)}]: ${source(item, inside)}`)
    .join(", ")} }`;
};

/** A function or expression with its argument, as one that takes `subject` first if there is one. */
export const script = (api: string, code: unknown, args: unknown[], subject = "") => {
  if (args.length > 1) throw new Error(`${api}: ${TOO_MANY_ARGUMENTS}`);
  const text = String(code);
  if (typeof code !== "function" && args.length === 0 && !subject) return text;
  const called = method(typeof code === "function" ? text : `(${text})`);
  const parameters = [subject, ...args.map((arg) => source(arg))].filter(Boolean).join(", ");
  return `(${subject}) => (${called})(${parameters})`;
};

/** A script for new documents: a function with its argument, text, or `{ content }`. */
export const initScript = (api: string, code: any, args: unknown[]): string => {
  const text = typeof code === "function" ? `(${script(api, code, args)})()` : (code?.content ?? code);
  if (typeof text !== "string") throw new Error(`${api}: give a function, a string, or { content }`);
  return text;
};

/** `name() {}` is a function only as a part of an object. */
const method = (text: string) => {
  if (/^(async\s+)?(function\b|class\b|\(|[\w$]+\s*=>)/.test(text) || text.startsWith("(")) return text;
  return /^async\s/.test(text) ? text.replace(/^async\s+/, "async function ") : `function ${text}`;
};
