// What code finds besides the language: timers, the console, URLs, bytes. Nothing here reaches a file, a process or a network.

let lastTimer = 0;
const timer = (callback, ms, args, repeats) => {
  if (typeof callback !== 'function') throw new TypeError('The "callback" argument must be of type function.');
  const id = ++lastTimer;
  timers.set(id, true);
  const wait = async () => {
    do {
      await sleep(Math.max(repeats ? 1 : 0, Number(ms) || 0));
      if (!timers.has(id)) return;
      if (!repeats) timers.delete(id);
      callback(...args);
    } while (repeats && timers.has(id));
  };
  wait().catch((error) => {
    timers.delete(id);
    report('Uncaught', error);
  });
  return id;
};
const clear = (id) => void timers.delete(id);

const shown = (value) => {
  if (typeof value === 'string') return value;
  if (value instanceof Error) return value.stack ? `${value}\n${value.stack}`.trimEnd() : String(value);
  if (typeof value === 'function') return `[Function: ${value.name || 'anonymous'}]`;
  try {
    return json(value) ?? String(value);
  } catch {
    return String(value);
  }
};
const print = (level) => (...values) => native.print(level, values.map(shown).join(' ').toWellFormed());

const report = (what, error) => native.unhandled(`${what} ${error}`.toWellFormed());

class Buffer extends Uint8Array {
  static from(value, encoding = 'utf8') {
    if (typeof value !== 'string') return super.from(value);
    if (encoding === 'base64') return new Buffer(native.bytes(value));
    if (encoding === 'hex') return super.from(value.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    return super.from(new TextEncoder().encode(value));
  }
  static concat(parts) {
    return Buffer.from(parts.flatMap((part) => [...part]));
  }
  static isBuffer(value) {
    return value instanceof Buffer;
  }
  toString(encoding = 'utf8') {
    if (encoding === 'base64') return base64(this);
    if (encoding === 'hex') return Array.from(this, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return new TextDecoder().decode(this);
  }
  toJSON() {
    return { type: 'Buffer', data: Array.from(this) };
  }
}

/** One character for each byte. */
const octets = (data) => {
  const view = ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
  let text = '';
  for (let at = 0; at < view.length; at += 8192) text += String.fromCharCode(...view.subarray(at, at + 8192));
  return text;
};
const base64 = (data) => native.base64(octets(data));
const bytes = (text) => new Uint8Array(native.bytes(text));
const latin = (text) => Uint8Array.from(text, (char) => {
  if (char.codePointAt(0) > 255) throw new Error('Invalid character');
  return char.codePointAt(0);
});

class TextEncoder {
  encode(text = '') {
    const escaped = encodeURIComponent(String(text).toWellFormed());
    return Uint8Array.from(escaped.match(/%..|[^%]/g) ?? [], (unit) => (unit.length > 1 ? parseInt(unit.slice(1), 16) : unit.charCodeAt(0)));
  }
}

class TextDecoder {
  decode(data = []) {
    return native.utf8(octets(data));
  }
}

class URLSearchParams {
  #pairs = [];
  #changed;
  constructor(init = '', changed = () => {}) {
    this.#changed = changed;
    if (typeof init === 'string') {
      const decode = (text) => decodeURIComponent(text.replace(/\+/g, ' '));
      for (const pair of init.replace(/^\?/, '').split('&').filter(Boolean)) {
        const [name, ...value] = pair.split('=');
        this.#pairs.push([decode(name), decode(value.join('='))]);
      }
    } else {
      this.#pairs = [...(init[Symbol.iterator] ? init : Object.entries(init))].map(([name, value]) => [String(name), String(value)]);
    }
  }
  get(name) {
    return this.#pairs.find(([key]) => key === name)?.[1] ?? null;
  }
  getAll(name) {
    return this.#pairs.filter(([key]) => key === name).map(([, value]) => value);
  }
  has(name) {
    return this.#pairs.some(([key]) => key === name);
  }
  append(name, value) {
    this.#pairs.push([String(name), String(value)]);
    this.#changed(this);
  }
  set(name, value) {
    const at = this.#pairs.findIndex(([key]) => key === name);
    if (at < 0) return this.append(name, value);
    this.#pairs = this.#pairs.filter(([key], index) => key !== name || index === at);
    this.#pairs[at] = [String(name), String(value)];
    this.#changed(this);
  }
  delete(name) {
    this.#pairs = this.#pairs.filter(([key]) => key !== name);
    this.#changed(this);
  }
  forEach(callback) {
    for (const [name, value] of this.#pairs) callback(value, name, this);
  }
  keys() {
    return this.#pairs.map(([name]) => name).values();
  }
  values() {
    return this.#pairs.map(([, value]) => value).values();
  }
  entries() {
    return this.#pairs.map(([name, value]) => [name, value]).values();
  }
  [Symbol.iterator]() {
    return this.entries();
  }
  get size() {
    return this.#pairs.length;
  }
  toString() {
    const encode = (text) => encodeURIComponent(text).replace(/%20/g, '+').replace(/[!'()~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
    return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  }
}

const URL_PARTS = ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'];
class URL {
  #parts;
  #search;
  constructor(url, base) {
    this.#parse({ url: String(url), base: base === undefined ? null : String(base) });
  }
  static canParse(url, base) {
    try {
      return Boolean(new URL(url, base));
    } catch {
      return false;
    }
  }
  #parse(parameters) {
    this.#parts = JSON.parse(native.url(json(parameters)));
    if (!this.#parts) throw new TypeError('Invalid URL');
    this.#search = undefined;
  }
  static {
    for (const part of URL_PARTS) {
      Object.defineProperty(URL.prototype, part, {
        get() {
          return this.#parts[part];
        },
        set(value) {
          this.#parse({ url: this.#parts.href, base: null, part, value: String(value) });
        },
        enumerable: true,
        configurable: true,
      });
    }
  }
  get origin() {
    return this.#parts.origin;
  }
  get searchParams() {
    this.#search ??= new URLSearchParams(this.#parts.search, (search) => {
      this.#parse({ url: this.#parts.href, base: null, part: 'search', value: String(search) });
      this.#search = search;
    });
    return this.#search;
  }
  toString() {
    return this.#parts.href;
  }
  toJSON() {
    return this.#parts.href;
  }
}

const absent = (name, instead) => () => {
  throw new Error(`${name} is not supported by browser_run_code_unsafe; ${instead}`);
};

const globals = {
  setTimeout: (callback, ms, ...args) => timer(callback, ms, args, false),
  setInterval: (callback, ms, ...args) => timer(callback, ms, args, true),
  setImmediate: (callback, ...args) => timer(callback, 0, args, false),
  clearTimeout: clear,
  clearInterval: clear,
  clearImmediate: clear,
  console: { log: print('LOG'), info: print('INFO'), debug: print('DEBUG'), warn: print('WARNING'), error: print('ERROR') },
  URL,
  URLSearchParams,
  TextEncoder,
  TextDecoder,
  Buffer,
  atob: (text) => String.fromCharCode(...bytes(text)),
  btoa: (text) => base64(latin(String(text))),
  structuredClone: (value) => (0, eval)(`(${source(value)})`),
  fetch: absent('fetch', 'use page.evaluate(() => fetch(…))'),
  expect: absent('expect', 'use locator.waitFor, page.waitForFunction, or throw an error'),
  require: absent('require', 'the code runs without modules, files and network'),
};
/** Languages and their formats are not here; without them the plain forms do. */
const NO_LOCALES = 'use page.evaluate, where the browser knows languages';
globalThis.Intl ??= new Proxy({}, { get: (_, name) => (typeof name === 'symbol' ? undefined : absent(`Intl.${name}`, NO_LOCALES)()) });
for (const { prototype } of [Number, Date, BigInt, Array]) {
  for (const name of ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']) {
    const plain = prototype[name];
    if (!plain) continue;
    const value = function localized(...args) {
      if (args.some((arg) => arg !== undefined)) absent(`${name} with a language`, NO_LOCALES)();
      return plain.call(this);
    };
    Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
  }
}
for (const [name, value] of Object.entries(globals)) {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}
