// The local transport: an engine in this thread, called synchronously.

import { KeepsakeError } from "../errors.js";
import { closeFiles as closeAll, type EngineFiles } from "../wasm/engine-file.js";
import { loadEngine, type RawEngine } from "../wasm/loader.js";
import { decodeOpened, encodeOpen } from "../wire/codec.js";
import type { OpenOptions } from "../wire/operations.js";
import type { Session } from "./engine.js";

// Linear memory ends at 4 GB, and a request is copied before it is carried out.
const MAX_REQUEST_BYTES = 1 << 30;

/** @internal */
export interface SessionParts {
  module: WebAssembly.Module;
  /** Without, in memory and without SQLite. */
  database: OpenOptions | undefined;
  /** Those of the database. */
  files: EngineFiles;
  /** Called when the session is closed, and if it can't be opened. @default closes them all */
  closeFiles?: () => void;
}

/** Rejects with a KeepsakeError if the database can't be opened. @internal */
export async function openSession({
  module,
  database,
  files,
  closeFiles = () => closeAll(files),
}: SessionParts): Promise<Session> {
  let engine: RawEngine;
  try {
    engine = await loadEngine({ module, files });
  } catch (error) {
    closeFiles();
    throw error;
  }
  const session = startSession(engine, { database, onClose: closeFiles });
  return { ...session, lend: (lent) => lend(files, lent) };
}

/** Throws a KeepsakeError if the database can't be opened; `onClose` is called then too. @internal */
export function startSession(
  engine: RawEngine,
  { database, onClose }: { database: OpenOptions | undefined; onClose: () => void },
): Session {
  try {
    const header = { clientId: 0, sequence: 0, now: Date.now() };
    const status = decodeOpened(engine.open(encodeOpen(header, database)));
    if (status !== undefined) {
      const code = status.code === "ok" ? "internal" : status.code;
      throw new KeepsakeError(code, status.message, { cause: engine.fileError });
    }
  } catch (error) {
    onClose();
    throw error;
  }
  return {
    execute(request) {
      if (request.length > MAX_REQUEST_BYTES) {
        throw new KeepsakeError(
          "too_large",
          `a request takes at most 1 GB: ${request.length} bytes`,
        );
      }
      return engine.execute(request);
    },
    isBroken: () => engine.isBroken,
    lend() {
      throw new KeepsakeError(
        "unsupported",
        "a memory without files takes an export of format portable only",
      );
    },
    close() {
      engine.close();
      onClose();
    },
  };
}

function lend(files: EngineFiles, lent: EngineFiles): () => void {
  const names = [...lent.keys()];
  const taken = names.find((name) => files.has(name));
  if (taken !== undefined) {
    closeAll(lent);
    throw new KeepsakeError(
      "invalid_argument",
      `a database can't be imported into itself: ${taken}`,
    );
  }
  for (const [name, file] of lent) files.set(name, file);
  return () => {
    for (const name of names) files.delete(name);
    closeAll(lent);
  };
}
