// Writes to a memory on a file with history and an audit log until it is killed. It tells its
// ledger of each call before it is made, and when it is acknowledged.
//   killed-worker.mjs <folder> <ledger> <keys> <generation> <isEncrypted>

import { appendFileSync } from "node:fs";
import { checkpointOf, metadataOf, threadConfig } from "./checkpoints.mjs";
import { keyOf, MARKER, openStorm, textOf } from "./killed.mjs";
import { randomOf } from "./mutants.mjs";

const [, , folder, ledger, keys, generation, isEncrypted] = process.argv;
const random = randomOf(1 + Number(generation));
const tell = (...words) => appendFileSync(ledger, `${words.join(" ")}\n`);
const tellKey = (...words) => appendFileSync(keys, `${words.join(" ")}\n`);

const { memory, keyNumber } = await openStorm(folder, keys, isEncrypted === "true");
tellKey("key", keyNumber);
await memory.store.keepHistory([], { maxVersions: 100_000 });
await memory.keepAudit({ maxEntries: 1_000_000 });
const { store, checkpointer } = memory;
const namespaceOf = (key) => [MARKER, generation, key];
const there = new Set();

async function change(key, n) {
  const isDelete = there.has(key) && random(4) === 0;
  tell("begin", key, n, isDelete ? "delete" : "put");
  if (isDelete) await store.delete(namespaceOf(key), MARKER);
  else await store.put(namespaceOf(key), MARKER, { n, text: textOf(n, random(1500)) });
  if (isDelete) there.delete(key);
  else there.add(key);
  tell("done", key, n);
}

const others = [
  async (n) => {
    const thread = `${MARKER}-${generation}`;
    const checkpoint = checkpointOf({ text: textOf(n, 300) }, n + 1);
    tell("begin", "thread", checkpoint.id, "put");
    await checkpointer.put(threadConfig(thread), checkpoint, metadataOf(n), { text: n + 1 });
    tell("done", "thread", checkpoint.id);
  },
  () => memory.flush(),
  () => store.search([MARKER], { query: `${MARKER} text`, ranking: { mode: "hybrid" } }),
  () => (random(4) === 0 ? checkpointer.compact() : undefined),
  async () => {
    if (isEncrypted !== "true") return;
    tellKey("changing", ++changed);
    await memory.changeKey(keyOf(changed));
    tellKey("key", changed);
  },
];
let changed = keyNumber;

for (let n = 0; ; n++) {
  // In one tick they are one transaction.
  const places = new Set(Array.from({ length: 1 + random(3) }, () => `k${random(6)}`));
  await Promise.all([...places].map((key, i) => change(key, 10 * n + i)));
  if (n % 3 === 2) await others[random(others.length)](n);
}
