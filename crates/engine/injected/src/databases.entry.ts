// IndexedDB of an origin as JSON, and back. Runs in an empty document of that origin that nobody else sees.

import { decoded, encoded, type Json } from "./databases/values";

interface Index {
  name: string;
  keyPath: string | string[];
  unique: boolean;
  multiEntry: boolean;
}

interface Store {
  name: string;
  keyPath: string | string[] | null;
  autoIncrement: boolean;
  /** What the next record without a key is given. */
  next?: number;
  indexes: Index[];
  /** Keys stand beside values where they are not part of them. */
  records: { key?: Json; value: Json }[];
}

interface Database {
  name: string;
  version: number;
  stores: Store[];
}

/** All databases of the origin. */
async function read(): Promise<string> {
  const all: Database[] = [];
  for (const { name } of await indexedDB.databases()) {
    if (name === undefined) continue;
    const database = await opened(indexedDB.open(name));
    const stores: Store[] = [];
    for (const name of database.objectStoreNames) stores.push(await readStore(database.transaction(name).objectStore(name)));
    all.push({ name, version: database.version, stores });
    database.close();
  }
  return JSON.stringify(all);
}

async function readStore(store: IDBObjectStore): Promise<Store> {
  const indexes = [...store.indexNames].map((name) => {
    const { keyPath, unique, multiEntry } = store.index(name);
    return { name, keyPath, unique, multiEntry };
  });
  const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll() as IDBRequest<unknown[]>)]);
  const records: Store["records"] = [];
  for (const [index, value] of values.entries()) {
    const written = await encoded(value);
    records.push(store.keyPath === null ? { key: await encoded(keys[index]), value: written } : { value: written });
  }
  const { name, keyPath, autoIncrement } = store;
  return { name, keyPath, autoIncrement, next: autoIncrement ? await nextOf(store) : undefined, indexes, records };
}

/** Nobody tells the next key but by giving it away; what is aborted was not given. */
async function nextOf({ transaction, name }: IDBObjectStore): Promise<number | undefined> {
  const trial = transaction.db.transaction(name, "readwrite");
  const aborted = new Promise((resolve) => (trial.onabort = resolve));
  try {
    return (await done(trial.objectStore(name).add({}))) as number;
  } catch {
    return undefined;
  } finally {
    trial.abort();
    await aborted;
  }
}

/** Puts these databases in the place of those of the same name; `only`: the origin has no others then. */
async function write(all: Database[], only: boolean): Promise<string> {
  const names = new Set(all.map(({ name }) => name));
  if (only) for (const { name } of await indexedDB.databases()) if (name !== undefined && !names.has(name)) await gone(name);
  for (const { name, version, stores } of all) {
    await gone(name);
    const request = indexedDB.open(name, version);
    request.onupgradeneeded = () => {
      for (const { name, keyPath, autoIncrement, indexes } of stores) {
        const store = request.result.createObjectStore(name, { keyPath, autoIncrement });
        for (const { name, keyPath, unique, multiEntry } of indexes) store.createIndex(name, keyPath, { unique, multiEntry });
      }
    };
    const database = await opened(request);
    for (const { name, keyPath, next = 1, records } of stores) {
      const store = database.transaction(name, "readwrite").objectStore(name);
      const written = new Promise<void>((resolve, reject) => {
        store.transaction.oncomplete = () => resolve();
        store.transaction.onabort = () => reject(store.transaction.error ?? new Error("The transaction was aborted"));
      });
      if (next > 1) {
        const last = next - 1;
        if (keyPath === null) store.put(0, last);
        else if (typeof keyPath === "string")
          store.put(keyPath.split(".").reduceRight<unknown>((value, name) => ({ [name]: value }), last));
        store.delete(last);
      }
      for (const { key, value } of records)
        key === undefined ? store.put(decoded(value)) : store.put(decoded(value), decoded(key) as IDBValidKey);
      await written;
    }
    database.close();
  }
  return "";
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("The request failed"));
  });
}

const opened = (request: IDBOpenDBRequest): Promise<IDBDatabase> => done(request);

function gone(name: string): Promise<void> {
  const request = indexedDB.deleteDatabase(name);
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve();
    request.onerror = () => reject(request.error ?? new Error("The request failed"));
    // Pages that are asked to let go of it mostly do, at once.
    request.onblocked = () => setTimeout(() => reject(new Error(`A page holds the database "${name}" open: leave it first`)), 1_000);
  });
}

(globalThis as { __playhouseDatabases?: unknown }).__playhouseDatabases = { read, write };
