// Entries of an audit log, and rules of a policy, as a person says them.

import type { KeepsakeErrorCode } from "../errors.js";
import type { AuditEntry } from "../scope/audit.js";
import type { Policy } from "../scope/policy.js";
import { shownThreadId } from "../scope/thread-ids.js";
import type { Audited } from "../wire/layout.js";
import { bytes, counted, forAge, moment, pathOf } from "./words.js";

/** What was done, by its operation. */
export const OPERATIONS: Record<Audited, string> = {
  recall: "Recalled",
  store: "Stored",
  delete: "Deleted",
  clear: "Cleared",
  undo: "Undid",
  forget: "Forgot",
  import: "Imported",
  hold: "Held",
  release: "Released",
  configure: "Changed what is kept",
};
// Of these there is nothing to count.
const WHOLE: Audited[] = ["import", "hold", "release", "configure"];

const REFUSALS: Partial<Record<KeepsakeErrorCode, string>> = {
  access_denied: "The policy does not allow it.",
  quota_exceeded: "A quota of the policy does not allow it.",
  held: "A hold protects what is there.",
};

/** `Stored 3 items`, or `Refused: store, 2 times`. */
export function doneText({ success, operation, threadId, count }: AuditEntry): string {
  if (!success) return `Refused: ${operation}${count > 1 ? `, ${counted(count, "time")}` : ""}`;
  if (WHOLE.includes(operation)) return OPERATIONS[operation];
  const noun = threadId === undefined ? "item" : "checkpoint";
  return `${OPERATIONS[operation]} ${counted(count, noun)}`;
}

/** Where it was, and who did it. */
export function whereText({ namespace, threadId, actor, nodeId }: AuditEntry): string {
  const place =
    threadId === undefined ? namespace && pathOf(namespace) : `thread ${shownThreadId(threadId)}`;
  const parts = [place ?? "everywhere, or a name that is gone", actor && `by ${actor}`, nodeId];
  return parts.filter(Boolean).join(" · ");
}

/** How it ended. */
export function outcomeText({ code }: AuditEntry): string {
  if (code === undefined) return "Done";
  return [`Refused (${code}).`, REFUSALS[code]].filter(Boolean).join(" ");
}

/** A rule of a policy; `most` is the quota that it sets. */
export interface Rule {
  text: string;
  most?: { name: "maxBytes" | "maxEntries" | "maxEntriesPerNamespace"; count: number } | undefined;
}

/** The rules of a policy; none if everything is allowed. */
export function rulesOf(policy: Policy): Rule[] {
  const { readable, writable, readOnly, maxValueBytes, maxBytes } = policy;
  const { maxEntries, maxEntriesPerNamespace, defaultTtl, maxTtl } = policy;
  const rules: (Rule | undefined)[] = [
    readable && { text: `Read: ${listed(readable)}` },
    readOnly ? { text: "Write: nothing" } : writable && { text: `Write: ${listed(writable)}` },
    quota("maxEntries", maxEntries, (n) => `${counted(n, "item")} at most`),
    quota(
      "maxEntriesPerNamespace",
      maxEntriesPerNamespace,
      (n) => `${counted(n, "item")} in each namespace at most`,
    ),
    quota("maxBytes", maxBytes, (n) => `${bytes(n)} of items and threads at most`),
    maxValueBytes === undefined
      ? undefined
      : { text: `${bytes(maxValueBytes)} for each value at most` },
    defaultTtl === undefined
      ? undefined
      : { text: `An item lives ${minutes(defaultTtl)}, unless its put says else` },
    maxTtl === undefined ? undefined : { text: `An item lives ${minutes(maxTtl)} at most` },
    ...Object.entries(policy.origins ?? {}).map(([origin, rule]) => ({
      text: `Origin ${origin}: ${typeof rule === "number" ? `a hit is worth ${rule}` : rule}`,
    })),
  ];
  return rules.filter((rule) => rule !== undefined);
}

type Quota = NonNullable<Rule["most"]>["name"];

function quota(name: Quota, count: number | undefined, say: (count: number) => string) {
  return count === undefined ? undefined : { text: say(count), most: { name, count } };
}

const minutes = (count: number) => counted(count, "minute");

function listed(prefixes: readonly string[][]): string {
  return prefixes.length === 0
    ? "nothing"
    : `only below ${prefixes.map((prefix) => pathOf(prefix)).join(", ")}`;
}

/** How much of an audit log is kept. */
export function auditText(
  rule: { maxEntries: number; maxAge?: number | undefined; since: Date } | undefined,
): string {
  if (rule === undefined) return "Nothing is kept";
  const { maxEntries, maxAge, since } = rule;
  return `The newest ${maxEntries.toLocaleString("en")}${forAge(maxAge)}, since ${moment(since)}`;
}
