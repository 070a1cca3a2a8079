// The entries for runtimes without files that are not workerd, and the types for Workers.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { build } from "esbuild";
import { consumerFolder, projectRoot, run } from "../js/support/installed-package.mjs";
import { removeTemporaryFolders } from "../js/support/temporary.mjs";

const folder = consumerFolder();
const wasmPath = join(folder, "node_modules/keepsake/dist/keepsake-lean.wasm");

afterAll(removeTemporaryFolders);

test("keepsake/slim takes the module that it is given, and says so when it has none", () => {
  writeFileSync(
    join(folder, "slim.mjs"),
    `import { readFileSync } from "node:fs";
    import { createRequire } from "node:module";
    import { InMemoryStore, SqliteStore, useModule } from "keepsake/slim";
    const early = await new InMemoryStore().put(["n"], "k", {}).catch(({ code }) => code);
    useModule(readFileSync(createRequire(import.meta.url).resolve("keepsake/lean.wasm")));
    const store = new InMemoryStore();
    await store.put(["n"], "k", { text: "tea" });
    let file;
    try { new SqliteStore({ path: "a.db" }) } catch ({ code }) { file = code }
    console.log(JSON.stringify([early, (await store.get(["n"], "k")).value, file]));`,
  );
  const printed = run(process.execPath, ["slim.mjs"], { cwd: folder });
  expect(JSON.parse(printed)).toEqual(["cannot_open", { text: "tea" }, "unsupported"]);
});

const EDGE_ROUTE = `
import { Annotation, Command, interrupt, START, StateGraph } from "@langchain/langgraph";
import { InMemoryStore, MemorySaver } from "keepsake";
const State = Annotation.Root({ log: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }) });
const graph = new StateGraph(State)
  .addNode("ask", async () => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    return { log: [interrupt("what?")] };
  })
  .addEdge(START, "ask")
  .compile({ checkpointer: new MemorySaver() });
const config = { configurable: { thread_id: "t" } };
async function answer() {
  const store = new InMemoryStore();
  await store.put(["n"], "k", { text: "tea" });
  await graph.invoke({ log: [] }, config);
  const { log } = await graph.invoke(new Command({ resume: "this" }), config);
  return Response.json([...log, (await store.get(["n"], "k")).value.text]);
}
addEventListener("fetch", (event) => event.respondWith(answer()));
`;

/** What a route answers in Vercel's edge runtime. */
async function answerOf(route) {
  const { outputFiles } = await build({
    stdin: { contents: route, resolveDir: folder },
    bundle: true,
    write: false,
    format: "iife",
    target: "es2022",
    platform: "browser",
    conditions: ["edge-light", "browser"],
    nodePaths: [join(projectRoot, "node_modules")],
    logLevel: "error",
    plugins: [
      {
        name: "compiled-wasm",
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /\.wasm\?module$/ }, ({ path }) => ({ path, namespace: "wasm" }));
          onLoad({ filter: /.*/, namespace: "wasm" }, ({ path }) => ({
            contents: `export default globalThis.${/lean/.test(path) ? "LEAN" : "FULL"}_WASM;`,
          }));
        },
      },
    ],
  });
  const script = join(folder, "edge-light.cjs");
  writeFileSync(join(folder, "route.js"), outputFiles[0].text);
  const runtime = createRequire(join(projectRoot, "package.json")).resolve(
    "next/dist/compiled/edge-runtime",
  );
  writeFileSync(
    script,
    `const { EdgeRuntime } = require(${JSON.stringify(runtime)});
    const { AsyncLocalStorage } = require("node:async_hooks");
    const { readFileSync } = require("node:fs");
    const compiled = (path) => new WebAssembly.Module(readFileSync(path));
    const LEAN_WASM = compiled(${JSON.stringify(wasmPath)});
    const FULL_WASM = compiled(${JSON.stringify(wasmPath.replace("-lean", ""))});
    const runtime = new EdgeRuntime({
      initialCode: readFileSync(__dirname + "/route.js", "utf8"),
      extend: (context) => Object.assign(context, { LEAN_WASM, FULL_WASM, AsyncLocalStorage }),
    });
    runtime.dispatchFetch("http://edge/").then((response) => response.text()).then(console.log);`,
  );
  return JSON.parse(execFileSync(process.execPath, [script], { encoding: "utf8" }));
}

test("interrupt() works after an await in Vercel's edge runtime", async () => {
  expect(await answerOf(EDGE_ROUTE)).toEqual(["this", "tea"]);
});

const BUCKET_ROUTE = `
import { openMemory } from "keepsake";
import { customBucket } from "keepsake/bucket";
const objects = new Map();
const bucket = customBucket({
  get: async (key, range) => objects.get(key)?.slice(range?.from, range?.to),
  create: async (key, bytes) => !objects.has(key) && !!objects.set(key, bytes),
  list: async (prefix, { after = "" } = {}) =>
    [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort(),
  delete: async (key) => void objects.delete(key),
});
async function answer() {
  const first = await openMemory({ bucket, name: "ada" });
  await first.store.put(["n"], "k", { text: "green tea" });
  await first.close();
  const second = await openMemory({ bucket, name: "ada" });
  const found = await second.store.search(["n"], { query: "tea" });
  return Response.json([second.persistence, ...found.map(({ value }) => value.text)]);
}
addEventListener("fetch", (event) => event.respondWith(answer()));
`;

test("a memory lives in a bucket in Vercel's edge runtime", async () => {
  expect(await answerOf(BUCKET_ROUTE)).toEqual(["bucket", "green tea"]);
});

const WORKER = `
import { DurableObject } from "cloudflare:workers";
import { durableMemory, KeepsakeObject, keepsake, type Memory } from "keepsake/cloudflare";

interface Env { MEMORY: DurableObjectNamespace<Agent>; PLAIN: DurableObjectNamespace }

export class Agent extends KeepsakeObject<Env> {
  async count(): Promise<number> {
    await this.ctx.storage.getAlarm();
    return (await this.memory.stats()).store.items;
  }
  protected override memoryOptions() {
    return { ttl: { defaultTtl: 5 } };
  }
}

export class Other extends DurableObject<Env> {
  memory: Memory = durableMemory(this.ctx.storage, { ttl: { defaultTtl: 1 } });
}

export default {
  async fetch(_request: Request, env: Env): Promise<Response> {
    const { store, checkpointer } = keepsake(env.MEMORY, "ada", { locationHint: "weur" });
    await store.put(["n"], "k", { n: 1 });
    await checkpointer.getTuple({ configurable: { thread_id: "1" } });
    await keepsake(env.PLAIN, "ada").close();
    return Response.json(await env.MEMORY.getByName("ada").count());
  },
} satisfies ExportedHandler<Env>;
`;

test("the types fit Cloudflare's own", () => {
  writeFileSync(join(folder, "worker.ts"), WORKER);
  const tsc = join(projectRoot, "node_modules/typescript/bin/tsc");
  const types = join(projectRoot, "node_modules/@cloudflare/workers-types/index.d.ts");
  const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--skipLibCheck"];
  const target = ["--target", "ES2022", "--lib", "ES2023,ESNext.Disposable"];
  const resolution = ["--module", "ESNext", "--moduleResolution", "Bundler"];
  let printed = "";
  try {
    run(process.execPath, [tsc, ...options, ...target, ...resolution, types, "worker.ts"], {
      cwd: folder,
    });
  } catch (error) {
    printed = error.stdout;
  }
  expect(printed).toBe("");
});
