// What node:fs throws, as the errors that keepsake promises.

import * as fs from "node:fs";
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

/** A flag of open(): fails for a symbolic link, where the system knows it. @internal */
export const NO_LINK = fs.constants.O_NOFOLLOW ?? 0;

/** Whether opening with `NO_LINK` failed for that. @internal */
export function isLinkRefused(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ELOOP";
}

/** What stands beside a database may not lead elsewhere: it would be overwritten. @internal */
export function linkRefused(path: string): KeepsakeError {
  return new KeepsakeError(
    "cannot_open",
    `${path} must not be a symbolic link; remove the link and open the database again`,
  );
}
