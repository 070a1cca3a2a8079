// Frames: core/src/wire/README.md has the grammar.

import { nothing } from "./custom.js";
import { LAYOUT, type OpenOptions } from "./layout.js";
import { type AnswerTo, layoutOf, type Operation } from "./operations.js";
import { Reader } from "./reader.js";
import type { Author, Levels } from "./scope.js";
import { STATUS_CODES, type StatusCode } from "./status.js";
import { Writer } from "./writer.js";

/** Raised only when a frame of the old layout would be misread. */
const VERSION = 1;

/** Persistent, never renumber. */
const FrameKind = {
  execute: 1,
  open: 2,
  failed: 3,
} as const;

/** Bits of a request's flags. Persistent, never renumber, never reuse. */
export const RequestFlag = {
  remember: 1,
  scoped: 2,
  actor: 4,
} as const;

/** The core's answer to an operation that it did not carry out. */
export class WireStatus {
  constructor(
    readonly code: StatusCode,
    readonly message: string,
  ) {}
}

export type Answer<Op extends Operation> = AnswerTo<Op> | WireStatus;

export interface RequestHeader {
  /** Safe integers: who asks, and the how-manieth time. */
  readonly clientId: number;
  readonly sequence: number;
  /** Milliseconds since 1970, as the core is to believe. */
  readonly now: number;
}

export interface ExecuteHeader extends RequestHeader {
  /**
   * If given, the request may be sent again, to whichever engine owns the database:
   * it is applied once and has the same response. All of this client's sequences up
   * to and including this one, which is smaller than `sequence`, have their responses.
   */
  readonly acknowledged?: number | undefined;
  /** Where the operations are at home, the outermost first. @default the whole memory */
  readonly levels?: Levels | undefined;
}

// ---- requests

function writeOperation(writer: Writer, operation: Operation): void {
  const { tag, write } = layoutOf(operation);
  writer.u8(tag);
  const begin = writer.beginLength();
  write(writer, operation);
  writer.endLength(begin);
}

function writeHeader(writer: Writer, kind: number, flags: number, header: RequestHeader): void {
  writer.u8(VERSION);
  writer.u8(kind);
  writer.u16(flags);
  writer.i64(header.clientId);
  writer.i64(header.sequence);
  writer.i64(header.now);
}

const requestWriter = new Writer();

/** The operations of a request, encoded as they come. */
export class RequestBody {
  readonly #writer = new Writer();

  /** In bytes. */
  get length(): number {
    return this.#writer.length;
  }

  /** Throws a RangeError, and is what it was, if one of them can't be written. */
  add(operations: readonly Operation[]): void {
    const { length } = this.#writer;
    try {
      for (const operation of operations) writeOperation(this.#writer, operation);
    } catch (error) {
      this.#writer.truncate(length);
      throw error;
    }
  }

  /** All of it; begins anew. A view that is overwritten by what is added next. */
  take(): Uint8Array {
    const all = this.#writer.finish();
    this.#writer.reset();
    return all;
  }
}

/** A request of `count` operations that are encoded already. As encodeRequest(). */
export function requestOf(header: ExecuteHeader, count: number, body: Uint8Array): Uint8Array {
  beginRequest(header);
  requestWriter.u32(count);
  requestWriter.raw(body);
  return requestWriter.finish();
}

function writeAuthor(writer: Writer, { actor, nodeId }: Author): void {
  writer.text(actor ?? "");
  writer.text(nodeId ?? "");
}

function beginRequest(header: ExecuteHeader): void {
  const { acknowledged, levels } = header;
  requestWriter.reset();
  const remember = acknowledged === undefined ? 0 : RequestFlag.remember;
  const { bytes, author } = levels ?? {};
  const scoped = bytes === undefined ? 0 : RequestFlag.scoped;
  const actor = author === undefined ? 0 : RequestFlag.actor;
  writeHeader(requestWriter, FrameKind.execute, remember | scoped | actor, header);
  if (acknowledged !== undefined) requestWriter.i64(acknowledged);
  if (bytes !== undefined) requestWriter.bytes(bytes);
  if (author !== undefined) writeAuthor(requestWriter, author);
}

/**
 * A request of these operations. The view is overwritten by the next request
 * that is encoded: slice() what is to be kept or posted to a worker.
 */
export function encodeRequest(header: ExecuteHeader, operations: readonly Operation[]): Uint8Array {
  beginRequest(header);
  requestWriter.u32(operations.length);
  for (const operation of operations) writeOperation(requestWriter, operation);
  return requestWriter.finish();
}

/**
 * The frame that opens an engine: in memory without `database`. The view is
 * overwritten by the next request that is encoded.
 */
export function encodeOpen(header: RequestHeader, database: OpenOptions | undefined): Uint8Array {
  const writer = requestWriter;
  writer.reset();
  writeHeader(writer, FrameKind.open, 0, header);
  writer.u32(1);
  writer.u8(LAYOUT.open.tag);
  const begin = writer.beginLength();
  LAYOUT.open.write(writer, { database });
  writer.endLength(begin);
  return writer.finish();
}

// ---- responses

function readResult<T>(reader: Reader, readAnswer: (reader: Reader) => T): T | WireStatus {
  const code = reader.u16();
  if (code !== 0) return new WireStatus(STATUS_CODES[code] ?? "internal", reader.text());
  const end = reader.u32() + reader.position;
  const answer = readAnswer(reader);
  if (reader.position !== end) throw new RangeError("an answer of another length");
  return answer;
}

interface ResponseHeader {
  readonly kind: number;
  readonly sequence: number;
  readonly results: number;
}

function readHeader(reader: Reader): ResponseHeader {
  const version = reader.u8();
  if (version !== VERSION) {
    throw new RangeError(`response is of version ${version}, this package reads ${VERSION}`);
  }
  const kind = reader.u8();
  reader.u16();
  return { kind, sequence: reader.i64(), results: reader.u32() };
}

/** The sequence of the request that this is the response to. */
export function sequenceOf(response: Uint8Array): number {
  return readHeader(new Reader(response)).sequence;
}

/**
 * The answers to `operations`, in order. Nothing in them is a view into `response`,
 * which may be wasm memory. Throws a RangeError if it is not the response to these
 * operations.
 */
export function decodeResponse<const Operations extends readonly Operation[]>(
  response: Uint8Array,
  operations: Operations,
): { -readonly [I in keyof Operations]: Answer<Operations[I]> } {
  const reader = new Reader(response);
  const { kind, results } = readHeader(reader);
  const answers: unknown[] = [];
  if (kind === FrameKind.failed) {
    answers.length = operations.length;
    answers.fill(readResult(reader, nothing));
  } else {
    if (results !== operations.length) {
      throw new RangeError(`response has ${results} results for ${operations.length} operations`);
    }
    for (const operation of operations) {
      answers.push(readResult<unknown>(reader, layoutOf(operation).read));
    }
  }
  return answers as { -readonly [I in keyof Operations]: Answer<Operations[I]> };
}

/** Why the engine did not open, or undefined if it did. */
export function decodeOpened(response: Uint8Array): WireStatus | undefined {
  const reader = new Reader(response);
  readHeader(reader);
  return readResult(reader, nothing);
}

/** Whether an operation of the frame was carried out. */
export function anySucceeded(response: Uint8Array): boolean {
  return statusesOf(response).includes("ok");
}

/** Why the first operation that failed did, or undefined. */
export function failureCodeOf(response: Uint8Array): StatusCode | undefined {
  return statusesOf(response).find((code) => code !== "ok");
}

/** Of each operation, or of all of them together. */
export function statusesOf(response: Uint8Array): StatusCode[] {
  const reader = new Reader(response);
  const { results } = readHeader(reader);
  const statuses: StatusCode[] = [];
  for (let i = 0; i < results; i++) {
    statuses.push(STATUS_CODES[reader.u16()] ?? "internal");
    reader.skip();
  }
  return statuses;
}
