// The packed package on files in Deno and Bun, and there and in Node on one file.

import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { storeContract } from "../contract/store.mjs";
import { documentation } from "../js/support/documentation.mjs";
import { partOf, tenthOf } from "../js/support/effort.mjs";
import { consumerFolder, run } from "../js/support/installed-package.mjs";
import {
  removeTemporaryFolders,
  temporaryFile,
  temporaryFolder,
} from "../js/support/temporary.mjs";
import { casesIn } from "../validation/specification-size.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const DENO_OPTIONS = ["--no-config", "--node-modules-dir=manual"];
const programs = {
  node: [process.execPath, []],
  deno: [join(root, "node_modules/.bin/deno"), ["run", "--allow-all", ...DENO_OPTIONS]],
  bun: [bunProgram(), ["run"]],
};

// Its package puts the program in place by an install script, which does not run here.
function bunProgram() {
  const packages = join(root, "node_modules/@oven");
  const [found] = readdirSync(packages).map((name) => join(packages, name, "bin/bun"));
  return found;
}

let folder;

/** The program in the folder of the installed package; what it imports of ours is bundled. */
async function place(name) {
  await build({
    absWorkingDir: root,
    entryPoints: [`tests/edge/programs/${name}.mjs`],
    outfile: join(folder, `${name}.mjs`),
    bundle: true,
    format: "esm",
    platform: "node",
    external: [
      "keepsake",
      "keepsake/testing",
      "@langchain/core",
      "@langchain/langgraph",
      "@langchain/langgraph-checkpoint",
    ],
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
}

function runIn(runtime, name, ...args) {
  const [program, options] = programs[runtime];
  const printed = run(program, [...options, `${name}.mjs`, ...args], {
    cwd: folder,
    env: { DENO_NO_UPDATE_CHECK: "1", DENO_DIR: join(folder, ".deno") },
  });
  return JSON.parse(printed.trim().split("\n").at(-1));
}

beforeAll(async () => {
  folder = consumerFolder();
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }');
  await place("suites");
  await place("restart");
});

afterAll(removeTemporaryFolders);

test("Deno needs the flags that the documentation names, and no more", () => {
  const [, flags] = /`deno run ([^`]*)`/.exec(documentation);
  const given = flags.split(" ");
  const program = `
    import { openMemory } from "keepsake";
    const memory = await openMemory({ path: ${JSON.stringify(temporaryFile())} });
    await memory.store.put(["n"], "k", { text: "tea" });
    console.log((await memory.store.get(["n"], "k")).value.text);
    await memory.close();`;
  writeFileSync(join(folder, "flags.mjs"), program);
  const runWith = (wanted) =>
    run(programs.deno[0], ["run", ...wanted, ...DENO_OPTIONS, "--no-prompt", "flags.mjs"], {
      cwd: folder,
      env: { DENO_NO_UPDATE_CHECK: "1", DENO_DIR: join(folder, ".deno") },
    });
  expect(runWith(given).trim()).toBe("tea");
  for (const flag of given) {
    expect(() => runWith(given.filter((other) => other !== flag))).toThrow();
  }
});

test("a folder is one bucket for Node, Deno and Bun", () => {
  const bucket = temporaryFolder();
  const program = `
    import { checkBucket, folder } from "keepsake/bucket";
    const [path, name] = process.argv.slice(2);
    const { port } = folder(path);
    const isNew = [await port.create("log/1", new Uint8Array(3)), await port.create("log/" + name, new Uint8Array(3))];
    const { isOk } = await checkBucket(folder(path), { rounds: 1 });
    console.log(JSON.stringify([...isNew, isOk, await port.list("")]));`;
  writeFileSync(join(folder, "bucket.mjs"), program);
  const answers = Object.keys(programs).map((name) => runIn(name, "bucket", bucket, name));
  expect(answers).toEqual([
    [true, true, true, ["log/1", "log/node"]],
    [false, true, true, ["log/1", "log/deno", "log/node"]],
    [false, true, true, ["log/1", "log/bun", "log/deno", "log/node"]],
  ]);
});

test("Node, Deno and Bun have one memory, in a bucket and on a device each", () => {
  const bucket = temporaryFolder();
  const program = `
    import { openMemory } from "keepsake";
    import { folder } from "keepsake/bucket";
    const [path, file, name] = process.argv.slice(2);
    const bucket = folder(path);
    const there = await openMemory({ bucket, name: "ada" });
    await there.store.put(["n"], "in the bucket by " + name, {});
    await there.close();
    const device = await openMemory({ path: file, sync: { bucket, name: "ada", everyMs: 0 } });
    await device.store.put(["n"], "on a device by " + name, {});
    await device.sync();
    const items = await device.store.search(["n"], { limit: 100 });
    await device.close();
    console.log(JSON.stringify(items.map(({ key }) => key).sort()));`;
  writeFileSync(join(folder, "memory.mjs"), program);
  const answers = Object.keys(programs).map((name) =>
    runIn(name, "memory", bucket, temporaryFile(), name),
  );
  const by = (...names) => [
    ...names.map((name) => `in the bucket by ${name}`),
    ...names.map((name) => `on a device by ${name}`),
  ];
  expect(answers).toEqual([by("node"), by("deno", "node"), by("bun", "deno", "node")]);
});

// Files are Node's, which runs all of it.
describe.each([
  ["deno", partOf(6)],
  ["bun", partOf(7)],
])("%s", (runtime, part) => {
  test("passes the specification and the contract on files", () => {
    const { specification, contract } = runIn(runtime, "suites", String(part ?? ""));
    const total = casesIn(part);
    expect(specification).toMatchObject({ passed: total, total, failures: [] });
    const cases = tenthOf(storeContract, part).length;
    expect(contract).toMatchObject({ passed: cases, total: cases, failures: [] });
  });

  test("an agent asks, the process ends, and each of the others goes on with the answer", () => {
    for (const other of ["node", "deno", "bun"]) {
      const path = temporaryFile();
      expect(runIn(runtime, "restart", path, "ask")).toEqual(["what?"]);
      expect(runIn(other, "restart", path, "answer")).toEqual(["begun", "answered this", [255]]);
    }
  });
});
