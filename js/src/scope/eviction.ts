// Deletes what is needed least: by age, use and size, but nothing pinned or held. The core says what
// there is and deletes what did not change since; what goes is chosen here, by all items at once.

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
import { invalid, tell, throwIfEnded } from "../errors.js";
import type { StepOptions } from "../store/store.js";
import { checkNamespace, minutesToMs } from "../store/store-operations.js";
import type { JudgedItem } from "../wire/layout.js";
import type { Operation } from "../wire/operations.js";

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

type Chosen = JudgedItem & Pick<EvictedItem, "reason">;

// Items of one call.
const JUDGED = 1000;
const EVICTED = 200;

const byAge = (a: JudgedItem, b: JudgedItem) => a.updatedAt - b.updatedAt;
const ORDERS: Record<EvictionOrder, (a: JudgedItem, b: JudgedItem) => number> = {
  age: byAge,
  use: (a, b) => a.uses - b.uses || a.importance - b.importance || byAge(a, b),
  size: (a, b) => b.bytes - a.bytes || byAge(a, b),
};

/** @internal */
export async function evict(
  connection: Connection,
  given: EvictOptions | undefined,
  clock: () => number = Date.now,
): Promise<EvictionReport> {
  const options = checkSteps(checkOptions("evict", EVICT, given));
  const dryRun = checkFlag("dryRun", options.dryRun) ?? false;
  const rules = rulesOf(options);
  const prefixes = outermost(prefixesOf(connection, options));
  const portions = new Portions(connection, options, clock);
  let items: JudgedItem[] = [];
  for (const prefix of prefixes) items = items.concat(await portions.judge(prefix));
  const loose = items.filter(({ isPinned, isHeld }) => !isPinned && !isHeld);
  const time = clock();
  const chosen = chosenOf(loose, items, rules, time);
  const evicted = dryRun ? chosen : await portions.remove(chosen);
  const pinned = items.filter(({ isPinned }) => isPinned).length;
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
    kept: {
      items: items.length - evicted.length,
      bytes: bytesOf(items) - bytesOf(evicted),
      pinned,
      held: items.length - loose.length - pinned,
      changed: chosen.length - evicted.length,
    },
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
  loose: readonly JudgedItem[],
  all: readonly JudgedItem[],
  { maxAge, maxItems, maxBytes, by }: Rules,
  now: number,
): Chosen[] {
  const chosen: Chosen[] = [];
  const rest: JudgedItem[] = [];
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

/** The calls of an eviction, between which others get their turn. */
class Portions {
  readonly #connection: Connection;
  readonly #steps: StepOptions;
  readonly #clock: () => number;

  constructor(connection: Connection, steps: StepOptions, clock: () => number) {
    this.#connection = connection;
    this.#steps = steps;
    this.#clock = clock;
  }

  async judge(namespacePrefix: readonly string[]): Promise<JudgedItem[]> {
    const judged: JudgedItem[] = [];
    for (;;) {
      const after = judged.at(-1);
      const [page] = await this.#call([
        { kind: "judgeItems", namespacePrefix, after, limit: JUDGED },
      ]);
      if (page.length === 0) return judged;
      judged.push(...page);
    }
  }

  /** Answers those that went: what changed meanwhile, or is held by now, stays. */
  async remove(chosen: readonly Chosen[]): Promise<Chosen[]> {
    const removed: Chosen[] = [];
    for (let begin = 0; begin < chosen.length; begin += EVICTED) {
      const groups = byNamespace(chosen.slice(begin, begin + EVICTED));
      const answers = await this.#call(
        groups.map((items) => ({
          kind: "evictItems" as const,
          namespace: (items[0] as Chosen).namespace,
          items,
        })),
      );
      for (const [i, items] of groups.entries()) {
        const gone = new Set(answers[i]?.keys);
        removed.push(...items.filter(({ key }) => gone.has(key)));
      }
      const left = Math.max(chosen.length - begin - EVICTED, 0);
      tell(this.#steps.onProgress, { done: removed.length, left });
    }
    return removed;
  }

  async #call<const Operations extends readonly Operation[]>(operations: Operations) {
    await new Promise((resolve) => setTimeout(resolve));
    throwIfEnded(this.#steps.signal);
    return this.#connection.call(operations, this.#clock());
  }
}

/** Without those that lie within others. */
function outermost(prefixes: readonly string[][]): string[][] {
  const isWithin = (one: string[], other: string[]) =>
    other.length < one.length && other.every((label, i) => label === one[i]);
  const distinct = [...new Map(prefixes.map((one) => [nameOf(one), one])).values()];
  return distinct.filter((one) => !distinct.some((other) => isWithin(one, other)));
}

function byNamespace<Named extends { namespace: readonly string[] }>(items: Named[]): Named[][] {
  const groups = new Map<string, Named[]>();
  for (const item of items) {
    const name = nameOf(item.namespace);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

function nameOf(namespace: readonly string[]): string {
  return JSON.stringify(namespace);
}

function bytesOf(items: readonly { bytes: number }[]): number {
  return items.reduce((sum, { bytes }) => sum + bytes, 0);
}
