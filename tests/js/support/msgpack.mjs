// Writes MessagePack as Python's ormsgpack does, for as much as the tests need.

export class Extension {
  constructor(type, content) {
    this.type = type;
    this.content = content;
  }
}

const pack = (...parts) => Buffer.concat(parts.map((part) => Buffer.from(part)));
const u16 = (n) => [n >> 8, n & 0xff];
const u32 = (n) => [n >>> 24, (n >> 16) & 0xff, (n >> 8) & 0xff, n & 0xff];

function sized(length, tags) {
  if (tags[0] !== undefined && length < 256) return [tags[0], length];
  return length < 65_536 ? [tags[1], ...u16(length)] : [tags[2], ...u32(length)];
}

function encodeNumber(n) {
  if (Number.isInteger(n) && n >= 0 && n < 128) return pack([n]);
  if (Number.isInteger(n) && n < 0 && n >= -32) return pack([256 + n]);
  const bytes = Buffer.alloc(9);
  if (Number.isSafeInteger(n)) {
    bytes[0] = 0xd3;
    bytes.writeBigInt64BE(BigInt(n), 1);
  } else {
    bytes[0] = 0xcb;
    bytes.writeDoubleBE(n, 1);
  }
  return bytes;
}

function encodeBigInt(n) {
  const bytes = Buffer.alloc(9);
  bytes[0] = 0xcf;
  bytes.writeBigUInt64BE(n, 1);
  return bytes;
}

function encodeText(text) {
  const bytes = Buffer.from(text, "utf8");
  const head = bytes.length < 32 ? [0xa0 | bytes.length] : sized(bytes.length, [0xd9, 0xda, 0xdb]);
  return pack(head, bytes);
}

function encodeArray(array) {
  const head =
    array.length < 16 ? [0x90 | array.length] : sized(array.length, [undefined, 0xdc, 0xdd]);
  return pack(head, ...array.map(encode));
}

function encodeMap(entries) {
  const head =
    entries.length < 16 ? [0x80 | entries.length] : sized(entries.length, [undefined, 0xde, 0xdf]);
  return pack(head, ...entries.flat().map(encode));
}

function encodeExtension({ type, content }) {
  const data = encode(content);
  return pack(sized(data.length, [0xc7, 0xc8, 0xc9]), [type], data);
}

export function encode(value) {
  if (value === null) return pack([0xc0]);
  if (typeof value === "boolean") return pack([value ? 0xc3 : 0xc2]);
  if (typeof value === "number") return encodeNumber(value);
  if (typeof value === "bigint") return encodeBigInt(value);
  if (typeof value === "string") return encodeText(value);
  if (value instanceof Uint8Array) return pack(sized(value.length, [0xc4, 0xc5, 0xc6]), value);
  if (value instanceof Extension) return encodeExtension(value);
  if (Array.isArray(value)) return encodeArray(value);
  return encodeMap(value instanceof Map ? [...value] : Object.entries(value));
}
