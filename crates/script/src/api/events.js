// What happens in pages, as objects: listeners, requests and responses, dialogs, downloads.

const LISTENERS = Symbol('listeners');
const LISTEN = Symbol('listen');
const WAIT = Symbol('wait');
const ATTEND = Symbol('attend');
const EMIT = Symbol('emit');

/** The listeners of a page or context. `[LISTEN](event, on)` tells the server which events anybody wants. */
const EMITTER = {
  on(event, listener) {
    const all = (this[LISTENERS][event] ??= []);
    all.push(listener);
    if (all.length === 1) this[LISTEN](event, true);
    return this;
  },
  once(event, listener) {
    const once = (...args) => {
      this.off(event, once);
      return listener(...args);
    };
    once.listener = listener;
    return this.on(event, once);
  },
  off(event, listener) {
    const all = this[LISTENERS][event] ?? [];
    const at = all.findIndex((each) => each === listener || each.listener === listener);
    if (at >= 0) all.splice(at, 1);
    if (at >= 0 && all.length === 0) this[LISTEN](event, false);
    return this;
  },
  removeAllListeners(event) {
    for (const name of event === undefined ? Object.keys(this[LISTENERS]) : [event]) {
      for (const listener of [...(this[LISTENERS][name] ?? [])]) this.off(name, listener);
    }
    return this;
  },
  async waitForEvent(event, given) {
    return this[WAIT]('waitForEvent', event, given);
  },
  [EMIT](event, ...args) {
    for (const listener of [...(this[LISTENERS][event] ?? [])]) {
      try {
        Promise.resolve(listener(...args)).catch((error) => report(`In a listener of "${event}":`, error));
      } catch (error) {
        report(`In a listener of "${event}":`, error);
      }
    }
  },
};
EMITTER.addListener = EMITTER.on;
EMITTER.removeListener = EMITTER.off;

/** Waits for the first event that `matches`, at most as long as the page's actions may take. */
EMITTER[WAIT] = function waitFor(name, event, given, matches) {
  const api = `${this === context ? 'context' : 'page'}.${name}`;
  const { predicate, timeout } = typeof given === 'function' ? { predicate: given } : options(api, given, 'predicate', 'timeout');
  const wanted = matches ?? predicate ?? (() => true);
  const limit = milliseconds(timeout, this[LIMIT].action);
  return new Promise((resolve, reject) => {
    let watch;
    const end = (settled, outcome) => {
      clear(watch);
      this.off(event, listener);
      settled(outcome);
    };
    const listener = async (...args) => {
      try {
        if (await wanted(...args)) end(resolve, args[0]);
      } catch (error) {
        end(reject, error);
      }
    };
    this.on(event, listener);
    if (limit > 0) {
      const late = () => end(reject, new TimeoutError(`${api}: Timeout ${limit}ms exceeded while waiting for event "${event}"`));
      watch = timer(late, limit, [], false);
    }
  });
};

class Request {
  #facts;
  #page;
  constructor(page, facts) {
    this.#page = page;
    this.#facts = facts;
  }
  url() {
    return this.#facts.url;
  }
  method() {
    return this.#facts.method;
  }
  resourceType() {
    return this.#facts.resourceType;
  }
  isNavigationRequest() {
    return this.#facts.isNavigation;
  }
  headers() {
    return { ...this.#facts.headers };
  }
  async allHeaders() {
    return this.headers();
  }
  async headerValue(name) {
    return this.#facts.headers[name.toLowerCase()] ?? null;
  }
  postData() {
    return this.#facts.postData ?? null;
  }
  postDataJSON() {
    const text = this.postData();
    return text === null ? null : JSON.parse(text);
  }
  async response() {
    const facts = await call('request.response', 'response', { page: this.#page[ID], request: this.#facts.id, url: this.#facts.url });
    return facts && new Response(this.#page, facts);
  }
  failure() {
    return this.#facts.failure ? { errorText: this.#facts.failure } : null;
  }
  toJSON() {
    return { url: this.url(), method: this.method() };
  }
}
offer(Request, 'request');

class Response {
  #facts;
  #page;
  constructor(page, facts) {
    this.#page = page;
    this.#facts = facts;
  }
  url() {
    return this.#facts.url;
  }
  status() {
    return this.#facts.response.status;
  }
  statusText() {
    return this.#facts.response.statusText;
  }
  ok() {
    return this.status() === 0 || (this.status() >= 200 && this.status() <= 299);
  }
  headers() {
    return { ...this.#facts.response.headers };
  }
  async allHeaders() {
    return this.headers();
  }
  async headerValue(name) {
    return this.headers()[name.toLowerCase()] ?? null;
  }
  fromServiceWorker() {
    return this.#facts.response.fromServiceWorker;
  }
  request() {
    return new Request(this.#page, this.#facts);
  }
  async finished() {
    await call('response.finished', 'finished', { page: this.#page[ID], request: this.#facts.id });
    return null;
  }
  async body() {
    return Buffer.from(await call('response.body', 'responseBody', { page: this.#page[ID], request: this.#facts.id }), 'base64');
  }
  async text() {
    return (await this.body()).toString();
  }
  async json() {
    return JSON.parse(await this.text());
  }
  toJSON() {
    return { url: this.url(), status: this.status() };
  }
}
offer(Response, 'response');

class ConsoleMessage {
  #facts;
  constructor(facts) {
    this.#facts = facts;
  }
  type() {
    return this.#facts.type;
  }
  text() {
    return this.#facts.text;
  }
  location() {
    return { ...this.#facts.location };
  }
}
offer(ConsoleMessage, 'consoleMessage');

class Dialog {
  #facts;
  #page;
  #answered = false;
  constructor(page, facts) {
    this.#page = page;
    this.#facts = facts;
    page[ATTEND](1);
  }
  type() {
    return this.#facts.type;
  }
  message() {
    return this.#facts.message;
  }
  defaultValue() {
    return this.#facts.defaultValue;
  }
  page() {
    return this.#page;
  }
  async accept(text) {
    await this.#answer('accept', true, text);
  }
  async dismiss() {
    await this.#answer('dismiss', false);
  }
  async #answer(name, accept, text) {
    if (this.#answered) throw new Error(`dialog.${name}: Cannot ${name} dialog which is already handled!`);
    this.#answered = true;
    try {
      await call(`dialog.${name}`, 'answerDialog', { page: this.#page[ID], accept, text });
    } finally {
      this.#page[ATTEND](-1);
    }
  }
}
offer(Dialog, 'dialog');

class FileChooser {
  #facts;
  #page;
  constructor(page, facts) {
    this.#page = page;
    this.#facts = facts;
  }
  page() {
    return this.#page;
  }
  isMultiple() {
    return this.#facts.multiple;
  }
  async setFiles(files) {
    const paths = [files].flat();
    if (!paths.every((file) => typeof file === 'string')) throw new Error('fileChooser.setFiles: files are named by their paths here; locator.setInputFiles takes { name, mimeType, buffer } too');
    await call('fileChooser.setFiles', 'answerFileChooser', { page: this.#page[ID], paths });
  }
}
offer(FileChooser, 'fileChooser');

class Download {
  #facts;
  #page;
  constructor(page, facts) {
    this.#page = page;
    this.#facts = facts;
  }
  url() {
    return this.#facts.url;
  }
  suggestedFilename() {
    return this.#facts.suggestedFilename;
  }
  page() {
    return this.#page;
  }
  async failure() {
    return (await this.#end('failure')).failure ?? null;
  }
  async path() {
    const { path, failure } = await this.#end('path');
    if (failure) throw new Error(`download.path: ${failure}`);
    return path;
  }
  async saveAs(path) {
    const { failure } = await this.#end('saveAs', String(path));
    if (failure) throw new Error(`download.saveAs: ${failure}`);
  }
  #end(name, path) {
    return call(`download.${name}`, 'downloaded', { download: this.#facts.id, path });
  }
}
offer(Download, 'download');

/** What each event of a page gives its listeners. */
const EVENTS = {
  close: (page) => page,
  console: (_, facts) => new ConsoleMessage(facts),
  crash: (page) => page,
  dialog: (page, facts) => new Dialog(page, facts),
  domcontentloaded: (page) => page,
  download: (page, facts) => new Download(page, facts),
  filechooser: (page, facts) => new FileChooser(page, facts),
  frameattached: (page, { frame }) => page[FRAMED](frame),
  framedetached: (page, { frame }) => page[FRAMED](frame),
  framenavigated: (page, { frame }) => page[FRAMED](frame),
  load: (page) => page,
  pageerror: (_, { message }) => thrown(message),
  popup: (_, { popup }) => pageOf(popup),
  request: (page, facts) => new Request(page, facts),
  requestfailed: (page, facts) => new Request(page, facts),
  requestfinished: (page, facts) => new Request(page, facts),
  response: (page, facts) => new Response(page, facts),
};

/** An uncaught error of a page, told in text. */
const thrown = (text) => {
  const [, name, message] = /^(?:(\w*Error): )?([^]*?)(?:\n\s+at [^]*)?$/.exec(text) ?? [];
  return Object.assign(new Error(message ?? text), { name: name ?? 'Error', stack: text });
};

const happened = (text) => {
  const { page: id, event, facts } = JSON.parse(text);
  if (event === 'unroute') {
    const owner = id === null ? context : pageOf(id);
    owner[ROUTES] = owner[ROUTES].filter((route) => facts.wanted !== null && route.wanted !== facts.wanted);
    return void routing().catch(() => {});
  }
  if (event === 'page') {
    if (context[ROUTES].length) routing().catch(() => {});
    return context[EMIT](event, pageOf(facts.page));
  }
  const page = pageOf(id);
  if (event === 'route') return void routed(page, facts).catch((error) => report('In a route:', error));
  page[EMIT](event, EVENTS[event](page, facts));
};
