// A database as the bytes of one SQLite file, or as pieces of rows (portable.ts), out and
// in, while it is in use.

import { keysOfForeign } from "#host";
import { isBytes, isDetached } from "../bytes.js";
import { isBlob, show } from "../checks.js";
import type { Connection } from "../connection.js";
import { invalid, KeepsakeError, messageOf, orUndefined, tell } from "../errors.js";
import {
  checkExport,
  checkImport,
  type DatabaseBytes,
  type DatabaseImportOptions,
  type ExportFormat,
  type ExportOptions,
  type TransferOptions,
} from "./options.js";
import { beginsWithRows, importRows, MAGIC_BYTES, readRows } from "./portable.js";

const PIECE = 1 << 20;
const READ_WITHIN_MS = 30_000;

/** @internal */
export async function exportDatabase(
  caller: Connection,
  options: ExportOptions = {},
): Promise<Uint8Array> {
  checkExport(options);
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of readPieces(caller, options)) {
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

async function* readPieces(
  caller: Connection,
  given: ExportOptions | null,
): AsyncGenerator<Uint8Array, void, undefined> {
  const options = given ?? {};
  const { resume } = options;
  const format = await formatOf(caller, options);
  if (format === "portable") yield* readRows(caller, options, resume);
  else if (resume === undefined) yield* readDatabase(caller, options);
  else throw invalid("an export of format sqlite begins anew each time");
}

async function formatOf(caller: Connection, { format }: ExportOptions): Promise<ExportFormat> {
  if (format === "sqlite" || format === "portable") return format;
  if (format !== undefined) throw invalid(`format must be sqlite or portable: ${show(format)}`);
  const { persistence } = await caller.status();
  const hasFile = persistence !== "durable-object" && persistence !== "connection";
  return hasFile ? "sqlite" : "portable";
}

/**
 * Nothing is read before it is asked for. Cancel it, or read it to its end: while a file is
 * read, others wait, so that one that nobody reads for half a minute fails. @internal
 */
export function exportStream(
  caller: Connection,
  options: ExportOptions = {},
): ReadableStream<Uint8Array> {
  checkExport(options);
  const pieces = readPieces(caller, options);
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
        if (beginsWithRows(value)) return;
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
      tell(onProgress, { done: offset + length, total });
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
  options: DatabaseImportOptions = {},
): Promise<void> {
  checkImport(options);
  if (isStream(database)) return importStream(connection, database, options);
  if (!isBytes(database) && !isBlob(database)) {
    throw invalid(
      "a database to import must be a Uint8Array, a Blob or a ReadableStream of bytes (of Node's: Readable.toWeb()), not the path of a file",
    );
  }
  if (isBytes(database) && isDetached(database)) {
    throw invalid("a database to import must have its bytes: they were transferred elsewhere");
  }
  if (!beginsWithRows(await bytesOf(database.slice(0, MAGIC_BYTES)))) {
    return importSqlite(connection, database, options);
  }
  if (isBlob(database)) return importRowsOf(connection, database.stream(), options);
  return importRows(connection, only(database), options, database.length);
}

// No proxy of one, nor what only inherits from one.
function isStream(database: DatabaseBytes): database is ReadableStream<Uint8Array> {
  const isLocked = orUndefined(() =>
    database instanceof ReadableStream ? database.locked : undefined,
  );
  if (isLocked !== true) return isLocked === false;
  throw invalid("a stream to import must have no other reader: give one that nobody reads yet");
}

async function importStream(
  connection: Connection,
  stream: ReadableStream<Uint8Array>,
  options: DatabaseImportOptions,
): Promise<void> {
  const [begin, whole] = await peek(stream);
  const isRows = beginsWithRows(begin) || begin.length === 0;
  return isRows
    ? importRowsOf(connection, whole, options)
    : importSqlite(connection, await gather(whole), options);
}

function importRowsOf(
  connection: Connection,
  stream: ReadableStream<Uint8Array>,
  options: DatabaseImportOptions,
): Promise<void> {
  return importRows(connection, chunksOf(stream), options, 0);
}

async function importSqlite(
  connection: Connection,
  bytes: Uint8Array | Blob,
  { onProgress, key }: DatabaseImportOptions,
): Promise<void> {
  const name = "database to import";
  const total = bytes instanceof Blob ? bytes.size : bytes.length;
  const keys = await keysOfForeign(key, name, bytes);
  let failure: { error: unknown } | undefined;
  const onRead = (done: number) => {
    try {
      tell(onProgress, { done: Math.min(done, total), total });
    } catch (error) {
      failure ??= { error };
    }
  };
  await connection.exclusively(() =>
    connection.lending(
      name,
      bytes,
      async () => {
        await connection.call([{ kind: "importFrom", path: name, keys }]);
      },
      onRead,
    ),
  );
  // It is told of what is read all at once: then everything has been imported.
  if (failure !== undefined) throw failure.error;
}

// A browser keeps a large Blob on disk.
function gather(stream: ReadableStream<Uint8Array>): Promise<Blob> {
  return new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).blob().catch(streamFailed);
}

async function bytesOf(begin: Uint8Array | Blob): Promise<Uint8Array> {
  return begin instanceof Blob ? new Uint8Array(await begin.arrayBuffer()) : begin;
}

// The first bytes, and a stream of all of them.
async function peek(
  stream: ReadableStream<Uint8Array>,
): Promise<[Uint8Array, ReadableStream<Uint8Array>]> {
  const chunks = chunksOf(stream);
  let begin: Uint8Array = new Uint8Array(0);
  const held: Uint8Array[] = [];
  while (begin.length < MAGIC_BYTES) {
    const { done, value } = await chunks.next();
    if (done) break;
    held.push(value);
    begin = Uint8Array.from([...begin, ...value.subarray(0, MAGIC_BYTES - begin.length)]);
  }
  const whole = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const value = held.shift() ?? (await chunks.next()).value;
        if (value === undefined) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await chunks.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return [begin, whole];
}

// Not every browser has an iterator of its own for streams.
async function* chunksOf(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array, undefined, undefined> {
  const reader = stream.getReader();
  let isRead = false;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(streamFailed);
      isRead = done;
      if (done) return undefined;
      if (!isBytes(value)) {
        throw invalid("a stream to import must be of bytes");
      }
      yield value;
    }
  } finally {
    if (!isRead) await reader.cancel().catch(() => undefined);
  }
}

function streamFailed(cause: unknown): never {
  if (cause instanceof KeepsakeError) throw cause;
  throw new KeepsakeError("io_error", `the stream to import failed: ${messageOf(cause)}`, {
    cause,
  });
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
