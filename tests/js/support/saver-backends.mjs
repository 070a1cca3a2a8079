// Every way to have a saver.

import { MemorySaver, openMemory, SqliteSaver } from "keepsake";
import { closeMemoryOf, libraries, memoryAt } from "./connections.mjs";
import { temporaryFile } from "./temporary.mjs";

const memoryOf = new WeakMap();

async function saverOfMemory() {
  const memory = await openMemory({ path: temporaryFile() });
  memoryOf.set(memory.checkpointer, memory);
  return memory.checkpointer;
}

export const saverBackends = [
  { name: "MemorySaver", make: () => new MemorySaver(), close: (saver) => saver.close() },
  {
    name: "SqliteSaver on a file",
    make: () => new SqliteSaver({ path: temporaryFile() }),
    close: (saver) => saver.close(),
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
  ...Object.keys(libraries).map((library) => ({
    name: `memoryOver(${library}).checkpointer`,
    make: () => memoryAt(library, temporaryFile()).checkpointer,
    close: closeMemoryOf,
  })),
];
