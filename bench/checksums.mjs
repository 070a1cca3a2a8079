// What the checksums of pages cost on a file: they are written always, and compared with
// `verifyPages`. `--other=dist/index.js` takes another build, too, such as one that has none.

import { copyFileSync } from "node:fs";
import { join } from "node:path";
import * as ours from "keepsake";
import { inFolder, introduce, otherBuild, quick, seededRandom, table, takeTurns } from "./lib.mjs";

const ITEMS = quick ? 2_000 : 20_000;
const ROUNDS = quick ? 5 : 41;
const PUTS = 300;
const GETS = 2_000;
const SEARCHES = 20;

const random = seededRandom(29);
const pick = (count) => Math.floor(random() * count);
const note = (n) => ({ text: `the ${n}th note of ${"many words ".repeat(1 + (n % 40))}`, n });
const namespaceOf = (n) => ["notes", `u${n % 50}`];

async function fill(openMemory, path) {
  const memory = await openMemory({ path });
  for (let from = 0; from < ITEMS; from += 500) {
    const puts = Array.from({ length: 500 }, (_, i) => from + i).map((n) => ({
      namespace: namespaceOf(n),
      key: `k${n}`,
      value: note(n),
    }));
    await memory.store.batch(puts);
  }
  await memory.close();
}

// Nothing of the file is in the engine's cache yet: each page that is needed is read.
const work = {
  open: async (subject) => {
    await subject.memory?.close();
    subject.memory = await subject.open();
    await subject.memory.store.get(["notes", "u1"], "k1");
  },
  [`get, ${GETS} at random`]: async ({ memory }, keys) => {
    for (const n of keys) await memory.store.get(namespaceOf(n), `k${n}`);
  },
  [`search, ${SEARCHES} namespaces`]: async ({ memory }) => {
    for (let i = 0; i < SEARCHES; i++) await memory.store.search(namespaceOf(i), { limit: 10 });
  },
  [`put, ${PUTS}, and flush`]: async ({ memory }, keys) => {
    for (const n of keys.slice(0, PUTS)) await memory.store.put(namespaceOf(n), `k${n}`, note(n));
    await memory.flush();
  },
};

introduce(
  "Checksums of pages",
  `${ITEMS} items in a file; each round opens it anew. Medians of ${ROUNDS} rounds, CPU of the process.`,
);
await inFolder(async (folder) => {
  const other = await otherBuild();
  const subjects = [];
  for (const [name, { openMemory }, options] of [
    ["written", ours, {}],
    ["written and compared", ours, { verifyPages: true }],
    ...(other === undefined ? [] : [["other build", other, {}]]),
  ]) {
    const path = join(folder, `${name.replaceAll(" ", "-")}.db`);
    const [first] = subjects;
    if (first !== undefined && first.from === openMemory) copyFileSync(first.path, path);
    else await fill(openMemory, path);
    subjects.push({
      name,
      path,
      from: openMemory,
      open: () => openMemory({ path, ...options }),
    });
  }
  const prepare = () => Array.from({ length: GETS }, () => pick(ITEMS));
  const times = await takeTurns(subjects, ROUNDS, { prepare, work });
  for (const { memory } of subjects) await memory.close();
  const base = subjects.at(other === undefined ? 0 : -1).name;
  const rows = Object.entries(times).map(([name, of]) => [
    name,
    ...subjects.map((subject) => {
      const [cpu] = of[subject.name];
      const share = (100 * (cpu / of[base][0] - 1)).toFixed(1);
      return subject.name === base ? `${cpu.toFixed(2)} ms` : `${cpu.toFixed(2)} ms (${share} %)`;
    }),
  ]);
  console.log(table(["", ...subjects.map(({ name }) => name)], rows));
});
