// A SQLite file says how it has its texts: https://www.sqlite.org/fileformat2.html#enc
// The engine reads UTF-8, and takes the names of tables in UTF-16 for damage.

import { KeepsakeError } from "../errors.js";
import { closeFiles, type EngineFile } from "../wasm/engine-file.js";
import type { ForeignDatabase } from "./engine.js";

const BEGINNING = "SQLite format 3\0";
const ENCODING_AT = 56;
const UTF_16 = [2, 3];
const APPLICATION_AT = 68;
// "Keep": a file of ours that says UTF-16 is damaged.
const OURS = 0x4b656570;
const HEADER_BYTES = 72;

/** Throws `unsupported` if the texts of a database that is not encrypted are UTF-16. @internal */
export function refuseUtf16(name: string, database: EngineFile | Uint8Array | undefined): void {
  if (database === undefined) return;
  const header = database instanceof Uint8Array ? database : new Uint8Array(HEADER_BYTES);
  if (!(database instanceof Uint8Array)) database.read(header, { at: 0 });
  if (header.length < HEADER_BYTES) return;
  for (let i = 0; i < BEGINNING.length; i++) if (header[i] !== BEGINNING.charCodeAt(i)) return;
  const view = new DataView(header.buffer, header.byteOffset, HEADER_BYTES);
  if (!UTF_16.includes(view.getUint32(ENCODING_AT))) return;
  if (view.getUint32(APPLICATION_AT) === OURS) return;
  throw new KeepsakeError(
    "unsupported",
    `texts of a database must be UTF-8, and those of ${name} are UTF-16: copy it into a new file, ` +
      "as sqlite3 old.db .dump | sqlite3 new.db does",
  );
}

/** The same of what is lent to the engine. Its files are closed then. @internal */
export async function refuseForeignUtf16(name: string, database: ForeignDatabase): Promise<void> {
  if (database instanceof Uint8Array) return refuseUtf16(name, database);
  if (database instanceof Map) {
    try {
      return refuseUtf16(name, database.get(name));
    } catch (error) {
      closeFiles(database);
      throw error;
    }
  }
  const header = await database.slice(0, HEADER_BYTES).arrayBuffer();
  refuseUtf16(name, new Uint8Array(header));
}
