// Scopes: whose memory it is. A scope is a place in the memory, found from who is asking.

import {
  checkChoice,
  checkEach,
  checkOptions,
  checkText,
  type NamesOf,
  nearest,
  readInput,
  show,
} from "../checks.js";
import { invalid, KeepsakeError } from "../errors.js";
import { checkNamespace } from "../store/store-operations.js";
import type { ScopeLevel } from "../wire/layout.js";
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
// Those that have a name: the first label of their place, and what each is found by, the one that
// counts most first.
const NAMED: Record<string, { label: string; variables: readonly string[] }> = {
  conversation: { label: "conv", variables: ["conversation_id", "thread_id"] },
  user: { label: "user", variables: ["user_id"] },
  global: { label: "global", variables: ["app_id"] },
};
const DEFAULT_APP = "default";

/** What scopes are found by. A run of LangGraph has them in `configurable` and `context`. */
export interface ScopeVariables {
  conversation_id?: unknown;
  /** The conversation, if `conversation_id` is not there. */
  thread_id?: unknown;
  user_id?: unknown;
  app_id?: unknown;
  /** In the place of all others, if `sources` lets it: a namespace, or the one label of it. */
  store_namespace?: unknown;
  [name: string]: unknown;
}

/** The config of a run, or what its tools and middlewares are given of it. */
export interface ScopedRun {
  configurable?: ScopeVariables | undefined;
  context?: unknown;
}

const SOURCES = { auth: 1, context: 1, configurable: 1, store_namespace: 1 };

/**
 * What of a run says whose memory it is. `auth` is whom LangGraph's server has let in
 * (`configurable.langgraph_auth_user`), `store_namespace` the namespace of that name, which then
 * counts more than all others.
 */
export type ScopeSource = keyof typeof SOURCES;

/** Whose word counts. */
export interface ScopeSources {
  /**
   * Those that count. If two of them say different things, it is an error. Name those that no
   * client writes, if clients write some. @default ["auth", "context", "configurable"]
   */
  sources?: readonly ScopeSource[] | undefined;
}

const SCOPE_SOURCES: NamesOf<ScopeSources> = { sources: 1 };

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
 * variables. A variable that is missing is an error that names it, and so are two that differ.
 *
 *     const mine = memory.scoped(scopeOf("user", config, { sources: ["context"] }));
 */
export function scopeOf(
  scope: ScopeName,
  source: ScopeVariables | ScopedRun,
  options?: ScopeSources,
): ScopeOptions {
  return readInput("a scope", () => findScope(scope, wordsOf("scopeOf", source, options)));
}

function findScope(scope: ScopeName, words: Words): ScopeOptions {
  const chosen = chosenNamespace(words);
  if (chosen !== undefined) return { place: chosen };
  const variables = variablesOf(scope);
  if (typeof scope === "object") {
    const { name } = scope;
    return { place: [encodeLabel(name), encodeLabel(needed(name, words, ...variables))] };
  }
  if (scope === "global") return { global: wordFor(scope, words, ...variables) ?? true };
  return { [scope]: needed(scope, words, ...variables) };
}

/** A copy of what is the name of a scope. @internal */
export function checkScopeName(scope: ScopeName, option = "a scope"): ScopeName {
  return readInput("a scope", () => {
    variablesOf(scope, option);
    return typeof scope === "object" ? { ...scope } : scope;
  });
}

function variablesOf(scope: ScopeName, option = "a scope"): readonly string[] {
  if (typeof scope === "object" && scope !== null) {
    checkText("name of a scope", scope.name);
    return [checkText("variable of a scope", scope.variable)];
  }
  return named(option, scope).variables;
}

function named(option: string, scope: unknown) {
  const known = typeof scope === "string" && Object.hasOwn(NAMED, scope) ? NAMED[scope] : undefined;
  if (known !== undefined) return known;
  const meant = typeof scope === "string" ? nearest(scope, Object.keys(NAMED)) : undefined;
  const remedy = meant === undefined ? "" : `: did you mean "${meant}"?`;
  throw invalid(
    `${option} is conversation, user, global or { name, variable }: ${show(scope)}${remedy}`,
  );
}

/** Whether a run says itself whose scope of this name is meant; a thread does not. @internal */
export function namesScope(scope: ScopeName, run: object, sources: ScopeSources): boolean {
  const words = wordsOf("scopeOf", runOf(run), sources);
  if (chosenNamespace(words) !== undefined) return true;
  const [name] = variablesOf(scope) as [string];
  return words.said.some(({ variables }) => (variables[name] ?? undefined) !== undefined);
}

/** Where the scope of a run lies. @internal */
export function placeOfRun(
  scope: ScopeName,
  run: object,
  sources: ScopeSources,
): readonly string[] {
  return levelOf("scope", scopeOf(scope, runOf(run), sources)).place;
}

/** As `scopeOf()` takes it: a run that tells nothing has no variables. @internal */
export function runOf(run: ScopedRun): ScopedRun {
  const { configurable = {}, context } = Object(run) as ScopedRun;
  return { configurable, context };
}

/** The label that a scope's place begins with. @internal */
export function kindOf(scope: ScopeName): string {
  if (typeof scope === "object") return encodeLabel(scope.name);
  return named("a scope", scope).label;
}

/**
 * The place of a scope as one text: `user:ada` for `["user", "ada"]`. `MemoryProvider` takes it as
 * a namespace; everything else takes labels.
 */
export function resolveNamespace(
  scope: ScopeName,
  source: ScopeVariables | ScopedRun,
  options?: ScopeSources,
): string {
  const found = scopeOf(scope, source, options);
  if (found.conversation !== undefined) return `conv:${found.conversation}`;
  if (found.user !== undefined) return `user:${found.user}`;
  if (found.global !== undefined) {
    return `global:${found.global === true ? DEFAULT_APP : found.global}`;
  }
  return (found.place as string[]).map(decodeLabel).join(":");
}

/**
 * The namespace of a run in a store: `[user_id, "memories"]`, or its `store_namespace` if
 * `sources` has that.
 */
export function storeNamespace(
  source: ScopeVariables | ScopedRun,
  options?: ScopeSources,
): string[] {
  return readInput("a scope", () => {
    const words = wordsOf("storeNamespace", source, options);
    return chosenNamespace(words) ?? [encodeLabel(needed("user", words, "user_id")), "memories"];
  });
}

/** @internal */
export function checkSources(call: string, sources: ScopeSources["sources"]): void {
  if (sources === undefined) return;
  const name = `sources of ${call}`;
  const given = checkEach(name, sources as ScopeSource[], (one) => checkChoice(name, SOURCES, one));
  if (given.length === 0)
    throw invalid(`${name} must name one: ${Object.keys(SOURCES).join(", ")}`);
}

// What is said about whose memory it is, by whom.
interface Words {
  said: { by: string; variables: ScopeVariables }[];
  takesNamespace: boolean;
  /** The sources, if they were named. */
  named: readonly ScopeSource[] | undefined;
}

function wordsOf(
  call: string,
  source: ScopeVariables | ScopedRun,
  options: ScopeSources | undefined,
): Words {
  const { sources = ["auth", "context", "configurable"] } = checkOptions(
    call,
    SCOPE_SOURCES,
    options,
  );
  checkSources(call, sources);
  if (!isObject(source)) {
    throw invalid(`a scope is found from a config or from variables: ${show(source)}`);
  }
  const { configurable, context } = source;
  const isRun = isObject(configurable) || isObject(context);
  const takesNamespace = sources.includes("store_namespace");
  const rest = { takesNamespace, named: options?.sources };
  if (!isRun) {
    if (options?.sources !== undefined) {
      throw invalid(
        `sources of ${call} are those of a run, and this has neither context nor configurable: give it the config of the run, or leave sources out for variables that only the server's code writes`,
      );
    }
    return { said: [{ by: "the variables", variables: source }], ...rest };
  }
  const by: Record<string, ScopeVariables> = {
    auth: loginOf(Object(configurable)),
    context: Object(context),
    configurable: Object(configurable),
  };
  const said = Object.entries(by)
    .filter(([name]) => sources.includes(name as ScopeSource))
    .map(([name, variables]) => ({ by: name, variables }));
  for (const name of ["context", "configurable"] as const) {
    const { store_namespace } = by[name] as ScopeVariables;
    if (takesNamespace && !sources.includes(name))
      said.push({ by: name, variables: { store_namespace } });
  }
  return { said, ...rest };
}

function isObject(value: unknown): value is ScopeVariables {
  return typeof value === "object" && value !== null;
}

// LangGraph's server writes it over whatever a client sent.
function loginOf({ langgraph_auth_user, langgraph_auth_user_id }: ScopeVariables): ScopeVariables {
  const { identity } = Object(langgraph_auth_user) as { identity?: unknown };
  return { user_id: identity ?? langgraph_auth_user_id };
}

function chosenNamespace({ said, takesNamespace }: Words): string[] | undefined {
  let chosen: { by: string; namespace: string[] } | undefined;
  for (const { by, variables } of said) {
    const given = variables.store_namespace;
    if (given === undefined) continue;
    if (!takesNamespace) {
      throw new KeepsakeError(
        "access_denied",
        `store_namespace of ${by} would name any namespace, whoever asks: it counts only with sources: ["store_namespace", …]`,
      );
    }
    const namespace =
      typeof given === "string" ? [encodeLabel(given)] : checkNamespace(given as string[]);
    if (chosen && JSON.stringify(chosen.namespace) !== JSON.stringify(namespace))
      throw differing(`store_namespace of ${chosen.by}`, `store_namespace of ${by}`);
    chosen ??= { by, namespace };
  }
  return chosen?.namespace;
}

function needed(scope: string, words: Words, ...names: string[]): string {
  const word = wordFor(scope, words, ...names);
  if (word !== undefined) return word;
  const where = words.named ? ` in ${words.named.join(" or ")}` : "";
  const example = words.named === undefined ? `, as in { configurable: { ${names[0]} } }` : "";
  throw invalid(
    `${names.join(" or ")} is not set${where}: the scope "${scope}" needs it${example}`,
  );
}

// By the first name in the first source that has one; others of the same name, or of a name that
// counts more, must say the same. A thread_id beside a conversation_id says something else.
function wordFor(scope: string, { said }: Words, ...names: string[]): string | undefined {
  let found: { word: string; by: string; rank: number; name: string } | undefined;
  for (const { by, variables } of said) {
    for (const [rank, name] of names.entries()) {
      const given = variables[name];
      if (given === undefined || given === null) continue;
      const word = checkWord(scope, name, given);
      if (found === undefined) found = { word, by, rank, name };
      if (word !== found.word && rank <= found.rank)
        throw differing(`${found.name} of ${found.by}`, `${name} of ${by}`);
    }
  }
  return found?.word;
}

function checkWord(scope: string, name: string, given: unknown): string {
  if (typeof given === "string" && given !== "") return given;
  if (typeof given === "number" && Number.isFinite(given)) return String(given);
  throw invalid(`${name} of the scope "${scope}" must be a text that is not empty: ${show(given)}`);
}

function differing(one: string, other: string): KeepsakeError {
  return new KeepsakeError(
    "access_denied",
    `${one} and ${other} differ, so that it is not known whose memory it is: name the sources that count, such as sources: ["context"]`,
  );
}
