/** Up to here joining char codes beats a call of TextDecoder. */
const SHORT_TEXT = 16;
const UINT32 = 0x1_0000_0000;

// Without ignoreBOM a value that begins with U+FEFF would lose it.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

// Small responses are copied into one buffer after the other: a buffer of its own takes longer to
// make, and to free, than the copy.
const SHARED_BYTES = 64 * 1024;
const MOST_SHARED_BYTES = 16 * 1024;
let shared = new Uint8Array(0);
let taken = 0;

function copyOf(bytes: Uint8Array): Uint8Array {
  const { length } = bytes;
  if (length > MOST_SHARED_BYTES) return bytes.slice();
  if (taken + length > shared.length) {
    shared = new Uint8Array(SHARED_BYTES);
    taken = 0;
  }
  const copy = shared.subarray(taken, taken + length);
  copy.set(bytes);
  taken += length;
  return copy;
}

/**
 * Takes values from a response; core/src/wire/README.md has the grammar. The
 * response may be wasm memory, as nothing that is taken is a view into it.
 * Throws a RangeError if the response ends early.
 */
export class Reader {
  readonly #bytes: Uint8Array;
  #copy: Uint8Array | undefined;
  #view: DataView | undefined;
  #position = 0;
  // The namespace that was taken last, and where it ended.
  #labels: string[] = [];
  #labelsSize = 0;
  #labelsEnd = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get position(): number {
    return this.#position;
  }

  get remaining(): number {
    return this.#bytes.length - this.#position;
  }

  u8(): number {
    return this.#bytes[this.#skip(1)] as number;
  }

  flag(): boolean {
    return this.u8() !== 0;
  }

  u16(): number {
    const at = this.#skip(2);
    return (this.#bytes[at] as number) | ((this.#bytes[at + 1] as number) << 8);
  }

  u32(): number {
    return this.i32() >>> 0;
  }

  i32(): number {
    const at = this.#skip(4);
    const bytes = this.#bytes;
    return (
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)
    );
  }

  /** An i64 (or u64) as a number, exact for safe integers. */
  i64(): number {
    const low = this.u32();
    return this.i32() * UINT32 + low;
  }

  f64(): number {
    const at = this.#skip(8);
    this.#view ??= new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length);
    return this.#view.getFloat64(at, true);
  }

  /** A view into a copy of the whole response: one copy for all byte arrays in it. */
  bytes(): Uint8Array {
    this.#copy ??= this.#bytes.slice();
    return this.#viewOf(this.#copy);
  }

  /**
   * The same, for who reads them and forgets them: others have a part of the same buffer. Of one
   * response, all byte arrays are taken by one of the two.
   */
  sharedBytes(): Uint8Array {
    this.#copy ??= copyOf(this.#bytes);
    return this.#viewOf(this.#copy);
  }

  /** A view into the request or response itself. */
  view(): Uint8Array {
    return this.#viewOf(this.#bytes);
  }

  /** Passes over bytes with their length. */
  skip(): void {
    this.#skip(this.u32());
  }

  floats(): Float32Array {
    const size = this.u32() * 4;
    const start = this.#skip(size);
    // A copy, because a Float32Array must be aligned.
    return new Float32Array(this.#bytes.slice(start, start + size).buffer);
  }

  text(): string {
    const length = this.u32();
    const start = this.#skip(length);
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

  /** Labels: mostly those that were taken last, which a comparison of bytes tells sooner. */
  namespace(): string[] {
    if (this.#repeatsLabels()) {
      this.#position += this.#labelsSize;
    } else {
      const start = this.#position;
      this.#labels = this.texts();
      this.#labelsSize = this.#position - start;
    }
    this.#labelsEnd = this.#position;
    return this.#labels.slice();
  }

  #repeatsLabels(): boolean {
    const size = this.#labelsSize;
    const before = this.#labelsEnd - size;
    if (size === 0 || size > this.remaining) return false;
    for (let i = 0; i < size; i++) {
      if (this.#bytes[before + i] !== this.#bytes[this.#position + i]) return false;
    }
    return true;
  }

  optional<T>(read: (reader: Reader) => T): T | undefined {
    return this.flag() ? read(this) : undefined;
  }

  /** The text up to here, or undefined if it is not ASCII. */
  #shortAscii(start: number): string | undefined {
    const codes: number[] = [];
    for (let i = start; i < this.#position; i++) {
      const code = this.#bytes[i] as number;
      if (code > 0x7f) return undefined;
      codes.push(code);
    }
    return String.fromCharCode.apply(null, codes);
  }

  #viewOf(copy: Uint8Array): Uint8Array {
    const length = this.u32();
    const start = this.#skip(length);
    return copy.subarray(start, start + length);
  }

  /** Where the bytes begin that are skipped. */
  #skip(count: number): number {
    const start = this.#position;
    if (count > this.remaining) throw new RangeError("response ends within a value");
    this.#position = start + count;
    return start;
  }
}
