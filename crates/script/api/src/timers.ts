// Timers and the reports of unhandled errors.

import { sleep } from "./calls";

/** Reports an unhandled error to the server. `what` is the prefix of the message. */
export const report = (what: string, error: unknown) => native.unhandled(`${what} ${error}`.toWellFormed());

const timers = new Set<number>();
let lastTimer = 0;

type Callback = (...args: any[]) => unknown;

export const setTimer = (callback: Callback, ms: unknown, args: unknown[], repeats: boolean) => {
  if (typeof callback !== "function") throw new TypeError('The "callback" argument must be of type function.');
  const id = ++lastTimer;
  timers.add(id);
  const run = async () => {
    do {
      await sleep(Math.max(repeats ? 1 : 0, Number(ms) || 0));
      if (!timers.has(id)) return;
      if (!repeats) timers.delete(id);
      callback(...args);
    } while (repeats && timers.has(id));
  };
  run().catch((error) => {
    timers.delete(id);
    report("Uncaught", error);
  });
  return id;
};
export const clearTimer = (id: unknown) => void timers.delete(id as number);
