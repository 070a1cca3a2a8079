// What the tools that write files for a model have in common: its secrets are masked.

import { checkOptions, checkText, type NamesOf } from "../checks.js";
import {
  guarded,
  type Masked,
  SecretGuard,
  type SecretHandling,
  type SecretOptions,
} from "../store/secrets.js";
import { FILES_OPTIONS, type FilesOptions } from "./files.js";

/** Where a model's files are, and what becomes of its secrets. */
export interface FilesToolOptions extends FilesOptions {
  /**
   * What becomes of keys, tokens and card numbers in what the model writes. Those in a path are
   * refused. @default "mask"
   */
  secrets?: SecretHandling | SecretOptions | undefined;
}

const OPTIONS: NamesOf<FilesToolOptions> = { ...FILES_OPTIONS, secrets: 1 };

/** @internal */
export interface FilesTool {
  options: FilesOptions;
  guardPath(path: string): void;
  guard(content: string): Masked<string>;
}

/** @internal */
export function toolOf(call: string, given?: FilesToolOptions): FilesTool {
  const { secrets, ...options } = checkOptions(call, OPTIONS, given);
  const guard = SecretGuard.of(secrets, "mask");
  return {
    options,
    guardPath: (path) => guard?.name(checkText("path", path), "the path"),
    guard: (content) => guarded(guard, checkText("content", content), "the file"),
  };
}
