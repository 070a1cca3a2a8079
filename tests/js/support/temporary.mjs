// Folders that are gone when their test file is over.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders = [];

export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-"));
  folders.push(folder);
  return folder;
}

export function temporaryFile(name = "memory.sqlite") {
  return join(temporaryFolder(), name);
}

/** Again and again, because a browser that was killed may still write. */
export function removeTemporaryFolders() {
  const options = { recursive: true, force: true, maxRetries: 10 };
  for (const folder of folders.splice(0)) rmSync(folder, options);
}
