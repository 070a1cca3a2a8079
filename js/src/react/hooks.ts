// What user interfaces show of a memory, kept up to date.

import type { ThreadListOptions, ThreadSummary } from "../checkpointer/checkpointer.js";
import { checkList, checkOptions, checkWhole, type NamesOf } from "../checks.js";
import { nameError } from "../errors.js";
import type { SearchOptions } from "../store/store.js";
import type { SearchItem } from "../store/store-operations.js";
import type { Changes } from "../wire/changes.js";
import { type Answer, type FollowedMemory, useAnswer } from "./follow.js";

/** Which items `useMemories()` lists. */
export type MemoriesOptions = Pick<
  SearchOptions,
  "filter" | "limit" | "offset" | "validAt" | "includeQuarantined" | "refreshTtl"
>;

/** What `useMemorySearch()` looks for. */
export type MemorySearchOptions = SearchOptions;

/** Which threads `useThreads()` lists: 50 unless `limit` says otherwise. */
export type ThreadsOptions = ThreadListOptions;

const MEMORIES: NamesOf<MemoriesOptions> = {
  filter: 1,
  limit: 1,
  offset: 1,
  validAt: 1,
  includeQuarantined: 1,
  refreshTtl: 1,
};
const THREADS: NamesOf<ThreadsOptions> = { limit: 1, filter: 1, cursor: 1 };

/**
 * The items below a namespace, the newest first, 10 unless `limit` says otherwise. Follows
 * what anybody writes there. Looking does not restart an item's time to live, unless
 * `refreshTtl` is true.
 *
 *     const { data = [], error, loading } = useMemories(memory, ["users", "ada"], { limit: 20 });
 */
export function useMemories(
  memory: FollowedMemory | undefined,
  namespacePrefix: string[],
  options?: MemoriesOptions,
): Answer<SearchItem[]> {
  const given = checked("useMemories", () => checkOptions("", MEMORIES, options));
  return useItems("useMemories", memory, namespacePrefix, given);
}

/**
 * The hits of a search below a namespace, the best first. Searches again when something is
 * written there. An answer to an earlier query is dropped. Without a `query` or `near`,
 * nothing is found.
 *
 *     const { data = [] } = useMemorySearch(memory, ["users", "ada"], { query, explain: true });
 */
export function useMemorySearch(
  memory: FollowedMemory | undefined,
  namespacePrefix: string[],
  options: MemorySearchOptions,
): Answer<SearchItem[]> {
  return useItems("useMemorySearch", memory, namespacePrefix, options ?? {}, isEmpty);
}

/**
 * The threads, the last active first. Follows every checkpoint that is put or deleted. A
 * thread's `metadata` has what its last run was given: a `title`, for example.
 *
 *     const { data: threads = [] } = useThreads(memory, { limit: 20 });
 */
export function useThreads(
  memory: FollowedMemory | undefined,
  options?: ThreadsOptions,
): Answer<ThreadSummary[]> {
  const asked = checked("useThreads", () => {
    const { limit = 50, filter, cursor } = checkOptions("", THREADS, options);
    return { limit: checkWhole("limit", limit, 0), filter, cursor };
  });
  const { threadId, checkpointId } = asked.cursor ?? {};
  return useAnswer("useThreads", memory, {
    key: jsonKey([asked.limit, asked.filter, threadId, checkpointId]),
    ask: async ({ checkpointer }) => {
      const threads: ThreadSummary[] = [];
      for await (const thread of checkpointer.listThreads(asked)) threads.push(thread);
      return threads;
    },
    concerns: ({ everything, threads }) => everything || threads.length > 0,
  });
}

function useItems(
  hook: string,
  memory: FollowedMemory | undefined,
  namespacePrefix: string[],
  options: SearchOptions,
  findsNothing: (options: SearchOptions) => boolean = () => false,
): Answer<SearchItem[]> {
  const prefix = checked(hook, () => checkList("namespacePrefix", namespacePrefix));
  return useAnswer(hook, memory, {
    key: jsonKey([prefix, options]),
    ask: async ({ store }) =>
      findsNothing(options) ? [] : store.search(prefix, { refreshTtl: false, ...options }),
    concerns: (changes) => isBelow(changes, prefix),
  });
}

const isEmpty = ({ query, near }: SearchOptions) => !query?.trim() && near === undefined;

function isBelow({ everything, namespaces }: Changes, prefix: readonly string[]): boolean {
  const has = (namespace: string[]) => prefix.every((label, i) => label === namespace[i]);
  return everything || namespaces.some(has);
}

// Objects that say the same are the same question, though a component makes them anew.
function jsonKey(asked: unknown): string {
  return JSON.stringify(asked, (_, value) =>
    ArrayBuffer.isView(value) ? Array.from(value as Float32Array) : value,
  );
}

function checked<T>(hook: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw nameError(hook, error);
  }
}
