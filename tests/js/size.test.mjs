// What a visitor of a page downloads. Raising a ceiling needs the reason in the same commit.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

// Search by text without a model took 52 KB, of which the tables of Unicode are 5;
// codes of vectors and their graph took 26, likeness, absence and another model's vectors 8,
// checkpoints that cost what is new 27. A graph that is saved took 4, what filters leave and
// signs 8, rows that travel 8; numbers read by JavaScript gave 8 back, callbacks that are borrowed
// and a Status in a register 19, and a glue for one class 5. Items that wait for an index took 2, whether a graph
// finds enough 2. Scopes and policies take 8, forgetting and holds 7, frames without savepoints .3,
// facts that hold for a while 5, encryption 11, questions about time and the spellings of numbers 12,
// columns of filtered fields 9, versions of items and reads as of a time 25. SQLite without FTS5, which nothing asks any more, gave 60 back.
// Tables that lack a column, and room for an index of words, take .3, scores that can be compared
// between questions and snippets by passages 1. An audit log, with its rules and refusals, took 7, and a ranking that walks over arrays 2.
// That no search looks long for near words or quotes, and none holds others up, took 1.1 KB. That an
// import counts rows in portions, and that a cut-off file, a trigger or a schema harms nothing, took 1.
// Functions in an order that gzip likes gave 22 back. Likeness to the first hits took 5. That values
// of a list which begin alike travel once took 1, and vectors that stand out 2.
// That pages are cleared in portions took some 4, of which SQLite's own table of pages is 1; where
// an item comes from, with policies and taking back, a log that is bound to its database, and
// reading rules and quotas that hold for all that is stored, 10. An index of words in segments took
// 12, and how common words are in general 7. That texts are analysed at -O2 takes 8: half of the time.
// That the first search by vector reads codes where they lie took 4, and that a language is one
// file 1.6. That a chunk with cut-off names is not read past its end took 1.
// Forks that go on anew, and threads that are filtered, took 1.3.
// What a device needs to sync, its outbox and going back to what the log has, took 20.
const WASM_CEILING = 682_000;
const GLUE_CEILING = 4_000;
// Middleware, tools and nodes, beside LangChain's own, took 14 KB; episodes 1.5, graphs 0.7, a
// learner with its queue and budget 4. Masking what a model stores, over any store, takes 8: the
// table of what secrets look like, of which 3, and its reader. So it does in files.js.
// That text of others hides nothing, and is looked through in linear time, took .6; that a learner
// gives up, each tool answers within a budget, and where an item comes from, 1. That nobody else
// says whose word a line is, and that a text of the web stays one, took 1.3; that turns of one
// millisecond keep their order, .1. That a scope is refused which is unknown, or within itself, took
// .3, and that a ranking is checked by its names .3. That a human decides about calls of tools took 2.5.
const LANGCHAIN_CEILING = 36_500;
// That what is no table, or cannot be read, is refused by name took .6. Directions of the same
// variance, a sentence model's beside them, and a table that is loaded later took 2.2.
// That a group of options is named took .1.
const EMBED_CEILING = 8_800;
// Adapters take 21, of which a bundler leaves out those that nobody calls: s3() alone takes 6.9,
// minified. The log, its replicas and bases take 19, the frames that they read and the engine 21.
// What syncs a device took 9, and knowing what each device has sent last 1.6,
// and looking at what a base and a record say before it is believed 1.
const BUCKET_CEILING = 76_000;
// Signs that hide, and whose word a file is, took 1.2.
const FILES_CEILING = 25_700;
// The history of an item, with undo, took .9 KB, the rules by which it is kept and what is held .5,
// scopes with their policies, and the audit log, 5.6.
const INSPECTOR_CEILING = 33_900;
// That an agent is resumed, a half is withdrawn, and a thread of several tabs is followed, took 1.7.
const REACT_CEILING = 7_700;
// Beside LangGraph's own. The lean module is counted with Cloudflare's entry (tests/edge).
// That triggers on our tables are refused, and what was changed of them is named, took .6.
// That reads wait for nobody took .2, and what a bundler needs to find the module .1.
const SQLITE_CEILING = 8_300;
// The script of a page with the worker in it, as text, and the module, packed by gzip. As text that
// was not packed it took 1,000. A cache, a ranking, a checkpointer that finds the user of each run, and
// what a run says in its metadata, took 7.
// That a memory may live in a bucket took 1.3.
// What a device needs of the core to sync took 20.
const INLINE_CEILING = 848_000;
// Nobody's program loads it.
const TESTING_CEILING = 18_500;
// What a bundler makes of ours in a page, and the worker as it is published. README says it. The
// table of secrets and its reader took 4, where items come from, pages without storage, and
// Trusted Types 5.5. That a receipt names what is left beside the files, and that copies which were
// set aside can be deleted, took 1.2. A cache, and a ranking of all searches, took 1.8, a checkpointer that finds the user of each run 1.6.
// That a memory may live in a bucket, and be restored, took 1.2.
const PAGE_CEILING = 131_700;

function gzippedSize(file) {
  const bytes = readFileSync(new URL(`../../dist/${file}`, import.meta.url));
  return gzipSync(bytes, { level: 9 }).length;
}

test.each([
  ["keepsake.wasm", WASM_CEILING],
  ["keepsake.mjs", GLUE_CEILING],
  ["langchain.js", LANGCHAIN_CEILING],
  ["embed.js", EMBED_CEILING],
  ["bucket.js", BUCKET_CEILING],
  ["files.js", FILES_CEILING],
  ["inspector.js", INSPECTOR_CEILING],
  ["react.js", REACT_CEILING],
  ["sqlite.js", SQLITE_CEILING],
  ["testing.js", TESTING_CEILING],
])("%s takes less than %i bytes as gzip", (file, ceiling) => {
  const size = gzippedSize(file);
  console.log(`${file}: ${size} bytes as gzip`);
  expect(size).toBeLessThan(ceiling);
});

test("keepsake/inline and its module take less than the ceiling as gzip", () => {
  const size = gzippedSize("inline.js") + gzippedSize("embedded-wasm.js");
  console.log(`keepsake/inline: ${size} bytes as gzip`);
  expect(size).toBeLessThan(INLINE_CEILING);
});

test("all script of a page, without LangGraph's, fits into the ceiling as gzip", async () => {
  const { outputFiles } = await build({
    entryPoints: ["dist/index.browser.js"],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    external: ["@langchain/*"],
    write: false,
  });
  const page = gzipSync(outputFiles[0].contents, { level: 9 }).length;
  const worker = gzippedSize("worker.js");
  console.log(`script of a page: ${page} bytes as gzip, its worker ${worker}`);
  expect(page + worker).toBeLessThan(PAGE_CEILING);
});
