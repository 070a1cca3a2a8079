// Encryption at rest in a real Chromium, in OPFS and IndexedDB: what is in the files, whose tabs
// may come in, and a key that is changed by any of them.

import { startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { servePage } from "./support/test-page.mjs";

const MARKER = "the-marker-that-nobody-may-read";
const KEY = Array(32).fill(7);

let server;
let browser;
let tests = 0;
let name;

beforeAll(async () => {
  server = await servePage("tab");
  browser = await startChromium();
});

beforeEach(() => {
  name = `sealed ${++tests}`;
});

afterEach(async () => {
  const [first, ...pages] = browser.context.pages();
  await Promise.all(pages.map((page) => page.close()));
  await first.goto("about:blank");
});

afterAll(cleanUp);

/** A tab in which this was tried: a list of numbers is a key of bytes. */
async function openTab(options) {
  const page = await browser.context.newPage();
  await page.goto(server.url);
  const outcome = await page.evaluate(
    ({ key, ...given }) =>
      attempt(() => open({ ...given, key: Array.isArray(key) ? Uint8Array.from(key) : key })),
    { name, ...options },
  );
  return Object.assign(page, { outcome });
}

const put = (page, key, text) =>
  page.evaluate(([k, t]) => attempt(() => memory.store.put(["n"], k, { text: t })), [key, text]);
const get = (page, key) =>
  page.evaluate(async (k) => (await memory.store.get(["n"], k))?.value.text, key);
const close = (page) => page.evaluate(() => memory.close());

/** Whether any file or block of this origin holds the text. */
const holds = (page, text) =>
  page.evaluate(async (wanted) => {
    const blobs = [];
    const root = await navigator.storage.getDirectory();
    for await (const folder of root.values()) {
      if (folder.kind !== "directory") continue;
      for await (const file of folder.values()) blobs.push(await file.getFile());
    }
    for (const { name: database } of await indexedDB.databases()) {
      const opened = await new Promise((resolve) => {
        indexedDB.open(database).onsuccess = ({ target }) => resolve(target.result);
      });
      for (const store of opened.objectStoreNames) {
        const request = opened.transaction(store).objectStore(store).getAll();
        await new Promise((resolve) => {
          request.onsuccess = resolve;
        });
        for (const value of request.result)
          if (value instanceof Uint8Array) blobs.push(new Blob([value]));
      }
      opened.close();
    }
    let bytes = 0;
    for (const blob of blobs) {
      bytes += blob.size;
      const text = new TextDecoder("latin1").decode(await blob.arrayBuffer());
      if (text.includes(wanted)) return { bytes, found: true };
    }
    return { bytes, found: false };
  }, text);

describe.each(["opfs", "indexeddb"])("in %s", (storage) => {
  test("nothing is readable in storage, and the key opens it again", async () => {
    const tab = await openTab({ storage, key: KEY });
    expect(tab.outcome).toEqual({ value: storage });
    for (let i = 0; i < 30; i++) await put(tab, `k${i}`, `${MARKER} ${i}`);
    await close(tab);
    const { bytes, found } = await holds(tab, MARKER);
    expect(bytes).toBeGreaterThan(50_000);
    expect(found).toBe(false);
    expect(await holds(tab, "Keepsake sealed")).toMatchObject({ found: true });
    const again = await openTab({ storage, key: KEY });
    expect(await get(again, "k29")).toBe(`${MARKER} 29`);
  });

  test("another key and none are refused, and set nothing aside", async () => {
    const tab = await openTab({ storage, key: KEY });
    await put(tab, "k", "here");
    await close(tab);
    const wrong = await openTab({ storage, key: "a passphrase" });
    expect(wrong.outcome).toMatchObject({ code: "wrong_key" });
    const none = await openTab({ storage });
    expect(none.outcome).toMatchObject({ code: "key_required" });
    const right = await openTab({ storage, key: KEY });
    expect(await get(right, "k")).toBe("here");
  });

  test("a tab with another key is refused by the owner, one with the key is not", async () => {
    const owner = await openTab({ storage, key: "a passphrase" });
    await put(owner, "k", "here");
    const follower = await openTab({ storage, key: "a passphrase" });
    expect(follower.outcome).toEqual({ value: storage });
    expect(await get(follower, "k")).toBe("here");
    const diagnosis = await follower.evaluate(async () => JSON.stringify(await memory.diagnose()));
    expect(diagnosis).not.toContain("a passphrase");
    for (const key of ["another passphrase", KEY]) {
      const wrong = await openTab({ storage, key });
      expect(wrong.outcome).toMatchObject({ code: "wrong_key" });
      expect(wrong.outcome.message).not.toContain("passphrase");
    }
    const none = await openTab({ storage });
    expect(none.outcome).toMatchObject({ code: "key_required" });
    await owner.close();
    await put(follower, "l", "after");
    expect(await get(follower, "l")).toBe("after");
  });

  test.each(["owner", "follower"])("the %s changes the key, and everyone goes on", async (who) => {
    const owner = await openTab({ storage, key: KEY });
    const follower = await openTab({ storage, key: KEY });
    const changes = who === "owner" ? owner : follower;
    const outcome = await changes.evaluate(() => attempt(() => memory.changeKey("the new one")));
    expect(outcome).toEqual({});
    await put(follower, "k", "by the follower");
    expect(await get(owner, "k")).toBe("by the follower");
    const wrong = await openTab({ storage, key: KEY });
    expect(wrong.outcome).toMatchObject({ code: "wrong_key" });
    const right = await openTab({ storage, key: "the new one" });
    expect(await get(right, "k")).toBe("by the follower");
    // Whoever changed it may own the database next.
    const others = who === "owner" ? [follower, right] : [owner, right];
    for (const page of others) await page.close();
    expect(await get(changes, "k")).toBe("by the follower");
  });

  test("a plain database does not take a key", async () => {
    const tab = await openTab({ storage });
    await put(tab, "k", "here");
    const wrong = await openTab({ storage, key: KEY });
    expect(wrong.outcome).toMatchObject({ code: "wrong_key" });
    await close(tab);
    await tab.close();
    const again = await openTab({ storage, key: KEY });
    expect(again.outcome).toMatchObject({ code: "wrong_key" });
  });
});
