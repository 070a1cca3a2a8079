// LangGraph's own engine on our saver and store, opened anew between the steps, so
// that what a graph goes on from is what was stored.

import {
  Annotation,
  Command,
  END,
  getStore,
  interrupt,
  MemorySaver as OfficialSaver,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { MemorySaver, openMemory, unwrapStore } from "keepsake";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const append = () => Annotation({ reducer: (a, b) => a.concat(b), default: () => [] });
const thread = (id, more = {}) => ({ configurable: { thread_id: id, ...more } });
const config = thread("t");

async function historyOf(graph, of = config) {
  const history = [];
  for await (const state of graph.getStateHistory(of)) history.push(state);
  return history;
}

/** a → b → c, each adding its name. */
function chain() {
  const step = (name) => () => ({ log: [name] });
  return new StateGraph(Annotation.Root({ log: append() }))
    .addNode("a", step("a"))
    .addNode("b", step("b"))
    .addNode("c", step("c"))
    .addEdge(START, "a")
    .addEdge("a", "b")
    .addEdge("b", "c")
    .addEdge("c", END);
}

/** Runs `steps` one by one, each on a saver that has just been opened. */
async function onReopened(builder, steps, options = {}) {
  const path = temporaryFile();
  let last;
  for (const step of steps) {
    await using memory = await openMemory({ path });
    const graph = builder.compile({
      checkpointer: memory.checkpointer,
      store: memory.store,
      ...options,
    });
    last = await step(graph, last);
  }
  return last;
}

describe("interrupts", () => {
  const asking = () =>
    new StateGraph(Annotation.Root({ log: append() }))
      .addNode("ask", () => {
        const first = interrupt("first?");
        const second = interrupt("second?");
        return { log: [first, second] };
      })
      .addEdge(START, "ask")
      .addEdge("ask", END);

  test("a graph that was interrupted goes on in another process's place", async () => {
    const result = await onReopened(asking(), [
      async (graph) => {
        const { __interrupt__ } = await graph.invoke({ log: ["in"] }, config);
        expect(__interrupt__.map(({ value }) => value)).toEqual(["first?"]);
      },
      async (graph) => {
        const { tasks, next } = await graph.getState(config);
        expect(next).toEqual(["ask"]);
        expect(tasks[0].interrupts[0].value).toBe("first?");
        const { __interrupt__ } = await graph.invoke(new Command({ resume: "one" }), config);
        expect(__interrupt__.map(({ value }) => value)).toEqual(["second?"]);
      },
      (graph) => graph.invoke(new Command({ resume: "two" }), config),
    ]);
    expect(result).toEqual({ log: ["in", "one", "two"] });
  });

  test("two nodes that are interrupted at once are answered each by its own answer", async () => {
    const ask = (name) => () => ({ log: [`${name}:${interrupt(name)}`] });
    const builder = new StateGraph(Annotation.Root({ log: append() }))
      .addNode("x", ask("x"))
      .addNode("y", ask("y"))
      .addEdge(START, "x")
      .addEdge(START, "y");
    const result = await onReopened(builder, [
      (graph) => graph.invoke({ log: [] }, config),
      async (graph) => {
        const { tasks } = await graph.getState(config);
        const interrupts = tasks.flatMap((task) => task.interrupts);
        const resume = Object.fromEntries(
          interrupts.map(({ id, value }) => [id, value.toUpperCase()]),
        );
        return graph.invoke(new Command({ resume }), config);
      },
    ]);
    expect(result).toEqual({ log: ["x:X", "y:Y"] });
  });

  test("the node that did finish beside one that failed is not run again", async () => {
    let runs = 0;
    let fails = true;
    const builder = new StateGraph(Annotation.Root({ log: append() }))
      .addNode("good", () => {
        runs += 1;
        return { log: ["good"] };
      })
      .addNode("bad", async () => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        if (fails) throw new Error("not yet");
        return { log: ["bad"] };
      })
      .addEdge(START, "good")
      .addEdge(START, "bad");
    const result = await onReopened(builder, [
      (graph) => expect(graph.invoke({ log: [] }, config)).rejects.toThrow("not yet"),
      (graph) => {
        fails = false;
        return graph.invoke(null, config);
      },
    ]);
    expect(result.log.toSorted()).toEqual(["bad", "good"]);
    expect(runs).toBe(1);
  });
});

describe("durability", () => {
  test.each([
    ["async", 5],
    ["sync", 5],
    ["exit", 1],
  ])(
    "%s keeps %i checkpoints of a run of three nodes, and the same state",
    async (durability, count) => {
      const history = await onReopened(chain(), [
        (graph) => graph.invoke({ log: ["in"] }, { ...config, durability }),
        (graph) => historyOf(graph),
      ]);
      expect(history.length).toBe(count);
      expect(history[0].values.log).toEqual(["in", "a", "b", "c"]);
    },
  );
});

describe("parallel nodes", () => {
  const names = ["n1", "n2", "n10", "é", "Z", "a"];

  function fan() {
    const builder = new StateGraph(Annotation.Root({ log: append() }));
    for (const [i, name] of names.entries()) {
      builder.addNode(name, async () => {
        await new Promise((resolve) => setTimeout(resolve, 2 * (names.length - i)));
        return { log: [name] };
      });
      builder.addEdge(START, name);
    }
    return builder.addNode("wait", () => ({ log: [interrupt("?")] })).addEdge(START, "wait");
  }

  test("whose writes are replayed from storage are applied in the order of a live run", async () => {
    const official = fan().compile({ checkpointer: new OfficialSaver() });
    await official.invoke({ log: [] }, config);
    const expected = await official.invoke(new Command({ resume: "end" }), config);
    const result = await onReopened(fan(), [
      (graph) => graph.invoke({ log: [] }, config),
      (graph) => graph.invoke(new Command({ resume: "end" }), config),
    ]);
    expect(result.log).toEqual(expected.log);
    expect(result.log).toHaveLength(names.length + 1);
  });

  test("made by Send are all run, once each, in order", async () => {
    const builder = new StateGraph(Annotation.Root({ items: Annotation(), log: append() }))
      .addNode("work", ({ item }) => ({ log: [item * item] }))
      .addConditionalEdges(START, ({ items }) => items.map((item) => new Send("work", { item })));
    const items = Array.from({ length: 25 }, (_, i) => i);
    const history = await onReopened(builder, [
      (graph) => graph.invoke({ items }, config),
      (graph) => historyOf(graph),
    ]);
    expect(history[0].values.log).toEqual(items.map((item) => item * item));
  });
});

describe("values in the state", () => {
  const state = {
    bytes: new Uint8Array([0, 127, 128, 255]),
    map: new Map([["k", { deep: new Set([1, "two"]) }]]),
    set: new Set(["a", "b"]),
    nothing: undefined,
    nested: { bytes: new Uint8Array([255, 254]), nothing: undefined },
    text: "é \u{1f600} \ud800 \0",
    number: -0.1,
  };
  const builder = () => {
    const channels = Object.fromEntries(Object.keys(state).map((name) => [name, Annotation()]));
    return new StateGraph(Annotation.Root({ ...channels, log: append() }))
      .addNode("make", () => state)
      .addNode("wait", () => ({ log: [interrupt(state.bytes)] }))
      .addEdge(START, "make")
      .addEdge("make", "wait");
  };

  test("Uint8Array, Map, Set and undefined come back as they were", async () => {
    const values = await onReopened(builder(), [
      (graph) => graph.invoke({ log: [] }, config),
      async (graph) => {
        const { values, tasks } = await graph.getState(config);
        expect(tasks[0].interrupts[0].value).toEqual(state.bytes);
        return values;
      },
    ]);
    // To LangGraph a channel whose value is undefined has none.
    const { nothing: _, ...stored } = state;
    expect(values).toEqual({ ...stored, log: [] });
    expect(Object.hasOwn(values.nested, "nothing")).toBe(true);
    expect(values.bytes).toBeInstanceOf(Uint8Array);
    expect(values.bytes.buffer.byteLength).toBe(4);
  });

  test("what a caller does to a state that it was given does not change what is stored", async () => {
    const graph = chain().compile({ checkpointer: new MemorySaver() });
    const given = await graph.invoke({ log: ["in"] }, config);
    given.log.push("changed");
    const read = await graph.getState(config);
    read.values.log.push("changed");
    expect((await graph.getState(config)).values.log).toEqual(["in", "a", "b", "c"]);
  });
});

describe("the store in a node", () => {
  test("is reached by config, by getStore(), and behind its wrapper", async () => {
    const seen = {};
    const builder = new StateGraph(Annotation.Root({ log: append() }))
      .addNode("write", async (_, { store }) => {
        await store.put(["users", "u1"], "by-config", { n: 1 });
        await getStore().put(["users", "u1"], "by-get-store", { n: 2 });
        const real = unwrapStore(store);
        await real.put(["users", "u1"], "by-unwrapping", { n: 3 }, false, { ttl: 60 });
        seen.namespaces = await real.listNamespaces();
        return { log: ["written"] };
      })
      .addNode("read", async (_, { store }) => ({
        log: (await store.search(["users"])).map(({ key }) => key).sort(),
      }))
      .addEdge(START, "write")
      .addEdge("write", "read");
    const { log } = await onReopened(builder, [(graph) => graph.invoke({ log: [] }, config)]);
    expect(log).toEqual(["written", "by-config", "by-get-store", "by-unwrapping"]);
    expect(seen.namespaces).toEqual([["users", "u1"]]);
  });

  test("unwrapStore gives back what is not wrapped, and nothing for nothing", async () => {
    await using memory = await openMemory({ path: ":memory:" });
    expect(unwrapStore(memory.store)).toBe(memory.store);
    expect(unwrapStore(null)).toBeUndefined();
    expect(unwrapStore(undefined)).toBeUndefined();
  });
});

describe("what JSON has no form for", () => {
  const holding = (value) =>
    new StateGraph(Annotation.Root({ held: Annotation(), runs: append() }))
      .addNode("hold", () => ({ held: value, runs: [1] }))
      .addEdge(START, "hold")
      .addEdge("hold", END);

  test.each([
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
    ["an object whose text is none", { toJSON: () => () => 1 }],
  ])("%s in a channel is not kept, and its thread goes on", async (_kind, value) => {
    await onReopened(holding(value), [
      async (graph) => expect((await graph.invoke({}, config)).held).toBe(value),
      async (graph) => expect((await graph.invoke({}, config)).runs).toEqual([1, 1]),
      async (graph) => {
        expect((await graph.getState(config)).values).toEqual({ runs: [1, 1] });
        expect(await historyOf(graph)).toHaveLength(6);
      },
    ]);
  });

  const circle = new Map();
  circle.set("self", circle);
  test.each([
    ["a BigInt", 10n, 'channel "held" must be JSON: value is a BigInt, give a number or a string'],
    [
      "a BigInt within",
      { at: [new Map([["n", { "a b": 1n }]])] },
      'value.at[0][0][1]["a b"] is a BigInt',
    ],
    ["a circle in a Map", { circle }, 'channel "held" must be JSON: it contains itself'],
    [
      "an object that throws",
      {
        toJSON: () => {
          throw new Error("no text");
        },
      },
      'channel "held" must be JSON: no text',
    ],
  ])("%s in a channel is refused by its place, and the thread stays", async (_kind, value, why) => {
    await onReopened(holding(1), [
      (graph) => graph.invoke({}, config),
      async (graph, { held }) => {
        await expect(graph.updateState(config, { held: value })).rejects.toMatchObject({
          code: "invalid_value",
          message: expect.stringContaining(why),
        });
        expect(await graph.getState(config)).toMatchObject({ values: { held, runs: [1] } });
      },
    ]);
    const saver = new MemorySaver();
    const running = holding(value).compile({ checkpointer: saver });
    await expect(running.invoke({}, config)).rejects.toMatchObject({ code: "invalid_value" });
    expect((await running.getState(config)).values.held).toBeUndefined();
    await saver.close();
  });
});
