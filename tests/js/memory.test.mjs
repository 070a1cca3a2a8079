// What Memory offers over both tiers: telling of changes, moving databases, saying where it lives.

import { readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { openMemory, SqliteStore } from "keepsake";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const newPath = () => temporaryFile();
const tick = () => new Promise((resolve) => setTimeout(resolve));

async function gather(stream) {
  const pieces = [];
  for await (const piece of stream) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

describe("onChange", () => {
  test("tells namespaces and threads of every connection to the file, after they are stored", async () => {
    const path = newPath();
    await using memory = await openMemory({ path });
    const heard = [];
    memory.onChange((changes) => heard.push(changes));
    await using other = new SqliteStore({ path });
    await other.put(["users", "1"], "name", { text: "Ada" });
    await memory.checkpointer.putWrites(
      { configurable: { thread_id: "t", checkpoint_id: "1" } },
      [["channel", 1]],
      "task",
    );
    await tick();
    expect(heard).toEqual([
      { namespaces: [["users", "1"]], threads: [], everything: false },
      { namespaces: [], threads: ["t"], everything: false },
    ]);
  });

  test("is silent about reads and about what failed, and after it was stopped", async () => {
    await using memory = await openMemory({ path: newPath() });
    const heard = [];
    const stop = memory.onChange((changes) => heard.push(changes));
    await memory.store.get(["a"], "k");
    await memory.store.put([], "k", {}).catch(() => {});
    await tick();
    expect(heard).toEqual([]);
    stop();
    await memory.store.put(["a"], "k", {});
    await tick();
    expect(heard).toEqual([]);
  });

  test("an import says that everything may have changed", async () => {
    await using source = await openMemory({ path: newPath() });
    await using memory = await openMemory({ path: newPath() });
    const heard = [];
    memory.onChange((changes) => heard.push(changes));
    await memory.import(await source.export());
    await tick();
    expect(heard).toEqual([{ namespaces: [], threads: [], everything: true }]);
  });
});

describe("export and import", () => {
  test("a stream has the bytes of an export, and progress ends at the whole", async () => {
    await using memory = await openMemory({ path: newPath() });
    for (let i = 0; i < 40; i++)
      await memory.store.put(["a"], `k${i}`, { text: "x".repeat(90_000) });
    const progress = [];
    const streamed = await gather(memory.exportStream({ onProgress: (p) => progress.push(p) }));
    expect(Buffer.compare(streamed, Buffer.from(await memory.export()))).toBe(0);
    expect(progress.length).toBeGreaterThan(2);
    expect(progress.at(-1)).toEqual({ done: streamed.length, total: streamed.length });
  });

  test("of a memory that is closed are refused", async () => {
    const memory = await openMemory({ path: newPath() });
    await memory.close();
    const closed = expect.objectContaining({ code: "closed" });
    await expect(memory.export()).rejects.toEqual(closed);
    await expect(memory.exportStream().getReader().read()).rejects.toEqual(closed);
  });

  test("a stream that is cancelled lets the next export and writes go on", async () => {
    await using memory = await openMemory({ path: newPath() });
    for (let i = 0; i < 40; i++)
      await memory.store.put(["a"], `k${i}`, { text: "x".repeat(90_000) });
    const reader = memory.exportStream().getReader();
    await reader.read();
    await memory.store.put(["a"], "meanwhile", {});
    await reader.cancel();
    expect((await memory.export()).length).toBeGreaterThan(40 * 90_000);
  });

  test.each([
    ["bytes", (bytes) => bytes],
    ["a Blob", (bytes) => new Blob([bytes])],
    ["a stream", (bytes) => new Blob([bytes]).stream()],
  ])("imports %s", async (_name, as) => {
    await using source = await openMemory({ path: newPath() });
    await source.store.put(["a"], "k", { n: 1 });
    const bytes = await source.export();
    await using memory = await openMemory({ path: newPath() });
    const progress = [];
    await memory.import(as(bytes), { onProgress: (p) => progress.push(p) });
    expect((await memory.store.get(["a"], "k")).value).toEqual({ n: 1 });
    expect(progress.at(-1)).toEqual({ done: bytes.length, total: bytes.length });
  });

  test("a stream that breaks leaves everything as it was", async () => {
    await using memory = await openMemory({ path: newPath() });
    await memory.store.put(["a"], "k", { n: 1 });
    const broken = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(4096));
        controller.error(new Error("connection lost"));
      },
    });
    await expect(memory.import(broken)).rejects.toMatchObject({
      code: "io_error",
      message: expect.stringContaining("connection lost"),
    });
    expect((await memory.store.get(["a"], "k")).value).toEqual({ n: 1 });
  });

  test("importFrom takes a file's bytes as well as its path", async () => {
    const path = newPath();
    const database = new Database(path);
    database.exec("CREATE TABLE store_kv(ns TEXT, key TEXT, value TEXT, PRIMARY KEY(ns, key))");
    database.exec(`INSERT INTO store_kv VALUES('["a"]', 'k', '{"n":1}')`);
    database.close();
    await using memory = await openMemory({ path: newPath() });
    const report = await memory.importFrom(new Blob([readFileSync(path)]));
    expect(report).toMatchObject({ items: 1, skipped: [] });
  });
});

describe("where it lives", () => {
  test("persistence and diagnose() tell a file from memory", async () => {
    const path = newPath();
    await using onFile = await openMemory({ path, durability: "strict" });
    await using inMemory = await openMemory({ path: ":memory:" });
    expect(onFile.persistence).toBe("file");
    expect(inMemory.persistence).toBe("memory");
    expect(await onFile.diagnose()).toMatchObject({
      persistence: "file",
      durability: "strict",
      database: path,
      bytes: expect.any(Number),
    });
  });
});
