// Every way to have a saver.

import { MemorySaver, openMemory, SqliteSaver } from "keepsake";
import { closeMemoryOf, libraries, memoryAt } from "./connections.mjs";
import { isLong } from "./effort.mjs";
import { memoryBucket } from "./memory-bucket.mjs";
import { temporaryFile } from "./temporary.mjs";

const memoryOf = new WeakMap();

async function saverOfMemory() {
  const memory = await openMemory({ path: temporaryFile() });
  memoryOf.set(memory.checkpointer, memory);
  return memory.checkpointer;
}

async function saverInBucket() {
  const memory = await openMemory({ bucket: memoryBucket().bucket, name: "savers" });
  memoryOf.set(memory.checkpointer, memory);
  return memory.checkpointer;
}

const saverBackends = [
  {
    name: "MemorySaver",
    make: () => new MemorySaver(),
    close: (saver) => saver.close(),
    isFirst: true,
  },
  {
    name: "SqliteSaver on a file",
    make: () => new SqliteSaver({ path: temporaryFile() }),
    close: (saver) => saver.close(),
    isFirst: true,
  },
  {
    name: "SqliteSaver :memory:",
    make: () => SqliteSaver.fromConnString(":memory:"),
    close: (saver) => saver.close(),
  },
  {
    name: "openMemory().checkpointer",
    make: saverOfMemory,
    close: (saver) => memoryOf.get(saver).close(),
  },
  {
    name: "openMemory({ bucket }).checkpointer",
    make: saverInBucket,
    close: (saver) => memoryOf.get(saver).close(),
    isFirst: true,
  },
  ...Object.keys(libraries).map((library, i) => ({
    name: `memoryOver(${library}).checkpointer`,
    make: () => memoryAt(library, temporaryFile()).checkpointer,
    close: closeMemoryOf,
    isFirst: i === 0,
  })),
];

/** In memory, on a file and over a connection; every backend in the long run. */
export const saversOfEachKind = isLong
  ? saverBackends
  : saverBackends.filter(({ isFirst }) => isFirst);
