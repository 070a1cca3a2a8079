// A real Chromium with a profile on the disk, and pages whose workers run storage-worker.mjs.

import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";

const file = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

async function bundledWorker() {
  const { outputFiles } = await build({
    entryPoints: [file("tests/browser/support/storage-worker.mjs")],
    bundle: true,
    format: "esm",
    target: "es2022",
    write: false,
  });
  return outputFiles[0].contents;
}

async function serve() {
  const contents = {
    "/": ["text/html", "<!doctype html><title>storage</title>"],
    "/worker.js": ["text/javascript", await bundledWorker()],
    "/keepsake.wasm": ["application/wasm", readFileSync(file("build/wasm/keepsake.wasm"))],
  };
  const server = createServer(({ url }, response) => {
    const [type, content] = contents[url] ?? [];
    response.writeHead(content ? 200 : 404, { "content-type": type ?? "text/plain" }).end(content);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

export async function startBrowser() {
  const server = await serve();
  const profile = await mkdtemp(join(tmpdir(), "keepsake-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.KEEPSAKE_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  return {
    /** Each host is an origin of its own, with its own quota. */
    openPage: (host = "storage") =>
      openPage(context, `http://${host}.localhost:${server.address().port}/`),
    async close() {
      await context.close();
      server.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}

async function openPage(context, url) {
  const page = await context.newPage();
  await page.goto(url);
  const cdp = await context.newCDPSession(page);
  return {
    page,
    startWorker: () => startWorker(page),
    setQuota: (quotaSize) =>
      cdp.send("Storage.overrideQuotaForOrigin", { origin: new URL(url).origin, quotaSize }),
    async usage() {
      return (await cdp.send("Storage.getUsageAndQuota", { origin: new URL(url).origin })).usage;
    },
    close: () => page.close(),
  };
}

async function startWorker(page) {
  const started = page.waitForEvent("worker");
  const handle = await page.evaluateHandle(() => new Worker("/worker.js", { type: "module" }));
  const worker = await started;
  return {
    /** Runs `body` in the worker, where `keepsake` is what storage-worker.mjs offers. */
    run: (body, argument) => worker.evaluate(body, argument),
    /** Fine if its page is closed already. */
    terminate: () => handle.evaluate((started) => started.terminate()).catch(() => {}),
  };
}
