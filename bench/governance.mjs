// What scopes, policies, events, validity, history, the audit log, the look for secrets and
// encryption cost: each off and on, in one interleaved run.
//
//   node bench/governance.mjs
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMemory } from "keepsake";
import { introduce, table } from "./lib.mjs";

const ITEMS = 2000;
const ROUNDS = 9;
const policy = {
  writable: [["notes"]],
  maxEntriesPerNamespace: 1_000_000,
  maxValueBytes: 100_000,
  maxBytes: 1_000_000_000,
};
// What a put is told: nothing, since when its fact holds, or for each second one which it supersedes.
const plain = () => undefined;
const validFrom = new Date(2026, 0);
const dated = () => ({ validFrom });
const succeeding = (i) => (i % 2 === 1 ? { supersedes: `k${i - 1}` } : undefined);
// A second memory leaves secrets alone; all others look for them, as by default. A third one is
// encrypted. Two more keep an audit log, which is full soon.
const VARIANTS = {
  "whole memory": (memory) => memory,
  "secrets allowed": (_, { allowing }) => allowing,
  encrypted: (_, { encrypted }) => encrypted,
  "a scope": (memory) => memory.scoped({ user: "ada" }),
  "with a policy": (memory) => memory.scoped({ user: "ada", policy }),
  "with events": (memory) => memory.scoped({ user: "ada", onAccess: () => {} }),
  "with validFrom": (memory) => ({ store: memory.scoped({ user: "bob" }).store, options: dated }),
  "half superseded": (memory) => ({
    store: memory.scoped({ user: "eve" }).store,
    options: succeeding,
  }),
  // Every put but those of the first round leaves a version, and drops one.
  "with history": (memory) => memory.scoped({ user: "kept", actor: "agent" }),
  "with audit": (_, { audited }) => audited.scoped({ user: "ada", actor: "agent" }),
  "policy, audit, history": (_, { governed }) =>
    governed.scoped({ user: "kept", actor: "agent", policy }),
};
const value = { text: "She prefers oolong in the morning, and nothing after four.", n: 1 };
const WORK = {
  put: (store, i, options) => store.put(["notes"], `k${i}`, value, undefined, options(i)),
  get: (store, i) => store.get(["notes"], `k${i}`),
  search: (store, i) => store.search(["notes"], { limit: 10, offset: i % 10 }),
};

function cpuMicros(since) {
  const { user, system } = process.cpuUsage(since);
  return user + system;
}

async function measure(memory, others, times) {
  for (const [name, view] of Object.entries(VARIANTS)) {
    if (times.get[name] === undefined) continue;
    const { store, options = plain } = view(memory, others);
    for (const [work, run] of Object.entries(WORK)) {
      const count = work === "search" ? ITEMS / 20 : ITEMS;
      const since = process.cpuUsage();
      for (let i = 0; i < count; ++i) await run(store, i, options);
      times[work][name].push(cpuMicros(since) / count);
    }
  }
}

const KEY = crypto.getRandomValues(new Uint8Array(32));

// Of a file that is there, with its log moved: CPU of opening it, one call and closing it.
async function measureOpening(folder) {
  const kinds = { plain: undefined, "a key": KEY, "a passphrase": "a long passphrase" };
  const times = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));
  for (let round = 0; round <= ROUNDS; ++round) {
    for (const [kind, key] of Object.entries(kinds)) {
      const since = process.cpuUsage();
      const memory = await openMemory({ path: join(folder, `${kind}.db`), key });
      await memory.store.put(["notes"], "k", value);
      await memory.close();
      if (round > 0) times[kind].push(cpuMicros(since) / 1000);
    }
  }
  const row = Object.values(times).map((list) => `${median(list).toFixed(1)} ms`);
  console.log(
    `${table(["CPU of opening a file", ...Object.keys(kinds)], [["open, put, close", ...row]])}\n`,
  );
}

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

introduce(
  "What scopes, policies, events, validity, history, audit, the look for secrets and encryption cost",
  "CPU time of a call, the median of nine rounds, beside the same call of the whole memory.",
);
for (const kind of ["memory", "file"]) {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-governance-"));
  const path = kind === "file" ? join(folder, "a.db") : ":memory:";
  const memory = await openMemory({ path });
  const other = kind === "file" ? join(folder, "b.db") : path;
  const allowing = await openMemory({ path: other, secrets: "allow" });
  const encrypted =
    kind === "file" ? await openMemory({ path: join(folder, "c.db"), key: KEY }) : undefined;
  const fileOf = (name) => (kind === "file" ? join(folder, name) : path);
  const audited = await openMemory({ path: fileOf("d.db") });
  const governed = await openMemory({ path: fileOf("e.db") });
  for (const kept of [audited, governed]) await kept.keepAudit({ maxEntries: 1000 });
  await governed.keepHistory(["user", "kept"], { maxVersions: 4 });
  const others = { allowing, encrypted, audited, governed };
  const names = Object.keys(VARIANTS).filter((name) => name !== "encrypted" || encrypted);
  const times = Object.fromEntries(
    Object.keys(WORK).map((work) => [work, Object.fromEntries(names.map((name) => [name, []]))]),
  );
  await memory.keepHistory(["user", "kept"], { maxVersions: 4 });
  await measure(memory, others, structuredClone(times)); // warm
  for (let round = 0; round < ROUNDS; ++round) await measure(memory, others, times);
  const rows = Object.entries(times).map(([work, by]) => {
    const base = median(by["whole memory"]);
    return [
      `${work}, in a ${kind}`,
      ...Object.values(by).map((list) => {
        const micros = median(list);
        return `${micros.toFixed(1)} µs (×${(micros / base).toFixed(2)})`;
      }),
    ];
  });
  console.log(`${table(["CPU of a call", ...names], rows)}\n`);
  await memory.close();
  await allowing.close();
  await encrypted?.close();
  await audited.close();
  await governed.close();
  if (kind === "file") await measureOpening(folder);
  rmSync(folder, { recursive: true });
}
