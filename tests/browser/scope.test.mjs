// Scopes in Chromium: in the tab that owns the database, and in one that follows.

import { audited } from "../js/support/auditing.mjs";
import { times } from "../js/support/effort.mjs";
import { forgotten, SECRET } from "../js/support/forgetting.mjs";
import { portionsOf } from "../js/support/isolation.mjs";
import { startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { serveSource } from "./support/test-page.mjs";

let server;
let browser;

beforeAll(async () => {
  server = await serveSource(`
    import { openMemory } from "keepsake";
    import { fill, forgetAda, index } from "./tests/js/support/forgetting.mjs";
    import { auditOf } from "./tests/js/support/auditing.mjs";
    import { differenceOf, optionsOf } from "./tests/js/support/isolation.mjs";
    const now = () => 1_800_000_000_000;
    globalThis.fill = () => fill(globalThis.memory).then(() => null);
    globalThis.auditOf = () => auditOf(globalThis.memory);
    globalThis.forgetAda = () => forgetAda(globalThis.memory);
    globalThis.open = async (name, options) => {
      const more = { ...(options?.isIndexed && { index }), ...(!options?.isTimed && { now }) };
      globalThis.memory = await openMemory({ name, storage: options?.storage, ...more });
      return (await globalThis.memory.diagnose()).owner ?? null;
    };
    globalThis.openIsolated = async (name, seed) => {
      globalThis.memory = await openMemory({ name: \`\${name} \${seed}\`, ...optionsOf(seed) });
      return (await globalThis.memory.diagnose()).owner ?? null;
    };
    globalThis.difference = (portion) => differenceOf(globalThis.memory, openMemory, portion);
    globalThis.codeOf = (body) => body(globalThis.memory).then(() => "", ({ code, message }) => code + " " + message);
  `);
  browser = await startChromium();
});

afterAll(cleanUp);

async function openTab(...options) {
  const page = await browser.context.newPage();
  await page.goto(server.url);
  await page.evaluate((given) => globalThis.open(...given), options);
  return page;
}

/** Whether a file of OPFS or a block of IndexedDB holds the text. */
const originHolds = (page, text) =>
  page.evaluate(async (wanted) => {
    const isIn = (bytes) => new TextDecoder("latin1").decode(bytes).includes(wanted);
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle("keepsake", { create: true });
    for await (const handle of folder.values()) {
      if (isIn(await (await handle.getFile()).arrayBuffer())) return true;
    }
    const settled = (request) =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = reject;
      });
    for (const { name } of await indexedDB.databases()) {
      const database = await settled(indexedDB.open(name));
      for (const store of database.objectStoreNames) {
        const rows = await settled(database.transaction(store).objectStore(store).getAll());
        if (rows.some((row) => ArrayBuffer.isView(row) && isIn(row))) return true;
      }
      database.close();
    }
    return false;
  }, text);

const closeIn = (page) => page.evaluate(() => globalThis.memory.close());

test.each(["opfs", "indexeddb"])(
  "what is forgotten is in no byte that a page can read in %s",
  async (storage) => {
    const name = `forget-${storage}`;
    const owner = await openTab(name, { storage, isIndexed: true });
    const follower = await openTab(name, { storage, isIndexed: true });
    await owner.evaluate(() => globalThis.fill());
    await closeIn(follower);
    await closeIn(owner);
    expect(await originHolds(owner, SECRET)).toBe(true);
    await owner.evaluate(
      (given) => globalThis.open(...given),
      [name, { storage, isIndexed: true }],
    );
    await owner.evaluate(() => globalThis.memory.forget({ namespaces: [[]], threads: "all" }));
    await follower.evaluate(
      (given) => globalThis.open(...given),
      [name, { storage, isIndexed: true }],
    );
    const outcome = await follower.evaluate(() => globalThis.forgetAda());
    expect(outcome).toMatchObject({
      // What files the browser keeps for IndexedDB, it alone can clear.
      ...forgotten({ scrubbed: storage === "opfs" ? "pages" : "host" }),
      erased: { items: 30, vectors: 30, threads: 1 },
    });
    await closeIn(follower);
    await closeIn(owner);
    expect(await originHolds(owner, SECRET)).toBe(false);
  },
);

test.each(["owner", "follower"])(
  "scopes are as memories of their own, in the %s",
  async (who) => {
    for (const portion of portionsOf(times(1200))) {
      const tabs = {};
      for (const one of ["owner", "follower"]) {
        tabs[one] = await browser.context.newPage();
        await tabs[one].goto(server.url);
        const place = [`isolation of the ${who}`, portion.seed];
        await tabs[one].evaluate((given) => globalThis.openIsolated(...given), place);
      }
      expect(await tabs[who].evaluate((given) => globalThis.difference(given), portion)).toBe("");
      for (const page of Object.values(tabs)) await page.close();
    }
  },
  3_600_000,
);

test("a follower's writes and refusals are in the owner's audit log", async () => {
  const owner = await openTab("audit", { isTimed: true });
  const follower = await openTab("audit", { isTimed: true });
  expect(await follower.evaluate(() => globalThis.auditOf())).toEqual(audited);
  await owner.evaluate(() => globalThis.memory.keepAudit());
  await follower.evaluate(() =>
    globalThis.memory.scoped({ user: "ada", actor: "agent" }).store.put(["n"], "k", { n: 1 }),
  );
  const log = await owner.evaluate(() => globalThis.memory.auditLog());
  expect(log.map(({ scope, actor }) => [scope, actor])).toEqual([["user/ada", "agent"]]);
});

test("a policy holds in a follower", async () => {
  await openTab("policy");
  const follower = await openTab("policy");
  const told = await follower.evaluate(() =>
    Promise.all([
      globalThis.codeOf((memory) =>
        memory.scoped({ user: "ada", policy: { readOnly: true } }).store.put(["n"], "k", {}),
      ),
      globalThis.codeOf((memory) =>
        memory
          .scoped({ user: "ada", policy: { maxValueBytes: 5 } })
          .store.put(["n"], "k", { n: 1 }),
      ),
      globalThis.codeOf((memory) => memory.scoped({ user: "ada" }).store.stats()),
    ]),
  );
  expect(told).toEqual([
    expect.stringMatching(/^access_denied .*read only/),
    expect.stringMatching(/^quota_exceeded .*Value size 7 exceeds max 5/),
    expect.stringMatching(/^access_denied .*whole memory/),
  ]);
});
