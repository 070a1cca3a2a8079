// Vectors of texts out of a table of words: no service, no model to run, some microseconds each.

import { fnv1a } from "../bytes.js";
import { bytesIn } from "../checks.js";
import { decodeTable, type WordTable } from "./table.js";
import { beginningsOf, charactersOf, forEachWord, otherForms } from "./words.js";

/** An embedding model for `index.embeddings`, made of a table of words. */
export interface StaticEmbedder {
  /** For `index.dims`. */
  readonly dims: number;
  /** Names the table: vectors of another one are not compared with these. */
  readonly model: string;
  /** Of searches that say nothing of it: sums of words are rough. */
  readonly ranking: { readonly mode: "hybrid"; readonly fusion: "standout" };
  embedDocuments(texts: string[]): Promise<number[][]>;
  embedQuery(text: string): Promise<number[]>;
}

/**
 * The embedder of a table that `cutWordVectors()` made. A text is the sum of its words. All texts
 * without a known word have the same vector, and a question without one has the opposite: it is
 * near to none of them.
 * @throws KeepsakeError `invalid_argument` if these are not the bytes of a whole table
 */
export function staticEmbedder(table: Uint8Array | ArrayBuffer): StaticEmbedder {
  // What is no bytes is refused as no bytes are.
  const bytes = bytesIn(table) ?? new Uint8Array();
  const words = decodeTable(bytes);
  return {
    dims: words.dims,
    ranking: { mode: "hybrid", fusion: "standout" },
    model: `static-${words.dims}-${fnv1a(bytes).toString(16).padStart(8, "0")}`,
    embedDocuments: async (texts) => texts.map((text) => vectorOf(text, words, 1)),
    embedQuery: async (text) => vectorOf(text, words, -1),
  };
}

// `first` is the first number of a text without a known word, whose others are 0.
function vectorOf(text: string, table: WordTable, first: number): number[] {
  const sum = new Float64Array(table.dims);
  const add = (row: number) => {
    const scale = table.scales[row] as number;
    const at = row * table.dims;
    for (let d = 0; d < sum.length; d++) {
      sum[d] = (sum[d] as number) + scale * (table.rows[at + d] as number);
    }
  };
  forEachWord(textIn(text), (word) => {
    const rows = table.arePieces ? piecesOf(word, table) : rowsOf(word, table);
    for (const row of rows) add(row);
  });
  const length = Math.hypot(...sum);
  // A vector of zeros has no direction, and is refused by a store.
  if (length === 0) sum[0] = first;
  return Array.from(sum, (x) => x / (length || 1));
}

// What a whole value says (`fields: ["$"]`, the default) is in its strings. The names of its fields
// would stand in every text.
function textIn(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? stringsIn(value).join("\n") : text;
  } catch {
    return text;
  }
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

// Of the word, or else of the first of its other forms that is known, or of its beginning.
function rowsOf(word: string, { rowOf }: WordTable): number[] {
  const known = [word, ...otherForms(word), ...beginningsOf(word)].find((form) => rowOf.has(form));
  const forms = known === undefined ? charactersOf(word) : [known];
  return forms.flatMap((form) => rowOf.get(form) ?? []);
}

// The longest piece first, as WordPiece does it: none if the word has a part that is no piece.
function piecesOf(word: string, { rowOf: rows }: WordTable): number[] {
  const pieces: number[] = [];
  for (let begin = 0; begin < word.length; ) {
    let end = word.length;
    let row: number | undefined;
    for (; end > begin && row === undefined; end--) {
      row = rows.get((begin > 0 ? "##" : "") + word.slice(begin, end));
    }
    if (row === undefined) return [];
    pieces.push(row);
    begin = end + 1;
  }
  return pieces;
}
