// How the API reaches the server: calls that are answered later, questions that are answered at once, events.
// The files of this folder are one function body, in the order in which `machine.rs` joins them.
'use strict';

const MOST_CALLS = 1000;
const pending = new Map();
const timers = new Map();
const unhandled = new Map();
let lastCall = 0;

const json = (value) => JSON.stringify(value, (_, inner) => (typeof inner === 'string' ? inner.toWellFormed() : inner));

class TimeoutError extends Error {
  get name() {
    return 'TimeoutError';
  }
}

const failure = ({ name, message }, api) => {
  const text = api ? `${api}: ${message}` : message;
  return name === 'TimeoutError' ? new TimeoutError(text) : new Error(text);
};

/** Asks the server to do something. `api` is what errors begin with. */
const call = (api, op, parameters = {}) =>
  new Promise((resolve, reject) => {
    if (pending.size >= MOST_CALLS) throw new Error(`${api}: more than ${MOST_CALLS} calls are waiting`);
    const id = ++lastCall;
    pending.set(id, { resolve, reject, api });
    native.call(id, json({ op, ...parameters }));
  });

/** Asks the server what it knows without the browser. */
const ask = (op, parameters = {}) => {
  const { value, error } = JSON.parse(native.ask(json({ op, ...parameters })));
  if (error) throw failure(error);
  return value;
};

const settle = (id, text) => {
  const waiting = pending.get(id);
  pending.delete(id);
  const { value, error } = JSON.parse(text);
  if (error) waiting.reject(failure(error, waiting.api));
  else waiting.resolve(value);
};

const sleep = (ms) => call('', 'sleep', { ms });

/** What is asked of an object that it does not offer is told by name, not as `undefined`. */
const SILENT = new Set(['then', 'toJSON', 'nodeType', 'asymmetricMatch']);
const INSTEAD = {
  accessibility: 'browser_snapshot shows the page',
  ariaSnapshot: 'browser_snapshot shows the page',
  clock: 'page.addInitScript can replace Date',
  evaluateHandle: 'page.$ gives a locator, which page.evaluate takes',
  exposeBinding: 'page.on("console") hears what the page says',
  exposeFunction: 'page.on("console") hears what the page says',
  pause: 'use page.waitForTimeout',
  request: 'use page.evaluate(() => fetch(…))',
};
const offer = (type, name) => {
  const missing = new Proxy(Object.prototype, {
    get(target, key) {
      if (typeof key === 'symbol' || key in target || SILENT.has(key)) return target[key];
      const instead = Object.hasOwn(INSTEAD, key) ? `${INSTEAD[key]}, and ` : '';
      throw new Error(`${name}.${key} is not supported by browser_run_code_unsafe; ${instead}see docs/run-code.md`);
    },
  });
  Object.setPrototypeOf(type.prototype, missing);
  offered.push([name, type]);
};
const offered = [];

/** Options that change nothing here. */
const IDLE = new Set(['noWaitAfter', 'strict', 'signal', 'animations', 'caret', 'mask', 'maskColor', 'style', 'steps']);
const options = (api, given, ...known) => {
  const taken = {};
  for (const [key, value] of Object.entries(given ?? {})) {
    if (value === undefined || IDLE.has(key)) continue;
    if (!known.includes(key)) {
      throw new Error(`${api}: the option "${key}" is not supported by browser_run_code_unsafe; see docs/run-code.md`);
    }
    taken[key] = value;
  }
  return taken;
};

/** A value as source text, for functions that run in the page. */
const source = (value, above = []) => {
  if (value === undefined || typeof value === 'function' || typeof value === 'symbol') return 'undefined';
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value !== 'object' || value === null) return json(value);
  if (value instanceof Date) return `new Date(${value.getTime()})`;
  if (value instanceof RegExp) return String(value);
  if (value instanceof URL) return `new URL(${json(value.href)})`;
  if (value instanceof Error) return `Object.assign(new Error(${json(value.message)}), { name: ${json(value.name)} })`;
  if (value instanceof Locator) throw new Error('an element goes to the page by itself only: page.evaluate(fn, element), or locator.evaluate');
  if (above.includes(value)) throw new Error('an argument for the page may not contain itself');
  const inside = [...above, value];
  if (value instanceof Map) return `new Map(${source([...value], inside)})`;
  if (value instanceof Set) return `new Set(${source([...value], inside)})`;
  if (ArrayBuffer.isView(value)) return `new ${value.constructor.name === 'Buffer' ? 'Uint8Array' : value.constructor.name}([${Array.from(value)}])`;
  if (Array.isArray(value)) return `[${value.map((item) => source(item, inside)).join(', ')}]`;
  if (typeof value.toJSON === 'function') return source(value.toJSON(), inside);
  return `{ ${Object.entries(value).map(([key, item]) => `[${json(key)}]: ${source(item, inside)}`).join(', ')} }`;
};

/** A function or expression with its argument, as one that takes `subject` first if there is one. */
const script = (api, code, args, subject = '') => {
  if (args.length > 1) throw new Error(`${api}: Too many arguments. If you need to pass more than 1 argument to the function wrap them in an object.`);
  if (typeof code !== 'function') {
    if (args.length === 0 && !subject) return String(code);
    code = `(${code})`;
  }
  const parameters = [subject, ...args.map((arg) => source(arg))].filter(Boolean).join(', ');
  return `(${subject}) => (${method(String(code))})(${parameters})`;
};

/** A script for new documents: a function with its argument, text, or `{ content }`. */
const initial = (api, code, args) => {
  const text = typeof code === 'function' ? `(${script(api, code, args)})()` : code?.content ?? code;
  if (typeof text !== 'string') throw new Error(`${api}: give a function, a string, or { content }`);
  return text;
};

/** `name() {}` is a function only as a part of an object. */
const method = (text) => {
  if (/^(async\s+)?(function\b|class\b|\(|[\w$]+\s*=>)/.test(text) || text.startsWith('(')) return text;
  return /^async\s/.test(text) ? text.replace(/^async\s+/, 'async function ') : `function ${text}`;
};

const milliseconds = (value, fallback) => (value === undefined ? fallback : value);
