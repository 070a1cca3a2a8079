// Filters that may mean something else than they say, which only the items can tell: a
// field with a dot in its name, where a field within another is meant, and a Date, where
// items have numbers. What they say is asked for, and what they may mean: if only the latter
// is there, the search would answer wrongly without a word.

import { KeepsakeError } from "../errors.js";
import type { Operation, SearchOperation } from "./store-operations.js";

type Filter = Record<string, unknown>;

const SOME_TEXT = { $gte: "" };
const SOME_NUMBER = { $gte: -Number.MAX_VALUE };
const ANYTHING = [SOME_TEXT, SOME_NUMBER, { $in: [true, false] }];

/** @internal */
export interface Doubt {
  /** Those before `meant` find something if the filter means what it says, the others if not. */
  probes: SearchOperation[];
  meant: number;
  rule: string;
}

/** @internal */
export function doubtsOf(operations: readonly Operation[]): Doubt[] {
  const doubts: Doubt[] = [];
  for (const operation of operations) {
    if (!("namespacePrefix" in operation) || !isRecord(operation.filter)) continue;
    collect(operation.namespacePrefix, operation.filter, [], doubts);
  }
  return doubts;
}

/** Throws if a filter means the other, by what its probes found. @internal */
export function settle(doubts: readonly Doubt[], found: readonly unknown[]): void {
  let next = 0;
  for (const { probes, meant, rule } of doubts) {
    const has = found.slice(next, next + probes.length).map((items) => isSome(items));
    if (has.indexOf(true) >= meant) throw new KeepsakeError("invalid_filter", rule);
    next += probes.length;
  }
}

function isSome(items: unknown): boolean {
  return (items as unknown[]).length > 0;
}

function collect(namespacePrefix: string[], fields: Filter, path: string[], doubts: Doubt[]): void {
  const doubt = (said: Filter[], meant: Filter[], rule: string) => {
    const probe = (filter: Filter): SearchOperation => ({
      namespacePrefix,
      filter: within(path, filter),
      limit: 1,
      refreshTtl: false,
    });
    doubts.push({ probes: [...said, ...meant].map(probe), meant: said.length, rule });
  };
  for (const [field, condition] of Object.entries(fields)) {
    const name = [...path, field].join(" → ");
    const labels = field.split(".");
    if (labels.length > 1 && !labels.includes("")) {
      const any = [affirmed(condition), ...ANYTHING];
      doubt(
        any.map((wanted) => ({ [field]: wanted })),
        any.map((wanted) => within(labels, wanted)),
        `filter "${name}": no item has a field with dots in its name, but some have nested fields: give ${nestedText(labels)}`,
      );
    }
    if (operandsOf(condition).some((operand) => operand instanceof Date)) {
      doubt(
        [{ [field]: SOME_TEXT }],
        [{ [field]: SOME_NUMBER }],
        `filter "${name}": a Date is compared as its ISO string, and items have numbers: give one, as date.getTime()`,
      );
    } else if (isRecord(condition) && !isOperators(condition)) {
      collect(namespacePrefix, condition, [...path, field], doubts);
    }
  }
}

function within(path: readonly string[], condition: unknown): Filter {
  return path.reduceRight((inner, field) => ({ [field]: inner }), condition) as Filter;
}

function nestedText(labels: readonly string[]): string {
  return labels.reduceRight((inner, label) => `{ ${JSON.stringify(label)}: ${inner} }`, "…");
}

// A negation matches whatever lacks the field.
function affirmed(condition: unknown): unknown {
  if (!isRecord(condition)) return condition;
  const renamed = Object.entries(condition).map(([name, operand]) => [
    name === "$ne" ? "$eq" : name === "$nin" ? "$in" : name,
    operand,
  ]);
  return Object.fromEntries(renamed);
}

function operandsOf(condition: unknown): unknown[] {
  if (!isRecord(condition)) return [condition];
  return isOperators(condition) ? Object.values(condition).flat() : [];
}

function isOperators(condition: Filter): boolean {
  return Object.keys(condition).some((name) => name.startsWith("$"));
}

function isRecord(value: unknown): value is Filter {
  const isObject = typeof value === "object" && value !== null;
  return isObject && !Array.isArray(value) && !(value instanceof Date);
}
