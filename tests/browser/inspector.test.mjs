// <keepsake-inspector> in a page, as a person meets it.

import { mkdirSync, readFileSync } from "node:fs";
import { violations } from "./support/axe.mjs";
import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { servePage } from "./support/test-page.mjs";

const MANY = 100_000;
const LONG_THREAD = 5_000;
const PORTION = 50;
// Those of the rows in sight and around them are fewer; those of all rows are many more.
const MOST_ELEMENTS_AT_ONCE = 1_000;
const PICTURES = "build/inspector";

let browser;
let url;
let page;
let errors;

beforeAll(async () => {
  // Nothing inline passes.
  const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
  ({ url } = await servePage("inspector", { headers: { "content-security-policy": policy } }));
  browser = await startChromium();
  ({ page, errors } = await open("inspected", "&secrets=mask"));
  await page.evaluate(() => globalThis.seedItems());
  mkdirSync(PICTURES, { recursive: true });
});

afterAll(cleanUp);
afterEach(() => expect(errors).toEqual([]));

async function open(name, more = "") {
  const tab = await openTab(browser, `${url}?name=${name}${more}`);
  tab.page.setDefaultTimeout(20_000);
  await tab.page.setViewportSize({ width: 1440, height: 900 });
  await tab.page.waitForFunction(() => globalThis.ready);
  return tab;
}

const tab = (name) => page.getByRole("tab", { name }).click();
const node = (name) => page.getByRole("treeitem", { name });
const option = (name) => page.getByRole("option", { name });
const button = (name) => page.getByRole("button", { name, exact: true });
const inDialog = (name) => page.getByRole("dialog").getByRole("button", { name });
const message = (hasText) => page.locator(".messages.shown", { hasText });
const value = () => page.getByLabel("Value, as JSON");
const stored = (namespace, key) =>
  page.evaluate(
    async ([ns, name]) => (await globalThis.memory.store.get(ns, name))?.value ?? null,
    [namespace, key],
  );
const isInSight = (element) =>
  element.evaluate((each) => {
    const { left, top, bottom } = each.getBoundingClientRect();
    const at = (y) => each.getRootNode().elementFromPoint(left + 20, y);
    return each.contains(at(top + 2)) && each.contains(at(bottom - 2));
  });
const put = (namespace, key, item, where = page) =>
  where.evaluate((args) => globalThis.memory.store.put(...args), [namespace, key, item]);

const valueHas = (text) =>
  document
    .querySelector("keepsake-inspector")
    .shadowRoot.querySelector("textarea.code")
    .value.includes(text);

async function pictures(name) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const width of [360, 768, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({ path: `${PICTURES}/${name}-${width}-${colorScheme}.png` });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
}

test("what is no memory is refused, with what to give", async () => {
  const refused = await page.evaluate(() => {
    const element = document.createElement("keepsake-inspector");
    try {
      element.memory = { store: 1 };
      return undefined;
    } catch ({ code, message }) {
      return { code, message };
    }
  });
  expect(refused).toEqual({
    code: "invalid_argument",
    message:
      "[keepsake] <keepsake-inspector>: memory must be what openMemory() resolves to: an object",
  });
});

describe("items", () => {
  test("namespaces are a tree, with how many items are below each", async () => {
    await expect(node(/^▸\s*users\s*4$/).count()).resolves.toBe(0);
    await node(/users/).filter({ hasText: "4" }).waitFor();
    await node(/All items/)
      .filter({ hasText: "5" })
      .waitFor();
    await node(/users/).click();
    await page.keyboard.press("ArrowRight");
    await node(/ada/).filter({ hasText: "3" }).waitFor();
    expect(await node(/ada/).getAttribute("aria-level")).toBe("3");
    expect(await node(/users/).getAttribute("aria-expanded")).toBe("true");
  });

  test("of a long name the place gives way, and the key is read", async () => {
    await page.setViewportSize({ width: 600, height: 900 });
    const row = option(/ada \/ notes \/ sister/);
    await row.locator(".place").evaluate((place) => place.prepend("a long way down / ".repeat(9)));
    const isCut = (part) =>
      row.locator(part).evaluate((each) => each.scrollWidth > each.clientWidth + 1);
    expect([await isCut(".place"), await isCut(".key")]).toEqual([true, false]);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test("an item is read, edited, and stored", async () => {
    await option(/ada \/ notes \/ sister/).click();
    expect(JSON.parse(await value().inputValue())).toEqual({
      text: "Her sister Mary lives in Porto",
      kind: "fact",
    });
    await pictures("items");
    await value().fill('{"text": "Her sister Mary lives in Lisbon"}');
    await page.getByLabel("Expires after").fill("60");
    await button("Save").click();
    await message("Saved.").waitFor();
    await option(/Lisbon/).waitFor();
    await expect(stored(["users", "ada", "notes"], "sister")).resolves.toEqual({
      text: "Her sister Mary lives in Lisbon",
    });
  });

  test("what was saved can be undone, unless it was written since then", async () => {
    const sister = () => stored(["users", "ada", "notes"], "sister");
    await button("Undo").click();
    await message("It is as it was.").waitFor();
    await expect(sister()).resolves.toEqual({
      text: "Her sister Mary lives in Porto",
      kind: "fact",
    });
    await value().fill('{"text": "Her sister Mary lives in Lisbon"}');
    await button("Save").click();
    await message("Saved.").waitFor();
    await put(["users", "ada", "notes"], "sister", {
      text: "Her sister Mary lives in Lisbon",
      n: 1,
    });
    await button("Undo").click();
    await message("was written since then").waitFor();
    await expect(sister()).resolves.toMatchObject({ n: 1 });
    await button("Dismiss").click();
    await put(["users", "ada", "notes"], "sister", { text: "Her sister Mary lives in Faro" });
    await page.waitForFunction(valueHas, "Faro");
  });

  test("what is no JSON is not stored, and the message says so", async () => {
    await value().fill('{"text": ');
    await button("Save").click();
    await message(/JSON/).waitFor();
    await value().fill("[1]");
    await button("Save").click();
    await message("A value is a JSON object").waitFor();
    await expect(stored(["users", "ada", "notes"], "sister")).resolves.toEqual({
      text: "Her sister Mary lives in Faro",
    });
    await button("Dismiss").click();
  });

  test("a secret is masked, and that is said", async () => {
    const token = `ghp_${"a1B2c3D4e5F6g7H8i9J0".repeat(2).slice(0, 36)}`;
    await value().fill(JSON.stringify({ text: `the token is ${token}` }));
    await button("Save").click();
    await message("the memory masks it").waitFor();
    expect(await value().inputValue()).not.toContain(token);
  });

  test("what another tab wrote meanwhile is not overwritten without asking", async () => {
    await value().fill('{"text": "mine"}');
    const { page: other } = await open("inspected");
    await put(["users", "ada", "notes"], "sister", { text: "theirs" }, other);
    await other.close();
    await page.bringToFront();
    await option(/theirs/).waitFor();
    await button("Save").click();
    await inDialog("Cancel").click();
    await expect(stored(["users", "ada", "notes"], "sister")).resolves.toEqual({ text: "theirs" });
    await button("Save").click();
    await inDialog("Save").click();
    await option(/mine/).waitFor();
    await expect(stored(["users", "ada", "notes"], "sister")).resolves.toEqual({ text: "mine" });
  });

  test("what another tab writes appears, and where it is counted", async () => {
    const { page: other } = await open("inspected");
    await page.bringToFront();
    await put(["users", "ada", "notes"], "cat", { text: "Her cat is called Tide" }, other);
    await option(/Tide/).waitFor();
    await node(/All items/)
      .filter({ hasText: "6" })
      .waitFor();
    await option(/Tide/).click();
    await put(["users", "ada", "notes"], "cat", { text: "Her cat is called Wave" }, other);
    await page.waitForFunction(valueHas, "Wave");
    await other.close();
  });

  test("deleting asks first, and looks different", async () => {
    const colour = (name) => button(name).evaluate((element) => getComputedStyle(element).color);
    expect(await colour("Delete item")).not.toBe(await colour("Why is it not found?"));
    await button("Delete item").click();
    await page.getByRole("dialog", { name: "Delete this item?" }).waitFor();
    await page.keyboard.press("Enter");
    await expect(stored(["users", "ada", "notes"], "cat")).resolves.not.toBeNull();
    await button("Delete item").click();
    await inDialog("Delete item").click();
    await message("Deleted.").waitFor();
    await expect(stored(["users", "ada", "notes"], "cat")).resolves.toBeNull();
    await button("Undo").click();
    await message("It is as it was.").waitFor();
    await expect(stored(["users", "ada", "notes"], "cat")).resolves.toEqual({
      text: "Her cat is called Wave",
    });
    await button("Delete item").click();
    await inDialog("Delete item").click();
    await message("Deleted.").waitFor();
    await option(/Wave/).waitFor({ state: "detached" });
    await expect(stored(["users", "ada", "notes"], "cat")).resolves.toBeNull();
  });

  test("a fact that no longer holds is listed, and stays so when it is edited", async () => {
    await page.evaluate(async () => {
      const { store } = globalThis.memory;
      const since = (validFrom, more) => [undefined, { validFrom, ...more }];
      await store.put(["facts"], "bern", { text: "lives in Bern" }, ...since("2019-04-01"));
      const place = { text: "lives in Basel" };
      await store.put(["facts"], "basel", place, ...since("2025-09-01", { supersedes: "bern" }));
    });
    await node(/facts/).filter({ hasText: "2" }).click();
    await option(/basel/).waitFor();
    await option(/bern.*held before/).click();
    const until = page.locator("dt", { hasText: "Holds until" }).locator("+ dd");
    await until.filter({ hasText: "Sep" }).waitFor();
    await value().fill('{"text": "lived in Bern"}');
    await button("Save").click();
    await message("Saved.").waitFor();
    await option(/bern.*held before.*lived/).waitFor();
    await button("Dismiss").click();
  });

  test("what held on a day is searched, and what does not hold now says so", async () => {
    await tab("Search");
    await page.getByLabel("Question").fill("Bern");
    await page.getByLabel("Below namespace").fill("facts");
    await button("Search").click();
    await page.getByText("Nothing is like").waitFor();
    await page.getByLabel("Item, as namespace/key").fill("facts/bern");
    await button("Why not this one?").click();
    await page.locator(".verdict", { hasText: "It does not hold now" }).waitFor();
    await page.getByLabel("As of").fill("2024-01-01");
    await button("Search").click();
    await page.locator(".hits > li", { hasText: "facts / bern" }).waitFor();
    for (const name of ["As of", "Question", "Below namespace"])
      await page.getByLabel(name).fill("");
    await tab("Items");
  });

  test("bytes are shown, and not edited", async () => {
    await page.evaluate(() =>
      globalThis.memory.store.put(["files"], "icon", { bytes: new Uint8Array([1, 2, 3]) }),
    );
    await node(/files/).click();
    await option(/icon/).click();
    await page.getByText("JSON cannot say").waitFor();
    await expect(button("Save").count()).resolves.toBe(0);
  });

  test("its history is told, undone, and brought back, once it is kept", async () => {
    await put(["journal"], "day", { text: "Rain" });
    await node(/All items/).click();
    await option(/journal \/ day/).click();
    await page.locator(".history summary").click();
    await page.locator(".history", { hasText: "No history is kept of this item." }).waitFor();
    await button("Keep one from now on").click();
    await inDialog("Keep it").click();
    await message("A history is kept below journal.").waitFor();
    const versions = page.locator(".history li");
    for (const text of ["Sun", "Snow"]) {
      await value().fill(JSON.stringify({ text }));
      await button("Save").click();
      await versions.first().filter({ hasText: text }).waitFor();
    }
    await expect(versions.allTextContents()).resolves.toEqual([
      expect.stringMatching(/^Written, .*Snow.*Undo this change$/s),
      expect.stringMatching(/^Written, .*Sun.*Bring this back$/s),
      expect.stringMatching(/^Before the history began, .*Rain.*Bring this back$/s),
    ]);
    await pictures("history");
    await expect(violations(page)).resolves.toEqual([]);
    await button("Undo this change").click();
    await message("Undone.").waitFor();
    await page.waitForFunction(valueHas, "Sun");
    await expect(stored(["journal"], "day")).resolves.toEqual({ text: "Sun" });
    await versions.last().getByRole("button", { name: "Bring this back" }).click();
    await page.waitForFunction(valueHas, "Rain");
    await expect(stored(["journal"], "day")).resolves.toEqual({ text: "Rain" });
    await page.evaluate(() => globalThis.memory.store.delete(["journal"], "day"));
  });
});

describe("as it was", () => {
  const field = () => page.getByLabel("As it was on");
  // What the field takes: minutes, in this time zone.
  const local = (time) =>
    page.evaluate((at) => {
      const date = new Date(at);
      return new Date(at - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    }, time);

  test("a time before the history is refused, in words", async () => {
    await page.evaluate(() => globalThis.memory.store.keepHistory(["desk"]));
    await field().fill(await local(Date.parse("2020-05-01T12:00:00Z")));
    await message(/history of \["desk"\] goes back to/).waitFor();
    await button("Back to now").click();
    await node(/All items/).click();
    await option(/users \/ bob/).waitFor();
  });

  test("items are shown as they were at a checkpoint, and one is brought back", async () => {
    await put(["desk"], "lamp", { text: "The lamp is green" });
    await page.evaluate(() => globalThis.seedThread("then", 3));
    await put(["desk"], "lamp", { text: "The lamp is red" });
    await put(["desk"], "cup", { text: "A cup" });
    await node(/desk/).click();
    await option(/The lamp is red/).waitFor();
    await tab("Threads");
    await option(/then.*3 checkpoints/).click();
    await option(/Step 1/).click();
    await button("What was remembered then").click();
    await node(/desk/).click();
    await option(/The lamp is green/).click();
    await expect(option(/cup/).count()).resolves.toBe(0);
    await expect(button("Save").count()).resolves.toBe(0);
    await page.getByText("It can be read, not changed.").waitFor();
    await pictures("as-it-was");
    await page.setViewportSize({ width: 1440, height: 900 });
    await expect(violations(page)).resolves.toEqual([]);
    await button("Bring this back").click();
    await message("It is now as it was then.").waitFor();
    await expect(stored(["desk"], "lamp")).resolves.toEqual({ text: "The lamp is green" });
    await button("Back to now").click();
    await option(/cup/).waitFor();
    await page.evaluate(() => globalThis.memory.checkpointer.deleteThread("then"));
    await page.evaluate(() => globalThis.memory.store.clearNamespace(["desk"]));
    await page.evaluate(() => globalThis.memory.store.dropHistory(["desk"]));
  });
});

describe("search", () => {
  test("a hit says why it was found", async () => {
    await tab("Search");
    await page.getByLabel("Question").fill("who drinks coffee?");
    await button("Search").click();
    const hit = page.locator(".hits > li", { hasText: "users / bob / likes / drink" });
    await hit.getByText("It holds “drinks”, “coffee”, as the question does.").waitFor();
    await hit.getByText("Value and numbers").click();
    await hit.locator(".note", { hasText: "words" }).waitFor();
  });

  test("a mode with snippets marks what was found", async () => {
    await page.getByLabel("How").selectOption("contains");
    await button("Search").click();
    await page.getByText("Nothing is like").waitFor();
    await page.getByLabel("How").selectOption("text");
    await button("Search").click();
    await page.locator(".hits mark", { hasText: "coffee" }).first().waitFor();
    await pictures("search");
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test("a filter and a namespace narrow it", async () => {
    await page.getByLabel("Below namespace").fill("users/bob");
    await page.getByLabel("Filter, as JSON").first().fill('{"kind": "fact"}');
    await button("Search").click();
    await page.locator(".pane-1 .count", { hasText: /^1, / }).waitFor();
    await page.getByLabel("Filter, as JSON").first().fill("kind");
    await button("Search").click();
    await message("The filter is no JSON").waitFor();
    await button("Dismiss").click();
    await page.getByLabel("Filter, as JSON").first().fill("");
  });

  test.each([
    ["users/ada/likes/drink", "It is not below users / bob"],
    ["users/bob/likes/tea", "There is no such item"],
    ["users/bob/likes/drink", "It is one of the hits."],
  ])("why %s is none, or is one", async (item, why) => {
    await page.getByLabel("Item, as namespace/key").fill(item);
    await button("Why not this one?").click();
    const verdict = page.locator(".verdict", { hasText: why });
    await verdict.waitFor();
    await expect(isInSight(verdict)).resolves.toBe(true);
  });

  test("a hit leads to its item, and an item to the reason why it is not found", async () => {
    await page.getByLabel("Below namespace").fill("");
    await page.getByLabel("Question").fill("coffee");
    await button("Search").click();
    await button("users / bob / likes / drink").click();
    await page.getByRole("tab", { name: "Items", selected: true }).waitFor();
    expect(await value().inputValue()).toContain("Bob drinks black coffee");
    await node(/tasks/).click();
    await option(/Water the plants/).click();
    await button("Why is it not found?").click();
    await page
      .locator(".verdict", { hasText: "tasks / 1: It holds nothing of the question." })
      .waitFor();
  });
});

describe("threads", () => {
  let ids;

  beforeAll(async () => {
    ids = await page.evaluate(() => globalThis.seedThread("chat", 6));
    await page.evaluate(([id]) => globalThis.branch("chat", id, 4), [ids[3]]);
    await tab("Threads");
  });

  test("checkpoints are a tree, with their branches", async () => {
    await option(/chat.*7 checkpoints/).click();
    await option(/Step 2.*2 branches begin here/).waitFor();
    await expect(option(/branch 2/).count()).resolves.toBe(2);
  });

  test("a thread is called as the page calls it, and by its id where that has no title", async () => {
    const call = (titles) =>
      page.evaluate((given) => {
        const inspector = document.querySelector("keepsake-inspector");
        inspector.threadTitle = given && ((id) => given[id]);
      }, titles);
    await call({ chat: "About the weather" });
    await tab("Threads");
    await option(/About the weather.*7 checkpoints/).click();
    await page.locator(".count", { hasText: "7 of About the weather" }).waitFor();
    await call(undefined);
    await tab("Threads");
    await option(/chat.*7 checkpoints/).click();
  });

  test("a thread is called by the title that its run was given", async () => {
    await page.evaluate(() => globalThis.seedThread("titled", 1, 1, { title: "Tea for two" }));
    await option(/Tea for two.*1 checkpoint/).click();
    await page.locator(".count", { hasText: "1 of Tea for two" }).waitFor();
    await page.evaluate(() => globalThis.memory.checkpointer.deleteThread("titled"));
    await option(/chat.*7 checkpoints/).click();
  });

  test("a thread of a scope is called by the place as it was given", async () => {
    const stored = "user/ada@example%252Ecom/t1";
    await page.evaluate((id) => globalThis.seedThread(id, 1), stored);
    await option(/^user\/ada@example\.com\/t1.*1 checkpoint/).click();
    await page.locator(".count", { hasText: "1 of user/ada@example.com/t1" }).waitFor();
    await page.evaluate((id) => globalThis.memory.checkpointer.deleteThread(id), stored);
    await option(/chat.*7 checkpoints/).click();
  });

  test("what is said of a step is not cut in a narrow window", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    const said = option(/Step 2.*2 branches begin here/).locator(".preview");
    expect(await said.evaluate((each) => each.scrollWidth <= each.clientWidth)).toBe(true);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test("a checkpoint says what it changed", async () => {
    await option(/Step 4.*branch 2/).click();
    const change = page.locator(".change.added", { hasText: "messages, 1 more" });
    expect(JSON.parse(await change.locator("pre").textContent())).toEqual([
      "Answer 5: tea is served",
    ]);
    await page.getByText("Unchanged: mood.").waitFor();
    // On a small screen, too, it is scrolled to instead of being cut.
    await page.setViewportSize({ width: 360, height: 600 });
    const [shown, whole] = await change
      .locator("pre")
      .evaluate((pre) => [pre.parentElement.clientHeight, pre.offsetHeight]);
    expect(shown).toBeGreaterThanOrEqual(whole);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByText("Whole state").click();
    await page.getByLabel("Whole state").filter({ hasText: "Question 0" }).waitFor();
    await pictures("threads");
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test("a fork begins with the history up to there", async () => {
    await option(/Step 1/).click();
    await page.locator("h3", { hasText: "Step 1" }).waitFor();
    await button("Fork from here").click();
    await page.getByLabel("Id of the new thread").fill("what-if");
    await page.keyboard.press("Enter");
    await message("Thread what-if begins at step 1").waitFor();
    await option(/what-if.*3 checkpoints/).waitFor();
    const newest = await page.evaluate(async () =>
      globalThis.memory.checkpointer.getTuple({ configurable: { thread_id: "what-if" } }),
    );
    expect(newest.checkpoint.id).toBe(ids[2]);
  });

  test("a thread is replayed step by step, and walked through", async () => {
    await option(/^chat/).click();
    await page.locator(".count", { hasText: "7 of chat" }).waitFor();
    await option(/Step -1/).click();
    const heading = (name) => page.getByRole("heading", { name, exact: true });
    await heading("Step -1").waitFor();
    await expect(button("Earlier").isDisabled()).resolves.toBe(true);
    await button("Later").click();
    await heading("Step 0").waitFor();
    await button("Earlier").click();
    await heading("Step -1").waitFor();
    await button("Replay from here").press("Enter");
    await heading("Step 1").waitFor();
    // The button has the focus still.
    await page.keyboard.press("Enter");
    await button("Replay from here").press("Enter");
    await heading("Step 3").waitFor();
    await expect(button("Replay from here").isDisabled()).resolves.toBe(true);
    await option(/what-if/).click();
    await page.locator(".count", { hasText: "3 of what-if" }).waitFor();
    await option(/Step 1/).click();
    await heading("Step 1").waitFor();
  });

  test("deleting a thread asks first", async () => {
    await button("Delete thread").click();
    await inDialog("Delete thread").click();
    await option(/what-if/).waitFor({ state: "detached" });
    await option(/chat/).waitFor();
  });

  test("a thread of 5,000 steps is read and shown in portions", async () => {
    await page.evaluate((steps) => globalThis.seedThread("long", steps, 20), LONG_THREAD);
    const work = await workWhile(page, async () => {
      await option(/long/).click();
      await page.locator(".count", { hasText: `${PORTION} so far of long` }).waitFor();
      const list = page.getByRole("listbox", { name: /Checkpoints/ });
      await list.focus();
      // What was read begins anew where a change comes in: that is told once a second.
      for (let read = 0; read < 20 * PORTION; ) {
        await page.keyboard.press("End");
        const text = await page.locator(".count", { hasText: /\d+ so far of long/ }).textContent();
        read = Number(/\d+/.exec(text)[0]);
      }
    });
    isInPortions(work, 20);
  });
});

describe("storage", () => {
  beforeAll(() => tab("Storage"));

  const fact = (name) => page.locator("dt", { hasText: name }).locator("+ dd");

  test("says where the memory is, and how much it is", async () => {
    await fact("Kept in").filter({ hasText: "OPFS" }).waitFor();
    await fact("This tab").filter({ hasText: "Owner" }).waitFor();
    await fact("Threads").filter({ hasText: "2 threads" }).waitFor();
    await fact("Database").filter({ hasText: "inspected" }).waitFor();
    await pictures("storage");
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test("every page is checked", async () => {
    await button("Check the file").click();
    await page.locator(".verdict", { hasText: /All is well: \d+ pages, all as written/ }).waitFor();
  });

  test("forgetting counts first, asks, and gives a receipt that can be checked", async () => {
    await expect(button("Forget for good").isDisabled()).resolves.toBe(true);
    await page.getByLabel("Below these namespaces").fill("users/bob");
    await button("Count").click();
    await page.getByText("This would go: 1 item, 0 threads").waitFor();
    await expect(stored(["users", "bob", "likes"], "drink")).resolves.not.toBeNull();
    await button("Forget for good").click();
    await inDialog("Cancel").click();
    await expect(stored(["users", "bob", "likes"], "drink")).resolves.not.toBeNull();
    await button("Forget for good").click();
    await inDialog("Forget for good").click();
    await page.getByText("Forgotten: 1 item").waitFor();
    await expect(stored(["users", "bob", "likes"], "drink")).resolves.toBeNull();
    const receipt = await page.getByLabel("Receipt", { exact: true }).textContent();
    await page.getByLabel("Receipt, as JSON").fill(receipt);
    await button("Check").click();
    await page.getByText(/^It is genuine\. All bytes of it were cleared/).waitFor();
    const forged = JSON.stringify({ ...JSON.parse(receipt), namespaces: [["users", "eve"]] });
    await page.getByLabel("Receipt, as JSON").fill(forged);
    await button("Check").click();
    await page.getByText("or it was changed").waitFor();
  });

  test("what was counted is what goes: another entry is counted anew", async () => {
    await page.getByLabel("Below these namespaces").fill("tasks");
    await button("Count").click();
    await page.getByText("This would go: 1 item").waitFor();
    await page.getByLabel("Below these namespaces").fill("users");
    await expect(button("Forget for good").isDisabled()).resolves.toBe(true);
  });

  test("an export comes back by an import, which asks first", async () => {
    const saving = page.waitForEvent("download");
    await button("Export").click();
    const path = await (await saving).path();
    expect(readFileSync(path).subarray(0, 15).toString()).toBe("SQLite format 3");
    await put(["later"], "k", { text: "after the export" });
    await page.getByLabel("File to import").setInputFiles(path);
    await page.getByRole("dialog", { name: "Replace the whole memory?" }).waitFor();
    await inDialog("Cancel").click();
    await expect(stored(["later"], "k")).resolves.not.toBeNull();
    await page.getByLabel("File to import").setInputFiles(path);
    await inDialog("Replace everything").click();
    await message("Imported").waitFor();
    await expect(stored(["later"], "k")).resolves.toBeNull();
    await expect(stored(["tasks"], "1")).resolves.not.toBeNull();
  });

  test("what is held and kept is told, and a history is dropped after a question", async () => {
    await page.evaluate(async () => {
      await globalThis.memory.hold(["tasks"], "case 7");
      await globalThis.memory.store.keepHistory(["diary"], { maxVersions: 3, maxAge: 60 });
    });
    await tab("Items");
    await node(/tasks/).filter({ hasText: "1" }).waitFor();
    await tab("Storage");
    await page.getByText(/^tasks is held since .*: case 7$/).waitFor();
    const rule = page.locator("li", { hasText: /^diary: 3 versions of each item, for 60 minutes/ });
    await rule.waitFor();
    await expect(page.locator(".messages").textContent()).resolves.not.toContain("hold");
    await pictures("rules");
    await expect(violations(page)).resolves.toEqual([]);
    await rule.getByRole("button", { name: "Drop it…" }).click();
    await inDialog("Drop it").click();
    await message("The history was dropped.").waitFor();
    await rule.waitFor({ state: "detached" });
    const rules = await page.evaluate(() => globalThis.memory.store.historyRules());
    expect(rules.map(({ namespace }) => namespace)).not.toContainEqual(["diary"]);
    await page.evaluate(() => globalThis.memory.release(["tasks"]));
  });
});

describe("scopes", () => {
  beforeAll(async () => {
    await page.evaluate(async () => {
      const scope = await globalThis.seedScope();
      await globalThis.memory.hold(["user", "eve@example%2Ecom", "notes"], "case 8");
      document.querySelector("keepsake-inspector").scopes = [scope];
    });
    await tab("Scopes");
  });

  const scope = () => page.getByRole("option", { name: /eve@example.com/ });

  test("are listed by the names that were given, and say which have a policy", async () => {
    await scope().filter({ hasText: "policy" }).waitFor();
    await option(/The whole memory/).click();
    await page.getByText("Everything: only scopes have policies.").waitFor();
    await page.getByText(/The newest 500, since/).waitFor();
  });

  test("say their rules, how much of each quota is used, and what is held", async () => {
    await scope().click();
    await page.getByText("Read: only below notes, likes").waitFor();
    await page.getByText("200 B for each value at most").waitFor();
    await page.getByText("An item lives 1,440 minutes at most").waitFor();
    await page
      .getByText("4 items in each namespace at most. The fullest is notes: 3 (75 %).")
      .waitFor();
    // Keys of one sign, and {"text":"Note 1"}.
    await page
      .getByText("1000 B of items and threads at most. Keys and values take 54 B (5 %).")
      .waitFor();
    expect(await page.getByRole("meter").first().getAttribute("value")).toBe("75");
    await page.getByText(/is held since .*: case 8$/).waitFor();
    await pictures("scopes");
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test("count anew when something is written there", async () => {
    await put(["user", "eve@example%2Ecom", "notes"], "5", { text: "Note 5" });
    await page.getByText("The fullest is notes: 4 (100 %).").waitFor();
  });

  test("one without a policy says whose that would be", async () => {
    await put(["user", "zoe", "notes"], "1", { text: "hers" });
    await option(/zoe/).click();
    await page.getByText("No policy is known.").waitFor();
  });

  test("lead to their items, and to who wrote there", async () => {
    // Until it is shown, the buttons of the one before must lead nowhere.
    await page.evaluate(() => {
      const { memory } = globalThis;
      memory.holds = async () => {
        delete memory.holds;
        await new Promise((done) => setTimeout(done, 1000));
        return memory.holds();
      };
    });
    await scope().click();
    await page.getByRole("button", { name: "Show its items" }).click();
    await page.locator(".count", { hasText: /eve@example%2Ecom: 4 items/ }).waitFor();
    await tab("Scopes");
    await page.getByRole("button", { name: "Who wrote here" }).click();
    await page.getByRole("tab", { name: "Audit", selected: true }).waitFor();
    await expect(page.getByLabel("In or below").inputValue()).resolves.toBe(
      "user/eve@example%2Ecom",
    );
  });
});

describe("the audit log", () => {
  const count = (text) =>
    page.locator(".panel:not([hidden]) .pane > header .count", { hasText: text });

  test("says who wrote where, and what was refused with its rule", async () => {
    await option(/Refused: store/).click();
    await page.getByText("Refused (quota_exceeded). A quota of the policy").waitFor();
    await page.locator("dd", { hasText: /^agent$/ }).waitFor();
    await page.locator("dd", { hasText: "user / eve@example%2Ecom / notes" }).waitFor();
    await pictures("audit");
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test("is filtered by scope, operation, time and refusal", async () => {
    await option(/Stored 1 item/)
      .first()
      .waitFor();
    await page.getByText("Filter", { exact: true }).click();
    await page.getByLabel("Refused only").check();
    await count("2").waitFor();
    await option(/Refused: recall/).waitFor();
    await page.getByLabel("What was done").selectOption("store");
    await count("1").waitFor();
    await page.getByLabel("Until").fill("2020-01-01T00:00");
    await page.getByLabel("Until").press("Enter");
    await count("none").waitFor();
    await page.getByLabel("Until").fill("");
    await page.getByLabel("From").fill("2100-01-01T00:00");
    await page.getByLabel("From").press("Enter");
    await count("none").waitFor();
    await page.getByLabel("From").fill("");
    await page.getByLabel("Refused only").uncheck();
    await page.getByLabel("What was done").selectOption("");
    await pictures("audit-filter");
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test("an entry leads to the items there", async () => {
    await option(/Stored 1 item/)
      .first()
      .click();
    await page.getByRole("button", { name: "Show the items there" }).click();
    await page.locator(".count", { hasText: "notes: 4 items" }).waitFor();
    await tab("Audit");
  });

  test("is read in pages, as far as somebody scrolls, also behind a filter", async () => {
    await page.getByLabel("In or below").fill("");
    await page.evaluate(async () => {
      for (let i = 0; i < 450; i++)
        await globalThis.memory.store.put(["busy"], String(i % 7), { i });
    });
    await count("60 so far").or(count("200 so far")).waitFor();
    await page.getByRole("button", { name: "Read anew" }).click();
    await page.getByLabel("Entries, the newest first").focus();
    const until = async (text) => {
      while ((await count(text).count()) === 0) {
        await page.keyboard.press("End");
        await page.waitForTimeout(50);
      }
    };
    await until(/^45\d$|^46\d$/);
    await page.getByLabel("Refused only").check();
    await count(/^2$/).waitFor();
    await page.getByLabel("Refused only").uncheck();
  });

  test("is dropped after a question, and kept from then on", async () => {
    await button("Drop the log…").click();
    await inDialog("Drop it").click();
    await message("The audit log was dropped.").waitFor();
    await page.getByText("Nothing is kept.").waitFor();
    await expect(page.evaluate(() => globalThis.memory.auditRule())).resolves.toBeUndefined();
    await button("Keep a log from now on").click();
    await message("From now on").waitFor();
    await page.getByText(/The newest 10,000, since/).waitFor();
    await put(["later"], "k", { text: "told" });
    await option(/Stored 1 item/).waitFor();
    await page.evaluate(() => globalThis.memory.release(["user", "eve@example%2Ecom", "notes"]));
  });
});

test("tabs are walked through by arrows, and nothing else is in the way of Tab", async () => {
  await tab("Storage");
  await page.getByRole("tab", { name: "Storage" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.getByRole("tab", { name: "Items", selected: true }).waitFor();
  await page.keyboard.press("Tab");
  const focused = await page.evaluate(() =>
    document
      .querySelector("keepsake-inspector")
      .shadowRoot.activeElement.getAttribute("aria-label"),
  );
  expect(focused).toBe("Namespaces");
});

test("nothing is wider than the page, at 360 pixels", async () => {
  await page.setViewportSize({ width: 360, height: 700 });
  for (const name of ["Items", "Search", "Threads", "Scopes", "Audit", "Storage"]) {
    await tab(name);
    const wide = await page.evaluate(() => {
      const { shadowRoot } = document.querySelector("keepsake-inspector");
      return [...shadowRoot.querySelectorAll(".panel:not([hidden]) *")]
        .filter((element) => element.checkVisibility() && !element.closest(".hidden"))
        .filter((element) => element.getBoundingClientRect().right > innerWidth)
        .map((element) => element.outerHTML.slice(0, 100));
    });
    expect(wide).toEqual([]);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("an element that left the page follows nothing, and one that returns does", async () => {
  await tab("Items");
  await page.evaluate(() => {
    globalThis.inspector = document.querySelector("keepsake-inspector");
    globalThis.inspector.remove();
  });
  await put(["gone"], "k", { text: "nobody looks" });
  await page.evaluate(() => document.querySelector("main").append(globalThis.inspector));
  await node(/gone/).waitFor();
});

describe("a store with an index", () => {
  beforeAll(async () => {
    await page.close();
    ({ page, errors } = await open("indexed", "&index"));
    await page.evaluate(() => globalThis.seedItems());
    await tab("Search");
  });

  test("is searched by meaning, and says how near a hit is", async () => {
    await page.getByLabel("Question").fill("something to drink");
    await button("Search").click();
    const first = page.locator(".hits > li").first();
    await first.getByText("Its meaning is very near to the question.").waitFor();
    await expect(first.textContent()).resolves.toContain("drink");
    const place = page.locator(".hits > li", { hasText: "users / ada / likes / place" });
    await place.getByText("Its meaning is far from the question.").waitFor();
  });

  test("says when words and meaning were put together", async () => {
    await page.getByLabel("How").selectOption("hybrid");
    await page.getByLabel("Question").fill("coffee to drink");
    await button("Search").click();
    const hit = page.locator(".hits > li", { hasText: "users / bob / likes / drink" });
    await hit.getByText("It holds “drinks”, “coffee”").waitFor();
    await hit.getByText("Its meaning is very near to the question.").waitFor();
  });
});

describe("of 100,000 items", () => {
  beforeAll(async () => {
    await page.close();
    ({ page, errors } = await open("many"));
    await page.evaluate((count) => globalThis.seedMany(count), MANY);
    await node(/many/).filter({ hasText: "100,000" }).waitFor();
  });

  test("only those in view are elements", async () => {
    await node(/many/).click();
    await page.locator(".count", { hasText: "many: 100,000 items" }).waitFor();
    await option(/note-/).first().waitFor();
    expect(await page.getByRole("option").count()).toBeLessThan(60);
    expect(await page.getByRole("option").first().getAttribute("aria-setsize")).toBe("100000");
  });

  test("they are read and shown in portions while they are scrolled", async () => {
    isInPortions(await workWhile(page, () => page.evaluate(scrollThrough)), 10);
  });

  test("an agent that writes and writes is followed once a second", async () => {
    const { counted, written } = await page.evaluate(writeFor, 2_500);
    console.log(`counted ${counted} times while ${written} items were written`);
    expect(written).toBeGreaterThan(counted);
    // A count that a change overtook is made again.
    expect(counted).toBeLessThanOrEqual(8);
    await node(/many/)
      .filter({ hasText: (100_000 + written).toLocaleString("en") })
      .waitFor();
    await page.evaluate(() =>
      globalThis.memory.forget({ namespaces: [["many"]], filter: { isMore: true } }),
    );
    await node(/many/).filter({ hasText: "100,000" }).waitFor();
  });

  test("the last one is there after End", async () => {
    await page.getByRole("listbox").focus();
    await page.keyboard.press("End");
    const last = page.locator('[aria-posinset="100000"]');
    await last.filter({ hasText: "note-" }).waitFor();
    await page.keyboard.press("Enter");
    const shown = JSON.parse(await value().inputValue());
    expect(await last.textContent()).toContain(shown.text);
  });

  test("one that is chosen before it was read is opened when it is here", async () => {
    await node(/many/).click();
    await option(/note-/).first().waitFor();
    const before = await value().inputValue();
    await page.getByRole("listbox").evaluate((list) => {
      for (const key of ["End", "ArrowUp", "Enter"])
        list.dispatchEvent(new KeyboardEvent("keydown", { key }));
    });
    await page.waitForFunction((old) => {
      const root = document.querySelector("keepsake-inspector").shadowRoot;
      return root.querySelector("textarea.code").value !== old;
    }, before);
    const chosen = page.locator('[aria-posinset="99999"][aria-selected="true"]');
    expect(await chosen.textContent()).toContain(JSON.parse(await value().inputValue()).text);
  });
});

// How often items were counted meanwhile, too.
async function writeFor(milliseconds) {
  const { memory } = globalThis;
  let counted = 0;
  const forget = memory.forget.bind(memory);
  memory.forget = (options) => {
    counted++;
    return forget(options);
  };
  let written = 0;
  for (const end = performance.now() + milliseconds; performance.now() < end; written++)
    await memory.store.put(["many"], `more-${written}`, { text: "more", isMore: true });
  memory.forget = forget;
  return { counted, written };
}

// Slowly, in leaps, and to the ends, for some seconds.
async function scrollThrough() {
  const list = document
    .querySelector("keepsake-inspector")
    .shadowRoot.querySelector('[role="listbox"]');
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  for (const step of [40, 400, 4_000, 40_000, 400_000]) {
    for (let i = 0; i < 40; i++) {
      list.scrollTop += i < 30 ? step : -step;
      await frame();
    }
    // Until what came into view is read.
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

function isInPortions(work, calls) {
  expect(work.calls).toBeGreaterThanOrEqual(calls);
  expect(work.elements).toBeGreaterThan(MOST_ELEMENTS_AT_ONCE);
  expect(work.mostRows).toBe(PORTION);
  expect(work.mostElements).toBeLessThan(MOST_ELEMENTS_AT_ONCE);
}

// What makes a task long: the rows of one answer, and the elements that come in at once.
async function workWhile(tab, work) {
  await tab.evaluate(watchWork);
  await work();
  const seen = await tab.evaluate(() => globalThis.endWatch());
  console.log(seen);
  return seen;
}

function watchWork() {
  const { store, checkpointer } = globalThis.memory;
  const seen = { calls: 0, mostRows: 0, elements: 0, mostElements: 0 };
  const saw = (rows) => {
    seen.calls++;
    seen.mostRows = Math.max(seen.mostRows, rows);
  };
  const search = store.search.bind(store);
  store.search = async (...given) => {
    const items = await search(...given);
    saw(items.length);
    return items;
  };
  const list = checkpointer.list.bind(checkpointer);
  checkpointer.list = async function* (...given) {
    let rows = 0;
    // Slow enough for keys to be pressed meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 100));
    for await (const tuple of list(...given)) {
      rows++;
      yield tuple;
    }
    saw(rows);
  };
  const elementsIn = (node) => 1 + (node.querySelectorAll?.("*").length ?? 0);
  const observer = new MutationObserver((changes) => {
    const added = changes.flatMap(({ addedNodes }) => [...addedNodes]);
    const count = added.reduce((sum, node) => sum + elementsIn(node), 0);
    seen.elements += count;
    seen.mostElements = Math.max(seen.mostElements, count);
  });
  const { shadowRoot } = document.querySelector("keepsake-inspector");
  observer.observe(shadowRoot, { childList: true, subtree: true });
  globalThis.endWatch = () => {
    observer.disconnect();
    // The methods of the class are there again.
    delete store.search;
    delete checkpointer.list;
    return seen;
  };
}
