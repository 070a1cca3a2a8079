// Runs histories.
//
//   node tests/js/simulation/run.mjs --seed 17          that one, and tells its story
//   node tests/js/simulation/run.mjs --from 1 --to 999  those, and tells which of them fail

import "./stand-ins.mjs";
import { parseArgs } from "node:util";
import { bundleOf, SMALL } from "./bundle.mjs";
import { runHistory } from "./history.mjs";
import { Sessions } from "./sessions.mjs";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    from: { type: "string", default: "1" },
    to: { type: "string", default: "1000" },
    most: { type: "string", default: "5" },
    quiet: { type: "boolean" },
  },
});

const code = await import(await bundleOf(SMALL, `small-${process.pid}`));
const sessions = new Sessions(code);

const only = values.seed === undefined ? undefined : Number(values.seed);
const [from, to] = only === undefined ? [Number(values.from), Number(values.to)] : [only, only];
const log = only === undefined || values.quiet ? undefined : (line) => console.log(line);
let failures = 0;
const start = Date.now();
const sums = { steps: 0, requests: 0, events: 0, codes: {} };
const cpu0 = process.cpuUsage();
for (let seed = from; seed <= to; seed++) {
  const result = await runHistory({ code, sessions }, seed, log);
  for (const key of ["steps", "requests", "events"]) sums[key] += result[key] ?? 0;
  for (const [key, n] of Object.entries(result.codes ?? {}))
    sums.codes[key] = (sums.codes[key] ?? 0) + n;
  if (result.complaints.length === 0) continue;
  failures++;
  console.log(`seed ${seed}:`);
  const shown = only === undefined ? 3 : 20;
  for (const complaint of result.complaints.slice(0, shown)) {
    console.log(`  ${only === undefined ? complaint.slice(0, 420) : complaint}`);
  }
  if (failures >= Number(values.most)) {
    console.log("seeds run:", seed - from + 1);
    break;
  }
}
const cpu = process.cpuUsage(cpu0);
console.log(
  `${failures} failures, ${Date.now() - start} ms, cpu ${(cpu.user + cpu.system) / 1000} ms`,
  JSON.stringify(sums),
);
process.exitCode = failures > 0 ? 1 : 0;
