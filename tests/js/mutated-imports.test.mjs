// Files with something wrong, into every importer: each ends in a typed error or a full report,
// and what is there then can be used.

import { createInterface } from "node:readline";
import { isLong, times } from "./support/effort.mjs";
import { killAll, start } from "./support/processes.mjs";

afterAll(killAll);

const MUTANTS = times(120);
// Whoever says nothing for so long does not end.
const SILENT_MS = 60_000;
const MOST_MEMORY = 512 * 2 ** 20;

const KINDS = [
  "JavaScript's saver",
  "Python's saver",
  "Python's store",
  "a plain store_kv",
  "an export",
  "a portable export",
  "lines of the memory server",
];

let worker;
let ended;

beforeAll(() => {
  worker = start("mutant-worker.mjs", [MUTANTS, ...KINDS]);
  worker.lines = createInterface({ input: worker.stdout })[Symbol.asyncIterator]();
});

const outcomesBy = Object.fromEntries(KINDS.map((kind) => [kind, []]));

async function outcomesOf(kind) {
  const outcomes = outcomesBy[kind];
  while (outcomes.length < MUTANTS && ended === undefined) {
    const timer = setTimeout(() => worker.kill("SIGKILL"), SILENT_MS);
    const { done, value } = await worker.lines.next();
    clearTimeout(timer);
    if (done) ended = await worker.ended;
    else {
      const outcome = JSON.parse(value);
      outcomesBy[outcome.kind].push(outcome);
    }
  }
  expect({ ended, after: outcomes.length }).toEqual({ ended: undefined, after: MUTANTS });
  return outcomes;
}

// Ours to mend, whatever the file was.
const isFault = (code) => /^(untyped|internal|lost)/.test(code);

function summaryOf(kind, outcomes) {
  const counts = {};
  for (const { code } of outcomes) counts[code ?? "done"] = (counts[code ?? "done"] ?? 0) + 1;
  const slowest = outcomes.reduce((a, b) => (b.ms / b.bytes > a.ms / a.bytes ? b : a));
  const longest = Math.max(...outcomes.map(({ ms }) => ms));
  const { linearMemory, rss } = outcomes.at(-1);
  const megabytes = (bytes) => `${Math.round(bytes / 2 ** 20)} MB`;
  return [
    `${kind}: ${outcomes.length} files, ${JSON.stringify(counts)}`,
    `longest ${Math.round(longest)} ms CPU, most ${((1024 * slowest.ms) / slowest.bytes).toFixed(1)} ms a KB`,
    `(number ${slowest.number}, ${slowest.bytes} bytes); linear memory ${megabytes(linearMemory)}, RSS ${megabytes(rss)}`,
  ].join(" ");
}

test.each(KINDS)(
  "%s with something wrong is refused by a typed error, or imported with a full report",
  async (kind) => {
    const outcomes = await outcomesOf(kind);
    if (isLong) console.log(summaryOf(kind, outcomes));
    const faults = outcomes.filter(
      ({ code, missing, used, whys }) =>
        (code !== null && isFault(code)) ||
        missing !== 0 ||
        used.some(isFault) ||
        whys.some((why) => why === ""),
    );
    expect(faults).toEqual([]);
    expect(outcomes.at(-1).linearMemory).toBeLessThan(MOST_MEMORY);
    // Some of each, or nothing was tried. Of lines each is taken or skipped.
    const refused = outcomes.filter(({ code }) => code !== null).length;
    expect(refused).toBeLessThan(outcomes.length);
    if (!kind.startsWith("lines")) expect(refused).toBeGreaterThan(0);
  },
  60_000 + KINDS.length * MUTANTS * 1000,
);

test("the process that imported them ends by itself", async () => {
  for (const kind of KINDS) await outcomesOf(kind);
  expect(await worker.ended).toBe(0);
});
