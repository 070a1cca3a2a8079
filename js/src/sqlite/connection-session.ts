// An engine over a connection: each request is one transaction, and what another process
// wrote since the last one is read anew.

import { type DatabaseSession, Session } from "../engine/session.js";
import { KeepsakeError } from "../errors.js";
import type { EngineFiles } from "../wasm/engine-file.js";
import type { WasmInstance } from "../wasm/loader.js";
import { anySucceeded, failureCodeOf, HEADER_BYTES, tagsOf } from "../wire/codec.js";
import { OPERATIONS } from "../wire/operations.js";
import type { ConnectionHost } from "./connection-host.js";

/** The path by which the engine of an instance knows its one host. @internal */
export const HOST = 1;

const WRITES = new Set(
  Object.values(OPERATIONS)
    .filter((row) => "changes" in row)
    .map(({ tag }): number => tag),
);

/** @internal */
export class ConnectionSession implements DatabaseSession {
  readonly #instance: WasmInstance;
  readonly #host: ConnectionHost;
  #session: Session | undefined;
  // What the store was told of its index and TTL: said again to each new engine.
  readonly #configurations = new Map<string, Uint8Array>();

  /** Throws a KeepsakeError if the database can't be opened. */
  constructor(instance: WasmInstance, host: ConnectionHost) {
    this.#instance = instance;
    this.#host = host;
    host.within(true, () => this.#open());
  }

  get isBroken(): boolean {
    return this.#instance.isBroken;
  }

  execute(request: Uint8Array): Uint8Array {
    const tags = tagsOf(request);
    const isWrite = tags.some((tag) => WRITES.has(tag));
    // The encoder's buffer is used again by what is said to a new engine.
    const frame = request.slice();
    let response = this.#within(isWrite, frame);
    // A read may have to write, to restart a time to live, and another wrote meanwhile.
    if (!isWrite && failureCodeOf(response) === "busy") response = this.#within(true, frame);
    if (tags.includes(OPERATIONS.configureStore.tag) && anySucceeded(response)) {
      this.#configurations.set(frame.subarray(HEADER_BYTES).join(), frame);
    }
    return response;
  }

  lend(_files: EngineFiles): () => void {
    throw new KeepsakeError(
      "unsupported",
      "a memory over a connection takes an export of format portable only",
    );
  }

  close(): void {
    this.#session?.close();
    this.#session = undefined;
  }

  #within(isWrite: boolean, frame: Uint8Array): Uint8Array {
    return this.#host.within(isWrite, (hasChanged) => {
      const session = hasChanged || this.#session === undefined ? this.#open() : this.#session;
      return session.execute(frame);
    });
  }

  #open(): Session {
    this.close();
    const session = new Session(this.#instance, {
      database: { path: String(HOST) },
      onClose: () => {},
    });
    for (const configuration of this.#configurations.values()) session.execute(configuration);
    this.#session = session;
    return session;
  }
}
