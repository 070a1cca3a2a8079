// What a Worker sends to its KeepsakeObject, and what comes back. Errors travel as
// values: an exception would lose its code.

import type { KeepsakeErrorCode } from "../errors.js";
import type { StoreConfiguration } from "../wire/layout.js";

/** @internal */
export interface Request {
  /** Operations, encoded; what the object makes of it is said in cloudflare/admission.ts. */
  frame: Uint8Array;
  /** What the caller wants the memory to have as index and texts. */
  settings: StoreConfiguration | undefined;
  /** Who calls, as it says. */
  caller?: unknown;
}

/** A response frame, or why there is none. @internal */
export type Response = Uint8Array | { code: KeepsakeErrorCode; message: string };
