// Capabilities that no other suite has reason to name.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryStore, MemorySaver, openMemory, SqliteStore, unwrapStore } from "keepsake";
import { expectedByGuide, tryBackend } from "./support/backends.mjs";
import { closeMemoryOf, memoryAt } from "./support/connections.mjs";
import { undocumentedNames } from "./support/documented.mjs";

let folder;
const path = (name = "memory.db") => join(folder, name);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-capabilities-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("every public name is documented", () => {
  const entries = ["index", "testing", "sqlite", "langchain", "files", "embed", "bucket"];
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
