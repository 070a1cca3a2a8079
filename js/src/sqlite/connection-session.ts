// An engine over a connection: each request is one transaction, and what another process
// wrote since the last one is read anew.

import { answersIn } from "../engine/answers.js";
import type { Configurations } from "../engine/local-engine.js";
import { type DatabaseSession, Session } from "../engine/session.js";
import { KeepsakeError, type KeepsakeErrorCode } from "../errors.js";
import type { EngineFiles } from "../wasm/engine-file.js";
import type { WasmInstance } from "../wasm/loader.js";
import { encodeRequest, failureCodeOf } from "../wire/codec.js";
import { type Operation, rowOf } from "../wire/operations.js";
import type { ConnectionHost } from "./connection-host.js";

/** The path by which the engine of an instance knows its one host. @internal */
export const HOST = 1;

// Of files in which the engine can't make its tables.
const UNFIT: Partial<Record<KeepsakeErrorCode, string>> = {
  foreign_file:
    'the file has a table or index whose name begins with "keepsake_" and which no memory made: ' +
    "rename it, or give the memory a file of its own",
  read_only: "memoryOver() takes a connection that may write, and this one may not",
};

/** @internal */
export class ConnectionSession implements DatabaseSession {
  readonly #instance: WasmInstance;
  readonly #host: ConnectionHost;
  #session: Session | undefined;
  // Said again to each new engine.
  readonly #configurations: Configurations;

  /** Throws a KeepsakeError if the database can't be opened. */
  constructor(instance: WasmInstance, host: ConnectionHost, configurations: Configurations) {
    this.#instance = instance;
    this.#host = host;
    this.#configurations = configurations;
    const open = () => {
      host.refuseOpenMemory();
      this.#openFirst();
      host.refuseReader();
      host.tellOfOfficialThreads();
    };
    try {
      host.within(false, open);
    } catch (error) {
      // There are tables to be made.
      if (!(error instanceof KeepsakeError) || error.code !== "busy") throw error;
      host.within(true, open);
    }
  }

  get isBroken(): boolean {
    return this.#instance.isBroken;
  }

  execute(
    request: Uint8Array,
    spare: number | undefined,
    operations: readonly Operation[],
  ): Uint8Array {
    if (operations.some(({ kind }) => kind === "improveIndex") && this.#host.isGuest) {
      // What it made would be forgotten by the next call.
      throw new KeepsakeError(
        "invalid_operation",
        "buildIndex() does not run within a transaction of the application's: commit it first",
      );
    }
    const isWrite = operations.some((one) => rowOf(one).changes !== undefined);
    // The encoder's buffer is used again by what is said to a new engine.
    const frame = request.slice();
    let response = this.#within(isWrite, frame, spare);
    // What insists on writing: a refusal in the log, tables that are not there.
    if (!isWrite && failureCodeOf(response) === "busy") response = this.#within(true, frame, spare);
    return response;
  }

  lend(_files: EngineFiles): () => void {
    throw new KeepsakeError(
      "unsupported",
      "a memory over a connection takes an export of format portable only: openMemory() a new " +
        'file, importFrom() or import() there, and import() its export({ format: "portable" }) here',
    );
  }

  close(): void {
    this.#session?.close();
    this.#session = undefined;
  }

  #within(isWrite: boolean, frame: Uint8Array, spare?: number): Uint8Array {
    return this.#host.within(isWrite, (hasChanged) => {
      const session = hasChanged || this.#session === undefined ? this.#open() : this.#session;
      return session.execute(frame, spare);
    });
  }

  #openFirst(): void {
    try {
      this.#open();
    } catch (error) {
      const message = error instanceof KeepsakeError ? UNFIT[error.code] : undefined;
      if (message === undefined) throw error;
      throw new KeepsakeError((error as KeepsakeError).code, message, { cause: error });
    }
  }

  #open(): Session {
    this.close();
    const session = new Session(this.#instance, {
      database: { path: String(HOST) },
      onClose: () => {},
    });
    try {
      this.#configure(session);
    } catch (error) {
      session.close();
      throw error;
    }
    this.#session = session;
    return session;
  }

  // Throws a KeepsakeError if another process gave the store another index.
  #configure(session: Session): void {
    const operations = this.#configurations();
    if (operations.length === 0) return;
    const header = { clientId: 0, sequence: 0, now: Date.now() };
    answersIn(session.execute(encodeRequest(header, operations)), operations);
  }
}
