// importer.ts, where there is no SQLite to read files of other programs with.

import { KeepsakeError } from "../errors.js";
import type { SalvageReport } from "../wire/layout.js";
import type { ImportReport } from "./options.js";

/** @internal */
export async function importFile(
  ..._source: Parameters<typeof import("./importer.js").importFile>
): Promise<ImportReport> {
  throw new KeepsakeError(
    "unsupported",
    "importFrom needs SQLite's files: import where the file is, and send the memory here",
  );
}

/** @internal */
export async function salvageFile(
  ..._source: Parameters<typeof import("./importer.js").salvageFile>
): Promise<SalvageReport> {
  throw new KeepsakeError(
    "unsupported",
    "salvage needs SQLite's files: salvage where the file is, and send the new memory here",
  );
}
