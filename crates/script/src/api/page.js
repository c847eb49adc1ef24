// Pages, their frames, keyboard and mouse.

const FRAMED = Symbol('framed');
const KNOW = Symbol('know');
const LOADS = { commit: 'committed', domcontentloaded: 'domContentLoaded', load: 'loaded', networkidle: 'networkIdle' };
const until = (api, state = 'load') => {
  if (Object.hasOwn(LOADS, state)) return LOADS[state];
  throw new Error(`${api}: state: expected one of (load|domcontentloaded|networkidle|commit)`);
};
const NAVIGATION = ['timeout', 'waitUntil', 'referer'];
/** How often a condition is looked at. */
const LOOK_EVERY = 50;

/** Looks until `holds`, at most `limit` ms. */
const poll = async (api, limit, what, holds) => {
  const end = limit > 0 ? Date.now() + limit : Infinity;
  for (;;) {
    const found = await holds();
    if (found) return found;
    if (Date.now() >= end) throw new TimeoutError(`${api}: Timeout ${limit}ms exceeded.${what ? `\nCall log:\n  - ${what}` : ''}`);
    await sleep(LOOK_EVERY);
  }
};

/** What pages and frames have in common. `[PLACE]` names both, `[NAME]` is what errors begin with. */
const PLACE = Symbol('place');
const NAME = Symbol('name');
const DOCUMENT = {
  [FIND](step) {
    return new Locator(this[PLACE].page, step, this[PLACE].frame);
  },
  async evaluate(code, ...args) {
    // What `$` gave is an element where the page gets it.
    if (args.length === 1 && args[0] instanceof Locator) return args[0][RUN]('evaluate', code, []);
    const { page, frame } = this[PLACE];
    const api = `${this[NAME]}.evaluate`;
    return value(await call(api, 'evaluatePage', { page: page[ID], frame, script: script(api, code, args) }));
  },
  async content() {
    return this.evaluate(() => {
      const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : '';
      return type + (document.documentElement?.outerHTML ?? '');
    });
  },
  async setContent(html, given) {
    options(`${this[NAME]}.setContent`, given, 'timeout', 'waitUntil');
    await this.evaluate((text) => {
      document.open();
      document.write(text);
      document.close();
    }, html);
    await this.waitForLoadState(given?.waitUntil, given);
  },
  async title() {
    return this.evaluate(() => document.title);
  },
  async waitForTimeout(ms) {
    await sleep(ms);
  },
  async waitForSelector(selector, given) {
    const found = this[SHORT](selector);
    await found[REACH]('waitForSelector', given);
    return ['hidden', 'detached'].includes(given?.state) ? null : found;
  },
  async waitForFunction(code, ...rest) {
    const api = `${this[NAME]}.waitForFunction`;
    const [arg, given] = rest;
    const { timeout } = options(api, given, 'polling', 'timeout');
    const { page, frame } = this[PLACE];
    const text = script(api, code, rest.length ? [arg] : []);
    const limit = milliseconds(timeout, page[LIMIT].action);
    const found = await poll(api, limit, '', async () => {
      const answer = value(await call(api, 'evaluatePage', { page: page[ID], frame, script: text, patient: true }));
      return answer && { answer };
    });
    return { jsonValue: async () => found.answer };
  },
  async waitForURL(wanted, given) {
    const api = `${this[NAME]}.waitForURL`;
    const { timeout, waitUntil } = options(api, given, 'timeout', 'waitUntil');
    const matches = matcher(wanted);
    const limit = milliseconds(timeout, this[PLACE].page[LIMIT].navigation);
    await poll(api, limit, `waiting for navigation to "${wanted}" until "${waitUntil ?? 'load'}"`, () => matches(this.url()));
    await this.waitForLoadState(waitUntil, { timeout });
  },
  async waitForLoadState(state, given) {
    const api = `${this[NAME]}.waitForLoadState`;
    const { page } = this[PLACE];
    const limit = milliseconds(given?.timeout, page[LIMIT].navigation);
    await call(api, 'waitForLoad', { page: page[ID], until: until(api, state), timeout: limit });
  },
  async addScriptTag(given) {
    const { content, type, url } = options(`${this[NAME]}.addScriptTag`, given, 'content', 'type', 'url');
    await this.evaluate(addTag, { tag: 'script', content, address: { src: url }, type });
  },
  async addStyleTag(given) {
    const { content, url } = options(`${this[NAME]}.addStyleTag`, given, 'content', 'url');
    await this.evaluate(addTag, { tag: url ? 'link' : 'style', content, address: { href: url, rel: 'stylesheet' } });
  },
  async $(selector) {
    const all = this.locator(selector);
    return (await all.count()) ? all.first() : null;
  },
  async $$(selector) {
    return this.locator(selector).all();
  },
  async $eval(selector, code, ...args) {
    return this[SHORT](selector)[RUN]('$eval', code, args);
  },
  async $$eval(selector, code, ...args) {
    return this[SHORT](selector, false)[ALL]('$$eval', code, args);
  },
  async dragAndDrop(from, to, given) {
    await this[SHORT](from).dragTo(this[SHORT](to), given);
  },
  [SHORT](selector, one = true) {
    return new Locator(this[PLACE].page, `locator(${quote(selector)})${one ? '.first()' : ''}`, this[PLACE].frame, this[NAME]);
  },
};
/** Adds a script or style sheet to the document, and waits until it is there; runs in the page. */
const addTag = ({ tag, content, address, type }) =>
  new Promise((resolve, reject) => {
    const element = document.createElement(tag);
    if (type) element.type = type;
    const url = address.src ?? address.href;
    if (url) {
      Object.assign(element, address);
      element.onload = () => resolve();
      element.onerror = () => reject(new Error(`Failed to load ${url}`));
    } else {
      element.textContent = content ?? '';
    }
    document.head.append(element);
    if (!url) resolve();
  });
/** Each of these takes a selector before what the locator's method takes. */
const SHORTCUTS = ['blur', 'check', 'clear', 'click', 'dblclick', 'dispatchEvent', 'fill', 'focus', 'getAttribute', 'hover', 'innerHTML', 'innerText', 'inputValue', 'isChecked', 'isDisabled', 'isEditable', 'isEnabled', 'isHidden', 'isVisible', 'press', 'selectOption', 'setChecked', 'setInputFiles', 'textContent', 'type', 'uncheck'];
for (const name of SHORTCUTS) {
  DOCUMENT[name] = async function shortcut(selector, ...args) {
    return this[SHORT](selector)[name](...args);
  };
}

class Page {
  #dialogs = 0;
  #frames = new Map();
  #keyboard;
  #mouse;
  constructor(id) {
    this[ID] = id;
    this[LISTENERS] = {};
    this[ROUTES] = [];
    this[ROUTED] = false;
    this[LIMIT] = { ...context[LIMIT] };
    this.#keyboard = new Keyboard(id);
    this.#mouse = new Mouse(id);
  }
  get keyboard() {
    return this.#keyboard;
  }
  get mouse() {
    return this.#mouse;
  }
  get [PLACE]() {
    return { page: this, frame: undefined };
  }
  get [NAME]() {
    return 'page';
  }
  /** Dialogs that were handed out are the code's to answer, whether or not it listens to more of them. */
  [ATTEND](more) {
    this.#dialogs += more;
    if (this.#dialogs === 0 && !this[LISTENERS].dialog.length) this[LISTEN]('dialog', false);
  }
  [LISTEN](event, on) {
    if (event === 'dialog' && !on && this.#dialogs > 0) return;
    if (!Object.hasOwn(EVENTS, event)) throw new Error(`page.on: the event "${event}" is not supported by browser_run_code_unsafe; see docs/run-code.md`);
    call('page.on', 'listen', { page: this[ID], event, on }).catch(() => {});
  }
  [FRAMED](id) {
    return this.frames().find((frame) => frame[ID] === id) ?? new Frame(this)[KNOW]({ id, parent: null, url: '', name: '' });
  }
  #navigate(api, op, given, parameters) {
    const { timeout, waitUntil, referer } = options(`page.${api}`, given, ...NAVIGATION);
    if (referer) throw new Error(`page.${api}: the option "referer" is not supported by browser_run_code_unsafe; see docs/run-code.md`);
    const limit = milliseconds(timeout, this[LIMIT].navigation);
    return call(`page.${api}`, op, { page: this[ID], until: until(`page.${api}`, waitUntil), timeout: limit, ...parameters }).then((facts) => facts && new Response(this, facts));
  }

  async goto(url, given) {
    return this.#navigate('goto', 'goto', given, { url: String(url) });
  }
  async reload(given) {
    return this.#navigate('reload', 'reload', given);
  }
  async goBack(given) {
    return this.#navigate('goBack', 'go', given, { delta: -1 });
  }
  async goForward(given) {
    return this.#navigate('goForward', 'go', given, { delta: 1 });
  }
  url() {
    return ask('url', { page: this[ID] });
  }
  isClosed() {
    return ask('isClosed', { page: this[ID] });
  }
  context() {
    return context;
  }
  async opener() {
    const id = ask('opener', { page: this[ID] });
    return id === null ? null : pageOf(id);
  }
  frames() {
    const all = ask('frames', { page: this[ID] });
    for (const id of this.#frames.keys()) if (!all.some((facts) => facts.id === id)) this.#frames.delete(id);
    return all.map((facts) => this.#frame(facts));
  }
  #frame(facts) {
    const known = this.#frames.get(facts.id) ?? new Frame(this);
    this.#frames.set(facts.id, known);
    return known[KNOW](facts);
  }
  mainFrame() {
    return this.frames()[0];
  }
  frame(wanted) {
    const { name, url } = typeof wanted === 'string' ? { name: wanted } : wanted;
    const matches = matcher(url);
    return this.frames().find((frame) => (name !== undefined ? frame.name() === name : matches(frame.url()))) ?? null;
  }
  viewportSize() {
    return ask('viewport', { page: this[ID] });
  }
  async setViewportSize({ width, height }) {
    await call('page.setViewportSize', 'resize', { page: this[ID], width, height });
  }
  async emulateMedia(given) {
    const media = options('page.emulateMedia', given, 'media', 'colorScheme', 'reducedMotion', 'forcedColors', 'contrast');
    await call('page.emulateMedia', 'emulateMedia', { page: this[ID], media });
  }
  async addInitScript(code, ...args) {
    await call('page.addInitScript', 'addInitScript', { page: this[ID], script: initial('page.addInitScript', code, args) });
  }
  async setExtraHTTPHeaders(headers) {
    await call('page.setExtraHTTPHeaders', 'setExtraHeaders', { page: this[ID], headers: Object.entries(headers) });
  }
  async bringToFront() {
    await call('page.bringToFront', 'activate', { page: this[ID] });
  }
  async close(given) {
    options('page.close', given, 'runBeforeUnload', 'reason');
    await call('page.close', 'close', { page: this[ID] });
  }
  async screenshot(given) {
    return picture(call('page.screenshot', 'screenshot', { page: this[ID], timeout: this[LIMIT].action, ...options('page.screenshot', given, ...PICTURE) }));
  }
  async pdf(given) {
    return picture(call('page.pdf', 'pdf', { page: this[ID], ...options('page.pdf', given, 'format', 'height', 'landscape', 'path', 'printBackground', 'width') }));
  }
  setDefaultTimeout(ms) {
    this[LIMIT] = { action: ms, navigation: ms };
  }
  setDefaultNavigationTimeout(ms) {
    this[LIMIT] = { ...this[LIMIT], navigation: ms };
  }
  async waitForRequest(wanted, given) {
    const matches = typeof wanted === 'function' ? wanted : ((url) => (request) => url(request.url()))(matcher(wanted));
    return this[WAIT]('waitForRequest', 'request', given, matches);
  }
  async waitForResponse(wanted, given) {
    const matches = typeof wanted === 'function' ? wanted : ((url) => (response) => url(response.url()))(matcher(wanted));
    return this[WAIT]('waitForResponse', 'response', given, matches);
  }
  async waitForNavigation(given) {
    const { url, waitUntil, timeout } = options('page.waitForNavigation', given, 'timeout', 'url', 'waitUntil');
    const matches = matcher(url);
    const main = this.mainFrame()[ID];
    const limit = milliseconds(timeout, this[LIMIT].navigation);
    await this[WAIT]('waitForNavigation', 'framenavigated', { timeout: limit }, (frame) => frame[ID] === main && matches(frame.url()));
    await this.waitForLoadState(waitUntil, { timeout });
    return null;
  }
  toJSON() {
    return { _type: 'Page', _guid: `page@${this[ID]}` };
  }
}
mix(Page, DOCUMENT);
mix(Page, FINDERS);
mix(Page, EMITTER);
mix(Page, ROUTER);
offer(Page, 'page');

class Frame {
  #facts;
  constructor(page) {
    this[PAGE] = page;
  }
  [KNOW](facts) {
    this[ID] = facts.id;
    this.#facts = facts;
    return this;
  }
  get [PLACE]() {
    return { page: this[PAGE], frame: this.#facts.parent === null ? undefined : this[ID] };
  }
  get [NAME]() {
    return 'frame';
  }
  url() {
    return this[PAGE].frames().find((frame) => frame[ID] === this[ID])?.#facts.url ?? this.#facts.url;
  }
  name() {
    return this.#facts.name;
  }
  page() {
    return this[PAGE];
  }
  isDetached() {
    return !this[PAGE].frames().some((frame) => frame[ID] === this[ID]);
  }
  parentFrame() {
    return this[PAGE].frames().find((frame) => frame[ID] === this.#facts.parent) ?? null;
  }
  childFrames() {
    return this[PAGE].frames().filter((frame) => frame.#facts.parent === this[ID]);
  }
  async goto(url, given) {
    if (this[PLACE].frame === undefined) return this[PAGE].goto(url, given);
    throw new Error('frame.goto is not supported by browser_run_code_unsafe for frames inside the page; see docs/run-code.md');
  }
  toJSON() {
    return { _type: 'Frame', _guid: `frame@${this[ID]}` };
  }
}
mix(Frame, DOCUMENT);
mix(Frame, FINDERS);
offer(Frame, 'frame');

class Keyboard {
  #page;
  constructor(page) {
    this.#page = page;
  }
  #send(name, op, parameters) {
    return call(`keyboard.${name}`, op, { page: this.#page, ...parameters });
  }
  async press(key, given) {
    await this.#send('press', 'keyPress', { key: String(key), ...options('keyboard.press', given, 'delay') });
  }
  async type(text, given) {
    await this.#send('type', 'keyType', { text: String(text), ...options('keyboard.type', given, 'delay') });
  }
  async insertText(text) {
    await this.#send('insertText', 'insertText', { text: String(text) });
  }
  async down(key) {
    await this.#send('down', 'keyDown', { key: String(key) });
  }
  async up(key) {
    await this.#send('up', 'keyUp', { key: String(key) });
  }
}
offer(Keyboard, 'keyboard');

class Mouse {
  #page;
  #at = { x: 0, y: 0 };
  constructor(page) {
    this.#page = page;
  }
  #send(name, op, parameters) {
    return call(`mouse.${name}`, op, { page: this.#page, ...parameters });
  }
  async move(x, y, given) {
    const steps = Math.max(1, given?.steps ?? 1);
    const from = this.#at;
    for (let step = 1; step <= steps; step += 1) {
      this.#at = { x: from.x + ((x - from.x) * step) / steps, y: from.y + ((y - from.y) * step) / steps };
      await this.#send('move', 'mouseMove', this.#at);
    }
  }
  async down(given) {
    await this.#send('down', 'mouseDown', options('mouse.down', given, 'button'));
  }
  async up(given) {
    await this.#send('up', 'mouseUp', options('mouse.up', given, 'button'));
  }
  async click(x, y, given) {
    this.#at = { x, y };
    await this.#send('click', 'mouseClick', { x, y, ...options('mouse.click', given, 'button', 'clickCount', 'delay') });
  }
  async dblclick(x, y, given) {
    await this.click(x, y, { ...given, clickCount: 2 });
  }
  async wheel(deltaX, deltaY) {
    await this.#send('wheel', 'mouseWheel', { deltaX, deltaY });
  }
}
offer(Mouse, 'mouse');
