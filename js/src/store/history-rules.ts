// Which namespaces keep what their items were.

import { checkOptions, checkWhole, type NamesOf } from "../checks.js";
import type { Connection } from "../connection.js";
import { checkNamespace, MS_PER_MINUTE, minutesToMs } from "./store-operations.js";

const MOST_VERSIONS = 1_000_000;

/** How much of what items were is kept. */
export interface KeepHistoryOptions {
  /** Operations of each item. @default 50 */
  maxVersions?: number | undefined;
  /** For how long, in minutes. @default as long as `maxVersions` lets */
  maxAge?: number | undefined;
}

const KEEP: NamesOf<KeepHistoryOptions> = { maxVersions: 1, maxAge: 1 };

/** Of a namespace and all below it, but for those that have a rule of their own. */
export interface HistoryRule {
  namespace: string[];
  maxVersions: number;
  /** In minutes; undefined without a limit. */
  maxAge?: number | undefined;
  /** What was before is not known. */
  since: Date;
}

/** @internal */
export async function keepHistory(
  connection: Connection,
  namespace: string[],
  options: KeepHistoryOptions | undefined,
  now: number,
): Promise<void> {
  const { maxVersions = 50, maxAge } = checkOptions("keepHistory", KEEP, options);
  const rule = {
    namespace: checkNamespace(namespace),
    maxVersions: checkWhole("maxVersions", maxVersions, 1, MOST_VERSIONS),
    maxAge: maxAge === undefined ? undefined : minutesToMs("maxAge", maxAge),
  };
  await connection.call([{ kind: "keepHistory", ...rule }], now);
}

/** @internal */
export async function dropHistory(connection: Connection, namespace: string[]): Promise<void> {
  await connection.call([{ kind: "dropHistory", namespace: checkNamespace(namespace) }]);
}

/** @internal */
export async function historyRules(connection: Connection): Promise<HistoryRule[]> {
  const [rules] = await connection.call([{ kind: "historyRules" }]);
  return rules.map(({ namespace, maxVersions, maxAge, since }) => ({
    namespace,
    maxVersions,
    ...(maxAge !== undefined && { maxAge: maxAge / MS_PER_MINUTE }),
    since: new Date(since),
  }));
}
