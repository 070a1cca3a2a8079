// Memory for a graph of LangGraph: its nodes read in `messages` what is recalled, too. It is in no
// state, so that checkpoints, other nodes and later turns know nothing of it.

import { type BaseMessage, coerceMessageLikeToMessage } from "@langchain/core/messages";
import { Runnable, type RunnableConfig } from "@langchain/core/runnables";
import { takesKeys } from "../prompt/item-text.js";
import { arranged } from "./messages.js";
import type { Run } from "./place.js";
import type { Recaller } from "./recall.js";

/** A graph that was compiled. */
export interface Graph {
  readonly lg_is_pregel: boolean;
  readonly nodes: object;
}

// A node, which writes what its runnable answers.
interface GraphNode {
  readonly bound: Runnable;
  readonly subgraphs?: readonly unknown[] | undefined;
}

type State = Readonly<Record<string, unknown>>;

const START = "__start__";

/** @internal */
export function isGraph(target: unknown): target is Graph {
  return (target as Partial<Graph> | null | undefined)?.lg_is_pregel === true;
}

/** The same graph, in which each node that reads `messages` recalls. @internal */
export function graphWithMemory<G extends Graph>(graph: G, recaller: Recaller): G {
  const entries = Object.entries(graph.nodes as Record<string, GraphNode>);
  // A node of tools has those of the models beside it.
  const isKeyed = entries.some(([, { bound }]) => takesKeys((bound as { tools?: unknown }).tools));
  const nodes = entries.map(([name, node]) => [
    name,
    name === START ? node : nodeWithMemory(node, recaller, isKeyed),
  ]);
  return changed(graph, { nodes: Object.fromEntries(nodes) });
}

function nodeWithMemory(node: GraphNode, recaller: Recaller, isKeyed: boolean): GraphNode {
  const { bound } = node;
  // What a graph is given becomes its state: its own nodes recall instead.
  const remembering = isGraph(bound)
    ? (graphWithMemory(bound, recaller) as unknown as Runnable)
    : new Remembering(bound, recaller, isKeyed);
  const subgraphs = node.subgraphs?.map((one) => (one === bound ? remembering : one));
  return changed(node, { bound: remembering, subgraphs, tags: undefined });
}

// As LangGraph itself copies graphs and nodes.
function changed<T extends object>(whole: T, parts: object): T {
  return new (whole.constructor as new (fields: object) => T)({ ...whole, ...parts });
}

class Remembering extends Runnable {
  override lc_namespace = ["keepsake", "langchain"];
  readonly #bound: Runnable;
  readonly #recaller: Recaller;
  readonly #isKeyed: boolean;

  constructor(bound: Runnable, recaller: Recaller, isKeyed: boolean) {
    super();
    this.#bound = bound;
    this.#recaller = recaller;
    this.#isKeyed = isKeyed;
  }

  override getName(suffix?: string): string {
    return this.#bound.getName(suffix);
  }

  override async invoke(state: unknown, config?: Partial<RunnableConfig>): Promise<unknown> {
    const given = (state as { messages?: unknown } | null)?.messages;
    if (!Array.isArray(given) || given.length === 0) return this.#bound.invoke(state, config);
    const messages = given.map(coerceMessageLikeToMessage);
    const found = await this.#recaller.recall(messages, (config ?? {}) as Run, this.#isKeyed);
    const shown = arranged(messages, found, this.#recaller.position);
    const answer = await this.#bound.invoke({ ...(state as State), messages: shown }, config);
    const added = new Set(shown.filter((message) => !messages.includes(message)));
    return added.size === 0 ? answer : without(added, answer);
  }
}

// What a node answers, be it all messages that it read, a command, or several of either. A copy
// only of what something is taken out of: a node may answer what only it knows how to make.
function without(added: ReadonlySet<BaseMessage>, answer: unknown): unknown {
  if (Array.isArray(answer)) {
    const kept = answer.filter((one) => !added.has(one)).map((one) => without(added, one));
    const isSame = kept.length === answer.length && kept.every((one, i) => one === answer[i]);
    return isSame ? answer : kept;
  }
  if (typeof answer !== "object" || answer === null) return answer;
  const { messages, update } = answer as { messages?: unknown; update?: unknown };
  if (Array.isArray(messages)) return withField(answer, "messages", without(added, messages));
  if (typeof update !== "object" || update === null) return answer;
  return withField(answer, "update", without(added, update));
}

function withField(whole: object, name: string, value: unknown): object {
  if (whole[name as keyof typeof whole] === value) return whole;
  const same = Object.create(Object.getPrototypeOf(whole)) as object;
  return Object.assign(same, whole, { [name]: value });
}
