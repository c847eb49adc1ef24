// The globals of client code besides those of the language: timers, the console, URLs and bytes. They have no access to files, processes
// and networks.

import { Buffer, base64, fromBase64, latin1, TextDecoder, TextEncoder } from "./bytes";
import { json } from "./calls";
import { expect } from "./expect";
import { source } from "./source";
import { clearTimer, setTimer } from "./timers";
import { URL, URLSearchParams } from "./url";

type Callback = (...args: any[]) => unknown;

const formatted = (value: unknown) => {
  if (typeof value === "string") return value;
  if (value instanceof Error) return value.stack ? `${value}\n${value.stack}`.trimEnd() : String(value);
  if (typeof value === "function") return `[Function: ${value.name || "anonymous"}]`;
  try {
    return json(value) ?? String(value);
  } catch {
    return String(value);
  }
};
const print =
  (level: string) =>
  (...values: unknown[]) =>
    native.print(level, values.map(formatted).join(" ").toWellFormed());

const unsupported = (name: string, alternative: string) => () => {
  throw new Error(`${name} is not supported by browser_run_code_unsafe; ${alternative}`);
};

const globals = {
  setTimeout: (callback: Callback, ms?: unknown, ...args: unknown[]) => setTimer(callback, ms, args, false),
  setInterval: (callback: Callback, ms?: unknown, ...args: unknown[]) => setTimer(callback, ms, args, true),
  setImmediate: (callback: Callback, ...args: unknown[]) => setTimer(callback, 0, args, false),
  clearTimeout: clearTimer,
  clearInterval: clearTimer,
  clearImmediate: clearTimer,
  console: { log: print("LOG"), info: print("INFO"), debug: print("DEBUG"), warn: print("WARNING"), error: print("ERROR") },
  URL,
  URLSearchParams,
  TextEncoder,
  TextDecoder,
  Buffer,
  atob: (text: string) => String.fromCharCode(...fromBase64(text)),
  btoa: (text: unknown) => base64(latin1(String(text))),
  // biome-ignore lint/security/noGlobalEval: `source` returns a literal, and indirect `eval` has no access to the scope of this bundle.
  structuredClone: (value: unknown) => (0, eval)(`(${source(value)})`),
  fetch: unsupported("fetch", "use page.evaluate(() => fetch(…))"),
  expect,
  require: unsupported("require", "the code runs without modules, files and network"),
};

/** The hint of errors about locales, which QuickJS does not support. */
const NO_LOCALES = "use page.evaluate, because the browser supports locales";

const removeLocales = () => {
  const intl = new Proxy({}, { get: (_, name) => (typeof name === "symbol" ? undefined : unsupported(`Intl.${name}`, NO_LOCALES)()) });
  (globalThis as { Intl?: object }).Intl ??= intl;
  for (const { prototype } of [Number, Date, BigInt, Array]) {
    for (const name of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"]) {
      const plain = Reflect.get(prototype, name);
      if (!plain) continue;
      const value = function localized(this: unknown, ...args: unknown[]) {
        if (args.some((arg) => arg !== undefined)) unsupported(`${name} with a language`, NO_LOCALES)();
        return plain.call(this);
      };
      Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
    }
  }
};

/** Defines the globals of client code. */
export const defineGlobals = () => {
  removeLocales();
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }
};
