// The installed package on each supported Node.js, as ESM and as CommonJS.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isLong } from "./support/effort.mjs";
import {
  installPackage,
  isFetched,
  nodeVersions,
  packProject,
  run,
} from "./support/installed-package.mjs";
import { removeTemporaryFolders } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const folder = installPackage(packProject().tarball);

// What both module systems run: the main promise, then every nth case of the store contract.
const body = `
async function main(keepsake, testing, other) {
  const { InMemoryStore, KeepsakeError, MemorySaver, openMemory } = keepsake;
  const folder = mkdtempSync(join(tmpdir(), "keepsake-"));
  try {
    const path = join(folder, "agent.sqlite");
    const config = { configurable: { thread_id: "t", checkpoint_ns: "" } };
    const checkpoint = { v: 4, id: "1ef", ts: new Date().toISOString(), channel_values: { a: [1] },
      channel_versions: { a: 1 }, versions_seen: {} };
    let memory = await openMemory({ path });
    await memory.store.put(["n"], "k", { text: "hello", raw: new Uint8Array([255]) });
    await memory.checkpointer.put(config, checkpoint, { source: "loop", step: 0, parents: {} }, { a: 1 });
    await memory.close();
    memory = await openMemory({ path });
    const item = await memory.store.get(["n"], "k");
    const tuple = await memory.checkpointer.getTuple(config);
    const theirs = new other.SqliteStore({ path });
    const shared = (await theirs.get(["n"], "k")).value.text;
    await theirs.close();
    await memory.close();
    const refusal = await new MemorySaver().put({}, checkpoint, {}, {}).catch((error) => error);
    const foreign = await new other.MemorySaver().put({}, checkpoint, {}, {}).catch((error) => error);
    let failures = [];
    let passed = 0;
    for (const [i, { name, needs, run }] of testing.storeContract.entries()) {
      if (needs.includes("persistence") || i % process.argv[2] !== 0) continue;
      const make = (options) => new InMemoryStore(options);
      await run(make).then(() => passed++, (error) => failures.push(name + ": " + error.message));
    }
    return {
      text: item.value.text,
      raw: [...item.value.raw],
      values: tuple.checkpoint.channel_values,
      shared,
      refusal: [refusal.code, refusal instanceof KeepsakeError, foreign instanceof KeepsakeError],
      failures,
      passed,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
`;

writeFileSync(
  join(folder, "smoke.mjs"),
  `import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as keepsake from "keepsake";
import * as testing from "keepsake/testing";
${body}
const other = createRequire(import.meta.url)("keepsake");
console.log(JSON.stringify(await main(keepsake, testing, other)));`,
);

writeFileSync(
  join(folder, "smoke.cjs"),
  `const { mkdtempSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const keepsake = require("keepsake");
const testing = require("keepsake/testing");
${body}
import("keepsake").then((other) => main(keepsake, testing, other)).then((result) => console.log(JSON.stringify(result)));`,
);

const runs = nodeVersions().flatMap(([name, program]) =>
  ["smoke.mjs", "smoke.cjs"].map((script) => [name, script, program]),
);

// The set-up fetches the other versions for Linux on x86-64, where CI runs.
const hasAllVersions = process.platform === "linux" && process.arch === "x64";

describe.each(runs)("%s with %s", (_name, script, program) => {
  const testHere = hasAllVersions || isFetched(program) ? test : test.skip;

  testHere("keeps both tiers over a restart, in one engine with the other module system", () => {
    // contract.test.mjs runs all of it on this version; once is enough on each of the others.
    const isWhole = isLong || (program !== process.execPath && script === "smoke.mjs");
    const result = JSON.parse(run(program, [script, isWhole ? 1 : 10], { cwd: folder }));
    expect(result).toMatchObject({
      text: "hello",
      raw: [255],
      values: { a: [1] },
      shared: "hello",
      refusal: ["thread_id_required", true, true],
      failures: [],
    });
    expect(result.passed).toBeGreaterThan(isWhole ? 200 : 20);
  });
});

test("the versions are those that package.json promises", () => {
  const { engines } = JSON.parse(
    readFileSync(join(folder, "node_modules/keepsake/package.json"), "utf8"),
  );
  expect(engines.node).toBe(">=20");
});
