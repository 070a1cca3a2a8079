// The package as it is published.

import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Validation } from "@cyclonedx/cyclonedx-library";
import { ALLOWED } from "../../scripts/release-check.mjs";
import { installPackage, packProject, projectRoot, run } from "./support/installed-package.mjs";
import { removeTemporaryFolders } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const { tarball, files } = packProject();
const manifest = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8"));

function exportedFiles(entry) {
  return typeof entry === "string" ? [entry] : Object.values(entry).flatMap(exportedFiles);
}

describe("the tarball", () => {
  test("holds licence, notices, README and what the exports name", () => {
    const exported = exportedFiles(manifest.exports).map((path) => path.replace("./", ""));
    expect(files).toEqual(
      expect.arrayContaining([
        "LICENSE",
        "THIRD_PARTY_NOTICES.md",
        "README.md",
        "dist/keepsake.wasm",
        ...exported,
      ]),
    );
  });

  test("holds nothing else than dist and these", () => {
    expect(files.filter((file) => !ALLOWED.keepsake.test(file))).toEqual([]);
    expect(files.filter((file) => /\.test\.|jest|vitest/.test(file))).toEqual([]);
  });

  test("takes less than 4.3 MB", () => {
    expect(statSync(tarball).size).toBeLessThan(4.3e6);
  });

  test("needs nothing at run time but its peers", () => {
    expect(manifest.dependencies ?? {}).toEqual({});
    expect(Object.keys(manifest.scripts).filter((name) => /install|prepare/.test(name))).toEqual(
      [],
    );
  });

  test("names no folder of the machine that built it", () => {
    const texts = files.filter((file) => !/^(LICENSE|.*\.md)$/.test(file));
    const guilty = texts.filter((file) =>
      readFileSync(join(projectRoot, file)).includes(projectRoot),
    );
    expect(guilty).toEqual([]);
  });

  test("evaluates no strings, so that it runs under a strict content security policy", () => {
    const scripts = files.filter((file) => /\.(js|cjs|mjs)$/.test(file));
    expect(scripts.length).toBeGreaterThan(3);
    const guilty = scripts.filter((file) =>
      // Not the method of that name: store.eval(), async eval().
      /\bnew Function\b|(?<![.\w]|async )\beval\(/.test(
        readFileSync(join(projectRoot, file), "utf8"),
      ),
    );
    expect(guilty).toEqual([]);
  });
});

describe("the bill of materials", () => {
  const text = readFileSync(join(projectRoot, "dist/sbom.cdx.json"), "utf8");
  const bom = JSON.parse(text);

  test("is in the tarball, and what CycloneDX says it should be", async () => {
    expect(files).toContain("dist/sbom.cdx.json");
    const { JsonStrictValidator } = Validation;
    const validator = new JsonStrictValidator(bom.specVersion);
    expect(await validator.validate(text)).toBeNull();
    expect(await validator.validate(text.replace('"library"', '"bookshop"'))).not.toBeNull();
  });

  test("names this version, and all that the notices name", () => {
    expect(bom.metadata.component).toMatchObject({
      name: manifest.name,
      version: manifest.version,
    });
    const notices = readFileSync(join(projectRoot, "THIRD_PARTY_NOTICES.md"), "utf8");
    const rows = [...notices.matchAll(/^\| (?!What|–)(.+?) \|/gm)].map(([, row]) => row).join("\n");
    const names = bom.components.map(({ name }) => name);
    expect(names.filter((name) => !rows.includes(name))).toEqual([]);
    expect(names).toHaveLength(rows.match(/\n/g).length + 1 + 3);
    for (const { name, version } of bom.components) {
      expect({ name, version }).toEqual({ name, version: expect.stringMatching(/^\d+\.\d/) });
    }
  });

  test("has the hashes of what is compiled from files of others", () => {
    const hashOf = (wanted) => bom.components.find(({ name }) => name === wanted).hashes;
    const sqlite = readFileSync(
      join(projectRoot, "node_modules/better-sqlite3/deps/sqlite3/sqlite3.c"),
    );
    const content = createHash("sha256").update(sqlite).digest("hex");
    expect(hashOf("SQLite")).toEqual([{ alg: "SHA-256", content }]);
    const [{ content: sodium }] = hashOf("libsodium");
    const pins = readFileSync(join(projectRoot, "cmake/dependencies.cmake"), "utf8");
    expect(pins).toContain(`SHA256=${sodium}`);
  });

  test("is the same whenever it is made", () => {
    expect(bom).not.toHaveProperty("serialNumber");
    expect(bom.metadata).not.toHaveProperty("timestamp");
  });
});

describe("the files for browsers", () => {
  const read = (file) => readFileSync(join(projectRoot, "dist", file), "utf8");

  test("name worker and wasm in the words that bundlers look for", () => {
    const module = read("index.browser.js");
    expect(module).toContain('new URL("./worker.js", import.meta.url)');
    expect(module).toContain('new URL("./keepsake.wasm", import.meta.url)');
  });

  test("import nothing of Node", () => {
    for (const file of ["index.browser.js", "inline.js", "worker.js", "testing.js"]) {
      expect(read(file)).not.toMatch(/(from|import\() ?"node:/);
    }
  });

  test("the worker is one file that imports nothing and knows no address", () => {
    const worker = read("worker.js");
    expect(worker).not.toMatch(/^(import|export)\b/m);
    expect(worker).not.toMatch(/\bimport\s*\(|import\.meta/);
  });

  test("the inline module needs no file but one, which it imports", () => {
    const inline = read("inline.js");
    expect(inline).not.toContain("import.meta");
    expect(inline.match(/from "\.[^"]*"/g)).toEqual(['from "./embedded-wasm.js"']);
    expect(read("embedded-wasm.js")).not.toMatch(/import/);
  });
});

describe("package checkers", () => {
  test("publint finds nothing", () => {
    const printed = run(
      process.execPath,
      ["node_modules/publint/src/cli.js", "run", tarball, "--strict"],
      {
        cwd: projectRoot,
      },
    );
    expect(printed).toMatch(/All good!/);
  });

  test("are-the-types-wrong finds nothing, and looks at every entry", () => {
    const cli = "node_modules/@arethetypeswrong/cli/dist/index.js";
    // Files that are given by their address; nobody imports them.
    const files = ["worker", "wasm", "lean.wasm"];
    // Only bundlers and runtimes that know ES modules get there.
    const modules = Object.entries(manifest.exports)
      .filter(([, entry]) => entry.types !== undefined)
      .map(([path]) => path.replace("./", ""));
    expect(modules).toContain("cloudflare");
    const check = (...args) =>
      run(process.execPath, [cli, tarball, "--format", "ascii", "--no-color", ...args], {
        cwd: projectRoot,
      });
    const printed = check("--exclude-entrypoints", ...files, ...modules);
    expect(check("--profile", "esm-only", "--entrypoints", ...modules)).toContain(
      '"keepsake/cloudflare"',
    );
    expect(printed).toContain('"keepsake/testing"');
    expect(printed).toContain('"keepsake/inline"');
  });
});

const consumerSource = `
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import { InMemoryStore as OfficialStore } from "@langchain/langgraph-checkpoint";
import { InMemoryStore, KeepsakeError, MemorySaver, openMemory, SqliteSaver, SqliteStore } from "keepsake";
import { type MakeStore, storeContract } from "keepsake/testing";

const stores: BaseStore[] = [new InMemoryStore(), new SqliteStore({ path: ":memory:" })];
const savers: BaseCheckpointSaver[] = [new MemorySaver(), SqliteSaver.fromConnString(":memory:")];
const ours: MakeStore = (options) => new InMemoryStore(options);
const official: MakeStore = () => new OfficialStore();
export async function main(): Promise<string> {
  const memory = await openMemory({ path: ":memory:" });
  await memory.store.put(["a"], "k", { n: 1 }, false, { ttl: 5 });
  const hits = await memory.store.search(["a"], { query: "x", ranking: { mode: "contains" }, limit: 3 });
  const score: number | undefined = hits[0]?.score;
  const keys: string[] = await memory.store.listKeys(["a"]);
  for (const { name, needs, run } of storeContract) await run(needs.length > 0 ? ours : official).catch(() => name);
  return [stores.length, savers.length, score, keys, KeepsakeError.name].join();
}
`;

const agentSource = `
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { openMemory } from "keepsake";
import { forgetTool, memoryMiddleware, recallNode, recallTool, rememberNode, rememberTool, withMemory } from "keepsake/langchain";
import { createAgent, fakeModel } from "langchain";

const State = Annotation.Root({
  question: Annotation<string>(),
  results: Annotation<object[]>(),
  count: Annotation<number>(),
  stored: Annotation<boolean>(),
  key: Annotation<string>(),
});
export async function main(): Promise<string> {
  const memory = await openMemory({ path: ":memory:" });
  const scope = { memory, scope: "user" } as const;
  const model = fakeModel();
  const agent = createAgent({
    model,
    tools: [rememberTool(scope), recallTool(scope), forgetTool(scope)],
    middleware: [memoryMiddleware({ ...scope, maxTokens: 100, pinned: true })],
    checkpointer: memory.checkpointer,
  });
  const { messages } = await agent.invoke({ messages: [{ role: "user", content: "hello" }] });
  const graph = new StateGraph(State)
    .addNode("recall", recallNode({ scope: "user", querySelector: "question" }))
    .addNode("store", rememberNode({ key: "{{question}}", valueSelector: (state) => state.question }))
    .addEdge(START, "recall")
    .addEdge("recall", "store")
    .compile({ store: memory.store });
  const { count } = await graph.invoke({ question: "who?" });
  const answer = await withMemory(model, { memory: memory.scoped({ user: "ada" }), namespace: [] }).invoke("hello");
  return [messages.length, count.toFixed(), answer.text].join();
}
`;

const example = (name) => readFileSync(join(projectRoot, `examples/${name}.ts`), "utf8");

// What takes 475 MB is not installed for this.
const TRANSFORMERS = `declare module "@huggingface/transformers" {
  type Extract = (texts: string[], how: { pooling: "mean"; normalize: boolean }) =>
    Promise<{ tolist(): number[][] }>;
  export function pipeline(task: "feature-extraction", model: string, options: { dtype: "q8" }): Promise<Extract>;
}
`;

// Only after the peers are there, which look at the globals themselves.
const serverSource = (module) => `
import "@langchain/core/documents";
import "@langchain/core/singletons";
import "@langchain/langgraph-checkpoint";
const globals = ["window", "self", "document", "location", "navigator", "indexedDB", "caches",
  "fetch", "Worker", "SharedWorker", "BroadcastChannel", "Blob", "WebAssembly", "addEventListener"];
for (const name of globals) {
  const get = () => { throw new Error("the import touches " + name); };
  Object.defineProperty(globalThis, name, { configurable: true, get });
}
const { openMemory } = await import("./node_modules/keepsake/dist/${module}");
for (const name of globals) delete globalThis[name];
console.log(openMemory.name);
`;

describe("the installed package", () => {
  const folder = installPackage(tarball);

  test("is there with its licence", () => {
    expect(existsSync(join(folder, "node_modules/keepsake/LICENSE"))).toBe(true);
    expect(existsSync(join(folder, "node_modules/keepsake/dist/keepsake.wasm"))).toBe(true);
  });

  test.each(["index.browser.js", "inline.js"])(
    "%s can be imported on a server, where it touches nothing",
    (module) => {
      writeFileSync(join(folder, "server.mjs"), serverSource(module));
      expect(run(process.execPath, ["server.mjs"], { cwd: folder })).toBe("openMemory\n");
    },
  );

  test("brings the command line", () => {
    const help = run(join(folder, "node_modules/.bin/keepsake"), ["--help"], { cwd: folder });
    expect(help).toMatch(/npx keepsake COMMAND FILE/);
  });

  test("keepsake/inline is the package itself in Node", () => {
    const script = `import * as a from "keepsake"; import * as b from "keepsake/inline";
      console.log(a.openMemory === b.openMemory);`;
    const args = ["--input-type=module", "--eval", script];
    expect(run(process.execPath, args, { cwd: folder })).toBe("true\n");
  });

  test.each([
    ["langchain", "memoryMiddleware"],
    ["embed", "staticEmbedder"],
    ["bucket", "s3"],
    ["files", "filesBackend"],
  ])("keepsake/%s is there for import and require, apart from the engine", (entry, name) => {
    const names = (load) => `${load}; console.log(Object.keys(entry).sort().join())`;
    const imported = names(`import * as entry from "keepsake/${entry}"`);
    const required = names(`const entry = require("keepsake/${entry}")`);
    const evaluate = (type, script) =>
      run(process.execPath, [`--input-type=${type}`, "--eval", script], { cwd: folder });
    expect(evaluate("module", imported)).toContain(name);
    expect(evaluate("commonjs", required)).toBe(evaluate("module", imported));
  });

  test("its declarations are whole, where nobody skips them", () => {
    const source = 'export * from "keepsake";\nexport * as testing from "keepsake/testing";\n';
    writeFileSync(
      join(folder, "whole.mts"),
      `${source}export * as sqlite from "keepsake/sqlite";\n`,
    );
    const tsc = join(projectRoot, "node_modules/typescript/bin/tsc");
    const options = ["--noEmit", "--strict", "--module", "NodeNext", "--target", "ES2022"];
    const lib = ["--lib", "ES2023,ESNext.Disposable,DOM"];
    let printed = "";
    try {
      run(process.execPath, [tsc, ...options, ...lib, "whole.mts"], { cwd: folder });
    } catch ({ stdout }) {
      printed = stdout; // of others' packages, perhaps
    }
    expect(printed.split("\n").filter((line) => /keepsake|whole/.test(line))).toEqual([]);
  });

  const NODE = ["--module", "NodeNext", "--moduleResolution", "NodeNext"];
  const BUNDLER = ["--module", "ESNext", "--moduleResolution", "Bundler"];
  const programs = [
    ["NodeNext as ESM", "consumer.mts", NODE, consumerSource],
    ["NodeNext as CommonJS", "consumer.cts", NODE, consumerSource],
    ["a bundler", "bundled.ts", BUNDLER, consumerSource],
    ["an agent as ESM", "agent.mts", NODE, agentSource],
    ["an agent as CommonJS", "agent.cts", NODE, agentSource],
    ...["remembering", "approval", "patterns", "episodes", "workflow"].map((name) => [
      `the example of ${name}`,
      `${name}.mts`,
      NODE,
      example(`langchain/${name}`),
    ]),
    ...["chat", "meaning", "provider"].map((name) => [
      `a real model: ${name}`,
      `${name}.mts`,
      NODE,
      example(`models/${name}`).replace("./provider.ts", "./provider.mjs"),
    ]),
    ["a package that is not here", "transformers.d.ts", NODE, TRANSFORMERS],
  ];
  for (const provider of ["openai", "anthropic", "google", "ollama"]) {
    const path = join("node_modules/@langchain", provider);
    symlinkSync(join(projectRoot, path), join(folder, path));
  }

  const wrong = ["a mistake", "wrong.mts", NODE, "export const wrong: string = 7;\n"];

  // One run for all of a resolution: most of it is about the types of the peers.
  const printed = new Map();
  function check(resolution) {
    const files = [...programs, wrong].filter(([, , other]) => other === resolution);
    for (const [, file, , source] of files) writeFileSync(join(folder, file), source);
    const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--skipLibCheck"];
    const target = ["--target", "ES2022", "--lib", "ES2023,ESNext.Disposable,DOM"];
    const tsc = join(projectRoot, "node_modules/typescript/bin/tsc");
    const args = [tsc, ...options, ...target, ...resolution, ...files.map(([, file]) => file)];
    try {
      return run(process.execPath, args, { cwd: folder });
    } catch (error) {
      return error.stdout;
    }
  }

  /** What is printed about a file, or about none of them. */
  function problemsOf([, file, resolution]) {
    if (!printed.has(resolution)) printed.set(resolution, check(resolution));
    const others = [...programs, wrong].map(([, name]) => name).filter((name) => name !== file);
    const lines = printed.get(resolution).split("\n");
    // Further lines of a message are indented.
    return lines.filter(
      (line) => /^\S/.test(line) && !others.some((name) => line.startsWith(`${name}(`)),
    );
  }

  test.each(programs)("type-checks strictly for %s", (...program) => {
    expect(problemsOf(program)).toEqual([]);
  });

  test("a wrong type would be found", () => {
    expect(problemsOf(wrong)).toEqual([expect.stringMatching(/^wrong\.mts\(1,14\): error TS2322/)]);
  });
});
