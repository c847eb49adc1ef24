// Conversion between bytes and text.

type Bytes = ArrayBufferView | ArrayBuffer | ArrayLike<number>;

/** Returns a string with one character for each byte. */
const octets = (data: Bytes) => {
  const view = ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
  let text = "";
  for (let at = 0; at < view.length; at += 8192) text += String.fromCharCode(...view.subarray(at, at + 8192));
  return text;
};
export const base64 = (data: Bytes) => native.base64(octets(data));
export const fromBase64 = (text: string) => new Uint8Array(native.bytes(text));

/** Returns the bytes of a string with one character for each byte. Throws if a character is not a byte. */
export const latin1 = (text: string) =>
  Uint8Array.from(text, (char) => {
    const code = char.codePointAt(0) as number;
    if (code > 255) throw new Error("Invalid character");
    return code;
  });

export class TextEncoder {
  encode(text = "") {
    const escaped = encodeURIComponent(String(text).toWellFormed());
    const units = escaped.match(/%..|[^%]/g) ?? [];
    return Uint8Array.from(units, (unit) => (unit.length > 1 ? Number.parseInt(unit.slice(1), 16) : unit.charCodeAt(0)));
  }
}

export class TextDecoder {
  decode(data: Bytes = []) {
    return native.utf8(octets(data));
  }
}

/** The part of Node's `Buffer` that code uses for files and bodies. */
export class Buffer extends Uint8Array {
  // The bundler renames classes that refer to themselves.
  static override readonly name = "Buffer";
  // The signature in Node differs from that of the base class.
  static override from(value: any, encoding: any = "utf8"): any {
    if (typeof value !== "string") return super.from(value);
    if (encoding === "base64") return new Buffer(native.bytes(value));
    if (encoding === "hex") return super.from((value.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)));
    return super.from(new TextEncoder().encode(value));
  }
  static concat(parts: Uint8Array[]) {
    return Buffer.from(parts.flatMap((part) => [...part]));
  }
  static isBuffer(value: unknown) {
    return value instanceof Buffer;
  }
  override toString(encoding = "utf8") {
    if (encoding === "base64") return base64(this);
    if (encoding === "hex") return Array.from(this, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return new TextDecoder().decode(this);
  }
  toJSON() {
    return { type: "Buffer", data: Array.from(this) };
  }
}

/** Returns text or bytes as Base64. */
export const contentBase64 = (content: string | Bytes) => base64(typeof content === "string" ? new TextEncoder().encode(content) : content);
