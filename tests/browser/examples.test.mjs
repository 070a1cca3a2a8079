// The examples of pages run as they stand, but for their bundles.

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

test("an agent in a page asks, and is answered after a reload", async () => {
  const { url } = await serveExample("approval");
  const { page, errors } = await openTab(await startChromium(), url);
  const ready = () => page.waitForSelector("body[data-ready]");
  const lines = (count) =>
    page.waitForFunction((wanted) => {
      const all = [...document.querySelectorAll("li")].map((line) => line.textContent);
      return all.length === wanted && all.slice(-3);
    }, count);
  const answers = {
    approve: "Sent: Tea is ready",
    edit: "Sent: Tea and cake are ready",
    reject: "The user said no.",
  };
  let said = 0;
  await ready();
  for (const [decision, told] of Object.entries(answers)) {
    await page.click("#start");
    await page.waitForSelector("#question:not([hidden])");
    await page.reload();
    await ready();
    expect(await page.textContent("#description")).toMatch(/^May I\?[\s\S]*"text": "Tea is ready"/);
    if (decision === "edit") await page.fill("#text", "Tea and cake are ready");
    await page.click(`button[value=${decision}]`);
    said += 3;
    expect(await (await lines(said)).jsonValue()).toEqual([
      "human: Tell Bob that tea is ready.",
      `tool: ${told}`,
      `ai: I was told: ${told}`,
    ]);
    expect(await page.isHidden("#question")).toBe(true);
  }
  expect(errors).toEqual([]);
});
