// The local transport: an engine in this thread, called synchronously.

import { KeepsakeError } from "../errors.js";
import { closeFiles as closeAll, type EngineFiles } from "../wasm/engine-file.js";
import { loadEngine } from "../wasm/loader.js";
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
  try {
    const engine = await loadEngine({ module, files });
    const header = { clientId: 0, sequence: 0, now: Date.now() };
    const status = decodeOpened(engine.open(encodeOpen(header, database)));
    if (status !== undefined) {
      const code = status.code === "ok" ? "internal" : status.code;
      throw new KeepsakeError(code, status.message, { cause: engine.fileError });
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
      lend: (lent) => lend(files, lent),
      close() {
        engine.close();
        closeFiles();
      },
    };
  } catch (error) {
    closeFiles();
    throw error;
  }
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
