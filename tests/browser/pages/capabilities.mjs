// Capabilities that are the same on every platform, in a page, over OPFS. SQL runs in Node.

import { installInterruptShim, openMemory } from "keepsake";
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
