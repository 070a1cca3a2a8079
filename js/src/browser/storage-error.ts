// What a browser's storage throws, as the errors that keepsake promises.

import { KeepsakeError } from "../errors.js";

/** `what` could not be done with the database `name`. @internal */
export function storageError(what: string, name: string, error: unknown): KeepsakeError {
  if (error instanceof KeepsakeError) return error;
  const code = isQuotaError(error) ? "storage_full" : "io_error";
  return new KeepsakeError(code, `${what} "${name}": ${reasonOf(error)}`, { cause: error });
}

/** @internal */
export function isQuotaError(error: unknown): boolean {
  return errorName(error) === "QuotaExceededError";
}

/**
 * Whether the browser gives nothing that lasts here, not even a lock: the user blocks it, or this
 * is a frame of another site. @internal
 */
export function isRefusal(error: unknown): boolean {
  return errorName(error) === "SecurityError";
}

/** @internal */
export function errorName(error: unknown): string | undefined {
  return (error as Error | null | undefined)?.name;
}

/** A DOMException's name says more than its message. @internal */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** Nobody hears of it. @internal */
export function abandonedError(name: string): KeepsakeError {
  return new KeepsakeError("closed", `"${name}" is no longer opened here`);
}

/** @internal */
export function closedError(name: string): KeepsakeError {
  return new KeepsakeError("closed", `the storage of "${name}" is closed`);
}
