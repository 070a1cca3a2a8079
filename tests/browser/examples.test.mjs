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

describe("a page that finds by meaning when a model is there", () => {
  const alias = { "@huggingface/transformers": "./tests/browser/pages/transformers.mjs" };
  const served = () => serveExample("meaning", { alias });
  const state = (page, text) =>
    page.waitForFunction((wanted) => document.querySelector("#state").textContent === wanted, text);
  async function say(page, text) {
    await page.evaluate(() => {
      document.querySelector("#answer").textContent = "";
    });
    await page.fill("input", text);
    await page.press("input", "Enter");
    const answer = await page.waitForFunction(
      () => document.querySelector("#answer").textContent || undefined,
    );
    return answer.jsonValue();
  }
  const UNKNOWN = "Nothing is known of that.";

  test("finds by words first, then by meaning what was told before, too", async () => {
    const { url } = await served();
    const { page, errors } = await openTab(await startChromium(), url);
    await state(page, "finds by words");
    expect(await say(page, "Her dog is called Max.")).toBe("Noted.");
    expect(await say(page, "She likes oolong.")).toBe("Noted.");
    expect(await say(page, "What is her dog called?")).toBe("Her dog is called Max.");
    expect(await say(page, "Has she an animal?")).toBe(UNKNOWN);
    await page.waitForFunction(() => globalThis.arrive);
    await page.evaluate(() => globalThis.arrive());
    await state(page, "finds by words and meaning, with Xenova/all-MiniLM-L6-v2");
    expect(await say(page, "Has she an animal?")).toBe("Her dog is called Max.");

    // Chrome gets a model of its own: what the other one embedded is embedded anew.
    await page.addInitScript(chromesModel);
    await page.reload();
    await state(page, "finds by words and meaning, with embeddinggemma-300m");
    expect(await say(page, "Has she an animal?")).toBe("Her dog is called Max.");
    expect(await say(page, "She has a cat, too.")).toBe("Noted.");
    expect(await page.evaluate(() => globalThis.asked)).toEqual([
      ["retrieval-document", "Her dog is called Max.", "She likes oolong."],
      ["retrieval-query", "Has she an animal?"],
      ["retrieval-document", "She has a cat, too."],
    ]);
    expect(errors).toEqual([]);
  });

  test("says why there is no meaning, and finds by words", async () => {
    const { url } = await served();
    const { page } = await openTab(await startChromium(), url);
    await page.waitForFunction(() => globalThis.arrive);
    await page.evaluate(() => globalThis.arrive("Failed to fetch"));
    await page.waitForFunction(() =>
      /^finds by words: .*"Xenova.*" can't be loaded: Failed to fetch/.test(
        document.querySelector("#state").textContent,
      ),
    );
    await say(page, "Her dog is called Max.");
    expect(await say(page, "What is her dog called?")).toBe("Her dog is called Max.");
  });
});

// Chrome's Embedding API, strict about what it is asked with. It runs in the page.
function chromesModel() {
  const concepts = [/dog|animal|cat/, /tea|drink/];
  globalThis.asked = [];
  const check = ({ embeddingSpace }) => {
    if (embeddingSpace !== "embeddinggemma-300m") throw new TypeError("which space?");
  };
  globalThis.SemanticEmbedder = {
    availability: async (options) => {
      check(options);
      return "available";
    },
    create: async (options) => {
      check(options);
      return {
        embed: async (texts, { taskType }) => {
          globalThis.asked.push([taskType, ...texts]);
          const embeddings = texts.map((text) => ({
            values: Float32Array.from({ length: 768 }, (_, i) =>
              Number(concepts[i]?.test(text) ?? 0.001),
            ),
          }));
          return { embeddings };
        },
      };
    },
  };
}
