// A JSON format for values that structured cloning supports. JSON values represent themselves; every other value is an object whose key `$`
// has the type.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

type Typed = { new (buffer: ArrayBuffer): ArrayBufferView; name: string };

const VIEWS = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
] as unknown as Typed[];

/** Returns a value as JSON. Values of other types, such as a `CryptoKey`, become `{$: "undefined"}`. */
export async function encoded(value: unknown): Promise<Json> {
  // The index of each object in the order of the traversal. Further occurrences of an object refer to its index.
  const visited = new Map<object, number>();
  const encode = async (value: unknown): Promise<Json> => {
    if (value === null || typeof value === "boolean" || typeof value === "string") return value;
    if (typeof value === "number")
      return Number.isFinite(value) && !Object.is(value, -0) ? value : { $: "number", v: Object.is(value, -0) ? "-0" : String(value) };
    if (typeof value === "bigint") return { $: "bigint", v: String(value) };
    if (typeof value !== "object") return { $: "undefined" };
    const number = visited.get(value);
    if (number !== undefined) return { $: "same", v: number };
    visited.set(value, visited.size);
    if (value instanceof Date) return { $: "date", v: Number.isNaN(value.getTime()) ? null : value.getTime() };
    if (value instanceof RegExp) return { $: "regexp", v: [value.source, value.flags] };
    if (value instanceof Boolean || value instanceof Number || value instanceof String || value instanceof BigInt)
      return { $: "boxed", v: await encode(value.valueOf()) };
    if (value instanceof Blob) {
      const v = base64(await value.arrayBuffer());
      return value instanceof File
        ? { $: "file", t: value.type, n: value.name, m: value.lastModified, v }
        : { $: "blob", t: value.type, v };
    }
    if (value instanceof ArrayBuffer) return { $: "bytes", v: base64(value) };
    if (ArrayBuffer.isView(value))
      return {
        $: "view",
        t: value.constructor.name,
        v: base64(value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength) as ArrayBuffer),
      };
    if (value instanceof Map) {
      const v: Json[] = [];
      for (const [key, item] of value) v.push([await encode(key), await encode(item)]);
      return { $: "map", v };
    }
    if (value instanceof Set) {
      const v: Json[] = [];
      for (const item of value) v.push(await encode(item));
      return { $: "set", v };
    }
    if (value instanceof Error) return { $: "error", t: value.name, v: value.message };
    if (Array.isArray(value)) {
      const v: Json[] = [];
      for (const item of value) v.push(await encode(item));
      return v;
    }
    if (Object.prototype.toString.call(value) !== "[object Object]") return { $: "undefined" };
    const members: Record<string, Json> = {};
    for (const [name, item] of Object.entries(value)) members[name] = await encode(item);
    return "$" in members ? { $: "object", v: members } : members;
  };
  return encode(value);
}

/** Returns the value that `encoded` represents as this JSON. */
export function decoded(json: Json): unknown {
  const objects: unknown[] = [];
  const add = <T>(value: T): T => (objects.push(value), value);
  const decode = (json: Json): unknown => {
    if (json === null || typeof json !== "object") return json;
    if (Array.isArray(json)) {
      const list = add<unknown[]>([]);
      for (const item of json) list.push(decode(item));
      return list;
    }
    const { $: kind, v, t } = json as { $?: string; v?: never; t?: string };
    switch (kind) {
      case undefined:
        return members(json);
      case "object":
        return members(v as unknown as { [name: string]: Json });
      case "number":
        return Number(v);
      case "bigint":
        return BigInt(v as unknown as string);
      case "same":
        return objects[v as unknown as number];
      case "date":
        return add(new Date(v ?? NaN));
      case "regexp":
        return add(new RegExp(...(v as unknown as [string, string])));
      case "boxed": {
        const index = objects.push(undefined) - 1;
        return (objects[index] = Object(decode(v as unknown as Json)) as unknown);
      }
      case "blob":
        return add(new Blob([bytes(v as unknown as string)], { type: t }));
      case "file": {
        const { n, m } = json as unknown as { n: string; m: number };
        return add(new File([bytes(v as unknown as string)], n, { type: t, lastModified: m }));
      }
      case "bytes":
        return add(bytes(v as unknown as string));
      case "view": {
        const View = VIEWS.find(({ name }) => name === t);
        return add(View && new View(bytes(v as unknown as string)));
      }
      case "map": {
        const map = add(new Map<unknown, unknown>());
        for (const [key, item] of v as unknown as [Json, Json][]) map.set(decode(key), decode(item));
        return map;
      }
      case "set": {
        const set = add(new Set<unknown>());
        for (const item of v as unknown as Json[]) set.add(decode(item));
        return set;
      }
      case "error": {
        const error = add(new Error(v as unknown as string));
        error.name = t ?? "Error";
        return error;
      }
      default:
        return undefined;
    }
  };
  const members = (json: { [name: string]: Json }): object => {
    const object = add<Record<string, unknown>>({});
    for (const [name, item] of Object.entries(json)) object[name] = decode(item);
    return object;
  };
  return decode(json);
}

function base64(buffer: ArrayBuffer): string {
  let binary = "";
  const view = new Uint8Array(buffer);
  // Engines limit the number of arguments of a call.
  for (let at = 0; at < view.length; at += 10_000) binary += String.fromCharCode(...view.subarray(at, at + 10_000));
  return btoa(binary);
}

function bytes(base64: string): ArrayBuffer {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)).buffer;
}
