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
