// What to do about errors, in commands; by their codes.

import { KEY_HELP } from "./key.js";

/** @internal */
export const REMEDIES: Record<string, string> = {
  busy: "Close the program that has it open, and try again. Several processes need memoryOver().",
  corrupt: "`keepsake salvage FILE NEW` copies what can be read.",
  not_a_database: "Name another file: this one was not written by SQLite.",
  foreign_file: "Name a new file, or read it by `keepsake import NEW FILE`.",
  held: "`keepsake release FILE NAMESPACE` ends a hold.",
  key_required: KEY_HELP,
  newer_schema: "Update keepsake: a newer version wrote it.",
  wrong_key: KEY_HELP,
  storage_full: "Free some room on the disk: nothing can be written now.",
};
