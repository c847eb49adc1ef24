// Records in the page's world which timers, frames, idle callbacks and messages an action causes, and reads what nothing else can reach: the
// semantics that custom elements have by `ElementInternals`, and the handlers that libraries store in elements. Runs in each document
// before its scripts,
// which must not be able to detect it, to influence it, or to reach the core through it. The core communicates with it by events on
// `performance` whose type pages cannot know; they carry only strings. Each native function is taken before a script of the page can
// replace it.

install("$EVENT$");

/** A function that was given to a timer with one delay. */
interface Scheduled {
  /** How often it was scheduled while no action was under way, and when it was due the last time. */
  count: number;
  due: number;
}

/** What the documents of one origin in a page share. */
interface State {
  now(): number;
  /** Until when what is scheduled counts as caused by the action. */
  until: number;
  /** When the pending timers are due, by the number of their window and their identifier. */
  due: Map<string, number>;
  /** The numbers of frames and messages, and of idle callbacks, that the action requested. */
  steps: number;
  idle: number;
  windows: number;
  /** The native functions of ours. */
  natives: WeakMap<object, object>;
  known: WeakMap<object, { delay: number; scheduled: Scheduled }>;
  bySource: Map<string, Scheduled>;
}

type Hook = (native: CallableFunction, self: unknown, args: unknown[]) => unknown;

function install(event: string): void {
  /** The longest delay that is waited for, in ms. */
  const limit = Number("$LIMIT$");
  /** How long what is scheduled counts as caused: from the beginning of an action, after a pointer event, and after the page was quiet. */
  const ACTION_TIME = 60_000;
  const POINTER_TIME = 1_000;
  const REST_TIME = 300;
  /** The shortest delay of nested timers, in ms. */
  const SHORTEST = 4;
  /** How long a message over a WebSocket is given to be answered, in ms. */
  const REPLY_TIME = 100;
  /** How long after it was due a function that polls is scheduled again, in ms: if it was scheduled once, and more often. */
  const NEXT_ROUND = 50;
  const ROUND = 1_000;
  /**
   * The same of an animation frame, in ms. Libraries request all frames by one function, which polls only if it requests one in almost
   * every frame.
   */
  const FRAME_ROUND = 100;
  /** How imprecise the clocks of browsers are, in ms. */
  const CLOCK_ERROR = 2;
  const MAX_PENDING = 2_000;
  const MAX_SOURCES = 500;
  const MAX_SOURCE = 300;
  /** The properties of `ElementInternals` that correspond to attributes. */
  const PROPERTIES =
    "role ariaLabel ariaChecked ariaDescription ariaDisabled ariaExpanded ariaInvalid ariaLevel ariaPlaceholder ariaPressed ariaReadOnly ariaSelected ariaValueNow ariaValueText".split(
      " ",
    );

  const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
  const { CustomEvent: Message, performance } = globalThis;
  const { now } = performance;
  const { max } = Math;
  const sourceOf = Function.prototype.toString;
  const { slice, split, startsWith } = String.prototype;
  const { get: getKnown, set: setKnown } = WeakMap.prototype;
  const { get, set, delete: remove, clear, forEach } = Map.prototype;
  const sizeOf = getter(Map.prototype, "size");
  const detailOf = getter(Message.prototype, "detail");
  const typeOf = getter(Event.prototype, "type");
  const { addEventListener, dispatchEvent } = EventTarget.prototype;
  const { querySelectorAll } = Document.prototype;
  const lengthOf = getter(NodeList.prototype, "length");
  const descriptionOf = getter(Symbol.prototype, "description");

  try {
    // The window of an initial document can be that of the next one too.
    apply(apply(sourceOf, event, []) as unknown as () => void, undefined, []);
    return;
  } catch {
    // The functions of this window are native.
  }

  const state = stateOfParent() ?? {
    now: () => apply(now, performance, []) as number,
    until: 0,
    due: new Map(),
    steps: 0,
    idle: 0,
    windows: 0,
    natives: new WeakMap(),
    known: new WeakMap(),
    bySource: new Map(),
  };
  const number = ++state.windows;
  const natives = {
    setTimer: globalThis.setTimeout,
    requestFrame: globalThis.requestAnimationFrame,
    requestIdle: globalThis.requestIdleCallback,
    post: MessagePort.prototype.postMessage,
  };

  wrap(globalThis, "setTimeout", (native, self, args) => {
    const callback = args.length > 0 ? args[0] : undefined;
    const given = args.length > 1 ? args[1] : 0;
    const delay = typeof given === "number" || typeof given === "string" ? +given || 0 : given === undefined ? 0 : limit + 1;
    if (delay > limit) return apply(native, self, args);
    const isCaused = begins(callback, delay);
    const id = apply(native, self, args) as unknown;
    if (isCaused && typeof id === "number") wait(`${number}:${id}`, max(delay, SHORTEST));
    return id;
  });
  for (const name of ["clearTimeout", "clearInterval"])
    wrap(globalThis, name, (native, self, args) => {
      const id = args.length > 0 ? args[0] : undefined;
      if (typeof id === "number" && apply(sizeOf, state.due, [])) apply(remove, state.due, [`${number}:${id}`]);
      return apply(native, self, args);
    });
  wrap(globalThis, "requestAnimationFrame", (native, self, args) => {
    if (begins(args.length > 0 ? args[0] : undefined, -1)) state.steps += 1;
    return apply(native, self, args);
  });
  wrap(globalThis, "requestIdleCallback", (native, self, args) => {
    if (begins(args.length > 0 ? args[0] : undefined, -2)) state.idle += 1;
    return apply(native, self, args);
  });
  wrap(MessagePort.prototype, "postMessage", (native, self, args) => {
    if (begins(self, -3)) state.steps += 1;
    return apply(native, self, args);
  });
  if (globalThis.WebSocket)
    wrap(WebSocket.prototype, "send", (native, self, args) => {
      if (begins(self, -4)) wait(`${number}:socket`, REPLY_TIME);
      return apply(native, self, args);
    });
  if (globalThis.ElementInternals) {
    const semantics = semanticsOfInternals();
    wrap(HTMLElement.prototype, "attachInternals", (native, self, args) => {
      const internals = apply(native, self, args) as object;
      apply(addEventListener, self, [event, () => answer(semantics(internals))]);
      return internals;
    });
  }
  wrap(Function.prototype, "toString", (native, self, args) => {
    if (self === event) return listen;
    return apply(native, (apply(getKnown, state.natives, [self]) as object | undefined) ?? self, args);
  });
  listen();

  /** Returns a function that reads the role and the ARIA properties of the internals of a custom element, as lines `attribute value`. */
  function semanticsOfInternals(): (internals: object) => string {
    const { prototype } = ElementInternals;
    const properties = PROPERTIES.map((name) => ({
      attribute: name === "role" ? name : `aria-${name.slice(4).toLowerCase()}`,
      get: getter(prototype, name),
    }));
    return (internals) => {
      let lines = "";
      for (let at = 0; at < properties.length; at++) {
        const { attribute, get } = properties[at] as { attribute: string; get: CallableFunction };
        const value = apply(get, internals, []) as unknown;
        if (typeof value === "string") lines += `${attribute} ${value}\n`;
      }
      return lines;
    };
  }

  /**
   * Returns the names of the handlers that libraries store in the elements of the document and dispatch themselves, such as `onClick` of
   * React and `__click` of Svelte: lines that begin with the position of the element.
   */
  function handlers(): string {
    const elements = apply(querySelectorAll, document, ["*"]) as Record<number, object>;
    const count = apply(lengthOf, elements, []) as number;
    let lines = "";
    for (let at = 0; at < count; at++) {
      let names = "";
      const keys = ownKeys(elements[at] as object);
      for (let index = 0; index < keys.length; index++) names += namesStoredAs(elements[at] as object, keys[index] as string | symbol);
      if (names) lines += `${at}${names}\n`;
    }
    return lines;
  }

  function namesStoredAs(e: object, key: string | symbol): string {
    const name = (typeof key === "symbol" ? apply(descriptionOf, key, []) : key) as string | undefined;
    const isSymbol = name === "events" && typeof key === "symbol";
    if (!name || !(isSymbol || (name[0] === "_" && name[1] === "_") || (name[0] === "$" && name[1] === "$"))) return "";
    const value = getOwnPropertyDescriptor(e, key)?.value as unknown;
    if (typeof value === "function") return ` ${name}`;
    if (typeof value !== "object" || !value || !(isSymbol || apply(startsWith, name, ["__react"]))) return "";
    let names = "";
    const keys = ownKeys(value);
    for (let index = 0; index < keys.length; index++) {
      const handler = keys[index] as string | symbol;
      const isHandler = typeof handler === "string" && (isSymbol || (handler[0] === "o" && handler[1] === "n"));
      if (isHandler && typeof getOwnPropertyDescriptor(value, handler)?.value === "function")
        names += isSymbol ? ` __${handler}` : ` ${handler}`;
    }
    return names;
  }

  function answer(detail: string): void {
    apply(dispatchEvent, performance, [new Message(`${event}.`, { detail })]);
  }

  function getter(owner: object, name: string): CallableFunction {
    return getOwnPropertyDescriptor(owner, name)?.get ?? (() => undefined);
  }

  /** Replaces a function by one that differs in nothing that a page can detect. */
  function wrap(of: object, name: string, hook: Hook): void {
    let owner: object | null = of;
    let descriptor: PropertyDescriptor | undefined;
    for (; owner && !descriptor; ) {
      descriptor = getOwnPropertyDescriptor(owner, name);
      if (!descriptor) owner = getPrototypeOf(owner);
    }
    const native = descriptor?.value as CallableFunction | undefined;
    if (!owner || !descriptor || typeof native !== "function") return;
    // Without a prototype, because traps would be searched for there.
    const proxy = new Proxy(native, { __proto__: null, apply: hook } as ProxyHandler<CallableFunction>);
    apply(setKnown, state.natives, [proxy, native]);
    descriptor.value = proxy;
    defineProperty(owner, name, descriptor);
  }

  /** Returns the state of the parent document, if it has the same origin. */
  function stateOfParent(): State | undefined {
    let found: State | undefined;
    try {
      if (parent === window || !isOfParentOrigin()) return undefined;
      const detail = (of: State): void => {
        found = of;
      };
      apply(dispatchEvent, parent.performance, [new Message(event, { detail })]);
    } catch {
      // A document without a parent that it may access.
    }
    return found;
  }

  /** Returns whether the parent document has the same origin; access to another one would log an error in the console. */
  function isOfParentOrigin(): boolean {
    const origins = location.ancestorOrigins as DOMStringList | undefined;
    // In WebKit, an element gets the prototypes of the window that refers to it first: `frameElement` would give it those of the frame.
    // In Firefox, the list is still empty in initial documents.
    return origins?.length ? origins[0] === origin && origin !== "null" : !!frameElement;
  }

  function wait(key: string, delay: number): void {
    if ((apply(sizeOf, state.due, []) as number) < MAX_PENDING) apply(set, state.due, [key, state.now() + delay]);
  }

  /** Records that a function is scheduled. Returns whether the action caused that: it is under way, and the function did not poll before. */
  function begins(callback: unknown, delay: number): boolean {
    const scheduled = scheduledBefore(callback, delay);
    const time = state.now();
    const isCaused = time < state.until;
    const late = time - scheduled.due;
    const round = delay === -1 ? FRAME_ROUND : ROUND;
    const polls = scheduled.count > 1 ? late < round : scheduled.count > 0 && late > -SHORTEST && late < NEXT_ROUND;
    if (isCaused && !polls) return true;
    scheduled.count += 1;
    scheduled.due = time + max(delay, 0);
    return false;
  }

  /** Functions with the same source are the same one: a new closure for each round. */
  function scheduledBefore(callback: unknown, delay: number): Scheduled {
    const isObject = (typeof callback === "object" && callback !== null) || typeof callback === "function";
    const known = isObject ? (apply(getKnown, state.known, [callback]) as { delay: number; scheduled: Scheduled } | undefined) : undefined;
    if (known?.delay === delay) return known.scheduled;
    let source = "";
    if (typeof callback === "function") source = apply(sourceOf, callback, []) as string;
    else if (typeof callback === "string") source = callback;
    let scheduled: Scheduled | undefined;
    if (source) {
      const key = `${delay} ${source.length} ${source.length > MAX_SOURCE ? apply(slice, source, [0, MAX_SOURCE]) : source}`;
      scheduled = apply(get, state.bySource, [key]) as Scheduled | undefined;
      if (!scheduled) {
        if ((apply(sizeOf, state.bySource, []) as number) >= MAX_SOURCES) apply(clear, state.bySource, []);
        scheduled = { count: 0, due: 0 };
        apply(set, state.bySource, [key, scheduled]);
      }
    }
    scheduled ??= { count: 0, due: 0 };
    if (isObject) apply(setKnown, state.known, [callback, { delay, scheduled }]);
    return scheduled;
  }

  function begin(time: number): void {
    const present = state.now();
    if (present >= state.until) reset();
    if (state.until < present + time) state.until = present + time;
  }

  function reset(): void {
    apply(clear, state.due, []);
    state.steps = state.idle = 0;
  }

  /** Returns in how many ms the last pending timer within `most` ms runs. Timers that were due `ran` ms ago have run. */
  function left(most: number, ran: number): number {
    const present = state.now();
    let last = 0;
    apply(forEach, state.due, [
      (due: number, key: string) => {
        const time = due - present;
        if (time < -ran - CLOCK_ERROR) apply(remove, state.due, [key]);
        else if (time <= most) last = max(last, time, 1);
      },
    ]);
    return last;
  }

  function onCommand(command: Event): void {
    const detail = apply(detailOf, command, []) as unknown;
    // Another document, or the core in the same world.
    if (typeof detail === "function") apply(detail as CallableFunction, undefined, [state, natives]);
    if (typeof detail !== "string") return;
    if (detail === "handlers") {
      answer(handlers());
      return;
    }
    listen();
    if (detail === "begin") reset();
    if (detail === "begin" || detail === "hold") begin(ACTION_TIME);
    else if (detail === "rest") state.until = state.now() + REST_TIME;
    else if (detail === "end") state.until = 0;
    const [most, ran] = apply(split, detail, [" "]) as string[];
    answer(`${left(+(most ?? 0) || 0, +(ran ?? 0) || 0)} ${state.steps} ${state.idle}`);
  }

  function onInput(input: Event): void {
    if (!input.isTrusted) return;
    const type = apply(typeOf, input, []) as string;
    begin(type === "pointerover" || type === "pointermove" ? POINTER_TIME : ACTION_TIME);
  }

  /** `document.open` removes the listeners of the window. */
  function listen(): void {
    apply(addEventListener, performance, [event, onCommand]);
    for (const type of ["pointerover", "pointermove", "pointerdown", "pointerup", "keydown", "keyup", "beforeinput", "input", "wheel"])
      apply(addEventListener, globalThis, [type, onInput, { capture: true, passive: true }]);
  }
}
