// interrupt(), getStore() and subgraphs in a page, with the shim.

import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { servePage } from "./support/test-page.mjs";

afterAll(cleanUp);

test("a subgraph asks, the page is reloaded, and it goes on with the answer", async () => {
  const { url } = await servePage("agent");
  const { page, errors } = await openTab(await startChromium(), url);
  expect(await page.evaluate(() => globalThis.ask("agent"))).toEqual(["what?"]);
  await page.reload();
  const log = await page.evaluate(() => globalThis.answer("agent", "this"));
  expect(log).toEqual(["begun", "begun", "answered this", "remembered"]);
  expect(errors).toEqual([]);
});

test("what a node answered is there when the page is reloaded, and in other tabs", async () => {
  const { url } = await servePage("agent");
  const browser = await startChromium();
  const { page, errors } = await openTab(browser, url);
  const ask = (tab, ...given) => tab.evaluate((all) => globalThis.cached("cached", ...all), given);
  const answer = "42 to life";
  expect(await ask(page, "life")).toEqual({ answer, runs: 1 });
  await page.reload();
  expect(await ask(page, "life")).toEqual({ answer, runs: 0 });
  expect(await ask(page, "life", { user: "ada" })).toEqual({ answer, runs: 1 });
  const other = await openTab(browser, url);
  expect(await ask(other.page, "life")).toEqual({ answer, runs: 0 });
  expect(await ask(other.page, "life", { user: "ada" })).toEqual({ answer, runs: 0 });
  expect([errors, other.errors]).toEqual([[], []]);
});
