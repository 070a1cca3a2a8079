// Long histories: what they cost, how they are looked through, and how they end.

import { statSync } from "node:fs";
import { AIMessage, HumanMessage, RemoveMessage, ToolMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { openMemory, SqliteSaver } from "keepsake";
import { checkpointOf, metadataOf, putCheckpoint, threadConfig } from "./support/checkpoints.mjs";
import { closeOpened, closing } from "./support/closing.mjs";
import { saversOfEachKind } from "./support/saver-backends.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterEach(closeOpened);
afterAll(removeTemporaryFolders);

const idOf = ({ configurable }) => configurable.checkpoint_id;

async function collect(iterable) {
  const all = [];
  for await (const element of iterable) all.push(element);
  return all;
}

async function putThread(saver, threadId, steps, stateOf = (step) => ({ n: step })) {
  const configs = [];
  for (let step = 0; step < steps; step += 1) {
    const parent = configs.at(-1) ?? threadConfig(threadId);
    configs.push(await putCheckpoint(saver, parent, stateOf(step), { step }));
  }
  return configs;
}

const messagesOf = (count) =>
  Array.from(
    { length: count },
    (_, i) => new HumanMessage({ id: `m-${i}`, content: `Message ${i}: ${"é".repeat(i % 300)}` }),
  );

describe.each(saversOfEachKind)("$name", (backend) => {
  let saver;
  beforeEach(async () => {
    saver = await backend.make();
  });
  afterEach(() => backend.close(saver));

  const valuesOf = async (config) => (await saver.getTuple(config)).checkpoint.channel_values;

  test("every version of a growing list comes back", async () => {
    const configs = await putThread(saver, "t", 60, (step) => ({ messages: messagesOf(step + 1) }));
    for (const step of [0, 30, 59]) {
      expect((await valuesOf(configs[step])).messages).toEqual(messagesOf(step + 1));
    }
  });

  test("forks that go on in turns keep their own values", async () => {
    const [root] = await putThread(saver, "t", 1, () => ({ messages: messagesOf(20) }));
    const branches = [[root], [root], [root]];
    for (let step = 1; step < 20; step += 1) {
      for (const [branch, configs] of branches.entries()) {
        const messages = [...messagesOf(20 + step), new HumanMessage(`${branch}`)];
        configs.push(await putCheckpoint(saver, configs.at(-1), { messages }, { step }));
      }
    }
    for (const [branch, configs] of branches.entries()) {
      const { messages } = await valuesOf(configs.at(-1));
      expect(messages.map(({ content }) => content)).toEqual([
        ...messagesOf(39).map(({ content }) => content),
        `${branch}`,
      ]);
    }
  });

  test("bytes that the caller changes after a put stay as they were put", async () => {
    const raw = new Uint8Array(5_000).fill(1);
    const first = await putCheckpoint(saver, threadConfig("t"), { raw });
    raw.fill(2, 100, 200);
    const second = await putCheckpoint(saver, first, { raw }, { step: 1 });
    expect((await valuesOf(first)).raw).toEqual(new Uint8Array(5_000).fill(1));
    expect((await valuesOf(second)).raw).toEqual(new Uint8Array(5_000).fill(1).fill(2, 100, 200));
  });

  test("a checkpoint that was replaced behind a saver's back is no base", async () => {
    const [root] = await putThread(saver, "t", 1, () => ({ messages: messagesOf(50) }));
    await saver.deleteThread("t");
    const messages = messagesOf(51);
    const next = await putCheckpoint(saver, root, { messages }, { step: 1 });
    expect((await valuesOf(next)).messages).toEqual(messages);
  });

  test("a channel that was emptied in between has the value that it is given then", async () => {
    const input = (turn) => ({ messages: [new HumanMessage(`${turn} ${"long ".repeat(500)}`)] });
    let config = threadConfig("t");
    for (let turn = 0; turn < 3; turn += 1) {
      config = await putCheckpoint(saver, config, { __start__: input(turn) }, { step: 2 * turn });
      expect((await valuesOf(config)).__start__).toEqual(input(turn));
      // As LangGraph does in the step that reads it: a new version, and no value.
      const emptied = checkpointOf();
      const versions = { __start__: 2 * turn + 2 };
      emptied.channel_versions = versions;
      config = await saver.put(config, emptied, metadataOf(2 * turn + 1), versions);
      expect(await valuesOf(config)).toEqual({});
    }
  });

  test("a conversation with long inputs, edits and tool results is what it was", async () => {
    const long = (name) => `${name}: ${"é 漢字 and more. ".repeat(150)}`;
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("agent", ({ messages }) => ({
        messages: [
          new AIMessage({ id: `tool-call-${messages.length}`, content: "", tool_calls: [call] }),
          new ToolMessage({ content: long("result"), tool_call_id: call.id }),
          new AIMessage(long("answer")),
          ...(messages.length > 8 ? [new RemoveMessage({ id: messages[3].id })] : []),
        ],
      }))
      .addEdge(START, "agent")
      .compile({ checkpointer: saver });
    const call = { id: "call", name: "look", args: { at: long("args") } };
    const config = { configurable: { thread_id: "t" } };
    for (let turn = 0; turn < 8; turn += 1) {
      const { messages } = await graph.invoke({ messages: [new HumanMessage(long("q"))] }, config);
      const stored = (await graph.getState(config)).values.messages;
      expect(stored.map(({ content }) => content)).toEqual(messages.map(({ content }) => content));
    }
    const steps = await collect(graph.getStateHistory(config));
    expect(steps).toHaveLength(24);
  });

  test("prune keeps the last of each namespace, and says what went", async () => {
    const configs = await putThread(saver, "t", 6);
    await putThread(saver, "other", 3);
    const rules = { threadIds: ["t"], keepLast: 2 };
    const would = await saver.prune({ ...rules, dryRun: true });
    expect(would.checkpoints).toBe(4);
    expect(would.bytes).toBeGreaterThan(0);
    expect(await collect(saver.list(threadConfig("t")))).toHaveLength(6);
    expect(await saver.prune(rules)).toEqual(would);
    const left = await collect(saver.list(threadConfig("t")));
    expect(left.map(({ config }) => idOf(config))).toEqual([idOf(configs[5]), idOf(configs[4])]);
    expect((await saver.stats()).checkpoints).toBe(5);
  });

  test("a dry run without a rule is an error, and no promise that nothing goes", async () => {
    await putThread(saver, "t", 3);
    for (const options of [{ threadIds: ["t"], dryRun: true }, { dryRun: true }, {}, undefined]) {
      await expect(saver.prune(options)).rejects.toMatchObject({
        code: "invalid_argument",
        message: expect.stringContaining("keepLast"),
      });
    }
    expect((await saver.stats()).checkpoints).toBe(3);
  });

  test("prune by age and by bound spares the newest", async () => {
    const configs = await putThread(saver, "t", 4);
    expect(await saver.prune({ maxAge: 60 })).toMatchObject({ checkpoints: 0 });
    expect(await saver.prune({ olderThan: configs[2] })).toMatchObject({ checkpoints: 2 });
    expect(await saver.prune({ olderThan: new Date(Date.now() + 60_000) })).toMatchObject({
      checkpoints: 1,
    });
    expect(await valuesOf(threadConfig("t"))).toEqual({ n: 3 });
  });

  test("prune by size takes the oldest", async () => {
    await putThread(saver, "t", 40, (step) => ({ text: `${step}`.repeat(1_000 + step * 100) }));
    const { bytes } = await saver.stats();
    await saver.prune({ maxBytes: Math.floor(bytes / 2) });
    const after = await saver.stats();
    expect(after.bytes).toBeLessThanOrEqual(bytes / 2);
    expect(after.checkpoints).toBeGreaterThan(5);
  });

  test("wrong rules are named", async () => {
    for (const [name, rules] of Object.entries({
      keepLast: { keepLast: 0 },
      maxAge: { maxAge: -1 },
      maxBytes: { maxBytes: "1" },
      threadIds: { threadIds: "t", keepLast: 1 },
      strategy: { strategy: "delete", threadIds: ["t"], keepLast: 1 },
    })) {
      await expect(saver.prune(rules)).rejects.toMatchObject({
        code: "invalid_argument",
        message: expect.stringContaining(name),
      });
    }
  });

  test("listThreads tells size, step and last activity, the last active first", async () => {
    await putThread(saver, "first", 3);
    await putThread(saver, "second", 2);
    await putThread(saver, "third", 1);
    const threads = await collect(saver.listThreads());
    expect(threads.map(({ threadId }) => threadId)).toEqual(["third", "second", "first"]);
    expect(threads[2]).toMatchObject({ checkpoints: 3, step: 2, metadata: { source: "loop" } });
    expect(threads[2].bytes).toBeGreaterThan(0);
    expect(Date.now() - threads[2].lastActivity.getTime()).toBeLessThan(600_000);
    expect(await collect(saver.listThreads({ limit: 2 }))).toEqual(threads.slice(0, 2));
  });

  test.each([
    ["undefined", { owner: undefined }],
    ["a Map", new Map([["owner", "ada"]])],
    ["a number", 7],
    ["a list", []],
  ])("a filter that would show everybody's threads is refused: %s", async (_, filter) => {
    await putThread(saver, "hers", 1);
    const refusal = { code: "invalid_filter", message: expect.stringMatching(/filter.* of list/) };
    await expect(collect(saver.listThreads({ filter }))).rejects.toMatchObject(refusal);
    await expect(collect(saver.list({ configurable: {} }, { filter }))).rejects.toMatchObject(
      refusal,
    );
  });

  test("listThreads goes on from page to page", async () => {
    for (let i = 0; i < 30; i += 1) await putThread(saver, `t${i}`, 1);
    const ids = (await collect(saver.listThreads())).map(({ threadId }) => threadId);
    expect(ids).toEqual(Array.from({ length: 30 }, (_, i) => `t${29 - i}`));
  });

  test("forkThread and renameThread", async () => {
    const configs = await putThread(saver, "t", 4);
    await saver.forkThread("t", idOf(configs[1]), "fork");
    expect(await valuesOf(threadConfig("fork"))).toEqual({ n: 1 });
    expect(await collect(saver.list(threadConfig("fork")))).toHaveLength(2);
    await saver.forkThread("t", undefined, "copy");
    expect(await valuesOf(threadConfig("copy"))).toEqual({ n: 3 });
    await saver.renameThread("fork", "renamed");
    expect(await saver.getTuple(threadConfig("fork"))).toBeUndefined();
    expect(await valuesOf(threadConfig("renamed"))).toEqual({ n: 1 });
    await expect(saver.renameThread("renamed", "t")).rejects.toMatchObject({
      code: "invalid_argument",
    });
    await expect(saver.forkThread("t", "nowhere", "x")).rejects.toMatchObject({
      code: "not_found",
    });
  });

  test("diff says what changed between two checkpoints", async () => {
    const before = checkpointOf({ messages: messagesOf(2), gone: 1, same: { a: [1] }, n: 1 });
    const after = checkpointOf({ messages: messagesOf(3), same: { a: [1] }, n: 2, fresh: true }, 2);
    const first = await saver.put(
      threadConfig("t"),
      before,
      metadataOf(0),
      before.channel_versions,
    );
    const second = await saver.put(first, after, metadataOf(1), after.channel_versions);
    const diff = await saver.diff(first, second);
    expect(diff.added).toEqual({ fresh: true });
    expect(diff.removed).toEqual({ gone: 1 });
    expect(diff.unchanged).toEqual(["same"]);
    expect(diff.changed.n).toEqual({ before: 1, after: 2 });
    expect(diff.changed.messages.appended).toEqual([messagesOf(3)[2]]);
    await expect(saver.diff(first, threadConfig("t", "nowhere"))).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringContaining('thread "t" has no checkpoint nowhere'),
    });
    await expect(saver.diff(first, threadConfig("nobody"))).rejects.toMatchObject({
      message: expect.stringContaining('thread "nobody" has no checkpoints'),
    });
    await expect(saver.diff(first, {})).rejects.toMatchObject({ code: "thread_id_required" });
  });

  test("a thread that waits for a human resumes after a prune", async () => {
    const graph = new StateGraph(
      Annotation.Root({ log: Annotation({ reducer: (a, b) => [...a, ...b], default: () => [] }) }),
    )
      .addNode("ask", () => ({ log: [interrupt("and?")] }))
      .addEdge(START, "ask")
      .compile({ checkpointer: saver });
    const config = { configurable: { thread_id: "t" } };
    for (let turn = 0; turn < 3; turn += 1) {
      await graph.invoke({ log: [`turn ${turn}`] }, config);
      await graph.invoke(new Command({ resume: `answer ${turn}` }), config);
    }
    await graph.invoke({ log: ["last"] }, config);
    await saver.prune({ keepLast: 1 });
    const { log } = await graph.invoke(new Command({ resume: "yes" }), config);
    expect(log.slice(-2)).toEqual(["last", "yes"]);
    expect(log).toHaveLength(8);
  });
});

test("retention prunes by itself, and the file gives its space back", async () => {
  const path = temporaryFile();
  const retention = { keepLast: 3, every: 50 };
  const memory = closing(await openMemory({ path, retention }));
  const saver = memory.checkpointer;
  const stateOf = (step) => ({ text: Array.from({ length: 5_000 }, (_, i) => i * step).join() });
  await putThread(saver, "t", 100, stateOf);
  expect((await saver.stats()).checkpoints).toBe(3);
  await memory.flush();
  expect(statSync(path).size).toBeLessThan(1_000_000);
  expect(() => new SqliteSaver({ path, retention: { keepLast: -1 } })).toThrow(/keepLast/);
});

test("compact frees what replaced checkpoints left", async () => {
  const saver = closing(new SqliteSaver({ path: temporaryFile() }));
  const checkpoint = checkpointOf({ text: "" });
  for (let i = 0; i < 20; i += 1) {
    const channel_values = { text: Array.from({ length: 2_000 }, (_, n) => n * i).join() };
    await saver.put(
      threadConfig("t"),
      { ...checkpoint, channel_values },
      metadataOf(0),
      checkpoint.channel_versions,
    );
  }
  const { bytes } = await saver.stats();
  await saver.compact();
  expect((await saver.stats()).bytes).toBeLessThan(bytes / 5);
});

test("200 turns of a chat take less than 2 MB", async () => {
  const path = temporaryFile();
  const saver = new SqliteSaver({ path });
  let config = threadConfig("t");
  for (let turn = 0; turn < 200; turn += 1) {
    const messages = messagesOf(2 * turn + 2);
    config = await putCheckpoint(saver, config, { messages }, { step: turn });
    await saver.putWrites(config, [["messages", messages.slice(-2)]], "task");
  }
  await saver.close();
  expect(statSync(path).size).toBeLessThan(2 * 1024 * 1024);
});

// A delta channel has its whole value every so often, and none in between.
test("of a delta channel's next snapshot only what is new is stored", async () => {
  const path = temporaryFile();
  const chat = Array.from({ length: 400 }, (_, i) => new HumanMessage(`${i} ${"x".repeat(300)}`));
  const bytes = [];
  for (const snapshots of [10, 20]) {
    const saver = new SqliteSaver({ path: `${path}-${snapshots}` });
    let config = threadConfig("t");
    let expected;
    for (let step = 0; step < snapshots * 20; step += 1) {
      const checkpoint = checkpointOf();
      checkpoint.channel_versions = { messages: step + 1 };
      if (step % 20 === 0) {
        expected = chat.slice(0, step + 20);
        checkpoint.channel_values.messages = expected;
      }
      config = await saver.put(config, checkpoint, metadataOf(step), checkpoint.channel_versions);
    }
    const { messages } = await saver.getDeltaChannelHistory({ config, channels: ["messages"] });
    expect(messages.seed).toEqual(expected);
    bytes.push((await saver.stats()).bytes);
    await saver.close();
  }
  // The square would be four times as much.
  expect(bytes[1] / bytes[0]).toBeLessThan(2.3);
});
