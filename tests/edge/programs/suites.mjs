// The official specification of a checkpointer, and the contract of a store, on files,
// for any runtime that has node:fs: all cases, or every tenth from that of number argv[2] on.
// Prints the result as JSON.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMemory, SqliteSaver } from "keepsake";
import { runTests } from "../../browser/pages/runner.mjs";
import { storeContract } from "../../contract/store.mjs";
import { describeSpecification } from "../../validation/specification.mjs";

const [, , number] = process.argv;
const part = number ? Number(number) : undefined;
const folder = mkdtempSync(join(tmpdir(), "keepsake-"));
let files = 0;
const newPath = () => join(folder, `${files++}.sqlite`);

function runSpecification() {
  return runTests(() => {
    describeSpecification("saver", {
      checkpointerName: "keepsake SqliteSaver",
      createCheckpointer: () => new SqliteSaver({ path: newPath() }),
      destroyCheckpointer: (saver) => saver.close(),
    });
  }, part);
}

function runContract() {
  const opened = new Map();
  const open = async (path, options) => {
    const memory = await openMemory({ path, ...options });
    opened.set(memory.store, { memory, path });
    return memory.store;
  };
  return runTests(() => {
    for (const { name, run } of storeContract) {
      it(name, () =>
        run(
          (options) => open(newPath(), options),
          async (store, options) => {
            const { memory, path } = opened.get(store);
            opened.delete(store);
            await memory.close();
            return open(path, options);
          },
        ),
      );
    }
    afterEach(async () => {
      for (const { memory } of opened.values()) await memory.close();
      opened.clear();
    });
  }, part);
}

try {
  const result = { specification: await runSpecification(), contract: await runContract() };
  console.log(JSON.stringify(result));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
