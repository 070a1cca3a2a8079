// A database as the bytes of one SQLite file, out and in, while it is in use.

import { KeepsakeError } from "../errors.js";
import { isBytes } from "../value.js";
import type { Connection } from "./connection.js";

/** How far an export or import is, in bytes. */
export interface TransferProgress {
  done: number;
  total: number;
}

/** How an export or import tells how far it is. */
export interface TransferOptions {
  onProgress?: ((progress: TransferProgress) => void) | undefined;
}

/** The bytes of a SQLite file. A stream is read to its end before anything is replaced. */
export type DatabaseBytes = Uint8Array | Blob | ReadableStream<Uint8Array>;

const PIECE = 1 << 20;
const READ_WITHIN_MS = 30_000;

/** @internal */
export async function exportDatabase(
  caller: Connection,
  options: TransferOptions = {},
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of readDatabase(caller, options)) {
    pieces.push(piece);
    size += piece.length;
  }
  const database = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    database.set(piece, at);
    at += piece.length;
  }
  return database;
}

/**
 * Nothing is read before it is asked for. Cancel it, or read it to its end: others wait. One
 * that nobody reads for half a minute fails. @internal
 */
export function exportStream(
  caller: Connection,
  options: TransferOptions = {},
): ReadableStream<Uint8Array> {
  const pieces = readDatabase(caller, options);
  let timer: ReturnType<typeof setTimeout> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(timer);
        const { done, value } = await pieces.next();
        if (done) {
          controller.close();
          return;
        }
        controller.enqueue(value);
        timer = setTimeout(() => {
          controller.error(abandoned());
          void pieces.return(undefined).catch(() => undefined);
        }, READ_WITHIN_MS);
        // No reason to keep a process alive.
        (timer as { unref?: () => void }).unref?.();
      },
      async cancel() {
        clearTimeout(timer);
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

function abandoned(): KeepsakeError {
  return new KeepsakeError(
    "io_error",
    `an export ends when nothing of it is read for ${READ_WITHIN_MS / 1000} s; begin it again`,
  );
}

async function* readDatabase(
  caller: Connection,
  { onProgress }: TransferOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (caller.isClosed) throw new KeepsakeError("closed", "it was closed");
  // One of its own, so that an export ends also if its caller is closed meanwhile.
  const connection = caller.share();
  const end = await begin(connection);
  try {
    const [total] = await connection.call([{ kind: "beginExport" }]);
    for (let offset = 0; offset < total; offset += PIECE) {
      const length = Math.min(PIECE, total - offset);
      const [piece] = await connection.call([{ kind: "readExport", offset, length }]);
      onProgress?.({ done: offset + length, total });
      yield piece;
    }
  } finally {
    try {
      await connection.call([{ kind: "endExport" }]);
    } finally {
      end();
      connection.close();
    }
  }
}

// Waits until no other export or import runs; answers how to let the next one begin.
function begin(connection: Connection): Promise<() => void> {
  return new Promise((begun, fail) => {
    connection.exclusively(() => new Promise<void>((end) => begun(end))).catch(fail);
  });
}

/** @internal */
export async function importDatabase(
  connection: Connection,
  database: DatabaseBytes,
  { onProgress }: TransferOptions = {},
): Promise<void> {
  const bytes = database instanceof ReadableStream ? await gather(database) : database;
  if (!isBytes(bytes) && !(bytes instanceof Blob)) {
    throw new KeepsakeError(
      "invalid_argument",
      "a database to import must be a Uint8Array, a Blob or a stream of bytes",
    );
  }
  const name = "database to import";
  const total = bytes instanceof Blob ? bytes.size : bytes.length;
  await connection.exclusively(() =>
    connection.lending(
      name,
      bytes,
      async () => {
        await connection.call([{ kind: "importFrom", path: name }]);
      },
      (done) => onProgress?.({ done: Math.min(done, total), total }),
    ),
  );
}

// A browser keeps a large Blob on disk.
function gather(stream: ReadableStream<Uint8Array>): Promise<Blob> {
  return new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).blob();
}
