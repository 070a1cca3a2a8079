// What items were: who changed them, across processes and scopes, and as of a checkpoint.

import { Annotation, StateGraph } from "@langchain/langgraph";
import { KeepsakeError, openMemory } from "keepsake";
import { temporaryFile } from "./support/temporary.mjs";

const opened = [];
async function memoryAt(path, options) {
  const memory = await openMemory({ path, ...options });
  opened.push(memory);
  return memory;
}
afterEach(() => Promise.all(opened.splice(0).map((memory) => memory.close())));

async function codeOf(promise) {
  try {
    await promise;
  } catch (error) {
    if (error instanceof KeepsakeError) return error.code;
    throw error;
  }
  return "ok";
}

test("who made a change is the actor of the scope, or else of the memory", async () => {
  const memory = await memoryAt(temporaryFile(), { actor: "service" });
  await memory.store.keepHistory([]);
  const ada = memory.scoped({ user: "ada", actor: "agent 7" });
  await ada.store.put(["notes"], "k", { n: 1 });
  await memory.scoped({ user: "ada" }).store.put(["notes"], "k", { n: 2 });
  await memory.store.put(["user", "ada", "notes"], "k", { n: 3 });
  const history = await ada.store.history(["notes"], "k");
  expect(history.map(({ actor, value }) => [actor, value.n])).toEqual([
    ["service", 3],
    ["service", 2],
    ["agent 7", 1],
  ]);
  expect(history[0].item.namespace).toEqual(["notes"]);
});

test("writes of one tick keep their actors", async () => {
  const memory = await memoryAt(temporaryFile());
  await memory.store.keepHistory([]);
  const scoped = ["a", "b"].map((actor) => memory.scoped({ user: "ada", actor }).store);
  await Promise.all(scoped.map((store, i) => store.put(["n"], `k${i}`, { i })));
  const [a, b] = await Promise.all(scoped.map((store, i) => store.history(["n"], `k${i}`)));
  expect([a[0].actor, b[0].actor]).toEqual(["a", "b"]);
});

test("the database remembers what is kept, and the history itself", async () => {
  const path = temporaryFile();
  const memory = await memoryAt(path);
  await memory.store.keepHistory(["n"], { maxVersions: 3, maxAge: 60 });
  await memory.store.put(["n"], "k", { n: 1 });
  await memory.close();
  const again = await memoryAt(path);
  expect(await again.store.historyRules()).toEqual([
    { namespace: ["n"], maxVersions: 3, maxAge: 60, since: expect.any(Date) },
  ]);
  await again.store.put(["n"], "k", { n: 2 });
  const [newest] = await again.store.history(["n"], "k");
  await again.store.undo(newest.operation);
  expect((await again.store.get(["n"], "k")).value).toEqual({ n: 1 });
});

test("a scope neither sees nor undoes what others did, nor decides what is kept", async () => {
  const memory = await memoryAt(temporaryFile());
  await memory.store.keepHistory([]);
  const [ada, bob] = ["ada", "bob"].map((user) => memory.scoped({ user }));
  const start = Date.now();
  await bob.store.put(["n"], "k", { secret: 1 });
  const [{ operation }] = await bob.store.history(["n"], "k");
  expect(await ada.store.history(["n"], "k")).toEqual([]);
  expect(await codeOf(ada.store.undo(operation))).toBe("not_found");
  expect(await ada.asOf(Date.now()).search([])).toEqual([]);
  expect(await ada.asOf(Date.now()).listNamespaces()).toEqual([]);
  expect(await bob.asOf(start + 100_000).listNamespaces()).toEqual([["n"]]);
  expect(await codeOf(ada.store.keepHistory([]))).toBe("access_denied");
  expect(await codeOf(ada.store.dropHistory([]))).toBe("access_denied");
});

test("a replayed graph sees the memory as it was at its checkpoint", async () => {
  const memory = await memoryAt(temporaryFile());
  await memory.store.keepHistory(["users"]);
  const wait = () => new Promise((resolve) => setTimeout(resolve, 5));
  const State = Annotation.Root({ turn: Annotation() });
  const seen = [];
  const builder = new StateGraph(State)
    .addNode("recall", async (_state, { store }) => {
      seen.push((await store.get(["users"], "ada"))?.value.likes ?? "nothing");
    })
    .addEdge("__start__", "recall");
  const { store, checkpointer } = memory;
  const graph = builder.compile({ store, checkpointer });
  const config = { configurable: { thread_id: "1" } };

  await store.put(["users"], "ada", { likes: "tea" });
  await wait();
  await graph.invoke({ turn: 1 }, config);
  const tuple = await checkpointer.getTuple(config);
  await wait();
  await store.put(["users"], "ada", { likes: "coffee" });
  await graph.invoke({ turn: 2 }, config);
  expect(seen).toEqual(["tea", "coffee"]);

  // The tuple and its config say the same time.
  for (const moment of [tuple, tuple.config, new Date(tuple.checkpoint.ts)]) {
    const then = memory.asOf(moment);
    expect((await then.get(["users"], "ada")).value).toEqual({ likes: "tea" });
  }
  const replay = builder.compile({ store: memory.asOf(tuple.config), checkpointer });
  await replay.invoke({ turn: 3 }, { configurable: { thread_id: "replay" } });
  expect(seen.at(-1)).toBe("tea");
  const missing = { configurable: { thread_id: "1", checkpoint_id: "none" } };
  expect(await codeOf(memory.asOf(missing).get(["users"], "ada"))).toBe("not_found");
  expect(() => memory.asOf({})).toThrow("asOf takes a time, or the config or tuple");
});

test("validity is another time: what was true then, as far as it is known now", async () => {
  let now = Date.UTC(2026, 0, 10);
  const memory = await memoryAt(temporaryFile(), { now: () => now });
  await memory.store.keepHistory(["n"]);
  now = Date.UTC(2026, 0, 20);
  const facts = { validFrom: "2026-01-01" };
  await memory.store.put(["n"], "home", { city: "Basel" }, undefined, facts);
  const keys = async (found) => (await found).map(({ key }) => key);
  expect(await keys(memory.store.search(["n"], { validAt: "2026-01-15" }))).toEqual(["home"]);
  expect(await keys(memory.store.asOf("2026-01-15").search(["n"]))).toEqual([]);
  expect(
    await keys(memory.store.asOf("2026-01-20").search(["n"], { validAt: "2025-12-31" })),
  ).toEqual([]);
});

test("forgetting takes what items were, and a receipt says how much", async () => {
  const memory = await memoryAt(temporaryFile());
  await memory.store.keepHistory([]);
  await memory.store.put(["n"], "k", { n: 1 });
  await memory.store.put(["n"], "k", { n: 2 });
  await memory.store.put(["n"], "gone", { n: 2 });
  await memory.store.delete(["n"], "gone");
  const receipt = await memory.forget({ namespaces: [["n"]] });
  expect(receipt.erased).toMatchObject({ items: 1, versions: 4 });
  expect(await memory.store.history(["n"], "gone")).toEqual([]);
  expect(await memory.checkReceipt(receipt)).toMatchObject({ isGenuine: true });
});

test("a portable export brings history along", async () => {
  const memory = await memoryAt(temporaryFile());
  await memory.store.keepHistory(["n"]);
  await memory.store.put(["n"], "k", { n: 1 });
  await memory.store.put(["n"], "k", { n: 2 });
  const bytes = await memory.export({ format: "portable" });
  const copy = await memoryAt(temporaryFile());
  await copy.import(bytes);
  const history = await copy.store.history(["n"], "k");
  expect(history.map(({ value }) => value.n)).toEqual([2, 1]);
  await copy.store.undo(history[0].operation);
  expect((await copy.store.get(["n"], "k")).value).toEqual({ n: 1 });
  expect(await copy.store.historyRules()).toHaveLength(1);
});
