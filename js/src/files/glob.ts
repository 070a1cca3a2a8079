// Which paths a glob pattern means, and which directories can hold them.

import picomatch from "picomatch/posix.js";
import { invalid, messageOf } from "../errors.js";

const OPTIONS = { dot: true } as const;
// What may match a "/".
const DEEP = /\*\*|[{(]/;
const PLAIN_NAME = /^[\w. -]+$/;

export interface Glob {
  matches(path: string): boolean;
  /** The names that every match begins with. */
  base: string[];
  /** How many names a match has below `base` at most. */
  depth: number;
  /** The last name of every match, if the pattern says it in full. */
  name: string | undefined;
}

function matcherOf(pattern: string): (path: string) => boolean {
  try {
    return picomatch(pattern, OPTIONS);
  } catch (cause) {
    // One that is too long, for example.
    throw invalid(`a pattern must be a glob such as "**/*.md": ${messageOf(cause)}`, cause);
  }
}

export function globOf(pattern: string): Glob {
  if (pattern === "") throw invalid('a pattern must not be empty: give one such as "**/*.md"');
  const matches = matcherOf(pattern);
  const { base, glob, negated } = picomatch.scan(pattern);
  if (negated || base.includes("\\"))
    return { matches, base: [], depth: Number.POSITIVE_INFINITY, name: undefined };
  const last = pattern.slice(pattern.lastIndexOf("/") + 1);
  const name = PLAIN_NAME.test(last) ? last : undefined;
  const fixed = base.split("/").filter((part) => part !== "" && part !== ".");
  if (glob === "") return { matches, base: fixed.slice(0, -1), depth: 1, name };
  const depth = DEEP.test(glob) ? Number.POSITIVE_INFINITY : glob.split("/").length;
  return { matches, base: fixed, depth, name };
}
