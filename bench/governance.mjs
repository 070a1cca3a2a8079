// What scopes, policies, events, validity, origins, history, the audit log, the look for secrets and
// encryption cost: each off and on, in one interleaved run. Beside them what a put costs more
// with a version and with an entry of a log by hand, over better-sqlite3.
//
//   node bench/governance.mjs
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
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
const source = "https://example.org/a/page/of/the/usual/length";
const sourced = (i) => ({ origin: i % 2 === 1 ? "user" : "tool", source });
const succeeding = (i) => (i % 2 === 1 ? { supersedes: `k${i - 1}` } : undefined);
// A second memory masks secrets. A third one is
// encrypted. Two more keep an audit log, which is full soon.
const VARIANTS = {
  "whole memory": (memory) => memory,
  "secrets masked": (_, { masking }) => masking,
  encrypted: (_, { encrypted }) => encrypted,
  "a scope": (memory) => memory.scoped({ user: "ada" }),
  "with a policy": (memory) => memory.scoped({ user: "ada", policy }),
  "with events": (memory) => memory.scoped({ user: "ada", onAccess: () => {} }),
  "with validFrom": (memory) => ({ store: memory.scoped({ user: "bob" }).store, options: dated }),
  "with origin": (memory) => ({ store: memory.scoped({ user: "amy" }).store, options: sourced }),
  "by origin": (memory) => ({
    store: memory.scoped({ user: "kim", policy: { origins: { web: "quarantine", tool: 0.5 } } })
      .store,
    options: sourced,
  }),
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
  const rows = [["open, put, close", ...row]];
  console.log(`### Opening a file\n\n${table(["CPU of it", ...Object.keys(kinds)], rows)}\n`);
}

// What a version and an entry of a log cost who writes them by hand, in the transaction of the put.
function byHand(path) {
  const connection = new Database(path);
  connection.pragma("journal_mode = WAL");
  connection.pragma("synchronous = NORMAL");
  connection.exec(`
    CREATE TABLE item(ns TEXT, key TEXT, value TEXT, at INTEGER, PRIMARY KEY(ns, key));
    CREATE TABLE version(id INTEGER PRIMARY KEY, ns TEXT, key TEXT, number INTEGER, value TEXT,
      from_ms INTEGER, at INTEGER, actor TEXT);
    CREATE UNIQUE INDEX version_of_item ON version(ns, key, number);
    CREATE TABLE log(id INTEGER PRIMARY KEY, at INTEGER, operation TEXT, ns TEXT, actor TEXT);
  `);
  const put = connection.prepare(
    `INSERT INTO item VALUES(?, ?, ?, ?)
     ON CONFLICT(ns, key) DO UPDATE SET value = excluded.value, at = excluded.at`,
  );
  const keep = connection.prepare(
    `INSERT INTO version(ns, key, number, value, from_ms, at, actor)
     SELECT i.ns, i.key, 1 + COALESCE((SELECT max(number) FROM version v
       WHERE v.ns = i.ns AND v.key = i.key), 0), i.value, i.at, ?, 'agent'
     FROM item i WHERE i.ns = ? AND i.key = ? RETURNING number`,
  );
  const drop = connection.prepare("DELETE FROM version WHERE ns = ? AND key = ? AND number <= ?");
  const tell = connection.prepare(
    "INSERT INTO log(at, operation, ns, actor) VALUES(?, 'store', ?, 'agent')",
  );
  const shorten = connection.prepare("DELETE FROM log WHERE id <= ?");
  const write = (key) => put.run("notes", key, JSON.stringify(value), Date.now());
  const remember = (key) => {
    const version = keep.get(Date.now(), "notes", key);
    if (version?.number > 4) drop.run("notes", key, version.number - 4);
  };
  const log = () => {
    const { lastInsertRowid } = tell.run(Date.now(), "notes");
    if (lastInsertRowid > 1000) shorten.run(lastInsertRowid - 1000);
  };
  const works = {
    put: write,
    "and a version": connection.transaction((key) => {
      remember(key);
      write(key);
    }),
    "and an entry": connection.transaction((key) => {
      write(key);
      log();
    }),
    "and both": connection.transaction((key) => {
      remember(key);
      write(key);
      log();
    }),
  };
  return { works, close: () => connection.close() };
}

function measureByHand(folder) {
  const { works, close } = byHand(join(folder, "hand.db"));
  const times = Object.fromEntries(Object.keys(works).map((name) => [name, []]));
  // As above: the rounds before the first that count are as many as versions are kept.
  for (let round = -5; round < ROUNDS; ++round) {
    for (const [name, run] of Object.entries(works)) {
      const since = process.cpuUsage();
      for (let i = 0; i < ITEMS; ++i) run(`k${i}`);
      if (round >= 0) times[name].push(cpuMicros(since) / ITEMS);
    }
  }
  close();
  const base = median(times.put);
  const row = Object.values(times).map(
    (list) => `${median(list).toFixed(1)} µs (×${(median(list) / base).toFixed(2)})`,
  );
  const rows = [["put by hand", ...row]];
  console.log(
    `### Versions and entries by hand, on a file\n\n${table(["CPU of a call", ...Object.keys(works)], rows)}\n`,
  );
}

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

introduce(
  "What scopes, policies, events, validity, origins, history, audit, the look for secrets and encryption cost",
  "CPU time of a call, the median of nine rounds, beside the same call of the whole memory.",
);
for (const kind of ["memory", "file"]) {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-governance-"));
  const path = kind === "file" ? join(folder, "a.db") : ":memory:";
  const memory = await openMemory({ path });
  const other = kind === "file" ? join(folder, "b.db") : path;
  const masking = await openMemory({ path: other, secrets: "mask" });
  const encrypted =
    kind === "file" ? await openMemory({ path: join(folder, "c.db"), key: KEY }) : undefined;
  const fileOf = (name) => (kind === "file" ? join(folder, name) : path);
  const audited = await openMemory({ path: fileOf("d.db") });
  const governed = await openMemory({ path: fileOf("e.db") });
  for (const kept of [audited, governed]) await kept.keepAudit({ maxEntries: 1000 });
  await governed.store.keepHistory(["user", "kept"], { maxVersions: 4 });
  const others = { masking, encrypted, audited, governed };
  const names = Object.keys(VARIANTS).filter((name) => name !== "encrypted" || encrypted);
  const times = Object.fromEntries(
    Object.keys(WORK).map((work) => [work, Object.fromEntries(names.map((name) => [name, []]))]),
  );
  await memory.store.keepHistory(["user", "kept"], { maxVersions: 4 });
  await measure(memory, others, structuredClone(times)); // warm
  for (let round = 0; round < ROUNDS; ++round) await measure(memory, others, times);
  const rows = Object.entries(times).map(([work, by]) => {
    const base = median(by["whole memory"]);
    return [
      work,
      ...Object.values(by).map((list) => {
        const micros = median(list);
        return `${micros.toFixed(1)} µs (×${(micros / base).toFixed(2)})`;
      }),
    ];
  });
  const title = kind === "file" ? "Governance on a file" : "Governance in memory";
  console.log(`### ${title}\n\n${table(["CPU of a call", ...names], rows)}\n`);
  await memory.close();
  await masking.close();
  await encrypted?.close();
  await audited.close();
  await governed.close();
  if (kind === "file") {
    measureByHand(folder);
    await measureOpening(folder);
  }
  rmSync(folder, { recursive: true });
}
