// How the API reaches the server: calls that are answered later, and queries that are answered at once.

const MAX_CALLS = 1000;

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
  api: string;
}
const pending = new Map<number, Pending>();
let lastCall = 0;

/** A value as JSON text; `undefined` for what JSON cannot express. */
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

/** Calls an operation of the server. Errors begin with `api`. */
export const call = (api: string, op: string, parameters: object = {}): Promise<any> =>
  new Promise((resolve, reject) => {
    if (pending.size >= MAX_CALLS) throw new Error(`${api}: more than ${MAX_CALLS} calls are waiting`);
    const id = ++lastCall;
    pending.set(id, { resolve, reject, api });
    native.call(id, json({ op, ...parameters }) as string);
  });

/** What the server knows without the browser. */
export const query = (op: string, parameters: object = {}): any => {
  const { value, error } = JSON.parse(native.query(json({ op, ...parameters }) as string));
  if (error) throw failure(error);
  return value;
};

/** Resolves or rejects the call of an id. */
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
