// Scopes: whose memory it is. A scope is a place in the memory, found from who is asking.

import { checkOptions, checkText, type NamesOf, reading, show } from "../checks.js";
import { invalid } from "../errors.js";
import { checkNamespace } from "../store/store-operations.js";
import type { ScopeLevel } from "../wire/scope.js";
import { ACCESS_OPTIONS, type AccessOptions } from "./access.js";
import { decodeLabel, encodeLabel } from "./labels.js";
import { type Policy, toWirePolicy } from "./policy.js";

/** Whose memory it is: exactly one of the first four. */
export interface ScopeOptions extends AccessOptions {
  /** The id of a conversation, often the thread_id. */
  conversation?: string | undefined;
  /** The id of a user; an e-mail address will do. */
  user?: string | undefined;
  /** The id of an application, all of whose users share it; `true` for `"default"`. */
  global?: string | true | undefined;
  /** A place of your own: `["team", "blue"]`. */
  place?: string[] | undefined;
  /** What may be done there. @default everything */
  policy?: Policy | undefined;
}

const SCOPE_OPTIONS: NamesOf<ScopeOptions> = {
  conversation: 1,
  user: 1,
  global: 1,
  place: 1,
  policy: 1,
  ...ACCESS_OPTIONS,
};

const KINDS = ["conversation", "user", "global", "place"] as const;
const DEFAULT_APP = "default";

/** What scopes are found by. A config of LangGraph has them in `configurable`. */
export interface ScopeVariables {
  conversation_id?: unknown;
  /** The conversation, if `conversation_id` is not there. */
  thread_id?: unknown;
  user_id?: unknown;
  app_id?: unknown;
  /** Overrides all others: a namespace, or the one label of it. */
  store_namespace?: unknown;
  [name: string]: unknown;
}

/** A scope of your own: below `name`, the value of `variable`. */
export interface CustomScope {
  name: string;
  variable: string;
}

/**
 * How a scope is called in `scopeOf()` and `resolveNamespace()`. Any text, so that options of
 * several calls can be kept in a variable: one that is no scope is refused by the call.
 */
export type ScopeName =
  | "conversation"
  | "user"
  | "global"
  | (string & Record<never, never>)
  | CustomScope;

/** A copy, all of whose names `call` knows. @internal */
export function checkScope(call: string, options: ScopeOptions): ScopeOptions {
  return checkOptions(call, SCOPE_OPTIONS, options);
}

/** @internal */
export function levelOf(call: string, options: ScopeOptions): ScopeLevel {
  const { policy, ...kinds } = checkScope(call, options);
  const given = KINDS.filter((kind) => kinds[kind] !== undefined);
  if (given.length !== 1) {
    const which = given.length === 0 ? "none" : given.join(" and ");
    throw invalid(
      `${call} takes one of ${KINDS.join(", ")}, got ${which}: a conversation of a user is scoped({ user }).scoped({ conversation })`,
    );
  }
  return { place: checkNamespace(placeFor(kinds)), policy: toWirePolicy(policy) };
}

function placeFor({ conversation, user, global, place }: ScopeOptions): string[] {
  if (conversation !== undefined) return ["conv", idLabel("conversation", conversation)];
  if (user !== undefined) return ["user", idLabel("user", user)];
  if (global !== undefined) {
    return ["global", idLabel("global", global === true ? DEFAULT_APP : global)];
  }
  return place as string[];
}

function idLabel(name: string, id: unknown): string {
  if (checkText(name, id) === "") throw invalid(`${name} must not be empty`);
  return encodeLabel(id as string);
}

/**
 * The scope of this name, for `scoped()`: found from the config of a LangGraph run, or from
 * variables. A variable that is missing is an error that names it.
 *
 *     const mine = memory.scoped(scopeOf("user", config));
 */
export function scopeOf(
  scope: ScopeName,
  source: ScopeVariables | { configurable?: ScopeVariables | undefined },
): ScopeOptions {
  return reading("a scope", () => findScope(scope, source));
}

function findScope(...[scope, source]: Parameters<typeof scopeOf>): ScopeOptions {
  const variables = variablesOf(source);
  if (variables.store_namespace !== undefined) {
    return { place: overriding(variables.store_namespace) };
  }
  if (typeof scope === "object" && scope !== null) {
    const { name, variable } = scope;
    return { place: [encodeLabel(name), encodeLabel(needed(name, variables, variable))] };
  }
  switch (scope) {
    case "conversation":
      return { conversation: needed(scope, variables, "conversation_id", "thread_id") };
    case "user":
      return { user: needed(scope, variables, "user_id") };
    case "global":
      return variables.app_id === undefined
        ? { global: true }
        : { global: needed(scope, variables, "app_id") };
    default:
      throw invalid(`a scope is conversation, user, global or { name, variable }: ${show(scope)}`);
  }
}

/**
 * The same as text: `user:ada`, `conv:42`, `global:default`. It is what `MemoryProvider`
 * takes as a namespace.
 */
export function resolveNamespace(
  scope: ScopeName,
  source: ScopeVariables | { configurable?: ScopeVariables | undefined },
): string {
  const options = scopeOf(scope, source);
  if (options.conversation !== undefined) return `conv:${options.conversation}`;
  if (options.user !== undefined) return `user:${options.user}`;
  if (options.global !== undefined) {
    return `global:${options.global === true ? DEFAULT_APP : options.global}`;
  }
  return (options.place as string[]).map(decodeLabel).join(":");
}

/**
 * The namespace of a run in a store: `[user_id, "memories"]`, unless the config has a
 * `store_namespace`.
 */
export function storeNamespace(
  source: ScopeVariables | { configurable?: ScopeVariables | undefined },
): string[] {
  return reading("a scope", () => {
    const variables = variablesOf(source);
    if (variables.store_namespace !== undefined) return overriding(variables.store_namespace);
    return [encodeLabel(needed("user", variables, "user_id")), "memories"];
  });
}

function variablesOf(
  source: ScopeVariables | { configurable?: ScopeVariables | undefined },
): ScopeVariables {
  if (typeof source !== "object" || source === null) {
    throw invalid(`a scope is found from a config or from variables: ${show(source)}`);
  }
  const { configurable } = source;
  return typeof configurable === "object" && configurable !== null
    ? (configurable as ScopeVariables)
    : (source as ScopeVariables);
}

function overriding(namespace: unknown): string[] {
  if (typeof namespace === "string") return [encodeLabel(namespace)];
  return checkNamespace(namespace as string[]);
}

function needed(scope: string, variables: ScopeVariables, ...names: string[]): string {
  const name = names.find((each) => variables[each] !== undefined && variables[each] !== null);
  const value = name === undefined ? undefined : variables[name];
  if (typeof value === "string" && value !== "") return value;
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  if (name !== undefined) {
    throw invalid(
      `${name} of the scope "${scope}" must be a text that is not empty: ${show(value)}`,
    );
  }
  throw invalid(`${names.join(" or ")} is not set: the scope "${scope}" needs it`);
}
