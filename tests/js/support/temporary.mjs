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

export function removeTemporaryFolders() {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}
