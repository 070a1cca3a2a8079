// What the files of cases share.

import type { Operation } from "@langchain/langgraph-checkpoint";
import { expectTrue } from "./check.js";
import { ColourEmbeddings, ManualClock } from "./fakes.js";
import type {
  MakeStore,
  ReopenStore,
  StoreCase,
  StoreCaseOptions,
  StoreNeed,
  StoreUnderTest,
} from "./types.js";

/** What a case may use beside its store, which is empty and made for what the case needs. */
interface Bench {
  /** What the store was made with. */
  options: StoreCaseOptions;
  /** The store's, where times come from `now`. */
  clock: ManualClock;
  /** The store's, where it has an index. */
  embeddings: ColourEmbeddings;
  make: MakeStore;
  reopen: ReopenStore;
}

type Run = (store: StoreUnderTest, bench: Bench) => Promise<void>;

interface CaseOptions extends Pick<StoreCaseOptions, "ttl"> {
  /** What is embedded: by default the field "text", and the whole value if null. */
  fields?: string[] | null;
}

/** Cases by their sentence, whose stores all need the same. */
export function cases(
  needs: readonly StoreNeed[],
  runs: Record<string, Run>,
  { fields = ["text"], ttl }: CaseOptions = {},
): StoreCase[] {
  return Object.entries(runs).map(([name, run]) => ({
    name,
    needs,
    async run(make, reopen) {
      expectTrue(
        reopen !== undefined || !needs.includes("persistence"),
        "a case that needs persistence is given `reopen`",
      );
      const clock = new ManualClock();
      const embeddings = new ColourEmbeddings();
      const options: StoreCaseOptions = {
        ...(needs.some((need) => need === "clock" || need === "ttl") && { now: clock.now }),
        ...(needs.includes("index") && { index: embeddings.index(fields ?? undefined) }),
        ...(ttl && { ttl }),
      };
      const bench = { options, clock, embeddings, make, reopen: reopen as ReopenStore };
      await run(await make(options), bench);
    },
  }));
}

/** The same case for each row, whose sentence is made from it. */
export function table<Row>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  run: (row: Row, store: StoreUnderTest, bench: Bench) => Promise<void>,
): Record<string, Run> {
  return Object.fromEntries(
    rows.map((row): [string, Run] => [nameOf(row), (store, bench) => run(row, store, bench)]),
  );
}

/** Where most items are. */
export const N = ["n"];

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

/** Puts an item into each of them. */
export async function fill(store: StoreUnderTest, namespaces: readonly string[][]): Promise<void> {
  for (const namespace of namespaces) await store.put(namespace, "k", { namespace });
}

export async function valueAt(store: StoreUnderTest, key: string, namespace = N): Promise<unknown> {
  return (await store.get(namespace, key))?.value;
}

export function keysOf(items: readonly { key: string }[]): string[] {
  return items.map((item) => item.key);
}

export function sortedKeysOf(items: readonly { key: string }[]): string[] {
  return keysOf(items).sort();
}

export function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `k${String(i).padStart(4, "0")}`);
}
