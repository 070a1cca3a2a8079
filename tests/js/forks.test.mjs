// A fork of an older checkpoint goes on as the official saver's thread does from there, which
// answers anew; one of the newest goes on where it stands.

import {
  Annotation,
  Command,
  DeltaChannel,
  entrypoint,
  interrupt,
  MemorySaver as OfficialSaver,
  Send,
  START,
  StateGraph,
  task,
} from "@langchain/langgraph";
import { MemorySaver, SqliteSaver } from "keepsake";
import { AIMessage, createAgent, fakeModel, tool } from "langchain";
import { z } from "zod";

const State = Annotation.Root({
  log: Annotation({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

// What each node adds says how often it was called, so that a second answer is another one.
function counting() {
  const calls = {};
  const say = (name) => {
    calls[name] = (calls[name] ?? 0) + 1;
    return { log: [`${name} ${calls[name]}`] };
  };
  return { calls, say };
}

const questionOf = (name) => `may ${name}?`;

// biome-ignore format: a graph each
const graphs = {
  "a chain": ({ say }, checkpointer) =>
    new StateGraph(State)
      .addNode("a", () => say("a"))
      .addNode("b", () => say("b"))
      .addEdge(START, "a")
      .addEdge("a", "b")
      .compile({ checkpointer }),
  "branches": ({ say }, checkpointer) =>
    new StateGraph(State)
      .addNode("a", () => say("a"))
      .addNode("b", () => say("b"))
      .addNode("c", () => say("c"))
      .addEdge(START, "a")
      .addEdge(START, "b")
      .addEdge(["a", "b"], "c")
      .compile({ checkpointer }),
  "what is sent": ({ say }, checkpointer) =>
    new StateGraph(State)
      .addNode("a", () => say("a"))
      .addNode("each", ({ i }) => say(`each ${i}`))
      .addEdge(START, "a")
      .addConditionalEdges("a", () => [new Send("each", { i: 1 }), new Send("each", { i: 2 })], ["each"])
      .compile({ checkpointer }),
  "a subgraph": ({ say }, checkpointer) =>
    new StateGraph(State)
      .addNode("inner", new StateGraph(State)
        .addNode("s", () => say("s"))
        .addNode("t", () => say("t"))
        .addEdge(START, "s")
        .addEdge("s", "t")
        .compile())
      .addNode("b", () => say("b"))
      .addEdge(START, "inner")
      .addEdge("inner", "b")
      .compile({ checkpointer }),
  "a command": ({ say }, checkpointer) =>
    new StateGraph(State)
      .addNode("a", () => new Command({ update: say("a"), goto: "b" }), { ends: ["b"] })
      .addNode("b", () => say("b"))
      .addEdge(START, "a")
      .compile({ checkpointer }),
  "tasks": ({ say }, checkpointer) => {
    const one = task("one", async () => say("one").log[0]);
    return entrypoint({ name: "tasks", checkpointer }, async (input) => [input.log[0], await one(), say("end").log[0]]);
  },
};

const deltas = () =>
  new DeltaChannel((log, more) => [...log, ...more.flat()], {
    snapshotFrequency: 3,
    initialValueFactory: () => [],
  });

graphs["a delta channel"] = ({ say }, checkpointer) =>
  new StateGraph(Annotation.Root({ log: deltas }))
    .addNode("a", () => say("a"))
    .addNode("b", () => say("b"))
    .addNode("c", () => say("c"))
    .addEdge(START, "a")
    .addEdge(START, "b")
    .addEdge(["a", "b"], "c")
    .compile({ checkpointer });

const asking = {
  "a node": ({ say }, checkpointer) =>
    new StateGraph(State)
      .addNode("a", () => say("a"))
      .addNode("ask", () => ({ log: [interrupt(questionOf("ask"))] }))
      .addNode("beside", () => say("beside"))
      .addEdge(START, "a")
      .addEdge("a", "ask")
      .addEdge("a", "beside")
      .compile({ checkpointer }),
  "a subgraph": ({ say }, checkpointer) =>
    new StateGraph(State)
      .addNode("a", () => say("a"))
      .addNode(
        "inner",
        new StateGraph(State)
          .addNode("s", () => say("s"))
          .addNode("ask", () => ({ log: [interrupt(questionOf("ask"))] }))
          .addNode("t", () => say("t"))
          .addEdge(START, "s")
          .addEdge("s", "ask")
          .addEdge("ask", "t")
          .compile(),
      )
      .addEdge(START, "a")
      .addEdge("a", "inner")
      .compile({ checkpointer }),
};

const thread = (id) => ({ configurable: { thread_id: id } });
const input = { log: ["in"] };
const logOf = (result) => result.log ?? result;

async function historyOf(graph) {
  const states = [];
  for await (const state of graph.getStateHistory(thread("t"))) states.push(state);
  return states;
}

const savers = {
  MemorySaver: () => new MemorySaver(),
  SqliteSaver: () => SqliteSaver.fromConnString(":memory:"),
};

describe.each(Object.entries(savers))("%s", (_, makeSaver) => {
  let saver;

  beforeEach(() => {
    saver = makeSaver();
  });

  afterEach(() => saver.close());

  test.each(Object.entries(graphs))("forks %s to have it done anew", async (_name, make) => {
    const length = (await runOf(make, new OfficialSaver())).history.length;
    for (let i = 1; i < length; i += 1) {
      const official = await runOf(make, new OfficialSaver());
      const again = await official.graph.invoke(null, official.history[i].config);
      const ours = await runOf(make, makeSaver());
      const { checkpoint_id } = ours.history[i].config.configurable;
      await ours.saver.forkThread("t", checkpoint_id, "fork");
      const state = await ours.graph.getState(thread("fork"));
      expect(state.next).toEqual(ours.history[i].next);
      expect(logOf(await ours.graph.invoke(null, thread("fork")))).toEqual(logOf(again));
      expect(ours.calls).toEqual(official.calls);
      expect((await ours.graph.getState(thread("t"))).values).toEqual(ours.history[0].values);
      await ours.saver.close();
    }
  });

  async function runOf(make, checkpointer) {
    const { calls, say } = counting();
    const graph = make({ say }, checkpointer);
    await graph.invoke(input, thread("t"));
    await graph.invoke({ log: ["again"] }, thread("t"));
    return { graph, calls, saver: checkpointer, history: await historyOf(graph) };
  }

  test("asks again for an approval of an agent that was given", async () => {
    const send = tool(({ text }) => `${interrupt(`send ${text}?`)}: ${text}`, {
      name: "send",
      schema: z.object({ text: z.string() }),
    });
    const model = fakeModel()
      .respondWithTools([
        { name: "send", args: { text: "one" } },
        { name: "send", args: { text: "two" } },
      ])
      .respond(new AIMessage("Done."))
      .respond(new AIMessage("Done again."));
    const agent = createAgent({ model, tools: [send], checkpointer: saver });
    await agent.invoke({ messages: [{ role: "user", content: "send both" }] }, thread("t"));
    const resume = async (id, answer) => {
      const { tasks } = await agent.graph.getState(thread(id));
      const asked = tasks.flatMap(({ interrupts }) => interrupts);
      expect(asked.map(({ value }) => value)).toEqual(["send one?", "send two?"]);
      const answers = Object.fromEntries(asked.map((question) => [question.id, answer]));
      const { messages } = await agent.invoke(new Command({ resume: answers }), thread(id));
      return messages.slice(2).map(({ text }) => text);
    };
    const { config } = await agent.graph.getState(thread("t"));
    expect(await resume("t", "yes")).toEqual(["yes: one", "yes: two", "Done."]);
    await saver.forkThread("t", config.configurable.checkpoint_id, "fork");
    expect(await resume("fork", "no")).toEqual(["no: one", "no: two", "Done again."]);
  });

  describe.each(Object.entries(asking))("a question of %s", (name, make) => {
    let graph;
    let calls;
    let asked;

    beforeEach(async () => {
      const counted = counting();
      calls = counted.calls;
      graph = make(counted, saver);
      await graph.invoke(input, thread("t"));
      asked = await graph.getState(thread("t"));
      expect(asked.tasks.flatMap(({ interrupts }) => interrupts)).toMatchObject([
        { value: questionOf("ask") },
      ]);
    });

    const fork = (to) => saver.forkThread("t", asked.config.configurable.checkpoint_id, to);
    const expected = (answer) =>
      name === "a node" ? ["in", "a 1", answer] : ["in", "a 1", "s 1", answer];

    test("stands in a fork before and after it was answered", async () => {
      await fork("before");
      expect(await graph.invoke(new Command({ resume: "yes" }), thread("t"))).toMatchObject({
        log: expect.arrayContaining(expected("yes")),
      });
      await fork("after");
      for (const [id, answer] of [
        ["before", "no"],
        ["after", "never"],
      ]) {
        const [question] = (await graph.getState(thread(id))).tasks.flatMap(
          ({ interrupts }) => interrupts,
        );
        expect(question.value).toBe(questionOf("ask"));
        const resume = { [question.id]: answer };
        const { log } = await graph.invoke(new Command({ resume }), thread(id));
        expect(log).toEqual(expect.arrayContaining(expected(answer)));
        expect(log).not.toContain("yes");
      }
      // What was finished before the question is not done again.
      expect(calls.s ?? 1).toBe(1);
    });

    test("is asked anew by a fork that is run without an answer", async () => {
      await graph.invoke(new Command({ resume: "yes" }), thread("t"));
      await fork("fork");
      const asks = await graph.invoke(null, thread("fork"));
      expect(asks.__interrupt__).toMatchObject([{ value: questionOf("ask") }]);
      expect(await graph.invoke(new Command({ resume: "no" }), thread("fork"))).toMatchObject({
        log: expect.arrayContaining(expected("no")),
      });
    });

    test("keeps in a fork of the newest what was finished beside it", async () => {
      await fork("fork");
      await graph.invoke(new Command({ resume: "no" }), thread("fork"));
      expect(Object.values(calls).every((count) => count === 1)).toBe(true);
    });
  });
});
