// Capabilities that are the same on every platform, in Node, over a file.

import { writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { openMemory } from "keepsake";
import { testCapabilities } from "./support/capability-cases.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const opened = new Map();

async function openAt(path, options) {
  const memory = await openMemory({ path, ...options });
  opened.set(memory, path);
  return memory;
}

/** Rows, by another program, while the memory's file is not open. */
function rowsOf(path, statement) {
  const database = new Database(path);
  const prepared = database.prepare(statement);
  const rows = prepared.reader ? prepared.all() : prepared.run();
  database.close();
  return rows;
}

const bench = {
  expect,
  open: (options) => openAt(temporaryFile(), options),
  async reopen(memory, options) {
    await memory.close();
    return openAt(opened.get(memory), options);
  },
  async sql(memory, statement) {
    await memory.flush();
    const copy = temporaryFile("copy.db");
    writeFileSync(copy, await memory.export());
    return rowsOf(copy, statement);
  },
  async openAgain(memory, statement) {
    await memory.close();
    rowsOf(opened.get(memory), statement);
    return openAt(opened.get(memory));
  },
};

afterEach(async () => {
  for (const memory of opened.keys()) await memory.close();
  opened.clear();
});

testCapabilities("Node", async ({ run }) => {
  await run(bench);
  return "";
});
