// Deletes what is needed least: by age, use and size, but nothing pinned or held.

import { fnv1a } from "../bytes.js";
import {
  checkChoice,
  checkEach,
  checkFlag,
  checkOptions,
  checkSteps,
  checkWhole,
  type NamesOf,
} from "../checks.js";
import type { Connection } from "../connection.js";
import { invalid, KeepsakeError, tell, throwIfEnded } from "../errors.js";
import type { KeepsakeStore, StepOptions } from "../store/store.js";
import { checkNamespace, minutesToMs, storedValue } from "../store/store-operations.js";
import type { Item, ItemRef } from "../wire/layout.js";

/** What goes first where there is too much. */
export type EvictionOrder = "age" | "use" | "size";

/** Which items go. Of a rule that is not given nothing goes; `signal` ends it between portions. */
export interface EvictOptions extends StepOptions {
  /** Prefixes of namespaces; `[[]]` is all of them. @default everything in a scope */
  namespaces?: string[][] | undefined;
  /** Minutes; what was not put for longer goes. */
  maxAge?: number | undefined;
  /** So many items stay below all of these namespaces together. */
  maxItems?: number | undefined;
  /** So many bytes of keys and values stay, as JSON in UTF-8. */
  maxBytes?: number | undefined;
  /**
   * What goes first by `maxItems` and `maxBytes`. `age`: what was put longest ago. `use`: what
   * has the smallest number in `uses`, then in `importance`, as episodes have them; then the
   * oldest. `size`: the largest. @default "age"
   */
  by?: EvictionOrder | undefined;
  /** Only says what would go. @default false */
  dryRun?: boolean | undefined;
}

const EVICT: NamesOf<EvictOptions> = {
  namespaces: 1,
  maxAge: 1,
  maxItems: 1,
  maxBytes: 1,
  by: 1,
  dryRun: 1,
  signal: 1,
  onProgress: 1,
};

/** An item that goes, and the rule by which. */
export interface EvictedItem {
  namespace: string[];
  key: string;
  /** Of key and value. */
  bytes: number;
  /** ISO 8601. */
  updatedAt: string;
  reason: "maxAge" | "maxItems" | "maxBytes";
}

/** What went, or would go. Plain JSON. */
export interface EvictionReport {
  /** ISO 8601. */
  time: string;
  dryRun: boolean;
  /** In the order in which they go. */
  evicted: EvictedItem[];
  /** Of all that is in `evicted`. */
  bytes: number;
  /**
   * What stays. Some of it whatever the rules say: `pinned` items (`pinned: true` in the value),
   * those `held`, and those that were `changed` after they had been judged.
   */
  kept: { items: number; bytes: number; pinned: number; held: number; changed: number };
}

interface Rules {
  maxAge: number | undefined;
  maxItems: number;
  maxBytes: number;
  by: EvictionOrder;
}

/** What is known of an item, without its value. */
interface Judged extends ItemRef {
  bytes: number;
  updatedAt: number;
  /** Of the value. */
  hash: number;
  isPinned: boolean;
  uses: number;
  importance: number;
}

type Chosen = Judged & Pick<EvictedItem, "reason">;

// Items of one call.
const PORTION = 200;
const NAMESPACES = 1000;
// Namespaces of which one call lists all keys.
const LISTS = 50;
// Nobody keeps anything there: a hold on it would be one on what it is in.
const PROBE = "what-is-held";
/** The id of that question. @internal */
export const HOLD_PROBE = "evict";

const byAge = (a: Judged, b: Judged) => a.updatedAt - b.updatedAt;
const ORDERS: Record<EvictionOrder, (a: Judged, b: Judged) => number> = {
  age: byAge,
  use: (a, b) => a.uses - b.uses || a.importance - b.importance || byAge(a, b),
  size: (a, b) => b.bytes - a.bytes || byAge(a, b),
};

/** @internal */
export async function evict(
  connection: Connection,
  given: EvictOptions | undefined,
  { putImported }: KeepsakeStore,
  clock: () => number = Date.now,
): Promise<EvictionReport> {
  const options = checkSteps(checkOptions("evict", EVICT, given));
  const dryRun = checkFlag("dryRun", options.dryRun) ?? false;
  const rules = rulesOf(options);
  const prefixes = prefixesOf(connection, options);
  const run = new Eviction(connection, options, putImported, clock);
  const namespaces = await run.namespacesBelow(prefixes);
  const isHeld = await run.heldAmong(namespaces);
  const items = await run.judge(namespaces);
  const kept = { items: 0, bytes: 0, pinned: 0, held: 0, changed: 0 };
  const loose: Judged[] = [];
  for (const item of items) {
    if (item.isPinned) kept.pinned++;
    else if (isHeld.has(nameOf(item.namespace))) kept.held++;
    else loose.push(item);
  }
  const time = clock();
  const chosen = chosenOf(loose, items, rules, time);
  const evicted = dryRun ? chosen : await run.remove(chosen);
  kept.changed = chosen.length - evicted.length;
  kept.items = items.length - evicted.length;
  kept.bytes = bytesOf(items) - bytesOf(evicted);
  return {
    time: new Date(time).toISOString(),
    dryRun,
    evicted: evicted.map(({ namespace, key, bytes, updatedAt, reason }) => ({
      namespace: [...namespace],
      key,
      bytes,
      updatedAt: new Date(updatedAt).toISOString(),
      reason,
    })),
    bytes: bytesOf(evicted),
    kept,
  };
}

function rulesOf({ maxAge, maxItems, maxBytes, by = "age" }: EvictOptions): Rules {
  if (maxAge === undefined && maxItems === undefined && maxBytes === undefined) {
    throw invalid("evict needs a rule: maxAge, maxItems or maxBytes, such as { maxItems: 1000 }");
  }
  const most = (name: string, value: number | undefined) =>
    value === undefined ? Number.POSITIVE_INFINITY : checkWhole(name, value, 0);
  return {
    maxAge: maxAge === undefined ? undefined : minutesToMs("maxAge", maxAge),
    maxItems: most("maxItems", maxItems),
    maxBytes: most("maxBytes", maxBytes),
    by: checkChoice("by", ORDERS, by),
  };
}

function prefixesOf({ levels }: Connection, { namespaces }: EvictOptions): string[][] {
  if (namespaces !== undefined) return checkEach("namespaces", namespaces, checkNamespace);
  if ((levels?.place ?? []).length > 0) return [[]];
  throw invalid(
    'evict of a whole memory takes namespaces: { namespaces: [["user", "ada"]] }, or [[]] for all',
  );
}

function chosenOf(
  loose: readonly Judged[],
  all: readonly Judged[],
  { maxAge, maxItems, maxBytes, by }: Rules,
  now: number,
): Chosen[] {
  const chosen: Chosen[] = [];
  const rest: Judged[] = [];
  for (const item of [...loose].sort(byAge)) {
    if (maxAge !== undefined && now - item.updatedAt > maxAge) {
      chosen.push({ ...item, reason: "maxAge" });
    } else rest.push(item);
  }
  let items = all.length - chosen.length;
  let bytes = bytesOf(all) - bytesOf(chosen);
  for (const item of rest.sort(ORDERS[by])) {
    if (items <= maxItems && bytes <= maxBytes) break;
    chosen.push({ ...item, reason: items > maxItems ? "maxItems" : "maxBytes" });
    items--;
    bytes -= item.bytes;
  }
  return chosen;
}

/** Its calls, each of a portion: others get their turn between them. */
class Eviction {
  readonly #connection: Connection;
  readonly #steps: StepOptions;
  readonly #restore: KeepsakeStore["putImported"];
  readonly #clock: () => number;

  constructor(
    connection: Connection,
    steps: StepOptions,
    restore: KeepsakeStore["putImported"],
    clock: () => number,
  ) {
    this.#connection = connection;
    this.#steps = steps;
    this.#restore = restore;
    this.#clock = clock;
  }

  async namespacesBelow(prefixes: readonly string[][]): Promise<string[][]> {
    const found = new Map<string, string[]>();
    for (const prefix of prefixes) {
      for (let offset = 0; ; offset += NAMESPACES) {
        await this.#turn();
        const [page] = await this.#connection.call([
          {
            kind: "listNamespaces",
            matchConditions: prefix.length === 0 ? [] : [{ matchType: "prefix", path: prefix }],
            limit: NAMESPACES,
            offset,
          },
        ]);
        // A label "*" would match any.
        const below = page.filter((one) => prefix.every((label, i) => one[i] === label));
        for (const one of below) found.set(nameOf(one), one);
        if (page.length < NAMESPACES) break;
      }
    }
    return [...found.values()];
  }

  /**
   * Those of the namespaces that a hold protects, by name. A scope can't list holds: it asks
   * whether something could be forgotten.
   */
  async heldAmong(namespaces: readonly (readonly string[])[]): Promise<Set<string>> {
    const held = new Set<string>();
    const names = await this.#holds();
    if (names !== undefined) {
      for (const one of namespaces) if (isBelow(one, names)) held.add(nameOf(one));
      return held;
    }
    for (const portion of portionsOf(namespaces)) {
      await this.#turn();
      for (const one of await this.#heldIn(portion)) held.add(nameOf(one));
    }
    return held;
  }

  /** By name; undefined in a scope, also in one that a Durable Object puts its caller into. */
  async #holds(): Promise<Set<string> | undefined> {
    if (this.#connection.levels !== undefined) return undefined;
    try {
      const [holds] = await this.#connection.call([{ kind: "listHolds" }]);
      return new Set(holds.map(({ namespace }) => nameOf(namespace)));
    } catch (error) {
      if (error instanceof KeepsakeError && error.code === "access_denied") return undefined;
      throw error;
    }
  }

  async #heldIn(
    namespaces: readonly (readonly string[])[],
  ): Promise<readonly (readonly string[])[]> {
    if (await this.#canForget(namespaces)) return [];
    if (namespaces.length === 1) return namespaces;
    const half = Math.ceil(namespaces.length / 2);
    return [
      ...(await this.#heldIn(namespaces.slice(0, half))),
      ...(await this.#heldIn(namespaces.slice(half))),
    ];
  }

  async #canForget(namespaces: readonly (readonly string[])[]): Promise<boolean> {
    try {
      await this.#probe(namespaces.map((one) => [...one, PROBE]));
      return true;
    } catch (error) {
      if (error instanceof KeepsakeError && error.code === "held") return false;
      // A policy refuses these, too, and names what the caller knows.
      if (error instanceof KeepsakeError && error.code === "access_denied") {
        await this.#probe(namespaces);
      }
      throw error;
    }
  }

  async #probe(namespaces: readonly (readonly string[])[]): Promise<void> {
    await this.#connection.call([
      {
        kind: "forget",
        id: HOLD_PROBE,
        digest: "",
        namespaces,
        filter: "",
        threads: [],
        threadPrefix: undefined,
        dryRun: true,
      },
    ]);
  }

  async judge(namespaces: readonly string[][]): Promise<Judged[]> {
    const judged: Judged[] = [];
    for (const some of portionsOf(namespaces, LISTS)) {
      await this.#turn();
      const lists = some.map((namespace) => ({ kind: "listKeys", namespace }) as const);
      const keys = await this.#connection.call(lists, this.#clock());
      const items = some.flatMap((namespace, i) =>
        (keys[i] as string[]).map((key) => ({ namespace, key })),
      );
      for (const portion of portionsOf(items)) {
        await this.#turn();
        const read = await this.#connection.call(portion.map(readOf), this.#clock());
        for (const item of read) if (item !== null) judged.push(judgementOf(item));
      }
    }
    return judged;
  }

  /** Those that were still as they had been judged, and are gone now. */
  async remove(chosen: readonly Chosen[]): Promise<Chosen[]> {
    const removed: Chosen[] = [];
    let left = chosen.length;
    for (const portion of portionsOf(chosen)) {
      await this.#turn();
      const distinct = new Map(portion.map(({ namespace }) => [nameOf(namespace), namespace]));
      const isHeld = await this.heldAmong([...distinct.values()]);
      const free = portion.filter(({ namespace }) => !isHeld.has(nameOf(namespace)));
      removed.push(...(await this.#removeUnchanged(free)));
      left -= portion.length;
      tell(this.#steps.onProgress, { done: removed.length, left });
    }
    return removed;
  }

  // Read again, since judging may have taken long. What the deletion itself then sees is put back
  // if it is something newer: engines of other threads may be asked in between.
  async #removeUnchanged(portion: readonly Chosen[]): Promise<Chosen[]> {
    const items = await this.#connection.call(portion.map(readOf), this.#clock());
    const same = portion.filter((item, i) => isAsJudged(item, items[i]));
    if (same.length === 0) return [];
    const operations = [...same.map(readOf), ...same.map(deletionOf)];
    const answers = await this.#connection.call(operations, this.#clock());
    const deleted = answers.slice(0, same.length) as (Item | null)[];
    for (const [i, item] of same.entries()) {
      if (!isAsJudged(item, deleted[i])) await this.#putBack(deleted[i]);
    }
    return same.filter((item, i) => isAsJudged(item, deleted[i]));
  }

  async #putBack(item: Item | null | undefined): Promise<void> {
    if (!item) return;
    const [newer] = await this.#connection.call([readOf(item)], this.#clock());
    if (newer !== null) return;
    const { createdAt, updatedAt, ...kept } = item;
    await this.#restore({ kind: "put", ...kept }, createdAt, updatedAt);
  }

  async #turn(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve));
    throwIfEnded(this.#steps.signal);
  }
}

function readOf({ namespace, key }: ItemRef) {
  return { kind: "get", namespace, key, refreshTtl: false } as const;
}

function deletionOf({ namespace, key }: ItemRef) {
  return { kind: "put", namespace, key, value: null } as const;
}

function isAsJudged(judged: Judged, item: Item | null | undefined): boolean {
  if (!item || item.updatedAt !== judged.updatedAt) return false;
  return fnv1a(encoder.encode(item.value)) === judged.hash;
}

function judgementOf(item: Item): Judged {
  const { namespace, key, updatedAt } = item;
  const value = encoder.encode(item.value);
  const { pinned, uses, importance } = Object(storedValue(item)) as Record<string, unknown>;
  return {
    namespace,
    key,
    updatedAt,
    bytes: encoder.encode(key).length + value.length,
    hash: fnv1a(value),
    isPinned: pinned === true,
    uses: numberOf(uses),
    importance: numberOf(importance),
  };
}

const encoder = new TextEncoder();

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function nameOf(namespace: readonly string[]): string {
  return JSON.stringify(namespace);
}

function isBelow(namespace: readonly string[], names: ReadonlySet<string>): boolean {
  if (names.size === 0) return false;
  return [...namespace, ""].some((_, depth) => names.has(nameOf(namespace.slice(0, depth))));
}

function bytesOf(items: readonly { bytes: number }[]): number {
  return items.reduce((sum, { bytes }) => sum + bytes, 0);
}

function* portionsOf<T>(list: readonly T[], size = PORTION): Generator<T[]> {
  for (let i = 0; i < list.length; i += size) yield list.slice(i, i + size);
}
