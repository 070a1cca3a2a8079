// Values between the engine and a host's SQLite, in the layout of
// core/src/sql/host_database.h. A Durable Object binds every number as REAL, a
// boolean as text, and no BigInt; it answers numbers without saying whether they are
// INTEGER or REAL, and blobs as ArrayBuffer.

/** What a statement is given, and answers. @internal */
export type SqlValue = string | number | ArrayBuffer | ArrayBufferView | null;

const Kind = { null: 0, int: 1, real: 2, text: 3, blob: 4 } as const;

// Invalid text would come back as other text.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

const TWO_TO_32 = 2 ** 32;

// Ids and keys: calling the decoder takes longer than they do.
const SHORT_TEXT = 48;

function decodeText(bytes: Uint8Array): string {
  if (bytes.length > SHORT_TEXT) return decoder.decode(bytes);
  for (const byte of bytes) if (byte > 0x7f) return decoder.decode(bytes);
  // One call, not an appended character for each: that would have to be joined again.
  return String.fromCharCode.apply(null, bytes as unknown as number[]);
}

/**
 * The values of `bytes`. A blob is a copy of its own; if it is `readAtOnce`, a view into them:
 * to copy one takes 3 µs in Node, longer than to decode all else of a statement. @internal
 */
export function decodeParams(bytes: Uint8Array, readAtOnce = false): SqlValue[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values: SqlValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    const kind = bytes[at++] as number;
    if (kind === Kind.null) {
      values.push(null);
    } else if (kind === Kind.int) {
      values.push(integer(view, at));
      at += 8;
    } else if (kind === Kind.real) {
      values.push(view.getFloat64(at, true));
      at += 8;
    } else {
      const begin = at + 4;
      at = begin + view.getUint32(at, true);
      const value = bytes.subarray(begin, at);
      if (kind === Kind.text) values.push(decodeText(value));
      else values.push(readAtOnce ? value : value.slice());
    }
  }
  return values;
}

// As REAL it is exact up to 2^53. Columns of type INTEGER and the clauses LIMIT and
// OFFSET take both a REAL without fraction and the text of a number as an integer.
function integer(view: DataView, at: number): number | string {
  const value = view.getInt32(at + 4, true) * TWO_TO_32 + view.getUint32(at, true);
  return Number.isSafeInteger(value) ? value : view.getBigInt64(at, true).toString();
}

/** Encodes rows into a buffer of its own, one after another. @internal */
export class RowEncoder {
  #bytes = new Uint8Array(4096);
  #view = new DataView(this.#bytes.buffer);
  #size = 0;

  /** The view ends with the next call. */
  encode(row: Iterable<SqlValue>): Uint8Array {
    this.#size = 0;
    for (const value of row) this.#put(value);
    return this.#bytes.subarray(0, this.#size);
  }

  #put(value: SqlValue): void {
    if (typeof value === "string") this.#putText(value);
    else if (typeof value === "number") this.#putNumber(value);
    else if (value === null) this.#putKind(Kind.null, 0);
    else if (ArrayBuffer.isView(value)) {
      this.#putBlob(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    } else this.#putBlob(new Uint8Array(value));
  }

  #putNumber(value: number): void {
    if (!Number.isInteger(value)) {
      this.#putKind(Kind.real, 8);
      this.#view.setFloat64(this.#size, value, true);
    } else {
      if (!Number.isSafeInteger(value)) {
        throw new RangeError(`a number of the host's SQLite may have lost digits: ${value}`);
      }
      this.#putKind(Kind.int, 8);
      this.#view.setUint32(this.#size, value % TWO_TO_32, true);
      this.#view.setInt32(this.#size + 4, Math.floor(value / TWO_TO_32), true);
    }
    this.#size += 8;
  }

  #putText(text: string): void {
    this.#putKind(Kind.text, 4 + 3 * text.length);
    const { written } = encoder.encodeInto(text, this.#bytes.subarray(this.#size + 4));
    this.#view.setUint32(this.#size, written, true);
    this.#size += 4 + written;
  }

  #putBlob(blob: Uint8Array): void {
    this.#putKind(Kind.blob, 4 + blob.length);
    this.#view.setUint32(this.#size, blob.length, true);
    this.#bytes.set(blob, this.#size + 4);
    this.#size += 4 + blob.length;
  }

  #putKind(kind: number, room: number): void {
    this.#reserve(this.#size + 1 + room);
    this.#bytes[this.#size++] = kind;
  }

  #reserve(size: number): void {
    if (size <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(size, 2 * this.#bytes.length));
    grown.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}
