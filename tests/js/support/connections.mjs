// Connections of the libraries that this runtime has, and memories over them.

import { createRequire } from "node:module";
import { memoryOver } from "keepsake/sqlite";

const require = createRequire(import.meta.url);

const ofNpm = {
  "better-sqlite3": (path, timeout = 20_000) => new (require("better-sqlite3"))(path, { timeout }),
  libsql: (path, timeout = 20_000) => new (require("libsql"))(path, { timeout }),
};

const ofRuntime = {
  "node:sqlite": (path, timeout = 20_000) =>
    new (process.getBuiltinModule("node:sqlite").DatabaseSync)(path, { timeout }),
  "bun:sqlite": (path, timeout = 20_000) => {
    const connection = new (require("bun:sqlite").Database)(path, { create: true });
    connection.exec(`PRAGMA busy_timeout = ${timeout}`);
    return connection;
  },
};

/** Of npm, in the runtime that all tests run in; else what the runtime brings. */
export const libraries = process.env.KEEPSAKE_CONNECTION
  ? { [process.env.KEEPSAKE_CONNECTION]: ofRuntime[process.env.KEEPSAKE_CONNECTION] }
  : ofNpm;

const connectionOf = new WeakMap();

/** A memory over a new connection to `path`. */
export function memoryAt(library, path, options) {
  const connection = libraries[library](path);
  connection.exec("PRAGMA journal_mode = WAL");
  const memory = memoryOver(connection, options);
  for (const tier of [memory, memory.store, memory.checkpointer]) {
    connectionOf.set(tier, { connection, memory, path });
  }
  return memory;
}

/** By the memory, or a tier of it. */
export async function closeMemoryOf(tier) {
  const { connection, memory, path } = connectionOf.get(tier);
  await memory.close();
  if (connection.open !== false) connection.close();
  return path;
}
