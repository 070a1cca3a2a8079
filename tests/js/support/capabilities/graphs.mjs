// Graphs of LangGraph over a memory. Each case opens it anew where a process would.

import { RemoveMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  END,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { storeNamespace } from "keepsake";
import { AIMessage, fakeModel } from "langchain";

const append = () => Annotation({ reducer: (a, b) => a.concat(b), default: () => [] });
const thread = (thread_id, more = {}) => ({ configurable: { thread_id, ...more } });

async function collect(list) {
  const all = [];
  for await (const one of list) all.push(one);
  return all;
}

/** a → b, each adding its name. */
function chain() {
  return new StateGraph(Annotation.Root({ log: append() }))
    .addNode("a", () => ({ log: ["a"] }))
    .addNode("b", () => ({ log: ["b"] }))
    .addEdge(START, "a")
    .addEdge("a", "b")
    .addEdge("b", END);
}

const over = (builder, { store, checkpointer }) => builder.compile({ store, checkpointer });

/** A node that searches what its config says, or nothing where there is no store. */
function reader(options) {
  const read = async (_state, config) => {
    const items = (await config.store?.search(storeNamespace(config, options))) ?? [];
    return { found: items.map(({ key }) => key) };
  };
  return new StateGraph(Annotation.Root({ found: Annotation() }))
    .addNode("read", read)
    .addEdge(START, "read");
}

export const graphCases = [
  {
    name: "a store has the latest of all threads, a checkpointer the history of each",
    async run({ open, reopen, expect }) {
      const first = await open();
      const builder = new StateGraph(Annotation.Root({ n: Annotation() }))
        .addNode("count", async ({ n }, { store, configurable }) => {
          await store.put(["counts"], "last", { n: n + 1, by: configurable.thread_id });
          return { n: n + 1 };
        })
        .addEdge(START, "count");
      const graph = over(builder, first);
      for (const id of ["one", "two"]) await graph.invoke({ n: 10 }, thread(id));
      await graph.invoke({ n: 20 }, thread("one"));
      const memory = await reopen(first);
      const again = over(builder, memory);
      // What was put, by whom it was put last; it can be searched by its fields.
      const items = await memory.store.search([], { filter: { by: "one" } });
      expect(items.map(({ key, value }) => [key, value])).toEqual([["last", { n: 21, by: "one" }]]);
      expect((await memory.store.stats()).items).toBe(1);
      // What nobody put by hand: every step of each thread, as a whole state.
      const states = async (id) =>
        (await collect(again.getStateHistory(thread(id)))).map(({ values }) => values.n);
      expect(await states("one")).toEqual([21, 20, 11, 11, 10, undefined]);
      expect(await states("two")).toEqual([11, 10, undefined]);
      // Each goes without the other.
      await memory.checkpointer.deleteThread("one");
      expect((await memory.store.get(["counts"], "last")).value.n).toBe(21);
      await memory.store.delete(["counts"], "last");
      expect(await states("two")).toEqual([11, 10, undefined]);
    },
  },
  {
    name: "thread, checkpoint, namespace and user are what the config says",
    async run({ open, reopen, expect }) {
      const State = Annotation.Root({ log: append() });
      const inner = new StateGraph(State)
        .addNode("before", () => ({ log: ["before"] }))
        .addNode("wait", () => ({ log: [interrupt("inner?")] }))
        .addEdge(START, "before")
        .addEdge("before", "wait")
        .compile();
      const builder = new StateGraph(State)
        .addNode("outer", async (_state, { store, configurable }) => {
          await store.put([configurable.user_id, "memories"], "k", {});
          return { log: ["outer"] };
        })
        .addNode("inner", inner)
        .addEdge(START, "outer")
        .addEdge("outer", "inner");
      const first = await open();
      const config = thread("t", { user_id: "ada" });
      await over(builder, first).invoke({ log: [] }, config);
      const memory = await reopen(first);
      const graph = over(builder, memory);
      expect(await memory.store.listNamespaces()).toEqual([["ada", "memories"]]);
      const { tasks, config: root } = await graph.getState(config, { subgraphs: true });
      expect(root.configurable).toMatchObject({ thread_id: "t", checkpoint_ns: "" });
      expect(tasks[0].state.config.configurable.checkpoint_ns).toMatch(/^inner:/);
      expect(tasks[0].state.values.log).toEqual(["outer", "before"]);
      const { log } = await graph.invoke(new Command({ resume: "answer" }), config);
      expect(log.slice(-2)).toEqual(["before", "answer"]);
      const { checkpoint_id } = root.configurable;
      expect((await graph.getState(thread("t", { checkpoint_id }))).next).toEqual(["inner"]);
      expect((await graph.getState(thread("other"))).values).toEqual({});
    },
  },
  {
    name: "a graph without a thread reads and writes no checkpoint",
    async run({ open, expect }) {
      const memory = await open();
      let runs = 0;
      const builder = () =>
        new StateGraph(Annotation.Root({ log: append() }))
          .addNode("a", () => {
            runs += 1;
            return { log: ["a"] };
          })
          .addEdge(START, "a");
      const plain = builder().compile({ store: memory.store });
      for (const config of [undefined, {}, thread("t")]) {
        expect(await plain.invoke({ log: [] }, config)).toEqual({ log: ["a"] });
      }
      expect(runs).toBe(3);
      const graph = over(builder(), memory);
      for (const config of [undefined, {}, thread(undefined)]) {
        await expect(graph.invoke({ log: [] }, config)).rejects.toMatchObject({
          code: "thread_id_required",
        });
      }
      const { checkpointer } = await memory.stats();
      expect(checkpointer).toMatchObject({ threads: 0, checkpoints: 0, writes: 0 });
      await graph.invoke({ log: [] }, thread("t"));
      expect((await memory.stats()).checkpointer.threads).toBe(1);
    },
  },
  {
    name: "a run goes on from the last checkpoint, with its input merged, and keeps each step",
    async run({ open, reopen, expect }) {
      const asking = chain()
        .addNode("ask", () => ({ log: [interrupt("go on?")] }))
        .addEdge("b", "ask");
      const first = await open();
      const paused = await over(asking, first).invoke({ log: ["1"] }, thread("t"));
      expect(paused.__interrupt__.map(({ value }) => value)).toEqual(["go on?"]);
      const second = await reopen(first);
      const resumed = await over(asking, second).invoke(
        new Command({ resume: "yes" }),
        thread("t"),
      );
      expect(resumed.log).toEqual(["1", "a", "b", "yes"]);
      const third = await reopen(second);
      const graph = over(chain(), third);
      expect((await graph.invoke({ log: ["2"] }, thread("t"))).log).toEqual([
        "1",
        "a",
        "b",
        "yes",
        "2",
        "a",
        "b",
      ]);
      expect((await graph.invoke({ log: ["2"] }, thread("u"))).log).toEqual(["2", "a", "b"]);
      const steps = (await collect(graph.getStateHistory(thread("u")))).map(
        ({ values }) => values.log,
      );
      expect(steps).toEqual([["2", "a", "b"], ["2", "a"], ["2"], []]);
    },
  },
  {
    name: "messages are a channel, merged by id, with all their history",
    async run({ open, reopen, expect }) {
      const builder = new StateGraph(
        Annotation.Root({ ...MessagesAnnotation.spec, topic: Annotation() }),
      )
        .addNode("answer", ({ messages }) => ({
          messages: [new AIMessage({ id: `re-${messages.length}`, content: "Fine." })],
        }))
        .addEdge(START, "answer");
      const said = (id, content) => ({ messages: [{ role: "user", id, content }] });
      const first = await open();
      await over(builder, first).invoke({ ...said("1", "Hello"), topic: "tea" }, thread("t"));
      await over(builder, first).invoke(said("1", "Other"), thread("u"));
      const memory = await reopen(first);
      const graph = over(builder, memory);
      await graph.invoke(said("2", "And now?"), thread("t"));
      // What has an id that is there takes its place, and what is removed goes.
      await graph.updateState(thread("t"), {
        messages: [
          { role: "user", id: "1", content: "Good day" },
          new RemoveMessage({ id: "re-1" }),
        ],
      });
      const { values } = await graph.getState(thread("t"));
      expect(values.messages.map(({ id, content }) => `${id}: ${content}`)).toEqual([
        "1: Good day",
        "2: And now?",
        "re-3: Fine.",
      ]);
      expect(values.topic).toBe("tea");
      // Each channel is stored with a version of its own.
      const { checkpoint } = await memory.checkpointer.getTuple(thread("t"));
      expect(checkpoint.channel_values.messages).toHaveLength(3);
      expect(checkpoint.channel_versions.topic).not.toBe(checkpoint.channel_versions.messages);
      const counts = (await collect(graph.getStateHistory(thread("t")))).map(
        (state) => state.values.messages?.length ?? 0,
      );
      expect(counts).toEqual([3, 4, 3, 2, 2, 1, 0]);
      expect((await graph.getState(thread("u"))).values.messages).toHaveLength(2);
    },
  },
  {
    name: "a run goes back to any checkpoint, and forks there without changing what was",
    async run({ open, reopen, expect }) {
      const first = await open();
      await over(chain(), first).invoke({ log: ["in"] }, thread("t"));
      const memory = await reopen(first);
      const graph = over(chain(), memory);
      const history = await collect(graph.getStateHistory(thread("t")));
      expect(history.map(({ values }) => values.log)).toEqual([
        ["in", "a", "b"],
        ["in", "a"],
        ["in"],
        [],
      ]);
      expect(history.map(({ metadata }) => metadata.step)).toEqual([2, 1, 0, -1]);
      const from = history[1].config;
      expect((await graph.invoke(null, from)).log).toEqual(["in", "a", "b"]);
      const fork = await graph.updateState(from, { log: ["forked"] });
      expect((await graph.invoke(null, fork)).log).toEqual(["in", "a", "forked", "b"]);
      expect((await graph.getState(history[0].config)).values.log).toEqual(["in", "a", "b"]);
      // A thread of its own from there.
      await memory.checkpointer.forkThread("t", history[2].config.configurable.checkpoint_id, "f");
      const apart = await reopen(memory);
      expect((await over(chain(), apart).invoke(null, thread("f"))).log).toEqual(["in", "a", "b"]);
      expect(await collect(apart.checkpointer.list(thread("f")))).toHaveLength(4);
    },
  },
  {
    name: "what is found goes into the prompt, and into no checkpoint",
    async run({ open, reopen, expect }) {
      const memory = await open();
      const model = fakeModel().respond(new AIMessage("Green tea."));
      await memory.store.put(["ada", "memories"], "tea", { text: "likes sencha best" });
      const builder = new StateGraph(MessagesAnnotation)
        .addNode("ask", async ({ messages }, config) => {
          const hits = await config.store.search(storeNamespace(config), { query: "tea" });
          const known = hits.map(({ value }) => value.text).join("\n");
          return { messages: [await model.invoke([["system", `Known:\n${known}`], ...messages])] };
        })
        .addEdge(START, "ask");
      const input = { messages: [{ role: "user", content: "Which tea?" }] };
      await over(builder, memory).invoke(input, thread("t", { user_id: "ada" }));
      expect(model.calls[0].messages[0].text).toBe("Known:\nlikes sencha best");
      const again = await reopen(memory);
      const kept = await collect(again.checkpointer.list(thread("t")));
      expect(kept.length).toBeGreaterThan(1);
      expect(JSON.stringify(kept)).toContain("Which tea?");
      expect(JSON.stringify(kept)).not.toContain("sencha");
      expect((await again.store.get(["ada", "memories"], "tea")).value.text).toContain("sencha");
    },
  },
  {
    name: "a graph reads [user_id, memories], or the namespace that its config names",
    async run({ open, expect }) {
      const memory = await open();
      await memory.store.put(["ada", "memories"], "tea", {});
      await memory.store.put(["ada", "preferences"], "theme", {});
      await memory.store.put(["team", "shared"], "rules", {});
      const found = async (configurable, graph = over(reader(), memory)) =>
        (await graph.invoke({}, thread("1", configurable))).found;
      expect(await found({ user_id: "ada" })).toEqual(["tea"]);
      expect(await found({ user_id: "bob" })).toEqual([]);
      const named = { user_id: "ada", store_namespace: ["team", "shared"] };
      const sources = ["store_namespace", "configurable"];
      const naming = (configurable) => found(configurable, over(reader({ sources }), memory));
      expect(await naming(named)).toEqual(["rules"]);
      expect(await naming({ user_id: "ada", store_namespace: "none" })).toEqual([]);
      await expect(found(named)).rejects.toThrow("it counts only with sources");
      await expect(found({})).rejects.toThrow("user_id is not set");
      // A graph may have none.
      expect(await found({ user_id: "ada" }, reader().compile())).toEqual([]);
    },
  },
];
