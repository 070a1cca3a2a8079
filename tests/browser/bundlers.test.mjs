// The packed tarball in an app of every bundler, without any configuration for it.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  buildWithVite,
  buildWithWebpack,
  bundleWithEsbuild,
  bundleWithRollup,
  copyAssets,
  serveBundle,
  serveSources,
  serveWithVite,
  stopServers,
} from "./support/apps.mjs";
import { startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { closeServers } from "./support/static-server.mjs";
import { expectToRemember, openApp, visit } from "./support/visits.mjs";

let browser;

// Each server is an origin of its own.
beforeAll(async () => {
  browser = await startChromium();
});

afterEach(async () => {
  const [, ...pages] = browser.context.pages();
  await Promise.all(pages.map((page) => page.close()));
  await stopServers();
  closeServers();
});

afterAll(cleanUp);

async function failureOf(server, call) {
  const { page } = await openApp(browser, server);
  return page.evaluate(async (name) => {
    try {
      await globalThis[name]();
    } catch ({ code, message }) {
      return { code, message };
    }
  }, call);
}

describe("without configuration", () => {
  test.each(["vite7", "vite"])("%s: the development server", async (vite) => {
    await expectToRemember(browser, await serveWithVite(vite));
  });

  test.each(["vite7", "vite"])("%s: a build", async (vite) => {
    await expectToRemember(browser, await buildWithVite(vite));
  });

  test("webpack", async () => {
    await expectToRemember(browser, await buildWithWebpack());
  });

  test("no bundler, and an import map", async () => {
    await expectToRemember(browser, await serveSources());
  });

  test("keepsake/inline, as one file", async () => {
    await expectToRemember(
      browser,
      await serveBundle(bundleWithEsbuild({ from: "keepsake/inline" })),
    );
  });

  test("keepsake/inline, as a classic script", async () => {
    const folder = bundleWithEsbuild({ from: "keepsake/inline", format: "iife" });
    await expectToRemember(browser, await serveBundle(folder));
  });
});

describe.each([
  ["esbuild", bundleWithEsbuild],
  ["Rollup", bundleWithRollup],
])("%s, which copies no files", (_, bundle) => {
  test("works when worker.js and keepsake.wasm are copied beside the bundle", async () => {
    const folder = bundle();
    copyAssets(folder, "worker.js", "keepsake.wasm");
    await expectToRemember(browser, await serveBundle(folder));
  });
});

describe("files that are not beside the bundle", () => {
  const remedies = /copy it from keepsake\/dist beside the bundle, .*option.*keepsake\/inline/;

  test("are found by the options worker and wasmUrl", async () => {
    const folder = bundleWithEsbuild();
    mkdirSync(join(folder, "assets"));
    copyAssets(join(folder, "assets"), "worker.js", "keepsake.wasm");
    const server = await serveBundle(folder);
    const { page, errors } = await openApp(browser, server);
    const options = { worker: "assets/worker.js", wasmUrl: "assets/keepsake.wasm" };
    expect(await visit(page, options)).toEqual({ visits: 1, persistence: "opfs" });
    expect(errors).toEqual([]);
  });

  test.each([
    ["answers 404", undefined],
    ["answers with a page", { fallback: "index.html" }],
  ])("are named, when the server %s: worker.js", async (_, options) => {
    const server = await serveBundle(bundleWithEsbuild(), options);
    const { code, message } = await failureOf(server, "visit");
    expect(code).toBe("cannot_open");
    expect(message).toMatch(/worker\.js/);
    expect(message).toMatch(remedies);
  });

  test.each([
    ["answers 404", undefined, /404/],
    ["answers with a page", { fallback: "index.html" }, /HTML/],
  ])("are named, when the server %s: keepsake.wasm", async (_, options, reason) => {
    const folder = bundleWithEsbuild();
    copyAssets(folder, "worker.js");
    const server = await serveBundle(folder, options);
    for (const call of ["visit", "useMemoryOnly"]) {
      const { code, message } = await failureOf(server, call);
      expect(code).toBe("cannot_open");
      expect(message).toMatch(/keepsake\.wasm/);
      expect(message).toMatch(reason);
      expect(message).toMatch(/keepsake\/inline/);
    }
  });
});

test("a content security policy with 'wasm-unsafe-eval' suffices", async () => {
  const folder = bundleWithEsbuild();
  copyAssets(folder, "worker.js", "keepsake.wasm");
  const policy = "default-src 'none'; connect-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
  const headers = { "content-security-policy": policy };
  await expectToRemember(browser, await serveBundle(folder, { headers }));
});

describe("where the page demands Trusted Types", () => {
  const serve = async (names, from) => {
    const folder = bundleWithEsbuild({ from });
    if (from === "keepsake") copyAssets(folder, "worker.js", "keepsake.wasm");
    const policy = [
      "default-src 'none'; connect-src 'self'; script-src 'self' 'wasm-unsafe-eval'",
      "worker-src 'self' blob:; require-trusted-types-for 'script'",
      `trusted-types ${names}`,
    ].join("; ");
    return serveBundle(folder, { headers: { "content-security-policy": policy } });
  };

  test.each(["keepsake", "keepsake/inline"])(
    "it suffices to allow the policy keepsake: %s",
    async (from) => {
      const { page, errors } = await openApp(browser, await serve("keepsake", from));
      expect(await visit(page)).toEqual({ visits: 1, persistence: "opfs" });
      // LangChain's packages try whether they may make functions of strings: a TrustedScript.
      expect(errors.filter((error) => /TrustedScriptURL|polic/i.test(error))).toEqual([]);
    },
  );

  test.each(["keepsake", "keepsake/inline"])(
    "one that allows other policies only is told the rule and the remedy: %s",
    async (from) => {
      const { code, message } = await failureOf(await serve("other", from), "visit");
      expect(code).toBe("cannot_open");
      expect(message).toMatch(/rule trusted-types does not allow the policy "keepsake"/);
      expect(message).toMatch(/add keepsake to trusted-types, .*option worker/);
    },
  );
});
