// What a visitor waits for: the demo's first paint, and until it can be used, in a new profile each
// time; and the longest task while 100,000 items are scrolled in the inspector.
import { spawn } from "node:child_process";
import { closeBrowsers, openTab, startChromium } from "../tests/browser/support/chromium.mjs";
import { cleanUp } from "../tests/browser/support/clean-up.mjs";
import { servePage } from "../tests/browser/support/test-page.mjs";
import { introduce, quick, table } from "./lib.mjs";

const VISITS = quick ? 3 : 9;
const ITEMS = quick ? 10_000 : 100_000;
const STEPS = 60;

introduce(
  "First look",
  "Chromium and the server share this machine. A task is what the browser calls a long one: 50 ms or more.",
);

const server = spawn(process.execPath, ["demo/main.mjs", "--port", "0"], {
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  const address = await addressOf(server);
  const visits = [];
  for (let i = 0; i < VISITS; i++) visits.push(await visit(address));
  const row = (name, key) => [name, ...spread(visits.map((times) => times[key]))];
  console.log(
    table(
      ["", "least", "middle", "most"],
      [row("the demo's first paint, ms", "paint"), row("it can be used, ms", "usable")],
    ),
  );
  console.log(`\n${await scrolled()}`);
} finally {
  server.kill("SIGINT");
  await closeBrowsers();
  await cleanUp();
}

async function visit(address) {
  const browser = await startChromium();
  const { page } = await openTab(browser, "about:blank");
  await page.goto(address, { waitUntil: "commit" });
  // The button that begins is there when the memory is open.
  await page.getByRole("button", { name: "Load a conversation" }).waitFor();
  const usable = await page.evaluate(() => performance.now());
  const paint = await page.evaluate(
    () => performance.getEntriesByName("first-contentful-paint")[0].startTime,
  );
  await browser.close();
  return { paint, usable };
}

async function scrolled() {
  const { url } = await servePage("inspector");
  const { page } = await openTab(await startChromium(), `${url}?name=many`);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.waitForFunction(() => globalThis.ready);
  await page.evaluate((count) => globalThis.seedMany(count), ITEMS);
  await page.reload();
  await page.waitForFunction(() => globalThis.ready);
  await page.getByRole("option").first().waitFor();
  await page.evaluate(() => {
    globalThis.tasks = [];
    const note = (list) => globalThis.tasks.push(...list.getEntries().map((task) => task.duration));
    new PerformanceObserver(note).observe({ type: "longtask" });
  });
  await page.getByRole("option").first().hover();
  for (let i = 0; i < STEPS; i++) {
    await page.mouse.wheel(0, 3000 * 2 ** (i % 5));
    await page.waitForTimeout(50);
  }
  const tasks = await page.evaluate(() => globalThis.tasks);
  const longest = tasks.length > 0 ? `, the longest ${Math.max(...tasks)} ms` : "";
  const place = await page.getByRole("option").last().getAttribute("aria-posinset");
  return `Scrolling ${ITEMS} items down to number ${place} by ${STEPS} turns of the wheel: ${tasks.length} long tasks${longest}.`;
}

function spread(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)].map((ms) => ms.toFixed(0));
}

async function addressOf(child) {
  child.stdout.setEncoding("utf8");
  let output = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += chunk;
    const found = /http:\S+/.exec(output);
    if (found) return found[0];
  }
  throw new Error(`the demo ended without an address: ${output}`);
}
