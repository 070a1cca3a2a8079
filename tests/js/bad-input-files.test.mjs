// Files and folders that cannot be used: a typed error, and nothing changed.

import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { openMemory, SqliteSaver, SqliteStore } from "keepsake";
import { putCheckpoint, threadConfig } from "./support/checkpoints.mjs";
import { closeOpened, closing } from "./support/closing.mjs";
import { onDisk, remount, testWithMount } from "./support/disks.mjs";
import { dumpSaver, dumpStore, expectRefused } from "./support/refusal.mjs";
import { removeTemporaryFolders, temporaryFile, temporaryFolder } from "./support/temporary.mjs";

afterEach(closeOpened);
afterAll(removeTemporaryFolders);

/** A closed file of ours with items and checkpoints. */
async function writtenFile() {
  const path = temporaryFile();
  const memory = await openMemory({ path });
  for (let i = 0; i < 200; i += 1) {
    await memory.store.put(["n"], `k${i}`, { text: "x".repeat(1000) });
  }
  await putCheckpoint(memory.checkpointer, threadConfig("t"), { text: "y".repeat(1000) });
  await memory.close();
  return path;
}

const openings = [
  ["SqliteStore", (path) => new SqliteStore({ path }), (store) => store.put(["n"], "k", {})],
  [
    "SqliteSaver",
    (path) => SqliteSaver.fromConnString(path),
    (saver) => putCheckpoint(saver, threadConfig("t"), {}),
  ],
];

async function expectNoOpening(path, code, rule) {
  for (const [, make, use] of openings) {
    const backend = make(path);
    await expectRefused(() => use(backend), code, rule);
    await expectRefused(() => use(backend), code, rule);
    await backend.close();
  }
  await expectRefused(() => openMemory({ path }), code, rule);
}

async function expectUntouched(path, code, rule) {
  const before = readFileSync(path);
  await expectNoOpening(path, code, rule);
  expect(Buffer.compare(readFileSync(path), before)).toBe(0);
  expect(readdirSync(dirname(path))).toEqual(["memory.sqlite"]);
}

describe("files that are not ours", () => {
  test.each([
    ["text", "This is not a database, but it is long enough to be one. ".repeat(100)],
    ["a short text", "hello"],
    ["zero bytes in plenty", Buffer.alloc(8192)],
    ["random bytes", Buffer.from(Array.from({ length: 8192 }, (_, i) => (i * 7919) % 251))],
  ])("a file of %s is refused as not_a_database", async (_, content) => {
    const path = temporaryFile();
    writeFileSync(path, content);
    await expectUntouched(path, "not_a_database", /memory\.sqlite/);
  });

  test("an empty file becomes a database", async () => {
    const path = temporaryFile();
    writeFileSync(path, "");
    const store = closing(new SqliteStore({ path }));
    await store.put(["n"], "k", { n: 1 });
    expect((await store.get(["n"], "k")).value).toEqual({ n: 1 });
  });

  const KEY = new Uint8Array(32).fill(3);
  const cutTo = (size) => (path) => truncateSync(path, size);

  test.each([
    ["missing", {}, (path) => rmSync(path), /is missing, but .*-wal is there/],
    [
      "missing, with a key",
      { key: KEY },
      (path) => rmSync(path),
      /is missing, but .*-wal is there/,
    ],
    ["empty", {}, cutTo(0), /has only 0 bytes, but .*-wal is there/],
    ["cut off, with a key", { key: KEY }, cutTo(4096), /has only 4096 bytes, but .*-wal is there/],
  ])("a log whose database is %s is no empty memory", async (_, options, lose, rule) => {
    const path = join(temporaryFolder(), "lost.sqlite");
    {
      const open = temporaryFile();
      await using memory = await openMemory({ path: open, ...options });
      await memory.store.put(["n"], "k", { n: 1 });
      for (const suffix of ["", "-wal"]) copyFileSync(open + suffix, path + suffix);
    }
    const [database, log] = [path, `${path}-wal`].map((name) => readFileSync(name));
    lose(path);
    await expectRefused(() => openMemory({ path, ...options }), "cannot_open", rule);
    expect(readFileSync(`${path}-wal`).equals(log)).toBe(true);
    // As the message says.
    writeFileSync(path, database);
    await using memory = await openMemory({ path, ...options });
    expect((await memory.store.get(["n"], "k")).value).toEqual({ n: 1 });
  });

  test("a file that was cut to nothing, and had been a memory, is no empty memory", async () => {
    const [path, cut] = [temporaryFile("whole"), temporaryFile("cut")];
    const memory = await openMemory({ path });
    await memory.store.put(["n"], "k", { n: 1 });
    copyFileSync(`${path}-reserve`, `${cut}-reserve`); // as after a kill
    await memory.close();
    writeFileSync(cut, "");
    await expectRefused(
      () => openMemory({ path: cut }),
      "cannot_open",
      /has only 0 bytes, and was/,
    );
    copyFileSync(path, cut);
    await using again = await openMemory({ path: cut });
    expect((await again.store.get(["n"], "k")).value).toEqual({ n: 1 });
  });

  test("a journal of pages whose database is missing is an error, and stays", async () => {
    const path = temporaryFile();
    const journal = Buffer.alloc(8192);
    Buffer.from("d9d505f920a163d7", "hex").copy(journal);
    writeFileSync(`${path}-journal`, journal);
    const rule = /is missing, but .*-journal is there/;
    await expectRefused(() => openMemory({ path }), "cannot_open", rule);
    expect(readFileSync(`${path}-journal`).equals(journal)).toBe(true);
    expect(existsSync(path)).toBe(false);
  });

  test("what a crash leaves of a first opening is opened", async () => {
    const path = temporaryFile();
    const journal = Buffer.alloc(512);
    Buffer.from("d9d505f920a163d7", "hex").copy(journal);
    for (const prepare of [() => {}, () => writeFileSync(path, "")]) {
      prepare();
      writeFileSync(`${path}-journal`, journal);
      writeFileSync(`${path}-wal`, "");
      const memory = await openMemory({ path });
      await memory.store.put(["n"], "k", { n: 1 });
      await memory.close();
      rmSync(path);
    }
  });

  test("another program's SQLite file is refused as foreign_file", async () => {
    const path = temporaryFile();
    const database = new Database(path);
    database.exec(
      "CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes(text) VALUES ('mine')",
    );
    database.close();
    await expectUntouched(path, "foreign_file", /memory\.sqlite/);
  });

  test("a SQLite file with texts in UTF-16 is refused as unsupported", async () => {
    const path = temporaryFile();
    const database = new Database(path);
    database.exec("PRAGMA encoding = 'UTF-16'; CREATE TABLE notes(text TEXT)");
    database.close();
    await expectUntouched(path, "unsupported", /must be UTF-8, and those of .* are UTF-16/);
  });

  test("the official saver's file is refused as foreign_file, and the importer is named", async () => {
    const path = temporaryFile();
    const { SqliteSaver: OfficialSaver } = await import("@langchain/langgraph-checkpoint-sqlite");
    const official = OfficialSaver.fromConnString(path);
    await putCheckpoint(official, threadConfig("t"), { text: "x" });
    official.db.pragma("journal_mode = DELETE");
    official.db.close();
    await expectUntouched(path, "foreign_file", /import/i);
  });

  test("a file of a newer schema is refused as newer_schema", async () => {
    const path = await writtenFile();
    const database = new Database(path);
    database.exec("UPDATE meta SET value = '999' WHERE name = 'schema_version'");
    database.pragma("journal_mode = DELETE");
    database.close();
    await expectUntouched(path, "newer_schema", /999/);
  });
});

describe("files that were damaged", () => {
  test("a value that is no JSON any more is corrupt, and named", async () => {
    const path = await writtenFile();
    const database = new Database(path);
    database.exec(`UPDATE store_kv SET value = '{"text":"x' WHERE key = 'k7'`);
    database.pragma("journal_mode = DELETE");
    database.close();
    const store = closing(new SqliteStore({ path }));
    await expectRefused(() => store.get(["n"], "k7"), "corrupt", /"k7" in \["n"\]/);
    expect((await store.get(["n"], "k8")).key).toBe("k8");
  });

  test.each([100, 5000, 30_000])(
    "a database cut to %i bytes is refused, and left as it is",
    async (size) => {
      const path = await writtenFile();
      truncateSync(path, size);
      const before = readFileSync(path);
      const store = closing(new SqliteStore({ path }));
      const error = await store.search([], { limit: 10_000 }).then(
        () => undefined,
        (reason) => reason,
      );
      expect(["corrupt", "not_a_database"]).toContain(error?.code);
      await store.close();
      expect(Buffer.compare(readFileSync(path), before)).toBe(0);
    },
  );

  test("a header of ours that came to say UTF-16 is damage, and the items are read", async () => {
    const path = await writtenFile();
    const file = openSync(path, "r+");
    writeSync(file, Uint8Array.of(3), 0, 1, 59);
    closeSync(file);
    await using memory = await openMemory({ path });
    expect((await memory.store.get(["n"], "k0")).value.text).toHaveLength(1000);
    expect((await memory.check()).isOk).toBe(false);
  });

  test("a page of garbage is an error and never a wrong answer", async () => {
    const path = await writtenFile();
    const bytes = readFileSync(path);
    bytes.fill(0xa5, 8192, bytes.length - 4096);
    writeFileSync(path, bytes);
    const store = closing(new SqliteStore({ path }));
    await expectRefused(() => store.search([], { limit: 10_000 }), "corrupt");
  });
});

describe("places where no file can be", () => {
  test("a missing folder is refused as cannot_open", async () => {
    const path = join(temporaryFolder(), "missing", "memory.sqlite");
    await expectNoOpening(path, "cannot_open", /missing/);
    expect(existsSync(dirname(path))).toBe(false);
  });

  test("a path below a file is refused as cannot_open", async () => {
    const file = temporaryFile("file");
    writeFileSync(file, "x");
    await expectNoOpening(join(file, "memory.sqlite"), "cannot_open");
    expect(readFileSync(file, "utf8")).toBe("x");
  });

  test("a folder in place of the file is refused as cannot_open", async () => {
    const path = temporaryFile();
    mkdirSync(path);
    await expectNoOpening(path, "cannot_open");
    expect(readdirSync(path)).toEqual([]);
  });

  test.each([230, 250])("a name of %i characters is refused as cannot_open", async (length) => {
    const path = join(temporaryFolder(), "n".repeat(length));
    const rule = /path must be shorter, since files beside it have names with 30 characters more/;
    await expectRefused(() => openMemory({ path }), "cannot_open", rule);
  });

  test("a path with NUL is refused", async () => {
    await expectRefused(
      async () => {
        await new SqliteStore({ path: "a\0b" }).get(["n"], "k");
      },
      "invalid_argument",
      /NUL|path/,
    );
  });

  test("a store that could not open works as soon as it can", async () => {
    const folder = join(temporaryFolder(), "later");
    const store = closing(new SqliteStore({ path: join(folder, "memory.sqlite") }));
    await expectRefused(() => store.get(["n"], "k"), "cannot_open");
    mkdirSync(folder);
    await store.put(["n"], "k", { n: 1 });
    expect((await store.get(["n"], "k")).value).toEqual({ n: 1 });
  });
});

describe("disks", () => {
  testWithMount(
    "a read-only folder is read, refuses writes as read_only, and the file stays as it is",
    async () => {
      const source = await writtenFile();
      await onDisk("4m", async (folder) => {
        const path = join(folder, "memory.sqlite");
        copyFileSync(source, path);
        remount(folder, "ro");
        const memory = await openMemory({ path });
        await expectRefused(() => memory.store.put(["n"], "new", {}), "read_only");
        await memory.close();
        await expectNoOpening(join(folder, "new.sqlite"), "read_only");
        expect(Buffer.compare(readFileSync(path), readFileSync(source))).toBe(0);
      });
    },
  );

  testWithMount("a full disk is storage_full, and all that was acknowledged is there", async () => {
    await onDisk("1m", async (folder) => {
      const path = join(folder, "memory.sqlite");
      const acknowledged = [];
      const memory = await openMemory({ path });
      const fill = async () => {
        for (let i = 0; ; i += 1) {
          await memory.store.put(["n"], `k${i}`, { text: "x".repeat(20_000) });
          acknowledged.push(`k${i}`);
        }
      };
      await expectRefused(fill, "storage_full");
      expect(acknowledged.length).toBeGreaterThan(5);
      await expectRefused(
        () => memory.store.put(["n"], "again", { text: "x".repeat(20_000) }),
        "storage_full",
      );
      const during = await memory.store.search([], { limit: 1000 });
      expect(during.map(({ key }) => key).sort()).toEqual([...acknowledged].sort());
      await memory.close();

      const again = await openMemory({ path });
      const after = await dumpStore(again.store);
      await again.close();
      expect(after.items.map(({ key }) => key).sort()).toEqual([...acknowledged].sort());
    });
  });

  /** Puts until there is no room, also for the smallest; answers how many there are. */
  async function fillToTheBrim(memory, path) {
    let count = 0;
    for (const size of [60_000, 4_000, 100, 100]) {
      const fill = async () => {
        for (;;) {
          await memory.store.put(["n"], `k${count}`, { text: "x".repeat(size) });
          count += 1;
        }
      };
      await expectRefused(fill, "storage_full");
    }
    // Nor does anybody else leave any.
    const filler = openSync(join(dirname(path), "filler"), "w");
    expect(() => {
      for (;;) writeSync(filler, new Uint8Array(4096));
    }).toThrow("ENOSPC");
    closeSync(filler);
    return count;
  }

  testWithMount.each([
    ["item by item", "3m"],
    ["item by item, on a larger disk", "20m"],
    ["a namespace", "3m"],
    ["a namespace, on a larger disk", "20m"],
  ])("a full disk can shrink: %s", async (how, size) => {
    await onDisk(size, async (folder) => {
      const path = join(folder, "memory.sqlite");
      const memory = await openMemory({ path });
      await memory.store.put(["kept"], "k", { n: 1 });
      const count = await fillToTheBrim(memory, path);
      if (how.startsWith("a namespace")) {
        expect(await memory.store.clearNamespace(["n"])).toBe(count);
      } else {
        for (let i = 0; i < count; i += 1) await memory.store.delete(["n"], `k${i}`);
      }
      expect(await memory.store.search(["n"])).toEqual([]);
      await memory.store.put(["n"], "after", { text: "x".repeat(100_000) });
      await memory.flush();
      await memory.close();
      // The reserve may stay where the disk is nearly full.
      const left = readdirSync(folder).filter((name) => !name.endsWith("-reserve"));
      expect(left.sort()).toEqual(["filler", "memory.sqlite"]);

      const database = new Database(path, { readonly: true });
      expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
      database.close();
      const again = await openMemory({ path });
      expect((await again.store.search([])).map(({ key }) => key).sort()).toEqual(["after", "k"]);
      await again.close();
    });
  });

  testWithMount("a process that was killed on a full disk leaves room to go on", async () => {
    await onDisk("3m", async (folder) => {
      const path = join(folder, "memory.sqlite");
      const first = await openMemory({ path });
      await first.store.put(["n"], "k", { text: "x".repeat(50_000) });
      const reserve = statSync(`${path}-reserve`);
      expect([reserve.size, reserve.mode & 0o777]).toEqual([1 << 20, 0o600]);
      const killed = join(folder, "killed.sqlite");
      for (const suffix of ["", "-wal", "-reserve"]) copyFileSync(path + suffix, killed + suffix);
      await fillToTheBrim(first, path);
      const second = await openMemory({ path: killed });
      await second.store.delete(["n"], "k");
      expect(await second.store.get(["n"], "k")).toBeNull();
      await second.close();
      await first.close();
    });
  });

  testWithMount(
    "a checkpoint that finds the disk full changes nothing, and room helps",
    async () => {
      await onDisk("1m", async (folder) => {
        const saver = new SqliteSaver({ path: join(folder, "memory.sqlite") });
        await putCheckpoint(saver, threadConfig("t"), { text: "old" });
        const before = await dumpSaver(saver);
        const big = { raw: new Uint8Array(2_000_000) };
        await expectRefused(() => putCheckpoint(saver, threadConfig("t"), big), "storage_full");
        expect(await dumpSaver(saver)).toEqual(before);
        remount(folder, "size=16m");
        await putCheckpoint(saver, threadConfig("t"), big);
        expect((await dumpSaver(saver)).length).toBe(before.length + 1);
        await saver.close();
      });
    },
  );
});
