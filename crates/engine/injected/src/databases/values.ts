// What structured cloning carries, as JSON: plain values as they are, all others as an object with a `$` that says what they are.

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

/** A value as JSON. What JSON cannot carry at all (a key that cannot be exported, say) is `{$: "undefined"}`. */
export async function encoded(value: unknown): Promise<Json> {
  // In the order in which they are met, so that what is met again can be told by its number.
  const met = new Map<object, number>();
  const encode = async (value: unknown): Promise<Json> => {
    if (value === null || typeof value === "boolean" || typeof value === "string") return value;
    if (typeof value === "number")
      return Number.isFinite(value) && !Object.is(value, -0) ? value : { $: "number", v: Object.is(value, -0) ? "-0" : String(value) };
    if (typeof value === "bigint") return { $: "bigint", v: String(value) };
    if (typeof value !== "object") return { $: "undefined" };
    const number = met.get(value);
    if (number !== undefined) return { $: "same", v: number };
    met.set(value, met.size);
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
      for (const [key, of] of value) v.push([await encode(key), await encode(of)]);
      return { $: "map", v };
    }
    if (value instanceof Set) {
      const v: Json[] = [];
      for (const of of value) v.push(await encode(of));
      return { $: "set", v };
    }
    if (value instanceof Error) return { $: "error", t: value.name, v: value.message };
    if (Array.isArray(value)) {
      const v: Json[] = [];
      for (const of of value) v.push(await encode(of));
      return v;
    }
    if (Object.prototype.toString.call(value) !== "[object Object]") return { $: "undefined" };
    const members: Record<string, Json> = {};
    for (const [name, of] of Object.entries(value)) members[name] = await encode(of);
    return "$" in members ? { $: "object", v: members } : members;
  };
  return encode(value);
}

/** The value again. */
export function decoded(json: Json): unknown {
  const met: unknown[] = [];
  const keep = <T>(value: T): T => (met.push(value), value);
  const decode = (json: Json): unknown => {
    if (json === null || typeof json !== "object") return json;
    if (Array.isArray(json)) {
      const list = keep<unknown[]>([]);
      for (const of of json) list.push(decode(of));
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
        return met[v as unknown as number];
      case "date":
        return keep(new Date(v ?? NaN));
      case "regexp":
        return keep(new RegExp(...(v as unknown as [string, string])));
      case "boxed": {
        const place = met.push(undefined) - 1;
        return (met[place] = Object(decode(v as unknown as Json)) as unknown);
      }
      case "blob":
        return keep(new Blob([bytes(v as unknown as string)], { type: t }));
      case "file": {
        const { n, m } = json as unknown as { n: string; m: number };
        return keep(new File([bytes(v as unknown as string)], n, { type: t, lastModified: m }));
      }
      case "bytes":
        return keep(bytes(v as unknown as string));
      case "view": {
        const View = VIEWS.find(({ name }) => name === t);
        return keep(View && new View(bytes(v as unknown as string)));
      }
      case "map": {
        const map = keep(new Map<unknown, unknown>());
        for (const [key, of] of v as unknown as [Json, Json][]) map.set(decode(key), decode(of));
        return map;
      }
      case "set": {
        const set = keep(new Set<unknown>());
        for (const of of v as unknown as Json[]) set.add(decode(of));
        return set;
      }
      case "error": {
        const error = keep(new Error(v as unknown as string));
        error.name = t ?? "Error";
        return error;
      }
      default:
        return undefined;
    }
  };
  const members = (json: { [name: string]: Json }): object => {
    const object = keep<Record<string, unknown>>({});
    for (const [name, of] of Object.entries(json)) object[name] = decode(of);
    return object;
  };
  return decode(json);
}

function base64(buffer: ArrayBuffer): string {
  let binary = "";
  const view = new Uint8Array(buffer);
  // As many as a call takes arguments.
  for (let at = 0; at < view.length; at += 10_000) binary += String.fromCharCode(...view.subarray(at, at + 10_000));
  return btoa(binary);
}

function bytes(base64: string): ArrayBuffer {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)).buffer;
}
