// The demo and the inspector, for people who use them without eyes or without a mouse.

import { servePage as serveDemo } from "../../demo/serve/serve.mjs";
import { temporaryFolder } from "../js/support/temporary.mjs";
import { violations } from "./support/axe.mjs";
import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { servePage } from "./support/test-page.mjs";

const NARROW = { width: 360, height: 740 };
const WIDE = { width: 1440, height: 900 };

let browser;

beforeAll(async () => {
  browser = await startChromium();
});

afterAll(cleanUp);

async function open(url) {
  const { page } = await openTab(browser, url);
  page.setDefaultTimeout(20_000);
  await page.setViewportSize(WIDE);
  return page;
}

test("the check finds what is wrong, also in a shadow tree and in the dark", async () => {
  const { url } = await servePage("inspector");
  const page = await open(`${url}?name=wrong`);
  await page.waitForFunction(() => globalThis.ready);
  await page.evaluate(() => {
    const { shadowRoot } = document.querySelector("keepsake-inspector");
    shadowRoot.append(document.createElement("button"));
    const text = document.createElement("p");
    text.textContent = "black on black at night";
    text.style.cssText = "color: black; background: light-dark(white, #111)";
    document.body.append(text);
  });
  const found = (await violations(page)).join();
  expect(found).toContain("button-name");
  expect(found).toContain("color-contrast");
  await page.close();
});

describe("the demo", () => {
  let server;
  let page;

  beforeAll(async () => {
    const demo = await serveDemo({ port: 0, bucket: temporaryFolder() });
    server = demo.server;
    page = await open(demo.address);
    await page.locator("#welcome h3").waitFor();
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const button = (name) => page.getByRole("button", { name, exact: true });
  const say = async (text) => {
    await page.getByLabel("Message", { exact: true }).fill(text);
    await page.keyboard.press("Enter");
  };

  test("has no violation at its beginning, in a large window and a small one", async () => {
    expect(await violations(page)).toEqual([]);
    for (const part of ["Threads", "Memory", "Storage", "Chat"]) {
      await page.setViewportSize(NARROW);
      await button(part).click();
      expect(await violations(page)).toEqual([]);
    }
    await page.setViewportSize(WIDE);
  });

  test("has none with a conversation, answers and what was recalled", async () => {
    await button("Load a conversation").click();
    await page.locator(".step .done").waitFor();
    await say("I love green tea.");
    await page.locator(".answer").waitFor();
    await say("When and where is Leila's wedding?");
    await page.getByText("Recalled 5 items").click();
    await page.locator("#namespaces summary").first().click();
    await page.locator(".item summary").first().click();
    expect(await violations(page)).toEqual([]);
  });

  test("has none while it looks back, asks, and says something", async () => {
    await button("Look back").click();
    await page.locator("#past-at:focus").waitFor();
    expect(await violations(page)).toEqual([]);
    await button("Back to now").click();
    await say("Forget that I love green tea.");
    await page.getByText("May I forget this?").waitFor();
    await button("Kill this tab’s worker").click();
    await page.getByText("nothing is lost").waitFor();
    expect(await violations(page)).toEqual([]);
  });

  test("has none in its dialogs", async () => {
    await page.getByRole("button", { name: /^Model/ }).click();
    await page.getByLabel("A model of yours").check();
    expect(await violations(page)).toEqual([]);
    await button("Cancel").click();
    await button("Forget everything").click();
    await page.locator("#confirm[open]").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.locator("#confirm").getByRole("button", { name: "Cancel" }).click();
    await button("See its parts").click();
    expect(await violations(page)).toEqual([]);
    await page.locator("#start").getByRole("button", { name: "Close" }).click();
    await button("Look inside").click();
    await page.getByRole("treeitem").nth(1).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.locator("#inside").getByRole("button", { name: "Close" }).click();
  });

  test("has none with two devices, of which one is offline and one has a write set aside", async () => {
    const device = (name) => page.getByRole("region", { name, exact: true });
    const flip = (name, label) => device(name).getByRole("switch", { name: label }).click();
    await button("Two devices").click();
    await device("Laptop").getByLabel("About").fill("tea");
    await device("Laptop").getByLabel("Fact").fill("green, no sugar");
    await page.keyboard.press("Enter");
    await device("Phone").getByText("from the laptop", { exact: true }).waitFor();
    await flip("Phone", "Offline");
    await flip("Laptop", "On hold");
    await device("Phone").getByRole("button", { name: "Forget everything" }).click();
    await button("Forget").click();
    await device("Phone").getByText("No facts yet.").waitFor();
    await device("Laptop").getByText("In step with the bucket.").waitFor();
    await flip("Phone", "Offline");
    await device("Phone").getByText("was set aside").waitFor();
    await flip("Laptop", "Offline");
    for (const size of [NARROW, WIDE]) {
      await page.setViewportSize(size);
      expect(await violations(page)).toEqual([]);
    }
  });
});

describe("the inspector", () => {
  let page;

  beforeAll(async () => {
    const { url } = await servePage("inspector");
    page = await open(`${url}?name=axe`);
    await page.waitForFunction(() => globalThis.ready);
    await page.evaluate(async () => {
      await globalThis.seedItems();
      await globalThis.seedThread("talk", 5);
    });
  });

  const tab = (name) => page.getByRole("tab", { name }).click();

  async function expectNone() {
    for (const size of [NARROW, WIDE]) {
      await page.setViewportSize(size);
      expect(await violations(page)).toEqual([]);
    }
  }

  test("has no violation with an item that is open", async () => {
    await page.getByRole("treeitem", { name: /tasks/ }).click();
    await page.getByRole("option").first().click();
    await page.getByLabel("Value, as JSON").waitFor();
    await expectNone();
  });

  test("has none in a search", async () => {
    await tab("Search");
    await page.getByLabel("Question").fill("green tea");
    await page.keyboard.press("Enter");
    await page.getByText("It holds", { exact: false }).first().waitFor();
    await expectNone();
  });

  test("has none in a thread with a checkpoint that is open", async () => {
    await tab("Threads");
    await page.getByRole("option", { name: /talk/ }).click();
    await page.getByRole("option", { name: /Step 2/ }).click();
    await page.getByText("Whole state").click();
    await expectNone();
  });

  test("has none among scopes, with a policy that is used", async () => {
    await page.evaluate(async () => {
      document.querySelector("keepsake-inspector").scopes = [await globalThis.seedScope()];
    });
    await tab("Scopes");
    await page.getByRole("option", { name: /eve@example.com/ }).click();
    await page.getByRole("meter").first().waitFor();
    await expectNone();
  });

  test("has none in the audit log, with its filter and an entry", async () => {
    await tab("Audit");
    await page.getByText("Filter", { exact: true }).click();
    await page.getByRole("option", { name: /Refused: store/ }).click();
    await page.getByText("Refused (quota_exceeded).").waitFor();
    await expectNone();
  });

  test("has none where it is stored", async () => {
    await tab("Storage");
    await page.getByRole("button", { name: "Export", exact: false }).first().waitFor();
    await expectNone();
  });

  test("is used by keyboard alone: an item is found, opened, and left", async () => {
    await tab("Items");
    await page.getByRole("tab", { name: "Items" }).focus();
    await page.keyboard.press("Tab");
    const focused = () =>
      page.evaluate(() => {
        const { activeElement } = document.querySelector("keepsake-inspector").shadowRoot;
        const label = activeElement?.labels?.[0]?.textContent;
        return activeElement?.getAttribute("aria-label") ?? label ?? activeElement?.textContent;
      });
    const tabTo = async (label) => {
      const seen = [];
      while ((await focused()) !== label && seen.length < 30) {
        seen.push(await focused());
        await page.keyboard.press("Tab");
      }
      expect([...seen, await focused()]).toContain(label);
    };
    await expect(focused()).resolves.toBe("Namespaces");
    for (const key of ["Home", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    await tabTo("Items, the newest first");
    await page.getByRole("option").first().waitFor();
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.getByLabel("Value, as JSON").waitFor();
    await tabTo("Value, as JSON");
    await page.keyboard.press("Shift+Tab");
    await expect(focused()).resolves.not.toBe("Value, as JSON");
  });
});
