// What is told of every access: who, where, what, with which outcome; never a value.

import { checkOptions, checkText, type NamesOf, show } from "../checks.js";
import type { AccessListener, Observers } from "../connection.js";
import { invalid, KeepsakeError, type KeepsakeErrorCode } from "../errors.js";
import type { Access } from "../wire/changes.js";
import { rowOf } from "../wire/operations.js";
import { type Author, threadPrefixOf } from "../wire/scope.js";

/** An access to a memory, before it and after it. */
export interface AccessEvent {
  phase: "before" | "after";
  /** Milliseconds since 1970. */
  time: number;
  /** The scope, as `user/ada`; "" for the whole memory. */
  scope: string;
  operation: Access["operation"];
  /** Of items, within the scope. */
  namespace?: string[] | undefined;
  /** Of checkpoints, within the scope. */
  threadId?: string | undefined;
  /** As the option `actor` says it. */
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
  /**
   * Who has access, as events, histories and the audit log say it: a name, or a function that is
   * asked at each access and may also name the node of the graph, `{ actor, nodeId }`.
   */
  actor?: string | (() => Author) | undefined;
}

export type { Author };

/** @internal */
export const ACCESS_OPTIONS: NamesOf<AccessOptions> = { onAccess: 1, actor: 1 };
const AUTHOR: NamesOf<Author> = { actor: 1, nodeId: 1 };

/** Who asks, at each access. @internal */
export function authorOf({ actor }: AccessOptions): (() => Author) | undefined {
  if (actor === undefined) return undefined;
  if (typeof actor !== "function") {
    const author = { actor: checkText("actor", actor) };
    return () => author;
  }
  return () => {
    const author = checkOptions("what actor answers", AUTHOR, actor());
    for (const name of ["actor", "nodeId"] as const) {
      if (author[name] !== undefined) checkText(`${name} of what actor answers`, author[name]);
    }
    return author;
  };
}

/** Who hears of the calls, and who makes them. @internal */
export function observersOf(scope: string, options: AccessOptions): Observers {
  const author = authorOf(options);
  return { hear: listenerOf(scope, options, author), author };
}

function listenerOf(
  scope: string,
  { onAccess }: AccessOptions,
  author: (() => Author) | undefined,
): AccessListener | undefined {
  if (onAccess === undefined) return undefined;
  if (typeof onAccess !== "function")
    throw invalid(`onAccess must be a function: ${show(onAccess)}`);
  return (operation, within) => {
    const access = rowOf(operation).access?.(operation);
    if (access === undefined) return undefined;
    const began = Date.now();
    const event: AccessEvent = {
      phase: "before",
      time: began,
      scope,
      ...placed(access, within),
      actor: undefined,
      nodeId: undefined,
      ...author?.(),
    };
    onAccess(event);
    return (outcome) => {
      try {
        onAccess({ ...event, phase: "after", time: Date.now(), began, ...told(outcome) });
      } catch (error) {
        // What was done is done: it is an error of the listener, not of the call.
        queueMicrotask(() => {
          throw error;
        });
      }
    };
  };
}

// As it is called where the listener listens.
function placed({ operation, namespace, threadId }: Access, within: readonly string[]) {
  return {
    operation,
    ...(namespace && { namespace: [...within, ...namespace] }),
    ...(threadId !== undefined && { threadId: threadPrefixOf(within) + threadId }),
  };
}

function told({ answer, error }: { answer?: unknown; error?: unknown }): Partial<AccessEvent> {
  if (error === undefined) return { success: true, count: countOf(answer) };
  return { success: false, code: error instanceof KeepsakeError ? error.code : "internal" };
}

function countOf(answer: unknown): number {
  if (typeof answer === "number") return answer;
  if (Array.isArray(answer)) return answer.length;
  if (answer === null) return 0;
  // Of a pruning, an erasure, an undo or an eviction.
  const {
    checkpoints,
    items = 0,
    operation,
    keys,
  } = Object(answer) as Partial<Record<string, number>>;
  if (operation !== undefined || keys !== undefined) return items;
  return typeof checkpoints === "number" ? checkpoints + items : 1;
}
