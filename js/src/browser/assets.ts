// Where a page finds worker.js and keepsake.wasm: beside the module itself. The expressions
// `new URL("…", import.meta.url)` stay literal: bundlers look for them, and emit what they name.
// Around that of the worker stands no `new Worker(…)`, which they would look for, too: the address
// goes through a policy of Trusted Types first, and the worker is one file that needs no bundling.
// `assets.inline.ts` has the same functions for `keepsake/inline`.

import type { DatabaseOptions } from "../engine/options.js";
import { absoluteUrl, cannotLoad, trusted, workerAt, workerOf } from "./load.js";

/** Starts the worker of this page. That it can't be loaded is an event of the worker. @internal */
export function startWorker({ worker }: Pick<DatabaseOptions, "worker"> = {}): Worker {
  if (typeof worker === "function") return workerOf(worker);
  return workerAt(worker ?? scriptAddress());
}

/** The address of the wasm file, or its bytes, packed by gzip. @internal */
export function wasmSource({
  wasmUrl,
}: Pick<DatabaseOptions, "wasmUrl"> = {}): string | Uint8Array {
  if (wasmUrl !== undefined) return absoluteUrl(wasmUrl);
  return addressInVite("keepsake.wasm") ?? wasmBesideModule();
}

/**
 * The worker that all tabs share, which only passes ports on; undefined where the
 * browser has none. @internal
 */
export function startBroker(): SharedWorker | undefined {
  if (typeof SharedWorker === "undefined") return undefined;
  try {
    return new SharedWorker(trusted(scriptAddress()), { type: "module", name: "keepsake" });
  } catch {
    return undefined;
  }
}

function scriptAddress(): string {
  const prebundled = addressInVite("worker.js");
  if (prebundled !== undefined) return prebundled;
  try {
    return new URL("./worker.js", import.meta.url).href;
  } catch (cause) {
    throw cannotLoad("worker.js", "the bundle does not know its own address", cause);
  }
}

function wasmBesideModule(): string {
  try {
    return new URL("./keepsake.wasm", import.meta.url).href;
  } catch (cause) {
    // A bundle that is no ES module has no import.meta.url.
    throw cannotLoad("keepsake.wasm", "the bundle does not know its own address", cause);
  }
}

// Vite's development server moves a package's modules to node_modules/.vite/deps, and
// leaves their files where they are. Versions that rewrite the address need no help.
function addressInVite(file: string): string | undefined {
  const beside = wasmBesideModule();
  if (!/\/\.vite\/deps[^/]*\/[^/]*$/.test(beside)) return undefined;
  return new URL(`../../keepsake/dist/${file}`, beside).href;
}
