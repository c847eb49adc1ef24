// A model of a document: elements with attributes and text, events and input, as far as tests of the server need them. Each element is a line of the page: there is no layout and no
// style. The value of this script is a function of the native functions and the facts about the document, which returns the functions that
// the engine calls.
(native, facts, functionsOf) => {
  const VOID = /^(area|base|br|col|embed|hr|img|input|link|meta|source|wbr)$/;
  const RAW = /^(script|style|title|textarea)$/;
  const HEAD = /^(base|link|meta|style|title)$/;
  const HIDDEN = /^(head|script|style|title|template|link|meta|base)$/;
  const INLINE = /^(a|b|br|button|code|em|i|img|input|kbd|label|output|select|small|span|strong|textarea|u)$/;
  const FIELD = /^(input|textarea|select)$/;
  const TEXT_TYPES = /^(text|email|number|password|search|tel|url)$/;
  const LINE_HEIGHT = 10;

  const squash = (text) => text.replace(/\s+/g, " ").trim();
  const decode = (text) =>
    text.replace(/&(lt|gt|amp|quot|#39);/g, (_, name) => ({ lt: "<", gt: ">", amp: "&", quot: '"', "#39": "'" })[name]);

  class Event {
    constructor(type, { bubbles = false, isTrusted = false, ...more } = {}) {
      Object.assign(this, { type, bubbles, isTrusted, defaultPrevented: false, isStopped: false, ...more });
    }
    preventDefault() {
      this.defaultPrevented = true;
    }
    stopPropagation() {
      this.isStopped = true;
    }
  }

  class EventTarget {
    addEventListener(type, listener) {
      this.listeners ??= {};
      (this.listeners[type] ??= []).push(listener);
    }
    removeEventListener(type, listener) {
      const all = this.listeners?.[type];
      if (all?.includes(listener)) all.splice(all.indexOf(listener), 1);
    }
    dispatchEvent(event) {
      event.target = this;
      const path = [this];
      if (event.bubbles) {
        for (let up = this.parentNode; up; up = up.parentNode) path.push(up);
        path.push(globalThis);
      }
      for (const current of path) {
        if (event.isStopped) break;
        event.currentTarget = current;
        for (const listener of [handlerOf(current, event.type), ...(current.listeners?.[event.type] ?? [])]) {
          try {
            if (listener?.call(current, event) === false) event.preventDefault();
          } catch (error) {
            uncaught(error);
          }
        }
      }
      return !event.defaultPrevented;
    }
  }

  /** Returns the handler that a property or an attribute defines. */
  function handlerOf(target, type) {
    const own = target[`on${type}`];
    if (typeof own === "function") return own;
    const code = target instanceof Element && target.getAttribute(`on${type}`);
    return code ? new Function("event", code) : undefined;
  }

  const uncaught = (error) => native.report(JSON.stringify({ kind: "pageError", text: `Uncaught ${error}` }));

  class Node extends EventTarget {
    childNodes = [];
    parentNode = null;
    get children() {
      return this.childNodes.filter((child) => child instanceof Element);
    }
    get isConnected() {
      for (let up = this; up; up = up.parentNode) if (up === document) return true;
      return false;
    }
    get textContent() {
      return this.childNodes.map((child) => child.textContent).join("");
    }
    set textContent(text) {
      this.childNodes = [];
      this.append(String(text));
    }
    get innerText() {
      return squash(this.textContent);
    }
    append(...nodes) {
      for (const node of nodes) {
        const child = node instanceof Node ? node : new Text(String(node));
        child.remove();
        child.parentNode = this;
        this.childNodes.push(child);
      }
      changed();
    }
    remove() {
      const siblings = this.parentNode?.childNodes;
      if (!siblings) return;
      siblings.splice(siblings.indexOf(this), 1);
      this.parentNode = null;
      changed();
    }
    contains(other) {
      for (let up = other; up; up = up.parentNode) if (up === this) return true;
      return false;
    }
    querySelectorAll(selector) {
      return everyElement(this).filter((e) => matches(e, selector));
    }
    querySelector(selector) {
      return this.querySelectorAll(selector)[0] ?? null;
    }
  }

  class Text extends Node {
    constructor(data) {
      super();
      this.data = data;
    }
    get textContent() {
      return this.data;
    }
  }

  class Element extends Node {
    attributes = new Map();
    constructor(name) {
      super();
      this.localName = name;
    }
    getAttribute(name) {
      return this.attributes.get(name) ?? null;
    }
    hasAttribute(name) {
      return this.attributes.has(name);
    }
    setAttribute(name, value) {
      this.attributes.set(name, String(value));
      changed();
    }
    get id() {
      return this.getAttribute("id") ?? "";
    }
    get tagName() {
      return this.localName.toUpperCase();
    }
    get type() {
      return this.getAttribute("type") ?? (this.localName === "input" ? "text" : "");
    }
    set type(type) {
      this.setAttribute("type", type);
    }
    get href() {
      return JSON.parse(native.parse(this.getAttribute("href") ?? "", here.href))?.href ?? "";
    }
    get disabled() {
      return this.hasAttribute("disabled");
    }
    set disabled(disabled) {
      if (disabled) this.setAttribute("disabled", "");
      else this.attributes.delete("disabled");
      changed();
    }
    get value() {
      if (this.typed !== undefined) return this.typed;
      if (this.localName === "textarea") return this.textContent;
      if (this.localName !== "select") return this.getAttribute("value") ?? "";
      return this.querySelectorAll("option").find((option) => option.selected)?.value ?? "";
    }
    set value(value) {
      this.typed = String(value);
      changed();
    }
    get checked() {
      return this.isChecked ?? this.hasAttribute("checked");
    }
    set checked(checked) {
      this.isChecked = !!checked;
      changed();
    }
    get selected() {
      const options = this.parentNode.querySelectorAll("option");
      return (options.find((option) => option.isSelected) ?? options[0]) === this;
    }
    get control() {
      const id = this.getAttribute("for");
      return id === null ? this.querySelector("input, textarea, select") : document.getElementById(id);
    }
    closest(selector) {
      let up = this;
      while (up instanceof Element && !matches(up, selector)) up = up.parentNode;
      return up instanceof Element ? up : null;
    }
    matches(selector) {
      return matches(this, selector);
    }
    getBoundingClientRect() {
      const y = lines().indexOf(this) * LINE_HEIGHT;
      return { x: 0, y, width: facts.width, height: y < 0 ? 0 : LINE_HEIGHT };
    }
    focus() {
      if (focused === this || this.disabled) return;
      this.ownerBlur();
      focused = this;
      this.dispatchEvent(new Event("focus", { isTrusted: true }));
    }
    blur() {
      if (focused === this) this.ownerBlur();
    }
    ownerBlur() {
      const before = focused;
      focused = undefined;
      if (before?.isEdited) before.dispatchEvent(new Event("change", { bubbles: true, isTrusted: true }));
      if (before) before.isEdited = false;
      before?.dispatchEvent(new Event("blur", { isTrusted: true }));
    }
    click() {
      clickAt(this, false);
    }
    set innerHTML(html) {
      this.childNodes = [];
      build(html, this);
    }
    get outerHTML() {
      return outerOf(this);
    }
  }

  const outerOf = (node) => {
    if (node instanceof Text) return node.data;
    const attributes = [...node.attributes].map(([name, value]) => ` ${name}="${value}"`).join("");
    const open = `<${node.localName}${attributes}>`;
    return VOID.test(node.localName) ? open : `${open}${node.childNodes.map(outerOf).join("")}</${node.localName}>`;
  };

  class Document extends Node {
    get body() {
      return this.documentElement.children.find((e) => e.localName === "body");
    }
    get activeElement() {
      return focused ?? this.body;
    }
    get title() {
      return squash(this.querySelector("title")?.textContent ?? "");
    }
    set title(title) {
      const element = this.querySelector("title") ?? this.createElement("title");
      if (!element.parentNode) this.documentElement.children[0].append(element);
      element.textContent = title;
    }
    get cookie() {
      return native.cookie("");
    }
    set cookie(cookie) {
      native.cookie(cookie);
    }
    get location() {
      return here;
    }
    set location(url) {
      go(url);
    }
    getElementById(id) {
      return everyElement(this).find((e) => e.id === id) ?? null;
    }
    createElement(name) {
      return new Element(name);
    }
  }

  // What waits for the next change of the document.
  let waiting = [];
  function changed() {
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  }

  const document = new Document();
  let focused;
  let here;

  function everyElement(scope) {
    return scope.children.flatMap((child) => [child, ...everyElement(child)]);
  }

  /** Returns the elements that have a box, in their order. */
  function lines() {
    return [document.body, ...everyElement(document.body)].filter(isVisible);
  }

  function isVisible(e) {
    for (let up = e; up instanceof Element; up = up.parentNode) {
      if (HIDDEN.test(up.localName) || up.hasAttribute("hidden") || /display:\s*none/.test(up.getAttribute("style") ?? "")) return false;
    }
    return e.isConnected && e.type !== "hidden";
  }

  // Parsing.

  const TOKEN =
    /<!--[\s\S]*?-->|<!doctype[^>]*>|<\/([a-z][\w-]*)\s*>|<([a-z][\w-]*)((?:\s+[^\s=>/]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+))?)*)\s*\/?>|[^<]+|</gi;
  const ATTRIBUTE = /([^\s=>/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?/g;

  function build(html, root) {
    const scripts = [];
    let parent = root;
    for (TOKEN.lastIndex = 0; TOKEN.lastIndex < html.length; ) {
      const [token, end, start, attributes] = TOKEN.exec(html);
      const name = (end ?? start)?.toLowerCase();
      if (/^(html|head|body)$/.test(name)) continue;
      if (end) {
        let up = parent;
        while (up !== root && up.localName !== name) up = up.parentNode;
        if (up !== root) parent = up.parentNode;
      } else if (start) {
        const e = new Element(name);
        for (const [, key, ...values] of attributes.matchAll(ATTRIBUTE)) e.attributes.set(key.toLowerCase(), decode(values.join("")));
        if (parent.localName === "p" && !INLINE.test(name)) parent = parent.parentNode;
        if (/^(li|option)$/.test(name) && parent.localName === name) parent = parent.parentNode;
        (root === document.body && HEAD.test(name) ? document.documentElement.children[0] : parent).append(e);
        if (RAW.test(name)) {
          const from = TOKEN.lastIndex;
          const length = html.slice(from).search(new RegExp(`</${name}`, "i"));
          const text = html.slice(from, length < 0 ? undefined : from + length);
          TOKEN.lastIndex = length < 0 ? html.length : html.indexOf(">", from + length) + 1;
          e.append(name === "script" ? text : decode(text));
          if (name === "script") scripts.push(e);
        } else if (!VOID.test(name)) {
          parent = e;
        }
      } else if (!token.startsWith("<!")) {
        parent.append(decode(token));
      }
    }
    return scripts;
  }

  // Selectors.

  const PART = /^(\*|[a-z][\w-]*)?((?:#[\w-]+|\.[\w-]+|\[[^\]]+\]|:(?:disabled|checked|enabled))*)$/i;

  function matches(e, selector) {
    return selector.split(",").some((one) => {
      const parts = one
        .trim()
        .split(/\s*(>)\s*|\s+/)
        .filter(Boolean);
      return matchesParts(e, parts);
    });
  }

  function matchesParts(e, parts) {
    if (!matchesPart(e, parts.at(-1))) return false;
    let rest = parts.slice(0, -1);
    if (!rest.length) return true;
    const isChild = rest.at(-1) === ">";
    if (isChild) rest = rest.slice(0, -1);
    for (let up = e.parentNode; up instanceof Element; up = up.parentNode) {
      if (matchesParts(up, rest)) return true;
      if (isChild) return false;
    }
    return false;
  }

  function matchesPart(e, part) {
    const found = PART.exec(part);
    if (!found) throw new SyntaxError(`'${part}' is not a valid selector.`);
    const [, tag, conditions] = found;
    if (tag && tag !== "*" && tag.toLowerCase() !== e.localName) return false;
    return (conditions.match(/#[\w-]+|\.[\w-]+|\[[^\]]+\]|:\w+/g) ?? []).every((condition) => {
      const name = condition.slice(1);
      if (condition[0] === "#") return e.id === name;
      if (condition[0] === ".") return (e.getAttribute("class") ?? "").split(/\s+/).includes(name);
      if (condition[0] === ":") return name === "enabled" ? !e.disabled : !!e[name];
      const [key, value] = name.slice(0, -1).split("=");
      return value === undefined ? e.hasAttribute(key) : e.getAttribute(key) === value.replace(/^["']|["']$/g, "");
    });
  }

  // Input.

  function clickAt(e, isTrusted) {
    const control = e.closest("button, a, input, label, option");
    if (control?.disabled) return;
    if (!e.dispatchEvent(new Event("click", { bubbles: true, isTrusted })) || !control) return;
    const name = control.localName;
    if (name === "label" && control.control && control.control !== e) clickAt(control.control, isTrusted);
    else if (name === "a" && control.hasAttribute("href")) {
      if (control.getAttribute("target") === "_blank") native.open(control.href);
      else go(control.href);
    } else if (/^(checkbox|radio)$/.test(control.type)) {
      control.checked = control.type === "radio" || !control.checked;
      edited(control);
    } else if (control.type === "file") {
      chooser = control;
      native.choose(control.hasAttribute("multiple"));
    } else if (control.closest("form") && /^(submit|)$/.test(control.type) && /^(button|input)$/.test(name))
      submit(control.closest("form"));
  }

  let chooser;

  function submit(form) {
    if (!form.dispatchEvent(new Event("submit", { bubbles: true, isTrusted: true }))) return;
    const fields = form.querySelectorAll("input, textarea, select").filter((field) => field.hasAttribute("name"));
    const query = fields.map((field) => `${encodeURIComponent(field.getAttribute("name"))}=${encodeURIComponent(field.value)}`).join("&");
    go(`${(form.getAttribute("action") ?? here.href).split("?")[0]}?${query}`);
  }

  function edited(field) {
    changed();
    field.dispatchEvent(new Event("input", { bubbles: true, isTrusted: true }));
    if (/^(checkbox|radio|file)$/.test(field.type) || field.localName === "select") {
      field.dispatchEvent(new Event("change", { bubbles: true, isTrusted: true }));
    } else {
      field.isEdited = true;
    }
  }

  const isTextField = (e) => e?.localName === "textarea" || (e?.localName === "input" && TEXT_TYPES.test(e.type));

  function insert(text) {
    if (!isTextField(focused)) return;
    focused.value = focused.isSelected ? text : focused.value + text;
    focused.isSelected = false;
    edited(focused);
  }

  function press({ key, text }, modifiers) {
    const at = document.activeElement;
    if (!at.dispatchEvent(new Event("keydown", { bubbles: true, isTrusted: true, key }))) return;
    if (modifiers.some((modifier) => /Control|Meta/.test(modifier))) {
      if (key.toLowerCase() === "a" && isTextField(focused)) focused.isSelected = true;
    } else if (key === "Enter" && at.localName !== "textarea") {
      if (/^(a|button)$/.test(at.localName)) clickAt(at, true);
      else if (at.closest("form")) submit(at.closest("form"));
    } else if (/^(Backspace|Delete)$/.test(key) && isTextField(at)) {
      at.value = at.isSelected || key === "Delete" ? "" : at.value.slice(0, -1);
      at.isSelected = false;
      edited(at);
    } else if (text) insert(text);
  }

  function perform({ type, ...step }) {
    const target = step.y === undefined ? undefined : (lines()[Math.floor(step.y / LINE_HEIGHT)] ?? document.body);
    const event = (type) => target.dispatchEvent(new Event(type, { bubbles: true, isTrusted: true, button: step.button }));
    if (type === "move") {
      if (hovered !== target) event("mouseover");
      hovered = target;
      event("mousemove");
    } else if (type === "down") {
      if (!event("mousedown")) return;
      const focusable = target.closest("a, button, input, textarea, select") ?? target.closest("label")?.control;
      if (focusable) focusable.focus();
      else focused?.blur();
    } else if (type === "up") {
      event("mouseup");
      if (step.button === "left") clickAt(target, true);
      if (step.count === 2) event("dblclick");
    } else if (type === "keyDown") press(step, step.modifiers);
    else if (type === "keyUp") document.activeElement.dispatchEvent(new Event("keyup", { bubbles: true, isTrusted: true, key: step.key }));
    else if (type === "insert") insert(step.text);
  }

  let hovered;

  // The window.

  function go(to) {
    const url = JSON.parse(native.parse(String(to), here.href));
    if (!url) throw new SyntaxError(`'${to}' is not a valid URL.`);
    if (url.hash && url.href.split("#")[0] === here.href.split("#")[0]) {
      Object.assign(here.parts, url);
      native.move(url.href);
    } else native.navigate(url.href);
  }

  function locationOf(url) {
    const parts = JSON.parse(native.parse(url, url));
    const location = { parts, assign: go, replace: go, reload: () => native.navigate(parts.href), toString: () => parts.href };
    for (const name of Object.keys(parts)) Object.defineProperty(location, name, { get: () => parts[name], set: go, enumerable: true });
    Object.defineProperty(location, "parts", { enumerable: false });
    return location;
  }

  /** Creates `localStorage` or `sessionStorage`. */
  function storage(area, entries) {
    const save = () => native.store(area, JSON.stringify(Object.entries(entries)));
    const methods = {
      getItem: (key) => entries[key] ?? null,
      setItem: (key, value) => {
        entries[key] = String(value);
        save();
      },
      removeItem: (key) => {
        delete entries[key];
        save();
      },
      clear: () => {
        for (const key of Object.keys(entries)) delete entries[key];
        save();
      },
    };
    return new Proxy(entries, {
      get: (_, key) => (key === "length" ? Object.keys(entries).length : (methods[key] ?? entries[key])),
      set: (_, key, value) => (methods.setItem(key, value), true),
      deleteProperty: (_, key) => (methods.removeItem(key), true),
    });
  }

  // The calls that wait for something outside: each settles later, by its number.
  const pending = new Map();
  let calls = 0;
  const outside = (start) =>
    new Promise((resolve, reject) => {
      pending.set(++calls, { resolve, reject });
      start(calls);
    });

  async function fetch(url, { method = "GET", body = "", headers = {} } = {}) {
    const to = JSON.parse(native.parse(String(url), here.href))?.href;
    const answer = JSON.parse(
      await outside((id) => native.fetch(id, JSON.stringify({ url: to, method, body, headers: Object.entries(headers) }))),
    );
    const text = async () => answer.body;
    return {
      ...answer,
      ok: answer.status >= 200 && answer.status < 300,
      headers: { get: (name) => answer.headers.find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1] ?? null },
      text,
      json: async () => JSON.parse(answer.body),
    };
  }

  const timers = new Set();
  let timer = 0;
  function setTimer(code, ms = 0, repeats = false, ...values) {
    const id = ++timer;
    timers.add(id);
    const start = () =>
      outside((call) => native.sleep(call, Math.max(ms, 0))).then(() => {
        if (!timers.has(id)) return;
        if (!repeats) timers.delete(id);
        try {
          if (typeof code === "function") code(...values);
          else native.run(code);
        } catch (error) {
          uncaught(error);
        }
        if (repeats) start();
      });
    start();
    return id;
  }
  const setTimeout = (code, ms, ...values) => setTimer(code, ms, false, ...values);
  const clearTimeout = (id) => timers.delete(id);

  const print =
    (kind) =>
    (...values) =>
      native.report(JSON.stringify({ kind, text: values.map(String).join(" ") }));
  const dialog = (kind, message, value = "") => JSON.parse(native.dialog(kind, String(message), String(value)));

  here = locationOf(facts.url);
  const window = {
    Event,
    EventTarget,
    Node,
    Text,
    Element,
    Document,
    document,
    fetch,
    setTimeout,
    clearTimeout,
    window: globalThis,
    self: globalThis,
    origin: here.origin,
    navigator: { userAgent: facts.userAgent, language: facts.language, webdriver: false, onLine: true },
    screen: { width: facts.width, height: facts.height },
    innerWidth: facts.width,
    innerHeight: facts.height,
    devicePixelRatio: 1,
    console: { log: print("log"), info: print("info"), warn: print("warning"), error: print("error"), debug: print("debug") },
    performance: { now: () => Date.now() },
    setInterval: (code, ms, ...values) => setTimer(code, ms, true, ...values),
    clearInterval: clearTimeout,
    requestAnimationFrame: (code) => setTimeout(code, 16),
    alert: (message = "") => void dialog("alert", message),
    confirm: (message = "") => !!dialog("confirm", message),
    prompt: (message = "", value = "") => dialog("prompt", message, value)?.text ?? null,
    open: (url) => (native.open(JSON.parse(native.parse(String(url), here.href)).href), null),
    indexedDB: { databases: async () => [] },
    addEventListener: EventTarget.prototype.addEventListener,
    removeEventListener: EventTarget.prototype.removeEventListener,
    dispatchEvent: EventTarget.prototype.dispatchEvent,
  };
  for (const [name, value] of Object.entries(window))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  Object.defineProperty(globalThis, "location", { get: () => here, set: go });
  if (here.origin !== "null") {
    const areas = { localStorage: facts.local, sessionStorage: facts.session };
    for (const [name, entries] of Object.entries(areas)) {
      Object.defineProperty(globalThis, name, { value: storage(name, Object.fromEntries(entries)) });
    }
  }

  document.documentElement = new Element("html");
  document.append(document.documentElement);
  document.documentElement.append(new Element("head"), new Element("body"));

  const { call, held } = functionsOf({
    Element,
    Event,
    Text,
    document,
    edited,
    everyElement,
    insert,
    isTextField,
    isVisible,
    matches,
    setTimeout,
    squash,
    focused: () => focused,
    location: () => here,
    onChange: (wake) => waiting.push(wake),
  });
  const functions = {
    /** Calls a function and passes its result on. */
    invoke: (id, name, args) =>
      new Promise((done) => done(functions[name](...JSON.parse(args)))).then(
        (text) => native.reply(id, true, text),
        (error) => native.reply(id, false, String(error)),
      ),
    /** Parses the document and runs its scripts. */
    load(html) {
      for (const script of facts.initScripts) run(script);
      for (const script of build(html, document.body)) {
        defineNames();
        if (!script.hasAttribute("src")) run(script.textContent);
      }
      defineNames();
    },
    fire: (type) => (type === "load" ? globalThis : document).dispatchEvent(new Event(type)),
    settle: (id, isResolved, value) => {
      const waiter = pending.get(id);
      pending.delete(id);
      if (isResolved) waiter?.resolve(value);
      else waiter?.reject(new TypeError(value));
    },
    call: async (name, argument) => JSON.stringify((await call(name, JSON.parse(argument))) ?? null),
    evaluate: async (source, handles, isList) => {
      const found = JSON.parse(handles).map(held);
      return (await native.evaluate(`(${source})`)(isList === "true" ? found : found[0])) ?? "";
    },
    run: async (code) => String(await native.evaluate(code)),
    parses: (script) => {
      try {
        // A `return` is no error in the body of a function.
        native.evaluate(`if (false) {\n${script}\n}`);
        return "true";
      } catch {
        return "";
      }
    },
    input: (steps) => {
      for (const step of JSON.parse(steps)) perform(step);
      return "";
    },
    choose: (handle, names) => {
      const input = handle === "" ? chooser : held(Number(handle));
      input.files = JSON.parse(names).map((name) => ({ name }));
      input.typed = input.files.length ? `C:\\fakepath\\${input.files[0].name}` : "";
      edited(input);
      return "";
    },
  };
  return functions;

  function run(script) {
    const error = native.run(script);
    if (error) uncaught(error);
  }

  /** Defines the global names of the elements with an id. */
  function defineNames() {
    for (const { id } of everyElement(document)) {
      if (id && !(id in globalThis)) {
        Object.defineProperty(globalThis, id, { get: () => document.getElementById(id), configurable: true });
      }
    }
  }
};
