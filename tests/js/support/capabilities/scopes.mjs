// Whose memory it is: scopes, policies, providers, and what is told of accesses.

import { Annotation, Command, interrupt, START, StateGraph } from "@langchain/langgraph";
import { MemoryProvider, resolveNamespace, scopeOf, storeNamespace } from "keepsake";
import { putCheckpoint, threadConfig } from "../checkpoints.mjs";

const codeOf = async (promise) => {
  const error = await promise.then(
    () => undefined,
    (caught) => caught,
  );
  return error?.code;
};

export const scopeCases = [
  {
    name: "a scope is found from a config or from variables, and its namespace begins with its name",
    async run({ open, expect }) {
      const config = { configurable: { thread_id: "t1", user_id: "ada", app_id: "shop" } };
      expect(scopeOf("conversation", config)).toEqual({ conversation: "t1" });
      expect(scopeOf("conversation", { conversation_id: "c", thread_id: "t" })).toEqual({
        conversation: "c",
      });
      expect(scopeOf("user", config)).toEqual({ user: "ada" });
      expect(scopeOf("global", config)).toEqual({ global: "shop" });
      expect(scopeOf("global", {})).toEqual({ global: true });
      const team = { name: "team", variable: "team_id" };
      expect(scopeOf(team, { team_id: "blue" })).toEqual({ place: ["team", "blue"] });
      const own = { configurable: { user_id: "ada", store_namespace: ["a", "b"] } };
      const chosen = { sources: ["configurable", "store_namespace"] };
      expect(scopeOf("user", own, chosen)).toEqual({ place: ["a", "b"] });
      expect(storeNamespace(own, chosen)).toEqual(["a", "b"]);
      for (const [scope, name] of [
        ["conversation", "conversation_id or thread_id"],
        ["user", "user_id"],
        [team, "team_id"],
      ]) {
        expect(() => scopeOf(scope, { configurable: {} })).toThrow(`${name} is not set`);
      }
      expect(() => scopeOf("users", config)).toThrow("a scope is conversation, user, global");
      expect(storeNamespace(config)).toEqual(["ada", "memories"]);
      // As text, as a place in the memory, and as what a prefix finds there.
      const memory = await open();
      const names = { conversation: "conv:t1", user: "user:ada", global: "global:shop" };
      for (const [scope, namespace] of Object.entries(names)) {
        expect(resolveNamespace(scope, config)).toBe(namespace);
        const scoped = memory.scoped(scopeOf(scope, config));
        expect(scoped.place).toEqual(namespace.split(":"));
        await scoped.store.put(["n"], "k", { scope });
        const [item] = await memory.store.search([namespace.split(":")[0]]);
        expect(item.value).toEqual({ scope });
        await memory.provider().store({ namespace, key: "entry", value: 1 });
        expect(await scoped.store.search([])).toHaveLength(2);
      }
      expect(resolveNamespace("global", {})).toBe("global:default");
      expect(memory.scoped({ user: "ada@example.com" }).place).toEqual([
        "user",
        "ada@example%2Ecom",
      ]);
    },
  },
  {
    name: "what a scope writes is its own, whatever it asks, and only the memory sees where it lies",
    async run({ open, expect }) {
      const memory = await open();
      const ada = memory.scoped({ user: "ada@example.com" });
      const bob = memory.scoped({ user: "bob" });
      await ada.store.put(["notes"], "k", { text: "tea" });
      await putCheckpoint(ada.checkpointer, threadConfig("t1"), { n: 1 });
      expect(await bob.store.get(["notes"], "k")).toBeNull();
      expect(await bob.store.search([])).toEqual([]);
      expect(await bob.store.search([], { query: "tea", ranking: { mode: "text" } })).toEqual([]);
      for (const options of [{}, { prefix: ["*"] }, { suffix: ["notes"] }, { maxDepth: 1 }]) {
        expect(await bob.store.listNamespaces(options)).toEqual([]);
      }
      expect(await bob.checkpointer.getTuple(threadConfig("t1"))).toBeUndefined();
      for await (const thread of bob.checkpointer.listThreads()) {
        throw new Error(`bob sees ${thread.threadId}`);
      }
      const [hit] = await ada.store.search([], { query: "tea" });
      expect(hit.namespace).toEqual(["notes"]);
      expect(await ada.store.listNamespaces({ suffix: ["notes"] })).toEqual([["notes"]]);
      expect(await memory.store.listNamespaces()).toEqual([["user", "ada@example%2Ecom", "notes"]]);
      expect(
        (await ada.checkpointer.getTuple(threadConfig("t1"))).checkpoint.channel_values,
      ).toEqual({ n: 1 });
      expect(await memory.checkpointer.getTuple(threadConfig("t1"))).toBeUndefined();
      const threads = [];
      for await (const { threadId } of memory.checkpointer.listThreads()) threads.push(threadId);
      expect(threads).toEqual(["user/ada@example%252Ecom/t1"]);
      for (const bad of [["a.b"], ["a:b"], [""], []]) {
        expect(await codeOf(ada.store.put(bad, "k", {}))).toBeDefined();
      }
      expect(await codeOf(bob.store.stats())).toBe("access_denied");
    },
  },
  {
    name: "one compiled graph keeps each user's threads with the user, and forgets them there",
    async run({ open, reopen, expect }) {
      let memory = await open();
      const asking = () =>
        new StateGraph(Annotation.Root({ log: Annotation({ reducer: (a, b) => a.concat(b) }) }))
          .addNode("ask", () => ({ log: [interrupt("may I?")] }))
          .addEdge(START, "ask")
          .compile({ checkpointer: memory.checkpointerFor("user") });
      const of = (user_id) => ({ configurable: { thread_id: "1", user_id } });
      const users = ["ada@example.com", "bob"];
      const before = asking();
      await Promise.all(users.map((user) => before.invoke({ log: [user] }, of(user))));
      memory = await reopen(memory);
      const graph = asking();
      const logs = await Promise.all(
        users.map((user) => graph.invoke(new Command({ resume: `yes, ${user}` }), of(user))),
      );
      expect(logs.map(({ log }) => log)).toEqual(users.map((user) => [user, `yes, ${user}`]));
      expect((await graph.getState(of("carl"))).values).toEqual({});
      await expect(graph.getState({ configurable: { thread_id: "1" } })).rejects.toThrow(
        "user_id is not set",
      );
      const ada = memory.scoped({ user: users[0] });
      const threads = [];
      for await (const { threadId } of ada.checkpointer.listThreads()) threads.push(threadId);
      expect(threads).toEqual(["1"]);
      expect((await ada.forget()).erased.threads).toBe(1);
      expect((await graph.getState(of(users[0]))).values).toEqual({});
      expect((await graph.getState(of("bob"))).values.log).toEqual(["bob", "yes, bob"]);
    },
  },
  {
    name: "a provider stores, recalls, deletes and clears entries, with no model",
    async run({ open, expect }) {
      const memory = await open();
      const provider = memory.provider();
      expect(provider).toBeInstanceOf(MemoryProvider);
      const namespace = resolveNamespace("user", { user_id: "ada@example.com" });
      const metadata = { tags: ["drink"], class: "preference" };
      await provider.store({ namespace, key: "tea", value: "likes green tea", metadata });
      await provider.store({ namespace, key: "pet", value: { name: "Max", kind: "dog" } });
      await provider.store({ namespace, key: "tea", value: "likes black tea", metadata });
      const [tea] = await provider.recall({ namespace, key: "tea" });
      expect(tea).toEqual({
        id: `${namespace}/tea`,
        namespace,
        key: "tea",
        value: "likes black tea",
        metadata: { time: expect.any(String), ...metadata },
      });
      expect(JSON.parse(JSON.stringify(tea))).toEqual(tea);
      expect(await provider.recall({ namespace, key: "none" })).toEqual([]);
      const [found] = await provider.recall({ namespace, query_text: "which tea?", top_k: 1 });
      expect(found).toMatchObject({ key: "tea", score: expect.any(Number) });
      expect(found.score).toBeGreaterThan(0);
      expect(found.score).toBeLessThanOrEqual(1);
      const filtered = await provider.recall({ namespace, filter: { class: "preference" } });
      expect(filtered.map(({ key }) => key)).toEqual(["tea"]);
      expect(await provider.recall({ namespace, top_k: 1 })).toHaveLength(1);
      expect(await provider.recall({ namespace: "user:bob" })).toEqual([]);
      // What lies deeper is of other namespaces.
      expect(await provider.recall({ namespace: "user" })).toEqual([]);
      expect((await memory.store.stats()).vectors).toBe(0);
      await provider.delete(namespace, "pet");
      await expect(provider.delete(namespace, "pet")).rejects.toMatchObject({
        code: "not_found",
        message: expect.stringContaining(`namespace=${namespace}, key=pet`),
      });
      expect(await provider.clear_namespace(namespace)).toBe(1);
      expect(await provider.recall({ namespace })).toEqual([]);
    },
  },
  {
    name: "vectors are those of the model that the host brings, and of no other",
    async run({ open, expect }) {
      const without = await open();
      await without.store.put(["n"], "k", { text: "green tea" });
      expect((await without.store.stats()).vectors).toBe(0);
      const byWords = await without.store.search(["n"], {
        query: "teas",
        ranking: { mode: "text" },
      });
      expect(byWords.map(({ key }) => key)).toEqual(["k"]);
      expect(
        await codeOf(without.store.search(["n"], { query: "tea", ranking: { mode: "vector" } })),
      ).toBe("invalid_argument");
      const asked = [];
      let isThere = true;
      const embeddings = async (texts) => {
        if (!isThere) throw new Error("the model is gone");
        asked.push(...texts);
        return texts.map((text) => [text.includes("tea") ? 1 : 0, text.includes("rain") ? 1 : 0]);
      };
      const memory = await open({ index: { dims: 2, embeddings, fields: ["text"] } });
      await memory.store.put(["n"], "k", { text: "green tea" });
      await memory.store.put(["n"], "l", { text: "rain" });
      expect((await memory.store.stats()).vectors).toBe(2);
      const [first, second] = await memory.store.search(["n"], { query: "tea" });
      expect(asked).toEqual(["green tea", "rain", "tea"]);
      expect([first.key, first.score, second.score]).toEqual(["k", 1, 0]);
      // Nothing stands in for it.
      isThere = false;
      await expect(memory.store.put(["n"], "m", { text: "x" })).rejects.toThrow("model is gone");
      await expect(memory.store.search(["n"], { query: "y" })).rejects.toThrow("model is gone");
      expect((await memory.store.stats()).items).toBe(2);
    },
  },
  {
    name: "a policy's refusals have their code, their rule and their numbers, and change nothing",
    async run({ open, expect }) {
      const memory = await open();
      const policy = { readable: [["a"], ["b"]], writable: [["a"]], maxEntriesPerNamespace: 1 };
      const { store } = memory.scoped({ user: "ada", policy });
      await store.put(["a"], "k", { n: 1 });
      const small = memory.scoped({ user: "ada", policy: { maxValueBytes: 7, maxTtl: 1 } });
      const brief = memory.scoped({ user: "ada", policy: { maxBytes: 20 } });
      const reader = memory.scoped({ user: "ada", policy: { readOnly: true } });
      const blind = memory.scoped({ user: "ada", policy: { readable: [["a"]] } });
      const closed = memory.scoped({ user: "ada", policy: { readable: [] } });
      const refusals = [
        [() => store.put(["b"], "k", { n: 1 }), /access_denied .*\["b"\] may not be written/],
        [() => store.get(["c"], "k"), /access_denied .*\["c"\] may not be read/],
        [() => store.search([]), /access_denied .*\[\] may not be read/],
        [() => store.put(["a"], "l", {}), /quota_exceeded .*would have 2 entries, .*exceeds max 1/],
        [
          () => small.store.put(["a"], "k", { n: 12 }),
          /quota_exceeded .*Value size 8 exceeds max 7/,
        ],
        [() => brief.store.put(["a"], "k", { n: "x".repeat(20) }), /quota_exceeded .*max 20/],
        [() => reader.store.put(["a"], "k", {}), /access_denied .*read only/],
        // Nobody learns by numbers what there is.
        [
          () => blind.forget({ namespaces: [["c"]], filter: { n: { $lt: 5 } }, dryRun: true }),
          /access_denied .*\["c"\] may not be read/,
        ],
        [() => blind.store.clearNamespace(["c"]), /access_denied .*\["c"\] may not be read/],
        [
          () => closed.checkpointer.getTuple(threadConfig("t")),
          /access_denied .*threads may not be read/,
        ],
        [
          () => brief.store.put(["x".repeat(30)], "k", {}),
          /quota_exceeded .*bytes of items and threads, .*max 20/,
        ],
        [
          () => putCheckpoint(brief.checkpointer, threadConfig("t"), { n: 1 }),
          /quota_exceeded .*max 20/,
        ],
        [
          () => small.store.put(["a"], "k", {}, undefined, { ttl: 2 }),
          /quota_exceeded .*120000 ms exceeds max 60000/,
        ],
        [() => store.stats(), /access_denied .*whole memory/],
        [() => store.sweepExpired(), /access_denied .*whole memory/],
      ];
      for (const [call, message] of refusals) {
        const error = await call().then(
          () => ({ code: "nothing" }),
          (caught) => caught,
        );
        expect(`${error.code} ${error.message}`).toMatch(message);
      }
      expect((await store.get(["a"], "k")).value).toEqual({ n: 1 });
      expect((await memory.store.stats()).items).toBe(1);
      await small.store.put(["a"], "k", { n: 2 });
    },
  },
  {
    name: "a provider's errors are four",
    async run({ open, expect }) {
      const memory = await open();
      const policy = { maxEntriesPerNamespace: 1, writable: [["a"]] };
      const provider = memory.scoped({ user: "ada", policy }).provider();
      const store = (namespace, key) => provider.store({ namespace, key, value: 1 });
      await store("a", "1");
      expect(await codeOf(store("a", "2"))).toBe("quota_exceeded");
      expect(await codeOf(store("b", "2"))).toBe("access_denied");
      expect(await codeOf(provider.delete("a", "2"))).toBe("not_found");
      expect(await codeOf(store("", "2"))).toBe("provider_error");
      expect(await codeOf(provider.recall({ namespace: "a", topk: 1 }))).toBe("provider_error");
      await memory.close();
      expect(await codeOf(provider.recall({ namespace: "a" }))).toBe("provider_error");
    },
  },
  {
    name: "every access is told before and after it, and never a value",
    async run({ open, expect }) {
      const memory = await open();
      const events = [];
      const scoped = memory.scoped({
        user: "ada",
        policy: { maxValueBytes: 60 },
        actor: () => ({ actor: "agent-1", nodeId: "node-7" }),
        onAccess: (event) => events.push(event),
      });
      const { store, checkpointer } = scoped;
      await store.put(["n"], "k", { text: "secret" });
      await store.search(["n"], { query: "secret" });
      await store.put(["n"], "k", { text: "x".repeat(70) }).catch(() => {});
      await store.delete(["n"], "k");
      await store.clearNamespace(["n"]);
      const provider = scoped.provider();
      await provider.store({ namespace: "n", key: "k", value: "secret" });
      await provider.recall({ namespace: "n" });
      await provider.delete("n", "k");
      await provider.clear_namespace("n");
      await putCheckpoint(checkpointer, threadConfig("t"), { n: 1 });
      const of = (...lines) => lines.flatMap((line) => [line.split(" ")[0], line]);
      const told = events.map(({ phase, operation, success, count, code }) =>
        phase === "before" ? operation : `${operation} ${success} ${code ?? count}`,
      );
      const byStore = ["store true 1", "recall true 1", "store false quota_exceeded"];
      expect(told.slice(0, 10)).toEqual(of(...byStore, "delete true 1", "clear true 0"));
      expect(told.filter((line) => line === "recall true 1").length).toBeGreaterThan(1);
      expect(new Set(told.filter((line) => !line.includes(" ")))).toEqual(
        new Set(["store", "recall", "delete", "clear"]),
      );
      expect(told.filter((line) => line.includes(" "))).toHaveLength(told.length / 2);
      expect(events[0]).toEqual({
        phase: "before",
        time: expect.any(Number),
        scope: "user/ada",
        operation: "store",
        namespace: ["n"],
        actor: "agent-1",
        nodeId: "node-7",
      });
      expect(events.at(-1)).toMatchObject({ operation: "store", threadId: "t", success: true });
      expect(JSON.stringify(events)).not.toContain("secret");
    },
  },
  {
    name: "secrets are masked, refused or allowed before they are stored, embedded or searched",
    async run({ open, reopen, expect }) {
      const letters = Array.from({ length: 36 }, (_, i) => "abcdefghij0123456789"[(i * 7) % 20]);
      const token = `ghp_${letters.join("")}`;
      const harmless = { text: "AKIA is a prefix, 1234 5678 no card", n: 4 };
      const asked = [];
      const told = [];
      const embeddings = async (texts) => {
        asked.push(...texts);
        return texts.map(() => [1, 2]);
      };
      const memory = await open({
        index: { dims: 2, embeddings, fields: ["text"] },
        secrets: { mode: "mask", onMasked: (report) => told.push(report) },
      });
      const nothing = await memory.store.put(["n"], "k", { text: `use ${token}`, list: [token] });
      expect(nothing).toBeUndefined();
      const masked = ["github token", "github token"];
      expect(told).toEqual([{ namespace: ["n"], key: "k", masked }]);
      expect((await memory.store.get(["n"], "k")).value).toEqual({
        text: "use [github token]",
        list: ["[github token]"],
      });
      await memory.scoped({ user: "ada" }).store.put(["n"], "l", { text: "4111 1111 1111 1111" });
      expect((await memory.store.get(["user", "ada", "n"], "l")).value.text).toBe("[card number]");
      expect(await memory.store.put(["n"], "m", harmless)).toBeFalsy();
      expect((await memory.store.get(["n"], "m")).value).toEqual(harmless);
      expect(asked.join()).not.toContain(token);
      expect(
        await memory.store.search([], { query: token, ranking: { mode: "contains" } }),
      ).toEqual([]);
      const bytes = await memory.export({ format: "portable" });
      expect(new TextDecoder("latin1").decode(bytes)).not.toContain(token);
      const refusing = await open({ secrets: "refuse" });
      await expect(refusing.store.put(["n"], "k", { text: token })).rejects.toMatchObject({
        code: "secret_found",
        message: expect.stringMatching(/holds a secret \(github token\)/),
      });
      expect(await refusing.store.search([])).toEqual([]);
      const allowing = await reopen(refusing, {});
      await allowing.store.put(["n"], "k", { text: token });
      expect((await allowing.store.get(["n"], "k")).value.text).toBe(token);
    },
  },
  {
    name: "what a provider stored is there in the next run, as it was",
    async run({ open, reopen, expect }) {
      const first = await open();
      const metadata = { class: "a", tags: ["x"] };
      const entry = { namespace: "n", key: "k", value: { deep: ["é", 1.5] }, metadata };
      await first.scoped({ user: "ada" }).provider().store(entry);
      const before = await first.scoped({ user: "ada" }).provider().recall({ namespace: "n" });
      const second = await reopen(first);
      const after = await second.scoped({ user: "ada" }).provider().recall({ namespace: "n" });
      expect(after).toEqual(before);
      expect(after[0]).toMatchObject({ value: entry.value, metadata });
      await second.scoped({ user: "ada" }).provider().clear_namespace("n");
      const third = await reopen(second);
      expect(await third.scoped({ user: "ada" }).provider().recall({ namespace: "n" })).toEqual([]);
    },
  },
];
