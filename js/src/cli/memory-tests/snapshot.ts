// What a memory holds, as texts.

import type { Memory } from "../../memory.js";

const ALL = 0xffff_ffff;

/** All texts of a value, its own members alone. */
export function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}

/** Ids of threads, as this checkpointer names them. */
export async function threadsOf(checkpointer: Memory["checkpointer"]): Promise<string[]> {
  const ids: string[] = [];
  for await (const { threadId } of checkpointer.listThreads({ limit: ALL })) ids.push(threadId);
  return ids;
}

/** Items and threads by their names, each with its texts. */
export async function snapshotOf({ store, checkpointer }: Memory): Promise<Map<string, string[]>> {
  const items = await store.search([], {
    limit: ALL,
    refreshTtl: false,
    includeQuarantined: true,
    validAt: "anytime",
  });
  const held = new Map(
    items.map(({ namespace, key, value }) => [
      `item ${JSON.stringify([namespace, key])}`,
      stringsIn(value),
    ]),
  );
  for (const thread_id of await threadsOf(checkpointer)) {
    const texts: string[] = [];
    for await (const { checkpoint } of checkpointer.list({ configurable: { thread_id } })) {
      texts.push(...stringsIn(checkpoint.channel_values));
    }
    held.set(`thread ${thread_id}`, [...new Set(texts)]);
  }
  return held;
}
