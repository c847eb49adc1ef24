function toJson(value) {
  const is = (inner, kind) => {
    try {
      return inner instanceof kind;
    } catch {
      return false;
    }
  };
  const plain = (inner, above) => {
    if (typeof inner === "string") return inner.toWellFormed();
    if (typeof inner === "bigint") return inner + "n";
    if (typeof inner === "function" || typeof inner === "symbol") return String(inner);
    if (typeof inner !== "object" || inner === null) return inner;
    if (inner === globalThis) return "ref: <Window>";
    if (is(inner, globalThis.Document)) return "ref: <Document>";
    if (is(inner, globalThis.Node)) return "ref: <Node>";
    if (is(inner, Error)) return inner.stack || String(inner);
    if (is(inner, RegExp)) return String(inner);
    for (let up = above; up; up = up.above) if (up.inner === inner) return "[Circular]";
    const path = { inner, above };
    const isList = Array.isArray(inner);
    if (!isList && typeof inner.toJSON === "function") return inner.toJSON();
    if (isList || is(inner, Map) || is(inner, Set)) return Array.from(inner, (item) => plain(item, path));
    const copy = {};
    for (const key of Object.keys(inner)) copy[key] = plain(inner[key], path);
    return copy;
  };
  let intact = false;
  try {
    intact = JSON.stringify(plain(Array.from([{ a: ["b"] }]))) === '[{"a":["b"]}]';
  } catch {}
  if (!intact) return [value];
  const json = JSON.stringify(plain(value));
  const most = 32 * 1024 * 1024;
  // Each reader of it needs a multiple of its size.
  if (json?.length > most)
    throw new RangeError(`The result has ${json.length} characters, more than the ${most} that a result may have: return a part of it`);
  return json === undefined ? null : json;
}
