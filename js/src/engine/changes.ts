// What operations change, said before they run, so that a user interface can follow.

import type { Operation } from "../wire/operations.js";

/** What was written, in one or several transactions. */
export interface Changes {
  /** Namespaces with items that were put or deleted. */
  namespaces: string[][];
  /** Threads with checkpoints or writes that were put or deleted. */
  threads: string[];
  /** More may have changed than the lists name: an import, a sweep of expired items. */
  everything: boolean;
}

/** Called after the change is stored. */
export type ChangeListener = (changes: Changes) => void;

/** What these operations change if they succeed; undefined for reads. @internal */
export function changesOf(operations: readonly Operation[]): Changes | undefined {
  let changes: Changes | undefined;
  for (const operation of operations) {
    const change = changeOf(operation);
    if (change !== undefined) changes = merge(changes, change);
  }
  return changes;
}

/** Both; `into` may be changed. @internal */
export function merge(into: Changes | undefined, more: Changes): Changes {
  if (into === undefined) return more;
  for (const namespace of more.namespaces) {
    if (!into.namespaces.some((known) => isSame(known, namespace))) into.namespaces.push(namespace);
  }
  for (const thread of more.threads) {
    if (!into.threads.includes(thread)) into.threads.push(thread);
  }
  into.everything ||= more.everything;
  return into;
}

/** Whether these operations make room: what may use the reserve of a full disk. @internal */
export function makesRoom(operations: readonly Operation[]): boolean {
  return operations.every((operation) =>
    operation.kind === "put" ? operation.value === null : ROOM_MAKERS.has(operation.kind),
  );
}

const ROOM_MAKERS = new Set<Operation["kind"]>([
  "clearNamespace",
  "sweepExpired",
  "deleteThread",
  "deleteForRuns",
  "prune",
  "pruneByRules",
  "flush",
]);

function changeOf(operation: Operation): Changes | undefined {
  switch (operation.kind) {
    case "put":
    case "clearNamespace":
      return { namespaces: [[...operation.namespace]], threads: [], everything: false };
    case "putCheckpoint":
    case "putCheckpointDeltas":
    case "putWrites":
      return threads(operation.key.threadId);
    case "deleteThread":
      return threads(operation.threadId);
    case "copyThread":
    case "forkThread":
      return threads(operation.target);
    case "renameThread":
      return threads(operation.source, operation.target);
    case "pruneByRules":
      if (operation.dryRun) return undefined;
      return operation.threadIds === undefined
        ? { namespaces: [], threads: [], everything: true }
        : threads(...operation.threadIds);
    case "prune":
      return threads(...operation.threadIds);
    case "sweepExpired":
    case "embedPending":
    case "deleteForRuns":
    case "importFrom":
      return { namespaces: [], threads: [], everything: true };
    case "finishImport":
      return operation.isWanted ? { namespaces: [], threads: [], everything: true } : undefined;
    default:
      return undefined;
  }
}

function threads(...ids: string[]): Changes {
  return { namespaces: [], threads: ids, everything: false };
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((label, i) => label === b[i]);
}

/** Those who want to hear of changes. @internal */
export class ChangeListeners {
  readonly #listeners = new Set<ChangeListener>();

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  /** Answers how to stop listening. */
  add(listener: ChangeListener): () => void {
    // An object of its own, so that one function may listen twice.
    const entry: ChangeListener = (changes) => listener(changes);
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  /** Later, so that a listener that throws or calls back disturbs nobody. */
  tell(changes: Changes): void {
    for (const listener of this.#listeners) queueMicrotask(() => listener(changes));
  }
}
