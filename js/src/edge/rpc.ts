// What a Worker sends to its KeepsakeObject, and what comes back. Errors travel as
// values: an exception would lose its code.

import type { KeepsakeErrorCode } from "../errors.js";
import type { Changes } from "../wire/changes.js";
import type { Operation } from "../wire/operations.js";

/** @internal */
export interface Request {
  /** Operations, encoded. */
  frame: Uint8Array;
  /** What they change if they succeed. */
  changes: Changes | undefined;
  /** What the store of the caller has as index and TTL. */
  configurations: Operation[];
  /** Who calls, as it says. */
  caller?: unknown;
}

/** A response frame, or why there is none. @internal */
export type Response = Uint8Array | { code: KeepsakeErrorCode; message: string };
