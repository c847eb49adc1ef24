// The connection to the server: asynchronous calls and synchronous queries.

const MAX_CALLS = 1000;

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
  api: string;
}
const pending = new Map<number, Pending>();
let lastCall = 0;

/** Returns a value as JSON; undefined if JSON cannot represent it. */
export const json = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, inner) => (typeof inner === "string" ? inner.toWellFormed() : inner));

export class TimeoutError extends Error {
  override get name() {
    return "TimeoutError";
  }
}

interface Failure {
  name: string;
  message: string;
}
const failure = ({ name, message }: Failure, api?: string) => {
  const text = api ? `${api}: ${message}` : message;
  return name === "TimeoutError" ? new TimeoutError(text) : new Error(text);
};

/** Where the code pauses next: before the next operation, or before one at a line. */
interface Stops {
  step?: boolean;
  file?: string;
  line?: number | null;
}
let stops: Stops = {};

/** The operations that are not actions: code does not pause before them. */
const UNSTOPPABLE = new Set(["listen", "pause", "sleep"]);

/** Returns the file and line of the client code that is running. */
const position = (): { file: string; line: number } | undefined => {
  for (const frame of (new Error().stack ?? "").split("\n")) {
    const [, file, line] = /\(?([^()\s]+):(\d+):\d+\)?$/.exec(frame) ?? [];
    // The code begins in the second line of the text that is evaluated.
    if (file === codeName) return { file, line: Number(line) - 1 };
  }
  return undefined;
};

const isStop = (at: { file: string; line: number } | undefined): boolean => {
  if (stops.step) return true;
  if (!stops.file || !at) return false;
  const isFile = at.file === stops.file || at.file.endsWith(`/${stops.file}`);
  return isFile && (stops.line == null || stops.line === at.line);
};

/** Pauses the code until the client resumes it. */
export const pause = async (title: string, at = position()): Promise<void> => {
  stops = {};
  stops = (await send("page.pause", "pause", { title, ...at })) ?? {};
};

/** Calls an operation of the server and returns its result. Error messages begin with `api`. */
export const call = (api: string, op: string, parameters: object = {}): Promise<any> => {
  const canStop = (stops.step || stops.file) && !UNSTOPPABLE.has(op);
  const at = canStop ? position() : undefined;
  if (!canStop || !isStop(at)) return send(api, op, parameters);
  return pause(api, at).then(() => send(api, op, parameters));
};

const send = (api: string, op: string, parameters: object): Promise<any> =>
  new Promise((resolve, reject) => {
    if (pending.size >= MAX_CALLS) throw new Error(`${api}: more than ${MAX_CALLS} calls are pending`);
    const id = ++lastCall;
    pending.set(id, { resolve, reject, api });
    native.call(id, json({ op, ...parameters }) as string);
  });

/** Returns the result of a query, which the server answers without a command to the browser. */
export const query = (op: string, parameters: object = {}): any => {
  const { value, error } = JSON.parse(native.query(json({ op, ...parameters }) as string));
  if (error) throw failure(error);
  return value;
};

/** Resolves or rejects the call with this id. */
export const settle = (id: number, outcome: string) => {
  const waiting = pending.get(id) as Pending;
  pending.delete(id);
  const { value, error } = JSON.parse(outcome);
  if (error) waiting.reject(failure(error, waiting.api));
  else waiting.resolve(value);
};

export const sleep = (ms: number) => call("", "sleep", { ms });

export const hasPendingCalls = () => pending.size > 0;
export const hasTooManyCalls = () => pending.size > MAX_CALLS;
