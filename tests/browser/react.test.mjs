// The hooks of keepsake/react, rendered by React in a page.

import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { servePage } from "./support/test-page.mjs";

let browser;
let url;
let page;
let errors;

beforeAll(async () => {
  ({ url } = await servePage("react"));
  browser = await startChromium();
  ({ page, errors } = await open());
  await page.evaluate(async () => {
    const { store } = globalThis.memory;
    await store.put(["notes"], "drink", { text: "green tea", kind: "fact" });
    await store.put(["notes"], "place", { text: "the pier" });
    await store.put(["other"], "cat", { text: "a cat" });
  });
});

afterAll(cleanUp);
afterEach(() => expect(errors).toEqual([]));

async function open() {
  const tab = await openTab(browser, `${url}?name=react`);
  tab.page.setDefaultTimeout(20_000);
  await tab.page.waitForFunction(() => globalThis.ready);
  return tab;
}

const show = (properties = {}) => page.evaluate((given) => globalThis.show(given), properties);
const shown = (id, text) =>
  page.waitForFunction(
    ([name, wanted]) => document.getElementById(name)?.textContent === wanted,
    [id, text],
  );
const put = (where, namespace, key, value) =>
  where.evaluate((args) => globalThis.memory.store.put(...args), [namespace, key, value]);

test("nothing is known while the memory is being opened", async () => {
  await show({ isClosed: true });
  for (const id of ["items", "hits", "threads"]) await shown(id, "loading");
});

test("items are listed, the newest first, and no hits without a question", async () => {
  await show();
  await shown("items", "place, drink");
  await shown("hits", "");
  await shown("threads", "");
});

test("what another tab writes is there at once", async () => {
  const { page: other } = await open();
  await put(other, ["notes", "deep"], "new", { text: "iced tea" });
  await shown("items", "new, place, drink");
  await other.evaluate(() => globalThis.memory.store.delete(["notes", "deep"], "new"));
  await shown("items", "place, drink");
  await other.close();
});

test("what is written elsewhere asks nothing", async () => {
  const before = await page.evaluate(() => globalThis.asked.notes);
  await put(page, ["other"], "dog", { text: "a dog" });
  await put(page, ["note"], "n", { text: "another label" });
  await put(page, ["notes"], "last", { text: "this one is seen" });
  await shown("items", "last, place, drink");
  await expect(page.evaluate(() => globalThis.asked.notes)).resolves.toBe(before + 1);
});

test("other options are another question", async () => {
  await show({ filter: { kind: "fact" } });
  await shown("items", "drink");
  await show({ prefix: ["other"] });
  await shown("items", "dog, cat");
});

test("a late answer to an earlier query is dropped", async () => {
  await show({ query: "slow" });
  await shown("hits", "loading");
  await show({ query: "tea" });
  await page.waitForFunction(() => document.getElementById("hits").textContent.startsWith("drink"));
  const hits = await page.locator("#hits").textContent();
  await page.evaluate(async () => {
    globalThis.letGo();
    // Answered behind the slow one.
    for (let i = 0; i < 5; i++) await globalThis.memory.store.search(["other"], { query: "x" });
  });
  await expect(page.locator("#hits").textContent()).resolves.toBe(hits);
});

test("an error has its code, and the next answer clears it", async () => {
  await show({ filter: { kind: { $like: "f" } } });
  await shown("items", "nothing (invalid_filter)");
  await show();
  await page.waitForFunction(() => document.getElementById("items").textContent.includes("last"));
});

test("threads are followed, checkpoint by checkpoint", async () => {
  await page.evaluate(() => globalThis.step("chat", 1));
  await shown("threads", "chat:1");
  await page.evaluate(() => globalThis.step("chat", 2));
  await shown("threads", "chat:2");
  await page.evaluate(() => globalThis.memory.checkpointer.deleteThread("chat"));
  await shown("threads", "");
});

test("a scope is a memory, too, and never shows what another one holds", async () => {
  await page.evaluate(() =>
    globalThis.memory.scoped({ user: "ada" }).store.put(["notes"], "hers", { text: "hers" }),
  );
  await show({ user: "ada" });
  await shown("items", "hers");
  await show({ user: "bob" });
  await shown("items", "");
});

test("a component that left listens no more", async () => {
  await show();
  await page.waitForFunction(() => document.getElementById("items").textContent.includes("last"));
  await page.evaluate(() => globalThis.leave());
  const before = await page.evaluate(() => globalThis.asked.notes);
  await put(page, ["notes"], "unseen", { text: "unseen" });
  await page.evaluate(() => globalThis.memory.store.get(["notes"], "unseen"));
  await expect(page.evaluate(() => globalThis.asked.notes)).resolves.toBe(before);
});
