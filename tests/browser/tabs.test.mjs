// Tabs of one profile share a database, whatever happens to any of them.

import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { times } from "../js/support/effort.mjs";
import { temporaryFile } from "../js/support/temporary.mjs";
import { elsewhere, leaveAndReturn, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { hastened } from "./support/hasty.mjs";
import { serveFolder } from "./support/static-server.mjs";
import { buildPage } from "./support/test-page.mjs";

const SIMULTANEOUS_OPENINGS = times(20);
const [, protocol] = readFileSync("js/src/browser/protocol.ts", "utf8").match(/PROTOCOL = (\d+);/);

let folder;
let server;
let browser;
let tests = 0;
let name;

beforeAll(async () => {
  folder = await buildPage("tab");
  copyChanged("hasty", hastened);
  server = await serveFolder(folder);
  browser = await startChromium({ bfcache: true });
});

/** The same page in a folder of its own, with programs that `change` makes of these. */
function copyChanged(path, change) {
  const copy = join(folder, path);
  mkdirSync(copy);
  for (const file of ["index.html", "keepsake.wasm"]) cpSync(join(folder, file), join(copy, file));
  for (const file of ["page.js", "worker.js"])
    writeFileSync(join(copy, file), change(readFileSync(join(folder, file), "utf8")));
}

beforeEach(() => {
  name = `tabs ${++tests}`;
});

afterEach(async () => {
  const [first, ...pages] = browser.context.pages();
  await Promise.all(pages.map((page) => page.close()));
  await first.goto("about:blank");
});

afterAll(cleanUp);

async function blankTab(path = "") {
  const page = await browser.context.newPage();
  await page.goto(server.url + path);
  return page;
}

/** From here on a page does not look at times whether a worker is silent: only what happens tells. */
const stopLooking = (page) =>
  page.evaluate(() => {
    globalThis.setInterval = () => 0;
  });

/** A tab that has the database open. */
async function openTab(options = {}, path = "") {
  const page = await blankTab(path);
  await page.evaluate((given) => globalThis.open(given), { name, ...options });
  return page;
}

const put = (page, key, n) =>
  page.evaluate(([k, v]) => globalThis.memory.store.put(["n"], k, { n: v }), [key, n]);

const get = (page, key) =>
  page.evaluate(async (k) => (await globalThis.memory.store.get(["n"], k))?.value.n, key);

const diagnose = (page) => page.evaluate(() => globalThis.memory.diagnose());

async function until(condition) {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Of tabs that have the database open, the one that owns it first. */
async function ownerFirst(...pages) {
  const isOwner = (await diagnose(pages[0])).isOwner;
  return isOwner ? pages : pages.toReversed();
}

async function openTwo(options) {
  return ownerFirst(await openTab(options), await openTab(options));
}

function openInNode(base64) {
  const path = temporaryFile();
  writeFileSync(path, Buffer.from(base64, "base64"));
  const database = new Database(path, { readonly: true });
  const integrity = database.pragma("integrity_check", { simple: true });
  const items = database.prepare("SELECT count(*) FROM store_kv").pluck().get();
  database.close();
  return { integrity, items };
}

/** What a tab is told that puts an item of this name by a store with this model. */
const putByModel = (page, model, replace) =>
  page.evaluate(
    ([of, model, replace]) => {
      const embeddings = async (texts) => texts.map(() => [1, 0]);
      const index = { dims: 2, embeddings, model, replace };
      const store = new globalThis.keepsake.SqliteStore({ name: of, index });
      return globalThis.attempt(() => store.put(["n"], model, { text: "tea" }));
    },
    [name, model, replace],
  );

test("an index that was refused is not that of the next owner", async () => {
  const [owner, other] = await openTwo();
  expect(await putByModel(owner, "one")).not.toHaveProperty("code");
  expect(await putByModel(other, "two", true)).toMatchObject({ code: "conflicting_options" });
  await owner.close();
  await until(async () => (await diagnose(other)).isOwner);
  const stats = await other.evaluate(() => globalThis.memory.store.stats());
  expect(stats).toMatchObject({ items: 1, vectors: 1, pending: 0 });
  expect(await putByModel(other, "one")).not.toHaveProperty("code");
});

describe("two tabs", () => {
  test("see what the other writes, and speak through a port", async () => {
    const [owner, follower] = await openTwo();
    await put(owner, "a", 1);
    await put(follower, "b", 2);
    expect(await get(owner, "b")).toBe(2);
    expect(await get(follower, "a")).toBe(1);
    await until(async () => (await diagnose(follower)).transport === "port");
    expect(await diagnose(owner)).toMatchObject({ isOwner: true, transport: "direct" });
    expect(await get(follower, "a")).toBe(1);
    await put(follower, "b", 3);
    expect(await get(owner, "b")).toBe(3);
  });

  test.each(["owner", "follower"])("hear of what the %s writes", async (writer) => {
    const [owner, follower] = await openTwo();
    const [writes, listens] = writer === "owner" ? [owner, follower] : [follower, owner];
    await listens.evaluate(() => {
      globalThis.heard = [];
      globalThis.memory.onChange((changes) => globalThis.heard.push(changes));
    });
    await writes.evaluate(async () => {
      const { store, checkpointer } = globalThis.memory;
      await store.put(["users", "ada"], "k", { n: 1 });
      await checkpointer.deleteThread("thread");
    });
    const heard = () => listens.evaluate(() => globalThis.heard);
    await until(async () => (await heard()).some(({ threads }) => threads.includes("thread")));
    expect((await heard()).flatMap(({ namespaces }) => namespaces)).toEqual([["users", "ada"]]);
  });

  test("may both open a database that is not there yet", async () => {
    const [one, other] = [await blankTab(), await blankTab()];
    for (let i = 0; i < SIMULTANEOUS_OPENINGS; i++) {
      const options = { name: `${name} ${i}` };
      const openAndPut = (page, key) =>
        page.evaluate(
          async ([given, k]) => {
            await globalThis.open(given);
            await globalThis.memory.store.put(["n"], k, { n: 1 });
          },
          [options, key],
        );
      await Promise.all([openAndPut(one, "one"), openAndPut(other, "other")]);
      expect([await get(one, "other"), await get(other, "one")]).toEqual([1, 1]);
      const [a, b] = [await diagnose(one), await diagnose(other)];
      expect([a.persistence, b.persistence]).toEqual(["opfs", "opfs"]);
      expect(a.isOwner).not.toBe(b.isOwner);
      for (const page of [one, other]) await page.evaluate(() => globalThis.memory.close());
    }
  });
});

describe("export and import", () => {
  test("one tab exports while another writes", async () => {
    const [owner, follower] = await openTwo();
    await put(owner, "first", 1);
    const writing = owner.evaluate(async () => {
      globalThis.isWriting = true;
      let n = 0;
      while (globalThis.isWriting) await globalThis.memory.store.put(["n"], `k${n++}`, { n });
    });
    const exported = await follower.evaluate(async () =>
      globalThis.base64(await globalThis.memory.export()),
    );
    await owner.evaluate(() => {
      globalThis.isWriting = false;
    });
    await writing;
    const { integrity, items } = openInNode(exported);
    expect(integrity).toBe("ok");
    expect(items).toBeGreaterThanOrEqual(1);
  });

  test.each(["owner", "follower"])("the %s imports, and every tab has it", async (importer) => {
    const [owner, follower] = await openTwo();
    const page = importer === "owner" ? owner : follower;
    const progress = await page.evaluate(async () => {
      const { memory } = globalThis;
      const text = "x".repeat(1_000);
      const items = Array.from({ length: 1_000 }, (_, i) => ({
        namespace: ["n"],
        key: `old${i}`,
        value: { n: i, text },
      }));
      await memory.store.batch(items);
      const bytes = await memory.export();
      await memory.store.put(["n"], "new", { n: 1 });
      const heard = [];
      await memory.import(new Blob([bytes]), { onProgress: (event) => heard.push(event) });
      return { heard, size: bytes.length };
    });
    const { heard, size } = progress;
    expect(heard.length).toBeGreaterThan(1);
    expect(heard.at(-1)).toEqual({ done: size, total: size });
    const steps = heard.map(({ done }) => done);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    for (const tab of [owner, follower]) {
      expect([await get(tab, "old999"), await get(tab, "new")]).toEqual([999, undefined]);
    }
  });

  test("an export that is cancelled lets the next one begin", async () => {
    const [owner, follower] = await openTwo();
    await put(owner, "a", 1);
    await follower.evaluate(async () => {
      const reader = globalThis.memory.exportStream().getReader();
      await reader.read();
      await reader.cancel();
    });
    const exported = await owner.evaluate(async () =>
      globalThis.base64(await globalThis.memory.export()),
    );
    expect(openInNode(exported)).toEqual({ integrity: "ok", items: 1 });
  });

  test("a file that is being imported follows the database to its next owner", async () => {
    const owner = await openTab();
    await put(owner, "a", 1);
    const follower = await blankTab();
    await follower.evaluate(
      async (given) => {
        // Holds back what makes the owner read the file that was lent to it.
        globalThis.held = [];
        const worker = () => {
          const started = new Worker("worker.js", { type: "module" });
          const send = started.postMessage.bind(started);
          started.postMessage = (message, transfer) => {
            if (globalThis.isHolding && message.type === "job") globalThis.held.push(message);
            else send(message, transfer);
          };
          globalThis.letGo = () => {
            globalThis.isHolding = false;
            for (const message of globalThis.held) send(message);
          };
          return started;
        };
        await globalThis.open({ ...given, worker });
        const bytes = await globalThis.memory.export();
        await globalThis.memory.store.delete(["n"], "a");
        globalThis.isHolding = true;
        globalThis.importing = globalThis.memory.import(bytes);
      },
      { name },
    );
    await until(() => follower.evaluate(() => globalThis.held.length > 0));
    await follower.evaluate((channelName) => {
      globalThis.isBegun = false;
      new BroadcastChannel(channelName).onmessage = ({ data }) => {
        globalThis.isBegun ||= data.type === "owner";
      };
    }, `keepsake:${name}`);
    await owner.close();
    // What was sent to an owner that is gone is not imported again.
    await until(() => follower.evaluate(() => globalThis.isBegun));
    await follower.evaluate(() => globalThis.letGo());
    await follower.evaluate(() => globalThis.importing);
    expect(await get(follower, "a")).toBe(1);
  });
});

describe("a request that is sent twice", () => {
  test.each(["owner", "follower"])("by the %s is applied once", async (sender) => {
    const other = sender === "follower" ? await openTab() : undefined;
    const page = await blankTab();
    const answers = await page.evaluate(
      async (given) => {
        const counts = new Map();
        const worker = () => {
          const started = new Worker("worker.js", { type: "module" });
          const send = started.postMessage.bind(started);
          started.postMessage = (message, transfer) => {
            send(message, transfer);
            if (message.type === "job") send(message);
          };
          started.addEventListener("message", ({ data: { type, id, result } }) => {
            if (type !== "done" || !result.response) return;
            counts.set(id, [...(counts.get(id) ?? []), [...result.response].join(" ")]);
          });
          return started;
        };
        await globalThis.open({ ...given, worker });
        const { store } = globalThis.memory;
        await store.put(["n"], "a", { n: 1 });
        // Applied again, it would find nothing and answer 0.
        const cleared = await store.clearNamespace(["n"]);
        await store.get(["n"], "a");
        return { cleared, answers: [...counts.values()].filter((of) => of.length > 1) };
      },
      { name },
    );
    await other?.close();
    expect(answers.cleared).toBe(1);
    expect(answers.answers.length).toBeGreaterThanOrEqual(2);
    for (const [first, second] of answers.answers) expect(second).toBe(first);
  });
});

describe("an owner that goes", () => {
  test("by losing its lock: both tabs go on", async () => {
    const [owner, follower] = await openTwo();
    await put(owner, "a", 1);
    const { epoch } = await diagnose(owner);
    const thief = await blankTab();
    await thief.evaluate(async (lock) => {
      await navigator.locks.request(lock, { steal: true }, async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
      });
    }, `keepsake:${name}`);
    await Promise.all([put(owner, "b", 2), put(follower, "c", 3)]);
    expect(await get(owner, "c")).toBe(3);
    expect(await get(follower, "b")).toBe(2);
    expect((await diagnose(follower)).epoch).toBeGreaterThan(epoch);
  });

  test("by losing its lock again and again, under way: every call settles", async () => {
    const [owner, follower] = await openTwo();
    const thief = await blankTab();
    const write = (page, who) =>
      page.evaluate(async (key) => {
        for (let n = 1; n <= 500; n++) await globalThis.memory.store.put(["n"], key, { n });
      }, who);
    const steal = async () => {
      // Often in the middle of an opening, which must not be in the way of the next.
      for (let i = 0; i < 40; i++) {
        await thief.evaluate(
          (lock) => navigator.locks.request(lock, { steal: true }, () => {}),
          `keepsake:${name}`,
        );
        await new Promise((resolve) => setTimeout(resolve, (i % 5) * 20));
      }
    };
    await Promise.all([write(owner, "one"), write(follower, "other"), steal()]);
    expect([await get(follower, "one"), await get(owner, "other")]).toEqual([500, 500]);
  });

  test("by being frozen: the other goes on", async () => {
    const [owner, follower] = await openTwo();
    const session = await browser.context.newCDPSession(owner);
    await session.send("Page.setWebLifecycleState", { state: "frozen" });
    await put(follower, "a", 1);
    expect(await get(follower, "a")).toBe(1);
    await session.send("Page.setWebLifecycleState", { state: "active" });
    expect(await get(owner, "a")).toBe(1);
  });

  test("into the back/forward cache: the other goes on, and it comes back", async () => {
    const [owner, follower] = await openTwo();
    const away = elsewhere(server.url);
    expect(await leaveAndReturn(owner, away, () => put(follower, "a", 1))).toBe(true);
    expect(await get(owner, "a")).toBe(1);
  });

  test("and hangs: it is robbed", async () => {
    const fake = await blankTab();
    await fake.evaluate(
      (lock) =>
        new Promise((held) => {
          navigator.locks.request(lock, () => {
            held();
            return new Promise(() => {});
          });
        }),
      `keepsake:${name}`,
    );
    const page = await openTab({}, "hasty/");
    await put(page, "a", 1);
    expect(await get(page, "a")).toBe(1);
  });
});

describe("a page", () => {
  test("that comes out of the back/forward cache has its calls answered", async () => {
    const page = await openTab();
    await page.evaluate(() => {
      const { store } = globalThis.memory;
      globalThis.heard = [];
      globalThis.memory.onChange((changes) => globalThis.heard.push(changes));
      const calls = [];
      const write = (key, n) => calls.push(store.put(["n"], key, { n }));
      addEventListener("pagehide", () => {
        for (let n = 1; n <= 20; n++) write("hidden", n);
        globalThis.calls = calls;
      });
    });
    expect(await leaveAndReturn(page, elsewhere(server.url))).toBe(true);
    await page.evaluate(() => Promise.all(globalThis.calls));
    expect(await get(page, "hidden")).toBe(20);
    // What others did meanwhile, it could not hear.
    const heard = await page.evaluate(() => globalThis.heard);
    expect(heard).toContainEqual({ namespaces: [], threads: [], everything: true });
  });

  describe("whose worker is ended by something else", () => {
    /** A tab that has the handle of its newest worker. */
    async function openWithHandle(options) {
      const page = await blankTab();
      await page.evaluate(() => {
        globalThis.Worker = class extends Worker {
          constructor(...args) {
            super(...args);
            globalThis.newest = this;
          }
        };
      });
      await page.evaluate((given) => globalThis.open(given), { name, ...options });
      return page;
    }

    test("has its calls answered, by the next one", async () => {
      const page = await openWithHandle();
      await put(page, "before", 1);
      const answered = await page.evaluate(async () => {
        const { store } = globalThis.memory;
        const keys = Array.from({ length: 20 }, (_, i) => `k${i}`);
        const calls = keys.map((key, n) => store.put(["n"], key, { n }));
        globalThis.newest.terminate();
        await Promise.all(calls);
        return keys.length;
      });
      expect(answered).toBe(20);
      expect(await get(page, "before")).toBe(1);
      expect(await get(page, "k19")).toBe(19);
    });

    test.each([
      ["as soon as it has started", "started"],
      ["at what it is asked", "job"],
    ])("is told so if each ends before it answers, %s", async (_, moment) => {
      const page = await openWithHandle();
      const code = await page.evaluate(async (type) => {
        const { Worker } = globalThis;
        globalThis.newest.terminate();
        globalThis.Worker = class extends Worker {
          // One that is ended before it has started is missed much later, by another error.
          #starting = Promise.withResolvers();

          async postMessage(message, transfer) {
            if (message.type === type) {
              await this.#starting.promise;
              setTimeout(() => this.terminate(), 200);
            } else super.postMessage(message, transfer);
          }

          set onmessage(listener) {
            super.onmessage = (event) => {
              listener(event);
              if (event.data.type === type) this.terminate();
              if (event.data.type === "started") this.#starting.resolve();
            };
          }
        };
        const result = globalThis.memory.store.get(["n"], "a").catch((error) => error.code);
        await result;
        globalThis.Worker = Worker;
        return result;
      }, moment);
      expect(code).toBe("internal");
      expect(await get(page, "a")).toBeUndefined();
    });

    test("has its calls answered by an error if none takes its place", async () => {
      const page = await openWithHandle();
      const code = await page.evaluate(async () => {
        const { Worker } = globalThis;
        globalThis.Worker = class {
          constructor() {
            throw new Error("no more workers");
          }
        };
        globalThis.newest.terminate();
        const result = globalThis.memory.store.get(["n"], "a").catch((error) => error.code);
        await result;
        globalThis.Worker = Worker;
        return result;
      });
      expect(code).toBe("cannot_open");
      expect(await get(page, "a")).toBeUndefined();
    });
  });

  test("that closes its memory on the way into the cache has its calls answered", async () => {
    const page = await openTab();
    await page.evaluate(() => {
      addEventListener("pagehide", () => {
        globalThis.call = globalThis.memory.store.put(["n"], "last", { n: 1 });
        globalThis.closing = globalThis.memory.close();
      });
    });
    expect(await leaveAndReturn(page, elsewhere(server.url))).toBe(true);
    await page.evaluate(() => Promise.all([globalThis.call, globalThis.closing]));
    await page.evaluate((given) => globalThis.open(given), { name });
    expect(await get(page, "last")).toBe(1);
  });

  test.each(["owner", "follower"])("that is the %s closes after its calls", async (closes) => {
    const [owner, follower] = await openTwo();
    const [page, other] = closes === "owner" ? [owner, follower] : [follower, owner];
    await page.evaluate(async () => {
      const { store } = globalThis.memory;
      const calls = Array.from({ length: 50 }, (_, i) => store.put(["n"], `k${i}`, { n: i }));
      await globalThis.memory.close();
      await Promise.all(calls);
    });
    expect(await get(other, "k49")).toBe(49);
    await page.evaluate((given) => globalThis.open(given), { name });
    expect(await get(page, "k0")).toBe(0);
  });

  test("has let go of the files when it is closed", async () => {
    const page = await openTab();
    await put(page, "a", 1);
    const prefix = name.replaceAll(" ", "%20");
    const held = (closesBefore) =>
      page.evaluate(
        async ([prefix, closesBefore]) => {
          if (closesBefore) await globalThis.memory.close();
          const root = await navigator.storage.getDirectory();
          const folder = await root.getDirectoryHandle("keepsake");
          let count = 0;
          for await (const file of folder.values()) {
            if (!file.name.startsWith(prefix)) continue;
            await file.createWritable().then(
              (writable) => writable.abort(),
              () => count++,
            );
          }
          return count;
        },
        [prefix, closesBefore],
      );
    // After the first put the reserve is a fourth for a moment.
    await until(async () => (await held(false)) === 3);
    expect(await held(true)).toBe(0);
  });
});

test("a worker that ends as soon as it has started is replaced at once", async () => {
  const page = await blankTab();
  await stopLooking(page);
  const ended = await page.evaluate(async (name) => {
    let ended = 0;
    const worker = () => {
      const made = new Worker("worker.js", { type: "module" });
      const end = () => {
        ended++;
        made.terminate();
      };
      if (ended === 0) made.addEventListener("message", () => setTimeout(end, 20), { once: true });
      return made;
    };
    await globalThis.open({ name, worker });
    await globalThis.memory.store.put(["n"], "a", { n: 1 });
    return ended;
  }, name);
  expect(ended).toBe(1);
});

describe("the worker of a database that was closed", () => {
  const close = (page) => page.evaluate(() => globalThis.memory.close());

  test("opens the next one, of which it says nothing else", async () => {
    const page = await openTab();
    const [worker] = page.workers();
    // Changes are gathered for so long that the next one is open before they are told.
    await worker.evaluate(() => {
      const later = globalThis.setTimeout;
      globalThis.setTimeout = (body, ms) => later(body, ms < 50 ? 150 : ms);
    });
    const heard = await page.evaluate(async (next) => {
      await globalThis.memory.store.put(["n"], "of the last", { n: 1 });
      await globalThis.memory.close();
      await globalThis.open({ name: next });
      let changes = 0;
      globalThis.memory.onChange(() => changes++);
      await new Promise((resolve) => setTimeout(resolve, 200));
      return changes;
    }, `${name}, next`);
    await put(page, "of the next", 2);
    expect(heard).toBe(0);
    expect(page.workers()).toEqual([worker]);
    expect([await get(page, "of the last"), await get(page, "of the next")]).toEqual([
      undefined,
      2,
    ]);
    await close(page);
    await page.evaluate((given) => globalThis.open(given), { name });
    expect(await get(page, "of the last")).toBe(1);
    expect(page.workers()).toEqual([worker]);
    const locks = await page.evaluate(async () => (await navigator.locks.query()).held.length);
    // The database's and the worker's.
    expect(locks).toBe(2);
  });

  test("is found to be dead by the next one", async () => {
    const page = await openTab();
    await put(page, "a", 1);
    await close(page);
    await page.workers()[0].evaluate(() => {
      setTimeout(() => {
        for (;;);
      }, 10);
    });
    await page.waitForTimeout(200);
    await stopLooking(page);
    await page.evaluate((given) => globalThis.open(given), { name });
    expect(await get(page, "a")).toBe(1);
  });

  test.each([
    ["at once", 0],
    ["a while ago", 500],
  ])("is not asked for the next one if somebody ended it %s", async (_, pause) => {
    const page = await blankTab();
    await stopLooking(page);
    const workers = await page.evaluate(
      async ([name, pause]) => {
        const started = [];
        const worker = () => {
          started.push(new Worker("worker.js", { type: "module" }));
          return started.at(-1);
        };
        await globalThis.open({ name, worker });
        await globalThis.memory.close();
        await globalThis.open({ name, worker });
        await globalThis.memory.close();
        started[0].terminate();
        await new Promise((resolve) => setTimeout(resolve, pause));
        await globalThis.open({ name, worker });
        return started.length;
      },
      [name, pause],
    );
    expect(workers).toBe(2);
  });

  test("is no spare if it was still opening the database, and lets go of it", async () => {
    const [owner, follower] = await openTwo();
    await put(owner, "a", 1);
    await browser.context.route("**/keepsake.wasm", () => {});
    await owner.close();
    const lock = `keepsake:${name}`;
    const held = () =>
      follower.evaluate(async () => (await navigator.locks.query()).held.map((one) => one.name));
    await until(async () => (await held()).includes(lock));
    await close(follower);
    await until(() => follower.workers().length === 0);
    await until(async () => (await held()).length === 0);
    await browser.context.unroute("**/keepsake.wasm");
    await follower.evaluate((given) => globalThis.open(given), { name });
    expect(await get(follower, "a")).toBe(1);
  });

  test("ends when its page is left, which comes back without it", async () => {
    const page = await openTab();
    await put(page, "a", 1);
    await close(page);
    expect(await leaveAndReturn(page, elsewhere(server.url))).toBe(true);
    const { held } = await page.evaluate(() => navigator.locks.query());
    expect(held).toEqual([]);
    await page.evaluate((given) => globalThis.open(given), { name });
    expect(await get(page, "a")).toBe(1);
  });

  test("ends if there is no next one", async () => {
    const page = await openTab({}, "hasty/");
    await close(page);
    expect(page.workers()).toHaveLength(1);
    await until(() => page.workers().length === 0);
  });
});

describe("an epoch", () => {
  test("is later than every other that a tab has heard of, whatever the clock says", async () => {
    const owner = await openTab();
    const tab = await blankTab();
    const epoch = Number.MAX_SAFE_INTEGER - 1_000;
    const heard = await tab.evaluate(
      ([channelName, known, spoken]) =>
        new Promise((resolve) => {
          const channel = new BroadcastChannel(channelName);
          channel.onmessage = ({ data }) => {
            if (data.type === "owner" && data.owner.epoch > known) resolve(true);
          };
          channel.postMessage({ type: "who", epoch: known, protocol: spoken, from: "another hub" });
        }),
      [`keepsake:${name}`, epoch, Number(protocol)],
    );
    expect(heard).toBe(true);
    await put(owner, "a", 1);
    expect((await diagnose(owner)).epoch).toBe(epoch + 1);
    const follower = await openTab();
    expect(await get(follower, "a")).toBe(1);
  });
});

describe("two versions of the package", () => {
  beforeAll(() => {
    copyChanged("newer", (program) => {
      const changed = program.replace(
        /\bPROTOCOL = \d+;/,
        `PROTOCOL = ${Number.MAX_SAFE_INTEGER};`,
      );
      if (changed === program) throw new Error("the program names no protocol");
      return changed;
    });
  });

  test("the newer goes on with the data, the older says what to do", async () => {
    const older = await openTab();
    await put(older, "a", 1);
    const newer = await blankTab("newer/");
    await newer.evaluate((given) => globalThis.open(given), { name });
    expect(await get(newer, "a")).toBe(1);
    const tryToPut = (page) =>
      page.evaluate(() =>
        globalThis.attempt(() => globalThis.memory.store.put(["n"], "a", { n: 2 })),
      );
    expect(await tryToPut(older)).toMatchObject({
      code: "newer_version",
      message: expect.stringContaining("reload this page"),
    });
    const late = await blankTab();
    const opened = await late.evaluate(
      (given) => globalThis.attempt(() => globalThis.open(given)),
      { name },
    );
    expect(opened.code).toBe("newer_version");
    expect(await get(newer, "a")).toBe(1);
  });
});

describe("files that are not where they should be", () => {
  const tryToOpen = (page, options) =>
    page.evaluate((given) => globalThis.attempt(() => globalThis.open(given)), {
      name,
      ...options,
    });

  test("no worker", async () => {
    const page = await blankTab();
    expect(await tryToOpen(page, { worker: "missing.js" })).toMatchObject({
      code: "cannot_open",
      message: expect.stringContaining("cannot load worker.js"),
    });
  });

  test("no wasm", async () => {
    const page = await blankTab();
    expect(await tryToOpen(page, { wasmUrl: "missing.wasm" })).toMatchObject({
      code: "cannot_open",
      message: expect.stringMatching(/cannot load keepsake\.wasm: .*missing\.wasm: .*404/),
    });
    // It was not the database's fault.
    expect(await tryToOpen(page, {})).toEqual({ value: "opfs" });
  });

  test("a page of HTML instead of them", async () => {
    const html = await serveFolder(folder, { fallback: "index.html" });
    const page = await browser.context.newPage();
    await page.goto(html.url);
    expect(await tryToOpen(page, { worker: "missing.js" })).toMatchObject({
      code: "cannot_open",
      message: expect.stringContaining("cannot load worker.js"),
    });
    expect(await tryToOpen(page, { wasmUrl: "missing.wasm" })).toMatchObject({
      code: "cannot_open",
      message: expect.stringContaining("got HTML"),
    });
  });
});
