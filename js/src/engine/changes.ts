// What a call changes, and who wants to hear of it.

import { type Changes, merge } from "../wire/changes.js";
import { type Operation, rowOf } from "../wire/operations.js";
import type { Levels } from "../wire/scope.js";

/** Called after the change is stored. */
export type ChangeListener = (changes: Changes) => void;

/** What these operations, which are at home in `levels`, change if they succeed; undefined for reads. @internal */
export function changesOf(operations: readonly Operation[], levels?: Levels): Changes | undefined {
  let changes: Changes | undefined;
  for (const operation of operations) {
    const change = rowOf(operation).changes?.(operation);
    if (change !== undefined) changes = merge(changes, change);
  }
  return changes && levels ? levels.outward(changes) : changes;
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
