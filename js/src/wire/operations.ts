/**
 * What can be asked of the core. layout.txt in core/src/wire says how it travels, which makes
 * layout.ts; here is what else is to be known of it, in one row.
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
import { LAYOUT } from "./layout.js";
import type { Reader } from "./reader.js";
import type { Writer } from "./writer.js";

type Layout = typeof LAYOUT;

export type OperationKind = Exclude<keyof Layout, "open">;

type RequestOf<Kind extends OperationKind> = Layout[Kind]["write"] extends (
  writer: Writer,
  request: infer Request,
) => void
  ? Request
  : never;

/**
 * The least that may ask for an operation: a caller that has a `scope` of the memory, one that has
 * the whole `memory`, or the `host`, which is the program that opens it.
 */
export type Sender = "scope" | "memory" | "host";

/** What an operation is and does. */
export interface OperationRow<Request> {
  /** Who may ask for it: what comes from elsewhere is judged by this. */
  readonly from: Sender;
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

const always = () => true;

/** By kind. */
export const OPERATIONS: {
  readonly [Kind in OperationKind]: OperationRow<RequestOf<Kind>>;
} = {
  get: { from: "scope", access: ({ namespace }) => recalls(namespace) },
  put: {
    from: "scope",
    access: ({ namespace, value }) => ({
      operation: value === null ? "delete" : "store",
      namespace,
    }),
    changes: ({ namespace, supersedes }) =>
      supersedes === undefined
        ? namespaces(namespace)
        : merge(namespaces(namespace), namespaces(supersedes.namespace)),
    makesRoom: ({ value }) => value === null,
    usesIndex: true,
    joins: true,
  },
  search: {
    from: "scope",
    access: ({ namespacePrefix }) => recalls(namespacePrefix),
    usesIndex: true,
    isIndexing: true,
  },
  listNamespaces: { from: "scope", access: () => recalls([]) },
  listKeys: { from: "scope", access: ({ namespace }) => recalls(namespace) },
  clearNamespace: {
    from: "scope",
    access: ({ namespace }) => ({ operation: "clear", namespace }),
    changes: ({ namespace }) => namespaces(namespace),
    makesRoom: always,
    usesIndex: true,
  },
  sweepExpired: {
    from: "memory",
    access: undefined,
    changes: everything,
    makesRoom: always,
    usesIndex: true,
  },
  configureStore: { from: "host", access: undefined },
  storeStats: { from: "memory", access: undefined },
  explainAbsence: {
    from: "scope",
    access: ({ namespace }) => recalls(namespace),
    isIndexing: true,
  },
  improveIndex: { from: "memory", access: undefined },
  readPending: { from: "memory", access: undefined },
  embedPending: { from: "memory", access: undefined, changes: everything, usesIndex: true },
  keepHistory: {
    from: "memory",
    access: undefined,
    changes: ({ namespace }) => namespaces(namespace),
  },
  dropHistory: {
    from: "memory",
    access: undefined,
    changes: ({ namespace }) => namespaces(namespace),
    makesRoom: always,
  },
  historyRules: { from: "memory", access: undefined },
  history: { from: "scope", access: ({ namespace }) => recalls(namespace) },
  getAsOf: { from: "scope", access: ({ get }) => recalls(get.namespace) },
  searchAsOf: { from: "scope", access: ({ search }) => recalls(search.namespacePrefix) },
  listNamespacesAsOf: { from: "scope", access: () => recalls([]) },
  undo: {
    from: "scope",
    access: () => ({ operation: "undo" }),
    changes: everything,
    usesIndex: true,
  },

  judgeItems: { from: "scope", access: ({ namespacePrefix }) => recalls(namespacePrefix) },
  evictItems: {
    from: "scope",
    access: ({ namespace }) => ({ operation: "delete", namespace }),
    changes: ({ namespace }) => namespaces(namespace),
    makesRoom: always,
    usesIndex: true,
  },

  putCheckpoint: {
    from: "scope",
    access: ({ key }) => ({ operation: "store", threadId: key.threadId }),
    changes: ({ key }) => threads(key.threadId),
    joins: true,
  },
  putWrites: {
    from: "scope",
    access: ({ key }) => ({ operation: "store", threadId: key.threadId }),
    changes: ({ key }) => threads(key.threadId),
    joins: true,
  },
  getTuple: {
    from: "scope",
    access: ({ key }) => ({ operation: "recall", threadId: key.threadId }),
  },
  listCheckpoints: { from: "scope", access: ({ threadId }) => ({ operation: "recall", threadId }) },
  listWrites: {
    from: "scope",
    access: ({ key }) => ({ operation: "recall", threadId: key.threadId }),
  },
  deltaChannelHistory: {
    from: "scope",
    access: ({ key }) => ({ operation: "recall", threadId: key.threadId }),
  },
  deleteThread: {
    from: "scope",
    access: ({ threadId }) => ({ operation: "delete", threadId }),
    changes: ({ threadId }) => threads(threadId),
    makesRoom: always,
  },
  copyThread: {
    from: "scope",
    access: ({ target }) => ({ operation: "store", threadId: target }),
    changes: ({ target }) => threads(target),
  },
  renameThread: {
    from: "scope",
    access: ({ target }) => ({ operation: "store", threadId: target }),
    changes: ({ source, target }) => threads(source, target),
  },
  forkThread: {
    from: "scope",
    access: ({ target }) => ({ operation: "store", threadId: target }),
    changes: ({ target }) => threads(target),
  },
  deleteForRuns: {
    from: "scope",
    access: () => ({ operation: "delete" }),
    changes: everything,
    makesRoom: always,
  },
  prune: {
    from: "scope",
    access: () => ({ operation: "delete" }),
    changes({ threadIds, dryRun }) {
      if (dryRun) return undefined;
      return threadIds === undefined ? everything() : threads(...threadIds);
    },
    makesRoom: always,
  },
  listThreads: { from: "scope", access: () => ({ operation: "recall" }) },
  checkpointerStats: { from: "scope", access: undefined },

  flush: { from: "scope", access: undefined, makesRoom: always },
  size: { from: "memory", access: undefined },
  beginExport: { from: "memory", access: () => recalls([]), exports: "begin" },
  readExport: { from: "memory", access: undefined, exports: "read" },
  endExport: { from: "memory", access: undefined, exports: "end" },
  importFrom: {
    from: "host",
    access: () => ({ operation: "store", namespace: [] }),
    changes: everything,
    isOnce: true,
  },
  readRows: { from: "memory", access: () => recalls([]) },
  endRows: { from: "memory", access: undefined },
  putRows: { from: "memory", access: () => ({ operation: "store", namespace: [] }) },
  finishImport: {
    from: "memory",
    access: undefined,
    changes: ({ isWanted }) => (isWanted ? everything() : undefined),
  },
  importState: { from: "memory", access: undefined },
  limitVectors: { from: "host", access: undefined },
  forget: {
    from: "scope",
    access: () => ({ operation: "forget" }),
    changes({ dryRun, namespaces: prefixes, threads: ids, threadPrefix }) {
      if (dryRun) return undefined;
      if (threadPrefix !== undefined) return everything();
      return merge(threads(...ids), everythingBelow(prefixes));
    },
    makesRoom: always,
    usesIndex: true,
  },
  findErasure: { from: "scope", access: undefined },
  hold: { from: "memory", access: undefined, changes: ({ namespace }) => namespaces(namespace) },
  release: { from: "memory", access: undefined, changes: ({ namespace }) => namespaces(namespace) },
  listHolds: { from: "memory", access: undefined },
  checkPages: { from: "memory", access: undefined },
  salvage: { from: "host", access: undefined, changes: everything, isOnce: true },
  changeKey: { from: "host", access: undefined },
  keepAudit: { from: "memory", access: undefined, changes: everything },
  auditRule: { from: "memory", access: undefined },
  auditLog: { from: "scope", access: undefined },
  scrub: { from: "scope", access: undefined, makesRoom: always },

  syncState: { from: "memory", access: undefined },
  startSync: { from: "host", access: undefined },
  stopSync: { from: "host", access: undefined, makesRoom: always },
  readOutbox: { from: "host", access: undefined },
  confirmOutbox: { from: "host", access: undefined, makesRoom: always },
  // Whoever hands the records over may know what they change.
  catchUp: {
    from: "host",
    access: undefined,
    changes: (operation) => (operation as { changes?: Changes }).changes ?? everything(),
    usesIndex: true,
  },
  listSetAside: { from: "memory", access: undefined },
  dropSetAside: { from: "memory", access: undefined, makesRoom: always },

  foreignOpen: { from: "host", access: undefined },
  foreignItems: { from: "host", access: undefined },
  foreignCheckpoints: { from: "host", access: undefined },
  foreignWrites: { from: "host", access: undefined },
  foreignClose: { from: "host", access: undefined },
};

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
export type AnswerTo<Op extends Operation> = Op extends Operation
  ? ReturnType<Layout[Op["kind"]]["read"]>
  : never;

// TypeScript can't see that an operation and what is known of it have the same kind.

export function rowOf(operation: Operation): OperationRow<Operation> {
  return OPERATIONS[operation.kind] as OperationRow<Operation>;
}

/** How an operation travels. */
export function layoutOf(operation: Operation): {
  readonly tag: number;
  readonly write: (writer: Writer, request: Operation) => void;
  readonly read: (reader: Reader) => unknown;
} {
  return LAYOUT[operation.kind] as ReturnType<typeof layoutOf>;
}
