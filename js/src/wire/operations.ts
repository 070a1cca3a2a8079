/**
 * What can be asked of the core: all that is to be known of an operation, in one row.
 * core/src/engine/operation_table.cc has the same tags; tests/golden holds both to it.
 */

import {
  type Access,
  type Changes,
  everything,
  everythingBelow,
  merge,
  namespaces,
  recalls,
  threads,
} from "./changes.js";
import type { Reader } from "./reader.js";
import { STATUS_CODES } from "./status.js";
import {
  readBlob,
  readCount,
  readFieldVector,
  readItem,
  readKey,
  readName,
  readNothing,
  readPage,
  readPart,
  readPendingWrite,
  readSearchItem,
  readSkip,
  readTexts,
  readTuple,
  readTuples,
  writeCheckpoint,
  writeFieldVector,
  writeItemRef,
  writeKey,
  writeMatchCondition,
  writeNothing,
  writeOpenOptions,
  writePage,
  writePendingWrite,
  writePut,
  writeSearch,
  writeText,
  writeWeighted,
} from "./structures.js";
import type {
  AuditEntry,
  AuditRequest,
  AuditRule,
  CheckpointerStats,
  CheckpointKey,
  CheckpointList,
  CheckpointTuple,
  DamagedPage,
  DeltaChannelHistory,
  Erased,
  ErasureRecord,
  ErasureRequest,
  ForeignCheckpoint,
  ForeignItem,
  ForeignPage,
  ForeignTables,
  ForeignWrite,
  GetRequest,
  HistoryRequest,
  HistoryRule,
  ImportState,
  IndexProgress,
  Item,
  ItemRef,
  ItemVectors,
  ItemVersion,
  ListNamespacesRequest,
  Namespace,
  NewCheckpoint,
  OpenOptions,
  PageCheck,
  PageRequest,
  PendingEmbeddings,
  PendingWrite,
  Pruned,
  PutRequest,
  RetentionRules,
  RowsRequest,
  SalvageReport,
  Scrubbed,
  SearchItem,
  SearchRequest,
  StoreConfiguration,
  StoreStats,
  ThreadInfo,
  ThreadList,
  Undone,
  WhyNot,
} from "./types.js";
import {
  Absence,
  Audited,
  Change,
  ForeignTable,
  Language,
  Origin,
  PruneStrategy,
} from "./types.js";
import type { Writer } from "./writer.js";

/**
 * The least that may ask for an operation: a caller that has a `scope` of the memory, one that has
 * the whole `memory`, or the `host`, which is the program that opens it.
 */
export type Sender = "scope" | "memory" | "host";

/** What an operation is, does and answers. */
export interface OperationRow<Request, Answer> {
  /** Persistent, never renumber, never reuse. */
  readonly tag: number;
  /** Who may ask for it: what comes from elsewhere is judged by this. */
  readonly from: Sender;
  readonly write: (writer: Writer, request: Request) => void;
  readonly read: (reader: Reader) => Answer;
  /** What listeners are told of it: undefined for what touches nobody's items or threads. */
  readonly access: ((request: Request) => Access) | undefined;
  /** What it changes if it succeeds: undefined for a read. */
  readonly changes?: (request: Request) => Changes | undefined;
  /** Whether it makes room, and so may use the reserve of a full disk. */
  readonly makesRoom?: (request: Request) => boolean;
  /** Whether it goes through an index, or changes what is in one. */
  readonly usesIndex?: true;
  /** Whether it may have to be asked again, until an index is made. */
  readonly isIndexing?: true;
  /** What it is of an export of the whole file. */
  readonly exports?: "begin" | "read" | "end";
  /** Whether it may share a transaction with other writes of its tick. */
  readonly joins?: true;
  /** Must not be sent again if nobody knows whether it was done. */
  readonly isOnce?: true;
}

function row<Request, Answer>(parts: OperationRow<Request, Answer>): OperationRow<Request, Answer> {
  return parts;
}

const NO_LIMIT = 0xffff_ffff;
const always = () => true;

function writeTime(writer: Writer, time: number): void {
  writer.i64(time);
}

function writeGet(writer: Writer, { namespace, key, refreshTtl }: GetRequest): void {
  writer.texts(namespace);
  writer.text(key);
  writer.flag(refreshTtl ?? true);
}

function writeListNamespaces(writer: Writer, list: ListNamespacesRequest): void {
  const { matchConditions, maxDepth, limit, offset } = list;
  writer.list(matchConditions ?? [], writeMatchCondition);
  writer.optional(maxDepth, (out, depth) => out.u32(depth));
  writer.u32(limit ?? 100);
  writer.u32(offset ?? 0);
}

interface TwoThreads {
  readonly source: string;
  readonly target: string;
}

function writeTwoThreads(writer: Writer, { source, target }: TwoThreads): void {
  writer.text(source);
  writer.text(target);
}

function readErased(reader: Reader): Erased {
  return {
    at: reader.i64(),
    items: reader.i64(),
    vectors: reader.i64(),
    versions: reader.i64(),
    threads: reader.i64(),
    checkpoints: reader.i64(),
    bytes: reader.i64(),
    restored: reader.i64(),
  };
}

function readDamagedPage(reader: Reader): DamagedPage {
  return { page: reader.u32(), heldBy: reader.text() };
}

/** By kind. */
export const OPERATIONS = {
  get: row<GetRequest, Item | null>({
    tag: 16,
    from: "scope",
    access: ({ namespace }) => recalls(namespace),
    write: writeGet,
    read: (reader) => (reader.flag() ? readItem(reader) : null),
  }),
  put: row<PutRequest, undefined>({
    tag: 17,
    from: "scope",
    access: ({ namespace, value }) => ({
      operation: value === null ? "delete" : "store",
      namespace,
    }),
    write: writePut,
    read: readNothing,
    changes: ({ namespace, supersedes }) =>
      supersedes === undefined
        ? namespaces(namespace)
        : merge(namespaces(namespace), namespaces(supersedes.namespace)),
    makesRoom: ({ value }) => value === null,
    usesIndex: true,
    joins: true,
  }),
  search: row<SearchRequest, SearchItem[]>({
    tag: 18,
    from: "scope",
    access: ({ namespacePrefix }) => recalls(namespacePrefix),
    write: writeSearch,
    read: (reader) => reader.list(readSearchItem),
    usesIndex: true,
    isIndexing: true,
  }),
  listNamespaces: row<ListNamespacesRequest, string[][]>({
    tag: 19,
    from: "scope",
    access: () => recalls([]),
    write: writeListNamespaces,
    read: (reader) => reader.list(readTexts),
  }),
  listKeys: row<{ readonly namespace: Namespace }, string[]>({
    tag: 20,
    from: "scope",
    access: ({ namespace }) => recalls(namespace),
    write: (writer, { namespace }) => writer.texts(namespace),
    read: readTexts,
  }),
  clearNamespace: row<{ readonly namespace: Namespace }, number>({
    tag: 21,
    from: "scope",
    access: ({ namespace }) => ({ operation: "clear", namespace }),
    write: (writer, { namespace }) => writer.texts(namespace),
    read: readCount,
    changes: ({ namespace }) => namespaces(namespace),
    makesRoom: always,
    usesIndex: true,
  }),
  sweepExpired: row<{ readonly maxItems: number }, number>({
    tag: 22,
    from: "memory",
    access: undefined,
    write: (writer, { maxItems }) => writer.u32(maxItems),
    read: readCount,
    changes: everything,
    makesRoom: always,
    usesIndex: true,
  }),
  configureStore: row<StoreConfiguration, undefined>({
    tag: 23,
    from: "host",
    access: undefined,
    write(writer, { index, text }) {
      writer.optional(index, (out, { dims, fields, model, replaceVectors }) => {
        out.u32(dims);
        out.texts(fields);
        out.text(model);
        out.flag(replaceVectors);
      });
      writer.optional(text, (out, { fields, group, position, speaker, language }) => {
        out.list(fields, writeWeighted);
        out.text(group);
        out.text(position);
        out.text(speaker);
        out.u8(Language[language]);
      });
    },
    read: readNothing,
  }),
  storeStats: row<unknown, StoreStats>({
    tag: 24,
    from: "memory",
    access: undefined,
    write: writeNothing,
    read: (reader) => ({
      items: reader.i64(),
      namespaces: reader.i64(),
      vectors: reader.i64(),
      pending: reader.i64(),
      inGraph: reader.i64(),
    }),
  }),
  explainAbsence: row<{ readonly search: SearchRequest } & ItemRef, WhyNot>({
    tag: 25,
    from: "scope",
    access: ({ namespace }) => recalls(namespace),
    isIndexing: true,
    write(writer, { search, namespace, key }) {
      writeSearch(writer, search);
      writeItemRef(writer, { namespace, key });
    },
    read: (reader) => ({
      absence: readName(reader, Absence),
      rank: reader.flag() ? reader.i64() : undefined,
      score: reader.flag() ? reader.f64() : undefined,
      lastScore: reader.flag() ? reader.f64() : undefined,
      parts: reader.list(readPart),
    }),
  }),
  improveIndex: row<
    {
      /** That it inserts at most. */
      readonly vectors: number;
      readonly isWanted: boolean;
    },
    IndexProgress
  >({
    tag: 26,
    from: "memory",
    access: undefined,
    write(writer, { vectors, isWanted }) {
      writer.u32(vectors);
      writer.flag(isWanted);
    },
    read: (reader) => ({
      vectors: reader.i64(),
      inGraph: reader.i64(),
      isDone: reader.flag(),
    }),
  }),
  readPending: row<{ readonly limit: number }, PendingEmbeddings>({
    tag: 27,
    from: "memory",
    access: undefined,
    write: (writer, { limit }) => writer.u32(limit),
    read: (reader) => ({
      items: reader.list((item) => ({
        id: item.i64(),
        fingerprint: item.u32(),
        paths: item.texts(),
        texts: item.texts(),
      })),
      left: reader.i64(),
    }),
  }),
  embedPending: row<{ readonly items: readonly ItemVectors[] }, number>({
    tag: 28,
    from: "memory",
    access: undefined,
    write: (writer, { items }) =>
      writer.list(items, (out, { id, fingerprint, vectors }) => {
        out.i64(id);
        out.u32(fingerprint);
        out.list(vectors, writeFieldVector);
      }),
    read: readCount,
    changes: everything,
    usesIndex: true,
  }),
  keepHistory: row<HistoryRequest, undefined>({
    tag: 29,
    from: "memory",
    access: undefined,
    write(writer, { namespace, maxVersions, maxAge }) {
      writer.texts(namespace);
      writer.u32(maxVersions);
      writer.optional(maxAge, writeTime);
      writer.i64(0);
    },
    read: readNothing,
    changes: ({ namespace }) => namespaces(namespace),
  }),
  dropHistory: row<{ readonly namespace: Namespace }, undefined>({
    tag: 30,
    from: "memory",
    access: undefined,
    write: (writer, { namespace }) => writer.texts(namespace),
    read: readNothing,
    changes: ({ namespace }) => namespaces(namespace),
    makesRoom: always,
  }),
  historyRules: row<unknown, HistoryRule[]>({
    tag: 31,
    from: "memory",
    access: undefined,
    write: writeNothing,
    read: (reader) =>
      reader.list((rule) => ({
        namespace: rule.texts(),
        maxVersions: rule.u32(),
        maxAge: rule.flag() ? rule.i64() : undefined,
        since: rule.i64(),
      })),
  }),
  history: row<ItemRef & { readonly limit?: number | undefined }, ItemVersion[]>({
    tag: 32,
    from: "scope",
    access: ({ namespace }) => recalls(namespace),
    write(writer, { namespace, key, limit }) {
      writeItemRef(writer, { namespace, key });
      writer.u32(limit ?? NO_LIMIT);
    },
    read: (reader) =>
      reader.list((version) => ({
        operation: version.i64(),
        change: readName(version, Change),
        at: version.i64(),
        actor: version.text(),
        item: version.optional(readItem),
      })),
  }),
  getAsOf: row<{ readonly at: number; readonly get: GetRequest }, Item | null>({
    tag: 33,
    from: "scope",
    access: ({ get }) => recalls(get.namespace),
    write(writer, { at, get }) {
      writeGet(writer, get);
      writer.i64(at);
    },
    read: (reader) => (reader.flag() ? readItem(reader) : null),
  }),
  searchAsOf: row<{ readonly at: number; readonly search: SearchRequest }, SearchItem[]>({
    tag: 34,
    from: "scope",
    access: ({ search }) => recalls(search.namespacePrefix),
    write(writer, { at, search }) {
      writeSearch(writer, search);
      writer.i64(at);
    },
    read: (reader) => reader.list(readSearchItem),
  }),
  listNamespacesAsOf: row<
    { readonly at: number; readonly list: ListNamespacesRequest },
    string[][]
  >({
    tag: 35,
    from: "scope",
    access: () => recalls([]),
    write(writer, { at, list }) {
      writeListNamespaces(writer, list);
      writer.i64(at);
    },
    read: (reader) => reader.list(readTexts),
  }),
  undo: row<{ readonly operation: number; readonly force: boolean }, Undone>({
    tag: 36,
    from: "scope",
    access: () => ({ operation: "undo" }),
    write(writer, { operation, force }) {
      writer.i64(operation);
      writer.flag(force);
    },
    read: (reader) => ({ operation: reader.i64(), items: reader.i64() }),
    changes: everything,
    usesIndex: true,
  }),

  putCheckpoint: row<NewCheckpoint, undefined>({
    tag: 64,
    from: "scope",
    access: ({ key }) => ({ operation: "store", threadId: key.threadId }),
    write: writeCheckpoint,
    read: readNothing,
    changes: ({ key }) => threads(key.threadId),
    joins: true,
  }),
  putWrites: row<
    { readonly key: CheckpointKey; readonly writes: readonly PendingWrite[] },
    undefined
  >({
    tag: 65,
    from: "scope",
    access: ({ key }) => ({ operation: "store", threadId: key.threadId }),
    write(writer, { key, writes }) {
      writeKey(writer, key);
      writer.list(writes, writePendingWrite);
    },
    read: readNothing,
    changes: ({ key }) => threads(key.threadId),
    joins: true,
  }),
  getTuple: row<{ readonly key: CheckpointKey }, CheckpointTuple | undefined>({
    tag: 66,
    from: "scope",
    access: ({ key }) => ({ operation: "recall", threadId: key.threadId }),
    write: (writer, { key }) => writeKey(writer, key),
    read: (reader) => reader.optional(readTuple),
  }),
  listCheckpoints: row<CheckpointList, CheckpointTuple[]>({
    tag: 67,
    from: "scope",
    access: ({ threadId }) => ({ operation: "recall", threadId }),
    write(writer, list) {
      writer.optional(list.threadId, writeText);
      writer.optional(list.checkpointNs, writeText);
      writer.text(list.checkpointId ?? "");
      writer.text(list.before ?? "");
      writer.text(list.after ?? "");
      writer.text(list.filter ?? "");
      writer.optional(list.cursor, writeKey);
      writer.u32(list.limit ?? NO_LIMIT);
    },
    read: readTuples,
  }),
  listWrites: row<
    { readonly key: CheckpointKey; readonly channel?: string | undefined },
    PendingWrite[]
  >({
    tag: 68,
    from: "scope",
    access: ({ key }) => ({ operation: "recall", threadId: key.threadId }),
    write(writer, { key, channel }) {
      writeKey(writer, key);
      writer.text(channel ?? "");
    },
    read: (reader) => reader.list(readPendingWrite),
  }),
  deltaChannelHistory: row<
    { readonly key: CheckpointKey; readonly channels: readonly string[] },
    DeltaChannelHistory[]
  >({
    tag: 69,
    from: "scope",
    access: ({ key }) => ({ operation: "recall", threadId: key.threadId }),
    write(writer, { key, channels }) {
      writeKey(writer, key);
      writer.texts(channels);
    },
    read: (reader) =>
      reader.list((history) => ({
        channel: history.text(),
        seed: history.optional(readBlob),
        writes: history.list(readPendingWrite),
      })),
  }),
  deleteThread: row<{ readonly threadId: string }, undefined>({
    tag: 70,
    from: "scope",
    access: ({ threadId }) => ({ operation: "delete", threadId }),
    write: (writer, { threadId }) => writer.text(threadId),
    read: readNothing,
    changes: ({ threadId }) => threads(threadId),
    makesRoom: always,
  }),
  copyThread: row<TwoThreads, undefined>({
    tag: 71,
    from: "scope",
    access: ({ target }) => ({ operation: "store", threadId: target }),
    write: writeTwoThreads,
    read: readNothing,
    changes: ({ target }) => threads(target),
  }),
  renameThread: row<TwoThreads, undefined>({
    tag: 72,
    from: "scope",
    access: ({ target }) => ({ operation: "store", threadId: target }),
    write: writeTwoThreads,
    read: readNothing,
    changes: ({ source, target }) => threads(source, target),
  }),
  forkThread: row<TwoThreads & { readonly checkpointId: string }, undefined>({
    tag: 73,
    from: "scope",
    access: ({ target }) => ({ operation: "store", threadId: target }),
    write(writer, { source, checkpointId, target }) {
      writer.text(source);
      writer.text(checkpointId);
      writer.text(target);
    },
    read: readNothing,
    changes: ({ target }) => threads(target),
  }),
  deleteForRuns: row<{ readonly runIds: readonly string[] }, number>({
    tag: 74,
    from: "scope",
    access: () => ({ operation: "delete" }),
    write: (writer, { runIds }) => writer.texts(runIds),
    read: readCount,
    changes: everything,
    makesRoom: always,
  }),
  prune: row<RetentionRules, Pruned>({
    tag: 75,
    from: "scope",
    access: () => ({ operation: "delete" }),
    write(writer, { threadIds, keepLast, olderThan, maxBytes, dryRun, strategy }) {
      writer.optional(threadIds, (out, ids) => out.texts(ids));
      writer.u32(keepLast);
      writer.text(olderThan);
      writer.i64(maxBytes);
      writer.flag(dryRun);
      writer.u8(PruneStrategy[strategy ?? "byRules"]);
    },
    read: (reader) => ({ checkpoints: reader.i64(), bytes: reader.i64() }),
    changes({ threadIds, dryRun }) {
      if (dryRun) return undefined;
      return threadIds === undefined ? everything() : threads(...threadIds);
    },
    makesRoom: always,
  }),
  listThreads: row<ThreadList, ThreadInfo[]>({
    tag: 76,
    from: "scope",
    access: () => ({ operation: "recall" }),
    write(writer, { cursor, limit }) {
      writer.optional(cursor, (out, { newestCheckpointId, threadId }) => {
        out.text(newestCheckpointId);
        out.text(threadId);
      });
      writer.u32(limit ?? NO_LIMIT);
    },
    read: (reader) =>
      reader.list((thread) => ({
        threadId: thread.text(),
        newestCheckpointId: thread.text(),
        checkpoint: readBlob(thread),
        metadata: readBlob(thread),
        checkpoints: thread.i64(),
        bytes: thread.i64(),
      })),
  }),
  checkpointerStats: row<unknown, CheckpointerStats>({
    tag: 77,
    from: "scope",
    access: undefined,
    write: writeNothing,
    read: (reader) => ({
      threads: reader.i64(),
      checkpoints: reader.i64(),
      writes: reader.i64(),
      bytes: reader.i64(),
    }),
  }),

  flush: row<unknown, undefined>({
    tag: 128,
    from: "scope",
    access: undefined,
    write: writeNothing,
    read: readNothing,
    makesRoom: always,
  }),
  size: row<unknown, number>({
    tag: 129,
    from: "memory",
    access: undefined,
    write: writeNothing,
    read: readCount,
  }),
  beginExport: row<unknown, number>({
    tag: 130,
    from: "memory",
    access: () => recalls([]),
    write: writeNothing,
    read: readCount,
    exports: "begin",
  }),
  readExport: row<{ readonly offset: number; readonly length: number }, Uint8Array>({
    tag: 131,
    from: "memory",
    access: undefined,
    write(writer, { offset, length }) {
      writer.i64(offset);
      writer.u32(length);
    },
    read: (reader) => reader.bytes(),
    exports: "read",
  }),
  endExport: row<unknown, undefined>({
    tag: 132,
    from: "memory",
    access: undefined,
    write: writeNothing,
    read: readNothing,
    exports: "end",
  }),
  importFrom: row<OpenOptions, undefined>({
    tag: 133,
    from: "host",
    access: () => ({ operation: "store", namespace: [] }),
    write: writeOpenOptions,
    read: readNothing,
    changes: everything,
    isOnce: true,
  }),
  readRows: row<RowsRequest, Uint8Array>({
    tag: 134,
    from: "memory",
    access: () => recalls([]),
    write(writer, { exportId, number, cursor }) {
      writer.text(exportId);
      writer.i64(number);
      writer.bytes(cursor);
    },
    read: (reader) => reader.bytes(),
  }),
  endRows: row<{ readonly exportId: string }, undefined>({
    tag: 135,
    from: "memory",
    access: undefined,
    write: (writer, { exportId }) => writer.text(exportId),
    read: readNothing,
  }),
  putRows: row<{ readonly piece: Uint8Array }, number>({
    tag: 136,
    from: "memory",
    access: () => ({ operation: "store", namespace: [] }),
    write: (writer, { piece }) => writer.bytes(piece),
    read: readCount,
  }),
  finishImport: row<{ readonly exportId: string; readonly isWanted: boolean }, undefined>({
    tag: 137,
    from: "memory",
    access: undefined,
    write(writer, { exportId, isWanted }) {
      writer.text(exportId);
      writer.flag(isWanted);
    },
    read: readNothing,
    changes: ({ isWanted }) => (isWanted ? everything() : undefined),
  }),
  importState: row<unknown, ImportState | undefined>({
    tag: 138,
    from: "memory",
    access: undefined,
    write: writeNothing,
    read: (reader) =>
      reader.optional((state) => ({
        exportId: state.text(),
        next: state.i64(),
        cursor: state.bytes(),
        isComplete: state.flag(),
      })),
  }),
  limitVectors: row<{ readonly bytes: number }, undefined>({
    tag: 139,
    from: "host",
    access: undefined,
    write: (writer, { bytes }) => writer.i64(bytes),
    read: readNothing,
  }),
  forget: row<ErasureRequest, Erased>({
    tag: 140,
    from: "scope",
    access: () => ({ operation: "forget" }),
    write(
      writer,
      { id, digest, namespaces: prefixes, filter, from, threads: ids, threadPrefix, dryRun },
    ) {
      writer.text(id);
      writer.text(digest);
      writer.list(prefixes, (out, prefix) => out.texts(prefix));
      writer.text(filter);
      writer.u8(Origin[from?.origin ?? "unknown"]);
      writer.text(from?.source ?? "");
      writer.flag(from?.isPrefix ?? false);
      writer.texts(ids);
      writer.optional(threadPrefix, writeText);
      writer.flag(dryRun);
    },
    read: readErased,
    changes({ dryRun, namespaces: prefixes, threads: ids, threadPrefix }) {
      if (dryRun) return undefined;
      if (threadPrefix !== undefined) return everything();
      return merge(threads(...ids), everythingBelow(prefixes));
    },
    makesRoom: always,
    usesIndex: true,
  }),
  findErasure: row<{ readonly id: string }, ErasureRecord | undefined>({
    tag: 141,
    from: "scope",
    access: undefined,
    write: (writer, { id }) => writer.text(id),
    read: (reader) =>
      reader.optional((record) => ({
        digest: record.text(),
        erased: readErased(record),
        scrubbed: record.u8() as Scrubbed,
      })),
  }),
  hold: row<{ readonly namespace: Namespace; readonly reason: string }, undefined>({
    tag: 142,
    from: "memory",
    access: undefined,
    write(writer, { namespace, reason }) {
      writer.texts(namespace);
      writer.text(reason);
      writer.i64(0); // since when, which the core knows
    },
    read: readNothing,
    changes: ({ namespace }) => namespaces(namespace),
  }),
  release: row<{ readonly namespace: Namespace }, undefined>({
    tag: 143,
    from: "memory",
    access: undefined,
    write: (writer, { namespace }) => writer.texts(namespace),
    read: readNothing,
    changes: ({ namespace }) => namespaces(namespace),
  }),
  listHolds: row<unknown, { namespace: string[]; reason: string; since: number }[]>({
    tag: 144,
    from: "memory",
    access: undefined,
    write: writeNothing,
    read: (reader) =>
      reader.list((held) => ({
        namespace: readTexts(held),
        reason: held.text(),
        since: held.i64(),
      })),
  }),
  checkPages: row<
    { readonly first: number; readonly count: number; readonly accepts: boolean },
    PageCheck
  >({
    tag: 145,
    from: "memory",
    access: undefined,
    write(writer, { first, count, accepts }) {
      writer.u32(first);
      writer.u32(count);
      writer.flag(accepts);
    },
    read: (reader) => ({
      pages: reader.u32(),
      damaged: reader.list(readDamagedPage),
      problem: reader.text(),
    }),
  }),
  salvage: row<OpenOptions, SalvageReport>({
    tag: 146,
    from: "host",
    access: undefined,
    write: writeOpenOptions,
    read: (reader) => ({
      items: reader.i64(),
      vectors: reader.i64(),
      checkpoints: reader.i64(),
      writes: reader.i64(),
      damagedPages: reader.list(readDamagedPage),
      lostItemCount: reader.i64(),
      lostItems: reader.list((item) => ({ namespace: readTexts(item), key: item.text() })),
      lostCheckpointCount: reader.i64(),
      lostCheckpoints: reader.list(readKey),
    }),
    changes: everything,
    isOnce: true,
  }),

  /** The new key, encoded as those of OpenOptions. */
  changeKey: row<{ readonly key: Uint8Array }, undefined>({
    tag: 147,
    from: "host",
    access: undefined,
    write: (writer, { key }) => writer.bytes(key),
    read: readNothing,
  }),

  /** No rule ends it. */
  keepAudit: row<{ readonly rule: AuditRule | undefined }, undefined>({
    tag: 148,
    from: "memory",
    access: undefined,
    write(writer, { rule }) {
      writer.optional(rule, (out, { maxEntries, maxAge }) => {
        out.u32(maxEntries);
        out.optional(maxAge, writeTime);
        out.i64(0); // since when, which the core knows
      });
    },
    read: readNothing,
    changes: everything,
  }),
  auditRule: row<unknown, (AuditRule & { since: number }) | undefined>({
    tag: 149,
    from: "memory",
    access: undefined,
    write: writeNothing,
    read: (reader) =>
      reader.flag()
        ? {
            maxEntries: reader.u32(),
            maxAge: reader.flag() ? reader.i64() : undefined,
            since: reader.i64(),
          }
        : undefined,
  }),
  auditLog: row<AuditRequest, AuditEntry[]>({
    tag: 150,
    from: "scope",
    access: undefined,
    write(writer, { namespace, since, before, limit }) {
      writer.texts(namespace);
      writer.i64(since);
      writer.optional(before, writeTime);
      writer.u32(limit);
    },
    read: (reader) =>
      reader.list((entry) => ({
        id: entry.i64(),
        at: entry.i64(),
        operation: readName(entry, Audited),
        place: readTexts(entry),
        namespace: entry.flag() ? readTexts(entry) : undefined,
        threadId: entry.flag() ? entry.text() : undefined,
        actor: entry.text(),
        nodeId: entry.text(),
        code: STATUS_CODES[entry.u16()] ?? "internal",
        count: entry.i64(),
      })),
  }),
  scrub: row<{ readonly pages: number }, Scrubbed>({
    tag: 151,
    from: "scope",
    access: undefined,
    write: (writer, { pages }) => writer.u32(pages),
    read: (reader) => reader.u8() as Scrubbed,
    makesRoom: always,
  }),

  foreignOpen: row<OpenOptions, ForeignTables>({
    tag: 192,
    from: "host",
    access: undefined,
    write: writeOpenOptions,
    read: (reader) => ({
      readable: reader.list((info) => ({
        table: readName(info, ForeignTable),
        rows: info.i64(),
      })),
      skipped: reader.list(readSkip),
    }),
  }),
  foreignItems: row<
    { readonly table: "pythonStore" | "plainStoreKv" } & PageRequest,
    ForeignPage<ForeignItem>
  >({
    tag: 193,
    from: "host",
    access: undefined,
    write(writer, page) {
      writer.u8(ForeignTable[page.table]);
      writePage(writer, page);
    },
    read: (reader) =>
      readPage(reader, (item) => ({
        item: readItem(item),
        ttl: item.i64(),
        expiresAt: item.i64(),
        vectors: item.list(readFieldVector),
      })),
  }),
  foreignCheckpoints: row<PageRequest, ForeignPage<ForeignCheckpoint>>({
    tag: 194,
    from: "host",
    access: undefined,
    write: writePage,
    read: (reader) =>
      readPage(reader, (checkpoint) => ({
        key: readKey(checkpoint),
        parentCheckpointId: checkpoint.text(),
        checkpoint: readBlob(checkpoint),
        metadata: readBlob(checkpoint),
      })),
  }),
  foreignWrites: row<PageRequest, ForeignPage<ForeignWrite>>({
    tag: 195,
    from: "host",
    access: undefined,
    write: writePage,
    read: (reader) =>
      readPage(reader, (write) => ({ key: readKey(write), write: readPendingWrite(write) })),
  }),
  foreignClose: row<unknown, undefined>({
    tag: 196,
    from: "host",
    access: undefined,
    write: writeNothing,
    read: readNothing,
  }),
} as const;

type Rows = typeof OPERATIONS;

export type OperationKind = keyof Rows;

type RequestOf<Kind extends OperationKind> =
  Rows[Kind] extends OperationRow<infer Request, unknown> ? Request : never;
type AnswerOf<Kind extends OperationKind> =
  Rows[Kind] extends OperationRow<never, infer Answer> ? Answer : never;

/** An operation of these kinds. */
export type OperationOf<Kinds extends OperationKind> = {
  [Kind in Kinds]: { readonly kind: Kind } & RequestOf<Kind>;
}[Kinds];

export type Operation = OperationOf<OperationKind>;
export type PutOperation = OperationOf<"put">;
export type SearchOperation = OperationOf<"search">;
/** Those that are one batch together. */
export type StoreOperation = OperationOf<"get" | "put" | "search" | "listNamespaces">;

/** The answer to an operation of each kind, unless it is a WireStatus. */
export type AnswerTo<Op extends Operation> = Op extends Operation ? AnswerOf<Op["kind"]> : never;

/** @internal */
export function rowOf(operation: Operation): OperationRow<Operation, unknown> {
  // TypeScript can't see that an operation and its row have the same kind.
  return OPERATIONS[operation.kind] as OperationRow<Operation, unknown>;
}
