// A memory as a stream of pieces that every engine writes and reads, also one without
// files: core/src/transfer/piece.h. It may be cut after any piece and go on later.

import { show } from "../checks.js";
import type { Connection } from "../connection.js";
import { invalid, KeepsakeError, tell } from "../errors.js";
import type { RowsRequest } from "../wire/layout.js";
import type { TransferOptions } from "./options.js";

const MAGIC = [0x4b, 0x53, 0x50, 0x52]; // KSPR
const HEADER_BYTES = 20;
// Far above what a piece takes: a damaged length must not be waited for.
const MAX_PIECE_BYTES = 1 << 28;
const NOWHERE = new Uint8Array(0);

/** How many bytes of a source say what it is. @internal */
export const MAGIC_BYTES = MAGIC.length;

/** @internal */
export function beginsWithRows(bytes: Uint8Array): boolean {
  return bytes.length >= MAGIC.length && MAGIC.every((byte, i) => byte === bytes[i]);
}

/** Where an export of rows is to go on. */
interface ExportCursor extends RowsRequest {
  /** Nothing is missing but that what is there takes its place. */
  isComplete: boolean;
}

/** The pieces of a whole memory, or those behind `resume`. @internal */
export async function* readRows(
  caller: Connection,
  { onProgress }: TransferOptions,
  resume: string | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (caller.isClosed) throw new KeepsakeError("closed", "it was closed");
  const connection = caller.share();
  try {
    let place: ExportCursor = resume === undefined ? newExport() : parsePlace(resume);
    const [size] = await connection.call([{ kind: "size" }]);
    for (let done = 0; !place.isComplete; ) {
      const [piece] = await connection.call([{ kind: "readRows", ...place }]);
      place = placeBehind(piece);
      done += piece.length;
      tell(onProgress, { done, total: place.isComplete ? done : Math.max(size, done) });
      yield piece;
    }
    // One that is not read to its end can be gone on with, for a day.
    await connection.call([{ kind: "endRows", exportId: place.exportId }]);
  } finally {
    connection.close();
  }
}

/** Takes pieces, from wherever in the stream, and replaces everything with the last. @internal */
export async function importRows(
  connection: Connection,
  chunks: AsyncIterable<Uint8Array>,
  { onProgress }: TransferOptions,
  total: number,
): Promise<void> {
  let place: ExportCursor | undefined;
  let done = 0;
  for await (const piece of piecesOf(chunks)) {
    await connection.call([{ kind: "putRows", piece }]);
    place = placeBehind(piece);
    done += piece.length;
    tell(onProgress, { done, total: Math.max(total, done) });
  }
  place ??= await placeOfImport(connection);
  if (place === undefined || !place.isComplete) {
    throw new KeepsakeError("corrupt", "an export to import ends before its last piece");
  }
  const { exportId } = place;
  await connection.call([{ kind: "finishImport", exportId, isWanted: true }]);
}

/** What readRows() takes to go on with what is here already. @internal */
export async function unfinishedImport(connection: Connection): Promise<string | undefined> {
  const place = await placeOfImport(connection);
  if (place === undefined) return undefined;
  const cursor = Array.from(place.cursor, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [place.exportId, place.number, cursor, place.isComplete ? "complete" : ""].join(".");
}

/** @internal */
export async function discardImport(connection: Connection): Promise<void> {
  await connection.call([{ kind: "finishImport", exportId: "", isWanted: false }]);
}

async function placeOfImport(connection: Connection): Promise<ExportCursor | undefined> {
  const [state] = await connection.call([{ kind: "importState" }]);
  return state && { ...state, number: state.next };
}

function newExport(): ExportCursor {
  return { exportId: crypto.randomUUID(), number: 0, cursor: NOWHERE, isComplete: false };
}

function parsePlace(resume: string): ExportCursor {
  const [, exportId, number, cursor = "", complete] =
    /^([^.]+)\.(\d+)\.((?:[0-9a-f]{2})+)\.(complete)?$/.exec(String(resume)) ?? [];
  if (exportId === undefined) {
    throw invalid(`resume must be what unfinishedImport() answered: ${show(resume)}`);
  }
  const bytes = (cursor.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16));
  return {
    exportId,
    number: Number(number),
    cursor: Uint8Array.from(bytes),
    isComplete: complete !== undefined,
  };
}

// What is wrong with a piece is found by the core, which checks all of it.
function placeBehind(piece: Uint8Array): ExportCursor {
  let at = HEADER_BYTES;
  const varint = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = piece[at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const take = () => {
    const length = varint();
    at += length;
    return piece.slice(at - length, at);
  };
  const exportId = new TextDecoder().decode(take());
  const number = varint() + 1;
  return { exportId, number, cursor: take(), isComplete: piece[5] === 1 };
}

// Chunks are cut anywhere. A piece is put together once, however many chunks it came in.
async function* piecesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let length = 0;
  let size: number | undefined;
  for await (const chunk of chunks) {
    held.push(chunk);
    length += chunk.length;
    if (length < (size ?? HEADER_BYTES)) continue;
    let rest = joined(held, length);
    for (size = sizeOf(rest); size !== undefined && size <= rest.length; size = sizeOf(rest)) {
      yield rest.subarray(0, size);
      rest = rest.subarray(size);
    }
    held = [rest];
    length = rest.length;
  }
  if (length > 0) throw damaged("ends within a piece");
}

function sizeOf(rest: Uint8Array): number | undefined {
  if (rest.length < HEADER_BYTES) return undefined;
  if (!beginsWithRows(rest)) throw damaged("has no piece where the next one begins");
  const body = new DataView(rest.buffer, rest.byteOffset).getUint32(8, true);
  if (body > MAX_PIECE_BYTES) throw damaged("has a piece of an impossible size");
  return HEADER_BYTES + body;
}

function joined(parts: Uint8Array[], length: number): Uint8Array {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return first;
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function damaged(how: string): KeepsakeError {
  return new KeepsakeError("corrupt", `an export to import ${how}`);
}
