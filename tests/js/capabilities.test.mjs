// Capabilities that no other suite has reason to name.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  InMemoryStore,
  MemorySaver,
  openMemory,
  SqliteSaver,
  SqliteStore,
  unwrapStore,
} from "keepsake";
import { expectedByGuide, readerGraph, tryBackend } from "./support/backends.mjs";
import { closeMemoryOf, memoryAt } from "./support/connections.mjs";
import { undocumentedNames } from "./support/documented.mjs";

let folder;
const path = (name = "memory.db") => join(folder, name);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-capabilities-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("every public name is documented", () => {
  const entries = ["index", "testing", "sqlite", "langchain", "files", "embed"];
  expect(undocumentedNames(entries.map((name) => `dist/${name}.d.ts`))).toEqual([]);
});

test("the guide says which backend keeps what it is given, and each does", async () => {
  const guide = readFileSync("docs/backends.md", "utf8");
  const backends = {
    InMemoryStore: () => new InMemoryStore(),
    SqliteStore: () => new SqliteStore({ path: path("store.db") }),
    "openMemory({ path })": () => openMemory({ path: path("memory.db") }),
    "memoryOver(connection)": () => {
      const memory = memoryAt("better-sqlite3", path("application.db"));
      return { store: memory.store, close: () => closeMemoryOf(memory) };
    },
  };
  for (const [name, open] of Object.entries(backends)) {
    expect([name, await tryBackend(open)]).toEqual([name, expectedByGuide(guide, name)]);
  }
});

test("a database is in WAL mode", async () => {
  const store = new SqliteStore({ path: path() });
  await store.put(["a"], "k", { n: 1 });
  const WRITE_VERSION = 18,
    READ_VERSION = 19,
    WAL = 2;
  const header = readFileSync(path());
  expect([header[WRITE_VERSION], header[READ_VERSION]]).toEqual([WAL, WAL]);
  expect(existsSync(`${path()}-wal`)).toBe(true);
  await store.close();
});

test("many stores and savers of one path share one connection", async () => {
  const stores = Array.from({ length: 10 }, () => new SqliteStore({ path: path() }));
  const saver = new SqliteSaver({ path: path() });
  await Promise.all(stores.map((store, i) => store.put(["a"], `k${i}`, { i })));
  expect(await stores[0].listKeys(["a"])).toHaveLength(10);
  expect(await saver.getTuple({ configurable: { thread_id: "none" } })).toBeUndefined();
  await Promise.all(stores.slice(1).map((store) => store.close()));
  expect(await stores[0].get(["a"], "k9")).toMatchObject({ value: { i: 9 } });
  await Promise.all([stores[0].close(), saver.close()]);
});

test("vectors are kept beside the items, and a restart needs no embedding", async () => {
  let embedded = 0;
  const embeddings = (texts) => {
    embedded += texts.length;
    return texts.map((text) => [text.length, 1]);
  };
  const open = () => new SqliteStore({ path: path(), index: { dims: 2, embeddings } });
  const first = open();
  await first.put(["a"], "k", { text: "tea" });
  await first.close();
  embedded = 0;
  const second = open();
  expect((await second.stats()).vectors).toBe(1);
  const [found] = await second.search(["a"], { query: "rum" });
  expect(found.score).toBeGreaterThan(0);
  expect(embedded).toBe(1); // the query
  await second.close();
});

test("batches are asynchronous, with expiry, on a file", async () => {
  let now = 0;
  const store = new SqliteStore({ path: path(), ttl: { defaultTtl: 1 }, now: () => now });
  const pending = store.batch([{ namespace: ["a"], key: "k", value: { n: 1 } }]);
  expect(pending).toBeInstanceOf(Promise);
  await pending;
  now = 59_999;
  expect(await store.get(["a"], "k", { refreshTtl: false })).not.toBeNull();
  now = 60_000;
  expect(await store.get(["a"], "k")).toBeNull();
  await store.close();
});

test("a graph with a store reads [user_id, memories], or the namespace that its config names", async () => {
  const memory = await openMemory({ path: path() });
  await memory.store.put(["ada", "memories"], "tea", {});
  await memory.store.put(["team", "shared"], "rules", {});
  const graph = readerGraph(memory.store, memory.checkpointer);
  const run = (configurable) =>
    graph.invoke({}, { configurable: { thread_id: "1", ...configurable } });
  expect((await run({ user_id: "ada" })).found).toEqual(["tea"]);
  expect((await run({ user_id: "ada", store_namespace: ["team", "shared"] })).found).toEqual([
    "rules",
  ]);
  expect((await run({ user_id: "bob" })).found).toEqual([]);
  await memory.close();
});

test("memory does not depend on the graph engine", () => {
  for (const file of ["dist/index.js", "dist/index.cjs"]) {
    const imported = [
      ...readFileSync(file, "utf8").matchAll(/(?:from |import\(|require\()["']([^"'.][^"']*)["']/g),
    ];
    const packages = new Set(
      imported.map(([, name]) => name).filter((name) => name.startsWith("@langchain/")),
    );
    expect([...packages].sort()).toEqual(
      expect.not.arrayContaining(["@langchain/langgraph", "@langchain/langgraph/web"]),
    );
  }
});

test("a class that is not used opens nothing", async () => {
  new MemorySaver();
  const store = new SqliteStore({ path: path() });
  expect(existsSync(path())).toBe(false);
  expect(unwrapStore(store)).toBe(store);
  await store.close();
  expect(existsSync(path())).toBe(false);
});
