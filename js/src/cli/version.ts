// Which keepsake this is.

import { readFileSync } from "node:fs";

/** Of the package, which says it beside `dist`. @internal */
export function version(): string {
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
}
