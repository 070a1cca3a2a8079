// The demo's two devices, which sync by a bucket on its server.

import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { servePage } from "../../demo/serve/serve.mjs";
import { temporaryFolder } from "../js/support/temporary.mjs";
import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";

const bucket = temporaryFolder();
let server;
let address;
let browser;
let tab;
let errors;

beforeAll(async () => {
  ({ server, address } = await servePage({ port: 0, bucket }));
  browser = await startChromium();
  ({ page: tab, errors } = await open(`${address}?devices`));
});

afterAll(async () => {
  await cleanUp();
  end(server);
});

async function open(url) {
  const opened = await openTab(browser, url);
  opened.page.setDefaultTimeout(60_000);
  await opened.page.setViewportSize({ width: 1440, height: 900 });
  return opened;
}

function end(one) {
  one.closeAllConnections();
  one.close();
}

const device = (name, page = tab) => page.getByRole("region", { name, exact: true });
const offline = (name, page = tab) => device(name, page).getByRole("switch", { name: "Offline" });
const fact = (name, hasText, page = tab) => device(name, page).locator("li", { hasText });
const says = (name, text, page = tab) => device(name, page).getByText(text).waitFor();

async function keep(name, about, text) {
  await device(name).getByLabel("About").fill(about);
  await device(name).getByLabel("Fact").fill(text);
  await device(name).getByRole("button", { name: "Keep" }).click();
  await fact(name, text).waitFor();
}

// Whoever wrote them.
async function factsOf(name) {
  const rows = await device(name).getByRole("listitem").allTextContents();
  return rows.map((row) => row.replace(/from the \w+$/, ""));
}

async function forgetEverything(name) {
  await device(name).getByRole("button", { name: "Forget everything" }).click();
  await tab.getByRole("button", { name: "Forget", exact: true }).click();
  await says(name, "No facts yet.");
}

function objects() {
  return readdirSync(bucket, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1"));
}

test("what is kept on one device shows on the other, and says where it came from", async () => {
  await says("Laptop", "In step with the bucket.");
  await says("Phone", "In step with the bucket.");
  await keep("Laptop", "tea", "green, no sugar");
  await fact("Phone", /tea.*green, no sugar.*from the laptop/).waitFor();
  await says("Phone", "“tea” came from the laptop.");
  await keep("Phone", "Leila", "lives in Porto");
  await fact("Laptop", /lives in Porto.*from the phone/).waitFor();
});

test("the server has only ciphertext", () => {
  expect(objects().length).toBeGreaterThan(0);
  expect(objects().join()).not.toMatch(/green|Porto|laptop/);
});

describe("a device that is offline", () => {
  test("goes on, and says what waits and since when", async () => {
    await offline("Phone").check();
    await says("Phone", "Offline. Nothing waits.");
    await keep("Phone", "tea", "black, since Monday");
    await keep("Phone", "boat", "is at the yard");
    await says("Phone", /^Offline\. 2 writes wait since \d\d:\d\d:\d\d\.$/);
    await keep("Laptop", "tea", "white");
    await keep("Laptop", "train", "leaves at nine");
    await says("Laptop", "In step with the bucket.");
    expect(await factsOf("Phone")).toEqual([
      "boatis at the yard",
      "teablack, since Monday",
      "Leilalives in Porto",
    ]);
    expect((await factsOf("Laptop")).join()).not.toMatch(/yard|Monday/);
  });

  test("is that after a reload, and has what it had", async () => {
    await tab.reload();
    await says("Phone", /^Offline\. 2 writes wait since/);
    await expect(offline("Phone").isChecked()).resolves.toBe(true);
    await fact("Phone", "black, since Monday").waitFor();
    await fact("Laptop", "white").waitFor();
  });

  test("has what the other has when it is back, also of what both wrote", async () => {
    await offline("Phone").uncheck();
    await fact("Laptop", "is at the yard").waitFor();
    await fact("Phone", "leaves at nine").waitFor();
    await says("Phone", "In step with the bucket.");
    await says("Laptop", "In step with the bucket.");
    const facts = await factsOf("Phone");
    expect(await factsOf("Laptop")).toEqual(facts);
    // The phone synced last.
    expect(facts.toSorted()).toEqual([
      "Leilalives in Porto",
      "boatis at the yard",
      "teablack, since Monday",
      "trainleaves at nine",
    ]);
    await says("Laptop", "2 facts came from the phone, 1 in place of what was here.");
  });
});

test("a fact is said anew by way of its row", async () => {
  await fact("Laptop", "leaves at nine").getByRole("button").click();
  await tab.keyboard.type("leaves at ten");
  await tab.keyboard.press("Enter");
  await fact("Phone", "leaves at ten").waitFor();
  await says("Phone", "“train” came from the laptop, in place of “leaves at nine”.");
});

test("a second tab shows the same devices, and their switches", async () => {
  const { page, errors: ofSecond } = await open(`${address}?devices`);
  await fact("Phone", "leaves at ten", page).waitFor();
  await offline("Laptop", page).check();
  await device("Laptop").locator(":checked").waitFor();
  await keep("Phone", "hat", "is blue");
  await says("Laptop", "Offline. Nothing waits.", page);
  expect((await factsOf("Laptop")).join()).not.toContain("hat");
  await offline("Laptop").uncheck();
  await fact("Laptop", "is blue", page).waitFor();
  await fact("Laptop", "is blue").waitFor();
  expect(ofSecond).toEqual([]);
  await page.close();
});

test("what is forgotten offline, and was put on hold before, is set aside, with its reason", async () => {
  const before = await factsOf("Phone");
  await offline("Phone").check();
  await device("Laptop").getByRole("switch", { name: "On hold" }).check();
  await says("Laptop", "In step with the bucket.");
  await forgetEverything("Phone");
  await offline("Phone").uncheck();
  await says("Phone", /^What you did at \d\d:\d\d:\d\d was set aside: .*on hold/);
  expect(await factsOf("Phone")).toEqual(before);
  await expect(
    device("Phone")
      .getByText(/came from/)
      .count(),
  ).resolves.toBe(0);
  await device("Phone").getByRole("button", { name: "Understood" }).click();
  await device("Phone").getByText("set aside").waitFor({ state: "hidden" });
  const forget = device("Phone").getByRole("button", { name: "Forget everything" });
  await expect(forget.isDisabled()).resolves.toBe(true);
  await device("Phone").getByRole("switch", { name: "On hold" }).uncheck();
  await device("Laptop").locator("[role=switch]:checked").waitFor({ state: "detached" });
});

test("what is forgotten on one is forgotten on the other", async () => {
  await forgetEverything("Laptop");
  await says("Phone", "No facts yet.");
  await says("Phone", "The other device forgot everything.");
  await says("Laptop", "In step with the bucket.");
  await tab.reload();
  await says("Laptop", "In step with the bucket.");
  await says("Phone", "No facts yet.");
});

test("a bucket that was emptied is told, and left for a new beginning", async () => {
  await keep("Laptop", "tea", "green");
  await fact("Phone", "green").waitFor();
  for (const name of readdirSync(bucket).filter((name) => name !== "unfinished")) {
    rmSync(join(bucket, name), { recursive: true });
  }
  await device("Phone").getByRole("button", { name: "Begin anew" }).click();
  await says("Phone", "No facts yet.");
  await says("Laptop", "In step with the bucket.");
  await keep("Phone", "tea", "white");
  await fact("Laptop", "white").waitFor();
});

test("the devices fit windows of all sizes, and are used by keyboard", async () => {
  for (const width of [360, 768, 1440]) {
    await tab.setViewportSize({ width, height: 900 });
    const wide = await tab.evaluate(() =>
      [...document.querySelectorAll("html, .panel, .scroll, .device")]
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map(({ className }) => className),
    );
    expect(wide).toEqual([]);
  }
  await offline("Laptop").focus();
  const keys = ["Space", "Tab", ..."boat", "Tab", ..."is red", "Enter"];
  for (const key of keys) await tab.keyboard.press(key);
  await fact("Laptop", "is red").waitFor();
  await says("Laptop", /^Offline\. 1 write waits/);
  await offline("Laptop").focus();
  await tab.keyboard.press("Space");
  await fact("Phone", "is red").waitFor();
});

test("the memories are closed when nobody looks, and open again", async () => {
  const locks = () => tab.evaluate(async () => (await navigator.locks.query()).held.length);
  const open = await locks();
  await tab.getByRole("button", { name: "Back to the agent" }).click();
  await tab.locator("#welcome h3").waitFor();
  while ((await locks()) >= open) await tab.waitForTimeout(50);
  expect(new URL(tab.url()).search).toBe("");
  await tab.getByRole("button", { name: "Two devices" }).click();
  await fact("Phone", "is red").waitFor();
  expect(errors).toEqual([]);
});

test("without the server the devices go on, and say so, also after a reload", async () => {
  await tab.evaluate(() => navigator.serviceWorker.ready);
  end(server);
  await keep("Phone", "hat", "is green");
  await says("Phone", /^The bucket can’t be reached\. 1 write waits since/);
  await tab.reload();
  await fact("Phone", "is green").waitFor();
  await says("Phone", /^The bucket can’t be reached\. 1 write waits since/);
  ({ server } = await servePage({ port: Number(new URL(address).port), bucket }));
  await fact("Laptop", "is green").waitFor();
});

test("a server that only hands out files has no bucket, and the view says so", async () => {
  const files = await servePage({ port: 0, bucket: false });
  const { page } = await open(`${files.address}?devices`);
  await page.getByText("This server has no bucket").waitFor();
  await expect(device("Laptop", page).count()).resolves.toBe(0);
  await page.close();
  end(files.server);
});
