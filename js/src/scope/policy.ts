// What may be done in a scope. The core holds to it (core/include/keepsake/scope.h).

import {
  checkEach,
  checkFlag,
  checkNumber,
  checkOptions,
  checkWhole,
  type NamesOf,
  show,
} from "../checks.js";
import { invalid } from "../errors.js";
import type { Origin } from "../store/provenance.js";
import { byOrigin } from "../store/ranking.js";
import { checkNamespace, MS_PER_MINUTE, minutesToMs } from "../store/store-operations.js";
import type { ScopeLevel, WirePolicy } from "../wire/layout.js";
import { type OriginRule, Trust } from "../wire/layout.js";

/** What may be done in a scope. Nothing is forbidden unless it is said. */
export interface Policy {
  /**
   * Prefixes of the namespaces that may be read, else `access_denied`. Threads lie in none: an
   * empty list allows none of them, either, any other allows all. @default all
   */
  readable?: string[][] | undefined;
  /** Prefixes of the namespaces that may be written; threads as for `readable`. @default all */
  writable?: string[][] | undefined;
  /** Neither items nor threads may be written. @default false */
  readOnly?: boolean | undefined;
  /** More items in the whole scope are refused: `quota_exceeded`. */
  maxEntries?: number | undefined;
  /** So are more in one namespace. */
  maxEntriesPerNamespace?: number | undefined;
  /** So is a longer value, as JSON in UTF-8. */
  maxValueBytes?: number | undefined;
  /** So are more bytes in the whole scope: of items with their labels and keys, and of threads. */
  maxBytes?: number | undefined;
  /** Minutes that an item lives if its put says nothing. */
  defaultTtl?: number | undefined;
  /** Minutes that an item lives at most. A put that asks for more is refused. */
  maxTtl?: number | undefined;
  /**
   * What becomes of items by their origin, `unknown` included. A put is `"refuse"`d
   * (`access_denied`), or goes into `"quarantine"`: it is stored, but no search finds it without
   * `includeQuarantined`, and it neither supersedes nor replaces an item that is not there. A number
   * 0…1 is what its hits are worth in searches.
   * @default "allow" for each
   */
  origins?:
    | Partial<Record<Origin | "unknown", "allow" | "quarantine" | "refuse" | number>>
    | undefined;
}

/** A policy that holds in a scope, and the place that it is of. */
export interface PlacedPolicy {
  /** In the memory: `["user", "ada"]`. Namespaces of the policy lie within it. */
  place: string[];
  /** What was given; without rules everything is allowed. */
  policy: Policy;
}

const POLICY: NamesOf<Policy> = {
  readable: 1,
  writable: 1,
  readOnly: 1,
  maxEntries: 1,
  maxEntriesPerNamespace: 1,
  maxValueBytes: 1,
  maxBytes: 1,
  defaultTtl: 1,
  maxTtl: 1,
  origins: 1,
};

/** @internal */
export function toWirePolicy(given: Policy | undefined): WirePolicy {
  const policy = checkOptions("policy", POLICY, given);
  const minutes = (name: "defaultTtl" | "maxTtl") =>
    policy[name] === undefined ? undefined : minutesToMs(name, policy[name]);
  return {
    readable: prefixes("readable", policy.readable),
    writable: prefixes("writable", policy.writable),
    readOnly: checkFlag("readOnly", policy.readOnly),
    maxEntries: count("maxEntries", policy.maxEntries),
    maxEntriesPerNamespace: count("maxEntriesPerNamespace", policy.maxEntriesPerNamespace),
    maxValueBytes: count("maxValueBytes", policy.maxValueBytes),
    maxBytes: count("maxBytes", policy.maxBytes),
    defaultTtl: minutes("defaultTtl"),
    maxTtl: minutes("maxTtl"),
    origins: policy.origins && byOrigin("origins", policy.origins, ruleOf),
  };
}

function ruleOf(name: string, rule: keyof typeof Trust | number): Omit<OriginRule, "origin"> {
  if (typeof rule === "number") return { trust: "allow", weight: checkNumber(name, rule, 0, 1) };
  if (typeof rule === "string" && Object.hasOwn(Trust, rule)) return { trust: rule, weight: 1 };
  throw invalid(`${name} must be allow, quarantine, refuse or a number 0…1: ${show(rule)}`);
}

/** As it was given, each within those before it. @internal */
export function placedPolicies(levels: readonly ScopeLevel[]): PlacedPolicy[] {
  const around: string[] = [];
  return levels.map(({ place, policy }) => {
    around.push(...place);
    return { place: [...around], policy: policyOf(policy) };
  });
}

function policyOf({
  readable,
  writable,
  defaultTtl,
  maxTtl,
  origins,
  ...rest
}: WirePolicy): Policy {
  const policy: Policy = {
    ...rest,
    readable: readable?.map((prefix) => [...prefix]),
    writable: writable?.map((prefix) => [...prefix]),
    defaultTtl: defaultTtl && defaultTtl / MS_PER_MINUTE,
    maxTtl: maxTtl && maxTtl / MS_PER_MINUTE,
    origins:
      origins &&
      Object.fromEntries(
        origins.map(({ origin, trust, weight }) => [origin, weight === 1 ? trust : weight]),
      ),
  };
  return Object.fromEntries(Object.entries(policy).filter(([, rule]) => rule !== undefined));
}

function prefixes(name: string, given: string[][] | undefined): string[][] | undefined {
  return given && checkEach(name, given, checkNamespace);
}

function count(name: string, given: number | undefined): number | undefined {
  return given === undefined ? undefined : checkWhole(name, given, 0);
}
