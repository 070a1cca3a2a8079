// One of several processes that write to one file. It tells its parent's ledger of each
// write when it is acknowledged, until it is killed.
//
//   storm-worker.mjs <file> <ledger> <name>

import { appendFileSync } from "node:fs";
import { checkpointOf, metadataOf, threadConfig } from "./checkpoints.mjs";
import { memoryAt } from "./connections.mjs";

const [path, ledger, name] = process.argv.slice(2);
const embeddings = (texts) => texts.map((text) => [text.length, Number(text.split(" ")[1]), 1]);
const { store, checkpointer } = memoryAt("better-sqlite3", path, {
  index: { dims: 3, embeddings, fields: ["text"] },
});
const tell = (what, id) => appendFileSync(ledger, `${what} ${name} ${id}\n`);

for (let i = 0; ; i++) {
  await store.put(["storm", name], `${i}`, { text: `item ${i} of ${name}` });
  tell("put", i);
  // What others wrote meanwhile must not be in its way.
  if (i % 10 === 0)
    await store.search(["storm"], { query: `item ${i}`, ranking: { mode: "hybrid" } });
  if (i % 5 === 4) {
    tell("deleting", i - 4);
    await store.delete(["storm", name], `${i - 4}`);
    tell("deleted", i - 4);
  }
  if (i % 3 === 0) {
    const checkpoint = checkpointOf({ n: i }, i + 1);
    const versions = checkpoint.channel_versions;
    await checkpointer.put(threadConfig(name), checkpoint, metadataOf(i), versions);
    tell("checkpoint", checkpoint.id);
  }
}
