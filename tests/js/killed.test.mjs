// A process that writes to its own file is killed again and again. What was acknowledged is there,
// with its version and its entry in the audit log, and neither is there without its write. With a
// key no file that is left has anything in plain.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openMemory } from "keepsake";
import { times } from "./support/effort.mjs";
import { linesOf, MARKER, openStorm, pathIn, VECTOR_BYTES } from "./support/killed.mjs";
import { randomOf } from "./support/mutants.mjs";
import { killAll, start } from "./support/processes.mjs";
import { removeTemporaryFolders, temporaryFile, temporaryFolder } from "./support/temporary.mjs";

afterAll(killAll);
afterAll(removeTemporaryFolders);

const KILLS = times(30);
const WRONG = Uint8Array.from({ length: 32 }, (_, i) => i);
const PLAIN = [MARKER, "store_kv", VECTOR_BYTES];
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Which of what nobody may read is in the files of a folder. */
function plainIn(folder) {
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
  return PLAIN.filter((bytes) => files.some((file) => file.includes(bytes)));
}

/** What a generation asked for, by the key of the item: changes in their order. */
function changesOf(ledger) {
  const changes = new Map();
  const last = (key, n) => changes.get(key).find((change) => change.n === n);
  for (const [what, key, n, kind] of linesOf(ledger)) {
    if (what === "begin") changes.set(key, [...(changes.get(key) ?? []), { n, kind }]);
    if (what === "done") last(key, n).isDone = true;
  }
  return changes;
}

/** What the audit log tells behind that entry, in order. */
async function entriesBehind(memory, id) {
  const entries = [];
  for (let before; ; before = entries.at(-1).id) {
    const page = await memory.auditLog({ before, limit: 1000 });
    const newer = page.filter((entry) => entry.id > id);
    entries.push(...newer);
    if (newer.length < 1000) return entries.reverse();
  }
}

const OPERATIONS = { put: "store", delete: "delete" };

/** All but the last change of a place, which may be in doubt, or all. */
function appliedOf(where, found, asked) {
  const isLastThere = found.length === asked.length;
  const applied = isLastThere ? asked : asked.slice(0, -1);
  expect({ where, found }).toEqual({ where, found: applied.map(({ n }) => n) });
  expect({ where, lost: !isLastThere && asked.at(-1).isDone === true }).toEqual({
    where,
    lost: false,
  });
  return applied;
}

async function changesOfThread(memory, thread, asked) {
  const found = [];
  for await (const { config } of memory.checkpointer.list({ configurable: { thread_id: thread } }))
    found.unshift(config.configurable.checkpoint_id);
  return appliedOf(thread, found, asked);
}

async function changesOfItem(memory, namespace, asked) {
  const versions = (await memory.store.history(namespace, MARKER, { limit: 100_000 })).reverse();
  // What a delete leaves has no number.
  const found = versions.map(({ value }, i) => String(value?.n ?? asked[i]?.n));
  const applied = appliedOf(namespace, found, asked);
  expect(versions.map(({ change }) => change)).toEqual(applied.map(({ kind }) => kind));
  const item = await memory.store.get(namespace, MARKER);
  expect(item?.value.n).toBe(versions.at(-1)?.value?.n);
  return applied;
}

/** Each write has its version and its entry, and there are no others. Returns how many. */
async function expectWhole(memory, generations, entries) {
  const told = {};
  for (const entry of entries) {
    const place = `${entry.threadId ?? entry.namespace}`;
    told[place] ??= [];
    told[place].push(entry);
  }
  let count = 0;
  for (const [generation, ledger] of generations) {
    for (const [key, asked] of changesOf(ledger)) {
      const isThread = key === "thread";
      const place = isThread ? `${MARKER}-${generation}` : [MARKER, String(generation), key];
      const applied = await (isThread ? changesOfThread : changesOfItem)(memory, place, asked);
      const entries = told[place] ?? [];
      delete told[place];
      expect({ place, told: entries.map(({ operation }) => operation) }).toEqual({
        place,
        told: applied.map(({ kind }) => OPERATIONS[kind]),
      });
      expect(entries.every(({ success, count }) => success && count === 1)).toBe(true);
      count += applied.length;
    }
  }
  const others = Object.values(told).flat();
  expect(others.filter(({ operation }) => operation !== "configure")).toEqual([]);
  return count;
}

test.each([
  ["in plain", false],
  ["with a key that is changed meanwhile", true],
])(
  "nothing acknowledged is lost by kills, %s",
  async (_, isEncrypted) => {
    const folder = temporaryFolder();
    const keys = temporaryFile("keys");
    const random = randomOf(20261125);
    const generations = [];
    let found = 0;
    let seen = 0;
    for (let generation = 0; generation <= KILLS; generation++) {
      const ledger = temporaryFile(`ledger-${generation}`);
      generations.push([generation, ledger]);
      const args = [folder, ledger, keys, generation, isEncrypted];
      const stdio = ["ignore", "ignore", "pipe"];
      const child = start("killed-worker.mjs", args, { stdio, env: { TMPDIR: folder } });
      const errors = [];
      child.stderr.on("data", (data) => errors.push(data));
      // One in four may be killed while it opens what the one before left.
      if (random(4) > 0) {
        while (linesOf(ledger).length < 2 && child.exitCode === null) await wait(5);
      }
      await wait(random(400));
      child.kill("SIGKILL");
      expect({ ended: await child.ended, errors: errors.join("") }).toEqual({
        ended: "SIGKILL",
        errors: "",
      });
      if (isEncrypted) expect(plainIn(folder)).toEqual([]);
      if (isEncrypted && found > 0) {
        const refused = openMemory({ path: pathIn(folder), key: WRONG });
        await expect(refused).rejects.toMatchObject({ code: "wrong_key" });
      }
      const { memory } = await openStorm(folder, keys, isEncrypted);
      const entries = await entriesBehind(memory, seen);
      found += await expectWhole(memory, [[generation, ledger]], entries);
      seen = entries.at(-1)?.id ?? seen;
      await memory.close();
    }
    expect(plainIn(folder)).toEqual(isEncrypted ? [] : PLAIN);
    expect(found).toBeGreaterThan(KILLS);
    const { memory } = await openStorm(folder, keys, isEncrypted);
    expect(await expectWhole(memory, generations, await entriesBehind(memory, 0))).toBe(found);
    expect(await memory.check()).toMatchObject({ isOk: true });
    const { store } = await memory.stats();
    expect(store).toMatchObject({ vectors: store.items, pending: 0 });
    await memory.close();
  },
  120_000 + KILLS * 4_000,
);
