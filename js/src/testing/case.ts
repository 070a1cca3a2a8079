// What the files of cases share.

import type { Operation, SearchItem } from "@langchain/langgraph-checkpoint";
import { expectTrue } from "./check.js";
import type { MakeStore, ReopenStore, StoreCase, StoreNeed, StoreUnderTest } from "./types.js";

type Run = (make: MakeStore, reopen: ReopenStore) => Promise<void>;

interface CaseOptions {
  cap?: number;
  needs?: readonly StoreNeed[];
}

export function storeCase(name: string, options: CaseOptions, run: Run): StoreCase {
  const { cap, needs = [] } = options;
  return {
    name,
    ...(cap === undefined ? {} : { cap }),
    needs,
    async run(make, reopen) {
      if (needs.includes("persistence")) {
        expectTrue(reopen !== undefined, "a case that needs persistence is given `reopen`");
      }
      await run(make, reopen as ReopenStore);
    },
  };
}

/** Operations as a caller without types may write them. */
export function operations(...list: unknown[]): Operation[] {
  return list as Operation[];
}

/** Puts all of them in one batch: they are of the same moment. */
export async function putAll(
  store: StoreUnderTest,
  namespace: string[],
  items: Record<string, Record<string, unknown>>,
): Promise<void> {
  await store.batch(Object.entries(items).map(([key, value]) => ({ namespace, key, value })));
}

export function keysOf(items: readonly { key: string }[]): string[] {
  return items.map((item) => item.key);
}

export function sortedKeysOf(items: readonly { key: string }[]): string[] {
  return keysOf(items).sort();
}

export function scoresOf(items: readonly SearchItem[]): Record<string, number | undefined> {
  return Object.fromEntries(items.map((item) => [item.key, item.score]));
}

export function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `k${String(i).padStart(4, "0")}`);
}
