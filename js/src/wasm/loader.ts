// Makes running engines of compiled code; the only importer of the glue. What an
// instance traps on breaks all of its engines.

import createModule from "#glue";
import type { EngineFiles } from "./engine-file.js";
import type { EngineHosts } from "./engine-host.js";

/** @internal */
export interface EngineSource {
  /** The compiled keepsake.wasm. */
  module: WebAssembly.Module;
  /** What it may open. Borrowed: the caller closes them after close(). */
  files?: EngineFiles;
  /** The databases that the lean module may open, by the number which is their path. */
  hosts?: EngineHosts;
}

/**
 * Frames in, frames out. A response is a view into linear memory, until the next call of any
 * engine of the instance. A call that throws has trapped, and every later one throws too. @internal
 */
export interface RawEngine {
  open(config: Uint8Array): Uint8Array;
  execute(request: Uint8Array): Uint8Array;
  /** Lets go of the database. Does nothing after a trap. */
  close(): void;
  /** Whether its instance has trapped, be it in a call of another engine. */
  readonly isBroken: boolean;
  /** What a file threw last: the cause behind an I/O error. */
  readonly fileError: unknown;
}

/** A running instance. @internal */
export interface Instance {
  newEngine(): RawEngine;
  /** Whether it has trapped. */
  readonly isBroken: boolean;
}

/** An engine in an instance of its own: a trap costs nobody else anything. @internal */
export async function loadEngine(source: EngineSource): Promise<RawEngine> {
  return (await loadInstance(source)).newEngine();
}

/** @internal */
export async function loadInstance({ module, files, hosts }: EngineSource): Promise<Instance> {
  const glue = await createModule({
    files,
    hosts,
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
  return new GlueInstance(glue);
}

function ignore(): void {}

type Glue = Awaited<ReturnType<typeof createModule>> & { fileError?: unknown };

class GlueInstance implements Instance {
  readonly glue: Glue;
  #trap: unknown;

  constructor(glue: Glue) {
    this.glue = glue;
  }

  newEngine(): RawEngine {
    return new GlueEngine(this);
  }

  get isBroken(): boolean {
    return this.#trap !== undefined;
  }

  guard<T>(body: () => T): T {
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

class GlueEngine implements RawEngine {
  readonly #instance: GlueInstance;
  readonly #engine: InstanceType<Glue["Engine"]>;
  #isClosed = false;

  constructor(instance: GlueInstance) {
    this.#instance = instance;
    this.#engine = instance.guard(() => new instance.glue.Engine());
  }

  open(config: Uint8Array): Uint8Array {
    return this.#guard(() => this.#response(this.#engine.open(this.#write(config))));
  }

  execute(request: Uint8Array): Uint8Array {
    return this.#guard(() => this.#response(this.#engine.execute(this.#write(request))));
  }

  close(): void {
    if (this.#isClosed || this.#instance.isBroken) return;
    this.#guard(() => {
      this.#engine.close();
      this.#engine.delete();
    });
    this.#isClosed = true;
  }

  get isBroken(): boolean {
    return this.#instance.isBroken;
  }

  get fileError(): unknown {
    return this.#instance.glue.fileError;
  }

  /** Answers the size of the request. */
  #write(request: Uint8Array): number {
    const address = this.#engine.reserve(request.length);
    if (address === 0) throw new RangeError(`no room for a request of ${request.length} bytes`);
    this.#instance.glue.HEAPU8.set(request, address);
    return request.length;
  }

  #response(size: number): Uint8Array {
    const address = this.#engine.response();
    return this.#instance.glue.HEAPU8.subarray(address, address + size);
  }

  #guard<T>(body: () => T): T {
    if (this.#isClosed) throw new Error("the engine is closed");
    return this.#instance.guard(body);
  }
}
