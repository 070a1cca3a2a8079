// Finds the files of the package, and says what to do when they are not there.

import type { BrowserWorker } from "../engine/options.js";
import { KeepsakeError, messageOf } from "../errors.js";

type AssetName = "worker.js" | "keepsake.wasm";

/** @internal */
export function cannotLoad(file: AssetName, why: string, cause?: unknown): KeepsakeError {
  const option = file === "worker.js" ? "worker" : "wasmUrl";
  return new KeepsakeError(
    "cannot_open",
    `cannot load ${file}: ${why}; copy it from keepsake/dist beside the bundle, ` +
      `or give its address as the option ${option}, or import from keepsake/inline`,
    cause === undefined ? undefined : { cause },
  );
}

/** The address as seen from the page, so that a worker can use it. @internal */
export function absoluteUrl(url: string | URL): string {
  return new URL(url, globalThis.document?.baseURI ?? globalThis.location?.href).href;
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): ScriptPolicy;
}

interface ScriptPolicy {
  /** A TrustedScriptURL, which stands where a string may. */
  createScriptURL(url: string): string;
}

const POLICY = "keepsake";
// Made once: a page may allow each name once only.
let policy: ScriptPolicy | undefined;
let refusal: unknown;

/**
 * An address as the page takes it for a worker: what has Trusted Types may demand them. Where our
 * policy is refused it stays as it is, since a page may have the rule that names policies without
 * the one that demands them. @internal
 */
export function trusted(url: string | URL): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  if (policy === undefined && refusal === undefined) {
    try {
      policy = trustedTypes?.createPolicy(POLICY, { createScriptURL: (address) => address });
    } catch (cause) {
      refusal = cause;
    }
  }
  return policy?.createScriptURL(String(url)) ?? String(url);
}

/**
 * A worker whose script is at this address: one file without an import, so that either type runs
 * it. Only a classic one starts from a blob in a frame without an origin of its own. @internal
 */
export function workerAt(url: string | URL, type: WorkerType = "module"): Worker {
  try {
    return new Worker(trusted(url), { type });
  } catch (cause) {
    if (refusal !== undefined && cause instanceof TypeError) throw untrusted();
    if (globalThis.origin === "null") throw sandboxed(cause);
    // A script of another origin, or one that the content security policy forbids.
    throw cannotLoad("worker.js", `${url}: ${messageOf(cause)}`, cause);
  }
}

function sandboxed(cause: unknown): KeepsakeError {
  return new KeepsakeError(
    "cannot_open",
    "cannot load worker.js: this frame has a sandbox without allow-same-origin, where a worker can't be loaded from a file: import from keepsake/inline, which keeps it in memory there, or add allow-same-origin",
    { cause },
  );
}

function untrusted(): KeepsakeError {
  return new KeepsakeError(
    "cannot_open",
    `cannot load worker.js: the page's content security policy demands Trusted Types, and its rule trusted-types does not allow the policy "${POLICY}": add ${POLICY} to trusted-types, and 'allow-duplicates' if the page loads two copies of this package, or give the option worker a function that makes the worker`,
    { cause: refusal },
  );
}

/** What a function of the caller's makes. @internal */
export function workerOf(make: () => BrowserWorker): Worker {
  let made: BrowserWorker;
  try {
    made = make();
  } catch (cause) {
    throw cannotLoad("worker.js", `the option worker threw: ${messageOf(cause)}`, cause);
  }
  if (typeof made?.postMessage === "function") return made as Worker;
  throw new KeepsakeError(
    "invalid_argument",
    `worker must make a Worker, not ${made === null ? "null" : typeof made}`,
  );
}

/** What an `error` event of a worker says. @internal */
export function workerError(event: Event): KeepsakeError {
  const message = "message" in event ? String(event.message) : "";
  // A script that ran and threw has a message; one that was never there has none.
  if (message !== "") return new KeepsakeError("internal", `the worker failed: ${message}`);
  return cannotLoad("worker.js", "the server did not answer with a script");
}
