// The package with shorter limits, for tests that wait until one of them is over. In the long run
// they are the package's own.

import { isLong } from "../../js/support/effort.mjs";

export const HASTE = isLong ? 1 : 4;

// A second constant of the same name is numbered in a bundle.
const LIMIT = /\b([A-Z_]+_MS\d*) = ([\de]+)(?=[,;])/g;
const isLimit = (ms) => ms >= 500 && ms <= 60_000;

/** A program of ours whose limits are over so many times earlier. */
export function hastened(program) {
  let limits = 0;
  const changed = program.replace(LIMIT, (constant, name, ms) => {
    if (!isLimit(Number(ms))) return constant;
    limits++;
    return `${name} = ${Number(ms) / HASTE}`;
  });
  if (limits === 0) throw new Error("the program names no limits");
  return changed;
}
