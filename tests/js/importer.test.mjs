// Files of other programs, as those programs make them.

import { readFileSync, statSync, writeFileSync } from "node:fs";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { SqliteSaver as OfficialSaver } from "@langchain/langgraph-checkpoint-sqlite";
import Database from "better-sqlite3";
import { openMemory } from "keepsake";
import { times } from "./support/effort.mjs";
import { Extension, encode } from "./support/msgpack.mjs";
import { expectRefused } from "./support/refusal.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const config = { configurable: { thread_id: "t" } };
const open = (options = {}) => openMemory({ path: temporaryFile(), ...options });

async function listed(saver, of = config) {
  const tuples = [];
  for await (const tuple of saver.list(of)) tuples.push(tuple);
  return tuples;
}

function fileOf(sql, fill) {
  const path = temporaryFile("foreign.sqlite");
  const database = new Database(path);
  database.exec(sql);
  fill?.(database);
  database.close();
  return path;
}

describe("a file of the official JavaScript saver", () => {
  const builder = new StateGraph(
    Annotation.Root({
      ...MessagesAnnotation.spec,
      log: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }),
    }),
  )
    .addNode("answer", ({ messages }) => ({
      messages: [new AIMessage(`you said: ${messages.at(-1).content}`)],
      log: ["answered"],
    }))
    .addNode("ask", () => ({ log: [interrupt("more?")] }))
    .addEdge(START, "answer")
    .addEdge("answer", "ask");

  async function officialFile() {
    const path = temporaryFile("official.sqlite");
    const saver = OfficialSaver.fromConnString(path);
    await builder
      .compile({ checkpointer: saver })
      .invoke({ messages: [new HumanMessage("hi")] }, config);
    const tuples = await listed(saver);
    saver.db.close();
    return { path, tuples };
  }

  test("is read whole: the history is the same, and the graph resumes on it", async () => {
    const { path, tuples } = await officialFile();
    await using memory = await open();
    const progress = [];
    const report = await memory.importFrom(path, { onProgress: (p) => progress.push(p) });
    expect(report).toMatchObject({ items: 0, checkpoints: tuples.length, skipped: [] });
    expect(report.writes).toBeGreaterThan(0);
    expect(progress.at(-1)).toEqual({
      done: report.checkpoints + report.writes,
      total: report.checkpoints + report.writes,
    });

    const imported = await listed(memory.checkpointer);
    const comparable = ({ config: of, parentConfig, checkpoint, metadata, pendingWrites }) => ({
      of,
      parentConfig,
      checkpoint,
      metadata,
      pendingWrites: pendingWrites.toSorted((a, b) =>
        JSON.stringify(a).localeCompare(JSON.stringify(b)),
      ),
    });
    expect(imported.map(comparable)).toEqual(tuples.map(comparable));

    const graph = builder.compile({ checkpointer: memory.checkpointer });
    const state = await graph.invoke(new Command({ resume: "no" }), config);
    expect(state.log).toEqual(["answered", "no"]);
    expect(state.messages[1].content).toBe("you said: hi");
  });

  test("is not changed, and may be imported twice", async () => {
    const { path, tuples } = await officialFile();
    await using memory = await open();
    const { writes } = await memory.importFrom(path);
    const again = await memory.importFrom(path);
    expect(again).toMatchObject({ checkpoints: 0, writes: 0, kept: tuples.length + writes });
    const replaced = await memory.importFrom(path, { onConflict: "replace" });
    expect(replaced).toMatchObject({ checkpoints: tuples.length, writes, kept: 0 });
    expect(await listed(memory.checkpointer)).toHaveLength(tuples.length);
    const official = OfficialSaver.fromConnString(path);
    expect(await listed(official)).toHaveLength(tuples.length);
    official.db.close();
  });

  test("a function that a node answered is not kept, and its thread goes on", async () => {
    const holding = new StateGraph(Annotation.Root({ held: Annotation(), log: Annotation() }))
      .addNode("hold", () => ({ held: () => 1, log: "held" }))
      .addEdge(START, "hold");
    const path = temporaryFile("official.sqlite");
    const saver = OfficialSaver.fromConnString(path);
    await holding.compile({ checkpointer: saver }).invoke({}, config);
    saver.db.close();
    await using memory = await open();
    expect((await memory.importFrom(path)).skipped).toEqual([]);
    expect(await listed(memory.checkpointer)).toHaveLength(3);
    const graph = holding.compile({ checkpointer: memory.checkpointer });
    expect((await graph.invoke({}, config)).log).toBe("held");
  });

  test("keeps each channel value once", async () => {
    const { path } = await officialFile();
    await using memory = await open();
    await memory.importFrom(path);
    const stored = (await memory.stats()).checkpointer.bytes;
    expect(stored).toBeLessThan(statSync(path).size / 2);
  });
});

describe("a file of Python's saver", () => {
  const schema = `
    CREATE TABLE checkpoints (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
      parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
    CREATE TABLE writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
      task_id TEXT NOT NULL, idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, value BLOB,
      PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));`;
  const model = (module, name, fields) =>
    new Extension(5, [module, name, fields, "model_construct"]);
  const message = (name, fields) =>
    model(`langchain_core.messages.${name.replace("Message", "").toLowerCase()}`, name, {
      additional_kwargs: {},
      response_metadata: {},
      name: null,
      ...fields,
    });
  const version = (n) => `${String(n).padStart(32, "0")}.0.2437`;
  const channelValues = {
    messages: [
      message("HumanMessage", { content: "hi", type: "human", id: "m1", example: false }),
      message("AIMessage", {
        content: "",
        type: "ai",
        id: "m2",
        tool_calls: [{ name: "look", args: { at: 1 }, id: "c1", type: "tool_call" }],
        invalid_tool_calls: [],
        usage_metadata: null,
      }),
      message("ToolMessage", {
        content: "seen",
        type: "tool",
        id: "m3",
        tool_call_id: "c1",
        status: "success",
      }),
    ],
    set: new Extension(0, ["builtins", "set", [1, 2, 300]]),
    uuid: new Extension(0, ["uuid", "UUID", "1ef4f797-8335-6428-8001-8a1503f9b875"]),
    time: new Extension(3, [
      "datetime",
      "datetime",
      "2024-07-31T20:14:19.804150+00:00",
      "fromisoformat",
    ]),
    date: new Extension(1, ["datetime", "date", [2024, 2, 29]]),
    document: model("langchain_core.documents.base", "Document", {
      id: null,
      metadata: { a: 1 },
      page_content: "p",
    }),
    own: model("my.package", "Thing", { a: 1 }),
    bytes: new Uint8Array([0, 255]),
    big: 2n ** 60n,
    numbers: [0, -1, -33, 1.5, 2 ** 40, true, false, null],
    text: "é".repeat(300),
    many: Array.from({ length: 70 }, (_, i) => i),
    keys: new Map([[1, "one"]]),
  };
  const checkpoint = (values) => ({
    v: 4,
    id: "1ef4f797-8335-6428-8001-8a1503f9b875",
    ts: "2024-07-31T20:14:19.804150+00:00",
    channel_values: values,
    channel_versions: Object.fromEntries(Object.keys(values).map((name) => [name, version(2)])),
    versions_seen: { __input__: {}, node: { messages: version(1) } },
  });

  const pythonFile = (values, extra) =>
    fileOf(schema, (database) => {
      const put = database.prepare("INSERT INTO checkpoints VALUES ('t', '', ?, NULL, ?, ?, ?)");
      put.run(
        "1ef4f797-8335-6428-8001-8a1503f9b875",
        "msgpack",
        encode(checkpoint(values)),
        Buffer.from('{"source": "loop", "step": 1, "parents": {}}'),
      );
      extra?.(database, put);
    });

  test("becomes messages, sets, dates and bytes of JavaScript", async () => {
    await using memory = await open();
    expect(await memory.importFrom(pythonFile(channelValues))).toEqual({
      items: 0,
      checkpoints: 1,
      writes: 0,
      kept: 0,
      skipped: [],
    });
    const { checkpoint: read, metadata } = await memory.checkpointer.getTuple(config);
    const values = read.channel_values;
    expect(values.messages.map((m) => m.constructor)).toEqual([
      HumanMessage,
      AIMessage,
      ToolMessage,
    ]);
    expect(values.messages[1].tool_calls).toEqual([
      { name: "look", args: { at: 1 }, id: "c1", type: "tool_call" },
    ]);
    expect(values.messages[2]).toMatchObject({ content: "seen", tool_call_id: "c1", id: "m3" });
    expect(values).toMatchObject({
      set: new Set([1, 2, 300]),
      uuid: "1ef4f797-8335-6428-8001-8a1503f9b875",
      own: { a: 1 },
      bytes: new Uint8Array([0, 255]),
      numbers: [0, -1, -33, 1.5, 2 ** 40, true, false, null],
      text: "é".repeat(300),
      many: channelValues.many,
      keys: new Map([[1, "one"]]),
    });
    expect(new Date(values.time).toISOString()).toBe("2024-07-31T20:14:19.804Z");
    expect(new Date(values.date).toISOString()).toBe("2024-02-29T00:00:00.000Z");
    expect(values.document).toMatchObject({ pageContent: "p", metadata: { a: 1 } });
    expect(metadata).toEqual({ source: "loop", step: 1, parents: {} });
    expect(read.channel_versions.messages).toBe(2);
    expect(read.versions_seen.node).toEqual({ messages: 1 });
  });

  test("brings its pending writes, with Python's own tags", async () => {
    const path = pythonFile({ a: 1 }, (database) => {
      const put = database.prepare(
        "INSERT INTO writes VALUES ('t', '', '1ef4f797-8335-6428-8001-8a1503f9b875', ?, ?, ?, ?, ?)",
      );
      put.run("task", 0, "a", "msgpack", encode([1, 2]));
      put.run("task", 1, "b", "null", Buffer.alloc(0));
      put.run("task", 2, "c", "bytes", Buffer.from([1, 254]));
      put.run(
        "task",
        -3,
        "__interrupt__",
        "msgpack",
        encode([new Extension(2, ["langgraph.types", "Interrupt", { value: "?" }])]),
      );
    });
    await using memory = await open();
    expect((await memory.importFrom(path)).writes).toBe(4);
    expect((await memory.checkpointer.getTuple(config)).pendingWrites).toEqual([
      ["task", "__interrupt__", [{ value: "?" }]],
      ["task", "a", [1, 2]],
      ["task", "b", null],
      ["task", "c", new Uint8Array([1, 254])],
    ]);
  });

  test("a whole number that JavaScript has no number for keeps its digits", async () => {
    const path = pythonFile({ a: { ns: 1764057600000000001n, most: 2n ** 64n - 1n, n: 2 } });
    await using memory = await open();
    expect((await memory.importFrom(path)).skipped).toEqual([]);
    expect((await memory.checkpointer.getTuple(config)).checkpoint.channel_values.a).toEqual({
      ns: "1764057600000000001",
      most: "18446744073709551615",
      n: 2,
    });
  });

  test("names what it can't read, and reads the rest", async () => {
    const path = pythonFile({ a: 1 }, (_, put) => {
      const meta = Buffer.from("{}");
      put.run("cut-off", "msgpack", Buffer.from([0xdc, 0xff]), meta);
      put.run("no-msgpack", "msgpack", Buffer.from([0xc1]), meta);
      put.run("pickled", "pickle", Buffer.from([0x80, 0x04]), meta);
      put.run("numpy", "msgpack", encode(checkpoint({ a: new Extension(6, [1]) })), meta);
      put.run("unknown", "msgpack", encode(checkpoint({ a: new Extension(99, [1]) })), meta);
    });
    await using memory = await open();
    const { checkpoints, skipped } = await memory.importFrom(path);
    expect(checkpoints).toBe(1);
    expect(skipped.map(({ what }) => what).sort()).toEqual(
      ["cut-off", "no-msgpack", "numpy", "pickled", "unknown"].map((id) => `checkpoint t//${id}`),
    );
    expect(skipped.find(({ what }) => what.endsWith("pickled")).why).toMatch(/pickle/);
  });
});

describe("a file of Python's SqliteStore", () => {
  const schema = `
    CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL,
      created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
      expires_at TIMESTAMP, ttl_minutes REAL, PRIMARY KEY (prefix, key));
    CREATE TABLE store_vectors (prefix text NOT NULL, key text NOT NULL, field_name text NOT NULL, embedding BLOB,
      created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
      PRIMARY KEY (prefix, key, field_name));`;
  const put = (database, prefix, key, value, more = {}) =>
    database
      .prepare("INSERT INTO store VALUES (?, ?, ?, ?, ?, ?, ?)")
      .run(
        prefix,
        key,
        value,
        more.created ?? "2024-01-02 03:04:05",
        more.updated ?? "2024-02-03 04:05:06",
        more.expires ?? null,
        more.ttl ?? null,
      );

  test("brings items with their times", async () => {
    const path = fileOf(schema, (database) => {
      put(database, "users.u1", "k", '{"a": [1, "é"], "$keepsake": "mine"}');
      put(database, "users", "same", "{}", { updated: "2024-01-02 03:04:05" });
    });
    await using memory = await open();
    const { store } = memory;
    expect(await memory.importFrom(path)).toEqual({
      items: 2,
      checkpoints: 0,
      writes: 0,
      kept: 0,
      skipped: [],
    });
    expect(await store.get(["users", "u1"], "k")).toEqual({
      namespace: ["users", "u1"],
      key: "k",
      value: { a: [1, "é"], $keepsake: "mine" },
      createdAt: new Date("2024-01-02T03:04:05Z"),
      updatedAt: new Date("2024-02-03T04:05:06Z"),
    });
    const same = await store.get(["users"], "same");
    expect(same.updatedAt).toEqual(same.createdAt);
  });

  test("leaves the items that are there already, unless told to replace them", async () => {
    const path = fileOf(schema, (database) => put(database, "users", "k", '{"from":"file"}'));
    await using memory = await open();
    const { store } = memory;
    await store.put(["users"], "k", { from: "here" });
    expect(await memory.importFrom(path)).toMatchObject({ items: 0, kept: 1 });
    expect((await store.get(["users"], "k")).value).toEqual({ from: "here" });
    await memory.importFrom(path, { onConflict: "replace" });
    expect((await store.get(["users"], "k")).value).toEqual({ from: "file" });
  });

  test("brings vectors that fit, and embeds what has none", async () => {
    const asked = [];
    const index = {
      dims: 2,
      fields: ["text"],
      embeddings: (texts) => {
        asked.push(...texts);
        return texts.map((text) => (text === "east" ? [1, 0] : [0, 1]));
      },
    };
    const path = fileOf(schema, (database) => {
      put(database, "n", "with", '{"text": "from Python"}');
      put(database, "n", "without", '{"text": "north"}');
      database
        .prepare(
          "INSERT INTO store_vectors (prefix, key, field_name, embedding) VALUES ('n', 'with', 'text', ?)",
        )
        .run(Buffer.from(new Float32Array([0.6, 0.8]).buffer));
    });
    await using memory = await openMemory({ path: temporaryFile(), index });
    const { store } = memory;
    await memory.importFrom(path);
    expect(asked).toEqual(["north"]);
    const found = await store.search(["n"], { query: "east" });
    expect(found.map(({ key, score }) => [key, Number(score.toFixed(3))])).toEqual([
      ["with", 0.6],
      ["without", 0],
    ]);
  });

  test("brings times to live, and what has expired is not found", async () => {
    const path = fileOf(schema, (database) => {
      put(database, "n", "old", "{}", { expires: "2024-02-03 05:05:06", ttl: 60 });
      put(database, "n", "young", "{}", { expires: "2124-02-03 05:05:06", ttl: 60 });
    });
    let now = Date.UTC(2124, 1, 3, 5, 5, 0);
    await using memory = await openMemory({
      path: ":memory:",
      ttl: { refreshOnRead: false },
      now: () => now,
    });
    const { store } = memory;
    await memory.importFrom(path);
    expect((await store.search(["n"])).map(({ key }) => key)).toEqual(["young"]);
    now += 7_000;
    expect(await store.search(["n"])).toEqual([]);
  });
});

describe("a plain store_kv file", () => {
  const schema =
    "CREATE TABLE store_kv (ns TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, UNIQUE (ns, key))";

  test("brings what keeps the rules, and names what breaks them", async () => {
    const path = fileOf(schema, (database) => {
      const put = database.prepare("INSERT INTO store_kv VALUES (?, ?, ?)");
      put.run('["u1", "memories"]', "pref_theme", '{"theme": "dark"}');
      put.run('["u1", "memories"]', "has::colons", '{"n": 1}');
      put.run('["has.dot"]', "k", "{}");
      put.run('["u1"]', "broken", "{not json");
    });
    await using memory = await open();
    const { items, skipped } = await memory.importFrom(path);
    expect(items).toBe(2);
    expect(skipped).toEqual([
      {
        what: "row 3 of table store_kv",
        why: expect.stringMatching(/must not contain '\.'.*has\.dot/),
      },
      { what: "row 4 of table store_kv", why: expect.stringMatching(/JSON/) },
    ]);
    expect(await memory.store.listKeys(["u1", "memories"])).toEqual(["has::colons", "pref_theme"]);
  });

  test("is imported by pages, all of it but the rows that break a rule", async () => {
    const path = fileOf(schema, (database) => {
      const put = database.prepare("INSERT INTO store_kv VALUES ('[\"n\"]', ?, '{}')");
      database.transaction(() => {
        for (let i = 0; i < 1234; i += 1) put.run(`k${i}`);
      })();
      database.exec(
        "UPDATE store_kv SET ns = 'no json' WHERE key IN ('k0', 'k255', 'k256', 'k1233')",
      );
      database.exec("DELETE FROM store_kv WHERE key IN ('k1', 'k254', 'k500')");
    });
    await using memory = await open();
    const { items, skipped } = await memory.importFrom(path);
    expect(items).toBe(1234 - 7);
    expect(skipped).toHaveLength(4);
    expect((await memory.stats()).store.items).toBe(items);
  });
});

describe("a file that anybody may have made", () => {
  const schema = "CREATE TABLE store_kv (ns TEXT, key TEXT, value TEXT)";
  const rows = (count) =>
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     INSERT INTO store_kv SELECT '["n"]', 'k' || i, '{}' FROM n;`;

  test("has a table that needs another program's collation: its rows come all the same", async () => {
    const path = fileOf(`${schema.replace(")", ", UNIQUE (ns, key))")}; ${rows(3)}`, (database) => {
      database.unsafeMode(true);
      database.pragma("writable_schema = ON");
      database.exec("UPDATE sqlite_schema SET sql = replace(sql, 'key TEXT', 'key COLLATE odd')");
    });
    await using memory = await open();
    expect(await memory.importFrom(path)).toMatchObject({ items: 3, skipped: [] });
  });

  test("has a thread without a name, or a time before 1970: it is listed, and the rest comes", async () => {
    const path =
      fileOf(`CREATE TABLE writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value);
      INSERT INTO writes VALUES ('', '', 'c', 't', 0, 'a', 'json', '1'), ('t', '', 'c', 't', 0, 'a', 'json', '1');
      CREATE TABLE store (prefix, key, value, created_at, updated_at);
      INSERT INTO store VALUES ('n', 'k', '{}', '0000-01-01 00:00:00', '2024-01-01 00:00:00'),
        ('n', 'kept', '{}', '2024-01-01 00:00:00', '2024-01-01 00:00:00')`);
    await using memory = await open();
    const { writes, items, skipped } = await memory.importFrom(path);
    expect({ writes, items }).toEqual({ writes: 1, items: 1 });
    expect(skipped).toEqual([
      { what: "write //c/t/0", why: expect.stringMatching(/thread_id/) },
      { what: "row 1 of table store", why: expect.stringMatching(/1970 or later/) },
    ]);
  });

  test.each(["null", "[]", "1"])("has %s as checkpoint: it is listed", async (checkpoint) => {
    const path =
      fileOf(`CREATE TABLE checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata);
      INSERT INTO checkpoints VALUES ('t', '', 'c', NULL, 'json', '${checkpoint}', '{}')`);
    await using memory = await open();
    const { checkpoints, skipped } = await memory.importFrom(path);
    expect(checkpoints).toBe(0);
    expect(skipped).toEqual([{ what: "checkpoint t//c", why: "checkpoint must be an object" }]);
  });

  test("has tables that lack a column: they are listed, and the rest comes", async () => {
    const store = "CREATE TABLE store (prefix, key, value, created_at, updated_at)";
    const path = fileOf(`${store};
      INSERT INTO store VALUES ('n', 'k', '{}', '2024-01-01 00:00:00', '2024-01-01 00:00:00');
      CREATE TABLE store_vectors (prefix, key, field_name);
      INSERT INTO store_vectors VALUES ('n', 'k', 'text');
      CREATE TABLE writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, type);
      INSERT INTO writes VALUES ('t', '', 'c', 't', 0, 'json')`);
    await using memory = await open();
    const { items, skipped } = await memory.importFrom(path);
    expect(items).toBe(1);
    expect(skipped).toEqual([
      { what: "table writes", why: "none of its rows can be read: it lacks channel, value" },
      { what: "table store_vectors", why: "none of its rows can be read: it lacks embedding" },
    ]);
    await expectRefused(
      () => memory.importFrom(fileOf("CREATE TABLE store_kv (ns, key, body)")),
      "invalid_argument",
      /must have one of the tables.*table store_kv: none of its rows can be read: it lacks value/,
    );
  });

  test.each([
    ["thread_id", "NULL, '', 'c', 't', 0, 'a', 'json', '1'"],
    ["checkpoint_ns", "'t', NULL, 'c', 't', 0, 'a', 'json', '1'"],
    ["checkpoint_id", "'t', '', NULL, 't', 0, 'a', 'json', '1'"],
    ["task_id", "'t', '', 'c', NULL, 0, 'a', 'json', '1'"],
    ["idx", "'t', '', 'c', 't', NULL, 'a', 'json', '1'"],
    ["idx", "'t', '', 'c', 't', 1.5, 'a', 'json', '1'"],
    ["idx", "'t', '', 'c', 't', 'first', 'a', 'json', '1'"],
    ["channel", "'t', '', 'c', 't', 0, NULL, 'json', '1'"],
    ["value", "'t', '', 'c', 't', 0, 'a', 'bytes', NULL"],
  ])("has a write whose %s is not there, or no number: it is listed", async (column, row) => {
    const path = fileOf(`CREATE TABLE checkpoints (thread_id, checkpoint_ns, checkpoint_id,
        parent_checkpoint_id, type, checkpoint, metadata);
      INSERT INTO checkpoints VALUES ('t', NULL, 'c', NULL, 'json', '{}', '{}');
      CREATE TABLE writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value);
      INSERT INTO writes VALUES (${row}), ('t', '', 'c', 't', 7, 'a', 'json', '1')`);
    await using memory = await open();
    const report = await memory.importFrom(path);
    expect(report).toMatchObject({ writes: 1, checkpoints: 0 });
    expect(report.skipped).toEqual([
      { what: "row 1 of table checkpoints", why: "checkpoint_ns must not be NULL" },
      {
        what: "row 1 of table writes",
        why: expect.stringMatching(`^${column} must (not be NULL|be a whole number)`),
      },
    ]);
  });

  test("has vectors of an item that take too much: the item is listed", async () => {
    const path = fileOf(`CREATE TABLE store (prefix, key, value, created_at, updated_at);
      INSERT INTO store VALUES ('n', 'k', '{}', NULL, NULL), ('n', 'other', '{}', NULL, NULL);
      CREATE TABLE store_vectors (prefix, key, field_name, embedding, PRIMARY KEY (prefix, key));
      INSERT INTO store_vectors VALUES ('n', 'k', 'text', zeroblob(70000000))`);
    await using memory = await open();
    const { items, skipped } = await memory.importFrom(path);
    expect(items).toBe(1);
    expect(skipped).toEqual([
      { what: "row 1 of table store", why: expect.stringMatching(/its vectors take 70000004/) },
    ]);
  });

  test("has long texts and deep ones: the report is short", async () => {
    const path = fileOf(schema, (database) => {
      const put = database.prepare("INSERT INTO store_kv VALUES (?, ?, ?)");
      put.run("x".repeat(1_000_000), "k", "{}");
      database.exec(
        "CREATE TABLE writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value)",
      );
      const write = database.prepare("INSERT INTO writes VALUES (?, '', 'c', 't', 0, 'a', ?, ?)");
      write.run("t".repeat(1_000_000), "odd".repeat(100_000), "1");
      write.run("t", "msgpack", Buffer.alloc(200_000, 0x91));
    });
    await using memory = await open();
    const { skipped } = await memory.importFrom(path);
    expect(skipped).toHaveLength(3);
    expect(skipped.find(({ what }) => what === "write t//c/t/0").why).toMatch(/nested/);
    for (const { what, why } of skipped) {
      expect(what.length).toBeLessThan(500);
      expect(why.length).toBeLessThan(500);
    }
  });

  test("has vectors that each item would have to look for: it is refused", async () => {
    const path = fileOf(`CREATE TABLE store (prefix, key, value, created_at, updated_at);
      CREATE TABLE store_vectors (prefix, key, field_name, embedding)`);
    await using memory = await open();
    await expectRefused(() => memory.importFrom(path), "invalid_argument", /CREATE INDEX/);
  });

  test("costs what its rows cost, whatever their numbers are", async () => {
    const path = fileOf(`${schema};
      INSERT INTO store_kv (rowid, ns, key, value) VALUES
        (-9223372036854775808, '["n"]', 'first', '{}'), (-7, 'no json', 'bad', '{}'),
        (9007199254740993, '["n"]', 'odd', '{}'), (9223372036854775806, 'no json', 'bad', '{}'),
        (9223372036854775807, '["n"]', 'last', '{}')`);
    await using memory = await open();
    const { items, skipped } = await memory.importFrom(path);
    expect(items).toBe(3);
    expect(skipped.map(({ what }) => what)).toEqual([
      "row -7 of table store_kv",
      "row 9223372036854775806 of table store_kv",
    ]);
    expect(await memory.store.listKeys(["n"])).toEqual(["first", "last", "odd"]);
  });

  test.each([
    ["a list as value", `'["n"]', 'k', '[1]'`, /must be a JSON object/],
    ["a key that is NULL", `'["n"]', NULL, '{}'`, /must not be NULL/],
    ["a key that is no text", `'["n"]', x'ff00', '{}'`, /key must be UTF-8 text/],
    ["a number that no double holds", `'["n"]', 'k', '{"n":1e400}'`, /Infinity|finite/],
  ])("has a row with %s: it is listed", async (_, row, why) => {
    await using memory = await open();
    const report = await memory.importFrom(
      fileOf(`${schema}; INSERT INTO store_kv VALUES (${row})`),
    );
    expect(report).toMatchObject({ items: 0, skipped: [{ why: expect.stringMatching(why) }] });
    expect((await memory.stats()).store.items).toBe(0);
  });

  test.each([
    ["a view", "CREATE VIEW store_kv(ns, key, value) AS SELECT 1, 2, 3", /is a view/],
    ["a virtual table", "CREATE VIRTUAL TABLE store_kv USING fts5(ns, key, value)", /is a virtual/],
    [
      "a table without row ids",
      "CREATE TABLE store_kv (ns, key, value, PRIMARY KEY (ns, key)) WITHOUT ROWID",
      /WITHOUT ROWID/,
    ],
    [
      "a trigger",
      `${schema}; CREATE TRIGGER t AFTER INSERT ON store_kv BEGIN SELECT 1; END`,
      /with the trigger t/,
    ],
  ])("has %s in place of a table: it is refused by name", async (_, sql, why) => {
    await using memory = await open();
    await expectRefused(() => memory.importFrom(fileOf(sql)), "invalid_argument", why);
  });

  test("is imported while timers run, until a signal ends it", async () => {
    const path = fileOf(`${schema}; ${rows(20_000)}`);
    await using memory = await open();
    const aborter = new AbortController();
    const onProgress = () => setTimeout(() => aborter.abort());
    const { signal } = aborter;
    await expect(memory.importFrom(path, { signal, onProgress })).rejects.toMatchObject({
      name: "AbortError",
    });
    const { items } = (await memory.stats()).store;
    expect(items).toBeGreaterThan(0);
    expect(items).toBeLessThan(20_000);
    await memory.store.put(["n"], "after", {});
  });

  test("has its rows counted in portions: timers run between them, and a signal ends it", async () => {
    const path = fileOf(`${schema}; ${rows(20_000)}`);
    await using memory = await open();
    let turns = 0;
    let timer = setTimeout(function tick() {
      turns++;
      timer = setTimeout(tick);
    });
    await expectRefused(() => memory.importFrom(path, { maxRows: 1 }), "too_large", /20000 rows/);
    clearTimeout(timer);
    expect(turns).toBeGreaterThanOrEqual(4);

    const aborter = new AbortController();
    setTimeout(() => aborter.abort());
    await expect(memory.importFrom(path, { signal: aborter.signal })).rejects.toMatchObject({
      name: "AbortError",
    });
    expect((await memory.stats()).store.items).toBe(0);
    // What was begun is not gone on with.
    const { items } = await memory.importFrom(fileOf(`${schema}; ${rows(11)}`));
    expect(items).toBe(11);
  });

  test("has more rows than maxRows: it is refused whole", async () => {
    await using memory = await open();
    const path = fileOf(`${schema}; ${rows(11)}`);
    await expectRefused(() => memory.importFrom(path, { maxRows: 10 }), "too_large", /11 rows/);
    expect((await memory.stats()).store.items).toBe(0);
    await expectRefused(() => memory.importFrom(path, { maxRows: -1 }), "invalid_argument");
    await expectRefused(() => memory.importFrom(path, { onConflict: "x" }), "invalid_argument");
  });

  test("was damaged anywhere: it ends in a typed error or a full report", async () => {
    const whole = readFileSync(fileOf(`${schema}; ${rows(300)}`));
    const path = temporaryFile("damaged.sqlite");
    await using memory = await openMemory({ path: ":memory:" });
    const random = randomNumbers(7);
    for (let i = 0; i < times(500); i++) {
      const damaged = Buffer.from(whole);
      for (let flips = 1 + random(4); flips > 0; flips--) {
        damaged[100 * random(2) + random(damaged.length - 100)] = random(256);
      }
      writeFileSync(path, damaged);
      const began = performance.now();
      const outcome = await memory.importFrom(path).catch((error) => error);
      if (outcome instanceof Error) {
        expect(outcome.name).toBe("KeepsakeError");
        expect(outcome.code).not.toBe("internal");
      } else {
        const { items, kept, skipped } = outcome;
        expect(items + kept + skipped.length).toBeLessThanOrEqual(300);
      }
      expect(performance.now() - began).toBeLessThan(20_000);
    }
  });
});

function randomNumbers(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe("a file that can't be imported", () => {
  test.each(["UTF-16le", "UTF-16be"])(
    "because its texts are %s is told the way in",
    async (name) => {
      const path = fileOf(`PRAGMA encoding = '${name}'; CREATE TABLE store_kv (ns, key, value)`);
      const rule = /texts of a database must be UTF-8.*sqlite3 old.db .dump/;
      await using memory = await open();
      for (const source of [path, readFileSync(path), new Blob([readFileSync(path)])]) {
        await expectRefused(() => memory.importFrom(source), "unsupported", rule);
      }
      await memory.store.put(["n"], "k", { n: 1 });
    },
  );

  test.each([
    ["is missing", () => temporaryFile("missing.sqlite"), /cannot_open|not_found/],
    ["has none of the tables", () => fileOf("CREATE TABLE other (a)"), /invalid_argument/],
  ])("because it %s is refused, and nothing changed", async (_, make, code) => {
    await using memory = await open();
    const error = await memory.importFrom(make()).catch((reason) => reason);
    expect(error.code).toMatch(code);
    expect((await memory.stats()).store.items).toBe(0);
    await memory.store.put(["n"], "k", { n: 1 });
  });
});

test("export and import carry a whole database", async () => {
  await using memory = await open();
  await memory.store.put(["n"], "k", { n: 1 });
  await memory.importFrom(
    fileOf(
      "CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id))",
    ),
  );
  const bytes = await memory.export();
  expect(Buffer.from(bytes.subarray(0, 15)).toString()).toBe("SQLite format 3");
  const plain = new Database(Buffer.from(bytes));
  expect(plain.pragma("integrity_check", { simple: true })).toBe("ok");
  plain.close();

  await using other = await open();
  await other.store.put(["n"], "old", {});
  await other.import(bytes);
  expect(await other.store.listKeys(["n"])).toEqual(["k"]);
  await using inMemory = await openMemory({ path: ":memory:" });
  await inMemory.import(bytes);
  expect(await inMemory.store.listKeys(["n"])).toEqual(["k"]);
  await expectRefused(
    () => other.import(new TextEncoder().encode("no database")),
    "not_a_database",
  );
  expect(await other.store.listKeys(["n"])).toEqual(["k"]);
});
