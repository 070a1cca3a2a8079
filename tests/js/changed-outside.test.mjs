// Other SQLite programs know nothing of our lock. What they write is never overwritten.

import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import Database from "better-sqlite3";
import { SqliteStore } from "keepsake";
import { expectRefused } from "./support/refusal.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

async function openStore(path = temporaryFile()) {
  const store = new SqliteStore({ path });
  await store.put(["n"], "ours", { n: 1 });
  return { path, store };
}

function keysIn(database) {
  return database.prepare("SELECT key FROM store_kv ORDER BY key").pluck().all();
}

const insert = (database, key) =>
  database
    .prepare(
      "INSERT INTO store_kv (ns, key, value, created_at, updated_at, ttl) VALUES ('n' || char(31), ?, '{}', 1, 1, 0)",
    )
    .run(key);

test("another program's commit is noticed at our next write, and kept", async () => {
  const { path, store } = await openStore();
  const other = new Database(path);
  insert(other, "theirs");
  await expectRefused(() => store.put(["n"], "late", { n: 2 }), "changed_outside");
  await expectRefused(() => store.put(["n"], "later", { n: 2 }), "changed_outside");
  expect(keysIn(other)).toEqual(["ours", "theirs"]);
  expect(other.pragma("integrity_check", { simple: true })).toBe("ok");
  other.close();
  await store.close();

  await using again = new SqliteStore({ path });
  expect(await again.listKeys(["n"])).toEqual(["ours", "theirs"]);
  await again.put(["n"], "after", { n: 3 });
});

test("so is a checkpoint of another program, which empties the log", async () => {
  const { path, store } = await openStore();
  const other = new Database(path);
  insert(other, "theirs");
  other.pragma("wal_checkpoint(TRUNCATE)");
  other.close();
  await expectRefused(() => store.put(["n"], "late", { n: 2 }), "changed_outside");
  await store.close();
  await using again = new SqliteStore({ path });
  expect(await again.listKeys(["n"])).toEqual(["ours", "theirs"]);
});

test("so is a file that was replaced or removed", async () => {
  const { path, store } = await openStore();
  rmSync(path);
  await expectRefused(() => store.put(["n"], "late", { n: 2 }), "changed_outside");
  await store.close();
});

test("a file that we closed is a plain SQLite file for anybody", async () => {
  const { path, store } = await openStore();
  await store.close();
  const other = new Database(path);
  expect(keysIn(other)).toEqual(["ours"]);
  expect(other.pragma("integrity_check", { simple: true })).toBe("ok");
  insert(other, "theirs");
  other.close();
  await using again = new SqliteStore({ path });
  expect(await again.listKeys(["n"])).toEqual(["ours", "theirs"]);
});

test("another program that only reads stops our writing, and no key is lost", async () => {
  const { path, store } = await openStore();
  const other = new Database(path);
  expect(keysIn(other)).toEqual(["ours"]);
  await expectRefused(() => store.put(["n"], "late", { n: 2 }), "changed_outside");
  other.close();
  await store.close();
  await using again = new SqliteStore({ path });
  expect(await again.listKeys(["n"])).toEqual(["ours"]);
});

test("a file that another program has open is busy, until it is closed", async () => {
  const { path, store } = await openStore();
  await store.close();
  const other = new Database(path);
  insert(other, "theirs");
  await expectRefused(() => new SqliteStore({ path }).listKeys(["n"]), "busy");
  insert(other, "more");
  other.close();
  await using again = new SqliteStore({ path });
  expect(await again.listKeys(["n"])).toEqual(["more", "ours", "theirs"]);
});

test("what another program left behind when it crashed is no obstacle", async () => {
  const { path, store } = await openStore();
  await store.close();
  const crash = `const other = new (require("better-sqlite3"))(${JSON.stringify(path)});
    other.exec("UPDATE store_kv SET value = '{\\"n\\":2}'"); process.kill(process.pid, "SIGKILL")`;
  spawnSync(process.execPath, ["-e", crash]);
  expect(existsSync(`${path}-shm`)).toBe(true);
  await using again = new SqliteStore({ path });
  expect((await again.get(["n"], "ours")).value).toEqual({ n: 2 });
  await again.put(["n"], "after", { n: 3 });
});
