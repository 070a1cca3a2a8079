// An open database in this thread: an engine of a wasm instance, called synchronously.

import { KeepsakeError } from "../errors.js";
import { closeFiles, type EngineFiles } from "../wasm/engine-file.js";
import { type InstanceSource, type WasmEngine, WasmInstance } from "../wasm/loader.js";
import { decodeOpened, encodeOpen } from "../wire/codec.js";
import type { OpenOptions } from "../wire/layout.js";
import type { Operation } from "../wire/operations.js";
import { errorOf } from "./answers.js";

// Linear memory ends at 2 GB, and a request is copied before it is carried out.
const MAX_REQUEST_BYTES = 512 * 2 ** 20;

/** @internal */
export interface SessionParts {
  /** Without, in memory and without SQLite. */
  database: OpenOptions | undefined;
  /** Called when the session is closed, and if it can't be opened. */
  onClose: () => void;
}

/** What a LocalEngine needs of an open database. @internal */
export interface DatabaseSession {
  /** Whether execute() can only fail, because the instance trapped in somebody else's call. */
  readonly isBroken: boolean;
  /** Whether its linear memory is large because of single frames, which are gone. @default false */
  readonly isGrown?: boolean;
  /**
   * The response is a view that ends with the next call. Throws a KeepsakeError if
   * it refuses the request, and anything else only if the instance is unusable. It is
   * refused, too, if it could not leave `spare` bytes of memory. `operations` are those of the
   * request, where they are known.
   */
  execute(request: Uint8Array, spare?: number, operations?: readonly Operation[]): Uint8Array;
  /** Lets the engine open these files too, until the answer is called, which closes them. */
  lend(files: EngineFiles): () => void;
  /** Lets go of the database and its files, also after execute() has thrown. */
  close(): void;
}

/** @internal */
export class Session implements DatabaseSession {
  protected readonly instance: WasmInstance;
  readonly #engine: WasmEngine;
  readonly #onClose: () => void;
  #isClosed = false;

  /** Throws a KeepsakeError if the database can't be opened. */
  constructor(instance: WasmInstance, { database, onClose }: SessionParts) {
    this.instance = instance;
    this.#onClose = onClose;
    try {
      this.#engine = instance.newEngine();
      this.#open(database);
    } catch (error) {
      onClose();
      throw error;
    }
  }

  get isBroken(): boolean {
    return this.instance.isBroken;
  }

  get isGrown(): boolean {
    return this.instance.isGrown;
  }

  execute(request: Uint8Array, spare?: number): Uint8Array {
    if (request.length > MAX_REQUEST_BYTES) {
      throw new KeepsakeError(
        "too_large",
        `a request takes at most 512 MB: ${request.length} bytes`,
      );
    }
    if (this.#isClosed) throw new Error("the engine is closed");
    return this.instance.call(this.#engine, "execute", request, spare);
  }

  lend(_files: EngineFiles): () => void {
    throw new KeepsakeError(
      "unsupported",
      "a memory without files takes an export of format portable only",
    );
  }

  close(): void {
    try {
      if (!this.#isClosed && !this.instance.isBroken) this.instance.end(this.#engine);
    } finally {
      this.#isClosed = true;
      this.#onClose();
    }
  }

  #open(database: OpenOptions | undefined): void {
    const header = { clientId: 0, sequence: 0, now: Date.now() };
    const response = this.instance.call(this.#engine, "open", encodeOpen(header, database));
    const status = decodeOpened(response);
    if (status !== undefined) throw errorOf(status, { cause: this.instance.fileError });
  }
}

// In an instance that opens files.
class FileSession extends Session {
  readonly #files: EngineFiles;

  constructor(instance: WasmInstance, files: EngineFiles, parts: SessionParts) {
    super(instance, parts);
    this.#files = files;
  }

  override lend(lent: EngineFiles): () => void {
    const names = [...lent.keys()];
    const taken = names.find((name) => this.#files.has(name));
    if (taken !== undefined) {
      closeFiles(lent);
      throw new KeepsakeError(
        "invalid_argument",
        `a database can't be imported into itself: ${taken}`,
      );
    }
    for (const [name, file] of lent) this.#files.set(name, file);
    return () => {
      for (const name of names) this.#files.delete(name);
      closeFiles(lent);
    };
  }
}

interface FileSessionParts
  extends Pick<SessionParts, "database">,
    Pick<InstanceSource, "module" | "createModule"> {
  /** Those of the database. */
  files: EngineFiles;
  /** Called when the session is closed, and if it can't be opened. @default closes the files */
  onClose?: () => void;
}

/**
 * A session in an instance of its own: a trap costs nobody else anything. Rejects with a
 * KeepsakeError if the database can't be opened. @internal
 */
export async function openSession({
  module,
  createModule,
  database,
  files,
  onClose = () => closeFiles(files),
}: FileSessionParts): Promise<Session> {
  let instance: WasmInstance;
  try {
    instance = await WasmInstance.load({ module, files, ...(createModule && { createModule }) });
  } catch (error) {
    onClose();
    throw error;
  }
  return new FileSession(instance, files, { database, onClose });
}
