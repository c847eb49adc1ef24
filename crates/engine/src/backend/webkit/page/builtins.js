// Returns the built-ins of the document, recorded before its own scripts run: `during` calls a function with them, although the page may have
// replaced some, and gives the page's own back afterwards; `then` waits for a promise. Nothing here uses what a page can replace.
(() => {
  const { defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames, getOwnPropertySymbols } = Object;
  const { apply, deleteProperty } = Reflect;
  const nativeThen = Promise.prototype.then;
  const objects = [];
  const keys = [];
  const natives = [];
  let count = 0;
  const record = (object, names) => {
    for (let i = 0; i < names.length; i++) {
      const { value, configurable } = getOwnPropertyDescriptor(object, names[i]) ?? {};
      if (!configurable || (typeof value !== "function" && typeof value !== "object")) continue;
      objects[count] = object;
      keys[count] = names[i];
      natives[count++] = value;
    }
  };
  const globals = [
    "Object", "Function", "Array", "String", "Number", "Boolean", "Symbol", "BigInt", "Math", "JSON", "Reflect", "Promise", "Proxy", "Map",
    "Set", "WeakMap", "WeakSet", "WeakRef", "Date", "RegExp", "Error", "TypeError", "RangeError", "URL", "Node", "Element", "HTMLElement",
    "Document", "ShadowRoot", "EventTarget", "Event", "CSSStyleDeclaration", "DOMRect", "Range", "NodeFilter", "MutationObserver",
    "IntersectionObserver", "parseInt", "parseFloat", "isNaN", "isFinite", "encodeURIComponent", "getComputedStyle", "setTimeout",
    "clearTimeout", "requestAnimationFrame", "cancelAnimationFrame", "queueMicrotask",
  ];
  record(globalThis, globals);
  for (let i = 0; i < globals.length; i++) {
    const owner = globalThis[globals[i]];
    const prototype = owner?.prototype;
    for (const object of prototype ? [owner, prototype] : [owner]) {
      if (!object) continue;
      record(object, getOwnPropertyNames(object));
      record(object, getOwnPropertySymbols(object));
    }
  }
  const iterators = [[][Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](), ""[Symbol.iterator]()];
  for (const iterator of iterators) record(Object.getPrototypeOf(iterator), ["next"]);
  // Built-ins that do not exist, but change what others do.
  const added = [Object, Array, String, Number, Boolean, Function].map((owner) => owner.prototype);
  const set = (object, key, descriptor) => {
    try {
      if (descriptor) defineProperty(object, key, descriptor);
      else deleteProperty(object, key);
    } catch {}
  };
  const during = (run) => {
    const replaced = [];
    let length = 0;
    const replace = (object, key, native) => {
      replaced[length] = { __proto__: null, object, key, descriptor: getOwnPropertyDescriptor(object, key) };
      length++;
      set(object, key, native);
    };
    for (let i = 0; i < added.length; i++) if (getOwnPropertyDescriptor(added[i], "toJSON")) replace(added[i], "toJSON");
    for (let i = 0; i < count; i++) {
      if (objects[i][keys[i]] === natives[i]) continue;
      replace(objects[i], keys[i], { __proto__: null, value: natives[i], writable: true, configurable: true });
    }
    try {
      return run();
    } finally {
      for (let i = length - 1; i >= 0; i--) set(replaced[i].object, replaced[i].key, replaced[i].descriptor);
    }
  };
  const then = (promise, done, failed) => {
    const next = apply(nativeThen, promise, [(value) => during(() => done(value)), failed && ((error) => during(() => failed(error)))]);
    // The browser waits with the page's function otherwise.
    return defineProperty(next, "then", { __proto__: null, value: nativeThen });
  };
  return { during, then, apply };
})()
