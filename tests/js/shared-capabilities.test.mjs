// Capabilities that are the same on every platform, in Node, over a file.

import { readFileSync, writeFileSync } from "node:fs";
import { openMemory } from "keepsake";
import { runCapability, testCapabilities } from "./support/capability-cases.mjs";
import { runOver } from "./support/sqlite-bytes.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const platform = {
  newPlace: () => temporaryFile(),
  open: (path, options) => openMemory({ path, ...options }),
  sql: async (memory, _path, statement) => runOver(await memory.export(), statement).rows,
  change: (path, statement) => writeFileSync(path, runOver(readFileSync(path), statement).bytes),
};

testCapabilities("Node", async (title) => {
  await runCapability(title, platform, expect);
  return "";
});
