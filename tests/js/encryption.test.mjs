// Encryption at rest, of files in Node: keys that fit and do not, what is in the files, what
// somebody changes in them, and a key that is changed.

import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openMemory, SqliteStore, salvageMemory } from "keepsake";
import { putThread } from "./support/auditing.mjs";
import { removeTemporaryFolders, temporaryFolder } from "./support/temporary.mjs";

const KEY = new Uint8Array(32).fill(7);
const OTHER = new Uint8Array(32).fill(8);
const MARKER = "the-marker-that-nobody-may-read";

const home = temporaryFolder();
afterAll(removeTemporaryFolders);
const pathOf = (name) => join(home, name);

async function withMemory(options, body) {
  const memory = await openMemory(options);
  try {
    return await body(memory);
  } finally {
    await memory.close();
  }
}

/** All bytes of all files beside a path. */
function bytesBeside(path) {
  const names = readdirSync(home).filter((name) => join(home, name).startsWith(path));
  expect(names.length).toBeGreaterThan(0);
  return Buffer.concat(names.map((name) => readFileSync(join(home, name))));
}

const refusal = (options) =>
  openMemory(options).then(
    () => "opened",
    (error) => error,
  );

describe("an encrypted file", () => {
  test.each([
    ["32 random bytes", randomBytes(32)],
    ["a passphrase", "correct horse battery staple"],
  ])("opens again with its key: %s", async (name, key) => {
    const path = pathOf(`again-${name.length}.db`);
    await withMemory({ path, key }, async ({ store }) => {
      await store.put(["a"], "k", { text: MARKER });
    });
    expect(bytesBeside(path).includes(MARKER)).toBe(false);
    await withMemory({ path, key }, async ({ store, ...memory }) => {
      expect((await store.get(["a"], "k"))?.value).toEqual({ text: MARKER });
      expect(JSON.stringify(memory)).not.toContain("horse");
    });
  });

  test("holds no byte of what it keeps, while it is open and after", async () => {
    const path = pathOf("secret.db");
    await withMemory({ path, key: KEY }, async (memory) => {
      for (let i = 0; i < 200; i++) {
        await memory.store.put(["notes", MARKER], `${MARKER}-${i}`, { text: `${MARKER} ${i}` });
      }
      expect(readFileSync(`${path}-wal`).length).toBeGreaterThan(100_000);
      expect(bytesBeside(path).includes(MARKER)).toBe(false);
      expect(bytesBeside(path).includes("store_kv")).toBe(false);
      await memory.flush();
      expect((await memory.check()).isOk).toBe(true);
    });
    expect(bytesBeside(path).includes(MARKER)).toBe(false);
    expect(existsSync(`${path}-journal`)).toBe(false);
  });

  test("refuses another key and none, and stays as it is", async () => {
    const path = pathOf("refuses.db");
    await withMemory({ path, key: KEY }, ({ store }) => store.put(["a"], "k", { v: 1 }));
    const before = readFileSync(path);
    expect(await refusal({ path, key: OTHER })).toMatchObject({
      code: "wrong_key",
      message: expect.stringMatching(/give the key that it was made with/),
    });
    expect(await refusal({ path, key: "a passphrase" })).toMatchObject({ code: "wrong_key" });
    expect(await refusal({ path })).toMatchObject({
      code: "key_required",
      message: expect.stringMatching(/the file is encrypted/),
    });
    await withMemory({ path: pathOf("other.db") }, async (memory) => {
      await expect(memory.importFrom(path)).rejects.toMatchObject({ code: "key_required" });
    });
    expect(readFileSync(path).equals(before)).toBe(true);
    await withMemory({ path, key: KEY }, async ({ store }) => {
      expect((await store.get(["a"], "k"))?.value).toEqual({ v: 1 });
    });
  });

  test("is shared only with who has its key", async () => {
    const path = pathOf("shared.db");
    await withMemory({ path, key: KEY }, async () => {
      expect(await refusal({ path, key: OTHER })).toMatchObject({ code: "wrong_key" });
      expect(await refusal({ path })).toMatchObject({ code: "key_required" });
      await withMemory({ path, key: KEY.slice() }, () => {});
    });
    await withMemory({ path: pathOf("plain-shared.db") }, async () => {
      expect(await refusal({ path: pathOf("plain-shared.db"), key: KEY })).toMatchObject({
        code: "wrong_key",
      });
    });
  });

  test("a key for a plain file is an error, never silently plain", async () => {
    const path = pathOf("plain.db");
    await withMemory({ path }, ({ store }) => store.put(["a"], "k", { v: 1 }));
    expect(await refusal({ path, key: KEY })).toMatchObject({
      code: "wrong_key",
      message: expect.stringMatching(/not encrypted.*import its export into a new one/),
    });
  });

  test("says nothing of its key in errors, diagnoses and what is printed", async () => {
    const path = pathOf("quiet.db");
    const key = "a passphrase that must not show";
    await withMemory({ path, key }, async (memory) => {
      expect(JSON.stringify(await memory.diagnose())).not.toContain("must not show");
      const error = await refusal({ path, key: `${key}, nearly` });
      expect(`${error.message} ${JSON.stringify(error)}`).not.toContain("must not show");
    });
    const error = await refusal({ path: pathOf("x.db"), key: new Uint8Array(31) });
    expect(error.code).toBe("invalid_argument");
    expect(error.message).toBe(
      "[keepsake] openMemory: key must be a Uint8Array of 32 random bytes, or a passphrase",
    );
  });

  test("key is unsupported in memory", async () => {
    expect(await refusal({ path: ":memory:", key: KEY })).toMatchObject({ code: "unsupported" });
  });

  test("a store alone is opened with it, too", async () => {
    const path = pathOf("store.db");
    const store = new SqliteStore({ path, key: KEY });
    await store.put(["a"], "k", { text: MARKER });
    await store.close();
    expect(bytesBeside(path).includes(MARKER)).toBe(false);
  });
});

describe("what somebody changes in an encrypted file", () => {
  test("a bit of any page, and two pages in each other's place", async () => {
    const path = pathOf("damaged.db");
    await withMemory({ path, key: KEY }, async ({ store }) => {
      for (let i = 0; i < 40; i++) await store.put(["a"], `k${i}`, { text: "x".repeat(900) });
    });
    const whole = readFileSync(path);
    const pages = whole.length / 4096;
    for (let page = 1; page < pages; page++) {
      const damaged = Buffer.from(whole);
      damaged[page * 4096 + ((page * 977) % 4096)] ^= 1 << (page % 8);
      writeFileSync(path, damaged);
      const found = await withMemory({ path, key: KEY }, (memory) => memory.check()).catch(
        (error) => error,
      );
      if (found.code !== undefined) expect(found.code).toBe("corrupt");
      else expect(found.damagedPages.map((damage) => damage.page)).toEqual([page]);
    }
    const swapped = Buffer.from(whole);
    whole.copy(swapped, (pages - 1) * 4096, (pages - 2) * 4096, (pages - 1) * 4096);
    writeFileSync(path, swapped);
    await withMemory({ path, key: KEY }, async (memory) => {
      const { damagedPages } = await memory.check();
      expect(damagedPages.map((damage) => damage.page)).toEqual([pages - 1]);
    });
  });

  test("what can still be read is salvaged with the key, by a path and from an open memory", async () => {
    const path = pathOf("salvage.db");
    await withMemory({ path, key: KEY }, async ({ store }) => {
      for (let i = 0; i < 100; i++) await store.put(["a"], `k${i}`, { text: "x".repeat(900) });
    });
    const bytes = readFileSync(path);
    bytes[bytes.length - 4096 + 50] ^= 1;
    writeFileSync(path, bytes);
    const saved = pathOf("saved.db");
    const report = await salvageMemory(path, { path: saved, key: OTHER }, { key: KEY });
    expect(report.items).toBeGreaterThan(80);
    expect(report.items + report.lostItemCount).toBe(100);
    await withMemory({ path: saved, key: OTHER }, async ({ store }) => {
      expect(await store.search(["a"], { limit: 200 })).toHaveLength(report.items);
    });
    await withMemory({ path, key: KEY }, async (memory) => {
      const again = await memory.salvage({ path: pathOf("saved-again.db"), key: OTHER });
      expect(again.items).toBe(report.items);
      await memory.salvage({ path: pathOf("saved-likewise.db") });
      await memory.salvage({ path: pathOf("saved-plain.db"), key: null });
    });
    await salvageMemory(path, { path: pathOf("saved-by-path.db") }, { key: KEY });
    for (const name of ["saved.db", "saved-again.db", "saved-likewise.db", "saved-by-path.db"]) {
      expect(readFileSync(pathOf(name)).includes("xxxxxxxx")).toBe(false);
    }
    await withMemory({ path: pathOf("saved-likewise.db"), key: KEY }, () => {});
    await withMemory({ path: pathOf("saved-by-path.db"), key: KEY }, () => {});
    expect(readFileSync(pathOf("saved-plain.db")).includes("xxxxxxxx")).toBe(true);
  });
});

describe("a key that is changed", () => {
  test("opens the file, and the one before does not", async () => {
    const path = pathOf("changed.db");
    await withMemory({ path, key: KEY }, async (memory) => {
      await memory.store.put(["a"], "k", { v: 1 });
      await memory.changeKey("a new passphrase");
      await memory.store.put(["a"], "l", { v: 2 });
      expect(await refusal({ path, key: KEY })).toMatchObject({ code: "wrong_key" });
      await withMemory({ path, key: "a new passphrase" }, () => {});
    });
    expect(await refusal({ path, key: KEY })).toMatchObject({ code: "wrong_key" });
    await withMemory({ path, key: "a new passphrase" }, async ({ store }) => {
      expect((await store.get(["a"], "l"))?.value).toEqual({ v: 2 });
    });
  });

  test("is the key of all that the memory uses for the first time after it", async () => {
    const path = pathOf("changed-first.db");
    await withMemory({ path, key: KEY }, async (memory) => {
      await memory.changeKey(OTHER);
      await putThread(memory, "t");
      await memory.store.put(["a"], "k", { v: 1 });
      const bytes = await memory.export();
      await memory.import(await memory.export({ format: "portable" }));
      await memory.import(bytes);
      await memory.scoped({ user: "ada" }).store.put(["n"], "k", { v: 1 });
    });
    await withMemory({ path, key: OTHER }, async ({ store, checkpointer }) => {
      expect(await store.get(["a"], "k")).not.toBeNull();
      expect(await checkpointer.getTuple({ configurable: { thread_id: "t" } })).toBeDefined();
    });
  });

  test("is refused where there is none", async () => {
    await withMemory({ path: pathOf("no-key.db") }, async (memory) => {
      await expect(memory.changeKey(KEY)).rejects.toMatchObject({ code: "unsupported" });
      await expect(memory.changeKey(new Uint8Array(3))).rejects.toMatchObject({
        code: "invalid_argument",
      });
    });
  });
});

describe("exports of an encrypted memory", () => {
  test.each(["sqlite", "portable"])(
    "are plain, and are encrypted where they arrive: %s",
    async (format) => {
      const path = pathOf(`export-${format}.db`);
      const bytes = await withMemory({ path, key: KEY }, async (memory) => {
        await memory.store.put(["a"], "k", { text: MARKER });
        return memory.export({ format });
      });
      expect(Buffer.from(bytes).includes(MARKER)).toBe(true);
      const target = pathOf(`import-${format}.db`);
      await withMemory({ path: target, key: OTHER }, async (memory) => {
        await memory.import(bytes);
        expect((await memory.store.get(["a"], "k"))?.value).toEqual({ text: MARKER });
        expect((await memory.check()).isOk).toBe(true);
      });
      expect(bytesBeside(target).includes(MARKER)).toBe(false);
    },
  );

  test("an encrypted file is imported with its key", async () => {
    const path = pathOf("import-sealed.db");
    await withMemory({ path, key: KEY }, ({ store }) => store.put(["a"], "k", { v: 1 }));
    await withMemory({ path: pathOf("import-sealed-target.db") }, async (memory) => {
      const file = readFileSync(path);
      await expect(memory.import(file)).rejects.toMatchObject({ code: "key_required" });
      await expect(memory.import(file, { key: OTHER })).rejects.toMatchObject({
        code: "wrong_key",
      });
      await memory.import(file, { key: KEY });
      expect((await memory.store.get(["a"], "k"))?.value).toEqual({ v: 1 });
    });
  });
});
