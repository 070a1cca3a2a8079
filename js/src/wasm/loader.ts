// Makes running instances of compiled code; the only importer of the glue.

import createModule from "#glue";
import { KeepsakeError } from "../errors.js";
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

// Linear memory ends at 2 GB. From here on, room is asked for before a call needs it.
const SPARED_FROM = 2 ** 30;
// What a call needs besides blocks of the size of its request.
const LEAST_BLOCK = 64 * 2 ** 10;
const LARGE_REQUEST = 128 * 2 ** 20;
// From so much linear memory on it is worth asking why it grew. A frame takes some bytes of it
// for each of its own: to be copied, encoded and stored.
const GROWN_FROM = 64 * 2 ** 20;
const BYTES_FOR_A_BYTE = 8;

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
  #largestFrame = 0;

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

  /** Bytes of linear memory, which never shrinks. */
  get memoryBytes(): number {
    return this.#glue.HEAPU8.length;
  }

  /** Whether it is as large as it is because of single frames, which are gone. */
  get isGrown(): boolean {
    const { memoryBytes } = this;
    return memoryBytes >= GROWN_FROM && this.#largestFrame * BYTES_FOR_A_BYTE >= memoryBytes;
  }

  /**
   * The response is a view into linear memory, until the next call of any engine of the
   * instance. Throws a KeepsakeError, and did nothing, if there is no room for the request
   * and for `spare` bytes that must be left.
   */
  call(engine: WasmEngine, method: "open" | "execute", request: Uint8Array, room = 0): Uint8Array {
    const address = this.#guard(() => this.#reserve(engine, request.length, room));
    if (address === 0) throw this.#isFull(request.length);
    return this.#guard(() => {
      this.#glue.HEAPU8.set(request, address);
      const size = engine[method](request.length);
      const response = engine.response();
      this.#largestFrame = Math.max(this.#largestFrame, request.length, size);
      return this.#glue.HEAPU8.subarray(response, response + size);
    });
  }

  // Where the request goes; 0 if there is no room.
  #reserve(engine: WasmEngine, size: number, spare: number): number {
    const isScarce = this.memoryBytes >= SPARED_FROM;
    if (isScarce && spare > 0 && engine.hasRoom(spare, size + LEAST_BLOCK) === 0) return 0;
    return engine.reserve(size);
  }

  #isFull(size: number): KeepsakeError {
    const used = Math.round(this.memoryBytes / 2 ** 20);
    return new KeepsakeError(
      size > LARGE_REQUEST ? "too_large" : "storage_full",
      `no room in memory for ${size} bytes, ${used} MB of 2 GB are taken: nothing was done; delete items`,
    );
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
