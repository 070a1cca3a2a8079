// A database as the bytes of one SQLite file, out and in.

import { KeepsakeError } from "../errors.js";
import { isBytes } from "../value.js";
import { memoryFiles } from "../wasm/memory-files.js";
import type { Connection } from "./connection.js";

const PIECE = 1 << 20;

/** @internal */
export function exportDatabase(caller: Connection): Promise<Uint8Array> {
  return caller.exclusively(async () => {
    // One of its own, so that an export ends also if its caller is closed meanwhile.
    const connection = caller.share();
    try {
      const [size] = await connection.call([{ kind: "beginExport" }]);
      const database = new Uint8Array(size);
      for (let offset = 0; offset < size; offset += PIECE) {
        const length = Math.min(PIECE, size - offset);
        const [piece] = await connection.call([{ kind: "readExport", offset, length }]);
        database.set(piece, offset);
      }
      return database;
    } finally {
      await connection.call([{ kind: "endExport" }]);
      connection.close();
    }
  });
}

/** @internal */
export function importDatabase(connection: Connection, database: Uint8Array): Promise<void> {
  if (!isBytes(database)) {
    throw new KeepsakeError("invalid_argument", "a database to import must be a Uint8Array");
  }
  const path = "database to import";
  return connection.exclusively(() =>
    connection.lending(memoryFiles(path, database), async () => {
      await connection.call([{ kind: "importFrom", path }]);
    }),
  );
}
