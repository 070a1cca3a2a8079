// Frameworks and test runners, with the packed tarball: what a folder needs to build an app there,
// and to serve it. `how` is what docs/packagers.md says. They are installed beside the folder.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../js/support/installed-package.mjs";

const read = (path) => readFileSync(join(projectRoot, path), "utf8");
const visits = read("tests/browser/apps/main.js");
const nextApp = (name) => [`app/${name}`, read(`tests/browser/apps/next/${name}`)];

const test = `
test("an agent remembers", async () => {
  const memory = await openMemory({ path: "PATH" });
  await memory.store.put(["user", "ada"], "tea", { text: "Ada drinks green tea" });
  const [hit] = await memory.store.search(["user", "ada"], { query: "Which tea?" });
  expect(hit.key).toBe("tea");
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("agent", () => ({ messages: [{ role: "assistant", content: hit.value.text }] }))
    .addEdge(START, "agent")
    .compile({ checkpointer: memory.checkpointer, store: memory.store });
  const input = { messages: [{ role: "user", content: "Which tea?" }] };
  const { messages } = await graph.invoke(input, { configurable: { thread_id: "1" } });
  expect(messages.length).toBe(2);
  await memory.close();
  document.title = "seen";
  expect(document.title).toBe("seen");
});
`;
const imports = `import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { openMemory } from "keepsake";
`;
const required = imports.replace(/^import (.*) from (.*);$/gm, "const $1 = require($2);");
// A file, as far as the runner has any.
const inFile = (source) => source.replace("PATH", `agent-${Math.random()}.db`);
const withVitest = inFile(`import { expect, test } from "vitest";\n${imports}${test}`);
// In a page a memory has a name.
const inPage = withVitest.replace(/\{ path: "agent.*" \}/, '{ name: "agent", storage: "opfs" }');

/** Those that run a test: `run` is the command. */
export const runners = [
  {
    name: "Jest with jsdom",
    how: '`testEnvironmentOptions: { customExportConditions: ["node"] }`, and a setup file that gives jsdom `TextEncoder`, `TextDecoder` and the streams of Node: LangChain needs both',
    run: ["jest/bin/jest.js", "--config", "jest.config.json"],
    files: {
      "jest.config.json": JSON.stringify({
        testEnvironment: "jsdom",
        testEnvironmentOptions: { customExportConditions: ["node"] },
        setupFiles: ["<rootDir>/globals.cjs"],
        testMatch: ["<rootDir>/agent.test.cjs"],
      }),
      "globals.cjs": `
const { TextDecoder, TextEncoder } = require("node:util");
const { ReadableStream, TransformStream, WritableStream } = require("node:stream/web");
Object.assign(globalThis, { TextDecoder, TextEncoder, ReadableStream, TransformStream, WritableStream });
`,
      "agent.test.cjs": inFile(required + test),
    },
  },
  {
    name: "Jest with node",
    how: "nothing",
    run: ["jest/bin/jest.js", "--config", "jest.config.json"],
    files: {
      "jest.config.json": JSON.stringify({ testMatch: ["<rootDir>/agent.test.cjs"] }),
      "agent.test.cjs": inFile(`globalThis.document = {};${required}${test}`),
    },
  },
  ...["jsdom", "happy-dom"].map((environment) => ({
    name: `Vitest with ${environment}`,
    how: "nothing",
    run: ["vitest/vitest.mjs", "run", "--environment", environment],
    // Vitest would take that of this project.
    files: { "agent.test.mjs": withVitest, "vitest.config.mjs": "export default {};" },
  })),
  {
    name: "Vitest's browser mode",
    how: "nothing; a memory has a name there",
    run: ["vitest/vitest.mjs", "run"],
    files: {
      "agent.test.mjs": inPage,
      "vitest.config.mjs": `
import { playwright } from "@vitest/browser-playwright";
const launchOptions = { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] };
const browser = { enabled: true, headless: true, screenshotFailures: false,
  provider: playwright({ launchOptions }), instances: [{ browser: "chromium" }] };
export default { test: { browser } };
`,
    },
  },
];

/** Programs of Node: `run` is the command, `build` what goes before it. */
export const programs = [
  { name: "tsx", how: "nothing", run: ["tsx/dist/cli.mjs", "app.mjs"], module: "file" },
  {
    name: "rspack",
    how: '`target: "node"`',
    build: ["./build.mjs"],
    run: ["./dist/main.cjs"],
    module: "file",
    files: {
      "build.mjs": `
import { rspack } from "@rspack/core";
const output = { path: import.meta.dirname + "/dist", filename: "main.cjs" };
rspack({ mode: "production", entry: "./app.mjs", target: "node", output }, (error, stats) => {
  if (error || stats.hasErrors()) throw error ?? stats.toString();
});
`,
    },
  },
];

const worker = `
import { KeepsakeObject, keepsake } from "keepsake/cloudflare";
export class AgentMemory extends KeepsakeObject {}
export default {
  async fetch(request, env) {
    const memory = keepsake(env.MEMORY, "ada");
    const count = ((await memory.store.get(["app"], "visits"))?.value.count ?? 0) + 1;
    await memory.store.put(["app"], "visits", { count });
    return Response.json([count]);
  },
};
`;
const html = '<!doctype html><title>app</title><script type="module" src="/src/main.js"></script>';
const cloudflare = {
  "index.html": html,
  "src/main.js": visits,
  "src/worker.js": worker,
  "vite.config.mjs": `
import { cloudflare } from "@cloudflare/vite-plugin";
export default { plugins: [cloudflare()] };
`,
  "wrangler.json": JSON.stringify({
    name: "app",
    main: "src/worker.js",
    compatibility_date: "2026-04-01",
    compatibility_flags: ["nodejs_compat"],
    assets: { not_found_handling: "single-page-application", run_worker_first: ["/server"] },
    durable_objects: { bindings: [{ name: "MEMORY", class_name: "AgentMemory" }] },
    migrations: [{ tag: "v1", new_sqlite_classes: ["AgentMemory"] }],
  }),
};

const astro = {
  "astro.config.mjs": `
import node from "@astrojs/node";
export default { output: "server", adapter: node({ mode: "standalone" }) };
`,
  "src/main.js": visits,
  "src/pages/index.astro": '<html><body><script>import "../main.js";</script></body></html>',
  "src/pages/server.js": `
import { openMemory } from "keepsake";
export async function GET() {
  const memory = await openMemory({ path: process.env.MEMORY_PATH });
  const count = ((await memory.store.get(["app"], "visits"))?.value.count ?? 0) + 1;
  await memory.store.put(["app"], "visits", { count });
  await memory.close();
  return Response.json([count]);
}
`,
};

const next = {
  ...Object.fromEntries(
    [
      "layout.js",
      "page.js",
      "memory.js",
      "notes/page.js",
      "notes/actions.js",
      "notes/drafts.js",
    ].map(nextApp),
  ),
  "main.js": visits,
  "app/server/route.js": `
import { openNotes } from "../memory.js";
export const dynamic = "force-dynamic";
export async function GET() {
  const memory = await openNotes();
  const count = ((await memory.store.get(["app"], "visits"))?.value.count ?? 0) + 1;
  await memory.store.put(["app"], "visits", { count });
  await memory.close();
  return Response.json([count]);
}
`,
};
const nextBin = "next/dist/bin/next";

/** Those that serve pages: `build` and `serve` are commands, PORT the port; `elsewhere` is what is moved first. */
export const frameworks = [
  {
    name: "Cloudflare's Vite plugin, development",
    how: "nothing",
    files: cloudflare,
    serve: ["vite/bin/vite.js", "--host", "127.0.0.1", "--port", "PORT"],
  },
  {
    name: "Cloudflare's Vite plugin, build",
    how: "nothing",
    files: cloudflare,
    build: ["vite/bin/vite.js", "build"],
    serve: ["vite/bin/vite.js", "preview", "--host", "127.0.0.1", "--port", "PORT"],
  },
  {
    name: "Astro with its Node adapter",
    how: "nothing",
    files: astro,
    build: ["astro/bin/astro.mjs", "build"],
    serve: ["./dist/server/entry.mjs"],
  },
  {
    name: "Next.js, development",
    how: "nothing",
    files: next,
    serve: [nextBin, "dev", "--hostname", "127.0.0.1", "--port", "PORT"],
  },
  {
    name: "Next.js, build",
    how: "nothing",
    files: next,
    build: [nextBin, "build"],
    serve: [nextBin, "start", "--hostname", "127.0.0.1", "--port", "PORT"],
  },
  {
    name: "Next.js, standalone",
    how: '`output: "standalone"`; in a monorepo `outputFileTracingRoot`, as Next says',
    files: {
      ...next,
      "next.config.mjs": `
import { dirname } from "node:path";
const root = dirname(import.meta.dirname);
export default { output: "standalone", outputFileTracingRoot: root, turbopack: { root } };
`,
    },
    build: [nextBin, "build"],
    // Where Next says that they are to be copied.
    copies: [[".next/static", ".next/standalone/Next-js-standalone/.next/static"]],
    elsewhere: ".next/standalone/",
    serve: ["./Next-js-standalone/server.js"],
  },
];
