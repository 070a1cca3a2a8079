// What the benchmarks share: candidates taken in turns, the best of several rounds,
// Markdown tables that say where and how they were made.
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

/** A file of real texts, from which nothing is copied; undefined without `--texts=file.json`. */
export const textsFile = process.argv
  .find((option) => option.startsWith("--texts="))
  ?.slice("--texts=".length);
export const quick = process.argv.includes("--quick");

// The CPU time of the process hardly depends on what else the machine does; the time on
// the clock is what a person waits for, waiting for the disk included.
const countsCpu = process.argv.includes("--cpu");

// A busy machine makes a table worthless; say so beside it.
const BUSY_LOAD_PER_CPU = 0.5;

export function introduce(title, explanation) {
  const load = loadavg()[0];
  const busy =
    load > BUSY_LOAD_PER_CPU * cpus().length ? " — **busy: run again, or compare with --cpu**" : "";
  console.log(`## ${title}\n\n${explanation}\n`);
  console.log(`- Machine: ${cpus().length} × ${cpus()[0].model.trim()}, Node ${process.version}`);
  console.log(`- Load before: ${load.toFixed(2)}${busy}`);
  console.log(`- Times: ${countsCpu ? "CPU time of the process" : "on the clock"}`);
  const options = process.argv.slice(2).join(" ");
  console.log(
    `- Command: \`node bench/${basename(process.argv[1])}${options && ` ${options}`}\`\n`,
  );
}

// A candidate is {name, open(folder) → {subject, close()}, peer?}: `peer` is the name of
// the one it is compared with. `exercise(subject)` → {operation: {count, ms}}.
// Rounds go through all candidates in turn, each time from another one, so that what the
// machine does meanwhile hits all alike; the best round of each operation counts.
// → Map(candidate name → {timings: {operation: {count, ms}}, bytes}), the bytes on disk
export async function compare(candidates, { rounds, exercise }) {
  const results = new Map(candidates.map(({ name }) => [name, { timings: {}, bytes: 0 }]));
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < candidates.length; i++) {
      const candidate = candidates[(i + round) % candidates.length];
      progress(`round ${round + 1} of ${rounds}: ${candidate.name}`);
      const { timings, bytes } = await inFolder((folder) => runOnce(candidate, folder, exercise));
      const result = results.get(candidate.name);
      keepBest(result.timings, timings);
      result.bytes = bytes;
    }
  }
  progress("");
  return results;
}

export async function inFolder(body) {
  const folder = await mkdtemp(join(tmpdir(), "keepsake-bench-"));
  try {
    return await body(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runOnce({ open }, folder, exercise) {
  const { subject, close } = await open(folder);
  const timings = await exercise(subject).finally(close);
  return { timings, bytes: await folderBytes(folder) };
}

export function keepBest(best, timings) {
  for (const [operation, timing] of Object.entries(timings)) {
    if (best[operation] === undefined || timing.ms < best[operation].ms) best[operation] = timing;
  }
}

/** Another build of the package, of which `--other=dist/index.js` is the entry; undefined without. */
export async function otherBuild() {
  const option = process.argv.find((each) => each.startsWith("--other="));
  return option && (await import(pathToFileURL(option.slice("--other=".length))));
}

// Rounds of some pieces of work, in which the subjects take turns, each time another one first.
// → {work: {subject's name: [CPU ms, ms on the clock]}}, the medians of the rounds
export async function takeTurns(subjects, rounds, { prepare = () => undefined, work }) {
  const times = {};
  for (let round = 0; round < rounds; round++) {
    const prepared = await prepare(round);
    for (const [name, body] of Object.entries(work)) {
      for (let i = 0; i < subjects.length; i++) {
        const subject = subjects[(i + round) % subjects.length];
        const before = [cpuNow(), performance.now()];
        await body(subject, prepared, round);
        times[name] ??= {};
        times[name][subject.name] ??= [];
        times[name][subject.name].push([cpuNow() - before[0], performance.now() - before[1]]);
      }
    }
  }
  for (const of of Object.values(times)) {
    for (const [name, all] of Object.entries(of)) {
      of[name] = [0, 1].map((i) => median(all.map((pair) => pair[i])));
    }
  }
  return times;
}

function median(numbers) {
  return numbers.sort((a, b) => a - b)[numbers.length >> 1];
}

function cpuNow() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

// Runs body(0) … body(count − 1) one after another.
export async function timed(count, body) {
  const start = now();
  for (let i = 0; i < count; i++) await body(i);
  return { count, ms: now() - start };
}

// In milliseconds.
export function now() {
  if (!countsCpu) return performance.now();
  return cpuNow();
}

async function folderBytes(folder) {
  const names = await readdir(folder);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

// Rows are operations, columns candidates. After a figure: how many times as fast as
// the candidate's peer.
export function comparisonTable(candidates, results) {
  const operations = Object.keys(results.get(candidates[0].name).timings);
  const header = ["", ...candidates.map(({ name, peer }) => (peer ? `**${name}**` : name))];
  const rows = operations.map((operation) => [
    operation,
    ...candidates.map(({ name, peer }) => {
      const timing = results.get(name).timings[operation];
      if (timing === undefined) return "–";
      const of = results.get(peer)?.timings[operation];
      return of ? `${speed(timing)} (×${ratio(of, timing)})` : speed(timing);
    }),
  ]);
  return table(header, rows);
}

export function table(header, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const rule = header.map((_, i) => (i === 0 ? "---" : "---:"));
  return [line(header), line(rule), ...rows.map(line)].join("\n");
}

// Operations per second for what is quick, milliseconds for what a person could notice.
function speed({ count, ms }) {
  const each = ms / count;
  if (each >= 1) return `${each.toFixed(each < 10 ? 1 : 0)} ms`;
  const perSecond = 1000 / each;
  return perSecond < 10_000 ? `${Math.round(perSecond)}/s` : `${(perSecond / 1000).toFixed(1)}k/s`;
}

function ratio(peer, own) {
  return (peer.ms / peer.count / (own.ms / own.count)).toFixed(2);
}

export function kilobytes(bytes) {
  return bytes < 10 * 1024 * 1024
    ? `${(bytes / 1024).toFixed(0)} KB`
    : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

// A small generator with a seed (mulberry32), so that every run has the same data.
export function seededRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

// In a terminal one line that is written anew; in a log a line every ten seconds.
const LOGGED_EACH_MS = 10_000;
let loggedAt = Date.now();

export function progress(text) {
  if (process.stderr.isTTY) {
    process.stderr.write(`\r\x1b[2K${text}`);
  } else if (text !== "" && Date.now() - loggedAt >= LOGGED_EACH_MS) {
    loggedAt = Date.now();
    process.stderr.write(`${text}\n`);
  }
}
