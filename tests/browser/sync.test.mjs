// Two browsers are two devices: each has its own storage, and both sync with one bucket.

import { customBucket, serveBucket } from "keepsake/bucket";
import { closeServers, serveWeb } from "../js/support/local-server.mjs";
import { memoryPort } from "../js/support/memory-bucket.mjs";
import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { servePage } from "./support/test-page.mjs";

const NEVER_MS = 3_600_000;
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, PUT, DELETE",
  "access-control-allow-headers": "*",
};

afterAll(cleanUp);
afterAll(closeServers);

let pageUrl;
let devices;

beforeAll(async () => {
  pageUrl = (await servePage("sync")).url;
  devices = await Promise.all([startChromium(), startChromium()]);
});

/** A bucket behind a server, which tells who asked. */
async function relay() {
  const { objects, port } = memoryPort();
  const tabs = new Set();
  const store = customBucket(port);
  const url = await serveWeb(async (request) => {
    const isPreflight = request.method === "OPTIONS";
    if (!isPreflight) tabs.add(request.headers.get("x-tab"));
    const answer = isPreflight ? new Response() : await serveBucket(store, request);
    for (const [name, value] of Object.entries(CORS)) answer.headers.set(name, value);
    return answer;
  });
  return { url, tabs, objects };
}

async function tabOn(device, options) {
  const { page } = await openTab(device, pageUrl);
  const call = (method, ...args) =>
    page.evaluate(([name, given]) => globalThis.device[name](...given), [method, args]);
  const persistence = await call("open", options);
  return { page, call, persistence };
}

async function until(body) {
  for (;;) {
    const answer = await body();
    if (answer) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("each has what both put, also offline; the bucket has ciphertext", async () => {
  const { url, objects } = await relay();
  const options = { name: "pair", url, tab: "", key: "a passphrase", sync: { everyMs: NEVER_MS } };
  const [laptop, phone] = await Promise.all(devices.map((one) => tabOn(one, options)));
  expect([laptop.persistence, phone.persistence]).toEqual(["opfs", "opfs"]);
  await laptop.call("put", "k", { by: "laptop" });
  await laptop.call("sync");
  await phone.call("sync");
  expect(await phone.call("items")).toEqual([["k", { by: "laptop" }]]);

  await devices[1].context.setOffline(true);
  await phone.call("put", "offline", { text: "xylophone" });
  await laptop.call("put", "k", { by: "laptop, again" });
  await laptop.call("sync");
  expect(await phone.call("status")).toMatchObject({ waiting: 1 });
  await devices[1].context.setOffline(false);
  // Nobody calls it: the page hears that it is online.
  await until(async () => (await phone.call("status")).waiting === 0);
  await laptop.call("sync");
  const both = [
    ["k", { by: "laptop, again" }],
    ["offline", { text: "xylophone" }],
  ];
  expect(await phone.call("items")).toEqual(both);
  expect(await laptop.call("items")).toEqual(both);
  for (const bytes of objects.values())
    expect(Buffer.from(bytes).includes("xylophone")).toBe(false);

  await devices[0].context.setOffline(true);
  expect(await laptop.call("forget")).toMatchObject({
    scrubbed: "pending",
    remains: expect.stringMatching(/bucket that this memory syncs with still has it/),
  });
  expect(await laptop.call("status")).toMatchObject({ waiting: 1, isForgetting: true });
  await devices[0].context.setOffline(false);
  await laptop.call("sync");
  const { scrubbed, remains } = await laptop.call("checkReceipt");
  expect(scrubbed).toBe("pages");
  expect(remains).not.toMatch(/bucket/);
  await phone.call("sync");
  expect(await phone.call("items")).toEqual([]);
});

test("of several tabs one syncs, all hear of it, and another one follows it", async () => {
  const { url, tabs } = await relay();
  const options = { name: "tabs", url, sync: { everyMs: 50 } };
  const [device, other] = devices;
  const first = await tabOn(device, { ...options, tab: "first" });
  const second = await tabOn(device, { ...options, tab: "second" });
  const phone = await tabOn(other, { ...options, tab: "phone" });
  await second.call("put", "from the second", {});
  await until(async () => (await phone.call("items")).length === 1);
  await phone.call("put", "from the phone", {});
  await until(async () => (await second.call("items")).length === 2);
  expect([...tabs].sort()).toEqual(["first", "phone"]);
  expect(await second.call("changes")).toContainEqual({
    namespaces: [["n"]],
    threads: [],
    everything: false,
  });
  await first.call("forget");
  // The other tab learns what it is not told: that nothing has it any more.
  for (const tab of [first, second]) {
    await until(async () => !(await tab.call("status")).isForgetting);
    expect(await tab.call("items")).toEqual([]);
  }
  tabs.clear();
  await first.page.close();
  await second.call("put", "without the first", {});
  await until(async () => (await phone.call("items")).length === 1);
  expect(tabs).toContain("second");
});

test("what waited when a page was closed goes up when it is open again", async () => {
  const { url } = await relay();
  const options = { name: "reload", url, tab: "", sync: { everyMs: 0 } };
  const before = await tabOn(devices[0], options);
  await before.call("put", "k", { v: 1 });
  await before.page.close();
  const after = await tabOn(devices[0], options);
  expect(await after.call("status")).toMatchObject({ waiting: 1, record: 0 });
  await after.call("sync");
  const phone = await tabOn(devices[1], options);
  await phone.call("sync");
  expect(await phone.call("items")).toEqual([["k", { v: 1 }]]);
});

test("a page may have the memory in the bucket itself, beside devices", async () => {
  const { url } = await relay();
  const options = { name: "beside", url, tab: "", sync: { everyMs: 0 } };
  const laptop = await tabOn(devices[0], options);
  await laptop.call("put", "from the laptop", { text: "green tea" });
  await laptop.call("sync");
  expect(await laptop.call("inBucket", url)).toEqual({
    persistence: "bucket",
    found: ["from the laptop"],
  });
  await laptop.call("sync");
  expect((await laptop.call("items")).map(([key]) => key)).toEqual([
    "from a page",
    "from the laptop",
  ]);
});
