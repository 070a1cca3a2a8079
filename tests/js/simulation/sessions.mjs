// Sessions of the real module over files in memory. Its instances are used again, because making
// one takes 50 ms: what they wrote to their linear memory is put back, so that each session begins
// as the first one did. And an empty memory begins from the bytes that the module makes of one,
// because making its tables takes 3 ms. A history opens some ten sessions.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const wasm = fileURLToPath(new URL("../../../dist/keepsake-fast.wasm", import.meta.url));

/** What a request has that the engine falls over, wherever it is executed. */
export const POISON = Buffer.from("poison~");

/** So many are open at once. */
const INSTANCES = 24;

let module;

export class Sessions {
  #code;
  #idle = [];
  /** Linear memory as it is at first. Behind it are zeros. */
  #begin;
  /** An empty memory, as the module makes it. */
  #empty;

  /** `code` is what bundle.mjs exports. */
  constructor(code) {
    this.#code = code;
    module ??= new WebAssembly.Module(readFileSync(wasm));
  }

  /** Before each history: who has to wait for an instance would change its order. */
  async prepare() {
    while (this.#idle.length < INSTANCES) this.#idle.push(await this.#newInstance());
    if (this.#empty !== undefined) return;
    const files = this.#code.memoryFiles("replica");
    const session = this.#over("replica", files, this.#idle.pop());
    session.close();
    const database = files.get("replica");
    this.#empty = new Uint8Array(database.getSize());
    database.read(this.#empty, { at: 0 });
  }

  /** As a host opens files for a process: see OpenFiles. */
  openFilesOf(process) {
    return async (name, files) => {
      const database = files.get(name);
      if (database.getSize() === 0 && files.get(`${name}-wal`).getSize() === 0) {
        database.write(this.#empty, { at: 0 });
      }
      const instance = this.#idle.pop();
      if (instance === undefined) throw new Error("a history needs more instances than there are");
      return this.#over(name, files, instance, process);
    };
  }

  async #newInstance() {
    const files = new Map();
    let glue;
    const createModule = async (given) => {
      glue = await this.#code.createModule(given);
      return glue;
    };
    const instance = await this.#code.WasmInstance.load({ module, files, createModule });
    this.#begin ??= glue.HEAPU8.slice(0, 1 + glue.HEAPU8.findLastIndex((byte) => byte !== 0));
    return { files, instance, glue };
  }

  #over(name, files, pooled, process) {
    const { instance, glue } = pooled;
    glue.HEAPU8.set(this.#begin);
    pooled.files.clear();
    for (const [path, file] of files) pooled.files.set(path, file);
    let isOpen = true;
    const session = new this.#code.Session(instance, {
      database: { path: name, durability: "relaxed" },
      onClose: () => {
        if (isOpen && !instance.isBroken) this.#idle.push(pooled);
        isOpen = false;
        process?.sessions.delete(session);
      },
    });
    process?.sessions.add(session);
    return new FallingSession(session, pooled.files);
  }
}

// Traps over a poisoned request.
class FallingSession {
  #session;
  #files;
  #trap;

  constructor(session, files) {
    this.#session = session;
    this.#files = files;
  }

  get isBroken() {
    return this.#trap !== undefined || this.#session.isBroken;
  }

  execute(request, spare, operations) {
    if (this.#trap !== undefined) throw this.#trap;
    // With an image, the records that it has are not carried out.
    const isCarriedOut = operations?.[0]?.image === undefined;
    const bytes = Buffer.from(request.buffer, request.byteOffset, request.length);
    if (isCarriedOut && bytes.includes(POISON)) {
      this.#trap = new WebAssembly.RuntimeError("unreachable");
      throw this.#trap;
    }
    return this.#session.execute(request, spare, operations);
  }

  lend(lent) {
    for (const [name, file] of lent) this.#files.set(name, file);
    return () => {
      for (const name of lent.keys()) this.#files.delete(name);
    };
  }

  close() {
    this.#session.close();
  }
}
