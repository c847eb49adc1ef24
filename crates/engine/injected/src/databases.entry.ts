// Reads and writes the IndexedDB databases of an origin as JSON. The script runs in an empty document of a utility page.

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
  /** The current number of the key generator: the key of the next record without one. */
  next?: number;
  indexes: Index[];
  /** `key` is present if the keys of the store are not part of the values. */
  records: { key?: Json; value: Json }[];
}

interface Database {
  name: string;
  version: number;
  stores: Store[];
}

/** Returns all databases of the origin, as the JSON of `Database[]`. */
async function read(): Promise<string> {
  const all: Database[] = [];
  for (const { name } of await indexedDB.databases()) {
    if (name === undefined) continue;
    const database = await databaseOf(indexedDB.open(name));
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
  const [keys, values] = await Promise.all([resultOf(store.getAllKeys()), resultOf(store.getAll() as IDBRequest<unknown[]>)]);
  const records: Store["records"] = [];
  for (const [index, value] of values.entries()) {
    const written = await encoded(value);
    records.push(store.keyPath === null ? { key: await encoded(keys[index]), value: written } : { value: written });
  }
  const { name, keyPath, autoIncrement } = store;
  return { name, keyPath, autoIncrement, next: autoIncrement ? await nextKeyOf(store) : undefined, indexes, records };
}

/**
 * Returns the current number of the key generator of a store, or undefined if no record can be added. IndexedDB has no attribute for it:
 * a record is added in a transaction that is then aborted, which also reverts the key generator.
 */
async function nextKeyOf({ transaction, name }: IDBObjectStore): Promise<number | undefined> {
  const trial = transaction.db.transaction(name, "readwrite");
  const aborted = new Promise((resolve) => (trial.onabort = resolve));
  try {
    return (await resultOf(trial.objectStore(name).add({}))) as number;
  } catch {
    return undefined;
  } finally {
    trial.abort();
    await aborted;
  }
}

/** Replaces the databases with these names. With `only`, all other databases of the origin are deleted. */
async function write(all: Database[], only: boolean): Promise<string> {
  const names = new Set(all.map(({ name }) => name));
  if (only) for (const { name } of await indexedDB.databases()) if (name !== undefined && !names.has(name)) await deleteDatabase(name);
  for (const { name, version, stores } of all) {
    await deleteDatabase(name);
    const request = indexedDB.open(name, version);
    request.onupgradeneeded = () => {
      for (const { name, keyPath, autoIncrement, indexes } of stores) {
        const store = request.result.createObjectStore(name, { keyPath, autoIncrement });
        for (const { name, keyPath, unique, multiEntry } of indexes) store.createIndex(name, keyPath, { unique, multiEntry });
      }
    };
    const database = await databaseOf(request);
    for (const { name, keyPath, next = 1, records } of stores) {
      const store = database.transaction(name, "readwrite").objectStore(name);
      const written = new Promise<void>((resolve, reject) => {
        store.transaction.oncomplete = () => resolve();
        store.transaction.onabort = () => reject(store.transaction.error ?? new Error("The transaction was aborted"));
      });
      // A record with an explicit key advances the key generator beyond the key.
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

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("The request failed"));
  });
}

const databaseOf = (request: IDBOpenDBRequest): Promise<IDBDatabase> => resultOf(request);

function deleteDatabase(name: string): Promise<void> {
  const request = indexedDB.deleteDatabase(name);
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve();
    request.onerror = () => reject(request.error ?? new Error("The request failed"));
    // Most pages close their connections when they receive `versionchange`, and the deletion then proceeds.
    request.onblocked = () =>
      setTimeout(() => reject(new Error(`The database "${name}" is open in a page. Close that page and try again.`)), 1_000);
  });
}

(globalThis as { __playhouseDatabases?: unknown }).__playhouseDatabases = { read, write };
