// The packed tarball where a page is not all there is: in workers and frames of the application's,
// and in an extension.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../js/support/temporary.mjs";
import { bundleWithEsbuild, copyAssets, serveBundle } from "./support/apps.mjs";
import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { closeServers } from "./support/static-server.mjs";

afterEach(closeServers);

afterAll(cleanUp);

const REPLY = `
async function reply(options) {
  try {
    return await globalThis.visit(options);
  } catch ({ code, message }) {
    return { code, message };
  }
}
`;

const WORKER = `import "./main.js";
${REPLY}
globalThis.onmessage = async ({ data }) => postMessage(await reply(data));
globalThis.onconnect = ({ ports: [port] }) => {
  port.onmessage = async ({ data }) => port.postMessage(await reply(data));
};
`;

const FRAME = `<!doctype html><title>frame</title><script type="module" src="main.js"></script>
<script type="module">${REPLY}
onmessage = async ({ data, source }) => source.postMessage(await reply(data), "*");
parent.postMessage("ready", "*");
</script>`;

const HOST = `<!doctype html><title>host</title><body><script>
const answer = (port) => new Promise((resolve) => { port.onmessage = ({ data }) => resolve(data); });
function ask(kind, options = {}) {
  const worker = new globalThis[kind]("own-worker.js", { type: "module" });
  const port = worker.port ?? worker;
  const answered = answer(port);
  port.postMessage(options);
  return answered;
}
async function askFrame(src, sandbox) {
  const frame = document.createElement("iframe");
  if (sandbox !== undefined) frame.sandbox = sandbox;
  frame.src = src;
  const ready = answer(window);
  document.body.append(frame);
  await ready;
  const answered = answer(window);
  frame.contentWindow.postMessage({}, "*");
  return answered;
}
</script>`;

/** A page that has workers and frames of its own, and whether it imports `from`. */
async function openHost(from = "keepsake") {
  const folder = bundleWithEsbuild({ from });
  if (from === "keepsake") copyAssets(folder, "worker.js", "keepsake.wasm");
  writeFileSync(join(folder, "own-worker.js"), WORKER);
  writeFileSync(join(folder, "frame.html"), FRAME);
  writeFileSync(join(folder, "host.html"), HOST);
  // A frame with a sandbox asks for its modules as a stranger does.
  const server = await serveBundle(folder, { headers: { "access-control-allow-origin": "*" } });
  const { page } = await openTab(await startChromium(), new URL("host.html", server.url).href);
  return { page, url: server.url };
}

describe.each(["keepsake", "keepsake/inline"])("%s", (from) => {
  test("an application's own worker remembers", async () => {
    const { page } = await openHost(from);
    for (const visits of [1, 2]) {
      const said = await page.evaluate(() => globalThis.ask("Worker"));
      expect(said).toEqual({ visits, persistence: "opfs" });
    }
  });

  test("its SharedWorker takes IndexedDB, or says how", async () => {
    const { page } = await openHost(from);
    const { code, message } = await page.evaluate(() => globalThis.ask("SharedWorker"));
    expect(code).toBe("unsupported");
    expect(message).toMatch(/only pages have OPFS: open it in a page, too.*storage: "indexeddb"/);
    for (const visits of [1, 2]) {
      const options = { name: "mirrored", storage: "indexeddb" };
      const said = await page.evaluate((given) => globalThis.ask("SharedWorker", given), options);
      expect(said).toEqual({ visits, persistence: "indexeddb" });
    }
  });

  test("a frame of another site has it in memory", async () => {
    const { page, url } = await openHost(from);
    const frame = `${url.replace("127.0.0.1", "localhost")}frame.html`;
    const said = await page.evaluate((src) => globalThis.askFrame(src), frame);
    expect(said).toEqual({ visits: 1, persistence: "memory" });
  });

  test("a frame with a sandbox has it in memory, or says how", async () => {
    const { page } = await openHost(from);
    const said = await page.evaluate(() => globalThis.askFrame("frame.html", "allow-scripts"));
    if (from === "keepsake/inline") {
      expect(said).toEqual({ visits: 1, persistence: "memory" });
    } else {
      expect(said.code).toBe("cannot_open");
      expect(said.message).toMatch(/sandbox without allow-same-origin.*keepsake\/inline/);
    }
  });

  test("a frame with a sandbox and allow-same-origin remembers", async () => {
    const { page } = await openHost(from);
    for (const visits of [1, 2]) {
      const said = await page.evaluate(() =>
        globalThis.askFrame("frame.html", "allow-scripts allow-same-origin"),
      );
      expect(said).toEqual({ visits, persistence: "opfs" });
    }
  });
});

test("an extension's service worker, side panel and offscreen page have one memory", async () => {
  const folder = bundleWithEsbuild();
  copyAssets(folder, "worker.js", "keepsake.wasm");
  const manifest = {
    manifest_version: 3,
    name: "app",
    version: "1",
    permissions: ["offscreen", "sidePanel"],
    side_panel: { default_path: "panel.html" },
    background: { service_worker: "background.js", type: "module" },
    content_security_policy: { extension_pages: "script-src 'self' 'wasm-unsafe-eval'" },
  };
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  const pageWith = (script) =>
    `<!doctype html><title>page</title><script type="module" src="${script}"></script>`;
  writeFileSync(join(folder, "panel.html"), pageWith("main.js"));
  writeFileSync(join(folder, "offscreen.html"), pageWith("offscreen.js"));
  writeFileSync(join(folder, "offscreen.js"), 'import "./main.js"; await globalThis.keepOpen();');
  writeFileSync(
    join(folder, "background.js"),
    `import "./main.js";${REPLY}globalThis.reply = reply;`,
  );
  const args = [`--disable-extensions-except=${folder}`, `--load-extension=${folder}`];
  const { context } = await startChromium({ profile: temporaryFolder(), args });
  const background = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
  // Alone it has no OPFS.
  const alone = await background.evaluate(() => globalThis.reply());
  expect(alone).toEqual({
    code: "unsupported",
    message: expect.stringMatching(/open it in a page/),
  });
  await background.evaluate(() =>
    globalThis.chrome.offscreen.createDocument({
      url: "offscreen.html",
      reasons: ["WORKERS"],
      justification: "has the memory",
    }),
  );
  const panel = await context.newPage();
  await panel.goto(new URL("panel.html", background.url()).href);
  await panel.waitForFunction(() => globalThis.visit);
  expect(await panel.evaluate(() => globalThis.visit())).toEqual({
    visits: 1,
    persistence: "opfs",
  });
  expect(await background.evaluate(() => globalThis.reply())).toEqual({
    visits: 2,
    persistence: "opfs",
  });
});
