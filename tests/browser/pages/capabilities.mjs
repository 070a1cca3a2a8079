// Capabilities that are the same on every platform, in a page, over OPFS. SQL runs in Node.

import { InMemoryStore, installInterruptShim, openMemory, SqliteStore } from "keepsake";
import { tryBackend } from "../../js/support/backends.mjs";
import { runCapability } from "../../js/support/capability-cases.mjs";
import { runTests } from "./runner.mjs";

installInterruptShim();

let places = 0;

/** As base64 to Node, which answers rows, and the bytes after it. */
async function runInNode(bytes, statement) {
  const answer = await globalThis.runOver(bytes.toBase64(), statement);
  return { ...answer, bytes: Uint8Array.fromBase64(answer.bytes) };
}

const platform = {
  newPlace: () => `capability_${places++}`,
  open: (name, options) => openMemory({ name, storage: "opfs", ...options }),
  sql: async (memory, _name, statement) => (await runInNode(await memory.export(), statement)).rows,
  // Nobody else may write to a file in OPFS: what was changed elsewhere is imported.
  async change(name, statement) {
    const memory = await this.open(name);
    try {
      await memory.import((await runInNode(await memory.export(), statement)).bytes);
    } finally {
      await memory.close();
    }
  },
};

globalThis.run = async (title) => {
  const { failures } = await runTests(() => {
    it(title, () => runCapability(title, platform, expect));
  });
  return failures.flatMap(({ state, errors }) => errors ?? state).join("\n");
};

/** How the same agent fares over each backend, by its name in the guide. */
globalThis.tryEach = async () => ({
  InMemoryStore: await tryBackend(() => new InMemoryStore()),
  SqliteStore: await tryBackend(() => new SqliteStore({ name: "guide of a store" })),
  "openMemory({ name })": await tryBackend(() => openMemory({ name: "guide" })),
});

/** The bytes of a database's header that say how it is written and read, and what its log holds. */
globalThis.journalOf = async (name) => {
  const memory = await openMemory({ name, storage: "opfs" });
  await memory.store.put(["n"], "k", { n: 1 });
  const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("keepsake");
  const bytesOf = async (file) =>
    new Uint8Array(await (await (await folder.getFileHandle(file)).getFile()).arrayBuffer());
  const log = await bytesOf(`${name}-wal`);
  await memory.close();
  const [WRITE_VERSION, READ_VERSION] = [18, 19];
  const header = await bytesOf(name);
  return { versions: [header[WRITE_VERSION], header[READ_VERSION]], logSize: log.length };
};
