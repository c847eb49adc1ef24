// What code finds besides the language: timers, the console, URLs, bytes. Nothing here reaches a file, a process or a network.

import { Buffer, base64, fromBase64, latin1, TextDecoder, TextEncoder } from "./bytes";
import { json } from "./calls";
import { source } from "./source";
import { clearTimer, setTimer } from "./timers";
import { URL, URLSearchParams } from "./url";

type Callback = (...args: any[]) => unknown;

const shown = (value: unknown) => {
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
    native.print(level, values.map(shown).join(" ").toWellFormed());

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
  // biome-ignore lint/security/noGlobalEval: the source of a value is no code of the client, and indirect `eval` sees nothing of this bundle.
  structuredClone: (value: unknown) => (0, eval)(`(${source(value)})`),
  fetch: unsupported("fetch", "use page.evaluate(() => fetch(…))"),
  expect: unsupported("expect", "use locator.waitFor, page.waitForFunction, or throw an error"),
  require: unsupported("require", "the code runs without modules, files and network"),
};

/** The engine has no locales: without a language the plain forms do. */
const NO_LOCALES = "use page.evaluate, where the browser knows languages";

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

/** Defines the globals of code. */
export const defineGlobals = () => {
  removeLocales();
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }
};
