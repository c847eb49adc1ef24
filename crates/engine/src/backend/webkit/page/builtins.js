// Returns the built-ins of the document, recorded before its own scripts run: `during` calls a function with them, although the page may have
// replaced some, and gives the page's own back afterwards; `then` waits for a promise; `globals` are those of the names, for the injected
// code: what runs later in it has the recorded built-ins, too. Nothing here uses what a page can replace.
function recordBuiltIns(names) {
  const { defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames, getOwnPropertySymbols, getPrototypeOf } = Object;
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
  record(globalThis, names);
  const globals = [];
  for (let i = 0; i < names.length; i++) {
    const owner = (globals[i] = globalThis[names[i]]);
    const prototype = owner?.prototype;
    for (const object of prototype ? [owner, prototype] : [owner]) {
      if (!object) continue;
      record(object, getOwnPropertyNames(object));
      record(object, getOwnPropertySymbols(object));
    }
  }
  const iterators = [[][Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](), ""[Symbol.iterator]()];
  for (const iterator of iterators) record(getPrototypeOf(iterator), ["next"]);
  // Built-ins that do not exist, but change what others do.
  const added = [Object, Array, String, Number, Boolean, Function].map((owner) => owner.prototype);
  // Properties of these hide those of their prototypes.
  const instances = [document, performance];
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
      const descriptor = getOwnPropertyDescriptor(object, key);
      // An element of that name is no property that can be given back.
      if (!native && !deleteProperty(object, key)) return;
      if (native) set(object, key, native);
      replaced[length++] = { __proto__: null, object, key, descriptor };
    };
    for (let i = 0; i < added.length; i++) if (getOwnPropertyDescriptor(added[i], "toJSON")) replace(added[i], "toJSON");
    for (let n = 0; n < instances.length; n++) {
      const object = instances[n];
      const names = getOwnPropertyNames(object);
      const prototype = getPrototypeOf(object);
      for (let i = 0; i < names.length; i++) if (names[i] in prototype) replace(object, names[i]);
    }
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
  const later = (run) => run && ((one, two) => during(() => run(one, two)));
  const [Native, Observer] = [Promise, MutationObserver];
  class Later extends Native {
    static [Symbol.hasInstance](value) {
      return value instanceof Native;
    }
    // biome-ignore lint/suspicious/noThenProperty: a promise has it
    then(done, failed) {
      return apply(nativeThen, this, [later(done), later(failed)]);
    }
  }
  class LaterObserver extends Observer {
    constructor(run) {
      super(later(run));
    }
  }
  for (let i = 0; i < names.length; i++) {
    if (globals[i] === Native) globals[i] = Later;
    else if (globals[i] === Observer) globals[i] = LaterObserver;
  }
  return { during, then, apply, globals };
}
