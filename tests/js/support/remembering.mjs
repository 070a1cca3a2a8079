// Agents that remember, over a scripted model: run in Node, in a page and in a Worker, where each
// answers plain facts, which remembering-facts.mjs holds against what they have to be.

import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { anthropicMemory, filesBackend } from "keepsake/files";
import {
  episodes,
  forgetTool,
  learner,
  memoryMiddleware,
  recallNode,
  recallTool,
  rememberNode,
  rememberTool,
  withMemory,
} from "keepsake/langchain";
import { AIMessage, createAgent, createMiddleware, fakeModel } from "langchain";
import { BUDGET, FENCE, TURNS } from "./remembering-facts.mjs";

/**
 * Twenty turns of two conversations: one in which the user tells of herself, and one that knows
 * of it from memory alone. Where it echoes, the model tries to store what it has just read.
 */
export async function twentyTurns({ store, checkpointer }) {
  const scope = { store, scope: "user" };
  const model = fakeModel();
  const recall = memoryMiddleware({
    ...scope,
    maxTokens: BUDGET,
    countTokens: (text) => text.split(/\s+/).length,
    pinned: true,
  });
  // What is left of a request when recall has changed it.
  let tools;
  const spy = createMiddleware({
    name: "spy",
    wrapModelCall(request, handler) {
      tools = JSON.stringify(
        request.tools.map(({ name, description, schema }) => [name, description, schema]),
      );
      return handler(request);
    },
  });
  const agent = createAgent({
    model,
    tools: [rememberTool(scope)],
    systemPrompt: "You help Ada.",
    middleware: [recall, spy],
    checkpointer,
    store,
  });
  const conversation = (stores) => ({
    configurable: { thread_id: stores ? "told" : "asked", user_id: "ada" },
  });
  await store.put(["user", "ada"], "name", { text: "Her name is Ada", pinned: true });
  const turns = [];
  for (const { says, stores, echoes } of TURNS) {
    const first = model.calls.length;
    if (stores) model.respond(callOf("remember", { text: stores }));
    if (echoes) model.respond((messages) => callOf("remember", { text: lineIn(messages) }));
    model.respond(new AIMessage("Fine."));
    const { messages } = await agent.invoke(
      { messages: [{ role: "user", content: says }] },
      conversation(stores),
    );
    const calls = model.calls.slice(first);
    turns.push({
      injected: calls.map((call) => recalledIn(call.messages)),
      before: linesBefore(calls[0].messages),
      tools,
      answers: messages
        .slice(-3)
        .filter((message) => message.type === "tool")
        .map(({ text }) => text),
    });
  }
  const states = await Promise.all([true, false].map((told) => agent.getState(conversation(told))));
  const items = await store.search(["user", "ada"], { limit: 100 });
  return {
    turns,
    // What a tool answers may quote the memory.
    state: JSON.stringify(
      states.map(({ values }) => values.messages.filter(({ type }) => type !== "tool")),
    ),
    texts: items.map(({ value }) => value.text).sort(),
    sources: items.flatMap(({ value }) => value.sources ?? []),
  };
}

function callOf(name, args) {
  return new AIMessage({
    content: "",
    tool_calls: [{ name, args, id: "echo", type: "tool_call" }],
  });
}

/** The message of recalled text, "" if there is none. */
function recalledIn(messages) {
  return messages.find(({ type, text }) => type === "human" && text.startsWith(FENCE))?.text ?? "";
}

function lineIn(messages) {
  return recalledIn(messages)
    .split("\n")
    .find((line) => line.startsWith("- "));
}

// All before the user's last message but what was recalled.
function linesBefore(messages) {
  const last = messages.findLastIndex(
    ({ type, text }) => type === "human" && !text.startsWith(FENCE),
  );
  return messages
    .slice(0, last)
    .filter(({ text }) => !text.startsWith(FENCE))
    .map(({ type, content, tool_calls }) => JSON.stringify([type, content, tool_calls]));
}

const Exchange = Annotation.Root({
  query: Annotation(),
  results: Annotation(),
  count: Annotation(),
  answer: Annotation(),
  stored: Annotation(),
  key: Annotation(),
});

/**
 * The workflow that S2 ends with: start, recall, model, store, end; run twice over one memory.
 */
export async function exchanges({ store, checkpointer }) {
  const model = fakeModel()
    .respond(new AIMessage("The whale is the largest animal."))
    .respond(new AIMessage("As I said, the whale."));
  const graph = new StateGraph(Exchange)
    .addNode("recall_context", recallNode({ scope: "conversation", querySelector: "query" }))
    .addNode("llm", async ({ query, results }, config) => {
      const context = JSON.stringify(results.map(({ value }) => value));
      const messages = [
        ["system", `You are a helpful assistant. Context:\n${context}`],
        ["user", query],
      ];
      return { answer: (await model.invoke(messages, config)).text };
    })
    .addNode(
      "store_exchange",
      rememberNode({
        scope: "conversation",
        key: "exchange_{{#sys.execution_id#}}",
        valueSelector: ["answer"],
        metadata: { type: "qa_exchange" },
        metadataSelectors: { timestamp: ["sys", "timestamp"], about: "query" },
      }),
    )
    .addEdge(START, "recall_context")
    .addEdge("recall_context", "llm")
    .addEdge("llm", "store_exchange")
    .addEdge("store_exchange", END)
    .compile({ store, checkpointer });
  const ask = (query, thread_id, run_id) =>
    graph.invoke({ query }, { configurable: { thread_id, conversation_id: "conv-123", run_id } });
  const first = await ask("Which animal is the largest?", "a", "run-1");
  const second = await ask("What did you say of the whale?", "b", "run-2");
  return { first, second, prompts: model.calls.map(({ messages }) => messages[0].text) };
}

/** Automatic recall, in each place, of what a node stored a moment before. */
export async function positions({ store }) {
  const shown = {};
  for (const injectionPosition of [undefined, "before_system", "after_system", "before_user"]) {
    const model = fakeModel().respond(new AIMessage("Oolong."));
    const options = injectionPosition === undefined ? {} : { injectionPosition };
    const remembering = withMemory(model, { ...options, formatTemplate: "- {{value}}" });
    const messages = [
      ["system", "You are helpful."],
      ["user", "Hello"],
      ["assistant", "Hello"],
      ["user", "Which tea do I like?"],
    ];
    const graph = new StateGraph(Exchange)
      .addNode("store", rememberNode({ key: "tea", valueSelector: () => "She likes oolong tea" }))
      .addNode("llm", async (_, config) => ({
        answer: (await remembering.invoke(messages, config)).text,
      }))
      .addEdge(START, "store")
      .addEdge("store", "llm")
      .compile({ store });
    await graph.invoke({}, { configurable: { thread_id: "t" } });
    const [{ messages: sent }] = model.calls;
    shown[injectionPosition ?? "default"] = sent.map(({ type, text }) => `${type}: ${text}`);
  }
  return shown;
}

/** A model that uses all three tools, over the store of its agent. */
export async function threeTools({ store }) {
  const hers = { scope: "user" };
  const keyIn = (messages) => messages.at(-1).text.match(/"(\w+)"/)[1];
  const model = fakeModel()
    .respond(callOf("remember", { text: "Ada likes oolong tea" }))
    .respond((messages) => callOf("forget", { key: keyIn(messages) }))
    .respond(callOf("remember", { text: "Ada likes green tea" }))
    .respond(callOf("recall", { query: "Which tea?" }))
    .respond(new AIMessage("Green tea."));
  const tools = [rememberTool(hers), recallTool(hers), forgetTool(hers)];
  const agent = createAgent({ model, tools, store });
  const config = { configurable: { user_id: "ada" } };
  const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Go." }] }, config);
  return messages.filter(({ type }) => type === "tool").map(({ text }) => text);
}

/** What is shown beside a window that says one of two things. */
export async function besideWindow({ store }) {
  await store.put(["facts"], "oolong", { text: "I like oolong tea" });
  await store.put(["facts"], "green", { text: "I like green tea" });
  const model = fakeModel().respond(new AIMessage("Yes."));
  const remembering = withMemory(model, { store, namespace: ["facts"] });
  const window = [
    ["user", "I like oolong tea."],
    ["assistant", "So you do."],
  ];
  await remembering.invoke([...window, ["user", "Do I like green tea?"]]);
  return model.calls[0].messages.map(({ type, text }) => `${type}: ${text}`);
}

/** The newest entries, without a query: of a provider, and of the graph's store. */
export async function newest(memory) {
  const provider = memory.provider();
  for (let i = 0; i < 7; i++) {
    await provider.store({ namespace: "conv:9", key: `k${i}`, value: i });
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const run = async (options, store) => {
    const graph = new StateGraph(Exchange)
      .addNode("recall", recallNode(options))
      .addEdge(START, "recall")
      .compile({ store });
    const { results } = await graph.invoke({}, { configurable: { thread_id: "9" } });
    return results.map(({ key }) => key);
  };
  return [await run({ provider }), await run({ topK: 2 }, memory.store)];
}

/** What was learnt of two doors. */
export async function lessons(memory) {
  const tries = episodes(memory.scoped({ user: "ada" }));
  const door = { state: "a locked wooden door", outcome: "nothing moved" };
  await tries.record({ ...door, action: "push it", reward: -1 });
  await tries.record({ ...door, action: "kick it in", outcome: "it opened", reward: 1 });
  await tries.record({ state: "rain", action: "wait", outcome: "it went by", reward: 1 });
  return tries.lessons("a wooden door");
}

/** What a graph is shown, and what its state holds afterwards. */
export async function shownGraph({ store, checkpointer }) {
  await store.put(["user", "ada"], "tea", { text: "Ada likes oolong tea" });
  const model = fakeModel().respond(new AIMessage("Oolong."));
  const plain = new StateGraph(MessagesAnnotation)
    .addNode("ask", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addEdge(START, "ask")
    .compile({ store, checkpointer });
  const config = { configurable: { thread_id: "shown", user_id: "ada" } };
  const input = { messages: [{ role: "user", content: "Which tea does Ada like?" }] };
  await withMemory(plain, { scope: "user" }).invoke(input, config);
  const kept = (await plain.getState(config)).values.messages;
  return {
    shown: model.calls[0].messages.map(({ text }) => text),
    kept: kept.map(({ text }) => text),
  };
}

/** Notes in files, through both of their interfaces. */
export async function notebook(memory) {
  const hers = memory.scoped({ user: "ada" });
  const [backend, tool] = [filesBackend(hers), anthropicMemory(hers)];
  await backend.write("/plans/trip.md", "Pack the tea.\nBuy tickets.");
  await backend.uploadFiles([["/plans/map.png", Uint8Array.of(1, 2, 255)]]);
  await tool.execute({
    command: "str_replace",
    path: "/memories/plans/trip.md",
    old_str: "tea",
    new_str: "green tea",
  });
  const [{ matches }, { files }, [map]] = await Promise.all([
    backend.grep("green tea"),
    backend.glob("**/*.md"),
    backend.downloadFiles(["/plans/map.png"]),
  ]);
  const seen = await tool.execute({ command: "view", path: "/memories/plans" });
  return { matches, found: files.map(({ path }) => path), map: [...map.content], seen };
}

/**
 * What goes of a user's episodes by use, as told before and as done, beside what is pinned, held
 * and put meanwhile.
 */
export async function evicting(memory) {
  const hers = memory.scoped({ user: "ada" });
  const tries = episodes(hers);
  for (let i = 0; i < 6; i++) {
    const pinned = i === 0;
    await tries.record(
      { state: "rain", action: "wait", outcome: "dry", reward: 1, pinned },
      `e${i}`,
    );
  }
  for (const key of ["e4", "e2", "e4"]) await tries.used(key);
  await hers.store.put(["case"], "letter", { text: "evidence" });
  await memory.hold(["user", "ada", "case"], "case 7");
  await memory.store.put(["user", "bob"], "own", { text: "his own" });
  const rule = { maxItems: 4, by: "use" };
  const would = await hers.evict({ ...rule, dryRun: true });
  const before = (await hers.store.search([], { limit: 100 })).length;
  const did = await hers.evict(rule);
  const left = await memory.store.search([], { limit: 100 });
  const notes = Array.from({ length: 230 }, (_, i) => `n${100 + i}`);
  await memory.store.batch(
    notes.map((key) => ({ namespace: ["notes"], key, value: { text: "old" } })),
  );
  const meanwhile = [];
  const all = await memory.evict({
    namespaces: [["notes"]],
    maxItems: 0,
    onProgress({ left }) {
      if (left === 0) return;
      meanwhile.push(memory.store.put(["notes"], notes.at(-1), { text: "new" }));
    },
  });
  await Promise.all(meanwhile);
  return {
    would,
    before,
    did,
    left: left.map(({ key }) => key).sort(),
    all: { evicted: all.evicted.length, kept: all.kept },
    news: (await memory.store.search(["notes"])).map(({ key, value }) => [key, value.text]),
  };
}

/**
 * An agent whose own model finds the facts after each turn: what it was shown, what a dry run would
 * do, and what is stored.
 */
export async function learning({ store, checkpointer }) {
  const scope = { store, scope: "user" };
  const asked = [];
  const reports = [];
  const learns = learner({
    ...scope,
    extract({ messages, near }) {
      asked.push([
        messages.map(({ role, text }) => `${role}: ${text}`),
        near.map(({ text }) => text),
      ]);
      const [{ text }] = messages;
      return text.endsWith("?") ? undefined : { put: [text.replace("I like", "Ada likes")] };
    },
    consolidate({ facts }) {
      const [old] = facts.filter(({ text }) => text.includes("oolong"));
      return { delete: [old.key] };
    },
    onRun: (report) => reports.push(report),
  });
  const model = fakeModel();
  const middleware = [learns.middleware(), memoryMiddleware(scope)];
  const agent = createAgent({ model, middleware, checkpointer, store });
  const say = async (content) => {
    model.respond(new AIMessage("Fine."));
    const config = { configurable: { thread_id: "learning", user_id: "ada" } };
    await agent.invoke({ messages: [{ role: "user", content }] }, config);
  };
  const texts = async () =>
    (await store.search(["user", "ada"], { limit: 100 })).map(({ value }) => value.text).sort();
  for (const line of ["I like oolong tea.", "Which tea do I like?", "I like green tea."]) {
    await say(line);
    await learns.settled();
  }
  const shown = model.calls.map(({ messages }) => messages.map(({ text }) => text));
  return { asked, reports, shown, texts: await texts() };
}

/** By name: each answers, over a memory, what remembering-facts.mjs expects. */
export const agents = {
  besideWindow,
  evicting,
  exchanges,
  learning,
  lessons,
  newest,
  notebook,
  positions,
  shownGraph,
  threeTools,
  twentyTurns,
};
