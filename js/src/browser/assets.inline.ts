// What assets.ts has, for `keepsake/inline`: worker and wasm are in the module, and
// no file is needed beside it. A blob as a worker has to be allowed by the content
// security policy: `worker-src blob:`.

import { wasm } from "#embedded-wasm";
import { workerScript } from "#embedded-worker";
import type { DatabaseOptions } from "../engine/options.js";
import { absoluteUrl, workerAt, workerOf } from "./load.js";

/** @internal */
export function startWorker({ worker }: Pick<DatabaseOptions, "worker"> = {}): Worker {
  if (typeof worker === "function") return workerOf(worker);
  return worker === undefined ? workerAt(scriptAddress(), "classic") : workerAt(worker);
}

/** The address of the wasm file, or its bytes, packed by gzip. @internal */
export function wasmSource({
  wasmUrl,
}: Pick<DatabaseOptions, "wasmUrl"> = {}): string | Uint8Array {
  return wasmUrl === undefined ? wasmBytes() : absoluteUrl(wasmUrl);
}

/** None: tabs share a worker by its address, and a blob's is another one in each tab. @internal */
export function startBroker(): SharedWorker | undefined {
  return undefined;
}

let address: string | undefined;

function scriptAddress(): string {
  address ??= URL.createObjectURL(new Blob([workerScript], { type: "text/javascript" }));
  return address;
}

let bytes: Uint8Array | undefined;

function wasmBytes(): Uint8Array {
  bytes ??= Uint8Array.from(atob(wasm), (letter) => letter.charCodeAt(0));
  return bytes;
}
