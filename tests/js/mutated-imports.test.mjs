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

async function outcomesOf(kind) {
  const worker = start("mutant-worker.mjs", [kind, 0, MUTANTS]);
  const outcomes = [];
  let timer;
  const watch = () => {
    clearTimeout(timer);
    timer = setTimeout(() => worker.kill("SIGKILL"), SILENT_MS);
  };
  watch();
  for await (const line of createInterface({ input: worker.stdout })) {
    watch();
    outcomes.push(JSON.parse(line));
  }
  clearTimeout(timer);
  expect({ kind, ended: await worker.ended, after: outcomes.length }).toEqual({
    kind,
    ended: 0,
    after: MUTANTS,
  });
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

test.each([
  "JavaScript's saver",
  "Python's saver",
  "Python's store",
  "a plain store_kv",
  "an export",
  "a portable export",
  "lines of the memory server",
])(
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
  60_000 + MUTANTS * 1000,
);
