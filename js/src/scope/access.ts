// What is told of every access: who, where, what, with which outcome; never a value.

import { checkText, type NamesOf, show } from "../checks.js";
import type { AccessListener, Told } from "../connection.js";
import { invalid, KeepsakeError, type KeepsakeErrorCode } from "../errors.js";
import type { Operation } from "../wire/operations.js";
import { type Author, threadPrefixOf } from "../wire/scope.js";
import { HOLD_PROBE } from "./eviction.js";

/** An access to a memory, before it and after it. */
export interface AccessEvent {
  phase: "before" | "after";
  /** Milliseconds since 1970. */
  time: number;
  /** The scope, as `user/ada`; "" for the whole memory. */
  scope: string;
  operation: "recall" | "store" | "delete" | "clear" | "undo" | "forget";
  /** Of items, within the scope. */
  namespace?: string[] | undefined;
  /** Of checkpoints, within the scope. */
  threadId?: string | undefined;
  /** `actor` and `nodeId` of the options. */
  actor?: string | undefined;
  nodeId?: string | undefined;
  /** After it: when it began, in milliseconds since 1970. */
  began?: number | undefined;
  /** After it: whether it succeeded, and how many items or checkpoints it answered or changed. */
  success?: boolean | undefined;
  count?: number | undefined;
  /** After it, if it failed. */
  code?: KeepsakeErrorCode | undefined;
}

/** Whom to tell of accesses, and who has them. */
export interface AccessOptions {
  /**
   * Told before and after each access. What it throws before one, the call rejects with; so
   * nothing happens that it was not told of. What it throws after one is an uncaught error.
   */
  onAccess?: ((event: AccessEvent) => void) | undefined;
  /** Who has access, as events say it. */
  actor?: string | undefined;
  /** The node of the graph that has access, as events say it. Asked at each access. */
  nodeId?: (() => string | undefined) | undefined;
}

/** @internal */
export const ACCESS_OPTIONS: NamesOf<AccessOptions> = { onAccess: 1, actor: 1, nodeId: 1 };

/** Who asks, at each access. @internal */
export function authorOf({ actor, nodeId }: AccessOptions): (() => Author) | undefined {
  if (actor !== undefined) checkText("actor", actor);
  if (nodeId !== undefined && typeof nodeId !== "function")
    throw invalid(`nodeId must be a function: ${show(nodeId)}`);
  if (actor === undefined && nodeId === undefined) return undefined;
  return () => ({ actor, nodeId: nodeId?.() });
}

type Described = Pick<AccessEvent, "operation" | "namespace" | "threadId">;

/** Who hears of the calls, and who makes them. @internal */
export function toldBy(scope: string, options: AccessOptions): Told {
  return { hear: listenerOf(scope, options), author: authorOf(options) };
}

function listenerOf(scope: string, options: AccessOptions): AccessListener | undefined {
  const { onAccess, actor, nodeId } = options;
  if (onAccess === undefined) return undefined;
  if (typeof onAccess !== "function")
    throw invalid(`onAccess must be a function: ${show(onAccess)}`);
  const began = new WeakMap<Operation, number>();
  return (operation, phase, outcome, within = []) => {
    const described = describe(operation);
    if (described === undefined) return;
    const time = Date.now();
    const event = {
      phase,
      time,
      scope,
      ...placed(described, within),
      actor,
      nodeId: nodeId?.(),
    };
    if (phase === "before") began.set(operation, time);
    if (phase === "before") return onAccess(event);
    try {
      onAccess({ ...event, began: began.get(operation), ...told(outcome) });
    } catch (error) {
      // What was done is done: it is an error of the listener, not of the call.
      queueMicrotask(() => {
        throw error;
      });
    }
  };
}

// As it is called where the listener listens.
function placed(described: Described, within: readonly string[]): Described {
  const { operation, namespace, threadId } = described;
  return {
    operation,
    ...(namespace && { namespace: [...within, ...namespace] }),
    ...(threadId !== undefined && { threadId: threadPrefixOf(within) + threadId }),
  };
}

function told(outcome: { answer?: unknown; error?: unknown } | undefined): Partial<AccessEvent> {
  if (outcome?.error === undefined) return { success: true, count: countOf(outcome?.answer) };
  const { error } = outcome;
  return { success: false, code: error instanceof KeepsakeError ? error.code : "internal" };
}

function countOf(answer: unknown): number {
  if (typeof answer === "number") return answer;
  if (Array.isArray(answer)) return answer.length;
  if (answer === null) return 0;
  // Of a pruning, an erasure or an undo.
  const { checkpoints, items = 0, operation } = Object(answer) as Partial<Record<string, number>>;
  if (typeof operation === "number") return items;
  return typeof checkpoints === "number" ? checkpoints + items : 1;
}

// Undefined for what touches neither items nor threads of anybody.
function describe(operation: Operation): Described | undefined {
  switch (operation.kind) {
    case "get":
    case "listKeys":
    case "explainAbsence":
    case "history":
      return { operation: "recall", namespace: [...operation.namespace] };
    case "search":
      return { operation: "recall", namespace: [...operation.namespacePrefix] };
    case "getAsOf":
      return { operation: "recall", namespace: [...operation.get.namespace] };
    case "searchAsOf":
      return { operation: "recall", namespace: [...operation.search.namespacePrefix] };
    case "listNamespaces":
    case "listNamespacesAsOf":
    case "beginExport":
    case "readRows":
      return { operation: "recall", namespace: [] };
    case "importFrom":
    case "putRows":
      return { operation: "store", namespace: [] };
    case "undo":
      return { operation: "undo" };
    case "put":
      return {
        operation: operation.value === null ? "delete" : "store",
        namespace: [...operation.namespace],
      };
    case "clearNamespace":
      return { operation: "clear", namespace: [...operation.namespace] };
    case "putCheckpoint":
    case "putWrites":
      return { operation: "store", threadId: operation.key.threadId };
    case "getTuple":
    case "listWrites":
    case "deltaChannelHistory":
      return { operation: "recall", threadId: operation.key.threadId };
    case "listCheckpoints":
      return { operation: "recall", threadId: operation.threadId };
    case "listThreads":
      return { operation: "recall" };
    case "copyThread":
    case "renameThread":
    case "forkThread":
      return { operation: "store", threadId: operation.target };
    case "deleteThread":
      return { operation: "delete", threadId: operation.threadId };
    case "deleteForRuns":
    case "prune":
      return { operation: "delete" };
    case "forget":
      // It asks for holds, of what is not there.
      return operation.id === HOLD_PROBE ? undefined : { operation: "forget" };
    default:
      // A new operation is a case above, or a name below.
      operation.kind satisfies Unheard;
      return undefined;
  }
}

type Unheard =
  | "changeKey"
  | "checkPages"
  | "checkpointerStats"
  | "configureStore"
  | "dropHistory"
  | "embedPending"
  | "endExport"
  | "endRows"
  | "findErasure"
  | "finishImport"
  | "flush"
  | "foreignCheckpoints"
  | "foreignClose"
  | "foreignItems"
  | "foreignOpen"
  | "foreignWrites"
  | "historyRules"
  | "hold"
  | "importState"
  | "improveIndex"
  | "keepHistory"
  | "limitVectors"
  | "listHolds"
  | "readExport"
  | "readPending"
  | "release"
  | "salvage"
  | "size"
  | "storeStats"
  | "sweepExpired";
