// What seven systems call memory, each done by what is here: files in places, facts of a user, a
// window with vectors, checkpoints with a store, three ways to search, shallow and deep recall,
// and the replay of events.

import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { Files } from "keepsake/files";
import { withMemory } from "keepsake/langchain";
import { AIMessage, fakeModel } from "langchain";

const keysOf = (items) => items.map(({ key }) => key);
const thread = (thread_id, more = {}) => ({ configurable: { thread_id, ...more } });

async function collect(list) {
  const all = [];
  for await (const one of list) all.push(one);
  return all;
}

/** Vectors of two subjects: drinks and weather. */
const embeddings = async (texts) =>
  texts.map((text) => [
    /tea|coffee|drink/.test(text) ? 1 : 0,
    /rain|umbrella/.test(text) ? 1 : 0,
    0.01,
  ]);
const index = { dims: 3, embeddings, fields: ["text"] };

/** A conversation whose model hears its messages. */
function talk(model, { store, checkpointer }) {
  return new StateGraph(MessagesAnnotation)
    .addNode("ask", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addEdge(START, "ask")
    .compile({ store, checkpointer });
}
const says = (content) => ({ messages: [{ role: "user", content }] });

export const surveyCases = [
  {
    name: "as Claude Code: files of user, project and folder, of which all that apply are read",
    async run({ open, reopen, expect }) {
      const memory = await open();
      const files = new Files(memory.scoped({ user: "ada" }));
      await files.write("/CLAUDE.md", "speak plainly");
      await files.write("/project/CLAUDE.md", "use tabs");
      await files.write("/project/docs/CLAUDE.md", "use spaces");
      await files.write("/project/docs/MEMORY.md", "the build broke on Monday");
      await files.write("/other/CLAUDE.md", "never read");
      const again = new Files((await reopen(memory)).scoped({ user: "ada" }));
      const read = [];
      for (const place of ["", "/project", "/project/docs"]) {
        read.push((await again.read(`${place}/CLAUDE.md`)).content);
      }
      expect(read).toEqual(["speak plainly", "use tabs", "use spaces"]);
      const [{ path }] = (await again.grep("broke")).matches;
      expect(path).toBe("/project/docs/MEMORY.md");
      const project = await again.glob("**/CLAUDE.md", "/project");
      expect(project.map((file) => file.path).sort()).toEqual([
        "/project/CLAUDE.md",
        "/project/docs/CLAUDE.md",
      ]);
    },
  },
  {
    name: "as ChatGPT: saved facts of a user in every chat, and the history of chats",
    async run({ open, expect }) {
      const memory = await open();
      await memory.store.put(["user", "ada"], "name", { text: "Her name is Ada", pinned: true });
      const model = fakeModel();
      const graph = withMemory(talk(model, memory), { memory, scope: "user", pinned: true });
      for (const chat of ["first", "second"]) {
        model.respond(new AIMessage("Hello."));
        await graph.invoke(says("What is my name?"), thread(chat, { user_id: "ada" }));
      }
      for (const { messages } of model.calls) {
        expect(messages.map(({ text }) => text).join()).toContain("Her name is Ada");
      }
      model.respond(new AIMessage("Hello."));
      await graph.invoke(says("What is my name?"), thread("third", { user_id: "bob" }));
      expect(model.calls.at(-1).messages.map(({ text }) => text)).toEqual(["What is my name?"]);
      const chats = await collect(memory.checkpointer.listThreads());
      expect(chats.map(({ threadId }) => threadId)).toEqual(["third", "second", "first"]);
    },
  },
  {
    name: "as n8n: a window of the last messages, and vectors of what was said before",
    async run({ open, reopen, expect }) {
      const first = await open({ index });
      const said = ["I drink tea", "I have a dog", "I like the rain", "Good night"];
      const builder = (memory) => talk(fakeModel().respond(new AIMessage("Fine.")), memory);
      for (const [i, line] of said.entries()) {
        await builder(first).invoke(says(line), thread("t"));
        await first.store.put(["user", "ada"], `m${i}`, { text: line });
      }
      const memory = await reopen(first, { index });
      const { messages } = (await builder(memory).getState(thread("t"))).values;
      expect(messages).toHaveLength(8);
      const model = fakeModel().respond(new AIMessage("Coffee."));
      const window = [...messages.slice(-2), { role: "user", content: "Which drink?" }];
      const recall = { memory, scope: "user", topK: 3, ranking: { mode: "vector", minScore: 0.5 } };
      await withMemory(model, recall).invoke(window, thread("t", { user_id: "ada" }));
      const [sent] = model.calls;
      const texts = sent.messages.map(({ text }) => text);
      // What is remembered, then the window as it was, then the question.
      expect(texts.slice(1)).toEqual(["Good night", "Fine.", "Which drink?"]);
      expect(texts[0]).toContain("I drink tea");
      expect(texts[0]).not.toContain("dog");
    },
  },
  {
    name: "as LangGraph: checkpoints of threads, and items by namespace, filter and meaning",
    async run({ open, expect }) {
      const memory = await open({ index });
      const builder = new StateGraph(Annotation.Root({ n: Annotation() }))
        .addNode("add", async ({ n }, { store }) => {
          await store.put(["ada", "facts"], `k${n}`, { text: n > 1 ? "tea" : "rain", n });
          return { n: n + 1 };
        })
        .addEdge(START, "add");
      const graph = builder.compile(memory);
      for (const n of [1, 2, 3]) await graph.invoke({ n }, thread("t"));
      expect((await graph.getState(thread("t"))).values).toEqual({ n: 4 });
      expect(await collect(graph.getStateHistory(thread("t")))).toHaveLength(9);
      const query = { query: "a drink", filter: { n: { $gte: 2 } } };
      const hits = await memory.store.search(["ada"], query);
      expect(keysOf(hits).sort()).toEqual(["k2", "k3"]);
      expect((await memory.store.search(["ada"], { query: "umbrella" }))[0].key).toBe("k1");
    },
  },
  {
    name: "as Dify: one knowledge, asked by vector, by words and by both, and values of a chat",
    async run({ open, expect }) {
      const memory = await open({ index });
      const { store } = memory;
      await store.put(["knowledge"], "like", { text: "coffee and other things" });
      await store.put(["knowledge"], "words", { text: "a kettle of iron" });
      await store.put(["knowledge"], "neither", { text: "rain" });
      const found = async (mode) =>
        keysOf(
          await store.search(["knowledge"], {
            query: "a kettle for tea",
            ranking: { mode },
            limit: 2,
          }),
        );
      expect((await found("vector"))[0]).toBe("like");
      expect(await found("text")).toEqual(["words"]);
      expect((await found("hybrid")).sort()).toEqual(["like", "words"]);
      const chat = memory.scoped({ conversation: "1" }).provider();
      await chat.store({ namespace: "variables", key: "language", value: "en" });
      const [{ value }] = await chat.recall({ namespace: "variables", key: "language" });
      expect(value).toBe("en");
    },
  },
  {
    name: "as CrewAI: shallow recall by vector, deep recall from hit to hit, in scopes of scopes",
    async run({ open, expect }) {
      const { store } = await open({ index });
      const agent = ["company", "crew", "agent"];
      await store.put(agent, "fact", { text: "tea", importance: 0.1 });
      await store.put(agent.slice(0, 2), "link", { text: "tea in the rain", importance: 0.5 });
      await store.put(agent.slice(0, 1), "plan", { text: "rain", importance: 1 });
      // Shallow: one search, of the agent's own.
      expect(keysOf(await store.search(agent, { query: "a drink" }))).toEqual(["fact"]);
      // Nothing of the plan is like the question; what is like it leads there, scope by scope.
      const all = await store.search(["company"], { query: "a drink" });
      expect(all.find(({ key }) => key === "plan").score).toBeLessThan(0.1);
      const deep = [{ namespace: agent, key: "fact" }];
      for (const scope of [agent.slice(0, 2), agent.slice(0, 1)]) {
        const near = await store.search(scope, { near: deep.at(-1), ranking: { minScore: 0.5 } });
        const fresh = near.find(({ key }) => !keysOf(deep).includes(key));
        deep.push({ namespace: fresh.namespace, key: fresh.key });
      }
      expect(keysOf(deep)).toEqual(["fact", "link", "plan"]);
      const weighed = await store.search(["company"], {
        query: "tea rain",
        ranking: { mode: "text", boosts: { importance: 1 } },
      });
      expect(keysOf(weighed)).toEqual(["plan", "link", "fact"]);
    },
  },
  {
    name: "as Temporal: events that are played again make every state that there was",
    async run({ open, reopen, expect }) {
      let now = 1_800_000_000_000;
      const clock = { now: () => now };
      const first = await open(clock);
      await first.store.keepHistory(["run"]);
      const seen = [];
      for (const value of [{ n: 1 }, { n: 2 }, null, { n: 3 }]) {
        now += 10;
        if (value === null) await first.store.delete(["run"], "step");
        else await first.store.put(["run"], "step", value);
        seen.push([now, (await first.store.get(["run"], "step"))?.value ?? null]);
      }
      const { store, checkpointer } = await reopen(first, clock);
      const events = await store.history(["run"], "step");
      const replayed = events
        .map(({ time, item }) => [Number(time), item?.value ?? null])
        .reverse();
      expect(replayed).toEqual(seen);
      for (const [at, value] of seen) {
        const past = store.asOf(at);
        expect((await past.get(["run"], "step"))?.value ?? null).toEqual(value);
        expect(await past.search(["run"])).toHaveLength(value === null ? 0 : 1);
      }
      now += 10;
      await store.undo(events[0].operation);
      expect(await store.get(["run"], "step")).toBeNull();
      // A thread runs again from any of its steps.
      const builder = new StateGraph(
        Annotation.Root({ log: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }) }),
      )
        .addNode("a", () => ({ log: ["a"] }))
        .addNode("b", () => ({ log: ["b"] }))
        .addEdge(START, "a")
        .addEdge("a", "b");
      const graph = builder.compile({ checkpointer });
      const { log } = await graph.invoke({ log: ["in"] }, thread("t"));
      for (const state of await collect(graph.getStateHistory(thread("t")))) {
        if (state.next.length === 0) continue;
        expect((await graph.invoke(null, state.config)).log).toEqual(log);
      }
    },
  },
];
