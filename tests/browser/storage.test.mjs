// Where a browser keeps a database, in a real Chromium: js/src/browser under a real
// SQLite session, in workers that die.

import { isLong, times } from "../js/support/effort.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { HASTE } from "./support/hasty.mjs";
import { startBrowser } from "./support/storage-browser.mjs";

const KINDS = ["opfs", "indexeddb"];

let browser;
let page;
const workers = [];

beforeAll(async () => {
  browser = await startBrowser();
  page = await browser.openPage();
}, 60_000);

afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.terminate();
});

afterAll(cleanUp);

async function startWorker(of = page, script = "worker.js") {
  const worker = await of.startWorker(script);
  workers.push(worker);
  return worker;
}

/** One that waits less long before it gives up. */
const startHasty = () => startWorker(page, "hasty.js");

/** A worker that has opened a database, as `db`. */
async function openIn(request, of = page) {
  const worker = await startWorker(of);
  await worker.run(openAsDb, request);
  return worker;
}

async function openAsDb(request) {
  self.db = await keepsake.open(request);
}

const contentOf = (worker) => worker.run(() => db.content());
const kindOf = (worker) => worker.run(() => [db.storage.kind, db.storage.fallbackReason]);
const putIn = (worker, key, value) =>
  worker.run(({ key, value }) => db.put(key, value), { key, value });
const failureOf = (worker, request) =>
  worker.run((request) => keepsake.failure(keepsake.open(request)), request);

/** What browsers do that have no OPFS for us, as Firefox in a private window. */
function refuseOpfs() {
  navigator.storage.getDirectory = async () => {
    throw new DOMException("Security error when calling GetDirectory", "SecurityError");
  };
}

/** All that are opened from now on are `connections`. */
function noteConnections() {
  self.connections = [];
  const open = indexedDB.open.bind(indexedDB);
  indexedDB.open = (...all) => {
    const request = open(...all);
    request.addEventListener("success", () => connections.push(request.result));
    return request;
  };
}

function refuseIndexedDb() {
  indexedDB.open = () => {
    throw new DOMException("Internal error opening backing store", "UnknownError");
  };
}

describe.each(KINDS)("in %s", (storage) => {
  test.each(["relaxed", "strict"])("what was acknowledged survives, %s", async (durability) => {
    const request = { name: `survives ${durability} ${storage}`, storage, durability };
    for (let run = 0; run < 3; run++) {
      const worker = await openIn(request);
      expect(await kindOf(worker)).toEqual([storage, undefined]);
      await putIn(worker, `run ${run}`, { run });
      await worker.terminate();
    }
    expect(await contentOf(await openIn(request))).toEqual({
      "run 0": { run: 0 },
      "run 1": { run: 1 },
      "run 2": { run: 2 },
    });
  });

  test("names that are alike are databases of their own", async () => {
    // Of an origin of its own: a name that is in OPFS once stays there.
    const own = await browser.openPage(`names-${storage}`);
    const names = [
      "x",
      "X",
      "x-wal",
      "x-journal",
      "x.reserve",
      "%78",
      "../x",
      "x/y",
      "ä",
      " ",
      ".",
    ];
    const worker = await startWorker(own);
    const found = await worker.run(
      async ({ names, storage }) => {
        for (const name of names) {
          const db = await keepsake.open({ name, storage });
          await db.put("name", { name });
          db.close();
        }
        const contents = [];
        for (const name of names) {
          const db = await keepsake.open({ name, storage });
          contents.push(db.content());
          db.close();
        }
        return contents;
      },
      { names, storage },
    );
    expect(found).toEqual(names.map((name) => ({ name: { name } })));
  });

  test("a worker that is killed before it can answer loses nothing acknowledged", async () => {
    const request = { name: `killed ${storage}`, storage };
    let acknowledged = 0;
    for (let round = 0; round < 5; round++) {
      const worker = await openIn(request);
      await putIn(worker, `acknowledged ${acknowledged++}`, { round });
      // The commit is under way, or done, and the worker is gone before its promise resolves.
      await worker.run((round) => {
        db.execute(keepsake.putOf(`unknown ${round}`, { round }));
        db.storage.commit()?.catch(() => undefined);
      }, round);
      await worker.terminate();
    }
    const content = await contentOf(await openIn(request));
    const kept = Object.keys(content).filter((key) => key.startsWith("acknowledged"));
    expect(kept).toHaveLength(acknowledged);
    // OPFS has it as soon as SQLite has.
    if (storage === "opfs") expect(Object.keys(content)).toHaveLength(2 * acknowledged);
  });

  test("damaged files are set aside, can be read, and the database is empty", async () => {
    const name = `damaged ${storage}`;
    const worker = await openIn({ name, storage });
    const { failed, refused, aside, listed, isWhole, after } = await worker.run(
      async ({ name, storage }) => {
        for (let i = 0; i < 50; i++) await db.put(`k${i}`, { text: "x".repeat(5000) });
        // Else the log would repair the page that is overwritten.
        await db.acknowledged({ kind: "flush" });
        db.close();
        const request = { name, storage, durability: "relaxed" };
        const before = await keepsake.openStorage(request);
        const file = before.files.get(name);
        file.write(new TextEncoder().encode("This is no database file at all."), { at: 0 });
        const damaged = new Uint8Array(file.getSize());
        file.read(damaged, { at: 0 });
        await before.commit();
        before.close();

        const failed = await keepsake.failure(keepsake.open(request));
        const broken = await keepsake.openStorage(request);
        const aside = await broken.setAside();
        broken.close();
        const refused = await keepsake.failure(keepsake.readAside(storage, `${aside}0`));
        const asideBytes = await (await keepsake.readAside(storage, aside)).arrayBuffer();
        const anew = await keepsake.open(request);
        await anew.put("new", { n: 1 });
        const after = anew.content();
        anew.close();
        return {
          failed,
          refused,
          aside,
          listed: await keepsake.listAside(storage, name),
          isWhole: indexedDB.cmp(asideBytes, damaged) === 0,
          after,
        };
      },
      { name, storage },
    );
    expect(failed.code).toBe("not_a_database");
    expect(refused.code).toBe("not_found");
    expect(aside).toMatch(/^damaged \w+\.corrupt-\d{8}T\d{9}Z$/);
    expect(listed).toEqual([aside]);
    expect(isWhole).toBe(true);
    expect(after).toEqual({ new: { n: 1 } });
  });

  test("a storage whose session could not open sets aside and goes on by itself", async () => {
    const name = `goes on ${storage}`;
    const worker = await startWorker();
    const found = await worker.run(
      async ({ name, storage }) => {
        const request = { name, storage, durability: "relaxed" };
        const kept = await keepsake.openStorage(request);
        kept.files.get(name).write(new Uint8Array(5000).fill(7), { at: 0 });
        kept.files.get(`${name}-wal`).write(new Uint8Array(100), { at: 0 });
        await kept.commit();
        for (const file of kept.files.values()) file.close();
        kept.files.clear();
        const aside = await kept.setAside();
        const db = await keepsake.Database.on(kept, name);
        await db.put("k", { n: 1 });
        const content = db.content();
        db.close();
        const sizes = {};
        for (const file of await keepsake.listAside(storage, name)) {
          sizes[file.slice(aside.length)] = (await keepsake.readAside(storage, file)).size;
        }
        return { content, sizes };
      },
      { name, storage },
    );
    expect(found).toEqual({ content: { k: { n: 1 } }, sizes: { "": 5000, "-wal": 100 } });
  });
});

describe("handles that are not ours", () => {
  /** A worker that has one of the database's files open. */
  async function holding(name, file) {
    const holder = await openIn({ name, storage: "opfs" });
    await putIn(holder, "k", { n: 1 });
    await holder.run(async (file) => {
      db.close();
      const root = await navigator.storage.getDirectory();
      const folder = await root.getDirectoryHandle("keepsake");
      self.held = await (await folder.getFileHandle(file)).createSyncAccessHandle();
    }, file);
    return holder;
  }

  test.each(["busy", "busy-wal"])("are waited for: %s", async (file) => {
    const holder = await holding("busy", file);
    const worker = await startWorker();
    const opened = worker.run(openAsDb, { name: "busy" });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await holder.terminate();
    await opened;
    expect(await kindOf(worker)).toEqual(["opfs", undefined]);
    expect(await contentOf(worker)).toEqual({ k: { n: 1 } });
  });

  test("for too long are an error, and never another storage", async () => {
    const holder = await holding("held", "held-journal");
    const worker = await startHasty();
    const { code, message } = await failureOf(worker, { name: "held" });
    expect(code).toBe("busy");
    expect(message).toContain('"held"');
    // It holds none of the others, and nothing is gone.
    await holder.run(() => held.close());
    const next = await openIn({ name: "held" });
    expect(await kindOf(next)).toEqual(["opfs", undefined]);
    expect(await contentOf(next)).toEqual({ k: { n: 1 } });
  }, 30_000);
});

describe("a browser that does not answer when it opens a file", () => {
  /** The first `count` answers never come, or after `late` ms. */
  function keepBack({ count, late }) {
    const { prototype } = FileSystemFileHandle;
    const open = prototype.createSyncAccessHandle;
    prototype.createSyncAccessHandle = async function () {
      if (count-- <= 0) return open.call(this);
      if (late === undefined) return new Promise(() => {});
      const handle = await open.call(this);
      return new Promise((resolve) => setTimeout(resolve, late, handle));
    };
  }

  test.each([
    ["never", undefined],
    ["too late", 6_500 / HASTE],
  ])(
    "is asked again: %s",
    async (when, late) => {
      const worker = await startHasty();
      await worker.run(keepBack, { count: 1, late });
      await worker.run(openAsDb, { name: `unanswered ${when}` });
      expect(await kindOf(worker)).toEqual(["opfs", undefined]);
      await putIn(worker, "k", { n: 1 });
      expect(await contentOf(worker)).toEqual({ k: { n: 1 } });
    },
    30_000,
  );

  test("twice is an error, and never another storage", async () => {
    const worker = await startHasty();
    await worker.run(keepBack, { count: 6 });
    const { code, message } = await failureOf(worker, { name: "silent" });
    expect(code).toBe("busy");
    expect(message).toMatch(/did not open keepsake\/silent.* within [\d.]+ s: close other tabs/);
  }, 30_000);

  test("where its folder is, is an error, and leaves no connection behind", async () => {
    const worker = await startHasty();
    const { failure, left } = await worker.run(async () => {
      navigator.storage.getDirectory = () => new Promise(() => {});
      let left = 0;
      const { open } = IDBFactory.prototype;
      IDBFactory.prototype.open = function (...all) {
        left++;
        return open.apply(this, all);
      };
      const { close } = IDBDatabase.prototype;
      IDBDatabase.prototype.close = function () {
        left--;
        close.call(this);
      };
      const request = { name: "silent folder", storage: "indexeddb", durability: "relaxed" };
      return { failure: await keepsake.failure(keepsake.openStorage(request)), left };
    });
    expect(failure.code).toBe("busy");
    expect(failure.message).toMatch(/did not open keepsake within [\d.]+ s: close other tabs/);
    expect(left).toBe(0);
  }, 30_000);
});

describe("a browser without OPFS", () => {
  test("keeps the database in IndexedDB, and says why", async () => {
    const worker = await startWorker();
    await worker.run(refuseOpfs);
    await worker.run(openAsDb, { name: "refused" });
    const [kind, reason] = await kindOf(worker);
    expect(kind).toBe("indexeddb");
    expect(reason).toMatch(/SecurityError: Security error when calling GetDirectory/);
    await putIn(worker, "k", { n: 1 });
    const { code, message } = await failureOf(worker, { name: "refused", storage: "opfs" });
    expect(code).toBe("unsupported");
    expect(message).toMatch(/SecurityError/);
  });

  test("keeps it there for whoever asked for that, also when OPFS comes back", async () => {
    const request = { name: "asked for", storage: "indexeddb" };
    const first = await openIn(request);
    await putIn(first, "k", { n: 1 });
    await first.terminate();

    const worker = await openIn({ name: "asked for" });
    expect(await kindOf(worker)).toEqual(["indexeddb", expect.stringContaining("began in")]);
    expect(await contentOf(worker)).toEqual({ k: { n: 1 } });
    const { code } = await failureOf(worker, { name: "asked for", storage: "opfs" });
    expect(code).toBe("cannot_open");
  });

  test("does not show a database of OPFS as an empty one", async () => {
    const first = await openIn({ name: "marked" });
    await putIn(first, "k", { n: 1 });
    await first.terminate();

    const worker = await startWorker();
    const forced = await failureOf(worker, { name: "marked", storage: "indexeddb" });
    expect(forced.code).toBe("cannot_open");
    await worker.run(refuseOpfs);
    for (const storage of ["auto", "indexeddb"]) {
      const { code, message } = await failureOf(worker, { name: "marked", storage });
      expect(code).toBe("cannot_open");
      expect(message).toContain("OPFS");
    }
    await worker.run(openAsDb, { name: "marked", storage: "memory" });
    expect(await contentOf(worker)).toEqual({});
    expect(await contentOf(await openIn({ name: "marked" }))).toEqual({ k: { n: 1 } });
  });

  test("and without IndexedDB has it in memory, with a warning", async () => {
    const worker = await startWorker();
    await worker.run(refuseOpfs);
    await worker.run(refuseIndexedDb);
    const warnings = await worker.run(async () => {
      const heard = [];
      console.warn = (text) => heard.push(text);
      self.db = await keepsake.open({ name: "nowhere" });
      return heard;
    });
    expect(warnings).toEqual([expect.stringMatching(/"nowhere".*SecurityError.*UnknownError/)]);
    expect((await kindOf(worker))[0]).toBe("memory");
    await putIn(worker, "k", { n: 1 });
    expect(await contentOf(worker)).toEqual({ k: { n: 1 } });
    const forced = await failureOf(worker, { name: "nowhere", storage: "indexeddb" });
    expect(forced.code).toBe("unsupported");
  });

  test("OPFS needs no IndexedDB", async () => {
    const worker = await startWorker();
    await worker.run(refuseIndexedDb);
    await worker.run(openAsDb, { name: "only opfs" });
    expect(await kindOf(worker)).toEqual(["opfs", undefined]);
  });

  test("a database that is in OPFS does not touch IndexedDB", async () => {
    const first = await openIn({ name: "untouched" });
    await putIn(first, "k", { n: 1 });
    await first.terminate();
    const worker = await startWorker();
    const opened = await worker.run(async () => {
      const asked = [];
      const open = indexedDB.open.bind(indexedDB);
      indexedDB.open = (name) => {
        asked.push(name);
        return open(name);
      };
      self.db = await keepsake.open({ name: "untouched" });
      return asked;
    });
    expect(opened).toEqual([]);
  });
});

describe("OPFS that comes back", () => {
  const CONTENT = { k0: { n: 0 }, k1: { n: 1 }, k2: { n: 2 } };

  /** A database that fell back to IndexedDB, and whose log has something in it. */
  async function fallenBack(name) {
    const worker = await startWorker();
    await worker.run(refuseOpfs);
    await worker.run(openAsDb, { name });
    for (const n of [0, 1, 2]) await putIn(worker, `k${n}`, { n });
    await worker.terminate();
    return name;
  }

  /** What changes OPFS or the mirror fails from the n-th time on, as if the worker had ended. */
  function failFrom(n) {
    self.changes = 0;
    const failing = (prototype, names) => {
      for (const name of names) {
        const change = prototype[name];
        prototype[name] = function (...values) {
          if (++self.changes > n) throw new DOMException("made by a test", "TestError");
          return change.apply(this, values);
        };
      }
    };
    failing(FileSystemSyncAccessHandle.prototype, ["write", "truncate", "flush"]);
    failing(IDBObjectStore.prototype, ["put", "clear", "delete"]);
    failing(IDBTransaction.prototype, ["commit"]);
  }

  /** Opens it, and answers where it is and what it holds, or why it cannot be opened. */
  async function readOnce(request) {
    try {
      const read = await keepsake.open(request);
      const found = [read.storage.kind, read.content()];
      read.close();
      return found;
    } catch ({ code }) {
      return code;
    }
  }

  test.each(["auto", "opfs"])("has the database moved there, for storage %s", async (storage) => {
    const name = await fallenBack(`comes back ${storage}`);
    const worker = await openIn({ name, storage });
    expect(await kindOf(worker)).toEqual(["opfs", undefined]);
    expect(await contentOf(worker)).toEqual(CONTENT);
    await putIn(worker, "k3", { n: 3 });
    await worker.terminate();

    const again = await startWorker();
    expect(await failureOf(again, { name, storage: "indexeddb" })).toMatchObject({
      code: "cannot_open",
    });
    await again.run(openAsDb, { name });
    expect(await contentOf(again)).toEqual({ ...CONTENT, k3: { n: 3 } });
    await again.run(() => db.close());
    await again.run(refuseOpfs);
    const { code, message } = await failureOf(again, { name });
    expect([code, message]).toEqual(["cannot_open", expect.stringContaining("is kept in OPFS")]);
  });

  test("and a move that is cut off anywhere loses nothing, and is made again", async () => {
    const without = await startWorker();
    await without.run(refuseOpfs);
    const reader = await startWorker();
    for (let n = 0, isDone = false; !isDone; n += isLong ? 1 : 5) {
      const name = await fallenBack(`cut off ${n}`);
      const mover = await startWorker();
      await mover.run(failFrom, n);
      await mover.run(
        (name) => keepsake.failure(keepsake.openStorage({ name, storage: "auto" })),
        name,
      );
      isDone = (await mover.run(() => self.changes)) <= n;
      await mover.terminate();

      // Moved whole, or not at all.
      const found = await without.run(readOnce, { name });
      if (found !== "cannot_open") {
        expect([n, found]).toEqual([n, ["indexeddb", CONTENT]]);
        const request = { name, storage: "indexeddb" };
        expect([n, await reader.run(readOnce, request)]).toEqual([n, found]);
      }
      expect([n, await reader.run(readOnce, { name })]).toEqual([n, ["opfs", CONTENT]]);
      expect(n).toBeLessThan(100);
    }
  });

  test("but has no room: it stays, says so, and moves later", async () => {
    const name = await fallenBack("no room");
    const worker = await startWorker();
    await worker.run(() => {
      self.write = FileSystemSyncAccessHandle.prototype.write;
      FileSystemSyncAccessHandle.prototype.write = () => 0;
    });
    expect(await failureOf(worker, { name, storage: "opfs" })).toMatchObject({
      code: "storage_full",
    });
    await worker.run(openAsDb, { name });
    expect(await kindOf(worker)).toEqual(["indexeddb", expect.stringContaining("no room")]);
    await putIn(worker, "k3", { n: 3 });
    await worker.run(() => {
      db.close();
      FileSystemSyncAccessHandle.prototype.write = self.write;
    });
    await worker.run(openAsDb, { name });
    expect(await kindOf(worker)).toEqual(["opfs", undefined]);
    expect(await contentOf(worker)).toEqual({ ...CONTENT, k3: { n: 3 } });
  });

  test.each(["InvalidStateError", "NotReadableError"])(
    "after it said %s for now: an error that says what to do, and no other storage",
    async (error) => {
      const worker = await startHasty();
      await worker.run((name) => {
        self.getDirectory = navigator.storage.getDirectory;
        navigator.storage.getDirectory = async () => {
          throw new DOMException("made by a test", name);
        };
      }, error);
      const request = { name: `passing ${error}` };
      const { code, message } = await failureOf(worker, request);
      expect(code).toBe("cannot_open");
      expect(message).toMatch(`${error}: made by a test`);
      expect(message).toMatch("close all tabs of this site");
      await worker.run(() => {
        navigator.storage.getDirectory = self.getDirectory;
      });
      await worker.run(openAsDb, request);
      expect(await kindOf(worker)).toEqual(["opfs", undefined]);
    },
    30_000,
  );
});

test("names that no file can have are refused", async () => {
  const worker = await startWorker();
  for (const name of ["", "\ud800", "x".repeat(201)]) {
    expect((await failureOf(worker, { name })).code).toBe("invalid_argument");
  }
});

describe("a full disk", () => {
  /** Puts until it is full; answers the keys that were acknowledged and the error. */
  async function fill() {
    const keys = [];
    try {
      for (let i = 0; i < 5000; i++) {
        const text = Array.from({ length: 2000 }, () => Math.random().toString(36)).join("");
        await db.put(`k${i}`, { text });
        keys.push(`k${i}`);
      }
    } catch (error) {
      return { keys, code: error.code };
    }
    return { keys, code: "never full" };
  }

  const hasAll = (keys) => {
    const content = db.content();
    return keys.every((key) => key in content) && Object.keys(content).length === keys.length;
  };

  test.each([12e6, 21e6, 40e6])(
    "in OPFS is storage_full; what is there can be read and deleted, at %d bytes",
    async (quota) => {
      const small = await browser.openPage(`full-opfs-${quota}`);
      await small.setQuota(quota);
      const worker = await openIn({ name: "full", storage: "opfs" }, small);
      await worker.run(() => db.put("first", {}).then(() => db.storage.restoreReserve()));
      const { keys, code } = await worker.run(fill);
      expect(code).toBe("storage_full");
      expect(await worker.run(hasAll, ["first", ...keys])).toBe(true);

      const released = await worker.run(async (keys) => {
        const released = await db.storage.releaseReserve();
        db.execute({ kind: "flush" });
        for (const key of keys) await db.put(key, null);
        return released;
      }, keys);
      expect(released).toBe(true);
      expect(await contentOf(worker)).toEqual({ first: {} });

      await worker.run(async () => {
        db.execute({ kind: "flush" });
        await db.put("again", { text: "x".repeat(50_000) });
        await db.storage.restoreReserve();
      });
      expect(await worker.run(() => db.storage.releaseReserve())).toBe(true);
      expect(await worker.run(() => db.storage.releaseReserve())).toBe(false);
      await small.close();
    },
    120_000,
  );

  test("in IndexedDB is storage_full, and what was acknowledged is there", async () => {
    const small = await browser.openPage("full-indexeddb");
    await small.setQuota(12e6);
    const request = { name: "full", storage: "indexeddb" };
    const worker = await openIn(request, small);
    const { keys, code } = await worker.run(fill);
    expect(code).toBe("storage_full");
    // Memory is ahead of storage: every later commit says so.
    const again = await worker.run(() => keepsake.failure(db.put("later", {})));
    expect(again.code).toBe("storage_full");

    await worker.run(() => db.close());
    await worker.run(openAsDb, request);
    expect(await worker.run(hasAll, keys)).toBe(true);
    await small.setQuota(1e9);
    await worker.terminate();
    const later = await openIn(request, small);
    await putIn(later, keys[0], null);
    expect(await later.run(hasAll, keys.slice(1))).toBe(true);
    await small.close();
  }, 120_000);

  test.each([
    ["a short write", (count) => count - 1],
    ["a negative count without its sign", () => 0xffff_fff8],
  ])("is what %s means", async (_, count) => {
    const worker = await openIn({ name: "short", storage: "opfs" });
    await putIn(worker, "before", { n: 1 });
    const code = await worker.run(async (countText) => {
      const count = new Function(`return ${countText}`)();
      const write = FileSystemSyncAccessHandle.prototype.write;
      FileSystemSyncAccessHandle.prototype.write = function (bytes, options) {
        return count(write.call(this, bytes.subarray(0, bytes.length - 1), options) + 1);
      };
      const { code } = await keepsake.failure(db.put("lost", { n: 2 }));
      FileSystemSyncAccessHandle.prototype.write = write;
      return code;
    }, count.toString());
    expect(code).toBe("storage_full");
    expect(Object.keys(await contentOf(worker))).not.toContain("lost");
    await putIn(worker, "after", { n: 3 });
    await worker.terminate();
    const next = await openIn({ name: "short", storage: "opfs" });
    expect(await contentOf(next)).toEqual({ before: { n: 1 }, after: { n: 3 } });
  });
});

describe("the mirror in IndexedDB", () => {
  const storage = "indexeddb";

  test("stores what is committed at the same time in one transaction", async () => {
    const worker = await openIn({ name: "group", storage });
    const transactions = await worker.run(async () => {
      await db.put("first", {});
      await db.storage.restoreReserve();
      let count = 0;
      const transaction = IDBDatabase.prototype.transaction;
      IDBDatabase.prototype.transaction = function (...all) {
        count++;
        return transaction.apply(this, all);
      };
      await Promise.all(Array.from({ length: 200 }, (_, i) => db.put(`k${i}`, { i })));
      return count;
    });
    // The first, and all the others while it was under way.
    expect(transactions).toBe(2);
    await worker.terminate();
    const content = await contentOf(await openIn({ name: "group", storage }));
    expect(Object.keys(content)).toHaveLength(201);
  });

  test("that two found new is of the first who writes", async () => {
    const [first, second] = [await startWorker(), await startWorker()];
    const request = { name: "new to two", storage };
    await Promise.all([first.run(openAsDb, request), second.run(openAsDb, request)]);
    await add(second, "theirs");
    await expect(add(first, "late")).rejects.toThrow(/changed or deleted by someone else/);
    expect(await namesOf(request.name)).toEqual(["theirs"]);
  });

  test("has nothing to wait for after a read, unless it saw what is not stored yet", async () => {
    const worker = await openIn({ name: "reads", storage });
    const waits = await worker.run(async () => {
      await db.put("k", { n: 1 });
      db.get("k");
      const quiet = db.storage.commit();
      db.execute(keepsake.putOf("k", { n: 2 }));
      const writing = db.storage.commit();
      db.get("k");
      const reading = db.storage.commit();
      await Promise.all([writing, reading]);
      return [quiet === undefined, reading instanceof Promise, db.storage.commit() === undefined];
    });
    expect(waits).toEqual([true, true, true]);
  });

  test("goes on when the browser has closed the connection", async () => {
    const worker = await startWorker();
    await worker.run(noteConnections);
    await worker.run(async (storage) => {
      self.db = await keepsake.open({ name: "closed", storage });
      await db.put("before", { n: 1 });
      for (const connection of connections) connection.close();
      await db.put("after", { n: 2 });
    }, storage);
    await worker.terminate();
    expect(await contentOf(await openIn({ name: "closed", storage }))).toEqual({
      before: { n: 1 },
      after: { n: 2 },
    });
  });

  test("lets itself be deleted, and does not come back in parts", async () => {
    const worker = await openIn({ name: "deleted", storage });
    await putIn(worker, "before", { n: 1 });
    const { code } = await worker.run(async () => {
      await new Promise((resolve, reject) => {
        const request = indexedDB.deleteDatabase("keepsake/deleted");
        request.onsuccess = resolve;
        request.onerror = reject;
      });
      return keepsake.failure(db.put("after", { n: 2 }));
    });
    expect(code).toBe("changed_outside");
    expect(await contentOf(await openIn({ name: "deleted", storage }))).toEqual({});
  });

  test("that several transactions open again at once leaves no connection behind", async () => {
    const worker = await startWorker();
    await worker.run(noteConnections);
    const left = await worker.run(async (storage) => {
      const { close } = IDBDatabase.prototype;
      const closed = new Set();
      IDBDatabase.prototype.close = function () {
        closed.add(this);
        close.call(this);
      };
      self.db = await keepsake.open({ name: "opened twice", storage });
      await db.put("k", { n: 1 });
      await db.storage.settled();
      for (const connection of connections) connection.close();
      db.storage.flush();
      await db.put("k", { n: 2 });
      await db.storage.settled();
      db.close();
      return connections.filter((connection) => !closed.has(connection)).length;
    }, storage);
    expect(left).toBe(0);
  });

  const add = (worker, key) => putIn(worker, key, { key });
  // The log begins anew, so that blocks replace all records.
  const fold = async (worker, key) => {
    await worker.run(() => db.acknowledged({ kind: "flush" }));
    await add(worker, key);
  };
  const WAYS = { adding: add, folding: fold };
  const namesOf = async (name) => Object.keys(await contentOf(await openIn({ name, storage })));

  test.each([
    ["adding", "adding"],
    ["adding", "folding"],
    ["folding", "adding"],
    ["folding", "folding"],
  ])("a holder that was frozen can't write over the next one: %s over %s", async (late, next) => {
    const name = `frozen ${late} ${next}`;
    const frozen = await openIn({ name, storage });
    await add(frozen, "first");
    const owner = await openIn({ name, storage });
    await WAYS[next](owner, "second");
    await WAYS[next](owner, "third");
    await expect(WAYS[late](frozen, "late")).rejects.toThrow(/changed or deleted by someone else/);
    await WAYS[next](owner, "fourth");
    expect(await namesOf(name)).toEqual(["first", "fourth", "second", "third"]);
  });

  test.each(["adding", "folding"])(
    "what was read before another's %s is not written on",
    async (way) => {
      const name = `read before ${way}`;
      const owner = await openIn({ name, storage });
      await add(owner, "first");
      const reader = await openIn({ name, storage });
      await WAYS[way](owner, "second");
      await expect(add(reader, "late")).rejects.toThrow(/changed or deleted by someone else/);
      await add(owner, "third");
      expect(await namesOf(name)).toEqual(["first", "second", "third"]);
    },
  );

  test("what one holder after the other recorded is there, and so it is in blocks", async () => {
    for (const [i, key] of ["a", "b", "c", "d"].entries()) {
      const worker = await openIn({ name: "holders", storage });
      await (i === 2 ? fold : add)(worker, key);
      await add(worker, `${key}2`);
      await worker.terminate();
    }
    const keys = ["a", "a2", "b", "b2", "c", "c2", "d", "d2"];
    expect(await namesOf("holders")).toEqual(keys);
    await fold(await openIn({ name: "holders", storage }), "e");
    expect(await namesOf("holders")).toEqual([...keys, "e"]);
  });

  /** Runs `body` on the blocks of a mirror that nobody has open. */
  async function inBlocks(name, body) {
    const worker = await startWorker();
    const answer = await worker.run(
      async ({ name, text }) => {
        const settled = (request) =>
          new Promise((resolve, reject) => {
            request.onsuccess = () => resolve(request.result);
            request.onerror = reject;
          });
        const database = await settled(indexedDB.open(`keepsake/${name}`));
        const blocks = database.transaction("blocks", "readwrite").objectStore("blocks");
        // biome-ignore lint/security/noGlobalEval: it comes from this file
        const answer = await globalThis.eval(`(${text})`)(blocks, settled);
        database.close();
        return answer;
      },
      { name, text: body.toString() },
    );
    await worker.terminate();
    return answer;
  }

  // The keys of extents begin at 3 * 2 ** 32.
  const kindsIn = (name) =>
    inBlocks(name, async (blocks, settled) => {
      const keys = await settled(blocks.getAllKeys());
      const loose = keys.filter((key) => key < 3 * 2 ** 32);
      const inExtent = (extent) => loose.filter((key) => Math.floor(key / 16) === extent).length;
      return {
        blocks: loose.length,
        extents: keys.length - loose.length,
        mostInOne: Math.max(0, ...loose.map((key) => inExtent(Math.floor(key / 16)))),
      };
    });

  /** Puts `values` of 3 KB each, in blocks and not in records. */
  async function putMany(name, values) {
    const worker = await openIn({ name, storage });
    await worker.run(async (count) => {
      const puts = Array.from({ length: count }, (_, i) =>
        keepsake.putOf(`k${i}`, { i, text: String(i % 10).repeat(3000) }),
      );
      await db.acknowledged(...puts);
    }, values);
    await fold(worker, "folded");
    const content = await contentOf(worker);
    await worker.terminate();
    return content;
  }

  test("what changes a little lies in blocks over the extents", async () => {
    const name = "over extents";
    const content = await putMany(name, 300);
    for (const i of [10, 150, 290]) {
      const worker = await openIn({ name, storage });
      content[`k${i}`] = { i: -i };
      await putIn(worker, `k${i}`, content[`k${i}`]);
      await fold(worker, "folded");
      await worker.terminate();
      const { blocks, mostInOne } = await kindsIn(name);
      expect(blocks).toBeGreaterThan(0);
      expect(mostInOne).toBeLessThan(4);
      expect(await contentOf(await openIn({ name, storage }))).toEqual(content);
    }
  });

  test("a fold writes what changed, and no more of what lies there", async () => {
    const worker = await openIn({ name: "little", storage });
    const bytes = await worker.run(async () => {
      const fold = async (key) => {
        await db.acknowledged({ kind: "flush" });
        await db.put(key, {});
      };
      const text = "x".repeat(3000);
      for (const name of ["a", "b"]) {
        await db.acknowledged(
          ...Array.from({ length: 300 }, (_, i) => keepsake.putOf(`${name}${i}`, { text })),
        );
        await fold(name);
      }
      const { put } = IDBObjectStore.prototype;
      let bytes = 0;
      IDBObjectStore.prototype.put = function (...all) {
        if (this.name === "blocks") bytes += all[0].length;
        return put.apply(this, all);
      };
      await fold("little");
      return bytes;
    });
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(100_000);
  });

  test.each([0, 0.5, 1])("an extent that is missing is an error: at %d of all", async (share) => {
    const name = `missing ${share}`;
    await putMany(name, 300);
    await inBlocks(
      name,
      `async (blocks, settled) => {
        const keys = await settled(blocks.getAllKeys(IDBKeyRange.lowerBound(3 * 2 ** 32)));
        await settled(blocks.delete(keys[Math.round((keys.length - 1) * ${share})]));
      }`,
    );
    expect(await failureOf(await startWorker(), { name, storage })).toMatchObject({
      code: "corrupt",
      message: expect.stringContaining(`IndexedDB lacks some of the blocks of "${name}`),
    });
  });

  test("files that are written, cut and folded at random are read as they were", async () => {
    const worker = await startWorker();
    const failures = await worker.run(
      async ({ steps, ...request }) => {
        let state = 5;
        const random = (below) => {
          state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
          return Math.floor((state / 2 ** 32) * below);
        };
        const bytesOf = (file) => {
          const bytes = new Uint8Array(file.getSize());
          file.read(bytes, { at: 0 });
          return bytes.join();
        };
        const names = [request.name, `${request.name}-wal`, `${request.name}-journal`];
        let storage = await keepsake.openStorage(request);
        let failures = 0;
        for (let i = 0; i < steps; i++) {
          const file = storage.files.get(names[random(3)]);
          const most = [3, 20, 60][random(3)] * 4096;
          if (random(4) === 0) file.truncate(random(most));
          else {
            const bytes = new Uint8Array(random(random(3) === 0 ? most : 9000)).fill(
              1 + random(255),
            );
            file.write(bytes, { at: random(2) === 0 ? 4096 * random(40) : random(most) });
          }
          // The log begins anew.
          if (random(6) === 0) storage.files.get(names[1]).write(new Uint8Array(32), { at: 0 });
          await storage.commit();
          const next = await keepsake.openStorage(request);
          for (const name of names) {
            if (bytesOf(storage.files.get(name)) !== bytesOf(next.files.get(name))) failures++;
          }
          if (random(10) > 0) next.close();
          else {
            storage.close();
            storage = next;
          }
        }
        storage.close();
        return failures;
      },
      { name: "random files", storage, durability: "relaxed", steps: times(400) },
    );
    expect(failures).toBe(0);
  }, 120_000);

  test.each([
    [60, "written as", 18],
    [40, "written as", 17],
    [40, "written as", 16],
    [20, "written as", 3],
    [5, "written as", 2],
    [19, "written as", 19],
    [40, "cut to", 18],
    [5, "cut to", 2],
  ])("of %d blocks that are %s %d nothing is left", async (before, way, after) => {
    const name = `blocks ${before} ${way} ${after}`;
    const worker = await startWorker();
    await worker.run(
      async ({ request, before, isCut, after }) => {
        const storage = await keepsake.openStorage(request);
        const [file, log] = storage.files.values();
        const write = (count, byte) =>
          file.write(new Uint8Array(count * 4096).fill(byte), { at: 0 });
        const fold = async () => {
          log.write(new Uint8Array(64), { at: 0 });
          log.write(new Uint8Array(32), { at: 0 });
          await storage.commit();
        };
        write(before, 1);
        if (isCut) write(after, 2);
        await fold();
        if (!isCut) write(after, 2);
        file.truncate(after * 4096);
        await fold();
        storage.close();
      },
      {
        request: { name, storage, durability: "relaxed" },
        before,
        isCut: way === "cut to",
        after,
      },
    );
    const stored = await inBlocks(name, async (blocks, settled) => {
      const found = new Set();
      for (const bytes of await settled(blocks.getAll())) for (const byte of bytes) found.add(byte);
      return [...found].sort();
    });
    // Zeros are the log's.
    expect(stored).toEqual([0, 2]);
  });

  test("a change whose connection was lost after it was stored is stored once", async () => {
    const worker = await openIn({ name: "lost", storage });
    await add(worker, "first");
    const lost = await worker.run(async () => {
      await db.storage.restoreReserve();
      const { transaction } = IDBDatabase.prototype;
      let lost = 0;
      IDBDatabase.prototype.transaction = function (...all) {
        const made = transaction.apply(this, all);
        if (lost++ > 0) return made;
        Object.defineProperty(made, "oncomplete", {
          set: () => made.addEventListener("complete", () => made.onabort()),
        });
        return made;
      };
      await db.put("second", {});
      IDBDatabase.prototype.transaction = transaction;
      await db.put("third", {});
      return lost;
    });
    // Stored and lost, tried again, and looked for.
    expect(lost).toBe(3);
    await worker.terminate();
    expect(await namesOf("lost")).toEqual(["first", "second", "third"]);
  });

  test("has settled when every transaction is over, so that a worker may end", async () => {
    const worker = await openIn({ name: "settled", storage });
    const ended = await worker.run(async () => {
      let begun = 0;
      let ended = 0;
      const transaction = IDBDatabase.prototype.transaction;
      IDBDatabase.prototype.transaction = function (...all) {
        begun++;
        const made = transaction.apply(this, all);
        made.addEventListener("complete", () => ended++);
        return made;
      };
      // The first makes the reserve behind it.
      await db.put("k", { n: 1 });
      const before = begun - ended;
      db.storage.flush();
      await db.storage.settled();
      return { before, begun, ended };
    });
    expect(ended).toEqual({ before: 1, begun: 3, ended: 3 });
    await worker.terminate();
  });

  test("flushes what was relaxed in a strict transaction", async () => {
    const worker = await openIn({ name: "flushed", storage });
    const durabilities = await worker.run(async () => {
      await db.put("k", { n: 1 });
      await db.storage.restoreReserve();
      const asked = [];
      const transaction = IDBDatabase.prototype.transaction;
      IDBDatabase.prototype.transaction = function (stores, mode, options) {
        asked.push(options.durability);
        return transaction.call(this, stores, mode, options);
      };
      db.storage.flush();
      db.storage.flush();
      await db.put("k", { n: 2 });
      return asked;
    });
    expect(durabilities).toEqual(["strict", "relaxed"]);
  });
});

// So many transactions for OPFS; a copy of a mirror takes three times as long to open.
const CRASH_IMAGES = times(300);

// After each acknowledged transaction the bytes that are stored are opened as a second
// database: whatever SQLite wrote in which order, all that was acknowledged is there.
describe.each(KINDS)("a crash image of %s holds every acknowledged row", (storage) => {
  /** Answers how many transactions were not in it. */
  async function lostTransactions({ name, storage, seed, transactions, operations, largest }) {
    const db = await keepsake.open({ name, storage });
    let state = seed;
    const random = (below) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    let lost = 0;
    for (let i = 1; i <= transactions; i++) {
      const puts = Array.from({ length: 1 + random(operations) }, () => {
        const value = random(4) === 0 ? null : { i, text: "x".repeat(random(largest)) };
        return keepsake.putOf(`k${random(40)}`, value);
      });
      await db.acknowledged(...puts, keepsake.putOf("last", { i }));
      if (random(12) === 0) await db.acknowledged({ kind: "flush" });
      const copy = await keepsake.openCopy(db);
      if (JSON.stringify(copy.content()) !== JSON.stringify(db.content())) lost++;
      copy.close();
    }
    db.close();
    return lost;
  }

  test("after random transactions", async () => {
    const worker = await startWorker();
    const lost = await worker.run(lostTransactions, {
      name: `random ${storage}`,
      storage,
      seed: 7,
      transactions: storage === "opfs" ? CRASH_IMAGES : Math.ceil(CRASH_IMAGES / 3),
      operations: 8,
      largest: 12_000,
    });
    expect(lost).toBe(0);
  }, 600_000);

  test("after transactions that SQLite's cache can't hold", async () => {
    const worker = await startWorker();
    const lost = await worker.run(lostTransactions, {
      name: `spilled ${storage}`,
      storage,
      seed: 11,
      transactions: Math.ceil(CRASH_IMAGES / 60),
      operations: 30,
      largest: 4_000_000,
    });
    expect(lost).toBe(0);
  }, 600_000);
});
