// Memory as nodes of a StateGraph: what they recall and store is state like all other.

import { isBaseMessage } from "@langchain/core/messages";
import { checkChoice, checkOptions, checkText, checkWhole, type NamesOf, show } from "../checks.js";
import { invalid } from "../errors.js";
import { unwrapStore } from "../langgraph.js";
import { at, fill } from "../prompt/template.js";
import { MemoryProvider, type MemoryQuery } from "../scope/provider.js";
import {
  checkScopeName,
  checkSources,
  resolveNamespace,
  runOf,
  type ScopeName,
  type ScopeSources,
} from "../scope/scope.js";
import { Origin } from "../store/provenance.js";
import type { KeepsakeStore } from "../store/store.js";
import type { Run } from "./place.js";
import { lastOfUser } from "./recall.js";
import { sourceOf } from "./tools.js";

/**
 * Where a value is: a path in the state (`"question"`, `["answer", "text"]`), or in what is known
 * of the run (`["sys", "thread_id"]`), or a function of both.
 */
// biome-ignore lint/suspicious/noExplicitAny: the state is the graph's.
export type Selector = string | string[] | ((state: any, run: Run) => unknown);

/** Whose entries a node is for. */
export interface NodeOptions extends ScopeSources {
  /** @default over the graph's store */
  provider?: MemoryProvider | undefined;
  /** Found from `context` and `configurable` of the run. @default "conversation" */
  scope?: ScopeName | undefined;
  /** In the place of a scope: a text, as a provider takes it. */
  namespace?: string | undefined;
}

/** What `recallNode()` recalls. */
export interface RecallNodeOptions extends NodeOptions {
  /** Exactly this entry; may have slots, as `{{user}}`. */
  key?: string | undefined;
  /** What is looked for. Without it, and without a key, the newest are recalled. */
  querySelector?: Selector | undefined;
  /** @default 5 */
  topK?: number | undefined;
  /** Of metadata. */
  filter?: Record<string, unknown> | undefined;
  /** The state's names for what it answers. @default { results: "results", count: "count" } */
  outputs?: { results?: string | undefined; count?: string | undefined } | undefined;
}

/** What `rememberNode()` stores. */
export interface RememberNodeOptions extends NodeOptions {
  /** Under which key; may have slots: `exchange_{{#sys.execution_id#}}`, `{{topic}}`. */
  key: string;
  /** What is stored. */
  valueSelector: Selector;
  metadata?: Record<string, unknown> | undefined;
  /** More metadata, from the state or the run. It counts more. */
  metadataSelectors?: Record<string, Selector> | undefined;
  /**
   * Whose word it is. @default of messages "user", "model" or "tool", as they are, and of several
   * the one that counts least; else "model"
   */
  origin?: Origin | undefined;
  /** The state's names for what it answers. @default { stored: "stored", key: "key" } */
  outputs?: { stored?: string | undefined; key?: string | undefined } | undefined;
}

/** A node, as `addNode()` takes it. */
// biome-ignore lint/suspicious/noExplicitAny: state and update are the graph's.
export type MemoryNode = (state: any, run?: Run) => Promise<Record<string, any>>;

const NODE_OPTIONS: NamesOf<NodeOptions> = { provider: 1, scope: 1, namespace: 1, sources: 1 };
const RECALL_NODE: NamesOf<RecallNodeOptions> = {
  ...NODE_OPTIONS,
  key: 1,
  querySelector: 1,
  topK: 1,
  filter: 1,
  outputs: 1,
};
const REMEMBER_NODE: NamesOf<RememberNodeOptions> = {
  ...NODE_OPTIONS,
  key: 1,
  valueSelector: 1,
  metadata: 1,
  metadataSelectors: 1,
  origin: 1,
  outputs: 1,
};
const RECALL_OUTPUTS = { results: 1, count: 1 } as const;
const REMEMBER_OUTPUTS = { stored: 1, key: 1 } as const;

/**
 * A node that recalls entries of a provider: `results`, the best first, and `count`.
 *
 *     graph.addNode("recall", recallNode({ scope: "user", querySelector: "question" }))
 */
export function recallNode(options: RecallNodeOptions): MemoryNode {
  const given = checkOptions("recallNode", RECALL_NODE, options);
  const { key, querySelector, topK = 5, filter, outputs } = given;
  const names = checkOptions("outputs of recallNode", RECALL_OUTPUTS, outputs);
  checkNode("recallNode", given);
  checkWhole("topK", topK, 0);
  if (key !== undefined) checkText("key", key);
  return async (state, run = {}) => {
    const variables = poolOf(state, run);
    const query: MemoryQuery = { namespace: namespaceOf(given, run), top_k: topK };
    if (filter !== undefined) query.filter = filter;
    if (key !== undefined) query.key = render("recallNode", key, variables);
    else if (querySelector !== undefined) query.query_text = textAt(querySelector, variables, run);
    const results = await providerOf("recallNode", given, run).recall(query);
    return { [names.results ?? "results"]: results, [names.count ?? "count"]: results.length };
  };
}

/**
 * A node that stores an entry in a provider: `stored`, and the `key` with its slots filled. The
 * thread and the checkpoint are kept in `sources` of its metadata.
 *
 *     graph.addNode("store", rememberNode({ key: "exchange_{{#sys.execution_id#}}", valueSelector: "answer" }))
 */
export function rememberNode(options: RememberNodeOptions): MemoryNode {
  const given = checkOptions("rememberNode", REMEMBER_NODE, options);
  const { key, valueSelector, metadata, metadataSelectors = {}, origin, outputs } = given;
  const names = checkOptions("outputs of rememberNode", REMEMBER_OUTPUTS, outputs);
  checkNode("rememberNode", given);
  checkText("key", key);
  if (valueSelector === undefined) throw invalid("rememberNode needs a valueSelector");
  if (origin !== undefined) checkChoice("origin", Origin, origin);
  return async (state, run = {}) => {
    const variables = poolOf(state, run);
    const rendered = render("rememberNode", key, variables);
    const value = select(valueSelector, variables, run);
    if (value === undefined) {
      throw invalid(`rememberNode: valueSelector finds nothing: ${show(valueSelector)}`);
    }
    const selected = Object.entries(metadataSelectors).map(([name, selector]) => [
      name,
      select(selector, variables, run),
    ]);
    const source = sourceOf(run);
    await providerOf("rememberNode", given, run).store({
      namespace: namespaceOf(given, run),
      key: rendered,
      value,
      metadata: {
        ...(source && { sources: [source] }),
        ...metadata,
        ...Object.fromEntries(selected),
      },
      origin: origin ?? originOf(value),
    });
    return { [names.stored ?? "stored"]: true, [names.key ?? "key"]: rendered };
  };
}

// The last of those that are among them: whose word counts least.
const BY_TYPE = [
  ["human", "user"],
  ["ai", "model"],
  ["tool", "tool"],
] as const;

function originOf(value: unknown): Origin {
  const all = Array.isArray(value) ? value : [value];
  const types = all.map((one) => (isBaseMessage(one) ? one.type : "ai"));
  return BY_TYPE.findLast(([type]) => types.includes(type))?.[1] ?? "model";
}

function checkNode(call: string, { provider, scope, namespace, sources }: NodeOptions): void {
  checkSources(call, sources);
  if (scope !== undefined) checkScopeName(scope, `scope of ${call}`);
  if (provider !== undefined && typeof provider?.recall !== "function") {
    throw invalid(`provider of ${call} must be a MemoryProvider: ${show(provider)}`);
  }
  if (scope !== undefined && namespace !== undefined) {
    throw invalid(`${call} takes a scope or a namespace, not both`);
  }
}

function providerOf(call: string, { provider }: NodeOptions, run: Run): MemoryProvider {
  if (provider !== undefined) return provider;
  const store = unwrapStore<KeepsakeStore>(run.store as object | undefined);
  if (store !== undefined) return new MemoryProvider(store);
  throw invalid(`${call} has no provider: give it one, or compile the graph with a store`);
}

function namespaceOf(options: NodeOptions, run: Run): string {
  const { scope = "conversation", namespace, sources } = options;
  return namespace ?? resolveNamespace(scope, runOf(run), { sources });
}

interface Pool {
  state: object;
  sys: object;
}

// The state, and what is known of the run: `sys`. LangGraph tells nodes of no run's id, unless
// it is in `configurable`; the id of the node's task is as unique.
function poolOf(state: object, run: Run): Pool {
  const { runId, taskId } = Object(run.executionInfo) as { runId?: string; taskId?: string };
  const sys = {
    timestamp: new Date().toISOString(),
    execution_id: run.configurable?.run_id ?? runId ?? taskId,
    // What the server says of the run counts more.
    ...run.configurable,
    ...(Object(run.context) as object),
  };
  return { state, sys };
}

function render(call: string, template: string, pool: Pool): string {
  return fill(template, { sys: pool.sys, ...pool.state }, (path) => {
    throw invalid(`${call}: nothing is at "${path}", which its key needs: ${show(template)}`);
  });
}

function select(selector: Selector, pool: Pool, run: Run): unknown {
  if (typeof selector === "function") return selector(pool.state, run);
  const path = typeof selector === "string" ? selector.split(".") : selector;
  return at({ sys: pool.sys, ...pool.state }, path);
}

// Of a list of messages, what the user said last.
function textAt(selector: Selector, pool: Pool, run: Run): string {
  const found = select(selector, pool, run);
  if (typeof found === "string") return found;
  if (Array.isArray(found)) {
    const { text } = Object(found[lastOfUser(found)]) as { text?: unknown };
    if (typeof text === "string") return text;
  }
  throw invalid(`recallNode: querySelector must find a text or messages of a user: ${show(found)}`);
}
