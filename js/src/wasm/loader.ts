// Makes a running engine of compiled code; the only importer of the glue. One
// instance is one engine: a trap costs nobody else anything.

import createModule from "#glue";
import type { EngineFiles } from "./engine-file.js";

/** @internal */
export interface EngineSource {
  /** The compiled keepsake.wasm. */
  module: WebAssembly.Module;
  /** What it may open. Borrowed: the caller closes them after close(). */
  files: EngineFiles;
}

/**
 * Frames in, frames out. A response is a view into linear memory, until the next
 * call. A call that throws has trapped, and every later one throws too. @internal
 */
export interface RawEngine {
  open(config: Uint8Array): Uint8Array;
  execute(request: Uint8Array): Uint8Array;
  /** Lets go of the database. Does nothing after a trap. */
  close(): void;
  /** What a file threw last: the cause behind an I/O error. */
  readonly fileError: unknown;
}

/** @internal */
export async function loadEngine({ module, files }: EngineSource): Promise<RawEngine> {
  const glue = await createModule({
    files,
    // Synchronous, because workerd compiles nothing and has a Module already.
    instantiateWasm(
      imports: WebAssembly.Imports,
      receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
    ) {
      const instance = new WebAssembly.Instance(module, imports);
      receive(instance, module);
      return instance.exports;
    },
    // What an aborting instance would print is in the error that it throws.
    print: ignore,
    printErr: ignore,
  });
  return new GlueEngine(glue);
}

function ignore(): void {}

type Glue = Awaited<ReturnType<typeof createModule>> & { fileError?: unknown };

class GlueEngine implements RawEngine {
  readonly #glue: Glue;
  readonly #engine: InstanceType<Glue["Engine"]>;
  #trap: unknown;
  #isClosed = false;

  constructor(glue: Glue) {
    this.#glue = glue;
    this.#engine = new glue.Engine();
  }

  open(config: Uint8Array): Uint8Array {
    return this.#guard(() => this.#response(this.#engine.open(this.#write(config))));
  }

  execute(request: Uint8Array): Uint8Array {
    return this.#guard(() => this.#response(this.#engine.execute(this.#write(request))));
  }

  close(): void {
    if (this.#isClosed || this.#trap !== undefined) return;
    this.#guard(() => {
      this.#engine.close();
      this.#engine.delete();
    });
    this.#isClosed = true;
  }

  get fileError(): unknown {
    return this.#glue.fileError;
  }

  /** Answers the size of the request. */
  #write(request: Uint8Array): number {
    const address = this.#engine.reserve(request.length);
    if (address === 0) throw new RangeError(`no room for a request of ${request.length} bytes`);
    this.#glue.HEAPU8.set(request, address);
    return request.length;
  }

  #response(size: number): Uint8Array {
    const address = this.#engine.response();
    return this.#glue.HEAPU8.subarray(address, address + size);
  }

  #guard<T>(body: () => T): T {
    if (this.#isClosed) throw new Error("the engine is closed");
    if (this.#trap !== undefined) {
      throw new Error("the engine trapped before", { cause: this.#trap });
    }
    try {
      return body();
    } catch (error) {
      this.#trap = error ?? new Error("unknown trap");
      throw error;
    }
  }
}
