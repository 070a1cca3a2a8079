// What keys of a bucket may look like, so that no store, URL or file system reads one as another.

import { checkWhole, show } from "../checks.js";
import { invalid } from "../errors.js";
import type { ByteRange, ListRange } from "./port.js";

const KEY = /^[\w.-]+(?:\/[\w.-]+)*$/;
const PREFIX = /^(?:[\w.-]+\/)*[\w.-]*$/;
// URLs and paths would leave these parts out.
const DOTS = /(?:^|\/)\.{1,2}(?:\/|$)/;
// Of the stores that there are, the strictest takes 600 bytes; the folder comes before.
const LONGEST = 400;
const LONGEST_FOLDER = 200;

/** @internal */
export function isKey(key: string): boolean {
  return key.length <= LONGEST && KEY.test(key) && !DOTS.test(key);
}

/** @internal */
export function checkKey(key: string): string {
  if (typeof key === "string" && isKey(key)) return key;
  throw invalid(
    `a bucket's key must have parts of letters, digits, "-", "_" and ".", with "/" between them, ${LONGEST} at most: ${show(key)}`,
  );
}

/** The beginning of keys; "" is that of all. @internal */
export function checkKeyPrefix(name: string, prefix: string): string {
  const isPrefix =
    typeof prefix === "string" &&
    prefix.length <= LONGEST &&
    PREFIX.test(prefix) &&
    !DOTS.test(prefix.slice(0, prefix.lastIndexOf("/") + 1));
  if (isPrefix) return prefix;
  throw invalid(`${name} must be the beginning of a bucket's key, such as "log/": ${show(prefix)}`);
}

/** What an option names a folder by: with "/" at its end, unless it is "". @internal */
export function checkFolder(name: string, folder: string | undefined): string {
  if (folder === undefined || folder === "") return "";
  const path = typeof folder === "string" && folder.endsWith("/") ? folder.slice(0, -1) : folder;
  if (typeof path === "string" && path.length <= LONGEST_FOLDER && isKey(path)) return `${path}/`;
  throw invalid(
    `${name} must name a folder by letters, digits, "-", "_" and ".", with "/" between its parts, ${LONGEST_FOLDER} at most, such as "agents/ada": ${show(folder)}`,
  );
}

/** @internal */
export function checkByteRange(range: ByteRange | undefined): ByteRange | undefined {
  if (range === undefined) return undefined;
  if (typeof range !== "object" || range === null) {
    throw invalid(`range must be { from, to }: ${show(range)}`);
  }
  const from = checkWhole("from", range.from, 0);
  return { from, to: checkWhole("to", range.to, from) };
}

/** @internal */
export function checkListRange(range: ListRange | undefined): ListRange {
  if (range === undefined) return {};
  if (typeof range !== "object" || range === null) {
    throw invalid(`list() takes { after, limit }: ${show(range)}`);
  }
  const { after, limit } = range;
  return {
    after: after === undefined ? undefined : checkKeyPrefix("after", after),
    limit: limit === undefined ? undefined : checkWhole("limit", limit, 1),
  };
}
