// Pages of a real Chromium whose workers run storage-worker.mjs, each host an origin of its own.

import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { temporaryFolder } from "../../js/support/temporary.mjs";
import { startChromium } from "./chromium.mjs";
import { hastened } from "./hasty.mjs";
import { serveFolder } from "./static-server.mjs";

const file = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

// That of the module in dist.
const builtGlue = {
  name: "built-glue",
  setup({ onResolve }) {
    onResolve({ filter: /^#glue$/ }, () => ({ path: file("dist/keepsake.mjs") }));
  },
};

async function servePages() {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "index.html"), "<!doctype html><title>storage</title>");
  copyFileSync(file("dist/keepsake.wasm"), join(folder, "keepsake.wasm"));
  await build({
    entryPoints: [file("tests/browser/support/storage-worker.mjs")],
    outfile: join(folder, "worker.js"),
    bundle: true,
    format: "esm",
    target: "es2022",
    plugins: [builtGlue],
  });
  const worker = readFileSync(join(folder, "worker.js"), "utf8");
  writeFileSync(join(folder, "hasty.js"), hastened(worker));
  return serveFolder(folder);
}

/** For cleanUp() to close. */
export async function startBrowser() {
  const { port } = new URL((await servePages()).url);
  const { context } = await startChromium();
  return {
    /** Each host is an origin of its own, with its own quota. */
    openPage: (host = "storage") => openPage(context, `http://${host}.localhost:${port}/`),
  };
}

async function openPage(context, url) {
  const page = await context.newPage();
  await page.goto(url);
  const cdp = await context.newCDPSession(page);
  return {
    page,
    startWorker: (script = "worker.js") => startWorker(page, script),
    setQuota: (quotaSize) =>
      cdp.send("Storage.overrideQuotaForOrigin", { origin: new URL(url).origin, quotaSize }),
    async usage() {
      return (await cdp.send("Storage.getUsageAndQuota", { origin: new URL(url).origin })).usage;
    },
    close: () => page.close(),
  };
}

async function startWorker(page, script) {
  const started = page.waitForEvent("worker");
  const handle = await page.evaluateHandle(
    (url) => new Worker(url, { type: "module" }),
    `/${script}`,
  );
  const worker = await started;
  return {
    /** Runs `body` in the worker, where `keepsake` is what storage-worker.mjs offers. */
    run: (body, argument) => worker.evaluate(body, argument),
    /** Fine if its page is closed already. */
    terminate: () => handle.evaluate((started) => started.terminate()).catch(() => {}),
  };
}
