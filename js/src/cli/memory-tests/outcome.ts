// What came of a test.

import type { SearchItem } from "../../store/store-operations.js";
import { brief, partsOf, pathOf } from "../output.js";
import type { MemoryTest } from "./expectations.js";

/** What a test expected and did not get. */
export interface Problem {
  expected: string;
  /** What came in its place, a line each. */
  came: string[];
  /** Why, as far as it can be told. */
  why: string[];
}

/** What the hits of a test are worth among the first k of the command. */
export interface Worth {
  recall: number;
  mrr: number;
}

/** @internal */
export interface Outcome {
  file: string;
  /** That of the file, for people. */
  group: string;
  name: string;
  kind: MemoryTest["kind"];
  passed: boolean;
  ms: number;
  problems: Problem[];
  /** Of tests of what is found. */
  worth?: Worth;
}

const VALUE = 60;
const MOST_LINES = 10;

/** Hits for people, with what their scores are made of. */
export function hitLines(hits: readonly SearchItem[]): string[] {
  if (hits.length === 0) return ["nothing"];
  return someOf(
    hits.map(({ namespace, key, value, score, explain }, i) => {
      const parts = explain === undefined ? "" : `  (${partsOf(explain)})`;
      const shown = score === undefined ? "" : `  ${score.toFixed(3)}`;
      return `${i + 1}. ${pathOf([...namespace, key])}${shown}  ${brief(value, VALUE)}${parts}`;
    }),
  );
}

/** The first lines, and how many more there are. */
export function someOf(lines: readonly string[]): string[] {
  if (lines.length <= MOST_LINES) return [...lines];
  return [...lines.slice(0, MOST_LINES), `and ${lines.length - MOST_LINES} more`];
}

/** The outcomes of each file, in the order of the files. */
export function byFile(outcomes: readonly Outcome[]): Map<string, Outcome[]> {
  const files = new Map<string, Outcome[]>();
  for (const outcome of outcomes) {
    files.set(outcome.file, [...(files.get(outcome.file) ?? []), outcome]);
  }
  return files;
}
