// Where a Worker without a disk may keep a memory: a superstep, and a question by words, over R2 and
// in a Durable Object, beside a saver that puts each checkpoint as an object of R2. All in one
// workerd, in turns; the best round of each.
//
//   node bench/places.mjs [--quick]

import { bundleWorker } from "../tests/edge/support/bundle.mjs";
import { startWorkerd } from "../tests/edge/support/workerd.mjs";
import { introduce, quick, table } from "./lib.mjs";

const STEPS = 30;
const QUESTIONS = 20;
const ITEMS = 200;
const ROUNDS = quick ? 2 : 6;
const PLACES = ["memory in R2", "memory in a Durable Object", "an object for each checkpoint"];

const bundle = await bundleWorker("bench/edge/places-worker.mjs", { minify: true });
const workerd = await startWorkerd("bench", {
  classes: { MEMORY: "KeepsakeObject" },
  buckets: ["BUCKET"],
  bundle,
});

async function call(place, method, count) {
  const start = performance.now();
  const response = await workerd.miniflare.dispatchFetch("http://bench/", {
    method: "POST",
    body: JSON.stringify({ place, method, count }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${place} ${method}: ${text}`);
  return performance.now() - start;
}

const best = new Map();
function note(place, method, ms) {
  const key = `${place} ${method}`;
  best.set(key, Math.min(best.get(key) ?? Number.POSITIVE_INFINITY, ms));
}

// The isolate begins with this one.
await call(PLACES[2], "empty");
const first = new Map();
for (const place of PLACES) first.set(place, await call(place, "supersteps", 1));
for (const place of PLACES.slice(0, 2)) await call(place, "fill", ITEMS);
for (let round = 0; round < ROUNDS; round++) {
  for (let i = 0; i < PLACES.length; i++) {
    const place = PLACES[(i + round) % PLACES.length];
    const empty = await call(place, "empty");
    note(place, "supersteps", ((await call(place, "supersteps", STEPS)) - empty) / STEPS);
    if (place === PLACES[2]) continue;
    note(place, "questions", ((await call(place, "questions", QUESTIONS)) - empty) / QUESTIONS);
  }
}

introduce("Places for a Worker", "In workerd, whose R2 and objects are on this machine's disk.");
const object = (method) => best.get(`${PLACES[1]} ${method}`);
const cell = (place, method) => {
  const ms = best.get(`${place} ${method}`);
  return ms === undefined ? "-" : `${ms.toFixed(1)} ms (×${(ms / object(method)).toFixed(1)})`;
};
console.log(
  table(
    ["", "a superstep", "a question", "the first run, cold"],
    PLACES.map((place) => [
      place,
      cell(place, "supersteps"),
      cell(place, "questions"),
      `${first.get(place).toFixed(0)} ms`,
    ]),
  ),
);
await workerd.kill();
