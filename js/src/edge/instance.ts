// The one wasm instance of an isolate, which all of its databases share: an isolate
// has 128 MB, and may run many Durable Objects.

import { Session, type SessionParts } from "../engine/session.js";
import { KeepsakeError } from "../errors.js";
import type { EngineHost, EngineHosts } from "../wasm/engine-host.js";
import { WasmInstance } from "../wasm/loader.js";
import { encodeRequest } from "../wire/codec.js";

const hosts: EngineHosts = new Map();
let compiled: WebAssembly.Module | undefined;
let shared: WasmInstance | undefined;
let lastHost = 0;

// A quarter of an isolate.
let vectorMemory = 32 * 1024 * 1024;
let limited: WasmInstance | undefined;

const REPLACED_AT_MOST_EVERY_MS = 60_000;
// Those that were replaced, and when the last one was.
const grown = new WeakSet<WasmInstance>();
let replacedAt = Number.NEGATIVE_INFINITY;

/**
 * The compiled `keepsake/lean.wasm`, however it was loaded, or its bytes where they
 * may be compiled. To be called once, before anything else.
 */
export function useModule(module: WebAssembly.Module | BufferSource): void {
  // Not by instanceof: it may be of another realm.
  const isModule = Object.prototype.toString.call(module) === "[object WebAssembly.Module]";
  compiled = isModule
    ? (module as WebAssembly.Module)
    : new WebAssembly.Module(module as BufferSource);
}

/**
 * How many bytes the vectors of all objects of this isolate may take in memory (32 MB
 * without). When they take more, those of the object that was not searched for longest are
 * given up; its next search reads them again. Those of the object that is being searched
 * are kept, whatever they take: about its dimensions, and 32 bytes, for each vector.
 */
export function limitVectorMemory(bytes: number): void {
  if (!Number.isSafeInteger(bytes) || bytes < 0) {
    throw new KeepsakeError(
      "invalid_argument",
      `a limit of memory must be a number of bytes: ${bytes}`,
    );
  }
  vectorMemory = bytes;
  limited = undefined;
}

/** A session on the database of `host`; in memory without. @internal */
export async function openSharedSession(host?: EngineHost): Promise<Session> {
  return new SharedSession(await sharedInstance(), host);
}

class SharedSession extends Session {
  // Without one, what it holds is in the instance alone.
  readonly #host: EngineHost | undefined;

  constructor(instance: WasmInstance, host: EngineHost | undefined) {
    super(instance, partsOf(host));
    this.#host = host;
  }

  override get isBroken(): boolean {
    if (super.isBroken) return true;
    return this.#host !== undefined && (this.#host.isEmptied || grown.has(this.instance));
  }

  override execute(request: Uint8Array, spare?: number): Uint8Array {
    if (limited === this.instance) return this.#executeAndLook(request, spare);
    // It may be in the buffer of the encoder, which is used before it.
    const kept = request.slice();
    limited = this.instance;
    const header = { clientId: 0, sequence: 0, now: Date.now() };
    super.execute(encodeRequest(header, [{ kind: "limitVectors", bytes: vectorMemory }]));
    return this.#executeAndLook(kept, spare);
  }

  #executeAndLook(request: Uint8Array, spare?: number): Uint8Array {
    const response = super.execute(request, spare);
    if (this.#host !== undefined) replaceIfGrown(this.instance);
    return response;
  }
}

// Linear memory never shrinks: one large answer would occupy most of an isolate for ever.
// Vectors may have half of what it may grow to. The next call of each object opens it again, in a new instance.
function replaceIfGrown(instance: WasmInstance): void {
  if (instance !== shared || instance.memoryBytes < 2 * vectorMemory) return;
  const now = Date.now();
  // What is needed all the time would be read again all the time.
  if (now - replacedAt < REPLACED_AT_MOST_EVERY_MS) return;
  replacedAt = now;
  grown.add(instance);
  shared = undefined;
}

// A database's path is the number of its host.
function partsOf(host: EngineHost | undefined): SessionParts {
  const id = ++lastHost;
  if (host !== undefined) hosts.set(id, host);
  return { database: host && { path: String(id) }, onClose: () => void hosts.delete(id) };
}

// Not a promise for all to wait for: what one request of a Worker awaits, another
// must not be needed to settle.
async function sharedInstance(): Promise<WasmInstance> {
  if (shared !== undefined && !shared.isBroken) return shared;
  const made = await WasmInstance.load({ module: usedModule(), hosts });
  if (shared === undefined || shared.isBroken) shared = made;
  return shared;
}

function usedModule(): WebAssembly.Module {
  if (compiled !== undefined) return compiled;
  throw new KeepsakeError("cannot_open", "give the module of keepsake/lean.wasm to useModule()");
}
