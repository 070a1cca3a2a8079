// Where a page finds worker.js and keepsake.wasm: beside the module itself. The
// expressions `new Worker(new URL("…", import.meta.url), …)` and `new URL("…",
// import.meta.url)` stay literal: bundlers look for them, and emit what they name.
// `assets.inline.ts` has the same functions for `keepsake/inline`.

import type { DatabaseOptions } from "../engine/options.js";
import { absoluteUrl, cannotLoad, workerAt, workerOf } from "./load.js";

/** Starts the worker of this page. That it can't be loaded is an event of the worker. @internal */
export function startWorker({ worker }: Pick<DatabaseOptions, "worker"> = {}): Worker {
  if (typeof worker === "function") return workerOf(worker);
  if (worker !== undefined) return workerAt(worker);
  const prebundled = addressInVite("worker.js");
  if (prebundled !== undefined) return workerAt(prebundled);
  try {
    return new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  } catch (cause) {
    throw cannotLoad("worker.js", "it can't be started from here", cause);
  }
}

/** The address of the wasm file, or its bytes. @internal */
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
    const prebundled = addressInVite("worker.js");
    if (prebundled !== undefined) {
      return new SharedWorker(prebundled, { type: "module", name: "keepsake" });
    }
    return new SharedWorker(new URL("./worker.js", import.meta.url), {
      type: "module",
      name: "keepsake",
    });
  } catch {
    return undefined;
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
