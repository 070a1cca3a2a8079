// Fits the weights that are in the core (search::TextWeights), conversation by conversation to
// all others, by bench/core/text_fit.cc, which is built by `cmake --preset bench && cmake
// --build --preset bench --target text_fit`.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DIMS, noisyEncoder, randomEncoder } from "./recall-model.mjs";

const PROGRAM = fileURLToPath(new URL("../build/bench/bench/core/text_fit", import.meta.url));
const NOISE = 0.5;

/** Prints what fitted weights are worth; with an encoder those of nearness, else of words. */
export async function printFit(conversations, encoder) {
  if (!existsSync(PROGRAM)) throw new Error(`build it first, as recall-fit.mjs says: ${PROGRAM}`);
  const folder = mkdtempSync(join(tmpdir(), "keepsake-fit-"));
  try {
    const { lines, texts } = dataOf(conversations);
    const data = join(folder, "data.tsv");
    writeFileSync(data, lines.join("\n"));
    const what = encoder
      ? ["vectors", String(DIMS), ...(await embeddersOf(texts, encoder, folder))]
      : ["words"];
    console.log(`### Weights of the core, ${encoder ? "nearness" : "words"}\n`);
    execFileSync(PROGRAM, [data, ...what], { stdio: ["ignore", "inherit", "inherit"] });
    console.log();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// As text_fit.cc reads it.
function dataOf(conversations) {
  const texts = [];
  const numberOf = (text) => texts.push(text) - 1;
  const lines = conversations.flatMap(({ id, turns, questions }) => [
    ["conversation", id],
    ...turns.map(({ key, value }) => {
      const embedded = [value.text, value.caption].filter(Boolean);
      return ["turn", key, JSON.stringify(value), embedded.map(numberOf).join(",")];
    }),
    ...questions.map(({ question, evidence }) => {
      const text = question.replace(/\s+/g, " ");
      return ["question", text, evidence.join(","), numberOf(question)];
    }),
  ]);
  return { lines: lines.map((fields) => fields.join("\t")), texts };
}

// The first is to gain, the others are not to lose.
async function embeddersOf(texts, encoder, folder) {
  const encoders = {
    "USE lite": encoder,
    random: randomEncoder,
    "half noise": noisyEncoder(encoder, NOISE),
  };
  const named = [];
  for (const [name, encode] of Object.entries(encoders)) {
    const all = new Float32Array(texts.length * DIMS);
    (await encode(texts)).forEach((vector, i) => {
      all.set(vector, i * DIMS);
    });
    const file = join(folder, `${named.length}.f32`);
    writeFileSync(file, new Uint8Array(all.buffer));
    named.push(`${name}=${file}`);
  }
  return named;
}
