// What somebody found who tried to break the package, and must stay found.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import Database from "better-sqlite3";
import { InMemoryStore, MemorySaver, openMemory } from "keepsake";
import { expectRefused } from "./support/refusal.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

setFlagsFromString("--expose-gc");

afterAll(removeTemporaryFolders);

test("a value that refers back to itself in many places is refused at once", async () => {
  await using store = new InMemoryStore();
  const tree = { children: [] };
  for (let i = 0; i < 5; i++) tree.children.push({ parent: tree, i });
  await expectRefused(() => store.put(["n"], "k", tree), "invalid_value");
  await expectRefused(() => store.search(["n"], { filter: tree }), "invalid_filter");
});

test("a getter that answers what is no JSON the second time is refused", async () => {
  await using store = new InMemoryStore();
  const odd = [Number.NaN, () => 1, Symbol("s")];
  for (const second of odd) {
    let asked = 0;
    const value = {
      list: [{ text: "null and null" }, null],
      get n() {
        return [++asked === 1 ? 1 : second];
      },
    };
    await expectRefused(() => store.put(["n"], "k", value), "invalid_value", /changes while/);
  }
  expect(await store.get(["n"], "k")).toBeNull();
  const plain = {
    a: [null, undefined, "null"],
    b: null,
    c: undefined,
    get d() {
      return "null";
    },
  };
  await store.put(["n"], "k", plain);
  expect((await store.get(["n"], "k")).value).toEqual({
    a: [null, null, "null"],
    b: null,
    d: "null",
  });
});

test("a toJSON that answers something else each time is refused, or kept as it answered last", async () => {
  await using store = new InMemoryStore();
  const answers = [{ a: 1 }, undefined, null, "text", { a: Number.NaN }, { a: () => 1 }, 1n];
  for (const second of answers.slice(1)) {
    for (const after of [1, 2, 3]) {
      let asked = 0;
      const value = { toJSON: () => (++asked > after ? second : { a: 1 }) };
      for (const given of [value, { inner: { toJSON: () => ({ deep: value }) } }]) {
        asked = 0;
        const outcome = await store.put(["n"], "k", given).catch((error) => error.code);
        expect([undefined, "invalid_value"]).toContain(outcome);
        if (outcome !== undefined) continue;
        const { value: kept } = await store.get(["n"], "k");
        // Within a value these are JSON as well.
        const isJson = second === undefined || second === null || second === "text";
        if (kept.inner === undefined || !isJson) {
          expect(kept.inner?.deep ?? kept).toEqual({ a: 1 });
        }
      }
    }
  }
});

test("a store that nobody has any more is not kept by its sweeper", async () => {
  const gc = runInNewContext("gc");
  const gone = new Set();
  const registry = new FinalizationRegistry((name) => gone.add(name));
  const make = async () => {
    const store = new InMemoryStore({ ttl: { defaultTtl: 60, sweepIntervalMinutes: 1 } });
    await store.put(["n"], "k", { n: 1 });
    registry.register(store, "the store");
  };
  await make();
  for (let i = 0; i < 50 && gone.size === 0; i++) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect([...gone]).toEqual(["the store"]);
});

test("undefined anywhere in a filter is refused, not dropped", async () => {
  await using store = new InMemoryStore();
  await store.put(["n"], "k", { owner: {} });
  const filter = { owner: { $ne: undefined } };
  await expectRefused(() => store.search(["n"], { filter }), "invalid_filter");
});

test("an export whose caller closes meanwhile leaves the database free", async () => {
  const path = temporaryFile();
  const first = await openMemory({ path });
  await using second = await openMemory({ path });
  await first.store.put(["n"], "k", { text: "x".repeat(3 << 20) });
  const exporting = first.export().catch((error) => error);
  await null;
  await first.close();
  await exporting;
  expect((await second.export()).length).toBeGreaterThan(3 << 20);
});

test("a sweep interval longer than any timer does not sweep all the time", async () => {
  let sweeps = 0;
  class Counted extends InMemoryStore {
    async sweepExpired() {
      sweeps++;
      return 0;
    }
  }
  await using store = new Counted({ ttl: { sweepIntervalMinutes: 60 * 24 * 30 } });
  await store.put(["n"], "k", {});
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(sweeps).toBe(0);
});

test.each([
  ["a trigger", "CREATE TRIGGER undo AFTER INSERT ON store_kv BEGIN DELETE FROM store_kv; END"],
  ["a missing table", "DROP TABLE store_kv"],
])("an import with %s is refused, and nothing changed", async (_, sql) => {
  const path = temporaryFile();
  await using memory = await openMemory({ path: ":memory:" });
  await memory.store.put(["n"], "k", { n: 1 });
  const made = await openMemory({ path });
  await made.close();
  const other = new Database(path);
  other.exec(sql);
  const bytes = other.serialize();
  other.close();
  await expectRefused(() => memory.import(new Uint8Array(bytes)), "foreign_file");
  expect((await memory.store.get(["n"], "k")).value).toEqual({ n: 1 });
});

test("a file to which another program gave a trigger is refused by its name, until it is dropped", async () => {
  const path = temporaryFile();
  const made = await openMemory({ path });
  await made.store.put(["n"], "k", { n: 1 });
  await made.close();
  const run = (sql) => {
    const other = new Database(path);
    other.exec(sql);
    other.close();
  };
  run("CREATE TRIGGER lose BEFORE INSERT ON store_kv BEGIN SELECT RAISE(IGNORE); END");
  await expectRefused(() => openMemory({ path }), "foreign_file", /drop lose in/);
  run("DROP TRIGGER lose");
  await using memory = await openMemory({ path });
  await memory.store.put(["n"], "l", { n: 2 });
  expect(await memory.store.listKeys(["n"])).toEqual(["k", "l"]);
});

test("arguments of the wrong kind are named, not taken for a fault of the engine", async () => {
  await using saver = new MemorySaver();
  await using memory = await openMemory({ path: ":memory:" });
  for (const call of [
    () => saver.prune({}),
    () => saver.prune({ threadIds: "t1" }),
    () => saver.deleteForRuns("r1"),
    () => openMemory("agent.db"),
    () => memory.importFrom(new Uint8Array()),
  ]) {
    await expectRefused(call, "invalid_argument");
  }
});
