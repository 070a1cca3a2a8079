// A table of word vectors, ready to be averaged: a vector of a text is the sum of the rows of its
// words, and nothing else is to be done (weigh.ts).
//
//   file  := magic:u32 version:u16 dims:u16 words:u32 bytes:u32 flags:u32
//            scale:f32[words] word:text[bytes] row:i8[words][dims]
//
// Little-endian. `word` has the words, each behind a newline but the first. A row is its bytes
// times its scale. flags: 1 the words are pieces, and those that begin with ## go on.

import { invalid } from "../errors.js";
import type { Rows } from "./weigh.js";

/** Words, and a row of each. @internal */
export interface WeighedWords extends Rows {
  readonly words: readonly string[];
  /** Pieces of words: model2vec's. @default false */
  readonly arePieces?: boolean | undefined;
}

/** @internal */
export interface WordTable {
  readonly dims: number;
  readonly rowOf: ReadonlyMap<string, number>;
  readonly scales: Float32Array;
  readonly rows: Int8Array;
  readonly arePieces: boolean;
}

const MAGIC = 0x54574b53; // "SKWT"
const VERSION = 1;
const HEADER_BYTES = 20;
const ARE_PIECES = 1;
const MOST_ON_A_SIDE = 127;

/** The table of these vectors, a byte for each number: the contents of a file. @internal */
export function encodeTable(given: WeighedWords): Uint8Array {
  const { dims, words, vectors: rows, arePieces = false } = given;
  const broken = words.find((word) => word.includes("\n"));
  if (broken !== undefined) {
    throw invalid(
      `a word of the table must not contain a line break: ${JSON.stringify(broken)}; take it out of the source`,
    );
  }
  const text = new TextEncoder().encode(words.join("\n"));
  const scalesAt = HEADER_BYTES;
  const textAt = scalesAt + 4 * words.length;
  const rowsAt = textAt + text.length;
  const bytes = new Uint8Array(rowsAt + words.length * dims);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint16(4, VERSION, true);
  view.setUint16(6, dims, true);
  view.setUint32(8, words.length, true);
  view.setUint32(12, text.length, true);
  view.setUint32(16, arePieces ? ARE_PIECES : 0, true);
  bytes.set(text, textAt);
  for (let i = 0; i < words.length; i++) {
    const row = rows.subarray(i * dims, (i + 1) * dims);
    const scale = row.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / MOST_ON_A_SIDE;
    view.setFloat32(scalesAt + 4 * i, scale, true);
    if (scale === 0) continue;
    for (let d = 0; d < dims; d++) {
      view.setInt8(rowsAt + i * dims + d, Math.round((row[d] as number) / scale));
    }
  }
  return bytes;
}

/** @internal */
export function decodeTable(bytes: Uint8Array): WordTable {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < HEADER_BYTES || view.getUint32(0, true) !== MAGIC) {
    throw invalid("the table must be a file that cutWordVectors() made");
  }
  if (view.getUint16(4, true) !== VERSION) {
    throw invalid("the table was made by a newer keepsake: make it anew, or update this one");
  }
  const dims = view.getUint16(6, true);
  const count = view.getUint32(8, true);
  const textAt = HEADER_BYTES + 4 * count;
  const rowsAt = textAt + view.getUint32(12, true);
  if (bytes.length !== rowsAt + count * dims) {
    throw invalid(
      `the table is cut short: ${bytes.length} bytes where it has ${rowsAt + count * dims}`,
    );
  }
  const scales = new Float32Array(count);
  for (let i = 0; i < count; i++) scales[i] = view.getFloat32(HEADER_BYTES + 4 * i, true);
  const words = new TextDecoder().decode(bytes.subarray(textAt, rowsAt)).split("\n");
  return {
    dims,
    rowOf: new Map(words.map((word, i) => [word, i])),
    scales,
    rows: new Int8Array(bytes.buffer, bytes.byteOffset + rowsAt, count * dims),
    arePieces: (view.getUint32(16, true) & ARE_PIECES) !== 0,
  };
}
