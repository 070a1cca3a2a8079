import type {
  Answers,
  AnswerTo,
  Blob,
  ChannelValue,
  ChannelVersion,
  CheckpointKey,
  CheckpointTuple,
  FieldVector,
  ForeignTable as ForeignTableName,
  Item,
  ItemRef,
  MatchCondition,
  NewCheckpoint,
  OpenOptions,
  Operation,
  OperationKind,
  PendingWrite,
  PutOperation,
  Ranking,
  ScorePart,
  SearchItem,
  SearchOperation,
  Snippet,
  ValueDelta,
} from "./operations.js";
import {
  Absence,
  DEFAULT_TTL,
  Durability,
  ForeignTable,
  Fusion,
  Language,
  MatchType,
  PruneStrategy,
  SearchMode,
  SearchPlan,
} from "./operations.js";
import { Reader } from "./reader.js";
import { FrameKind, RequestFlag, STATUS_CODES, type StatusCode, Tag, VERSION } from "./tags.js";
import { Writer } from "./writer.js";

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
}

// ---- requests

const NO_LIMIT = 0xffff_ffff;
const IndexKind = { storeDefault: 0, none: 1, paths: 2 } as const;

type Writers = {
  [Kind in OperationKind]: (writer: Writer, operation: Extract<Operation, { kind: Kind }>) => void;
};

function writeNothing(): void {}

function writeBlob(writer: Writer, blob: Blob): void {
  writer.text(blob.type);
  writer.bytes(blob.bytes);
}

function writeFieldVector(writer: Writer, vector: FieldVector): void {
  writer.text(vector.path);
  writer.floats(vector.values);
}

function writeIndexChoice(writer: Writer, index: PutOperation["index"]): void {
  const paths = index || [];
  if (index === undefined) writer.u8(IndexKind.storeDefault);
  else writer.u8(index === false ? IndexKind.none : IndexKind.paths);
  writer.texts(paths);
}

function writePut(writer: Writer, put: PutOperation): void {
  writer.texts(put.namespace);
  writer.text(put.key);
  writer.flag(put.value !== null);
  if (put.value !== null) writer.text(put.value);
  writeIndexChoice(writer, put.index);
  writer.i64(put.ttl ?? DEFAULT_TTL);
  writer.list(put.vectors ?? [], writeFieldVector);
}

function writeSearch(writer: Writer, search: SearchOperation): void {
  writer.texts(search.namespacePrefix);
  writer.text(search.filter ?? "");
  writer.text(search.query ?? "");
  writer.u32(search.limit ?? 10);
  writer.u32(search.offset ?? 0);
  writer.u8(SearchMode[search.mode ?? "auto"]);
  writer.flag(search.refreshTtl ?? true);
  writer.floats(search.queryVector ?? new Float32Array());
  writer.optional(search.ranking, writeRanking);
  writer.optional(search.near, writeItemRef);
  writer.u8(SearchPlan[search.plan ?? "auto"]);
  writer.u32(search.efSearch ?? 0);
}

function writeItemRef(writer: Writer, item: ItemRef): void {
  writer.texts(item.namespace);
  writer.text(item.key);
}

function writeWeighted(writer: Writer, field: { path: string; weight: number }): void {
  writer.text(field.path);
  writer.f64(field.weight);
}

function writeRanking(writer: Writer, ranking: Ranking): void {
  writer.optional(ranking.minScore, (out, score) => out.f64(score));
  writer.u8(Fusion[ranking.fusion]);
  writer.f64(ranking.vectorWeight);
  writer.f64(ranking.recency);
  writer.i64(ranking.halfLife);
  writer.list(ranking.boosts, writeWeighted);
  writer.f64(ranking.diversity);
  writer.flag(ranking.explain);
  writer.u32(ranking.snippetLength);
}

function writeMatchCondition(writer: Writer, condition: MatchCondition): void {
  writer.u8(MatchType[condition.matchType]);
  writer.texts(condition.path);
}

function writeKey(writer: Writer, key: CheckpointKey): void {
  writer.text(key.threadId);
  writer.text(key.checkpointNs);
  writer.text(key.checkpointId);
}

function writeChannelVersion(writer: Writer, version: ChannelVersion): void {
  writer.text(version.channel);
  writer.text(version.version);
}

function writeChannelValue(writer: Writer, value: ChannelValue): void {
  writeChannelVersion(writer, value);
  writeBlob(writer, value.value);
}

function writePendingWrite(writer: Writer, write: PendingWrite): void {
  writer.text(write.taskId);
  writer.i32(write.idx);
  writer.text(write.channel);
  writeBlob(writer, write.value);
  writer.text(write.taskPath);
}

function writeCheckpoint(writer: Writer, checkpoint: NewCheckpoint): void {
  writeKey(writer, checkpoint.key);
  writer.text(checkpoint.parentCheckpointId);
  writeBlob(writer, checkpoint.checkpoint);
  writeBlob(writer, checkpoint.metadata);
  writer.list(checkpoint.channelVersions, writeChannelVersion);
  writer.texts(checkpoint.newVersions);
  writer.list(checkpoint.values, writeChannelValue);
}

function writeDelta(writer: Writer, delta: ValueDelta): void {
  writer.i64(delta.stamp);
  writer.i64(delta.baseStamp);
  writer.i64(delta.prefix);
  writer.i64(delta.suffix);
}

function writeText(writer: Writer, text: string): void {
  writer.text(text);
}

function writeOpenOptions(writer: Writer, options: OpenOptions): void {
  writer.text(options.path);
  writer.u8(Durability[options.durability ?? "relaxed"]);
  writer.text(options.vfs ?? "");
}

function writePage(writer: Writer, page: { cursor: string; limit: number }): void {
  writer.text(page.cursor);
  writer.u32(page.limit);
}

const WRITERS: Writers = {
  get(writer, { namespace, key, refreshTtl }) {
    writer.texts(namespace);
    writer.text(key);
    writer.flag(refreshTtl ?? true);
  },
  put: writePut,
  search: writeSearch,
  listNamespaces(writer, { matchConditions, maxDepth, limit, offset }) {
    writer.list(matchConditions ?? [], writeMatchCondition);
    writer.optional(maxDepth, (out, depth) => out.u32(depth));
    writer.u32(limit ?? 100);
    writer.u32(offset ?? 0);
  },
  listKeys: (writer, { namespace }) => writer.texts(namespace),
  clearNamespace: (writer, { namespace }) => writer.texts(namespace),
  sweepExpired: (writer, { maxItems }) => writer.u32(maxItems),
  configureStore(writer, { index, ttl, text }) {
    writer.optional(index, (out, { dims, fields, model, replaceVectors }) => {
      out.u32(dims);
      out.texts(fields);
      out.text(model);
      out.flag(replaceVectors);
    });
    writer.optional(ttl, (out, { defaultTtl, refreshOnRead }) => {
      out.i64(defaultTtl);
      out.flag(refreshOnRead);
    });
    writer.optional(text, (out, { fields, group, position, speaker, language }) => {
      out.list(fields, writeWeighted);
      out.text(group);
      out.text(position);
      out.text(speaker);
      out.u8(Language[language]);
    });
  },
  prepareEmbedding: (writer, { operations }) => writer.list(operations, writeOperation),
  storeStats: writeNothing,
  explainAbsence(writer, { search, ...item }) {
    writeSearch(writer, search);
    writeItemRef(writer, item);
  },
  readPending: (writer, { limit }) => writer.u32(limit),
  embedPending: (writer, { items }) =>
    writer.list(items, (out, { id, fingerprint, vectors }) => {
      out.i64(id);
      out.u32(fingerprint);
      out.list(vectors, writeFieldVector);
    }),
  improveIndex(writer, { vectors, isWanted }) {
    writer.u32(vectors);
    writer.flag(isWanted);
  },

  putCheckpoint: writeCheckpoint,
  putWrites(writer, { key, writes }) {
    writeKey(writer, key);
    writer.list(writes, writePendingWrite);
  },
  getTuple: (writer, { key }) => writeKey(writer, key),
  listCheckpoints(writer, list) {
    writer.optional(list.threadId, writeText);
    writer.optional(list.checkpointNs, writeText);
    writer.text(list.checkpointId ?? "");
    writer.text(list.before ?? "");
    writer.text(list.after ?? "");
    writer.text(list.filter ?? "");
    writer.optional(list.cursor, writeKey);
    writer.u32(list.limit ?? NO_LIMIT);
  },
  listWrites(writer, { key, channel }) {
    writeKey(writer, key);
    writer.text(channel ?? "");
  },
  deltaChannelHistory(writer, { key, channels }) {
    writeKey(writer, key);
    writer.texts(channels);
  },
  deleteThread: (writer, { threadId }) => writer.text(threadId),
  copyThread(writer, { source, target }) {
    writer.text(source);
    writer.text(target);
  },
  deleteForRuns: (writer, { runIds }) => writer.texts(runIds),
  prune(writer, { threadIds, strategy }) {
    writer.texts(threadIds);
    writer.u8(PruneStrategy[strategy]);
  },
  checkpointerStats: writeNothing,
  pruneByRules(writer, { threadIds, keepLast, olderThan, maxBytes, dryRun }) {
    writer.optional(threadIds, (out, ids) => out.texts(ids));
    writer.u32(keepLast);
    writer.text(olderThan);
    writer.i64(maxBytes);
    writer.flag(dryRun);
  },
  listThreads(writer, { cursor, limit }) {
    writer.optional(cursor, (out, { newestCheckpointId, threadId }) => {
      out.text(newestCheckpointId);
      out.text(threadId);
    });
    writer.u32(limit ?? NO_LIMIT);
  },
  renameThread(writer, { source, target }) {
    writer.text(source);
    writer.text(target);
  },
  putCheckpointDeltas(writer, checkpoint) {
    writeCheckpoint(writer, checkpoint);
    writer.list(checkpoint.deltas, writeDelta);
  },
  forkThread(writer, { source, checkpointId, target }) {
    writer.text(source);
    writer.text(checkpointId);
    writer.text(target);
  },

  flush: writeNothing,
  size: writeNothing,
  beginExport: writeNothing,
  readExport(writer, { offset, length }) {
    writer.i64(offset);
    writer.u32(length);
  },
  endExport: writeNothing,
  importFrom: writeOpenOptions,
  foreignOpen: writeOpenOptions,
  foreignItems(writer, page) {
    writer.u8(ForeignTable[page.table]);
    writePage(writer, page);
  },
  foreignCheckpoints: writePage,
  foreignWrites: writePage,
  foreignClose: writeNothing,

  readRows(writer, { exportId, number, cursor }) {
    writer.text(exportId);
    writer.i64(number);
    writer.bytes(cursor);
  },
  endRows(writer, { exportId }) {
    writer.text(exportId);
  },
  putRows(writer, { piece }) {
    writer.bytes(piece);
  },
  finishImport(writer, { exportId, isWanted }) {
    writer.text(exportId);
    writer.flag(isWanted);
  },
  importState: writeNothing,
  limitVectors(writer, { bytes }) {
    writer.i64(bytes);
  },
};

function writeOperation(writer: Writer, operation: Operation): void {
  writer.u8(Tag[operation.kind]);
  const begin = writer.beginLength();
  // TypeScript can't see that an operation and its writer have the same kind.
  (WRITERS[operation.kind] as (writer: Writer, operation: Operation) => void)(writer, operation);
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

/**
 * A request of these operations. The view is overwritten by the next request
 * that is encoded: slice() what is to be kept or posted to a worker.
 * @internal
 */
export function encodeRequest(header: ExecuteHeader, operations: readonly Operation[]): Uint8Array {
  const writer = requestWriter;
  const { acknowledged } = header;
  writer.reset();
  const flags = acknowledged === undefined ? 0 : RequestFlag.remember;
  writeHeader(writer, FrameKind.execute, flags, header);
  if (acknowledged !== undefined) writer.i64(acknowledged);
  writer.u32(operations.length);
  for (const operation of operations) writeOperation(writer, operation);
  return writer.finish();
}

/**
 * The frame that opens an engine: in memory without `database`. The view is
 * overwritten by the next request that is encoded.
 * @internal
 */
export function encodeOpen(header: RequestHeader, database: OpenOptions | undefined): Uint8Array {
  const writer = requestWriter;
  writer.reset();
  writeHeader(writer, FrameKind.open, 0, header);
  writer.u32(1);
  writer.u8(Tag.open);
  const begin = writer.beginLength();
  writer.optional(database, writeOpenOptions);
  writer.endLength(begin);
  return writer.finish();
}

// ---- responses

type Readers = { [Kind in OperationKind]: (reader: Reader) => Answers[Kind] };

function readNothing(): undefined {
  return undefined;
}

function readCount(reader: Reader): number {
  return reader.i64();
}

function readTexts(reader: Reader): string[] {
  return reader.texts();
}

function readU32(reader: Reader): number {
  return reader.u32();
}

function readBlob(reader: Reader): Blob {
  return { type: reader.text(), bytes: reader.bytes() };
}

function readItem(reader: Reader): Item {
  return {
    namespace: reader.namespace(),
    key: reader.text(),
    value: reader.text(),
    createdAt: reader.i64(),
    updatedAt: reader.i64(),
  };
}

function readSnippet(reader: Reader): Snippet {
  return {
    text: reader.text(),
    highlights: reader.list((highlight) => ({ begin: highlight.u32(), end: highlight.u32() })),
  };
}

function readSearchItem(reader: Reader): SearchItem {
  return {
    namespace: reader.namespace(),
    key: reader.text(),
    value: reader.text(),
    createdAt: reader.i64(),
    updatedAt: reader.i64(),
    score: reader.flag() ? reader.f64() : undefined,
    parts: reader.list(readPart),
    snippet: reader.flag() ? readSnippet(reader) : undefined,
    plan: reader.text(),
  };
}

function readPart(reader: Reader): ScorePart {
  return { name: reader.text(), value: reader.f64() };
}

function readAbsence(reader: Reader): Absence {
  const number = reader.u8();
  for (const [name, value] of Object.entries(Absence)) {
    if (value === number) return name as Absence;
  }
  throw new RangeError(`response names an absence of no known kind: ${number}`);
}

function readKey(reader: Reader): CheckpointKey {
  return { threadId: reader.text(), checkpointNs: reader.text(), checkpointId: reader.text() };
}

function readChannelValue(reader: Reader): ChannelValue {
  return { channel: reader.text(), version: reader.text(), value: readBlob(reader) };
}

function readPendingWrite(reader: Reader): PendingWrite {
  return {
    taskId: reader.text(),
    idx: reader.i32(),
    channel: reader.text(),
    value: readBlob(reader),
    taskPath: reader.text(),
  };
}

function readTuple(reader: Reader): CheckpointTuple {
  return {
    key: readKey(reader),
    parentCheckpointId: reader.text(),
    checkpoint: readBlob(reader),
    metadata: readBlob(reader),
    values: reader.list(readChannelValue),
    pendingWrites: reader.list(readPendingWrite),
  };
}

function readFieldVector(reader: Reader): FieldVector {
  return { path: reader.text(), values: reader.floats() };
}

function readForeignTable(reader: Reader): ForeignTableName {
  const number = reader.u8();
  for (const [name, value] of Object.entries(ForeignTable)) {
    if (value === number) return name as ForeignTableName;
  }
  throw new RangeError(`response names a foreign table of no known kind: ${number}`);
}

function readPage<Row>(reader: Reader, readRow: (reader: Reader) => Row) {
  return {
    rows: reader.list(readRow),
    skipped: reader.list((skip) => ({ row: skip.text(), why: skip.text() })),
    cursor: reader.text(),
    done: reader.flag(),
  };
}

const READERS: Readers = {
  get: (reader) => (reader.flag() ? readItem(reader) : null),
  put: readNothing,
  search: (reader) => reader.list(readSearchItem),
  listNamespaces: (reader) => reader.list(readTexts),
  listKeys: readTexts,
  clearNamespace: readCount,
  sweepExpired: readCount,
  configureStore: readNothing,
  prepareEmbedding: (reader) => ({
    texts: reader.texts(),
    puts: reader.list((put) => ({
      position: put.u32(),
      paths: put.texts(),
      texts: put.list(readU32),
    })),
    queries: reader.texts(),
    queryPositions: reader.list(readU32),
    queryOf: reader.list(readU32),
  }),
  storeStats: (reader) => ({
    items: reader.i64(),
    namespaces: reader.i64(),
    vectors: reader.i64(),
    pending: reader.i64(),
    inGraph: reader.i64(),
  }),
  explainAbsence: (reader) => ({
    absence: readAbsence(reader),
    rank: reader.flag() ? reader.i64() : undefined,
    score: reader.flag() ? reader.f64() : undefined,
    lastScore: reader.flag() ? reader.f64() : undefined,
    parts: reader.list(readPart),
  }),
  readPending: (reader) => ({
    items: reader.list((item) => ({
      id: item.i64(),
      fingerprint: item.u32(),
      paths: item.texts(),
      texts: item.texts(),
    })),
    left: reader.i64(),
  }),
  embedPending: readCount,
  improveIndex: (reader) => ({
    vectors: reader.i64(),
    inGraph: reader.i64(),
    isDone: reader.flag(),
  }),

  putCheckpoint: readNothing,
  putWrites: readNothing,
  getTuple: (reader) => reader.optional(readTuple),
  listCheckpoints: (reader) => reader.list(readTuple),
  listWrites: (reader) => reader.list(readPendingWrite),
  deltaChannelHistory: (reader) =>
    reader.list((history) => ({
      channel: history.text(),
      seed: history.optional(readBlob),
      writes: history.list(readPendingWrite),
    })),
  deleteThread: readNothing,
  copyThread: readNothing,
  deleteForRuns: readCount,
  prune: readCount,
  checkpointerStats: (reader) => ({
    threads: reader.i64(),
    checkpoints: reader.i64(),
    writes: reader.i64(),
    bytes: reader.i64(),
  }),
  pruneByRules: (reader) => ({ checkpoints: reader.i64(), bytes: reader.i64() }),
  listThreads: (reader) =>
    reader.list((thread) => ({
      threadId: thread.text(),
      newestCheckpointId: thread.text(),
      checkpoint: readBlob(thread),
      metadata: readBlob(thread),
      checkpoints: thread.i64(),
      bytes: thread.i64(),
    })),
  renameThread: readNothing,
  putCheckpointDeltas: readNothing,
  forkThread: readNothing,

  flush: readNothing,
  size: readCount,
  beginExport: readCount,
  readExport: (reader) => reader.bytes(),
  endExport: readNothing,
  importFrom: readNothing,
  foreignOpen: (reader) =>
    reader.list((info) => ({ table: readForeignTable(info), rows: info.i64() })),
  foreignItems: (reader) =>
    readPage(reader, (row) => ({
      item: readItem(row),
      ttl: row.i64(),
      expiresAt: row.i64(),
      vectors: row.list(readFieldVector),
    })),
  foreignCheckpoints: (reader) =>
    readPage(reader, (row) => ({
      key: readKey(row),
      parentCheckpointId: row.text(),
      checkpoint: readBlob(row),
      metadata: readBlob(row),
    })),
  foreignWrites: (reader) =>
    readPage(reader, (row) => ({ key: readKey(row), write: readPendingWrite(row) })),
  foreignClose: readNothing,

  readRows: (reader) => reader.bytes(),
  endRows: readNothing,
  putRows: readCount,
  finishImport: readNothing,
  importState: (reader) =>
    reader.optional((state) => ({
      exportId: state.text(),
      next: state.i64(),
      cursor: state.bytes(),
      isComplete: state.flag(),
    })),
  limitVectors: readNothing,
};

function readResult<T>(reader: Reader, readAnswer: (reader: Reader) => T): T | WireStatus {
  const code = reader.u16();
  if (code !== 0) return new WireStatus(STATUS_CODES[code] ?? "internal", reader.text());
  const end = reader.u32() + reader.position;
  const answer = readAnswer(reader);
  if (reader.position !== end) throw new RangeError("response has an answer of another length");
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

/** The sequence of the request that this is the response to. @internal */
export function sequenceOf(response: Uint8Array): number {
  return readHeader(new Reader(response)).sequence;
}

/**
 * The answers to `operations`, in order. Nothing in them is a view into `response`,
 * which may be wasm memory. Throws a RangeError if it is not the response to these
 * operations.
 * @internal
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
    answers.fill(readResult(reader, readNothing));
  } else {
    if (results !== operations.length) {
      throw new RangeError(`response has ${results} results for ${operations.length} operations`);
    }
    for (const operation of operations) {
      answers.push(readResult<unknown>(reader, READERS[operation.kind]));
    }
  }
  return answers as { -readonly [I in keyof Operations]: Answer<Operations[I]> };
}

/** Why the engine did not open, or undefined if it did. @internal */
export function decodeOpened(response: Uint8Array): WireStatus | undefined {
  const reader = new Reader(response);
  readHeader(reader);
  return readResult(reader, readNothing);
}

/** Whether an operation of the frame was carried out. @internal */
export function anySucceeded(response: Uint8Array): boolean {
  return statusesOf(response).includes("ok");
}

/** Why the first operation that failed did, or undefined. @internal */
export function failureCodeOf(response: Uint8Array): StatusCode | undefined {
  return statusesOf(response).find((code) => code !== "ok");
}

function statusesOf(response: Uint8Array): StatusCode[] {
  const reader = new Reader(response);
  const { results } = readHeader(reader);
  const statuses: StatusCode[] = [];
  for (let i = 0; i < results; i++) {
    statuses.push(STATUS_CODES[reader.u16()] ?? "internal");
    reader.skip();
  }
  return statuses;
}
