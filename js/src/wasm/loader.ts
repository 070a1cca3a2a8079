// Makes running instances of compiled code; the only importer of the glue.

import createModule from "#glue";
import type { EngineFiles } from "./engine-file.js";
import type { EngineHosts } from "./engine-host.js";

/** @internal */
export interface InstanceSource {
  /** The compiled keepsake.wasm. */
  module: WebAssembly.Module;
  /** What it may open. Borrowed: the caller closes them at the end. */
  files?: EngineFiles;
  /** The databases that the lean module may open, by the number which is their path. */
  hosts?: EngineHosts;
  /** The module's glue, if it is not the one of this build. */
  createModule?: typeof createModule;
}

type Glue = Awaited<ReturnType<typeof createModule>> & { fileError?: unknown };

/** An engine of the module, as the glue has it: for `WasmInstance` to call. @internal */
export type WasmEngine = InstanceType<Glue["Engine"]>;

/**
 * A running instance. What it traps on breaks all of its engines: a call that throws has
 * trapped, and every later one throws too. @internal
 */
export class WasmInstance {
  readonly #glue: Glue;
  #trap: unknown;

  static async load(source: InstanceSource): Promise<WasmInstance> {
    const { module, files, hosts } = source;
    const glue = await (source.createModule ?? createModule)({
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
    return new WasmInstance(glue);
  }

  private constructor(glue: Glue) {
    this.#glue = glue;
  }

  get isBroken(): boolean {
    return this.#trap !== undefined;
  }

  /** What a file threw last: the cause behind an I/O error. */
  get fileError(): unknown {
    return this.#glue.fileError;
  }

  newEngine(): WasmEngine {
    return this.#guard(() => new this.#glue.Engine());
  }

  /** The response is a view into linear memory, until the next call of any engine of the instance. */
  call(engine: WasmEngine, method: "open" | "execute", request: Uint8Array): Uint8Array {
    return this.#guard(() => {
      const address = engine.reserve(request.length);
      if (address === 0) throw new RangeError(`no room for a request of ${request.length} bytes`);
      this.#glue.HEAPU8.set(request, address);
      const size = engine[method](request.length);
      const response = engine.response();
      return this.#glue.HEAPU8.subarray(response, response + size);
    });
  }

  /** Lets go of the engine and its database. */
  end(engine: WasmEngine): void {
    this.#guard(() => {
      engine.close();
      engine.delete();
    });
  }

  #guard<T>(body: () => T): T {
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

function ignore(): void {}
