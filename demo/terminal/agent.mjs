// The agent: a LangGraph graph that listens to a conversation turn by turn, and one
// that answers questions from what the first has stored. Each has its own thread; they
// share nothing but the store.
import { HumanMessage } from "@langchain/core/messages";
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { unwrapStore } from "keepsake";

export const RECALLED = 5;

export class Agent {
  #memory;
  #model;
  #id;
  #listener;
  #answerer;

  // `memory` has a store and a checkpointer; `id` tells conversations in one file apart.
  constructor({ memory, model, id }) {
    this.#memory = memory;
    this.#model = model;
    this.#id = id.replace(/[.:\0]/g, "-"); // what a namespace label must not contain
    this.#listener = this.#listenerGraph();
    this.#answerer = this.#answererGraph();
  }

  get thread() {
    return { configurable: { thread_id: `${this.#id}/conversation` } };
  }

  get namespace() {
    return ["conversations", this.#id];
  }

  // One turn is one run of the graph on the conversation's thread.
  async listen(turn) {
    const message = new HumanMessage({
      id: turn.id,
      name: turn.speaker,
      content: turn.text,
      additional_kwargs: { session: turn.session, date: turn.date, place: turn.place },
    });
    await this.#listener.invoke({ messages: [message] }, this.thread);
  }

  // How many turns were kept: an interrupted demo goes on from there. The last one of a run
  // that did not end may be in the thread and not in the store.
  async heard() {
    const { values, tasks } = await this.state();
    const messages = values.messages ?? [];
    return messages.length - (tasks.length > 0 ? 1 : 0);
  }

  // The thread's state now, or as it was at an earlier checkpoint.
  state(config = this.thread) {
    return this.#listener.getState(config);
  }

  async recall(question) {
    return this.#memory.store.search(this.namespace, { query: question, limit: RECALLED });
  }

  // Recall and answer, as a run of the second graph: → {recalled, answer}
  async ask(question) {
    const thread = { configurable: { thread_id: `${this.#id}/questions` } };
    return this.#answerer.invoke({ question }, thread);
  }

  // The state right after a turn. The item of the turn knows the step that stored it,
  // and the saver finds a step by its metadata.
  async stateAfter(turn) {
    const item = await this.#memory.store.get(this.#sessionNamespace(turn.session), turn.id);
    if (item === null) return null;
    const filter = { source: "loop", step: item.value.step };
    for await (const state of this.#listener.getStateHistory(this.thread, { filter, limit: 1 })) {
      return state;
    }
    return null;
  }

  // Another continuation of an earlier state; the thread goes on from there.
  async fork(state, { speaker, text }) {
    const message = new HumanMessage({ id: "fork", name: speaker, content: text });
    return this.state(await this.#listener.updateState(state.config, { messages: [message] }));
  }

  // Makes the given state the thread's latest again.
  async goOnFrom(state) {
    return this.state(await this.#listener.updateState(state.config, null, "__copy__"));
  }

  #listenerGraph() {
    const remember = async (state, config) => {
      const message = state.messages.at(-1);
      const { session, date, place } = message.additional_kwargs;
      // LangGraph hands nodes a wrapper around the store; the real one answers at once.
      await unwrapStore(config.store).put(this.#sessionNamespace(session), message.id, {
        text: `${message.name}: ${message.content}`,
        speaker: message.name,
        date,
        session,
        place,
        step: config.metadata.langgraph_step,
      });
      return {};
    };
    return new StateGraph(MessagesAnnotation)
      .addNode("remember", remember)
      .addEdge(START, "remember")
      .addEdge("remember", END)
      .compile(this.#memory);
  }

  #answererGraph() {
    const state = Annotation.Root({
      question: Annotation(),
      recalled: Annotation(),
      answer: Annotation(),
    });
    return new StateGraph(state)
      .addNode("recall", async ({ question }) => ({ recalled: await this.recall(question) }))
      .addNode("respond", async ({ question, recalled }) => ({
        answer: await this.#model.answer(question, recalled),
      }))
      .addEdge(START, "recall")
      .addEdge("recall", "respond")
      .addEdge("respond", END)
      .compile(this.#memory);
  }

  #sessionNamespace(session) {
    return [...this.namespace, `session-${String(session).padStart(2, "0")}`];
  }
}
