import { MemorySaver, SqliteSaver } from "keepsake";
import { checkpointOf, metadataOf, putCheckpoint, threadConfig } from "./support/checkpoints.mjs";
import { closeOpened, closing } from "./support/closing.mjs";
import { dumpSaver } from "./support/refusal.mjs";
import { saversOfEachKind } from "./support/saver-backends.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterEach(closeOpened);
afterAll(removeTemporaryFolders);

const idOf = ({ configurable }) => configurable.checkpoint_id;

async function idsOf(list) {
  const ids = [];
  for await (const { config } of list) ids.push(idOf(config));
  return ids;
}

/** A thread of `steps` checkpoints, oldest first: their configs. */
async function putThread(saver, threadId, steps, { metadata = () => ({}) } = {}) {
  const configs = [];
  for (let step = 0; step < steps; step += 1) {
    const parent = configs.at(-1) ?? threadConfig(threadId);
    configs.push(
      await putCheckpoint(saver, parent, { n: step }, { step, metadata: metadata(step) }),
    );
  }
  return configs;
}

describe.each(saversOfEachKind)("$name", (backend) => {
  let saver;
  beforeEach(async () => {
    saver = await backend.make();
  });
  afterEach(() => backend.close(saver));

  const writesOf = async (config) => (await saver.getTuple(config)).pendingWrites;

  test("state of every kind comes back the same", async () => {
    const state = {
      bytes: new Uint8Array([0, 127, 128, 255]),
      map: new Map([["a", new Set([1, 2])]]),
      nothing: undefined,
      nested: { list: [null, "é😀", 1.5], deep: { bytes: new Uint8Array([255]) } },
      text: "\u0000\u001f",
    };
    const config = await putCheckpoint(saver, threadConfig("t"), state);
    expect((await saver.getTuple(config)).checkpoint.channel_values).toEqual(state);
    expect((await dumpSaver(saver))[0].checkpoint.channel_values).toEqual(state);
  });

  test("writes of bytes come back as the same bytes", async () => {
    const config = await putCheckpoint(saver, threadConfig("t"), {});
    const raw = new Uint8Array([0xff, 0x00, 0xef, 0xbf, 0xbd]);
    await saver.putWrites(
      config,
      [
        ["raw", raw],
        ["inner", { raw }],
      ],
      "task",
    );
    expect(await writesOf(config)).toEqual([
      ["task", "raw", raw],
      ["task", "inner", { raw }],
    ]);
  });

  test("pending writes are ordered by task path, task and index, by code point", async () => {
    const config = await putCheckpoint(saver, threadConfig("t"), {});
    const tasks = [
      ["z", ""],
      ["a", "~__pregel_pull, a"],
      ["b", "~__pregel_pull, \uffee"],
      ["c", "~__pregel_pull, 😀"],
      ["A", "~__pregel_pull, 😀a"],
      ["\uffee", "~__pregel_pull, 😀a"],
      ["😀", "~__pregel_pull, 😀a"],
    ];
    for (const [task, path] of [...tasks].reverse()) {
      await saver.putWrites(
        config,
        [
          ["x", 1],
          ["y", 2],
        ],
        task,
        path,
      );
    }
    const expected = tasks.flatMap(([task]) => [
      [task, "x", 1],
      [task, "y", 2],
    ]);
    expect(await writesOf(config)).toEqual(expected);
  });

  test("a write that is there already stays, a special one is replaced", async () => {
    const config = await putCheckpoint(saver, threadConfig("t"), {});
    await saver.putWrites(
      config,
      [
        ["x", "first"],
        ["__error__", "first"],
      ],
      "task",
    );
    await saver.putWrites(
      config,
      [
        ["x", "second"],
        ["__error__", "second"],
      ],
      "task",
    );
    await saver.putWrites(config, [["__resume__", 1]], "task");
    await saver.putWrites(config, [["__resume__", 2]], "task");
    const writes = Object.fromEntries(
      (await writesOf(config)).map(([, channel, value]) => [channel, value]),
    );
    expect(writes).toEqual({ x: "first", __error__: "second", __resume__: 2 });
  });

  test("writes may come before their checkpoint", async () => {
    const checkpoint = checkpointOf({ a: 1 });
    await saver.putWrites(threadConfig("t", checkpoint.id), [["x", 1]], "task");
    expect(await saver.getTuple(threadConfig("t"))).toBeUndefined();
    await saver.put(threadConfig("t"), checkpoint, metadataOf(), { a: 1 });
    expect(await writesOf(threadConfig("t"))).toEqual([["task", "x", 1]]);
  });

  test("metadata keeps what the caller added", async () => {
    const extra = { run_id: "r1", user: { id: "u1", tags: ["a"] }, none: null };
    const config = await putCheckpoint(saver, threadConfig("t"), {}, { step: 3, metadata: extra });
    expect((await saver.getTuple(config)).metadata).toEqual({
      source: "loop",
      step: 3,
      parents: {},
      ...extra,
    });
  });

  test("put returns the id of the checkpoint, and the parent is kept", async () => {
    const [first, second] = await putThread(saver, "t", 2);
    const tuple = await saver.getTuple(second);
    expect(tuple.config).toEqual(second);
    expect(tuple.parentConfig).toEqual(first);
    expect((await saver.getTuple(first)).parentConfig).toBeUndefined();
  });

  test("without a checkpoint_id the newest of the thread and namespace is found", async () => {
    const configs = await putThread(saver, "t", 30);
    await putCheckpoint(saver, threadConfig("t", undefined, "child"), { n: "child" });
    await putThread(saver, "other", 3);
    expect((await saver.getTuple(threadConfig("t"))).config).toEqual(configs.at(-1));
    expect(
      (await saver.getTuple(threadConfig("t", undefined, "child"))).checkpoint.channel_values,
    ).toEqual({ n: "child" });
    expect(await saver.getTuple(threadConfig("nobody"))).toBeUndefined();
    expect(await saver.getTuple(threadConfig("t", "nothing"))).toBeUndefined();
  });

  test("a list is newest first, however long", async () => {
    const configs = await putThread(saver, "t", 600);
    const newestFirst = configs.map(idOf).reverse();
    expect(await idsOf(saver.list(threadConfig("t")))).toEqual(newestFirst);
    expect(await idsOf(saver.list(threadConfig("t"), { limit: 7 }))).toEqual(
      newestFirst.slice(0, 7),
    );
  });

  test("before and after take an id or a config", async () => {
    const configs = await putThread(saver, "t", 6);
    const ids = configs.map(idOf);
    const list = (options) => idsOf(saver.list(threadConfig("t"), options));
    expect(await list({ before: configs[2] })).toEqual([ids[1], ids[0]]);
    expect(await list({ after: ids[3] })).toEqual([ids[5], ids[4]]);
    expect(await list({ after: ids[0], before: ids[4], limit: 2 })).toEqual([ids[3], ids[2]]);
    expect(await list({ before: ids[0] })).toEqual([]);
  });

  test("before and after take a moment", async () => {
    const first = await putThread(saver, "t", 2);
    await new Promise((resolve) => setTimeout(resolve, 15));
    const moment = new Date();
    await new Promise((resolve) => setTimeout(resolve, 15));
    const second = await putThread(saver, "t", 1);
    expect((await idsOf(saver.list(threadConfig("t"), { before: moment }))).sort()).toEqual(
      first.map(idOf).sort(),
    );
    expect(await idsOf(saver.list(threadConfig("t"), { after: moment }))).toEqual(second.map(idOf));
  });

  test("filters compare metadata deeply and all of them must hold", async () => {
    const metadata = (step) => ({
      user: { id: step % 2, tags: ["a", step] },
      flag: step > 2,
      none: null,
    });
    const ids = (await putThread(saver, "t", 5, { metadata })).map(idOf);
    const list = (filter, options = {}) =>
      idsOf(saver.list(threadConfig("t"), { filter, ...options }));
    expect(await list({ step: 2 })).toEqual([ids[2]]);
    expect(await list({ user: { tags: ["a", 3], id: 1 } })).toEqual([ids[3]]);
    expect(await list({ flag: true, step: 1 })).toEqual([]);
    expect(await list({ flag: false }, { limit: 2 })).toEqual([ids[2], ids[1]]);
    expect(await list({ none: null, flag: true })).toEqual([ids[4], ids[3]]);
    expect(await list({ missing: null })).toEqual([]);
    expect(await list({ step: "2" })).toEqual([]);
  });

  test("a list without a thread covers all threads and namespaces", async () => {
    await putThread(saver, "t1", 2);
    await putThread(saver, "t2", 2);
    await putCheckpoint(saver, threadConfig("t2", undefined, "child"), {});
    const ids = await idsOf(saver.list({ configurable: {} }));
    expect(ids.length).toBe(5);
    expect(ids).toEqual([...ids].sort().reverse());
    expect((await idsOf(saver.list({ configurable: { thread_id: "t2" } }))).length).toBe(3);
    expect((await idsOf(saver.list(threadConfig("t2")))).length).toBe(2);
  });

  test("a list of one checkpoint_id is that checkpoint", async () => {
    const configs = await putThread(saver, "t", 3);
    expect(await idsOf(saver.list(configs[1]))).toEqual([idOf(configs[1])]);
  });

  test("an unchanged channel is kept once", async () => {
    const big = Array.from({ length: 2_000 }, (_, i) => `${i * 7919}`).join(" ");
    const first = checkpointOf({ big, n: 0 });
    let config = await saver.put(threadConfig("t"), first, metadataOf(0), { big: 1, n: 1 });
    for (let step = 1; step < 20; step += 1) {
      const checkpoint = {
        ...checkpointOf({ big, n: step }),
        channel_versions: { big: 1, n: step + 1 },
      };
      config = await saver.put(config, checkpoint, metadataOf(step), { n: step + 1 });
    }
    expect((await saver.getTuple(config)).checkpoint.channel_values).toEqual({ big, n: 19 });
    expect((await saver.stats()).bytes).toBeLessThan(2 * big.length);
  });

  test("two forks of one checkpoint do not see each other's values", async () => {
    const [root] = await putThread(saver, "t", 1);
    const fork = (text) => putCheckpoint(saver, root, { messages: [text] }, { step: 1 });
    const [left, right] = [await fork("left"), await fork("right")];
    const child = async (config) => {
      const carried = { ...checkpointOf({}), channel_versions: { messages: 2 } };
      const next = await saver.put(config, carried, metadataOf(2), {});
      return (await saver.getTuple(next)).checkpoint.channel_values;
    };
    expect(await child(left)).toEqual({ messages: ["left"] });
    expect(await child(right)).toEqual({ messages: ["right"] });
    expect((await saver.getTuple(left)).checkpoint.channel_values).toEqual({ messages: ["left"] });
  });

  test("ids may contain anything but NUL and lone surrogates", async () => {
    const ids = [
      "a:b",
      "a.b",
      "%",
      "_",
      "'",
      '"',
      "é",
      "😀",
      "__proto__",
      "constructor",
      " ",
      "\u001f",
      "*",
    ];
    for (const id of ids) {
      const config = await putCheckpoint(saver, threadConfig(id, undefined, id), { id });
      await saver.putWrites(config, [[id, id]], id);
    }
    for (const id of ids) {
      const tuple = await saver.getTuple(threadConfig(id, undefined, id));
      expect(tuple.checkpoint.channel_values).toEqual({ id });
      expect(tuple.pendingWrites).toEqual([[id, id, id]]);
    }
    await saver.deleteThread("%");
    expect((await dumpSaver(saver)).length).toBe(ids.length - 1);
  });

  test("many puts and writes at once all succeed", async () => {
    const threads = Array.from({ length: 100 }, (_, i) => `t${i}`);
    await Promise.all(
      threads.map(async (thread) => {
        const config = await putCheckpoint(saver, threadConfig(thread), { thread });
        await Promise.all(["a", "b"].map((task) => saver.putWrites(config, [["x", thread]], task)));
      }),
    );
    for (const thread of threads) {
      const tuple = await saver.getTuple(threadConfig(thread));
      expect(tuple.checkpoint.channel_values).toEqual({ thread });
      expect(tuple.pendingWrites).toEqual([
        ["a", "x", thread],
        ["b", "x", thread],
      ]);
    }
  });

  test("what a tuple holds is nobody else's", async () => {
    const state = { list: [1], raw: new Uint8Array([1]) };
    const config = await putCheckpoint(saver, threadConfig("t"), state);
    state.list.push(2);
    const tuple = await saver.getTuple(config);
    tuple.checkpoint.channel_values.list.push(3);
    tuple.checkpoint.channel_values.raw[0] = 9;
    const again = await saver.getTuple(config);
    expect(again.checkpoint.channel_values).toEqual({ list: [1], raw: new Uint8Array([1]) });
  });

  test("deleteThread deletes all namespaces of a thread and nothing of another", async () => {
    const [config] = await putThread(saver, "t", 3);
    await saver.putWrites(config, [["x", 1]], "task");
    await putCheckpoint(saver, threadConfig("t", undefined, "child"), {});
    await putThread(saver, "t2", 1);
    await saver.deleteThread("t");
    expect((await dumpSaver(saver)).map((tuple) => tuple.config.configurable.thread_id)).toEqual([
      "t2",
    ]);
    expect(await saver.stats()).toMatchObject({ threads: 1, checkpoints: 1, writes: 0 });
  });

  test("copyThread copies checkpoints, values and writes", async () => {
    const configs = await putThread(saver, "t", 3);
    await saver.putWrites(configs[2], [["x", 1]], "task", "path");
    await saver.copyThread("t", "copy");
    const strip = async (thread) => {
      const tuples = [];
      for await (const { checkpoint, metadata, pendingWrites } of saver.list(
        threadConfig(thread),
      )) {
        tuples.push({ checkpoint, metadata, pendingWrites });
      }
      return tuples;
    };
    expect(await strip("copy")).toEqual(await strip("t"));
    await saver.deleteThread("t");
    expect((await strip("copy")).length).toBe(3);
  });

  test("deleteForRuns deletes the checkpoints of those runs and says how many", async () => {
    const metadata = (step) => ({ run_id: `r${step % 3}` });
    const ids = (await putThread(saver, "t", 6, { metadata })).map(idOf);
    expect(await saver.deleteForRuns(["r0", "r1", "r9"])).toBe(4);
    expect(await idsOf(saver.list(threadConfig("t")))).toEqual([ids[5], ids[2]]);
  });

  test("prune keeps the newest checkpoint of each namespace, whole", async () => {
    const configs = await putThread(saver, "t", 5);
    await saver.putWrites(configs[4], [["__interrupt__", "ask"]], "task");
    await putThread(saver, "other", 2);
    const newest = await saver.getTuple(threadConfig("t"));
    expect(await saver.prune({ threadIds: ["t"] })).toBe(4);
    expect(await idsOf(saver.list(threadConfig("t")))).toEqual([idOf(configs[4])]);
    expect(await saver.getTuple(threadConfig("t"))).toEqual(newest);
    expect((await idsOf(saver.list(threadConfig("other")))).length).toBe(2);
    expect(await saver.prune({ threadIds: ["t"], strategy: "delete" })).toBe(1);
    expect(await saver.getTuple(threadConfig("t"))).toBeUndefined();
  });

  test("delta channels of a pruned thread can still be rebuilt", async () => {
    let config = await putCheckpoint(saver, threadConfig("t"), { log: ["seed"] });
    for (let step = 1; step <= 4; step += 1) {
      await saver.putWrites(config, [["log", `write ${step}`]], `task${step}`);
      const checkpoint = { ...checkpointOf({}), channel_versions: { log: step + 1 } };
      config = await saver.put(config, checkpoint, metadataOf(step), { log: step + 1 });
    }
    const history = () => saver.getDeltaChannelHistory({ config, channels: ["log"] });
    const before = await history();
    expect(before.log.seed).toEqual(["seed"]);
    expect(before.log.writes.map(([, , value]) => value)).toEqual([
      "write 1",
      "write 2",
      "write 3",
      "write 4",
    ]);
    await saver.prune({ threadIds: ["t"] });
    expect(await history()).toEqual(before);
  });

  test("a saver is written into JSON by its name only", () => {
    expect(JSON.stringify({ saver })).toMatch(/^\{"saver":"\[\w*Saver\]"\}$/);
  });
});

describe("serializers", () => {
  test.each([{}, 5, { dumpsTyped() {} }])("a serde that is none is refused: %j", (serde) => {
    for (const open of [
      () => new SqliteSaver({ path: ":memory:", serde }),
      () => new MemorySaver(serde),
    ]) {
      expect(open).toThrow(expect.objectContaining({ code: "invalid_argument" }));
    }
  });
});

describe("files", () => {
  test("threads survive a restart", async () => {
    const path = temporaryFile();
    let before;
    {
      const saver = closing(SqliteSaver.fromConnString(path));
      const configs = await putThread(saver, "t", 10);
      await saver.putWrites(
        configs[9],
        [["__interrupt__", { ask: new Uint8Array([255]) }]],
        "task",
        "path",
      );
      before = await dumpSaver(saver);
      await saver.close();
    }
    const saver = closing(SqliteSaver.fromConnString(path));
    expect(await dumpSaver(saver)).toEqual(before);
    expect(before.length).toBe(10);
  });
});
