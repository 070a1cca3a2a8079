// Every failure of keepsake is a KeepsakeError with a stable code.

/** Stable names; the first group are the engine's own status codes. */
export type KeepsakeErrorCode =
  | "invalid_argument"
  | "invalid_namespace"
  | "invalid_key"
  | "invalid_value"
  | "invalid_filter"
  | "invalid_operation"
  | "dimension_mismatch"
  | "thread_id_required"
  | "not_found"
  | "malformed_frame"
  | "conflicting_options"
  | "busy"
  | "foreign_file"
  | "not_a_database"
  | "newer_schema"
  | "storage_full"
  | "read_only"
  | "corrupt"
  | "io_error"
  | "changed_outside"
  | "cannot_open"
  | "closed"
  | "lost"
  | "too_large"
  | "access_denied"
  | "quota_exceeded"
  | "unsupported"
  | "internal"
  | "model_mismatch"
  | "held"
  | "key_required"
  | "wrong_key"
  /** Only between threads and machines: the call is made again by itself. */
  | "indexing"
  /** What something was is not known: it was not kept, or no longer is. */
  | "no_history"
  /** Something newer is in the way of an undo. */
  | "changed_since"
  | "secret_found"
  | "embedding_failed"
  | "provider_error"
  | "already_exists"
  | "newer_version"
  /** A bucket does not answer. */
  | "unreachable"
  /** A bucket refuses: its credentials, its rights or its settings are wrong. */
  | "bucket_refused"
  /** A bucket has less, or something else, than it had before. */
  | "rolled_back";

/** A database that could not be opened, and is kept under another name. */
export interface DamagedDatabase {
  readonly name: string;
  /** The bytes of its file, to be saved or examined. */
  export(): Promise<Blob>;
  /** Removes it for good. Twice is fine. */
  delete(): Promise<void>;
}

const PREFIX = "[keepsake] ";
const BRAND = Symbol.for("keepsake.error");

/**
 * What keepsake throws and rejects with. `code` never changes between releases,
 * messages may. `instanceof` holds across the ESM and CommonJS copies.
 */
export class KeepsakeError extends Error {
  readonly code: KeepsakeErrorCode;
  /** With `corrupt` and `not_a_database` in browsers: the database as it was, set aside. */
  declare readonly damaged?: DamagedDatabase | undefined;

  constructor(
    code: KeepsakeErrorCode,
    message: string,
    options?: { cause?: unknown; damaged?: DamagedDatabase | undefined },
  ) {
    super(PREFIX + message, options);
    if (options?.damaged !== undefined) this.damaged = options.damaged;
    // Code written for LangGraph's stores looks for this name.
    this.name = code === "invalid_namespace" ? "InvalidNamespaceError" : "KeepsakeError";
    this.code = code;
    Object.defineProperty(this, BRAND, { value: true });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return (
      orUndefined(() => typeof value === "object" && value !== null && BRAND in value) ?? false
    );
  }
}

/** An argument breaks this rule. @internal */
export function invalid(rule: string, cause?: unknown): KeepsakeError {
  return new KeepsakeError("invalid_argument", rule, cause === undefined ? {} : { cause });
}

/** The same error, with the class that was called named in its message. @internal */
export function nameError(backend: string, error: unknown): KeepsakeError {
  if (!(error instanceof KeepsakeError)) {
    return new KeepsakeError("internal", `${backend}: ${messageOf(error)}`, { cause: error });
  }
  const message = detailOf(error);
  if (message.startsWith(`${backend}: `)) return error;
  const { cause, damaged } = error;
  const options = cause === undefined ? { damaged } : { cause, damaged };
  const renamed = new KeepsakeError(error.code, `${backend}: ${message}`, options);
  renamed.stack = error.stack?.replace(error.message, renamed.message);
  return renamed;
}

/** What `body` answers; its errors name `backend`, but for what a signal ended. @internal */
export async function withNamedErrors<T>(backend: string, body: () => T | Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    throw isAbort(error) ? error : nameError(backend, error);
  }
}

// Reasons that a caller gave to a signal of its own: it gets them back.
const reasons = new WeakSet<object>();

/** Throws the signal's reason if it ended the call. @internal */
export function throwIfEnded(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  const { reason } = signal;
  if (typeof reason !== "object" || reason === null) {
    throw Object.assign(new Error("the signal ended it", { cause: reason }), {
      name: "AbortError",
    });
  }
  reasons.add(reason);
  throw reason;
}

// What an `AbortSignal` gives as its reason, be it of another realm.
function isAbort(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  return (
    reasons.has(error) ||
    /^(Abort|Timeout)Error$/.test(orUndefined(() => (error as Error).name) ?? "")
  );
}

/** Tells a listener of the caller's; that it throws is an error of the caller's. @internal */
export function tell<Args extends unknown[]>(
  onProgress: ((...args: Args) => void) | undefined,
  ...args: Args
): void {
  if (onProgress === undefined) return;
  try {
    onProgress(...args);
  } catch (cause) {
    throw invalid(`onProgress threw: ${messageOf(cause)}`, cause);
  }
}

/** Whether something was nested too deeply for a function that calls itself. @internal */
export function isStackOverflow(error: unknown): boolean {
  return (
    (error instanceof RangeError && /call stack/.test(error.message)) ||
    (error instanceof Error && error.name === "InternalError")
  );
}

/** Of whatever was thrown, which may be a proxy. @internal */
export function messageOf(error: unknown): string {
  const message = orUndefined(() => (error instanceof Error ? error.message : String(error)));
  return message ?? "what was thrown has no text";
}

/** messageOf() without the prefix of our own errors, to be part of another message. @internal */
export function detailOf(error: unknown): string {
  const message = messageOf(error);
  return message.startsWith(PREFIX) ? message.slice(PREFIX.length) : message;
}

/** Undefined if it throws. @internal */
export function orUndefined<T>(body: () => T): T | undefined {
  try {
    return body();
  } catch {
    return undefined;
  }
}
