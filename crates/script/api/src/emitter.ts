// Event listeners of pages and of the browser context.

import { TimeoutError } from "./calls";
import { methods, type Options, options } from "./offer";
import { EMIT, LISTEN, LISTENERS, NAME, TIMEOUTS, WAIT } from "./symbols";
import { clearTimer, report, setTimer } from "./timers";

export type Listener = ((...args: any[]) => unknown) & { listener?: Listener };
export type Listeners = Record<string, Listener[]>;

interface Target {
  [LISTENERS]: Listeners;
  /** Notifies the server that the first listener of an event was added, or the last one removed. */
  [LISTEN](event: string, on: boolean): void;
  /** The prefix of error messages. */
  readonly [NAME]: string;
  [TIMEOUTS]: { action: number };
}

export const EMITTER = methods<Target>()({
  on<This>(this: This, event: string, listener: Listener): This {
    const target = this as Target;
    const all = (target[LISTENERS][event] ??= []);
    all.push(listener);
    if (all.length === 1) target[LISTEN](event, true);
    return this;
  },
  addListener<This>(this: This, event: string, listener: Listener): This {
    return (this as Emitter & This).on(event, listener);
  },
  once<This>(this: This, event: string, listener: Listener): This {
    const emitter = this as Emitter & This;
    const once: Listener = (...args) => {
      emitter.off(event, once);
      return listener(...args);
    };
    once.listener = listener;
    return emitter.on(event, once);
  },
  off<This>(this: This, event: string, listener: Listener): This {
    const target = this as Target;
    const all = target[LISTENERS][event] ?? [];
    const at = all.findIndex((each) => each === listener || each.listener === listener);
    if (at >= 0) all.splice(at, 1);
    if (at >= 0 && all.length === 0) target[LISTEN](event, false);
    return this;
  },
  removeListener<This>(this: This, event: string, listener: Listener): This {
    return (this as Emitter & This).off(event, listener);
  },
  removeAllListeners<This>(this: This, event?: string): This {
    const emitter = this as Emitter & Target & This;
    for (const name of event === undefined ? Object.keys(emitter[LISTENERS]) : [event]) {
      for (const listener of [...(emitter[LISTENERS][name] ?? [])]) emitter.off(name, listener);
    }
    return this;
  },
  async waitForEvent(event: string, given?: Options | Listener): Promise<any> {
    return this[WAIT]("waitForEvent", event, given);
  },
  /** Waits for the first event that `matches`. The default timeout is that of actions. */
  [WAIT](name: string, event: string, given: Options | Listener | undefined, matches?: Listener): Promise<any> {
    const api = `${this[NAME]}.${name}`;
    const { predicate, timeout } = typeof given === "function" ? { predicate: given } : options(api, given, "predicate", "timeout");
    const isMatch: Listener = matches ?? predicate ?? (() => true);
    const limit: number = timeout ?? this[TIMEOUTS].action;
    return new Promise((resolve, reject) => {
      let timer: number | undefined;
      const end = (settled: (outcome: any) => void, outcome: unknown) => {
        clearTimer(timer);
        this.off(event, listener);
        settled(outcome);
      };
      const listener: Listener = async (...args) => {
        try {
          if (await isMatch(...args)) end(resolve, args[0]);
        } catch (error) {
          end(reject, error);
        }
      };
      this.on(event, listener);
      if (limit > 0) {
        const late = () => end(reject, new TimeoutError(`${api}: Timeout ${limit}ms exceeded while waiting for event "${event}"`));
        timer = setTimer(late, limit, [], false);
      }
    });
  },
  [EMIT](event: string, ...args: unknown[]) {
    for (const listener of [...(this[LISTENERS][event] ?? [])]) {
      try {
        Promise.resolve(listener(...args)).catch((error) => report(`In a listener of "${event}":`, error));
      } catch (error) {
        report(`In a listener of "${event}":`, error);
      }
    }
  },
});
export type Emitter = typeof EMITTER;
