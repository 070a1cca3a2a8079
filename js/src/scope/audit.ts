// What a memory keeps of who wrote where and what was refused.

import { checkOptions, checkTime, checkWhole, type NamesOf } from "../checks.js";
import type { Connection } from "../connection.js";
import type { KeepsakeErrorCode } from "../errors.js";
import {
  checkNamespace,
  MS_PER_MINUTE,
  minutesToMs,
  type Time,
} from "../store/store-operations.js";
import type { Audited } from "../wire/layout.js";

const MOST_ENTRIES = 1_000_000;

/** How much of the audit log is kept. */
export interface KeepAuditOptions {
  /** Of all; the oldest go first. @default 10,000 */
  maxEntries?: number | undefined;
  /** For how long, in minutes. @default as long as `maxEntries` lets */
  maxAge?: number | undefined;
}

const KEEP: NamesOf<KeepAuditOptions> = { maxEntries: 1, maxAge: 1 };

/** How much of the audit log is kept, and since when. */
export interface AuditRule {
  maxEntries: number;
  /** In minutes; undefined without a limit. */
  maxAge?: number | undefined;
  since: Date;
}

/** Which entries of the audit log are read. */
export interface AuditLogOptions {
  /** Only of this namespace and below it, and of the threads of a scope there. @default all */
  namespace?: string[] | undefined;
  /** Only what came then or later. */
  since?: Time | undefined;
  /** For the next page: the `id` of the last entry of this one. */
  before?: number | undefined;
  /** @default 100 */
  limit?: number | undefined;
}

const LOG: NamesOf<AuditLogOptions> = { namespace: 1, since: 1, before: 1, limit: 1 };

/** What one call, or one batch of them, did of one kind in one place. Never a key or a value. */
export interface AuditEntry {
  /** In the order of time. */
  id: number;
  time: Date;
  /** The scope that asked, as `user/ada`; "" for the whole memory. */
  scope: string;
  /** `recall` is told only if it was refused. `configure`: histories, this log, the file's key. */
  operation: Audited;
  /** Of items. */
  namespace?: string[] | undefined;
  /** Of checkpoints. */
  threadId?: string | undefined;
  actor?: string | undefined;
  nodeId?: string | undefined;
  /** False if a policy, a quota or a hold refused it. */
  success: boolean;
  /** Why it was refused. */
  code?: KeepsakeErrorCode | undefined;
  /** How many items or checkpoints it changed, or how many operations were refused. */
  count: number;
}

/** @internal */
export async function keepAudit(
  connection: Connection,
  options: KeepAuditOptions | undefined,
  now: number,
): Promise<void> {
  const { maxEntries = 10_000, maxAge } = checkOptions("keepAudit", KEEP, options);
  const rule = {
    maxEntries: checkWhole("maxEntries", maxEntries, 1, MOST_ENTRIES),
    maxAge: maxAge === undefined ? undefined : minutesToMs("maxAge", maxAge),
  };
  await connection.call([{ kind: "keepAudit", rule }], now);
}

/** @internal */
export async function dropAudit(connection: Connection): Promise<void> {
  await connection.call([{ kind: "keepAudit", rule: undefined }]);
}

/** @internal */
export async function auditRule(connection: Connection): Promise<AuditRule | undefined> {
  const [rule] = await connection.call([{ kind: "auditRule" }]);
  if (rule === undefined) return undefined;
  const { maxEntries, maxAge, since } = rule;
  return {
    maxEntries,
    ...(maxAge !== undefined && { maxAge: maxAge / MS_PER_MINUTE }),
    since: new Date(since),
  };
}

/** @internal */
export async function auditLog(
  connection: Connection,
  options: AuditLogOptions | undefined,
  now: number,
): Promise<AuditEntry[]> {
  const { namespace = [], since, before, limit = 100 } = checkOptions("auditLog", LOG, options);
  const request = {
    namespace: checkNamespace(namespace),
    since: since === undefined ? 0 : checkTime("since", since),
    before: before === undefined ? undefined : checkWhole("before", before, 0),
    limit: checkWhole("limit", limit, 0, 0xffff_ffff),
  };
  const [entries] = await connection.call([{ kind: "auditLog", ...request }], now);
  return entries.map(({ id, at, place, operation, namespace, threadId, ...rest }) => ({
    id,
    time: new Date(at),
    scope: place.join("/"),
    operation,
    ...(namespace && { namespace }),
    ...(threadId !== undefined && { threadId }),
    ...(rest.actor !== "" && { actor: rest.actor }),
    ...(rest.nodeId !== "" && { nodeId: rest.nodeId }),
    success: rest.code === "ok",
    ...(rest.code !== "ok" && { code: rest.code }),
    count: rest.count,
  }));
}
