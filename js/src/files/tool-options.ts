// What the tools that write files for a model have in common: its secrets are masked.

import { checkOptions, checkText, type NamesOf } from "../checks.js";
import {
  checkSecretHandling,
  type Guarded,
  guarded,
  guardName,
  type SecretHandling,
} from "../store/secrets.js";
import { FILES_OPTIONS, type FilesOptions } from "./files.js";

/** Where a model's files are, and what becomes of its secrets. */
export interface FilesToolOptions extends FilesOptions {
  /**
   * What becomes of keys, tokens and card numbers in what the model writes. Those in a path are
   * refused. @default "mask"
   */
  secrets?: SecretHandling | undefined;
}

const OPTIONS: NamesOf<FilesToolOptions> = { ...FILES_OPTIONS, secrets: 1 };

/** @internal */
export interface FilesTool {
  options: FilesOptions;
  guardPath(path: string): void;
  guard(content: string): Guarded<string>;
}

/** @internal */
export function toolOf(call: string, given?: FilesToolOptions): FilesTool {
  const { secrets, ...options } = checkOptions(call, OPTIONS, given);
  const handling = checkSecretHandling(secrets, "mask");
  return {
    options,
    guardPath: (path) => guardName(checkText("path", path), handling, "the path"),
    guard: (content) => guarded(checkText("content", content), handling, "the file"),
  };
}
