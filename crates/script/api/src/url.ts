// The `URL` and `URLSearchParams` of client code. The server parses URLs, because QuickJS has no URL parser.

import { json } from "./calls";

export class URLSearchParams {
  #pairs: [string, string][] = [];
  #changed: (search: URLSearchParams) => void;
  constructor(
    init: string | Iterable<[unknown, unknown]> | Record<string, unknown> = "",
    changed: (search: URLSearchParams) => void = () => {},
  ) {
    this.#changed = changed;
    if (typeof init === "string") {
      const decode = (text: string) => decodeURIComponent(text.replace(/\+/g, " "));
      for (const pair of init.replace(/^\?/, "").split("&").filter(Boolean)) {
        const [name, ...value] = pair.split("=");
        this.#pairs.push([decode(name as string), decode(value.join("="))]);
      }
    } else {
      const pairs = Symbol.iterator in init ? (init as Iterable<[unknown, unknown]>) : Object.entries(init);
      this.#pairs = [...pairs].map(([name, value]) => [String(name), String(value)]);
    }
  }
  get(name: string) {
    return this.#pairs.find(([key]) => key === name)?.[1] ?? null;
  }
  getAll(name: string) {
    return this.#pairs.filter(([key]) => key === name).map(([, value]) => value);
  }
  has(name: string) {
    return this.#pairs.some(([key]) => key === name);
  }
  append(name: unknown, value: unknown) {
    this.#pairs.push([String(name), String(value)]);
    this.#changed(this);
  }
  set(name: string, value: unknown) {
    const at = this.#pairs.findIndex(([key]) => key === name);
    if (at < 0) return this.append(name, value);
    this.#pairs = this.#pairs.filter(([key], index) => key !== name || index === at);
    this.#pairs[at] = [String(name), String(value)];
    this.#changed(this);
  }
  delete(name: string) {
    this.#pairs = this.#pairs.filter(([key]) => key !== name);
    this.#changed(this);
  }
  forEach(callback: (value: string, name: string, search: URLSearchParams) => void) {
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
    const escaped = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
    const encode = (text: string) =>
      encodeURIComponent(text)
        .replace(/%20/g, "+")
        .replace(/[!'()~]/g, escaped);
    return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
  }
}

const PARTS = ["href", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"] as const;

type Parts = Record<(typeof PARTS)[number], string>;
export interface URL extends Parts {}
export class URL {
  // The bundler renames classes that refer to themselves.
  static readonly name = "URL";
  #parts!: Parts & { origin: string };
  #search: URLSearchParams | undefined;
  constructor(url: unknown, base?: unknown) {
    this.#parse({ url: String(url), base: base === undefined ? null : String(base) });
  }
  static canParse(url: unknown, base?: unknown) {
    try {
      return Boolean(new URL(url, base));
    } catch {
      return false;
    }
  }
  #parse(request: { url: string; base: string | null; part?: string; value?: string }) {
    this.#parts = JSON.parse(native.url(json(request) as string));
    if (!this.#parts) throw new TypeError("Invalid URL");
    this.#search = undefined;
  }
  static {
    for (const part of PARTS) {
      Object.defineProperty(URL.prototype, part, {
        get(this: URL) {
          return this.#parts[part];
        },
        set(this: URL, value) {
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
      this.#parse({ url: this.#parts.href, base: null, part: "search", value: String(search) });
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
