// Memory for a chat model that is called without an agent, and for a graph.

import type {
  BaseLanguageModelInput,
  StructuredOutputMethodOptions,
} from "@langchain/core/language_models/base";
import type { BindToolsInput } from "@langchain/core/language_models/chat_models";
import {
  type BaseMessage,
  coerceMessageLikeToMessage,
  HumanMessage,
} from "@langchain/core/messages";
import { ensureConfig, Runnable, type RunnableConfig } from "@langchain/core/runnables";
import { readInput, show } from "../checks.js";
import { invalid } from "../errors.js";
import { takesKeys } from "../prompt/item-text.js";
import { type Graph, graphWithMemory, isGraph } from "./graph-with-memory.js";
import { arranged } from "./messages.js";
import type { Run } from "./place.js";
import { type InjectionPosition, Recaller, type RecallOptions } from "./recall.js";

/** What a chat model is here. */
export interface Model<Output = BaseMessage> {
  invoke(input: BaseLanguageModelInput, options?: RunnableConfig): Promise<Output>;
  stream(input: BaseLanguageModelInput, options?: RunnableConfig): Promise<AsyncIterable<Output>>;
}

// What only a whole chat model can do.
interface WholeModel<Output> {
  bindTools?(tools: BindToolsInput[], kwargs?: object): Model<Output>;
  withStructuredOutput?(schema: object, options?: StructuredOutputMethodOptions): Model<never>;
}

/**
 * The model, which reads beside its messages what a memory knows of the user's last one. By
 * default of the conversation (`conversation_id` or `thread_id`), in a system message after
 * those that are there.
 *
 *     const model = withMemory(chatModel, { memory });
 *     await model.invoke(messages, config);
 */
export function withMemory<Output = BaseMessage>(
  model: Model<Output>,
  options?: RecallOptions,
): ModelWithMemory<Output>;
/**
 * The graph, whose nodes read in the `messages` of their state what a memory knows, just before
 * the user's last one. The state and its checkpoints stay as they are without.
 *
 *     const graph = withMemory(new StateGraph(…).compile({ checkpointer }), { memory });
 */
export function withMemory<G extends Graph>(graph: G, options?: RecallOptions): G;
export function withMemory(
  target: Model | Graph,
  options: RecallOptions = {},
): ModelWithMemory | Graph {
  return readInput("what withMemory takes", () => make(target, options));
}

function make(target: Model | Graph, options: RecallOptions): ModelWithMemory | Graph {
  const whose = options.namespace === undefined ? { scope: "conversation" as const } : {};
  const recallerAt = (position: InjectionPosition) =>
    new Recaller("withMemory", { ...whose, ...options }, position);
  if (isGraph(target)) return graphWithMemory(target, recallerAt("before_user"));
  if (isGraph((target as { graph?: unknown } | undefined)?.graph)) {
    throw invalid(
      "withMemory takes a chat model or a graph: an agent takes middleware: [memoryMiddleware(…)]",
    );
  }
  if (typeof target?.invoke !== "function") {
    throw invalid(`withMemory takes a chat model or a compiled graph: ${show(target)}`);
  }
  return new ModelWithMemory(target, recallerAt("after_system"));
}

/** A chat model with a memory: `withMemory()` makes one. */
export class ModelWithMemory<Output = BaseMessage> extends Runnable<
  BaseLanguageModelInput,
  Output
> {
  override lc_namespace = ["keepsake", "langchain"];
  readonly #model: Model<Output>;
  readonly #recaller: Recaller;
  readonly #isKeyed: boolean;

  /** @internal */
  constructor(model: Model<Output>, recaller: Recaller, isKeyed = false) {
    super();
    this.#model = model;
    this.#recaller = recaller;
    this.#isKeyed = isKeyed;
  }

  override async invoke(
    input: BaseLanguageModelInput,
    options?: Partial<RunnableConfig>,
  ): Promise<Output> {
    return this.#model.invoke(await this.#withMemory(input, options), options);
  }

  override async *_streamIterator(
    input: BaseLanguageModelInput,
    options?: Partial<RunnableConfig>,
  ): AsyncGenerator<Output> {
    yield* await this.#model.stream(await this.#withMemory(input, options), options);
  }

  /** The same with tools. */
  bindTools(tools: BindToolsInput[], kwargs?: object): ModelWithMemory<Output> {
    const { bindTools } = this.#model as WholeModel<Output>;
    if (bindTools === undefined) throw invalid("withMemory: the model takes no tools");
    const model = bindTools.call(this.#model, tools, kwargs);
    return new ModelWithMemory(model, this.#recaller, takesKeys(tools));
  }

  /** The same, which answers an object. */
  withStructuredOutput<Answer>(
    schema: object,
    options?: StructuredOutputMethodOptions,
  ): ModelWithMemory<Answer> {
    const { withStructuredOutput } = this.#model as WholeModel<Output>;
    if (withStructuredOutput === undefined) {
      throw invalid("withMemory: the model has no structured output");
    }
    const model = withStructuredOutput.call(this.#model, schema, options);
    return new ModelWithMemory(model as Model<Answer>, this.#recaller, this.#isKeyed);
  }

  async #withMemory(
    input: BaseLanguageModelInput,
    options?: Partial<RunnableConfig>,
  ): Promise<BaseMessage[]> {
    const messages = messagesOf(input);
    const run = ensureConfig(options) as Run;
    const found = await this.#recaller.recall(messages, run, this.#isKeyed);
    return arranged(messages, found, this.#recaller.position);
  }
}

function messagesOf(input: BaseLanguageModelInput): BaseMessage[] {
  if (typeof input === "string") return [new HumanMessage(input)];
  return Array.isArray(input) ? input.map(coerceMessageLikeToMessage) : input.toChatMessages();
}
