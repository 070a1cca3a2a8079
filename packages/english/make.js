#!/usr/bin/env node
// Makes a folder to import out of a table of word vectors: `english()` of this package, or one for
// another language or with a table of your own.
//
//   npx -p keepsake-english keepsake-table TABLE --name=german --out=FOLDER
//       [--words=28000] [--silent=FILE] [--tokenizer=FILE]
//
// TABLE is what `cutWordVectors()` of keepsake/embed reads. The words of FILE, between spaces or
// line breaks, say nothing of what a text is about: "der", "hat", "welche".

import { createReadStream, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const USAGE =
  "keepsake-table TABLE --name=NAME --out=FOLDER [--words=28000] [--silent=FILE] [--tokenizer=FILE]";
const OPTIONS = ["name", "out", "words", "silent", "tokenizer"];

/** Writes the folder of a table that `cutWordVectors()` made; `name` is what it exports. */
export function writeFolder(folder, name, table, { staticEmbedder }) {
  if (!/^[A-Za-z_$][\w$]*$/.test(name))
    throw mistake(`--name must be a name in JavaScript: ${name}`);
  const { dims, model } = staticEmbedder(table);
  mkdirSync(folder, { recursive: true });
  const write = (file, text) => writeFileSync(join(folder, file), text);
  write("index.js", moduleOf(name, dims, model, 'import { lazyEmbedder } from "keepsake/embed";'));
  write(
    "index.cjs",
    moduleOf(name, dims, model, 'const { lazyEmbedder } = require("keepsake/embed");').replace(
      /^export async function (\w+)/m,
      "exports.$1 = async function",
    ),
  );
  for (const file of ["index.d.ts", "index.d.cts"]) write(file, typesOf(name));
  write("table.js", tableModule(table));
}

function moduleOf(name, dims, model, imports) {
  return `// Made by keepsake-table. The table is a module, so that every bundler and runtime finds it.
${imports}

const embeddings = lazyEmbedder({
  dims: ${dims},
  model: "${model}",
  load: async () => (await import("./table.js")).bytes(),
});

export async function ${name}(options) {
  return { ...options, dims: ${dims}, embeddings };
}
`;
}

function typesOf(name) {
  return `import type { LazyEmbedder } from "keepsake/embed";

/** What of a value gets a vector, and the other options of \`index\`. */
export interface TableOptions {
  /** Paths of the texts. @default ["$"], all strings of the value */
  fields?: string[] | undefined;
  /** Takes the vectors of another model, or of an older table, for void instead of refusing the file. @default false */
  replace?: boolean | undefined;
  /** How many of the newest vectors are kept by their text. @default 1000 */
  cache?: number | undefined;
}

/**
 * For \`index\` of a store or a memory. Its table is loaded after the first call to the store, when
 * nothing else is to be done. Until then searches go by words.
 */
export declare function ${name}(
  options?: TableOptions,
): Promise<TableOptions & { dims: number; embeddings: LazyEmbedder }>;
`;
}

function tableModule(table) {
  const text = Buffer.from(table.buffer, table.byteOffset, table.byteLength).toString("base64");
  return `const text =
  "${text}";

export function bytes() {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const all = new Uint8Array(letters.length);
  for (let i = 0; i < all.length; i++) all[i] = letters.charCodeAt(i);
  return all;
}
`;
}

function mistake(message) {
  return new Error(`[keepsake] ${message}; ${USAGE}`);
}

function optionsOf(args) {
  const sources = args.filter((each) => !each.startsWith("--"));
  const options = {};
  for (const each of args.filter((other) => other.startsWith("--"))) {
    const [, name, value] = /^--([^=]+)=(.+)$/.exec(each) ?? [];
    if (!OPTIONS.includes(name)) throw mistake(`unknown option ${each}`);
    options[name] = value;
  }
  if (sources.length !== 1) throw mistake("name one table");
  for (const name of ["name", "out"]) if (!options[name]) throw mistake(`--${name} is missing`);
  return { source: sources[0], ...options };
}

async function main(args) {
  const { source, name, out, words = "28000", silent, tokenizer } = optionsOf(args);
  const embed = await import("keepsake/embed");
  const table = await embed.cutWordVectors(createReadStream(source), {
    words: Number(words),
    silent: silent ? readFileSync(silent, "utf8").split(/\s+/).filter(Boolean) : [],
    tokenizer: tokenizer && createReadStream(tokenizer),
  });
  writeFolder(out, name, table, embed);
  console.log(`${out}: ${name}(), a table of ${(table.length / 1e6).toFixed(1)} MB`);
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
