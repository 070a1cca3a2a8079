// The example of a page runs as it stands, but for its bundle.

import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { serveExample } from "./support/test-page.mjs";

afterAll(cleanUp);

test("an agent in a page knows after a reload what it was told", async () => {
  const { url } = await serveExample("page");
  const { page, errors } = await openTab(await startChromium(), url);
  const lines = (count) =>
    page.waitForFunction((wanted) => {
      const all = [...document.querySelectorAll("li")].map((line) => line.textContent);
      return all.length === wanted && all;
    }, count);
  const say = async (text, count) => {
    await page.fill("input", text);
    await page.press("input", "Enter");
    return (await lines(count)).jsonValue();
  };
  expect(await (await lines(1)).jsonValue()).toEqual(["Facts kept in opfs: 0"]);
  const [, ...told] = await say("Ada likes oolong tea.", 3);
  expect(told).toEqual(["You: Ada likes oolong tea.", "Agent: Noted."]);
  await page.reload();
  expect(await (await lines(1)).jsonValue()).toEqual(["Facts kept in opfs: 1"]);
  const [, , answer] = await say("Which tea does Ada like?", 3);
  expect(answer).toMatch(
    /^Agent: <memory>\n.*\n- \w+: Ada likes oolong tea\. \[from model\]\n<\/memory>$/,
  );
  expect(errors).toEqual([]);
});
