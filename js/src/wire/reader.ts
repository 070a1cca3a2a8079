/** Up to here joining char codes beats a call of TextDecoder. */
const SHORT_TEXT = 24;
const UINT32 = 0x1_0000_0000;

// Without ignoreBOM a value that begins with U+FEFF would lose it.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Takes values from a response; core/src/wire/README.md has the grammar. Byte
 * arrays are views into the response, so that they live as long as it does.
 * Throws a RangeError if the response ends early.
 * @internal
 */
export class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get position(): number {
    return this.#position;
  }

  get remaining(): number {
    return this.#bytes.length - this.#position;
  }

  u8(): number {
    return this.#view.getUint8(this.#position++);
  }

  flag(): boolean {
    return this.u8() !== 0;
  }

  u16(): number {
    const value = this.#view.getUint16(this.#position, true);
    this.#position += 2;
    return value;
  }

  u32(): number {
    const value = this.#view.getUint32(this.#position, true);
    this.#position += 4;
    return value;
  }

  i32(): number {
    const value = this.#view.getInt32(this.#position, true);
    this.#position += 4;
    return value;
  }

  /** An i64 (or u64) as a number, exact for safe integers. */
  i64(): number {
    const low = this.#view.getUint32(this.#position, true);
    const high = this.#view.getInt32(this.#position + 4, true);
    this.#position += 8;
    return high * UINT32 + low;
  }

  f64(): number {
    const value = this.#view.getFloat64(this.#position, true);
    this.#position += 8;
    return value;
  }

  bytes(): Uint8Array {
    const length = this.u32();
    const start = this.#position;
    this.#skip(length);
    return this.#bytes.subarray(start, this.#position);
  }

  floats(): Float32Array {
    const count = this.u32();
    const start = this.#position;
    this.#skip(count * 4);
    // A copy, because a Float32Array must be aligned.
    return new Float32Array(this.#bytes.slice(start, this.#position).buffer);
  }

  text(): string {
    const length = this.u32();
    const start = this.#position;
    this.#skip(length);
    return (
      (length <= SHORT_TEXT ? this.#shortAscii(start) : undefined) ??
      decoder.decode(this.#bytes.subarray(start, this.#position))
    );
  }

  list<T>(read: (reader: Reader) => T): T[] {
    const count = this.u32();
    const values: T[] = [];
    for (let i = 0; i < count; i++) values.push(read(this));
    return values;
  }

  texts(): string[] {
    const count = this.u32();
    const values: string[] = [];
    for (let i = 0; i < count; i++) values.push(this.text());
    return values;
  }

  optional<T>(read: (reader: Reader) => T): T | undefined {
    return this.flag() ? read(this) : undefined;
  }

  /** The text up to here, or undefined if it is not ASCII. */
  #shortAscii(start: number): string | undefined {
    const bytes = this.#bytes;
    let text = "";
    for (let i = start; i < this.#position; i++) {
      const code = bytes[i] as number;
      if (code > 0x7f) return undefined;
      text += String.fromCharCode(code);
    }
    return text;
  }

  #skip(count: number): void {
    if (count > this.remaining) throw new RangeError("response has a length beyond its end");
    this.#position += count;
  }
}
