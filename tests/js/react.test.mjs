// The hooks of keepsake/react as a server renders them: nothing is asked, nothing is known yet.

import { Annotation, interrupt, START, StateGraph } from "@langchain/langgraph";
import { openMemory } from "keepsake";
import { graphTransport, useMemories, useMemorySearch, useThreads } from "keepsake/react";
import { createElement } from "react";
import { renderToString } from "react-dom/server";

let memory;

beforeAll(async () => {
  memory = await openMemory({ path: ":memory:" });
});

afterAll(() => memory.close());

const rendered = (hook) =>
  renderToString(createElement(() => JSON.stringify(hook()))).replaceAll("&quot;", '"');

test.each([
  ["useMemories", () => useMemories(memory, ["notes"])],
  ["useMemorySearch", () => useMemorySearch(memory, ["notes"], { query: "tea" })],
  ["useThreads", () => useThreads(memory)],
  ["useThreads without a memory", () => useThreads(undefined)],
])("%s is loading", (_name, hook) => {
  expect(JSON.parse(rendered(hook))).toEqual({ loading: true });
});

// biome-ignore format: a table reads best by rows.
test.each([
  ["a store instead of a memory", () => useMemories(memory.store, []), "useMemories: it takes a memory, which openMemory() resolves to, or undefined until there is one: an object of SqliteStore"],
  ["null instead of a memory", () => useThreads(null), "useThreads: it takes a memory, which openMemory() resolves to, or undefined until there is one: null"],
  ["a namespace as a path", () => useMemorySearch(memory, "notes", { query: "tea" }), 'useMemorySearch: namespacePrefix must be a list: "notes"'],
  ["a query of useMemories", () => useMemories(memory, [], { query: "tea" }), 'useMemories: unknown option "query": it takes filter, limit, offset, validAt, includeQuarantined, refreshTtl'],
  ["count of useMemories", () => useMemories(memory, [], { count: 3 }), 'useMemories: unknown option "count": did you mean "limit"?'],
  ["top of useThreads", () => useThreads(memory, { top: 3 }), 'useThreads: unknown option "top": it takes limit, filter, cursor'],
  ["limit of -1", () => useThreads(memory, { limit: -1 }), "useThreads: limit must be a whole number from 0: -1"],
])("%s is refused", (_name, hook, message) => {
  expect(() => rendered(hook)).toThrow(
    expect.objectContaining({ code: "invalid_argument", message: `[keepsake] ${message}` }),
  );
});

test("graphTransport() takes a compiled graph, and its options by name", () => {
  const graph = { streamEvents() {}, getState() {} };
  const refusal = "graphTransport: it takes what compile() or createAgent() answers, with a";
  const refused = (given, message) =>
    expect(() => graphTransport(given)).toThrow(
      expect.objectContaining({
        code: "invalid_argument",
        message: expect.stringContaining(`[keepsake] ${refusal} ${message}`),
      }),
    );
  refused({}, "checkpointer: an object");
  refused(undefined, "checkpointer: undefined");
  const lost = "checkpointer: an answer to an interrupt could not be given to an object";
  refused(graph, lost);
  refused({ ...graph, graph: { streamEvents() {} } }, lost);
  Object.assign(graph, { lg_is_pregel: true });
  graphTransport({ streamEvents() {}, getState() {}, graph });
  expect(() => graphTransport(graph, { thread: "1" })).toThrow(
    '[keepsake] graphTransport: unknown option "thread": did you mean "threadId"?',
  );
});

test("a command that needs a server is refused, not dropped", async () => {
  const transport = graphTransport({ streamEvents() {}, getState() {}, lg_is_pregel: true });
  await expect(transport.send({ id: 3, method: "state.fork", params: {} })).resolves.toMatchObject({
    type: "error",
    id: 3,
    error: "not_supported",
  });
});

test("an answer goes on, updates and jumps, as a Command of LangGraph does", async () => {
  const State = Annotation.Root({
    said: Annotation({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  });
  const graph = new StateGraph(State)
    .addNode("ask", () => ({ said: [interrupt("?")] }), { ends: ["jump"] })
    .addNode("jump", () => ({ said: ["jumped"] }))
    .addEdge(START, "ask")
    .compile({ checkpointer: memory.checkpointer });
  const transport = graphTransport(graph, { threadId: "jumps" });
  const { events } = transport.openEventStream({ channels: ["lifecycle", "input"] });
  const next = async (wanted) => {
    for (;;) {
      const { value } = await events.next();
      if (value.method === wanted || value.params.data.event === wanted) return value.params.data;
    }
  };
  await transport.send({ id: 1, method: "run.start", params: { input: { said: ["go"] } } });
  const { interrupt_id, payload } = await next("input.requested");
  expect(payload).toBe("?");
  await next("interrupted");
  const params = { interrupt_id, response: "yes", update: { said: ["more"] }, goto: "jump" };
  await transport.send({ id: 2, method: "input.respond", params });
  await next("completed");
  const state = await transport.getState();
  expect(state.values.said.sort()).toEqual(["go", "jumped", "more", "yes"]);
  const [newest] = await transport.getHistory({ limit: 1 });
  expect(newest.checkpoint).toEqual(state.checkpoint);
  expect(state.checkpoint.checkpoint_id).toEqual(expect.any(String));
  await transport.close();
});
