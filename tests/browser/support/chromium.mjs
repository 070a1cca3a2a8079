// Starts Chromium: the system's own, driven by playwright-core.

import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { temporaryFolder } from "../../js/support/temporary.mjs";

const DEFAULT_PATH = "/usr/bin/chromium";

function chromiumPath() {
  const path = process.env.CHROMIUM ?? DEFAULT_PATH;
  if (existsSync(path)) return path;
  throw new Error(
    `there is no Chromium at ${path}: install it (on Debian, npm test does), or set CHROMIUM to its path`,
  );
}

const running = new Set();

/**
 * A browser with a profile of its own, or with the one given. Playwright switches the
 * back/forward cache off, which users have; `bfcache` leaves it on.
 */
export async function startChromium({ profile = temporaryFolder(), bfcache = false, args } = {}) {
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: chromiumPath(),
    chromiumSandbox: false,
    ignoreDefaultArgs: bfcache ? ["--disable-back-forward-cache"] : [],
    args: ["--disable-dev-shm-usage", ...(args ?? [])],
  });
  running.add(context);
  context.once("close", () => running.delete(context));
  return { context, profile, close: () => context.close() };
}

/** A private window. */
export async function startIncognito() {
  const browser = await chromium.launch({ executablePath: chromiumPath(), chromiumSandbox: false });
  const context = await browser.newContext();
  // closeBrowsers() closes the browser with it.
  context.once("close", () => browser.close());
  running.add(context);
  return { context };
}

export async function closeBrowsers() {
  await Promise.all([...running].map((context) => context.close()));
}

/** A new tab whose errors, of the page and on its console, are in `errors`. */
export async function openTab({ context }, url) {
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    const { url: from } = message.location();
    // Browsers ask for it by themselves.
    if (message.type() !== "error" || from.endsWith("/favicon.ico")) return;
    errors.push(`${message.text()} (${from})`);
  });
  await page.goto(url);
  return { page, errors };
}

/** The same server, as another site to the browser, so that a page can leave. */
export const elsewhere = (url) => `${url.replace("127.0.0.1", "localhost")}worker.js`;

/** Goes to `url`, and back after `meanwhile`; true if the page is as it was left. */
export async function leaveAndReturn(page, url, meanwhile = async () => {}) {
  const timeOrigin = () => performance.timeOrigin;
  const left = await page.evaluate(timeOrigin);
  await page.goto(url);
  await meanwhile();
  // A page that comes out of the back/forward cache has no second `load`.
  await page.goBack({ waitUntil: "commit" });
  await page.evaluate(async () => {
    if (document.readyState === "complete") return;
    await new Promise((resolve) => addEventListener("load", resolve));
  });
  return (await page.evaluate(timeOrigin)) === left;
}
