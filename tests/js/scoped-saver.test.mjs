// memory.checkpointerFor(): one compiled agent for all users, whose threads lie with them.

import { Annotation, Command, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { openMemory } from "keepsake";
import { checkpointOf, metadataOf, putCheckpoint } from "./support/checkpoints.mjs";
import { closeMemoryOf, memoryAt } from "./support/connections.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const backends = {
  "a file": (options) => openMemory({ path: temporaryFile(), ...options }),
  "linear memory": (options) => openMemory({ path: ":memory:", ...options }),
  "a connection": async (options) => memoryAt("better-sqlite3", temporaryFile(), options),
};

const append = () => Annotation({ reducer: (a, b) => a.concat(b), default: () => [] });
const Log = Annotation.Root({ log: append() });
const of = (user_id, thread_id = "1", more = {}) => ({
  configurable: { ...(user_id !== undefined && { user_id }), thread_id, ...more },
});

async function collect(list) {
  const all = [];
  for await (const one of list) all.push(one);
  return all;
}

const idOf = ({ configurable }) => configurable.checkpoint_id;
const idsOf = async (list) => (await collect(list)).map(({ config }) => idOf(config));

/** A node that asks, in a graph of its own within a graph. */
function asking(checkpointer, childOptions) {
  const child = new StateGraph(Log)
    .addNode("ask", () => ({ log: [`child ${interrupt("may I?")}`] }))
    .addEdge(START, "ask")
    .compile(childOptions);
  return new StateGraph(Log)
    .addNode("child", child)
    .addNode("end", () => ({ log: ["end"] }))
    .addEdge(START, "child")
    .addEdge("child", "end")
    .addEdge("end", END)
    .compile({ checkpointer });
}

// Whatever may be in an id of a user: it names her, and nobody else.
const USERS = [
  "ada",
  "ada.",
  "ada/1",
  "ada:1",
  "a\0b",
  "__proto__",
  "constructor",
  "ada@example.com",
  "%",
  "*",
  "../bob",
  "user/ada",
  "ä ö",
  "x".repeat(500),
];

describe.each(Object.keys(backends))("over %s", (backend) => {
  const opened = [];
  const open = async (options) => {
    const memory = await backends[backend](options);
    opened.push(memory);
    return memory;
  };
  afterEach(async () => {
    for (const memory of opened.splice(0)) {
      if (backend === "a connection") await closeMemoryOf(memory);
      else await memory.close();
    }
  });

  test("each method of a saver is of the thread of its user", async () => {
    const memory = await open();
    const saver = memory.checkpointerFor("user");
    const first = await putCheckpoint(saver, of("ada"), { n: 1 });
    await saver.putWrites(first, [["n", "written"]], "task", "path");
    const second = await putCheckpoint(
      saver,
      { configurable: { ...first.configurable } },
      { n: 2 },
      { step: 1 },
    );
    const his = await putCheckpoint(saver, of("bob"), { n: "his" });

    expect((await saver.getTuple(of("ada"))).checkpoint.channel_values).toEqual({ n: 2 });
    expect((await saver.getTuple(of("bob"))).checkpoint.channel_values).toEqual({ n: "his" });
    expect(await saver.getTuple(of("carl"))).toBeUndefined();
    // Her checkpoint's id is of no use to him.
    const stolen = of("bob", "1", { checkpoint_ns: "", checkpoint_id: idOf(first) });
    expect(await saver.getTuple(stolen)).toBeUndefined();

    expect(await idsOf(saver.list(of("ada")))).toEqual([idOf(second), idOf(first)]);
    expect(await idsOf(saver.list(of("bob")))).toEqual([idOf(his)]);
    expect(await idsOf(saver.list({ configurable: { user_id: "ada" } }))).toHaveLength(2);
    expect(await idsOf(saver.list(of("ada"), { before: second, limit: 1 }))).toEqual([idOf(first)]);
    const [, older] = await collect(saver.list(of("ada")));
    expect(older.pendingWrites).toEqual([["task", "n", "written"]]);

    const history = (config) => saver.getDeltaChannelHistory({ config, channels: ["n"] });
    const latest = await history((await saver.getTuple(of("ada"))).config);
    expect(latest).toEqual(
      await memory.scoped({ user: "ada" }).checkpointer.getDeltaChannelHistory({
        config: {
          configurable: { thread_id: "1", checkpoint_ns: "", checkpoint_id: idOf(second) },
        },
        channels: ["n"],
      }),
    );
    expect(latest.n.writes.length + Number("seed" in latest.n)).toBeGreaterThan(0);
    expect((await history(of("carl"))).n).toEqual({ writes: [] });
  });

  test("a thread is the one that the user's scope has, whoever wrote it", async () => {
    const memory = await open();
    const saver = memory.checkpointerFor("user");
    for (const user of USERS) {
      const hers = memory.scoped({ user }).checkpointer;
      await putCheckpoint(saver, of(user, "by run"), { of: user });
      await putCheckpoint(hers, { configurable: { thread_id: "by scope" } }, { of: user });
    }
    for (const user of USERS) {
      const hers = memory.scoped({ user }).checkpointer;
      const values = async (tuple) => (await tuple).checkpoint.channel_values;
      expect(await values(hers.getTuple({ configurable: { thread_id: "by run" } }))).toEqual({
        of: user,
      });
      expect(await values(saver.getTuple(of(user, "by scope")))).toEqual({ of: user });
      const threads = (await collect(hers.listThreads())).map(({ threadId }) => threadId);
      expect(threads.sort()).toEqual(["by run", "by scope"]);
    }
    expect(await collect(memory.checkpointer.listThreads())).toHaveLength(2 * USERS.length);
    // One from before there were users.
    await putCheckpoint(memory.checkpointer, { configurable: { thread_id: "old" } }, { n: 1 });
    await memory.checkpointer.renameThread("old", "user/eve/old");
    expect(await saver.getTuple(of("eve", "old"))).toBeDefined();
    await memory.scoped({ user: "eve" }).forget();
    // A number is the text of it.
    await putCheckpoint(saver, of(7), { n: 7 });
    expect(
      await memory
        .scoped({ user: "7" })
        .checkpointer.getTuple({ configurable: { thread_id: "1" } }),
    ).toBeDefined();
    // What is forgotten of one is there of all others.
    const { erased, ...receipt } = await memory.scoped({ user: "ada" }).forget();
    expect(erased).toMatchObject({ threads: 2 });
    expect(receipt).toMatchObject({ scrubbed: expect.any(String) });
    expect(await saver.getTuple(of("ada", "by run"))).toBeUndefined();
    expect(await collect(memory.checkpointer.listThreads())).toHaveLength(2 * USERS.length - 1);
  });

  test("a run that names nobody, or two, is refused, and so is what takes no config", async () => {
    const memory = await open();
    const saver = memory.checkpointerFor("user");
    await putCheckpoint(saver, of("ada"), { n: 1 });
    const nobody = [undefined, {}, { configurable: {} }, of(undefined), of(null)];
    for (const config of nobody) {
      const calls = [
        () => saver.getTuple(config),
        () => collect(saver.list(config)),
        () => saver.put(config, checkpointOf(), metadataOf(), {}),
        () => saver.putWrites(config, [], "task"),
        () => saver.getDeltaChannelHistory({ config, channels: ["n"] }),
      ];
      for (const call of calls) {
        await expect(call()).rejects.toMatchObject({
          code: "invalid_argument",
          message:
            '[keepsake] checkpointerFor: user_id is not set: the scope "user" needs it, as in { configurable: { user_id } }',
        });
      }
    }
    for (const user of ["", {}, Number.NaN, true, "\ud800"]) {
      await expect(saver.getTuple(of(user))).rejects.toMatchObject({ code: "invalid_argument" });
    }
    const two = { ...of("ada"), context: { user_id: "bob" } };
    await expect(saver.getTuple(two)).rejects.toMatchObject({ code: "access_denied" });
    const byContext = memory.checkpointerFor("user", { sources: ["context"] });
    expect(await byContext.getTuple({ ...two, context: { user_id: "ada" } })).toBeDefined();
    expect(await byContext.getTuple(two)).toBeUndefined();

    await expect(saver.deleteThread("1")).rejects.toThrow(
      "[keepsake] checkpointerFor: deleteThread() takes no config, so that it is not known whose threads are meant: call it of memory.scoped({ user }).checkpointer",
    );
    for (const name of ["listThreads", "prune", "copyThread", "stats"]) {
      expect(() => saver[name]("1")).toThrow(`checkpointerFor: ${name}() takes no config`);
    }
    expect(await saver.getTuple(of("ada"))).toBeDefined();

    expect(() => memory.checkpointerFor("users")).toThrow("a scope is conversation, user, global");
    expect(() => memory.checkpointerFor()).toThrow("a scope is conversation, user, global");
    expect(() => memory.checkpointerFor("user", { source: ["auth"] })).toThrow(
      'did you mean "sources"?',
    );
    expect(() => memory.checkpointerFor("user", { sources: ["jwt"] })).toThrow(
      "must be one of auth",
    );
    expect(() => memory.checkpointerFor("user", { policy: { maxByte: 1 } })).toThrow(
      'did you mean "maxBytes"?',
    );
  });

  test("one compiled graph serves two users at once, with interrupts in subgraphs", async () => {
    const memory = await open();
    const graph = asking(memory.checkpointerFor("user"));
    const users = ["ada", "bob"];
    const both = (run) => Promise.all(users.map(run));
    await both((user) => graph.invoke({ log: [user] }, of(user)));
    await both(async (user) => {
      const { tasks, values } = await graph.getState(of(user), { subgraphs: true });
      expect(values.log).toEqual([user]);
      // The state of the subgraph, for which LangGraph does not say who asks.
      expect(tasks[0].state).toMatchObject({ values: { log: [user] }, next: ["ask"] });
      expect(tasks[0].interrupts).toHaveLength(1);
    });
    // Somebody else's thread is a new one.
    expect((await graph.getState(of("carl"), { subgraphs: true })).values).toEqual({});
    const [{ state }] = (await graph.getState(of("ada"))).tasks;
    await expect(graph.getState(state)).rejects.toThrow("user_id is not set");
    const his = { configurable: { ...state.configurable, user_id: "bob" } };
    expect((await graph.getState(his)).values).toEqual({});
    const hers = { configurable: { ...state.configurable, user_id: "ada" } };
    expect((await graph.getState(hers)).values).toEqual({ log: ["ada"] });
    await graph.updateState(hers, { log: ["edited"] });
    expect((await graph.getState(hers)).values.log).toEqual(["ada", "edited"]);

    const answered = await both((user) =>
      graph.invoke(new Command({ resume: `yes, ${user}` }), of(user)),
    );
    expect(answered.map(({ log }) => log.slice(-2))).toEqual([
      ["child yes, ada", "end"],
      ["child yes, bob", "end"],
    ]);
    expect(answered[1].log).not.toContain("ada");
    await expect(graph.invoke({ log: [] }, of(undefined))).rejects.toThrow("user_id is not set");
    await expect(graph.getState(of(undefined))).rejects.toThrow("user_id is not set");
  });

  test("time travel, forks and updates go on from the configs that were answered", async () => {
    const memory = await open();
    const graph = asking(memory.checkpointerFor("user"));
    for (const user of ["ada", "bob"]) {
      await graph.invoke({ log: [user] }, of(user));
      await graph.invoke(new Command({ resume: "yes" }), of(user));
    }
    const history = await collect(graph.getStateHistory(of("ada")));
    expect(history.every(({ values }) => !values.log?.includes("bob"))).toBe(true);
    const before = history.find(({ next }) => next[0] === "end");
    // A config that was answered names her, also without a user_id.
    expect((await graph.getState(before.config)).next).toEqual(["end"]);
    expect((await graph.getState(before.parentConfig)).next).toEqual(["child"]);
    const replayed = await graph.invoke(null, before.config);
    expect(replayed.log).toEqual(["ada", "ada", "child yes", "end"]);
    const updated = await graph.updateState(before.config, { log: ["updated"] });
    expect((await graph.invoke(null, updated)).log).toContain("updated");
    expect((await graph.getState(of("bob"))).values.log).toEqual([
      "bob",
      "bob",
      "child yes",
      "end",
    ]);
    // As a client sends it back, it names nobody; and the user of the run is who counts.
    const sent = JSON.parse(JSON.stringify(before.config));
    await expect(graph.getState(sent)).rejects.toThrow("user_id is not set");
    const stolen = { configurable: { ...before.config.configurable, user_id: "bob" } };
    expect((await graph.getState(stolen)).values).toEqual({});
    const other = { configurable: { ...before.config.configurable, thread_id: "2" } };
    await expect(graph.getState(other)).rejects.toThrow("user_id is not set");
  });

  test("the state of a subgraph with a history of its own is nobody else's", async () => {
    const memory = await open();
    const graph = asking(memory.checkpointerFor("user"), { checkpointer: true });
    const stateOf = (user, thread) => graph.getState(of(user, thread), { subgraphs: true });
    await graph.invoke({ log: ["ada"] }, of("ada", "hers"));
    // LangGraph does not say whose is meant, and any thread of this id has a subgraph of this name.
    await expect(stateOf("ada", "hers")).rejects.toThrow(/whose subgraph "child" is.*by its name/);
    // His thread of the same id has not come to the subgraph yet.
    await graph.updateState(of("bob", "hers"), { log: ["bob"] }, "__start__");
    await expect(stateOf("bob", "hers")).rejects.toThrow(/whose subgraph "child" is/);
    const child = (user) => graph.getState(of(user, "hers", { checkpoint_ns: "child" }));
    expect((await child("ada")).values).toEqual({ log: ["ada"] });
    expect((await child("bob")).values).toEqual({});
  });

  test("a policy holds for the threads of each, and a scope within a scope is one", async () => {
    const memory = await open();
    const policy = { maxBytes: 3000 };
    const saver = memory.checkpointerFor("user", { policy });
    const large = { text: "x".repeat(2000) };
    await putCheckpoint(saver, of("ada"), large);
    await expect(putCheckpoint(saver, of("ada", "2"), large)).rejects.toMatchObject({
      code: "quota_exceeded",
    });
    await putCheckpoint(saver, of("bob"), large);
    const reading = memory.checkpointerFor("user", { policy: { readOnly: true } });
    expect(await reading.getTuple(of("ada"))).toBeDefined();
    await expect(putCheckpoint(reading, of("ada"), {})).rejects.toMatchObject({
      code: "access_denied",
    });

    const shop = memory.scoped({ global: "shop" });
    await putCheckpoint(shop.checkpointerFor("user"), of("ada"), { in: "shop" });
    const hers = shop.scoped({ user: "ada" }).checkpointer;
    expect(await collect(hers.listThreads())).toHaveLength(1);
    const team = memory.checkpointerFor({ name: "team", variable: "team_id" });
    await putCheckpoint(
      team,
      { configurable: { thread_id: "1", team_id: "blue" } },
      { in: "team" },
    );
    const blue = memory.scoped({ place: ["team", "blue"] });
    expect(await collect(blue.checkpointer.listThreads())).toHaveLength(1);
    const talks = asking(memory.checkpointerFor("conversation"));
    const talk = { configurable: { thread_id: "t", conversation_id: "c" } };
    await talks.invoke({ log: ["talk"] }, talk);
    const { tasks } = await talks.getState(talk, { subgraphs: true });
    expect(tasks[0].state.values).toEqual({ log: ["talk"] });
    const inTalk = memory.scoped({ conversation: "c" }).checkpointer;
    expect(await collect(inTalk.listThreads())).toHaveLength(1);
    const all = memory.checkpointerFor("global");
    await putCheckpoint(all, { configurable: { thread_id: "1" } }, { in: "app" });
    expect(await collect(memory.scoped({ global: true }).checkpointer.listThreads())).toHaveLength(
      1,
    );
  });

  test("retention and serde of the memory hold, and who hears of it hears where it lies", async () => {
    const events = [];
    const onAccess = backend === "a connection" ? {} : { onAccess: (event) => events.push(event) };
    const memory = await open({ retention: { keepLast: 2, every: 4 }, ...onAccess });
    const saver = memory.checkpointerFor("user");
    const put = async (target, config) => {
      for (let step = 0; step < 4; step++)
        config = await putCheckpoint(target, config, { step }, { step });
    };
    await put(saver, of("ada"));
    expect(await idsOf(saver.list(of("ada")))).toHaveLength(2);
    await put(memory.scoped({ user: "bob" }).checkpointer, { configurable: { thread_id: "1" } });
    expect(await idsOf(saver.list(of("bob")))).toHaveLength(2);
    if (backend === "a connection") return;
    const stored = events.filter(
      ({ phase, operation }) => phase === "before" && operation === "store",
    );
    expect(stored.map(({ threadId }) => threadId)).toContain("user/ada/1");
  });
});
