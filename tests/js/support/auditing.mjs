// What a memory keeps of who wrote. Runs in Node, in pages and in workerd.

const checkpoint = {
  v: 4,
  id: "1ef4f797-8335-6428-8001-8a1503f9b875",
  ts: "2026-01-01T00:00:00.000Z",
  channel_values: { n: 1 },
  channel_versions: { n: 1 },
  versions_seen: {},
};
/** A thread of one checkpoint. */
export const putThread = ({ checkpointer }, thread_id) =>
  checkpointer.put(
    { configurable: { thread_id, checkpoint_ns: "" } },
    checkpoint,
    { source: "loop", step: 1, parents: {} },
    { n: 1 },
  );

const codeOf = (call) =>
  call.then(
    () => "ok",
    ({ code }) => code,
  );

/** An entry in one line. */
export function lineOf({ operation, scope, namespace, threadId, actor, nodeId, code, count }) {
  const where = namespace?.join("/") || (threadId ?? "-");
  return [operation, scope || "-", where, actor ?? "-", nodeId ?? "-", code ?? "ok", count].join(
    " ",
  );
}
const told = async (memory, options) => (await memory.auditLog(options)).map(lineOf);

/** Writes, refusals and an erasure in a memory without an audit log; says what it then tells. */
export async function auditOf(memory) {
  await memory.store.put(["before"], "k", { n: 1 });
  const nothing = await memory.auditLog();
  await memory.keepAudit({ maxEntries: 100, maxAge: 60 });
  const { since, ...rule } = await memory.auditRule();
  const policy = { maxValueBytes: 20, writable: [["notes"]] };
  const by = { actor: () => ({ actor: "agent", nodeId: "writer" }) };
  const ada = memory.scoped({ user: "ada", policy, ...by });
  await ada.store.batch(
    ["a", "b", "c"].map((key) => ({ namespace: ["notes"], key, value: { n: 1 } })),
  );
  await ada.store.get(["notes"], "a");
  await ada.store.search([]);
  await putThread(ada, "t");
  const refused = [
    await codeOf(ada.store.put(["facts"], "k", { n: 1 })),
    await codeOf(ada.store.put(["notes"], "k", { text: "longer than it may be" })),
    await codeOf(ada.store.stats()),
  ];
  await ada.store.delete(["notes"], "a");
  await memory.store.put(["user", "bob"], "k", { n: 1 });
  await memory.hold(["user", "ada"], "case 7");
  refused.push(await codeOf(memory.forget({ namespaces: [["user", "ada"]] })));
  await memory.release(["user", "ada"]);
  await ada.store.clearNamespace(["notes"]);
  const log = await told(memory);
  const hers = await told(memory.scoped({ user: "ada" }));
  const page = await told(memory, {
    before: (await memory.auditLog({ limit: 2 })).at(-1).id,
    limit: 2,
  });
  const later = await told(memory, { since: new Date(Date.now() + 3_600_000) });
  await memory.forget({ namespaces: [["user", "ada"]], threads: ["user/ada/t"] });
  const after = await told(memory);
  await memory.dropAudit();
  const dropped = [await memory.auditLog(), (await memory.auditRule()) ?? null];
  return {
    nothing,
    rule,
    isNew: Math.abs(since - Date.now()) < 600_000,
    refused,
    log,
    hers,
    page,
    later,
    after,
    dropped,
  };
}

const LOG = [
  "clear user/ada user/ada/notes agent writer ok 2",
  "release - user/ada - - ok 1",
  "forget - - - - held 1",
  "hold - user/ada - - ok 1",
  "store - user/bob - - ok 1",
  "delete user/ada user/ada/notes agent writer ok 1",
  "recall user/ada - agent writer access_denied 1",
  "store user/ada user/ada/notes agent writer quota_exceeded 1",
  "store user/ada user/ada/facts agent writer access_denied 1",
  "store user/ada user/ada/t agent writer ok 1",
  "store user/ada user/ada/notes agent writer ok 3",
];

/** What `auditOf()` says. */
export const audited = {
  nothing: [],
  rule: { maxEntries: 100, maxAge: 60 },
  isNew: true,
  refused: ["access_denied", "quota_exceeded", "access_denied", "held"],
  log: LOG,
  hers: [
    "clear - notes agent writer ok 2",
    "release - - - - ok 1",
    "hold - - - - ok 1",
    "delete - notes agent writer ok 1",
    "recall - - agent writer access_denied 1",
    "store - notes agent writer quota_exceeded 1",
    "store - facts agent writer access_denied 1",
    "store - t agent writer ok 1",
    "store - notes agent writer ok 3",
  ],
  page: LOG.slice(2, 4),
  later: [],
  after: [
    "forget - - - - ok 1",
    ...LOG.map((line) =>
      line.includes("user/ada")
        ? line.replace(/^(\S+).*?((?:ok|access_denied|quota_exceeded) \d+)$/, "$1 - - - - $2")
        : line,
    ),
  ],
  dropped: [[], null],
};
