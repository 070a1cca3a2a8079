// The agent: one LangGraph graph over the page's store and checkpointer. A person's message
// goes to the model, which may call tools until it answers; a turn of a recording is only
// kept.
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { Command, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph/web";
import { unwrapStore } from "keepsake";
import { sessionNamespace } from "./items.mjs";
import { TOOLS } from "./tools.mjs";

export class Agent {
  #graph;
  #model;

  // `memory` has a store and a checkpointer; `model` answers which model speaks now.
  constructor({ memory, model }) {
    this.#model = model;
    this.#graph = this.#build().compile(memory);
  }

  /** Runs until the agent answers or asks; calls `onMessages` after each step. */
  say(threadId, text, onMessages) {
    const message = new HumanMessage({ id: crypto.randomUUID(), content: text });
    return this.#run({ messages: [message] }, threadId, onMessages);
  }

  /** Goes on from the question that the agent asked. */
  decide(threadId, approved, onMessages) {
    return this.#run(new Command({ resume: { approved } }), threadId, onMessages);
  }

  /** Goes on from the last checkpoint of a run that did not end. */
  goOn(threadId, onMessages) {
    return this.#run(null, threadId, onMessages);
  }

  /** Keeps one turn of a recording, without an answer. */
  async listen(threadId, recording, turn) {
    const { id, speaker, text, session, date, place } = turn;
    const additional_kwargs = { recording, session, date, place };
    const message = new HumanMessage({ id, name: speaker, content: text, additional_kwargs });
    await this.#graph.invoke({ messages: [message] }, configOf(threadId));
  }

  /** → {messages, question, isUnfinished}: `question` is what the agent waits for. */
  async state(threadId) {
    const { values, tasks } = await this.#graph.getState(configOf(threadId));
    const question = tasks.flatMap(({ interrupts }) => interrupts)[0]?.value;
    // `next` is empty, too, where each task of a step has ended and the next step's checkpoint
    // was not written.
    const isUnfinished = question === undefined && tasks.length > 0;
    return { messages: values.messages ?? [], question, isUnfinished };
  }

  /** → [{checkpointId, at, messages}], the thread after each of its turns, the first first */
  async moments(threadId) {
    const moments = [];
    for await (const state of this.#graph.getStateHistory(configOf(threadId))) {
      const { config, createdAt, values, tasks } = state;
      if (tasks.length > 0 || !values.messages?.length) continue;
      const { checkpoint_id: checkpointId } = config.configurable;
      moments.unshift({ checkpointId, at: new Date(createdAt), messages: values.messages });
    }
    return moments;
  }

  async #run(input, threadId, onMessages) {
    const config = { ...configOf(threadId), streamMode: "values" };
    for await (const { messages } of await this.#graph.stream(input, config)) {
      if (messages) onMessages(messages);
    }
  }

  #build() {
    return new StateGraph(MessagesAnnotation)
      .addNode("listen", keepTurn)
      .addNode("respond", async ({ messages }) => ({
        messages: [await this.#model().respond(messages)],
      }))
      .addNode("tools", runTools)
      .addConditionalEdges(START, ({ messages }) =>
        isTurn(messages.at(-1)) ? "listen" : "respond",
      )
      .addEdge("listen", END)
      .addConditionalEdges("respond", ({ messages }) =>
        messages.at(-1).tool_calls?.length > 0 ? "tools" : END,
      )
      .addEdge("tools", "respond");
  }
}

function configOf(threadId) {
  return { configurable: { thread_id: threadId } };
}

function isTurn(message) {
  return message.additional_kwargs?.recording !== undefined;
}

async function keepTurn({ messages }, config) {
  const { id, name, content, additional_kwargs } = messages.at(-1);
  const { recording, session, date, place } = additional_kwargs;
  const value = { text: `${name}: ${content}`, speaker: name, date, session, place };
  // LangGraph hands nodes a wrapper around the store; the real one answers at once.
  await unwrapStore(config.store).put(sessionNamespace(recording, session), id, value);
  return {};
}

async function runTools({ messages }, config) {
  const store = unwrapStore(config.store);
  const results = [];
  for (const call of messages.at(-1).tool_calls) {
    results.push(await resultOf(call, { store, config }));
  }
  return { messages: results };
}

async function resultOf({ id, name, args }, context) {
  const message = (content, status) =>
    new ToolMessage({ tool_call_id: id, name, status, content: JSON.stringify(content) });
  const tool = TOOLS[name];
  if (tool === undefined) return message({ error: `there is no tool ${name}` }, "error");
  try {
    return message(await tool.run(args, context), "success");
  } catch (error) {
    // The model's mistake is told to the model; all else ends the run.
    if (!isMistake(error)) throw error;
    return message({ error: error.message }, "error");
  }
}

function isMistake({ code }) {
  return typeof code === "string" && code.startsWith("invalid_");
}
