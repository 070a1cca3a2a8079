// Firefox and WebKitGTK, where they are installed: what they keep, where, and that tabs share it.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { storeContract } from "../contract/store.mjs";
import { partOf, tenthOf } from "../js/support/effort.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { serveFolder } from "./support/static-server.mjs";
import { buildPage, servePage } from "./support/test-page.mjs";
import { lacking, startFirefox, startWebKit } from "./support/webdriver.mjs";

const WRITES = 300;
const BECOMES_IDLE_MS = 500;
const UNTIL_AT_MOST_MS = 60_000;

// Nobody else hears the warnings of a worker.
const TELLING = `
{
  const { warn } = console;
  const channel = new BroadcastChannel("warnings");
  console.warn = (...values) => {
    channel.postMessage(values.join(" "));
    warn(...values);
  };
}
`;

let server;
let browser;
let tests = 0;
let name;

beforeAll(async () => {
  const folder = await buildPage("tab");
  const worker = readFileSync(join(folder, "worker.js"), "utf8");
  writeFileSync(join(folder, "telling.js"), TELLING + worker);
  server = await serveFolder(folder);
});

beforeEach(() => {
  name = `other ${++tests}`;
});

afterAll(cleanUp);

function describeBrowser(title, lacks, start, body) {
  if (lacks !== undefined) {
    console.warn(`${title} is not tested: ${lacks} is not installed`);
    describe.skip(`${title} (${lacks} is not installed)`, body);
    return;
  }
  describe(title, () => {
    beforeAll(async () => {
      browser = await start();
    });
    body();
  });
}

const openMemory = (tab, options) =>
  tab.evaluate((given) => globalThis.open(given), { name, ...options });

/** A tab that has the database open. */
async function openTab() {
  const tab = await browser.openTab(server.url);
  await openMemory(tab);
  return tab;
}

/** The owner, and a follower. */
async function openTwo() {
  const owner = await openTab();
  const follower = await openTab();
  expect(await diagnose(owner)).toMatchObject({ isOwner: true, transport: "direct" });
  expect(await diagnose(follower)).toMatchObject({ isOwner: false });
  return [owner, follower];
}

const put = (tab, key, n) =>
  tab.evaluate((k, v) => globalThis.memory.store.put(["n"], k, { n: v }), key, n);

const get = (tab, key) =>
  tab.evaluate(async (k) => (await globalThis.memory.store.get(["n"], k))?.value.n, key);

const diagnose = (tab) => tab.evaluate(() => globalThis.memory.diagnose());

async function until(condition) {
  const deadline = performance.now() + UNTIL_AT_MOST_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`never came true: ${condition}`);
    await sleep(50);
  }
}

/**
 * What every browser does; `home` is what it tells of where it stores, `leave` is done
 * before a page goes.
 */
function behavesWell(home, leave = async () => {}) {
  const part = partOf(0);

  const close = async (...tabs) => {
    for (const tab of tabs) {
      await leave(tab);
      await tab.close();
    }
  };

  test("keeps what was stored over a reload, and says where", async () => {
    const tab = await openTab();
    await put(tab, "a", 1);
    await leave(tab);
    await tab.reload();
    await openMemory(tab);
    expect(await get(tab, "a")).toBe(1);
    expect(await diagnose(tab)).toMatchObject(home);
    await close(tab);
  });

  test("two tabs share one database", async () => {
    const [owner, follower] = await openTwo();
    await put(owner, "a", 1);
    await put(follower, "b", 2);
    expect([await get(owner, "b"), await get(follower, "a")]).toEqual([2, 1]);
    await close(owner, follower);
  });

  test("a tab hears of what the other changes", async () => {
    const [owner, follower] = await openTwo();
    for (const [writes, listens] of [
      [owner, follower],
      [follower, owner],
    ]) {
      await listens.evaluate(() => {
        globalThis.heard = [];
        globalThis.memory.onChange((changes) => globalThis.heard.push(changes));
      });
      await put(writes, "a", 1);
      const heard = () => listens.evaluate(() => globalThis.heard);
      await until(async () => (await heard()).length > 0);
      expect((await heard()).flatMap(({ namespaces }) => namespaces)).toEqual([["n"]]);
    }
    await close(owner, follower);
  });

  test("a follower that is writing goes on when the owner's tab is closed", async () => {
    const [owner, follower] = await openTwo();
    await put(owner, "a", 1);
    const { epoch } = await diagnose(follower);
    await follower.evaluate((count) => {
      globalThis.written = 0;
      const write = async () => {
        for (let n = 0; n < count; n++) {
          await globalThis.memory.store.put(["written"], `k${n}`, { n });
          globalThis.written++;
        }
      };
      globalThis.writing = write();
    }, WRITES);
    await until(() => follower.evaluate(() => globalThis.written > 10));
    await close(owner);
    await follower.evaluate(() => globalThis.writing);
    const items = await follower.evaluate(async (limit) => {
      const found = await globalThis.memory.store.search(["written"], { limit });
      return found.map(({ value }) => value.n);
    }, WRITES);
    expect(items.toSorted((a, b) => a - b)).toEqual([...Array(WRITES).keys()]);
    expect(await get(follower, "a")).toBe(1);
    const after = await diagnose(follower);
    expect(after).toMatchObject({ ...home, isOwner: true });
    expect(after.epoch).toBeGreaterThan(epoch);
    await close(follower);
  });

  test("passes what the contract asks of a store that is opened again", async () => {
    const { url } = await servePage("suites");
    const tab = await browser.openTab(url);
    const result = await tab.evaluate(
      (...given) => globalThis.runContract(...given),
      home.persistence,
      { need: "persistence", part },
    );
    const { length } = tenthOf(
      storeContract.filter(({ needs }) => needs.includes("persistence")),
      part,
    );
    expect(result).toMatchObject({ passed: length, total: length, failures: [] });
    await close(tab);
  });

  test("an agent asks, the page is reloaded, and it goes on with the answer", async () => {
    const { url } = await servePage("agent");
    const tab = await browser.openTab(url);
    expect(await tab.evaluate(() => globalThis.ask("agent"))).toEqual(["what?"]);
    await leave(tab);
    await tab.reload();
    const log = await tab.evaluate(() => globalThis.answer("agent", "this"));
    expect(log).toEqual(["begun", "begun", "answered this", "remembered"]);
    await close(tab);
  });
}

describeBrowser("Firefox", lacking.firefox, startFirefox, () => {
  behavesWell({ persistence: "opfs" });

  // WebKitGTK does not always bring it about, and goes on over the channel.
  test("two tabs speak through a port", async () => {
    const [owner, follower] = await openTwo();
    await until(async () => (await diagnose(follower)).transport === "port");
    await put(follower, "b", 3);
    expect(await get(owner, "b")).toBe(3);
    for (const tab of [owner, follower]) await tab.close();
  });

  test("loses nothing when it is killed", async () => {
    const tab = await openTab();
    for (let n = 1; n <= 100; n++) await put(tab, "a", n);
    browser = await browser.killAndStartAgain();
    const next = await openTab();
    expect(await get(next, "a")).toBe(100);
    await next.close();
  });

  test("in a private window, where OPFS is refused: IndexedDB, and it says so", async () => {
    const windows = [];
    for (const key of ["a", "b"]) {
      const tab = await browser.openPrivateWindow(server.url);
      await tab.evaluate(() => {
        globalThis.warnings = [];
        const channel = new BroadcastChannel("warnings");
        channel.onmessage = ({ data }) => globalThis.warnings.push(data);
      });
      await openMemory(tab, { worker: "telling.js" });
      await put(tab, key, 1);
      windows.push(tab);
    }
    const [owner, follower] = windows;
    expect([await get(owner, "b"), await get(follower, "a")]).toEqual([1, 1]);
    const reason = expect.stringContaining("OPFS is not available: SecurityError");
    for (const tab of windows)
      expect(await diagnose(tab)).toMatchObject({
        persistence: "indexeddb",
        fallbackReason: reason,
      });
    const warnings = await owner.evaluate(() => globalThis.warnings);
    expect(warnings).toEqual([
      expect.stringContaining(`[keepsake] "${name}" is kept in IndexedDB`),
    ]);
    await owner.reload();
    await openMemory(owner);
    expect(await get(owner, "a")).toBe(1);
    for (const tab of windows) await tab.close();
  });
});

// Of OPFS it has only the directories, and of those none in a session that is driven. A worker
// that ends in a transaction of IndexedDB may keep it open for ever (2.50), so none does here.
describeBrowser("WebKitGTK", lacking.webkit, startWebKit, () => {
  const fallbackReason = expect.stringContaining("OPFS is not available: ");
  behavesWell({ persistence: "indexeddb", fallbackReason }, async (tab) => {
    await tab.evaluate(() => globalThis.memory?.close());
    await sleep(BECOMES_IDLE_MS);
  });
});
