// A memory over a connection of the application's: beside its tables, within its
// transactions, and shared by several processes.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { jest } from "@jest/globals";
import { SqliteSaver as OfficialSaver } from "@langchain/langgraph-checkpoint-sqlite";
import BetterSqlite3 from "better-sqlite3";
import { openMemory, SqliteStore } from "keepsake";
import { memoryOver } from "keepsake/sqlite";
import { checkpointOf, metadataOf, putCheckpoint, threadConfig } from "./support/checkpoints.mjs";
import { closeMemoryOf, libraries, memoryAt } from "./support/connections.mjs";
import { times } from "./support/effort.mjs";
import { expectRefused } from "./support/refusal.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const embeddings = (texts) => texts.map((text) => [text.length, text.charCodeAt(0), 1]);
const index = { dims: 3, embeddings, fields: ["text"] };
const keysOf = (items) => items.map(({ key }) => key).sort();

test.each(Object.keys(libraries))("over %s a file that is gone is told of", async (library) => {
  const path = temporaryFile();
  const connection = libraries[library](path);
  connection.exec("PRAGMA journal_mode = DELETE");
  const { store } = memoryOver(connection);
  await store.put(["n"], "k", { a: 1 });
  rmSync(path);
  const rule = /open it again if it was moved or deleted/;
  await expectRefused(() => store.put(["n"], "l", { a: 1 }), "read_only", rule);
  connection.close();
});

test.each(Object.keys(libraries))("over %s a temporary view hides nothing", async (library) => {
  const connection = libraries[library](temporaryFile());
  connection.exec("CREATE TEMP TABLE mine (a)");
  const { store } = memoryOver(connection);
  await store.put(["n"], "k", { a: 1 });
  connection.exec(
    "CREATE TEMP VIEW keepsake_store_kv AS SELECT * FROM main.keepsake_store_kv WHERE 0",
  );
  await expectRefused(
    () => store.search(["n"]),
    "invalid_operation",
    /hides or watches one of ours/,
  );
  connection.exec("DROP VIEW temp.keepsake_store_kv");
  expect(await store.search(["n"])).toHaveLength(1);
  connection.close();
});

test.each(Object.keys(libraries))(
  "over %s threads of LangGraph's saver are told of",
  async (library) => {
    const path = temporaryFile();
    const official = OfficialSaver.fromConnString(path);
    await putCheckpoint(official, threadConfig("old"), { a: 1 });
    official.db.close();
    const warn = jest.spyOn(console, "warn").mockImplementation(() => {});
    const opened = async (body) => {
      const connection = libraries[library](path);
      const memory = memoryOver(connection);
      await memory.stats();
      await body?.(memory);
      await memory.close();
      connection.close();
    };
    try {
      await opened();
      expect(warn.mock.calls).toEqual([[expect.stringMatching(/SqliteSaver.*importFrom\(\)/)]]);
      await opened(async (memory) => {
        await expectRefused(
          () => memory.importFrom(path),
          "unsupported",
          /openMemory\(\) a new file/,
        );
        await using between = await openMemory({ path: temporaryFile() });
        await between.importFrom(path);
        await memory.import(await between.export({ format: "portable" }));
        expect(await memory.checkpointer.getTuple(threadConfig("old"))).toBeDefined();
      });
      warn.mockClear();
      await opened();
      expect(warn).not.toHaveBeenCalled();
    } finally {
      warn.mockRestore();
    }
  },
);

describe.each(Object.keys(libraries))("over %s", (library) => {
  let path;
  let connection;
  let memory;
  beforeEach(() => {
    path = temporaryFile();
    connection = libraries[library](path);
    memory = memoryOver(connection, { index });
  });
  afterEach(async () => {
    await memory.close();
    connection.close();
  });

  test("the application's tables of our names are left alone", async () => {
    for (const name of ["meta", "checkpoints", "writes", "store_kv", "content"]) {
      connection.exec(`CREATE TABLE ${name}(mine)`);
      connection.exec(`INSERT INTO ${name} VALUES('mine')`);
    }
    await memory.store.put(["n"], "k", { text: "content = '' checkpoints writes" });
    await memory.checkpointer.put(threadConfig("t"), checkpointOf({ a: [1] }), metadataOf(), {
      a: 1,
    });
    expect((await memory.store.get(["n"], "k")).value.text).toBe("content = '' checkpoints writes");
    for (const name of ["meta", "checkpoints", "writes", "store_kv", "content"]) {
      expect(connection.prepare(`SELECT mine FROM ${name}`).get().mine).toBe("mine");
    }
    await memory.store.search(["n"], { query: "writes", ranking: { mode: "hybrid" } });
    const names = connection.prepare("SELECT name FROM sqlite_master").all();
    const ours = names.filter(({ name }) => name.startsWith("keepsake_"));
    expect(ours.length).toBeGreaterThan(15);
    expect(names.length - ours.length - 5).toBe(
      names.filter(({ name }) => name.startsWith("sqlite_autoindex")).length,
    );
  });

  test("a scope's quota counts what another connection wrote", async () => {
    const other = memoryAt(library, path, { index });
    const scope = { user: "ada", policy: { maxEntriesPerNamespace: 2 } };
    const { store } = memory.scoped(scope);
    await store.put(["n"], "a", { text: "apple" });
    await other.scoped(scope).store.put(["n"], "b", { text: "pear" });
    await expect(store.put(["n"], "c", { text: "plum" })).rejects.toMatchObject({
      code: "quota_exceeded",
      message: expect.stringMatching(/^\[keepsake\] memory\.store: .*would have 3 entries/),
    });
    expect(keysOf(await store.search([]))).toEqual(["a", "b"]);
    expect(await memory.scoped({ user: "bob" }).store.search([])).toEqual([]);
    await closeMemoryOf(other);
  });

  test("what another connection wrote is seen by the next call", async () => {
    const other = memoryAt(library, path, { index });
    await memory.store.put(["n"], "a", { text: "apple" });
    await memory.store.search(["n"], { query: "apple", ranking: { mode: "hybrid" } });
    await other.store.put(["n"], "b", { text: "apples" });
    expect(await memory.store.get(["n"], "b")).not.toBeNull();
    const found = await memory.store.search(["n"], { query: "apple", ranking: { mode: "hybrid" } });
    expect(keysOf(found)).toEqual(["a", "b"]);
    await memory.store.delete(["n"], "a");
    expect(keysOf(await other.store.search(["n"], { query: "apple" }))).toEqual(["b"]);
    await closeMemoryOf(other);
  });

  test("a call is part of the application's transaction, kept or not", async () => {
    await memory.store.put(["n"], "a", { text: "apple" });
    connection.exec("CREATE TABLE orders(id)");
    connection.exec("BEGIN");
    connection.exec("INSERT INTO orders VALUES(1)");
    await memory.store.put(["n"], "b", { text: "banana" });
    expect(await memory.store.get(["n"], "b")).not.toBeNull();
    connection.exec("ROLLBACK");
    expect(await memory.store.get(["n"], "b")).toBeNull();
    expect(keysOf(await memory.store.search(["n"], { query: "banana" }))).toEqual(["a"]);
    expect(connection.prepare("SELECT count(*) AS n FROM orders").get().n).toBe(0);
    connection.exec("BEGIN");
    connection.exec("INSERT INTO orders VALUES(2)");
    await memory.store.put(["n"], "c", { text: "cherry" });
    connection.exec("COMMIT");
    expect(keysOf(await memory.store.search(["n"], { query: "cherry" }))).toEqual(["a", "c"]);
    expect(connection.prepare("SELECT count(*) AS n FROM orders").get().n).toBe(1);
  });

  test("a refused batch keeps nothing, and the next one goes on", async () => {
    const bad = memory.store.batch([
      { namespace: ["n"], key: "a", value: { text: "a" } },
      { namespacePrefix: ["n"], filter: { a: { $nope: 1 } } },
    ]);
    await expectRefused(() => bad, "invalid_filter");
    expect(await memory.store.get(["n"], "a")).toBeNull();
    await memory.store.put(["n"], "b", { text: "b" });
    expect(await memory.store.get(["n"], "b")).not.toBeNull();
  });

  test("another that writes is waited for as long as the connection does, and then named", async () => {
    const quick = libraries[library](path, 50);
    const blocked = memoryOver(quick);
    await memory.store.put(["n"], "a", { text: "a" });
    connection.exec("BEGIN IMMEDIATE");
    await expectRefused(
      () => blocked.store.put(["n"], "b", { text: "b" }),
      "busy",
      /another connection writes: give yours a busy timeout/,
    );
    connection.exec("COMMIT");
    await blocked.store.put(["n"], "b", { text: "b" });
    expect(keysOf(await memory.store.search(["n"]))).toEqual(["a", "b"]);
    await blocked.close();
    quick.close();
  });

  test("an export of format portable moves it to a file and back", async () => {
    await memory.store.put(["n"], "a", { text: "apple" });
    const bytes = await memory.export();
    const copy = memoryOver(libraries[library](temporaryFile()), { index });
    await copy.import(bytes);
    expect(keysOf(await copy.store.search(["n"], { query: "apple" }))).toEqual(["a"]);
    await copy.close();
    await expectRefused(() => memory.export({ format: "sqlite" }), "unsupported");
  });

  test("vectors that another process replaced stay, and the old index is told", async () => {
    const embedFour = (texts) => texts.map((text) => [text.length, 1, 2, 3]);
    const replacing = { ...index, replace: true };
    const old = memoryAt(library, path, { index: replacing });
    await old.store.put(["n"], "a", { text: "apple" });
    const other = memoryAt(library, path, {
      index: { dims: 4, embeddings: embedFour, fields: ["text"], replace: true },
    });
    await other.store.put(["n"], "b", { text: "banana" });
    expect(await other.store.reembed()).toBe(1);
    await expectRefused(() => old.store.get(["n"], "a"), "dimension_mismatch");
    expect(await other.store.stats()).toMatchObject({ vectors: 2, pending: 0 });
    await closeMemoryOf(old);
    await closeMemoryOf(other);
  });

  test("an import of an old export is noticed by others", async () => {
    const other = memoryAt(library, path, { index });
    await other.store.put(["n"], "a", { text: "apple" });
    const early = await other.export();
    for (let i = 0; i < 5; i++) await other.store.put(["n"], `k${i}`, { text: `apple ${i}` });
    await memory.store.search(["n"], { query: "apple" });
    await other.import(early);
    for (let i = 0; i < 5; i++) await other.store.put(["n"], `n${i}`, { text: `pear ${i}` });
    const found = await memory.store.search(["n"], { query: "pear 1", limit: 20 });
    expect(keysOf(found)).toEqual(["a", "n0", "n1", "n2", "n3", "n4"]);
    await memory.store.put(["n"], "z", { text: "zebra" });
    await closeMemoryOf(other);
  });

  test("after one that was busy all goes on, the application's own calls too", async () => {
    const quick = libraries[library](path, 50);
    const blocked = memoryOver(quick, { ttl: { defaultTtl: 60 } });
    connection.exec("PRAGMA journal_mode = WAL");
    await blocked.store.put(["n"], "a", { text: "a" });
    connection.exec("BEGIN IMMEDIATE");
    // A read restarts the time to live when it can.
    expect(await blocked.store.get(["n"], "a")).not.toBeNull();
    await expectRefused(() => blocked.store.put(["n"], "b", { text: "b" }), "busy");
    connection.exec("COMMIT");
    expect(await blocked.store.get(["n"], "a")).not.toBeNull();
    quick.exec("BEGIN; CREATE TABLE mine(a); COMMIT");
    await blocked.store.put(["n"], "b", { text: "b" });
    await blocked.close();
    quick.close();
  });

  describe("a read waits for nobody", () => {
    const THREAD = threadConfig("t");

    // Each would write something that is derived: records of words, columns of fields, times to
    // live, the order of threads.
    const READS = {
      get: ({ store }) => store.get(["n"], "a"),
      list: ({ store }) => store.search(["n"], { limit: 5 }),
      namespaces: ({ store }) => store.listNamespaces({ prefix: ["n"] }),
      words: ({ store }) =>
        store.search(["n"], { query: "foreign apple", ranking: { mode: "text" } }),
      vectors: ({ store }) => store.search(["n"], { query: "apple", ranking: { mode: "vector" } }),
      filter: async ({ store }) => {
        for (let i = 0; i < 3; i++) await store.search(["m"], { filter: { n: 3 } });
        return store.search(["m"], { filter: { n: 3 } });
      },
      tuple: ({ checkpointer }) => checkpointer.getTuple(THREAD),
      threads: async ({ checkpointer }) => {
        const threads = [];
        for await (const thread of checkpointer.listThreads()) threads.push(thread);
        return threads;
      },
    };

    let quick;
    let reader;
    beforeEach(async () => {
      connection.exec("PRAGMA journal_mode = WAL");
      await memory.store.put(["n"], "a", { text: "an apple" });
      await memory.store.put(["n", "below"], "b", { text: "a pear" });
      await memory.store.search(["n"], { query: "apple", ranking: { mode: "text" } });
      const many = Array.from({ length: 600 }, (_, n) => n);
      await memory.store.batch(
        many.map((n) => ({ namespace: ["m"], key: `k${n}`, value: { n }, index: false })),
      );
      const put = (thread) =>
        memory.checkpointer.put(thread, checkpointOf({ a: [1] }), metadataOf(), { a: 1 });
      await put(threadConfig("before"));
      quick = libraries[library](path, 50);
      reader = memoryOver(quick, { index, ttl: { defaultTtl: 60 } });
      await reader.store.put(["n"], "mortal", { text: "an apple that goes" });
      // What the reader remembers, another has changed.
      await memory.store.put(["n"], "c", { text: "a foreign apple" });
      await put(THREAD);
    });
    afterEach(async () => {
      await reader.close();
      quick.close();
    });

    const answers = async (of) => {
      const found = {};
      for (const [name, read] of Object.entries(READS)) found[name] = await read(of);
      return found;
    };

    test("while another connection writes, and answers the same", async () => {
      const fresh = libraries[library](path, 50);
      connection.exec("BEGIN IMMEDIATE");
      const meanwhile = await answers(reader);
      for (const read of Object.values(READS)) {
        const first = memoryOver(fresh, { index });
        await read(first);
        await first.close();
      }
      connection.exec("COMMIT");
      expect(meanwhile.words.map(({ key }) => key)).toEqual(["c", "a", "mortal"]);
      expect(meanwhile.threads.map(({ threadId }) => threadId)).toContain("t");
      const later = await answers(reader);
      expect(meanwhile).toEqual(later);
      expect(await answers(reader)).toEqual(later);
      fresh.close();
    });

    test("and in the application's transaction nobody waits for it", async () => {
      const other = libraries[library](path, 50);
      quick.exec("BEGIN");
      const within = await answers(reader);
      other.exec("BEGIN IMMEDIATE; ROLLBACK");
      quick.exec("COMMIT");
      expect(await answers(reader)).toEqual(within);
      other.close();
    });
  });

  test("a connection that answers BigInts is as good", async () => {
    connection.defaultSafeIntegers?.(true);
    await memory.store.put(["n"], "a", { text: "apple" });
    expect(keysOf(await memory.store.search(["n"], { query: "apple" }))).toEqual(["a"]);
  });

  test("a closed connection is closed, at the first call and later", async () => {
    await memory.store.put(["n"], "a", { text: "a" });
    connection.close();
    for (let i = 0; i < 2; i++) await expectRefused(() => memory.store.get(["n"], "a"), "closed");
    connection = libraries[library](temporaryFile());
  });

  test("a file of openMemory is refused with the way to move it", async () => {
    const file = temporaryFile();
    const opened = await openMemory({ path: file });
    await opened.store.put(["n"], "a", { text: "a" });
    await opened.checkpointer.put(threadConfig("t"), checkpointOf({ a: 1 }), metadataOf(), {});
    await opened.close();
    const over = libraries[library](file);
    await expectRefused(() => memoryOver(over).store.get(["n"], "a"), "foreign_file", /export\(\)/);
    over.close();
  });

  test.each([
    ["IGNORE", "", "main"],
    ["ROLLBACK", ", 'not this one'", "main"],
    ["IGNORE", "", "another connection"],
    ["IGNORE", "", "temp"],
  ])("a trigger that says RAISE(%s%s) in %s is refused by name", async (what, why, where) => {
    await memory.store.put(["n"], "a", { text: "a" });
    const by = where === "another connection" ? libraries[library](path) : connection;
    const kind = where === "temp" ? "TEMP TRIGGER" : "TRIGGER";
    by.exec(`CREATE ${kind} no BEFORE INSERT ON main.keepsake_store_kv
      WHEN new.key = 'bad' BEGIN SELECT RAISE(${what}${why}); END`);
    const put = () => memory.store.put(["n"], "bad", { text: "b" });
    const rule =
      where === "temp" ? /temporary .* trigger/ : /"no" is on keepsake_store_kv.*drop it/;
    await expectRefused(put, "invalid_operation", rule);
    await expectRefused(() => memory.store.get(["n"], "a"), "invalid_operation", rule);
    by.exec("DROP TRIGGER no");
    await put();
    expect(keysOf(await memory.store.search(["n"]))).toEqual(["a", "bad"]);
    if (by !== connection) by.close();
  });

  test("a trigger on a table of the application's is its own matter", async () => {
    connection.exec("CREATE TABLE mine(a); CREATE TABLE log(a)");
    await memory.store.put(["n"], "a", { text: "a" });
    connection.exec("CREATE TRIGGER t AFTER INSERT ON mine BEGIN INSERT INTO log VALUES(1); END");
    await memory.store.put(["n"], "b", { text: "b" });
    expect(keysOf(await memory.store.search(["n"]))).toEqual(["a", "b"]);
  });

  test.each([
    ["meta", "DROP TABLE keepsake_meta"],
    ["key", "CREATE UNIQUE INDEX mine ON keepsake_store_kv(ns)"],
    ["index", "DROP INDEX keepsake_store_kv_key"],
    ["column", "ALTER TABLE keepsake_store_kv RENAME COLUMN value TO other"],
    [
      "view",
      "ALTER TABLE keepsake_store_kv RENAME TO other; CREATE VIEW keepsake_store_kv AS SELECT * FROM other",
    ],
  ])("our %s is changed: that is said, with the remedy", async (_, sql) => {
    await memory.store.put(["n"], "a", { text: "a" });
    connection.exec(sql);
    const put = () => memory.store.put(["n"], "b", { text: "b" });
    await expectRefused(put, "changed_outside", /one of its tables.*Undo that/);
  });

  test("an index is built after another connection wrote", async () => {
    const other = memoryAt(library, path, { index });
    for (const [i, { store }] of [memory, other].entries()) {
      const keys = Array.from({ length: 200 }, (_, n) => `${i} ${n}`);
      await store.batch(keys.map((key) => ({ namespace: ["n"], key, value: { text: key } })));
    }
    const signal = AbortSignal.timeout(20_000);
    expect(await memory.store.buildIndex({ signal })).toBe(400);
    await closeMemoryOf(other);
  });

  test("an index is not built within a transaction", async () => {
    await memory.store.put(["n"], "a", { text: "a" });
    connection.exec("BEGIN");
    await expectRefused(() => memory.store.buildIndex(), "invalid_operation", /commit it first/);
    connection.exec("COMMIT");
    expect(await memory.store.buildIndex()).toBe(1);
  });

  test("an ATTACHed file that has a memory is refused, and left alone", async () => {
    const path = temporaryFile();
    const other = libraries[library](path);
    const its = memoryOver(other);
    await its.store.put(["n"], "a", { text: "its own" });
    await its.close();
    other.close();
    connection.exec(`ATTACH '${path}' AS "the other"`);
    const put = () => memory.store.put(["n"], "a", { text: "ours" });
    await expectRefused(put, "invalid_operation", /"the other" .* DETACH it/);
    expect(
      connection.prepare('SELECT count(*) AS n FROM "the other".keepsake_store_kv').get().n,
    ).toBe(1);
    connection.exec('DETACH "the other"');
    await put();
    connection.exec(`ATTACH '${path}' AS "the other"`);
    await expectRefused(put, "invalid_operation", /DETACH it/);
    connection.exec('DETACH "the other"');
    connection.exec(`ATTACH '${temporaryFile()}' AS stranger`);
    await put();
    expect((await memory.store.get(["n"], "a")).value.text).toBe("ours");
  });

  test("a connection that may only read is refused at once, by name", async () => {
    const read = () => memory.store.get(["n"], "a");
    connection.exec("PRAGMA query_only = 1");
    await expectRefused(read, "read_only", /takes a connection that may write/);
    connection.exec("PRAGMA query_only = 0");
    expect(await read()).toBeNull();
    const reader = libraries[library](path);
    reader.exec("PRAGMA query_only = 1");
    const its = memoryOver(reader);
    await expectRefused(() => its.store.get(["n"], "a"), "read_only", /takes a connection that/);
    await its.close();
    reader.close();
  });

  test("tables of the application's with our prefix are named", async () => {
    for (const name of ["keepsake_meta", "keepsake_store_kv"]) {
      const clashing = libraries[library](temporaryFile());
      clashing.exec(`CREATE TABLE ${name}(mine)`);
      const its = memoryOver(clashing);
      await expectRefused(
        () => its.store.get(["n"], "a"),
        "foreign_file",
        /begins with "keepsake_"/,
      );
      await its.close();
      clashing.close();
    }
  });

  test("it says how safe a write is", async () => {
    const said = [];
    for (const synchronous of [0, 1, 2, 3]) {
      connection.exec(`PRAGMA synchronous = ${synchronous}`);
      said.push((await memory.diagnose()).durability);
    }
    expect(said).toEqual(["off", "relaxed", "strict", "strict"]);
  });

  test("it says what keeps it", async () => {
    await memory.store.put(["n"], "a", { text: "apple" });
    expect(memory.persistence).toBe("connection");
    expect(await memory.diagnose()).toMatchObject({ persistence: "connection" });
    expect((await memory.stats()).bytes).toBeGreaterThan(4096);
  });
});

test("a call while better-sqlite3 takes rows one by one is told what to do", async () => {
  const connection = new BetterSqlite3(":memory:");
  const memory = memoryOver(connection);
  await memory.store.put(["n"], "a", { text: "a" });
  for (const _ of connection.prepare("SELECT 1 UNION SELECT 2").iterate()) {
    const read = () => memory.store.get(["n"], "a");
    await expectRefused(read, "busy", /end the loop over iterate\(\) first/);
  }
  expect(await memory.store.get(["n"], "a")).not.toBeNull();
  await memory.close();
  connection.close();
});

test("memories over one connection share an engine, and close alone", async () => {
  const connection = new BetterSqlite3(":memory:");
  const one = memoryOver(connection);
  const two = memoryOver(connection);
  await one.store.put(["n"], "a", { text: "a" });
  await one.close();
  expect(await two.store.get(["n"], "a")).not.toBeNull();
  await two.close();
  const three = memoryOver(connection);
  expect(await three.store.get(["n"], "a")).not.toBeNull();
  await three.close();
  expect(connection.open).toBe(true);
  connection.close();
});

test("what is no connection is refused by what would be one", async () => {
  for (const given of [undefined, null, "app.db", {}, { prepare() {} }]) {
    await expectRefused(
      async () => memoryOver(given),
      "invalid_argument",
      /memoryOver takes an open connection .* a path goes to openMemory/,
    );
  }
  const connection = new BetterSqlite3(":memory:");
  connection.close();
  await expectRefused(() => memoryOver(connection).store.get(["n"], "a"), "closed");
});

test("the names that get a prefix are those of a file", async () => {
  const path = temporaryFile();
  const store = new SqliteStore({ path, index });
  await store.put(["n"], "a", { text: "a" });
  await store.search(["n"], { query: "a", ranking: { mode: "hybrid" } });
  await store.close();
  const file = new BetterSqlite3(path, { readonly: true });
  const known = file
    .prepare("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite%'")
    .pluck()
    .all()
    .filter((name) => !/_(data|idx|docsize|config)$/.test(name));
  file.close();
  const connection = new BetterSqlite3(":memory:");
  const memory = memoryOver(connection, { index });
  await memory.store.put(["n"], "a", { text: "a" });
  await memory.store.search(["n"], { query: "a", ranking: { mode: "hybrid" } });
  await memory.checkpointer.put(threadConfig("t"), checkpointOf({ a: [1] }), metadataOf(), {
    a: 1,
  });
  await memory.hold(["n"], "a reason");
  await memory.store.keepHistory(["n"]);
  await memory.keepAudit();
  await memory.store.put(["n"], "a", { text: "b" });
  // Columns of a field are made for many items, when it is asked for again.
  const many = Array.from({ length: 600 }, (_, i) => String(i));
  await memory.store.batch(
    many.map((key, n) => ({ namespace: ["m"], key, value: { n }, index: false })),
  );
  for (let i = 0; i < 2; i++) await memory.store.search(["m"], { filter: { n: 3 } });
  const there = connection.prepare("SELECT name FROM sqlite_master").pluck().all();
  // Responses to be sent again are kept for remote callers only.
  const wanted = known.filter((name) => name !== "answers").map((name) => `keepsake_${name}`);
  expect(wanted.filter((name) => !there.includes(name))).toEqual([]);
  await memory.close();
  connection.close();
});

describe("a storm of four processes on one file", () => {
  const kills = times(40);
  const worker = fileURLToPath(new URL("support/storm-worker.mjs", import.meta.url));

  function ledgerOf(file) {
    const entries = { put: [], deleting: [], deleted: [], checkpoint: [] };
    if (!existsSync(file)) return entries;
    const lines = readFileSync(file, "utf8").split("\n");
    for (const line of lines.slice(0, -1)) {
      const [what, name, id] = line.split(" ");
      entries[what].push([name, id]);
    }
    return entries;
  }

  test(
    "no acknowledged write is lost or doubled when they are killed",
    async () => {
      const path = temporaryFile();
      const ledgers = [];
      const start = (slot, generation) => {
        const ledger = temporaryFile(`ledger-${slot}-${generation}`);
        const name = `${slot}-${generation}`;
        ledgers.push({ ledger, name });
        const child = spawn(process.execPath, [worker, path, ledger, name], {
          stdio: ["ignore", "ignore", "pipe"],
        });
        child.ledger = ledger;
        child.errors = "";
        child.stderr.on("data", (data) => {
          child.errors += data;
        });
        return child;
      };
      // On a busy machine one may take seconds to begin; the others may keep it from its turn.
      const hasBegun = async (child) => {
        for (let i = 0; i < 100 && ledgerOf(child.ledger).put.length < 3; i++) await wait(20);
      };
      const children = [0, 1, 2, 3].map((slot) => start(slot, 0));
      const errors = [];
      for (let kill = 0; kill < kills; kill++) {
        const slot = kill % children.length;
        const child = children[slot];
        await hasBegun(child);
        await wait(Math.random() * 400);
        const exited = child.exitCode === null ? once(child, "exit") : undefined;
        child.kill("SIGKILL");
        await exited;
        errors.push(child.errors);
        children[slot] = start(slot, kill + 1);
      }
      await Promise.all(children.map(hasBegun));
      for (const child of children) {
        const exited = child.exitCode === null ? once(child, "exit") : undefined;
        child.kill("SIGKILL");
        await exited;
        errors.push(child.errors);
      }
      expect(errors.join("")).toBe("");

      const memory = memoryAt("better-sqlite3", path, { index });
      let items = 0;
      for (const { ledger, name } of ledgers) {
        const { put, deleting, deleted, checkpoint } = ledgerOf(ledger);
        const stored = await memory.store.search(["storm", name], { limit: 100_000 });
        const keys = new Set(stored.map(({ key }) => key));
        expect(keys.size).toBe(stored.length);
        items += keys.size;
        const inDoubt = new Set(deleting.map(([, id]) => id));
        const gone = new Set(deleted.map(([, id]) => id));
        for (const [, id] of put) if (!inDoubt.has(id)) expect(keys).toContain(id);
        for (const id of gone) expect(keys).not.toContain(id);
        // One may have been stored and not yet told.
        expect(Math.max(...[...keys].map(Number))).toBeLessThanOrEqual(put.length);
        for (const { key, value } of stored) expect(value.text).toBe(`item ${key} of ${name}`);
        const ids = [];
        for await (const { config } of memory.checkpointer.list(threadConfig(name))) {
          ids.push(config.configurable.checkpoint_id);
        }
        expect(new Set(ids).size).toBe(ids.length);
        for (const [, id] of checkpoint) expect(ids).toContain(id);
      }
      expect(items).toBeGreaterThan(kills);
      const { store } = await memory.stats();
      expect(store).toMatchObject({ items, vectors: items, pending: 0 });
      const byVector = await memory.store.search(["storm"], { query: "item 1", limit: 100_000 });
      const byWords = await memory.store.search(["storm"], {
        query: "item",
        ranking: { mode: "text" },
        limit: 100_000,
      });
      expect([byVector.length, byWords.length]).toEqual([items, items]);
      await closeMemoryOf(memory);
      const file = new BetterSqlite3(path);
      expect(file.pragma("integrity_check")).toEqual([{ integrity_check: "ok" }]);
      file.close();
    },
    120_000 + kills * 2_000,
  );
});
