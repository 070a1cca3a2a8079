// `npm run animation`: docs/pictures/reload.webp, of the demo's page as it is: something is told, the
// page is loaded anew, and a new thread still knows. Needs a built package, and Chromium (CHROMIUM says where).

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import sharp from "sharp";

const root = fileURLToPath(new URL("../", import.meta.url));
const OUT = `${root}docs/pictures/reload.webp`;
const SIZE = { width: 1080, height: 860 };
const MOST_BYTES = 500_000;
const TOLD = "I like oolong tea, without sugar.";
const ASKED = "Which tea do I like?";
const LETTERS_A_FRAME = 6;

// { image, delay in ms }
const frames = [];

const server = spawn(process.execPath, ["demo/main.mjs", "--port", "0"], {
  cwd: root,
  stdio: ["ignore", "pipe", "inherit"],
});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  chromiumSandbox: false,
});
try {
  const page = await browser.newPage({
    viewport: SIZE,
    colorScheme: "light",
    reducedMotion: "reduce",
  });
  page.setDefaultTimeout(90_000);
  await page.goto(await addressOf(server));
  await page.getByRole("button", { name: "Load a conversation" }).waitFor();
  await take(page, 900);
  await say(page, TOLD);
  await take(page, 1800);
  await page.reload({ waitUntil: "commit" });
  await take(page, 500);
  await page.locator(".answer .text").waitFor();
  await take(page, 1300);
  await page.getByRole("button", { name: "New thread" }).click();
  await page.locator(".turn").waitFor({ state: "detached" });
  await say(page, ASKED);
  await take(page, 3500);
} finally {
  await browser.close();
  server.kill("SIGINT");
}

await mkdir(`${root}docs/pictures`, { recursive: true });
const { size } = await sharp(
  frames.map(({ image }) => image),
  { join: { animated: true } },
)
  .webp({ quality: 70, effort: 6, loop: 0, delay: frames.map(({ delay }) => delay) })
  .toFile(OUT);
console.log(`${OUT}: ${frames.length} frames, ${size} bytes`);
if (size > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES} bytes`);

async function addressOf(child) {
  child.stdout.setEncoding("utf8");
  let output = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += chunk;
    const found = /http:\S+/.exec(output);
    if (found) return found[0];
  }
  const [code] = await once(child, "exit");
  throw new Error(`the demo ended with ${code} and without an address: ${output}`);
}

async function take(page, delay) {
  frames.push({ image: await page.screenshot(), delay });
}

async function say(page, text) {
  const turns = page.locator(".turn");
  const before = await turns.count();
  const box = page.getByLabel("Message", { exact: true });
  for (let end = LETTERS_A_FRAME; end < text.length + LETTERS_A_FRAME; end += LETTERS_A_FRAME) {
    await box.fill(text.slice(0, end));
    await take(page, 130);
  }
  await page.getByRole("button", { name: "Send" }).click();
  await turns.nth(before).locator(".answer .text").waitFor();
  await page.locator(".working").waitFor({ state: "detached" });
}
