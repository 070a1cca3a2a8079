// A request that somebody else encoded, taken apart for whoever judges it.

import { KeepsakeError } from "../errors.js";
import type { Changes } from "./changes.js";
import { type ExecuteHeader, RequestFlag, requestOf } from "./codec.js";
import {
  LAYOUT,
  readCheckpointKey,
  readCopyThreadRequest,
  readDeleteThreadRequest,
  readErasureRequest,
  readFieldVector,
  readFinishImportRequest,
  readForkThreadRequest,
  readItemRef,
  readOneNamespace,
  readRenameThreadRequest,
  readRetentionRules,
  readValidity,
} from "./layout.js";
import { OPERATIONS, type Operation, type OperationKind, type OperationRow } from "./operations.js";
import { Reader } from "./reader.js";
import { Levels, readLevels } from "./scope.js";

const NOTHING = new Uint8Array(0);

const KINDS = new Map(
  (Object.keys(OPERATIONS) as OperationKind[]).map((kind) => [LAYOUT[kind].tag as number, kind]),
);

const readKey = (reader: Reader) => ({ key: readCheckpointKey(reader) });

// As much of a request as its row's `changes` looks at; of the others that is nothing.
const PARSERS: { readonly [Kind in OperationKind]?: (reader: Reader) => object } = {
  put(reader) {
    const namespace = reader.texts();
    reader.skip(); // the key
    reader.optional((value) => value.skip());
    reader.u8(); // what is indexed
    reader.texts();
    reader.i64(); // TTL
    reader.list(readFieldVector);
    reader.optional(readValidity);
    return { namespace, supersedes: reader.optional(readItemRef) };
  },
  clearNamespace: readOneNamespace,
  evictItems: readOneNamespace,
  keepHistory: readOneNamespace,
  dropHistory: readOneNamespace,
  hold: readOneNamespace,
  release: readOneNamespace,
  putCheckpoint: readKey,
  putWrites: readKey,
  deleteThread: readDeleteThreadRequest,
  copyThread: readCopyThreadRequest,
  renameThread: readRenameThreadRequest,
  forkThread: readForkThreadRequest,
  prune: readRetentionRules,
  finishImport: readFinishImportRequest,
  forget: readErasureRequest,
};

/** An operation of a request, as it travelled. */
export interface SentOperation {
  /** Undefined if this package does not know it. */
  readonly kind: OperationKind | undefined;
  readonly payload: Uint8Array;
}

/** A request, taken apart. What it holds are views into it. */
export interface SentRequest extends ExecuteHeader {
  readonly operations: readonly SentOperation[];
  /** Those operations, as requestOf() takes them. */
  readonly body: Uint8Array;
}

function readSentOperation(reader: Reader): SentOperation {
  return { kind: KINDS.get(reader.u8()), payload: reader.view() };
}

function readRequest(request: Uint8Array): SentRequest {
  const reader = new Reader(request);
  reader.u16(); // version and kind
  const flags = reader.u16();
  const has = (flag: number) => (flags & flag) !== 0;
  const [clientId, sequence, now] = [reader.i64(), reader.i64(), reader.i64()];
  const acknowledged = has(RequestFlag.remember) ? reader.i64() : undefined;
  const levels = has(RequestFlag.scoped) ? readLevels(new Reader(reader.view())) : [];
  const author = has(RequestFlag.actor)
    ? { actor: reader.text(), nodeId: reader.text() }
    : undefined;
  const count = reader.position;
  const operations = reader.list(readSentOperation);
  if (reader.remaining > 0) throw new RangeError("it goes on after its end");
  const body = request.subarray(count + 4);
  const isSaid = levels.length > 0 || author !== undefined;
  const of = isSaid ? new Levels(levels, author) : undefined;
  return { clientId, sequence, now, acknowledged, levels: of, operations, body };
}

/**
 * Takes apart what somebody else encoded. Throws malformed_frame unless it is, byte by byte, what
 * this package would have made of it. What is in payloads is for the core to judge.
 */
export function decodeRequest(request: Uint8Array): SentRequest {
  try {
    const sent = readRequest(request);
    const head = requestOf(sent, sent.operations.length, NOTHING);
    if (head.every((byte, at) => byte === request[at])) return sent;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new KeepsakeError(
    "malformed_frame",
    "it is no request that this version of keepsake makes: use the same on both sides",
  );
}

/** An item that a request puts, or deletes if it has no `value`, which is JSON. */
export interface SentItem {
  readonly namespace: string[];
  readonly key: string;
  readonly value: string | undefined;
}

/** The items that it puts or deletes by their keys. */
export function itemsIn({ operations, levels }: SentRequest): SentItem[] {
  const puts = operations.filter(({ kind }) => kind === "put");
  return puts.map(({ payload }) => {
    const reader = new Reader(payload);
    const changes = { namespaces: [reader.texts()], threads: [], everything: false };
    const [namespace = []] = (levels?.outward(changes) ?? changes).namespaces;
    return { namespace, key: reader.text(), value: reader.optional((json) => json.text()) };
  });
}

/** What each of these operations changes if it succeeds; undefined for a read, or a wrong payload. */
export function changesIn({ operations, levels }: SentRequest): (Changes | undefined)[] {
  return operations.map(({ kind, payload }) => {
    if (kind === undefined) return undefined;
    const row = OPERATIONS[kind] as OperationRow<Operation>;
    if (row.changes === undefined) return undefined;
    try {
      const touched = PARSERS[kind]?.(new Reader(payload)) ?? {};
      const changes = row.changes(touched as Operation);
      return changes && levels ? levels.outward(changes) : changes;
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  });
}
