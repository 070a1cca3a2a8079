// What commands print: tables and texts for people, JSON for programs.

import { showingHidden } from "../text.js";

/** @internal */
export interface Printed {
  /** For `--json`. */
  data: unknown;
  /** For people. */
  text: string;
  /** Why the exit code is that of a failure all the same. */
  failure?: string;
}

type Cell = string | number | undefined;

const GAP = "  ";
const MOST_BYTES = 120;

/** Columns of equal width; numbers stand on the right. @internal */
export function table(head: string[], rows: Cell[][]): string {
  const lines = [head, ...rows.map((row) => row.map(shown))];
  const widths = head.map((_, column) =>
    lines.reduce((most, line) => Math.max(most, width(line[column])), 0),
  );
  const isNumber = head.map((_, column) => rows.every((row) => typeof row[column] === "number"));
  const lineOf = (cells: string[]) =>
    cells
      .map((cell, i) => {
        const space = " ".repeat((widths[i] ?? 0) - width(cell));
        return isNumber[i] && rows.length > 0 ? space + cell : cell + space;
      })
      .join(GAP)
      .trimEnd();
  return `${lines.map(lineOf).join("\n")}\n`;
}

const shown = (cell: Cell) => (typeof cell === "number" ? String(cell) : oneLine(cell ?? "–"));
const width = (text: string | undefined) => [...(text ?? "")].length;

/** What a memory holds, so that it stays on its line and tells a terminal nothing. @internal */
export const oneLine = showingHidden;

/** The same for lines that are ours. @internal */
export const safe = (text: string) => text.split("\n").map(showingHidden).join("\n");

/** @internal */
export function bytes(count: number): string {
  if (count < 1000) return `${count} bytes`;
  const [unit, size] = count < 1e6 ? ["KB", 1e3] : count < 1e9 ? ["MB", 1e6] : ["GB", 1e9];
  return `${(count / (size as number)).toFixed(1)} ${unit}`;
}

/** A value on one line, cut where it is long. @internal */
export function brief(value: unknown, most = MOST_BYTES): string {
  const text = JSON.stringify(value) ?? "undefined";
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
}

/** `["users", "ada"]` as `users/ada`, or as JSON where a label has a slash. @internal */
export function pathOf(namespace: readonly string[]): string {
  const isPlain = namespace.every((label) => !/[/[]/.test(label));
  return isPlain ? namespace.join("/") : JSON.stringify(namespace);
}

/** @internal */
export const plural = (count: number, one: string, many = `${one}s`) =>
  `${count} ${count === 1 ? one : many}`;

/** What a score is made of. @internal */
export const partsOf = (explain: Record<string, number> = {}) =>
  Object.entries(explain)
    .map(([name, value]) => `${name} ${value.toFixed(3)}`)
    .join(", ");
