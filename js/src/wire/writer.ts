const FIRST_BYTES = 4 * 1024;
/** A larger buffer is given back after use: one big value must not stay for ever. */
const KEPT_BYTES = 1024 * 1024;
/** Up to here a loop over char codes beats a call of encodeInto. */
const SHORT_TEXT = 48;
const NOT_ASCII = -1;
const UINT32 = 0x1_0000_0000;

const encoder = new TextEncoder();

/** TypeScript's ES2022 library has no isWellFormed; engines before 2023 have none either. */
function isWellFormed(text: string & { isWellFormed?(): boolean }): boolean {
  return text.isWellFormed?.() ?? !/\p{Surrogate}/u.test(text);
}

/**
 * Appends values to bytes, little-endian; core/src/wire/README.md has the grammar.
 * Throws a RangeError instead of writing a number that would arrive as another.
 */
export class Writer {
  #bytes = new Uint8Array(FIRST_BYTES);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Begins anew. What finish() returned is overwritten by what is written next. */
  reset(): void {
    this.#length = 0;
    if (this.#bytes.length > KEPT_BYTES) this.#resize(FIRST_BYTES);
  }

  /** Takes back what was written after so many bytes. */
  truncate(length: number): void {
    this.#length = length;
  }

  /** What was written: a view, valid until the next reset(). */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  flag(value: boolean): void {
    this.u8(value ? 1 : 0);
  }

  u16(value: number): void {
    this.#reserve(2);
    this.#view.setUint16(this.#length, value, true);
    this.#length += 2;
  }

  u32(value: number): void {
    if (value >>> 0 !== value) throw outOfRange(value);
    this.#reserve(4);
    this.#view.setUint32(this.#length, value, true);
    this.#length += 4;
  }

  i32(value: number): void {
    if ((value | 0) !== value) throw outOfRange(value);
    this.u32(value >>> 0);
  }

  /** A safe integer as i64 (or, if not negative, as u64). */
  i64(value: number): void {
    if (!Number.isSafeInteger(value)) throw outOfRange(value);
    this.#reserve(8);
    this.#view.setUint32(this.#length, value, true);
    this.#view.setInt32(this.#length + 4, Math.floor(value / UINT32), true);
    this.#length += 8;
  }

  f64(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  bytes(value: Uint8Array): void {
    this.u32(value.length);
    this.raw(value);
  }

  /** Without a length. */
  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  floats(values: Float32Array): void {
    this.u32(values.length);
    this.#reserve(values.byteLength);
    this.#bytes.set(
      new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
      this.#length,
    );
    this.#length += values.byteLength;
  }

  /**
   * UTF-8. A lone surrogate, which has none, becomes the three bytes that it
   * would have, so that the core can refuse it: TextEncoder would silently make
   * another character of it.
   */
  text(value: string): void {
    const start = this.#length + 4;
    this.#reserve(4 + value.length * 3);
    let length = value.length <= SHORT_TEXT ? this.#shortAscii(value, start) : NOT_ASCII;
    if (length === NOT_ASCII) length = this.#encode(value, start);
    this.#view.setUint32(this.#length, length, true);
    this.#length = start + length;
  }

  list<T>(values: readonly T[], write: (writer: Writer, value: T) => void): void {
    this.u32(values.length);
    for (const value of values) write(this, value);
  }

  texts(values: readonly string[]): void {
    this.u32(values.length);
    for (const value of values) this.text(value);
  }

  /** `undefined` is the absent one. */
  optional<T>(value: T | undefined, write: (writer: Writer, value: T) => void): void {
    this.flag(value !== undefined);
    if (value !== undefined) write(this, value);
  }

  /** Leaves room for a length and says where; endLength() fills it in. */
  beginLength(): number {
    this.u32(0);
    return this.#length;
  }

  endLength(begin: number): void {
    this.#view.setUint32(begin - 4, this.#length - begin, true);
  }

  /** How many bytes were written, or NOT_ASCII. */
  #shortAscii(value: string, start: number): number {
    const bytes = this.#bytes;
    const length = value.length;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) return NOT_ASCII;
      bytes[start + i] = code;
    }
    return length;
  }

  #encode(value: string, start: number): number {
    const { written } = encoder.encodeInto(value, this.#bytes.subarray(start));
    if (written === value.length || isWellFormed(value)) return written;
    return this.#encodeWithSurrogates(value, start);
  }

  #encodeWithSurrogates(value: string, start: number): number {
    let position = start;
    for (const character of value) {
      const code = character.charCodeAt(0);
      const isLone = character.length === 1 && code >= 0xd800 && code <= 0xdfff;
      if (isLone) {
        this.#bytes[position++] = 0xe0 | (code >> 12);
        this.#bytes[position++] = 0x80 | ((code >> 6) & 0x3f);
        this.#bytes[position++] = 0x80 | (code & 0x3f);
      } else {
        position += encoder.encodeInto(character, this.#bytes.subarray(position)).written;
      }
    }
    return position - start;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed > this.#bytes.length) this.#resize(Math.max(needed, this.#bytes.length * 2));
  }

  #resize(size: number): void {
    const bytes = new Uint8Array(size);
    bytes.set(this.#bytes.subarray(0, Math.min(this.#length, size)));
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }
}

function outOfRange(value: number): RangeError {
  return new RangeError(`not an integer of its field: ${value}`);
}
