// The golden frames, written and read by TypeScript; tests/golden/golden_frames.h
// says the same in C++. A byte that changes on one side fails here.

import { readdirSync, readFileSync } from "node:fs";
import { header, hex, textsToEmbed, wire } from "./support/wire.mjs";

const folder = new URL("../golden/", import.meta.url);

function golden(name) {
  const text = readFileSync(new URL(`${name}.hex`, folder), "utf8");
  const [, request, response] = /^request (\w+)\nresponse (\w+)\n$/.exec(text);
  return { request, response: new Uint8Array(Buffer.from(response, "hex")) };
}

const utf8 = (text) => new Uint8Array(Buffer.from(text));
const json = (text) => ({ type: "json", bytes: utf8(text) });

const namespace = ["users", "ü1", "記憶"];
const value = '{"text":"naïve \\ud83d","n":1}';
const item = {
  namespace,
  key: "clé 🗝",
  value,
  createdAt: 1_700_000_000_000,
  updatedAt: 1_700_000_000_123,
  validity: { from: -1, until: 1_800_000_000_000 },
  provenance: { origin: "web", source: "https://example.org/é", isQuarantined: true },
};
const vector = { path: "turns[*].text.3", values: new Float32Array([0.5, -1.25, 3]) };
const key = {
  threadId: "thread-1",
  checkpointNs: "parent:child",
  checkpointId: "1ef4f797-8335-6428-8001",
};
const blob = { type: "bytes", bytes: new Uint8Array([0x00, 0xff, 0x7f, 0x80]) };
const write = {
  taskId: "task-1",
  idx: -3,
  channel: "__interrupt__",
  value: blob,
  taskPath: "~__pregel_pull, α",
};
const pendingWrites = [
  write,
  { taskId: "task-2", idx: 7, channel: "messages", value: json("[]"), taskPath: "" },
];
const tuple = {
  key,
  parentCheckpointId: "1ef4f797-8335-6428-8000",
  checkpoint: json('{"v":4}'),
  metadata: json('{"step":-1}'),
  values: [
    { channel: "messages", version: "2", value: blob },
    { channel: "é", version: "0.5", value: json("null") },
  ],
  pendingWrites,
};
const emptyBlob = { type: "", bytes: new Uint8Array() };
const jsonBlob = (json) => ({ type: "json", bytes: new TextEncoder().encode(json) });
const options = {
  path: "memory.db",
  durability: "strict",
  vfs: "node",
  verifies: true,
  keys: utf8("keys"),
};

const put = {
  kind: "put",
  namespace,
  key: "clé 🗝",
  value,
  index: ["a.b", "c[-1]"],
  ttl: 90_000,
  vectors: [vector],
  validity: item.validity,
  supersedes: { namespace: ["users", "ü1"], key: "🗝" },
  provenance: item.provenance,
};
const search = {
  kind: "search",
  namespacePrefix: namespace,
  filter: '{"n":{"$gte":1}}',
  query: "wo ist 🗝?",
  limit: 7,
  offset: 3,
  mode: "hybrid",
  refreshTtl: false,
  queryVector: new Float32Array([0.25, -0.5]),
  ranking: {
    minScore: 0.25,
    fusion: "reciprocalRank",
    vectorWeight: 0.5,
    recency: 0.125,
    halfLife: 86_400_000,
    boosts: [{ path: "importance", weight: -0.5 }],
    diversity: 0.75,
    explain: true,
    snippetLength: 160,
    origins: [{ origin: "web", weight: 0.5 }],
  },
  near: { namespace: ["users", "ü1"], key: "🗝" },
  plan: "graph",
  efSearch: 256,
  asOf: 1_650_000_000_000,
  includeSuperseded: true,
  includeQuarantined: true,
};
const listNamespaces = {
  kind: "listNamespaces",
  matchConditions: [
    { matchType: "prefix", path: ["users", "*"] },
    { matchType: "suffix", path: ["記憶"] },
  ],
  maxDepth: 2,
  limit: 50,
  offset: 5,
};

// File, operation, answer.
const newCheckpoint = {
  key,
  parentCheckpointId: tuple.parentCheckpointId,
  checkpoint: tuple.checkpoint,
  metadata: tuple.metadata,
  channelVersions: [
    { channel: "messages", version: "2" },
    { channel: "é", version: "0.5" },
  ],
  newVersions: ["messages"],
  values: [tuple.values[0]],
};

const noRules = { keepLast: 0, olderThan: "", maxBytes: 0, dryRun: false };

const frames = [
  ["get", { kind: "get", namespace, key: "clé 🗝", refreshTtl: false }, item],
  ["get_missing", { kind: "get", namespace: ["a"], key: "" }, null],
  ["put", put, undefined],
  ["put_delete", { kind: "put", namespace: ["a"], key: "k", value: null }, undefined],
  [
    "search",
    search,
    [
      {
        ...item,
        score: -0.625,
        parts: [{ name: "words", value: 2.5 }],
        snippet: {
          text: "wo ist 🗝",
          highlights: [
            { begin: 0, end: 2 },
            { begin: 7, end: 11 },
          ],
        },
        plan: "words: 3 candidates of 9 items",
      },
      {
        namespace: ["a"],
        key: "k",
        value: "null",
        createdAt: 0,
        updatedAt: -1,
        validity: { from: undefined, until: 5 },
        score: undefined,
        parts: [],
        snippet: undefined,
        plan: "",
      },
    ],
  ],
  ["list_namespaces", listNamespaces, [["users", "ü1"], ["x"]]],
  ["list_keys", { kind: "listKeys", namespace }, ["", "a", "🗝"]],
  ["clear_namespace", { kind: "clearNamespace", namespace }, 0x1_0000_0002],
  ["sweep_expired", { kind: "sweepExpired", maxItems: 1000 }, 3],
  [
    "configure_store",
    {
      kind: "configureStore",
      index: { dims: 512, fields: ["$", "text"], model: "use-lite 🗝", replaceVectors: true },
      text: {
        fields: [{ path: "text", weight: 2 }],
        group: "session",
        position: "turn",
        speaker: "speaker",
        language: "german",
      },
    },
    undefined,
  ],
  [
    "store_stats",
    { kind: "storeStats" },
    { items: 1, namespaces: 2, vectors: Number.MAX_SAFE_INTEGER, pending: 4, inGraph: 5 },
  ],
  [
    "explain_absence",
    { kind: "explainAbsence", search, namespace, key: "clé 🗝" },
    {
      absence: "notOnPage",
      rank: 12,
      score: 0.25,
      lastScore: 0.5,
      parts: [{ name: "words", value: 2.5 }],
    },
  ],
  [
    "read_pending",
    { kind: "readPending", limit: 64 },
    {
      items: [
        { id: 7, fingerprint: 0xfedcba98, paths: ["text"], texts: ["wo ist 🗝"] },
        { id: 9, fingerprint: 1, paths: [], texts: [] },
      ],
      left: 1000,
    },
  ],
  [
    "improve_index",
    { kind: "improveIndex", vectors: 16, isWanted: true },
    { vectors: 100_000, inGraph: 0x1_0000_0002, isDone: false },
  ],
  [
    "embed_pending",
    { kind: "embedPending", items: [{ id: 7, fingerprint: 0xfedcba98, vectors: [vector] }] },
    1,
  ],
  [
    "keep_history",
    { kind: "keepHistory", namespace, maxVersions: 50, maxAge: 86_400_000 },
    undefined,
  ],
  ["drop_history", { kind: "dropHistory", namespace }, undefined],
  [
    "history_rules",
    { kind: "historyRules" },
    [
      { namespace: [], maxVersions: 1, maxAge: undefined, since: 1_700_000_000_000 },
      { namespace, maxVersions: 50, maxAge: 86_400_000, since: 1_700_000_000_123 },
    ],
  ],
  [
    "history",
    { kind: "history", namespace, key: "clé 🗝", limit: 20 },
    [
      {
        operation: 0x1_0000_0002,
        change: "undo",
        at: 1_700_000_000_123,
        actor: "ada 🗝",
        item,
      },
      { operation: 7, change: "delete", at: 1_700_000_000_000, actor: "", item: undefined },
    ],
  ],
  [
    "get_as_of",
    {
      kind: "getAsOf",
      at: 1_650_000_000_000,
      get: { kind: "get", namespace, key: "clé 🗝", refreshTtl: false },
    },
    item,
  ],
  [
    "search_as_of",
    { kind: "searchAsOf", at: 1_650_000_000_000, search },
    [{ ...item, score: -0.625, parts: [], snippet: undefined, plan: "" }],
  ],
  [
    "list_namespaces_as_of",
    { kind: "listNamespacesAsOf", at: 1_650_000_000_000, list: listNamespaces },
    [["users", "ü1"], ["x"]],
  ],
  [
    "judge_items",
    {
      kind: "judgeItems",
      namespacePrefix: ["user", "ada"],
      after: { namespace, key: "k é" },
      limit: 1000,
    },
    [
      {
        namespace,
        key: "k",
        bytes: 0x1_0000_0001,
        updatedAt: 1_700_000_000_123,
        fingerprint: 0xffff_fffe,
        isPinned: true,
        uses: 3,
        importance: 0.5,
        isHeld: true,
      },
    ],
  ],
  [
    "evict_items",
    {
      kind: "evictItems",
      namespace,
      items: [{ key: "k é", updatedAt: 1_700_000_000_123, fingerprint: 0xffff_fffe }],
    },
    { items: 1, keys: ["k é"] },
  ],
  [
    "undo",
    { kind: "undo", operation: 0x1_0000_0002, force: true },
    { operation: 0x1_0000_0003, items: 2 },
  ],

  ["put_checkpoint", { kind: "putCheckpoint", ...newCheckpoint }, undefined],
  ["put_writes", { kind: "putWrites", key, writes: pendingWrites }, undefined],
  ["get_tuple", { kind: "getTuple", key }, tuple],
  [
    "get_tuple_missing",
    { kind: "getTuple", key: { threadId: "t", checkpointNs: "", checkpointId: "" } },
    undefined,
  ],
  [
    "list_checkpoints",
    {
      kind: "listCheckpoints",
      threadId: "thread-1",
      checkpointNs: "",
      checkpointId: "id",
      before: "before",
      after: "after",
      filter: '{"step":1}',
      cursor: key,
      limit: 5,
    },
    [
      tuple,
      {
        key: { threadId: "t", checkpointNs: "", checkpointId: "i" },
        parentCheckpointId: "",
        checkpoint: emptyBlob,
        metadata: emptyBlob,
        values: [],
        pendingWrites: [],
      },
    ],
  ],
  [
    "list_checkpoints_shared",
    { kind: "listCheckpoints" },
    [
      ["2", 515],
      ["1", 513],
    ].map(([version, elements]) => ({
      key,
      parentCheckpointId: "",
      checkpoint: emptyBlob,
      metadata: emptyBlob,
      values: [
        { channel: "messages", version, value: jsonBlob(JSON.stringify(Array(elements).fill(1))) },
      ],
      pendingWrites: [],
    })),
  ],
  ["list_checkpoints_all", { kind: "listCheckpoints" }, []],
  ["list_writes", { kind: "listWrites", key, channel: "messages" }, pendingWrites],
  [
    "delta_channel_history",
    { kind: "deltaChannelHistory", key, channels: ["messages", "é"] },
    [
      { channel: "messages", seed: blob, writes: [write] },
      { channel: "é", seed: undefined, writes: [] },
    ],
  ],
  ["delete_thread", { kind: "deleteThread", threadId: "thread-1" }, undefined],
  ["copy_thread", { kind: "copyThread", source: "thread-1", target: "thread-2" }, undefined],
  ["delete_for_runs", { kind: "deleteForRuns", runIds: ["run-1", "run-2"] }, 4],
  [
    "prune",
    { kind: "prune", ...noRules, threadIds: ["thread-1"], strategy: "delete" },
    { checkpoints: 5, bytes: 6_000 },
  ],
  [
    "checkpointer_stats",
    { kind: "checkpointerStats" },
    { threads: 1, checkpoints: 2, writes: 3, bytes: 4 },
  ],
  [
    "prune_by_rules",
    {
      kind: "prune",
      threadIds: ["thread-1", "thread-2"],
      keepLast: 5,
      olderThan: "1ef4f797",
      maxBytes: 1_000_000,
      dryRun: true,
    },
    { checkpoints: 6, bytes: 7_000 },
  ],
  [
    "list_threads",
    {
      kind: "listThreads",
      cursor: { newestCheckpointId: "1ef4f797", threadId: "thread-1" },
      limit: 20,
      filter: '{"by":"ada"}',
    },
    [
      {
        threadId: "thread-2",
        newestCheckpointId: "1ef4f796",
        checkpoint: tuple.checkpoint,
        metadata: tuple.metadata,
        checkpoints: 3,
        bytes: 4_000,
      },
    ],
  ],
  ["rename_thread", { kind: "renameThread", source: "thread-1", target: "thread-2" }, undefined],
  [
    "put_checkpoint_delta",
    {
      kind: "putCheckpoint",
      ...newCheckpoint,
      values: [
        {
          ...tuple.values[0],
          delta: { stamp: Number.MAX_SAFE_INTEGER, baseStamp: 2, prefix: 3, suffix: 4 },
        },
      ],
    },
    undefined,
  ],
  [
    "fork_thread",
    { kind: "forkThread", source: "thread-1", checkpointId: "1ef4f797", target: "thread-2" },
    undefined,
  ],

  ["flush", { kind: "flush" }, undefined],
  ["size", { kind: "size" }, 1_048_576],
  ["begin_export", { kind: "beginExport" }, 8192],
  [
    "read_export",
    { kind: "readExport", offset: 0x1_0000_1000, length: 4096 },
    utf8("SQLite format 3"),
  ],
  ["end_export", { kind: "endExport" }, undefined],
  ["import_from", { kind: "importFrom", ...options }, undefined],
  [
    "foreign_open",
    { kind: "foreignOpen", ...options },
    {
      readable: [
        { table: "saverCheckpoints", rows: 10 },
        { table: "saverWrites", rows: 20 },
        { table: "pythonStore", rows: 30 },
        { table: "plainStoreKv", rows: 40 },
      ],
      skipped: [{ row: "table store_vectors", why: "it lacks a column" }],
    },
  ],
  [
    "foreign_items",
    { kind: "foreignItems", table: "plainStoreKv", cursor: "17", limit: 100 },
    {
      rows: [{ item, ttl: 60_000, expiresAt: 1_700_000_060_000, vectors: [vector] }],
      skipped: [{ row: "row 18", why: "it is bad" }],
      cursor: "18",
      done: false,
    },
  ],
  [
    "foreign_checkpoints",
    { kind: "foreignCheckpoints", cursor: "", limit: 100 },
    {
      rows: [
        {
          key,
          parentCheckpointId: "",
          checkpoint: tuple.checkpoint,
          metadata: tuple.metadata,
        },
      ],
      skipped: [],
      cursor: "1",
      done: true,
    },
  ],
  [
    "foreign_writes",
    { kind: "foreignWrites", cursor: "-1", limit: 100 },
    { rows: [{ key, write }], skipped: [], cursor: "2", done: true },
  ],
  ["foreign_close", { kind: "foreignClose" }, undefined],
  [
    "read_rows",
    { kind: "readRows", exportId: "export-1", number: 7, cursor: new Uint8Array([2, 128]) },
    new TextEncoder().encode("KSPR"),
  ],
  ["end_rows", { kind: "endRows", exportId: "export-1" }, undefined],
  ["put_rows", { kind: "putRows", piece: new TextEncoder().encode("KSPR") }, 8],
  ["finish_import", { kind: "finishImport", exportId: "export-1", isWanted: true }, undefined],
  ["limit_vectors", { kind: "limitVectors", bytes: 33_554_432 }, undefined],
  [
    "forget",
    {
      kind: "forget",
      id: "e1",
      digest: "d1",
      namespaces: [["user", "ada"]],
      filter: '{"a":1}',
      from: { origin: "web", source: "https://é/", isPrefix: true },
      threads: ["t"],
      threadPrefix: "user/ada/",
      dryRun: true,
    },
    {
      at: 1_700_000_000_000,
      items: 5,
      vectors: 4,
      versions: 6,
      threads: 3,
      checkpoints: 2,
      bytes: 1000,
      restored: 7,
    },
  ],
  [
    "find_erasure",
    { kind: "findErasure", id: "e1" },
    {
      digest: "d1",
      erased: {
        at: 1_700_000_000_000,
        items: 5,
        vectors: 4,
        versions: 6,
        threads: 3,
        checkpoints: 2,
        bytes: 1000,
        restored: 7,
      },
      scrubbed: "byHost",
    },
  ],
  ["scrub", { kind: "scrub", pages: 256 }, "pending"],
  ["hold", { kind: "hold", namespace: ["user", "ada"], reason: "case 7" }, undefined],
  ["release", { kind: "release", namespace: ["user", "ada"] }, undefined],
  [
    "list_holds",
    { kind: "listHolds" },
    [{ namespace: ["user", "ada"], reason: "case 7", since: 1_700_000_000_000 }],
  ],
  [
    "check_pages",
    { kind: "checkPages", first: 1, count: 256, accepts: true },
    {
      pages: 300,
      damaged: [{ page: 17, heldBy: "store_kv" }],
      problem: "row 3 missing from index",
    },
  ],
  ["keep_audit", { kind: "keepAudit", rule: { maxEntries: 1000, maxAge: 86_400_000 } }, undefined],
  ["drop_audit", { kind: "keepAudit", rule: undefined }, undefined],
  [
    "audit_rule",
    { kind: "auditRule" },
    { maxEntries: 1000, maxAge: undefined, since: 1_700_000_000_000 },
  ],
  [
    "audit_log",
    {
      kind: "auditLog",
      namespace: ["user", "ada"],
      since: 1_650_000_000_000,
      before: 9,
      limit: 20,
    },
    [
      {
        id: 0x1_0000_0002,
        at: 1_700_000_000_123,
        operation: "store",
        place: ["user", "ada"],
        namespace,
        threadId: undefined,
        actor: "ada 🗝",
        nodeId: "n",
        code: "quota_exceeded",
        count: 3,
      },
      {
        id: 7,
        at: 1_700_000_000_000,
        operation: "delete",
        place: [],
        namespace: undefined,
        threadId: "thread-1",
        actor: "",
        nodeId: "",
        code: "ok",
        count: 1,
      },
    ],
  ],
  ["change_key", { kind: "changeKey", key: utf8("a key") }, undefined],
  [
    "salvage",
    { kind: "salvage", ...options },
    {
      items: 5,
      vectors: 4,
      checkpoints: 3,
      writes: 2,
      damagedPages: [{ page: 17, heldBy: "store_kv" }],
      lostItemCount: 1,
      lostItems: [{ namespace: ["a"], key: "k" }],
      lostCheckpointCount: 1,
      lostCheckpoints: [key],
    },
  ],
  [
    "sync_state",
    { kind: "syncState" },
    {
      logId: "log-1",
      number: 42,
      digest: utf8("digest"),
      waiting: 3,
      waitingBytes: 300,
      waitingSince: 1_700_000_000_000,
      setAside: 1,
      needsImage: true,
    },
  ],
  ["sync_state_none", { kind: "syncState" }, undefined],
  [
    "start_sync",
    { kind: "startSync", logId: "log-1", number: 42, digest: utf8("digest") },
    undefined,
  ],
  ["stop_sync", { kind: "stopSync" }, undefined],
  [
    "read_outbox",
    { kind: "readOutbox", after: 7, maxBytes: 65_536 },
    [
      { sequence: 8, request: utf8("a request") },
      { sequence: 9, request: utf8("another") },
    ],
  ],
  [
    "confirm_outbox",
    { kind: "confirmOutbox", number: 43, digest: utf8("digest"), upTo: 9 },
    undefined,
  ],
  [
    "catch_up",
    {
      kind: "catchUp",
      records: [
        { number: 43, digest: utf8("digest"), requests: [utf8("a request"), utf8("another")] },
      ],
      image: "image.db",
      imageNumber: 40,
      imageDigest: utf8("of it"),
    },
    { applied: 43, failed: [{ sequence: 10, code: "quota_exceeded", message: "too much" }] },
  ],
  [
    "list_set_aside",
    { kind: "listSetAside" },
    [
      {
        sequence: 10,
        request: utf8("a request"),
        at: 1_700_000_000_000,
        code: "quota_exceeded",
        message: "too much",
      },
    ],
  ],
  ["drop_set_aside", { kind: "dropSetAside", sequences: [10, 12] }, undefined],
  [
    "import_state",
    { kind: "importState" },
    { exportId: "export-1", next: 8, cursor: new Uint8Array([2, 128]), isComplete: false },
  ],
];

const several = [
  { kind: "get", namespace: ["a"], key: "k" },
  { kind: "deleteThread", threadId: "" },
  put,
];

const opens = [
  ["open", options],
  ["open_in_memory", undefined],
];

test.each(frames)("the request %s has the golden bytes", (name, operation) => {
  expect(hex(wire.encodeRequest(header, [operation]))).toBe(golden(name).request);
});

// Values of a list may be joined only when they are asked for.
function withBytes(answer) {
  if (!Array.isArray(answer)) return answer;
  return answer.map((row) => {
    if (!Array.isArray(row.values)) return row;
    const values = row.values.map(({ value: { type, bytes }, ...value }) => ({
      ...value,
      value: { type, bytes },
    }));
    return { ...row, values };
  });
}

test.each(frames)("the response to %s says what C++ wrote", (name, operation, answer) => {
  const { response } = golden(name);
  expect(wire.decodeResponse(response, [operation]).map(withBytes)).toEqual([answer]);
  expect(wire.sequenceOf(response)).toBe(header.sequence);
});

test.each(opens)("the frame %s has the golden bytes and is answered", (name, database) => {
  const { request, response } = golden(name);
  expect(hex(wire.encodeOpen(header, database))).toBe(request);
  expect(wire.decodeOpened(response)).toBeUndefined();
});

test("several operations have their answers at their positions", () => {
  const { request, response } = golden("several_operations");
  expect(hex(wire.encodeRequest(header, several))).toBe(request);
  const [item, status, nothing] = wire.decodeResponse(response, several);
  expect(item).toBeNull();
  expect(status).toBeInstanceOf(wire.WireStatus);
  expect(status).toMatchObject({
    code: "thread_id_required",
    message: "thread_id must not be empty 🗝",
  });
  expect(nothing).toBeUndefined();
});

test("a request that may be sent again has the golden bytes", () => {
  const { request, response } = golden("put_remembered");
  const remembered = { ...header, acknowledged: header.sequence - 2 };
  expect(hex(wire.encodeRequest(remembered, [put]))).toBe(request);
  expect(wire.decodeResponse(response, [put])).toEqual([undefined]);
});

test("a request of two scopes has the golden bytes", () => {
  const { request, response } = golden("put_scoped");
  const policy = {
    readable: [["n"], []],
    writable: [["n"]],
    readOnly: false,
    maxEntries: 50,
    maxEntriesPerNamespace: 5,
    maxValueBytes: 1000,
    maxBytes: 10_000,
    defaultTtl: 60_000,
    maxTtl: 120_000,
    origins: [
      { origin: "web", trust: "quarantine", weight: 1 },
      { origin: "model", trust: "allow", weight: 0.5 },
    ],
  };
  const levels = new wire.Levels([
    { place: ["user", "ada"], policy },
    { place: ["conv", "t"], policy: {} },
  ]);
  expect(hex(wire.encodeRequest({ ...header, levels }, [put]))).toBe(request);
  expect(wire.decodeResponse(response, [put])).toEqual([undefined]);
});

test("a request says who makes it, also within other levels", () => {
  const { request } = golden("put_by_actor");
  const author = { actor: "agent 7 🗝", nodeId: "node" };
  const levels = new wire.Levels([{ place: ["user", "ada"], policy: {} }], author);
  expect(hex(wire.encodeRequest({ ...header, levels }, [put]))).toBe(request);
  // Who decides where it is at home may say who makes it, too.
  const alone = new wire.Levels([], { actor: "somebody" });
  const own = wire.encodeRequest({ ...header, levels: alone }, [put]).slice();
  const sent = wire.decodeRequest(own);
  expect(sent.operations.map(({ kind }) => kind)).toEqual(["put"]);
  const around = { ...sent, levels: levels.around(sent.levels) };
  expect(hex(wire.requestOf(around, 1, sent.body))).toBe(request);
});

test("a request of others is taken apart, and made anew byte by byte", () => {
  const names = ["put_remembered", "put_scoped", "put_by_actor", "several_operations"];
  for (const name of [...names, ...frames.map(([name]) => name)]) {
    const { request } = golden(name);
    const bytes = new Uint8Array(Buffer.from(request, "hex"));
    const sent = wire.decodeRequest(bytes);
    expect(hex(wire.requestOf(sent, sent.operations.length, sent.body))).toBe(request);
    // One that is cut, goes on, or has a flag too much is none.
    const isNone = (other) => {
      expect(() => wire.decodeRequest(other)).toThrow(
        expect.objectContaining({ code: "malformed_frame" }),
      );
    };
    isNone(bytes.subarray(0, -1));
    isNone(new Uint8Array([...bytes, 0]));
    for (const [at, bit] of [
      [0, 1],
      [1, 2],
      [2, 8],
      [3, 1],
    ]) {
      const other = bytes.slice();
      other[at] ^= bit;
      isNone(other);
    }
  }
});

test("what a request of others changes is read from its payloads", () => {
  const prune = { kind: "prune", ...noRules, threadIds: ["t"] };
  const cases = frames.map(([, operation]) => operation);
  cases.push({ ...prune, dryRun: true }, { ...prune, dryRun: false });
  for (const operation of cases) {
    const own = wire.encodeRequest(header, [operation]).slice();
    const changes = wire.OPERATIONS[operation.kind].changes?.(operation);
    expect([operation.kind, wire.changesIn(wire.decodeRequest(own))]).toEqual([
      operation.kind,
      [changes],
    ]);
  }
  const levels = new wire.Levels([{ place: ["user", "ada"], policy: {} }]);
  const scoped = wire.encodeRequest({ ...header, levels }, [put]).slice();
  const [{ namespaces }] = wire.changesIn(wire.decodeRequest(scoped));
  expect(namespaces[0]).toEqual(["user", "ada", ...put.namespace]);
});

test("a failed frame gives every operation its status", () => {
  const { request, response } = golden("failed_frame");
  expect(hex(wire.encodeRequest(header, several))).toBe(request);
  const answers = wire.decodeResponse(response, several);
  expect(answers).toEqual(Array(3).fill(new wire.WireStatus("closed", "closed")));
  expect(wire.decodeOpened(response)).toMatchObject({ code: "closed" });
});

test("every operation has its row, its frames, and does what it does in C++", () => {
  const lines = readFileSync(new URL("operations.txt", folder), "utf8").trim().split("\n");
  const does = new Map(lines.map((line) => line.split(" ").slice(0, 2)));
  const ofWhole = new Set(lines.filter((line) => line.endsWith("of the whole")).map(parseFloat));
  const rows = Object.entries(wire.OPERATIONS);
  expect(rows.map(([kind]) => String(wire.LAYOUT[kind].tag))).toEqual([...does.keys()]);
  const kinds = new Set(frames.map(([, operation]) => operation.kind));
  expect([...kinds].sort()).toEqual(rows.map(([kind]) => kind).sort());
  for (const [kind, row] of rows) {
    const { tag } = wire.LAYOUT[kind];
    const word = does.get(String(tag));
    // Who may ask for it is what the core says of scopes.
    expect([kind, row.from !== "scope"]).toEqual([kind, ofWhole.has(tag)]);
    // What writes must say what it changes; what only reads changes nothing.
    if (word === "writes")
      expect({ kind, changes: row.changes }).toMatchObject({ changes: expect.any(Function) });
    if (word === "reads")
      expect({ kind, changes: row.changes }).toEqual({ kind, changes: undefined });
  }
});

test("the texts of a value that are embedded are those that C++ finds", () => {
  const lines = readFileSync(new URL("texts.jsonl", folder), "utf8").trim().split("\n");
  for (const line of lines) {
    const { value, paths, texts } = JSON.parse(line);
    const found = textsToEmbed(JSON.stringify(value), paths);
    expect(found.map(({ path, text }) => [path, text])).toEqual(texts);
  }
});

test("every golden file is read", () => {
  const read = [...frames, ...opens].map(([name]) => `${name}.hex`);
  const files = readdirSync(folder).filter((file) => file.endsWith(".hex"));
  expect(files.sort()).toEqual(
    [
      ...read,
      "several_operations.hex",
      "failed_frame.hex",
      "put_remembered.hex",
      "put_scoped.hex",
      "put_by_actor.hex",
    ].sort(),
  );
});

test("a response cut anywhere is refused", () => {
  for (const [name, operation] of frames) {
    const { response } = golden(name);
    const isRefused = (_, length) => {
      try {
        wire.decodeResponse(response.subarray(0, length), [operation]);
        return false;
      } catch (error) {
        return error instanceof RangeError;
      }
    };
    // One matcher for each frame: one for each of its bytes takes seconds.
    expect([name, Array.from(response, isRefused).indexOf(false)]).toEqual([name, -1]);
  }
});

test("a value that begins with one that is not there is refused", () => {
  const { response } = golden("list_checkpoints_shared");
  const operation = { kind: "listCheckpoints" };
  const values = () => wire.decodeResponse(response, [operation])[0].map(({ values }) => values[0]);
  const [whole, joined] = values().map(({ value }) => value.bytes);
  expect(joined.subarray(0, -1)).toEqual(whole.subarray(0, joined.length - 1));
  const text = Buffer.from(response).toString("latin1");
  // After the version and the type: how many bytes, and whose.
  const at = text.indexOf("json", text.lastIndexOf("messages")) + 4;
  const view = new DataView(response.buffer, response.byteOffset);
  expect([view.getUint32(at, true), view.getUint32(at + 4, true)]).toEqual([joined.length - 1, 0]);
  for (const [place, number] of [
    [at, whole.length + 1],
    [at + 4, 1],
  ]) {
    const before = view.getUint32(place, true);
    view.setUint32(place, number, true);
    expect(values).toThrow("a value that begins with none");
    view.setUint32(place, before, true);
  }
});

test("a response to other operations is refused", () => {
  const { response } = golden("get");
  const size = { kind: "size" };
  expect(() => wire.decodeResponse(response, [size])).toThrow("answer of another length");
  expect(() => wire.decodeResponse(response, [size, size])).toThrow("1 results for 2 operations");
  expect(() => wire.decodeResponse(new Uint8Array([2, ...response.subarray(1)]), [size])).toThrow(
    "version 2",
  );
});
