// How long a question by words takes in a Durable Object in workerd, and what it bills, beside
// FTS5 written by hand over `ctx.storage.sql` in the same run.
//
//   node bench/edge-search.mjs [--sizes=1000,10000,100000] [--kinds=short,long,chinese]

import { bundleWorker } from "../tests/edge/support/bundle.mjs";
import { startWorkerd } from "../tests/edge/support/workerd.mjs";
import { introduce, now, progress, table } from "./lib.mjs";
import { at, optionOf, QUESTIONS, sizesAsked } from "./search-texts.mjs";

const SOME = 50;
const kinds = (optionOf("kinds") ?? "short,long,chinese").split(",");
const bundle = await bundleWorker("bench/edge/search.mjs", { minify: true });
const workerd = await startWorkerd("search", { classes: { CANDIDATE: "Candidate" }, bundle });

async function call(name, method, ...args) {
  const start = now();
  const response = await workerd.miniflare.dispatchFetch("http://bench/", {
    method: "POST",
    body: JSON.stringify({ name, method, args }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${name} ${method}: ${text}`);
  return { ms: now() - start, answer: JSON.parse(text) };
}

async function measure(candidate, kind, size) {
  const name = `${candidate} ${kind} ${size}`;
  await call(name, "open", candidate, kind, size);
  const filled = await call(name, "fill");
  const first = await call(name, "ask", 0);
  const empty = [];
  const times = [];
  for (let i = 0; i < QUESTIONS; i++) {
    empty.push((await call(name, "bytes")).ms);
    times.push((await call(name, "ask", i)).ms);
  }
  const request = at(empty, 0.5);
  let read = 0;
  for (let i = 0; i < SOME; i++) read += (await call(name, "rowsOfQuestion", i)).answer;
  const { answer: written } = await call(name, "rowsOfTexts", SOME);
  return [
    (filled.ms / size).toFixed(3),
    (first.ms - request).toFixed(0),
    (at(times, 0.5) - request).toFixed(2),
    (at(times, 0.95) - request).toFixed(2),
    (read / SOME).toFixed(0),
    (written / SOME).toFixed(1),
  ];
}

introduce(
  "A question by words, on the edge",
  "Milliseconds of a request to a Durable Object in workerd, less those of an empty one. `first` analyses all texts. Rows are what Cloudflare bills: read by a question, and written for an item with a text until it is found.",
);
const rows = [];
for (const kind of kinds) {
  for (const size of sizesAsked) {
    for (const candidate of ["Keepsake", "FTS5 by hand"]) {
      progress(`${size} ${kind} texts: ${candidate}`);
      rows.push([kind, size, candidate, ...(await measure(candidate, kind, size))]);
    }
  }
}
progress("");
const header = ["", "texts", "", "put", "first", "median", "95 of 100", "read", "written"];
console.log(table(header, rows));
await workerd.kill();
