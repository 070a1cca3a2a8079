// A store as it was at some time: for reading.

import { BaseStore, type OperationResults } from "@langchain/langgraph-checkpoint";
import { checkOptions, type NamesOf } from "../checks.js";
import { nameError } from "../errors.js";
import type { Change } from "../wire/layout.js";
import {
  type Item,
  type ListNamespacesOperation,
  type Operation,
  type SearchItem,
  type SearchOperation,
  searchOf,
} from "./store-operations.js";

/** An item, from one operation to the next. */
export interface ItemVersion {
  /** For `undo()`; undefined of what was there before the history begins. A batch is one operation. */
  operation?: number | undefined;
  /** What made it: `put`, `delete`, `supersede`, `expire`, `undo`, or `earlier`. */
  change: Change;
  /** When it began. */
  time: Date;
  /** Who made it: `actor` of the memory or its scope. */
  actor?: string | undefined;
  /** Null if it was deleted. */
  value: Item["value"] | null;
  /** The same with its times and namespace; null if it was deleted. */
  item: Item | null;
}

/** How much of a history is told. */
export interface HistoryOptions {
  /** The newest versions. @default all that are kept */
  limit?: number | undefined;
}

/** How an operation is undone. */
export interface UndoOptions {
  /** Also if something newer changed one of its items. @default false */
  force?: boolean | undefined;
}

/** @internal */
export const HISTORY_OPTIONS: NamesOf<HistoryOptions> = { limit: 1 };
/** @internal */
export const UNDO_OPTIONS: NamesOf<UndoOptions> = { force: 1 };

/** Which namespaces `listNamespaces()` returns. */
export interface ListNamespacesOptions {
  prefix?: string[];
  suffix?: string[];
  maxDepth?: number;
  limit?: number;
  offset?: number;
}

const LIST_OPTIONS: NamesOf<ListNamespacesOptions> = {
  prefix: 1,
  suffix: 1,
  maxDepth: 1,
  limit: 1,
  offset: 1,
};

/** @internal */
export function listOperation(options: ListNamespacesOptions | undefined): ListNamespacesOperation {
  const given = checkOptions("listNamespaces", LIST_OPTIONS, options);
  const { prefix, suffix, maxDepth, limit = 100, offset = 0 } = given;
  const matchConditions = [
    ...(prefix ? [{ matchType: "prefix" as const, path: prefix }] : []),
    ...(suffix ? [{ matchType: "suffix" as const, path: suffix }] : []),
  ];
  return { matchConditions, limit, offset, ...(maxDepth !== undefined && { maxDepth }) };
}

/**
 * The items of a store as they were at a time: `asOf()` makes one, and it needs no closing.
 * Give it to a graph that is replayed. A write rejects with `read_only`, and what is not known
 * of that time with `no_history`. A search reads all items below its prefix.
 */
export class PastStore extends BaseStore {
  readonly #answer: (operations: readonly Operation[]) => Promise<unknown[]>;

  /** @internal */
  constructor(answer: (operations: readonly Operation[]) => Promise<unknown[]>) {
    super();
    this.#answer = answer;
  }

  /** All of it as of that time. */
  override async batch<Op extends readonly Operation[]>(
    operations: Op,
  ): Promise<OperationResults<Op>> {
    try {
      return (await this.#answer(operations)) as OperationResults<Op>;
    } catch (error) {
      throw nameError("asOf()", error);
    }
  }

  override async get(namespace: string[], key: string): Promise<Item | null> {
    const [item] = await this.batch([{ namespace, key }]);
    return item as Item | null;
  }

  override async search(
    namespacePrefix: string[],
    options: Omit<SearchOperation, "namespacePrefix"> = {},
  ): Promise<SearchItem[]> {
    try {
      const [items] = await this.#answer([searchOf(namespacePrefix, options)]);
      return items as SearchItem[];
    } catch (error) {
      throw nameError("asOf()", error);
    }
  }

  override async listNamespaces(options?: ListNamespacesOptions): Promise<string[][]> {
    try {
      const [namespaces] = await this.#answer([listOperation(options)]);
      return namespaces as string[][];
    } catch (error) {
      throw nameError("asOf()", error);
    }
  }

  /** Rejects with `read_only`. */
  override async put(namespace: string[], key: string, value: object | null): Promise<void> {
    await this.batch([{ namespace, key, value }] as never);
  }

  /** Rejects with `read_only`. */
  override async delete(namespace: string[], key: string): Promise<void> {
    await this.put(namespace, key, null);
  }

  toJSON(): string {
    return "[PastStore]";
  }
}
