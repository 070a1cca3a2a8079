// Reads MessagePack (github.com/msgpack/msgpack, spec.md). Nothing here writes it. Our own,
// since CommonJS and the browser's one file can't load a library only when it is needed:
// the reader of @msgpack/msgpack is 4.2 KB gzip, this 0.8.

// A value that nests deeper would take the stack of those who read it next.
const DEEPEST = 1000;

/** What an extension type stands for. `read` decodes MessagePack inside of it. */
export type ExtensionReader = (type: number, data: Uint8Array) => unknown;

/** Throws a RangeError if `bytes` is not one whole value. */
export function decodeMsgpack(bytes: Uint8Array, readExtension: ExtensionReader): unknown {
  const reader = new MsgpackReader(bytes, readExtension);
  const value = reader.value();
  if (!reader.isAtEnd) throw new RangeError("bytes follow the MessagePack value");
  return value;
}

class MsgpackReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #readExtension: ExtensionReader;
  #at = 0;
  #depth = 0;

  constructor(bytes: Uint8Array, readExtension: ExtensionReader) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#readExtension = readExtension;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  value(): unknown {
    const tag = this.#uint(1);
    if (tag <= 0x7f) return tag;
    if (tag <= 0x8f) return this.#map(tag & 0x0f);
    if (tag <= 0x9f) return this.#array(tag & 0x0f);
    if (tag <= 0xbf) return this.#text(tag & 0x1f);
    if (tag >= 0xe0) return tag - 0x100;
    return this.#tagged(tag);
  }

  #tagged(tag: number): unknown {
    switch (tag) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#take(this.#uint(1 << (tag - 0xc4))).slice();
      case 0xc7:
      case 0xc8:
      case 0xc9:
        return this.#extension(this.#uint(1 << (tag - 0xc7)));
      case 0xca:
        return this.#view.getFloat32(this.#advance(4));
      case 0xcb:
        return this.#view.getFloat64(this.#advance(8));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#uint(1 << (tag - 0xcc));
      case 0xcf:
        return toNumber(this.#view.getBigUint64(this.#advance(8)));
      case 0xd0:
        return this.#view.getInt8(this.#advance(1));
      case 0xd1:
        return this.#view.getInt16(this.#advance(2));
      case 0xd2:
        return this.#view.getInt32(this.#advance(4));
      case 0xd3:
        return toNumber(this.#view.getBigInt64(this.#advance(8)));
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return this.#extension(1 << (tag - 0xd4));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#uint(1 << (tag - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.#array(this.#uint(2 << (tag - 0xdc)));
      case 0xde:
      case 0xdf:
        return this.#map(this.#uint(2 << (tag - 0xde)));
      default:
        throw new RangeError(`0x${tag.toString(16)} begins no MessagePack value`);
    }
  }

  #array(length: number): unknown[] {
    this.#enter();
    const array: unknown[] = [];
    for (let i = 0; i < length; i++) array.push(this.value());
    this.#depth--;
    return array;
  }

  // With keys that are text an object, else a Map.
  #map(length: number): object {
    this.#enter();
    const entries: [unknown, unknown][] = [];
    for (let i = 0; i < length; i++) entries.push([this.value(), this.value()]);
    this.#depth--;
    const isObject = entries.every(([key]) => typeof key === "string");
    return isObject ? Object.fromEntries(entries as [string, unknown][]) : new Map(entries);
  }

  #enter(): void {
    if (++this.#depth > DEEPEST) throw new RangeError(`it is nested deeper than ${DEEPEST}`);
  }

  #text(length: number): string {
    return new TextDecoder().decode(this.#take(length));
  }

  #extension(length: number): unknown {
    const type = this.#view.getInt8(this.#advance(1));
    return this.#readExtension(type, this.#take(length));
  }

  #uint(size: number): number {
    const at = this.#advance(size);
    if (size === 1) return this.#view.getUint8(at);
    return size === 2 ? this.#view.getUint16(at) : this.#view.getUint32(at);
  }

  #take(length: number): Uint8Array {
    const at = this.#advance(length);
    return this.#bytes.subarray(at, at + length);
  }

  #advance(length: number): number {
    const at = this.#at;
    if (at + length > this.#bytes.length) throw new RangeError("the MessagePack value is cut off");
    this.#at += length;
    return at;
  }
}

// Beyond 2^53 a number would be another one, and JSON has no BigInt.
function toNumber(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}
