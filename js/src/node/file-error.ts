// What node:fs throws, as the errors that keepsake promises.

import { KeepsakeError, type KeepsakeErrorCode, messageOf } from "../errors.js";

const CODES: Record<string, KeepsakeErrorCode> = {
  EROFS: "read_only",
  EACCES: "read_only",
  EPERM: "read_only",
  ENOSPC: "storage_full",
  EDQUOT: "storage_full",
};

/** `what` could not be done to `path`. @internal */
export function fileError(what: string, path: string, error: unknown): KeepsakeError {
  const code = CODES[(error as NodeJS.ErrnoException).code ?? ""] ?? "cannot_open";
  return new KeepsakeError(code, `${what} ${path}: ${messageOf(error)}`, { cause: error });
}
