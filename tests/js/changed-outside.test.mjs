// Other SQLite programs know nothing of our lock. What they write is never overwritten.

import { rmSync } from "node:fs";
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

test("a program that only reads changes nothing for us", async () => {
  const { path, store } = await openStore();
  const other = new Database(path, { readonly: true });
  expect(keysIn(other)).toEqual(["ours"]);
  await store.put(["n"], "second", { n: 2 });
  other.close();
  const later = new Database(path, { readonly: true });
  expect(keysIn(later)).toEqual(["ours", "second"]);
  later.close();
  await store.put(["n"], "third", { n: 3 });
  await store.close();
  await using again = new SqliteStore({ path });
  expect(await again.listKeys(["n"])).toEqual(["ours", "second", "third"]);
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
