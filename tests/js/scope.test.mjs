// Scopes, policies, providers and what is told of accesses.

import {
  decodeLabel,
  encodeLabel,
  openMemory,
  resolveNamespace,
  ScopedMemory,
  scopeOf,
  storeNamespace,
  traceAccess,
} from "keepsake";
import { times } from "./support/effort.mjs";
import { differenceOf, optionsOf, portionsOf } from "./support/isolation.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const open = (options) => openMemory({ path: ":memory:", ...options });
const checkpointOf = (id) => ({
  v: 4,
  id,
  ts: "2026-01-01T00:00:00.000Z",
  channel_values: { n: 1 },
  channel_versions: { n: 1 },
  versions_seen: {},
});
const put = (saver, thread_id, id = "1ef4f797-8335-6428-8001-8a1503f9b875") =>
  saver.put(
    { configurable: { thread_id, checkpoint_ns: "" } },
    checkpointOf(id),
    { source: "loop", step: 1, parents: {} },
    { n: 1 },
  );

async function codeOf(promise) {
  const error = await promise.then(
    () => undefined,
    (caught) => caught,
  );
  return error?.code;
}

test("what a client writes into a run names nobody else than what the server's code says", () => {
  const refused = { code: "access_denied" };
  const ada = { configurable: { user_id: "ada" }, context: { user_id: "ada" } };
  expect(scopeOf("user", ada)).toEqual({ user: "ada" });
  const bob = { configurable: { user_id: "bob", thread_id: "1" }, context: { user_id: "ada" } };
  for (const find of [() => scopeOf("user", bob), () => storeNamespace(bob)]) {
    expect(find).toThrow(expect.objectContaining(refused));
    expect(find).toThrow("user_id of context and user_id of configurable differ");
  }
  expect(scopeOf("user", bob, { sources: ["context"] })).toEqual({ user: "ada" });
  expect(resolveNamespace("user", bob, { sources: ["context"] })).toBe("user:ada");
  expect(storeNamespace(bob, { sources: ["context"] })).toEqual(["ada", "memories"]);
  const onlyClient = { configurable: { user_id: "bob" } };
  expect(() => scopeOf("user", onlyClient, { sources: ["context"] })).toThrow(
    'user_id is not set in context: the scope "user" needs it',
  );

  // A namespace that a run names counts only where the code says so, and then for all.
  const elsewhere = { configurable: { user_id: "ada", store_namespace: ["user", "bob"] } };
  for (const find of [scopeOf, resolveNamespace]) {
    expect(() => find("user", elsewhere)).toThrow(expect.objectContaining(refused));
    expect(() => find("user", elsewhere.configurable)).toThrow("store_namespace of the variables");
  }
  expect(() => storeNamespace(elsewhere)).toThrow("store_namespace of configurable would name any");
  const sources = ["context", "store_namespace"];
  expect(scopeOf("user", elsewhere, { sources })).toEqual({ place: ["user", "bob"] });
  const two = { ...elsewhere, context: { store_namespace: ["a"] } };
  expect(() => scopeOf("user", two, { sources })).toThrow("store_namespace of configurable differ");
  expect(scopeOf("user", { ...elsewhere, ...bob }, { sources: ["context"] })).toEqual({
    user: "ada",
  });

  // LangGraph's server says whom it let in.
  const login = { langgraph_auth_user: { identity: "ada" }, langgraph_auth_user_id: "ada" };
  expect(scopeOf("user", { configurable: login })).toEqual({ user: "ada" });
  for (const run of [
    { configurable: { ...login, user_id: "bob" } },
    { configurable: login, context: { user_id: "bob" } },
  ]) {
    expect(() => scopeOf("user", run)).toThrow("user_id of auth and user_id of");
    expect(scopeOf("user", run, { sources: ["auth"] })).toEqual({ user: "ada" });
  }

  // A conversation_id counts more than a thread_id, unless only that is asked for.
  const thread = { configurable: { thread_id: "1", conversation_id: "2" } };
  expect(scopeOf("conversation", thread)).toEqual({ conversation: "2" });
  const byThread = { name: "conv", variable: "thread_id" };
  expect(scopeOf(byThread, thread)).toEqual({ place: ["conv", "1"] });
  const named = { configurable: { thread_id: "1" }, context: { conversation_id: "c" } };
  expect(scopeOf("conversation", named)).toEqual({ conversation: "c" });
  const forged = { configurable: { conversation_id: "2" }, context: { thread_id: "1" } };
  expect(() => scopeOf("conversation", forged)).toThrow("thread_id of context and conversation_id");
  const shop = { configurable: { app_id: "b" }, context: { app_id: "a" } };
  expect(() => scopeOf("global", shop)).toThrow("app_id of context and app_id of configurable");

  expect(() => scopeOf("user", ada, { sources: ["client"] })).toThrow(
    'sources of scopeOf must be one of auth, context, configurable, store_namespace: "client"',
  );
  expect(() => scopeOf("user", ada, { sources: [] })).toThrow("sources of scopeOf must name one");
});

test("sources that are named are honoured or refused, never ignored", () => {
  const sources = ["context"];
  for (const source of [
    { user_id: "bob" },
    { user_id: "bob", context: undefined, configurable: null },
    { user_id: "bob", context: JSON.stringify({ user_id: "ada" }) },
  ]) {
    for (const find of [scopeOf, resolveNamespace]) {
      expect(() => find("user", source, { sources })).toThrow(
        `sources of scopeOf are those of a run, and this has neither context nor configurable`,
      );
    }
    expect(() => storeNamespace(source, { sources })).toThrow(
      "sources of storeNamespace are those",
    );
  }
  expect(scopeOf("user", { user_id: "bob" })).toEqual({ user: "bob" });
});

test("any id is a label, and back", () => {
  for (const id of ["ada@example.com", "a:b", "%", "%2E", "", "*", "a\0b", "日本", "langgraph"]) {
    expect(decodeLabel(encodeLabel(id))).toBe(id);
    expect(encodeLabel(id)).not.toMatch(/[.:\0]|^$|^\*$/);
  }
  expect(encodeLabel("plain text")).toBe("plain text");
});

test.each(["memory", "file"])(
  "scopes in a %s are as memories of their own",
  async (kind) => {
    for (const portion of portionsOf(times(5000))) {
      const path = kind === "file" ? temporaryFile() : ":memory:";
      const memory = await openMemory({ path, ...optionsOf(portion.seed) });
      expect(await differenceOf(memory, openMemory, portion)).toBe("");
      await memory.close();
    }
  },
  3_600_000,
);

test("a scope within a scope has both policies", async () => {
  const memory = await open();
  const ada = memory.scoped({ user: "ada", policy: { maxValueBytes: 20 } });
  const talk = ada.scoped({ conversation: "1", policy: { writable: [["notes"]] } });
  expect(talk.place).toEqual(["user", "ada", "conv", "1"]);
  await talk.store.put(["notes"], "k", { n: 1 });
  expect(await codeOf(talk.store.put(["facts"], "k", { n: 1 }))).toBe("access_denied");
  expect(await codeOf(talk.store.put(["notes"], "k", { n: "x".repeat(20) }))).toBe(
    "quota_exceeded",
  );
  expect((await ada.store.get(["conv", "1", "notes"], "k")).value).toEqual({ n: 1 });
  await memory.close();
});

test("a scope tells the policies that hold in it, as they were given", async () => {
  const memory = await open();
  const policy = { writable: [["notes"]], readOnly: false, maxBytes: 500, maxTtl: 0.5 };
  const ada = memory.scoped({ user: "ada", policy });
  expect(ada.policies).toEqual([{ place: ["user", "ada"], policy }]);
  expect(ada.scoped({ conversation: "1" }).policies).toEqual([
    { place: ["user", "ada"], policy },
    { place: ["user", "ada", "conv", "1"], policy: {} },
  ]);
  ada.policies[0].policy.writable[0].push("more");
  expect(ada.policies[0].policy).toEqual(policy);
  await memory.close();
});

test("a read-only scope writes neither items nor threads", async () => {
  const memory = await open();
  const writer = memory.scoped({ global: true });
  await writer.store.put(["a"], "k", { n: 1 });
  await put(writer.checkpointer, "t");
  const reader = memory.scoped({ global: "default", policy: { readOnly: true } });
  expect((await reader.store.get(["a"], "k")).value).toEqual({ n: 1 });
  expect(await codeOf(reader.store.delete(["a"], "k"))).toBe("access_denied");
  expect(await codeOf(reader.store.clearNamespace(["a"]))).toBe("access_denied");
  expect(await codeOf(put(reader.checkpointer, "u"))).toBe("access_denied");
  expect(await codeOf(reader.checkpointer.deleteThread("t"))).toBe("access_denied");
  expect(await reader.checkpointer.getTuple({ configurable: { thread_id: "t" } })).toBeDefined();
  await memory.close();
});

test("scopes of an index find by meaning within their place only", async () => {
  const embed = async (texts) =>
    texts.map((text) => [text.length, 1, text.includes("tea") ? 9 : 0]);
  const memory = await open({ index: { dims: 3, embeddings: embed } });
  const ada = memory.scoped({ user: "ada" });
  await ada.store.put(["n"], "k", { text: "green tea" });
  await memory.scoped({ user: "bob" }).store.put(["n"], "k", { text: "black tea" });
  const hits = await ada.store.search([], { query: "tea" });
  expect(hits.map(({ value }) => value.text)).toEqual(["green tea"]);
  const near = await ada.store.search([], { near: { namespace: ["n"], key: "k" } });
  expect(near).toEqual([]);
  expect((await ada.store.whyNot(["n"], "gone", { query: "tea" })).reason).toBe("noItem");
  await memory.close();
});

test("changes are told to those whose scope they are in", async () => {
  const memory = await open();
  const heard = { ada: [], bob: [], all: [] };
  const ada = memory.scoped({ user: "ada" });
  ada.onChange((changes) => heard.ada.push(changes));
  memory.scoped({ user: "bob" }).onChange((changes) => heard.bob.push(changes));
  memory.onChange((changes) => heard.all.push(changes));
  await ada.store.put(["n"], "k", { n: 1 });
  await put(ada.checkpointer, "t");
  await new Promise((resolve) => setTimeout(resolve));
  expect(heard.bob).toEqual([]);
  expect(heard.ada).toEqual([
    { namespaces: [["n"]], threads: [], everything: false },
    { namespaces: [], threads: ["t"], everything: false },
  ]);
  expect(heard.all.map(({ namespaces, threads }) => [namespaces, threads])).toEqual([
    [[["user", "ada", "n"]], []],
    [[], ["user/ada/t"]],
  ]);
  await memory.close();
});

test("a scope hears nothing of what another forgets, prunes or undoes, nor of what it may not read", async () => {
  const memory = await open();
  await memory.store.keepHistory([]);
  const heard = { ada: [], bob: [], reader: [], blind: [] };
  const ada = memory.scoped({ user: "ada" });
  ada.onChange((changes) => heard.ada.push(changes));
  memory.scoped({ user: "bob" }).onChange((changes) => heard.bob.push(changes));
  const readable = (prefixes) => memory.scoped({ user: "ada", policy: { readable: prefixes } });
  readable([["n"]]).onChange((changes) => heard.reader.push(changes));
  readable([]).onChange((changes) => heard.blind.push(changes));
  await ada.store.put(["secrets"], "k", { n: 1 });
  await ada.store.put(["n"], "k", { n: 1 });
  await put(ada.checkpointer, "t");
  const [{ operation }] = await ada.store.history(["n"], "k");
  await new Promise((resolve) => setTimeout(resolve));
  expect(heard.reader).toEqual([
    { namespaces: [["n"]], threads: [], everything: false },
    { namespaces: [], threads: ["t"], everything: false },
  ]);
  heard.ada.length = heard.reader.length = 0;
  await ada.store.undo(operation);
  await ada.checkpointer.prune({ keepLast: 1 });
  await ada.forget({ namespaces: [["secrets"]] });
  await memory.forget({ namespaces: [["user", "ada", "n"]], threads: ["user/ada/t"] });
  await new Promise((resolve) => setTimeout(resolve));
  expect(heard.bob).toEqual([]);
  expect(heard.blind).toEqual([]);
  const everything = { namespaces: [], threads: [], everything: true };
  expect(heard.ada).toEqual([
    everything,
    everything,
    everything,
    { ...everything, threads: ["t"] },
  ]);
  expect(heard.reader).toEqual([everything, everything, { ...everything, threads: ["t"] }]);
  await memory.close();
});

test("what leaves or enters as a whole is told", async () => {
  const told = [];
  const onAccess = ({ phase, operation }) => phase === "before" && told.push(operation);
  const memory = await open({ onAccess });
  const stream = await memory.export();
  expect(new Set(told)).toEqual(new Set(["recall"]));
  const other = await open({ onAccess });
  told.length = 0;
  await other.import(stream);
  expect(told).toContain("store");
  await memory.close();
  await other.close();
});

test("who listens further out hears where it was", async () => {
  const events = { whole: [], ada: [], talk: [] };
  const listen = (name) => ({ onAccess: (event) => events[name].push(event) });
  const memory = await open(listen("whole"));
  const ada = memory.scoped({ user: "ada", ...listen("ada") });
  const talk = ada.scoped({ conversation: "a/1", ...listen("talk") });
  await talk.store.put(["n"], "k", { n: 1 });
  await put(talk.checkpointer, "t");
  await memory.store.get(["user", "ada", "n"], "k");
  const seen = (name) =>
    events[name]
      .filter(({ phase }) => phase === "after")
      .map(({ scope, operation, namespace, threadId }) => [
        scope,
        operation,
        namespace ?? threadId,
      ]);
  expect(seen("talk")).toEqual([
    ["user/ada/conv/a/1", "store", ["n"]],
    ["user/ada/conv/a/1", "store", "t"],
  ]);
  expect(seen("ada")).toEqual([
    ["user/ada", "store", ["conv", "a/1", "n"]],
    ["user/ada", "store", "conv/a%2F1/t"],
  ]);
  expect(seen("whole")).toEqual([
    ["", "store", ["user", "ada", "conv", "a/1", "n"]],
    ["", "store", "user/ada/conv/a%2F1/t"],
    ["", "recall", ["user", "ada", "n"]],
  ]);
  await expect(open({ onAccess: 1 })).rejects.toThrow(/onAccess must be a function: 1/);
  await memory.close();
});

test("accesses are spans by OpenTelemetry's names", async () => {
  const spans = [];
  const tracer = {
    startSpan(name, { startTime, attributes }) {
      const span = { name, startTime, attributes };
      spans.push(span);
      return {
        setStatus: (status) => Object.assign(span, { status }),
        end: (endTime) => Object.assign(span, { endTime }),
      };
    },
  };
  const memory = await open();
  const { store, checkpointer } = memory.scoped({
    user: "ada",
    actor: "agent-1",
    policy: { maxValueBytes: 30 },
    onAccess: traceAccess(tracer),
  });
  await store.put(["n"], "k", { text: "a secret thing" });
  await store.search(["n"], { query: "secret" });
  await store.put(["n"], "k", { text: "x".repeat(40) }).catch(() => {});
  await put(checkpointer, "t");
  expect(spans.map(({ name, status }) => [name, status?.message])).toEqual([
    ["update_memory user/ada", undefined],
    ["search_memory user/ada", undefined],
    ["update_memory user/ada", "quota_exceeded"],
    ["update_memory user/ada", undefined],
  ]);
  expect(spans[1].attributes).toEqual({
    "gen_ai.operation.name": "search_memory",
    "gen_ai.memory.store.id": "user/ada",
    "gen_ai.agent.id": "agent-1",
    "keepsake.operation": "recall",
    "keepsake.namespace": "n",
    "keepsake.count": 1,
  });
  expect(spans[2]).toMatchObject({
    status: { code: 2 },
    attributes: { "error.type": "quota_exceeded" },
  });
  expect(spans[3].attributes["gen_ai.conversation.id"]).toBe("t");
  for (const { startTime, endTime } of spans) expect(endTime).toBeGreaterThanOrEqual(startTime);
  expect(JSON.stringify(spans)).not.toContain("secret thing");
  await memory.close();
});

test("what a listener refuses does not happen", async () => {
  const memory = await open();
  const onAccess = ({ phase, operation }) => {
    if (phase === "before" && operation === "delete") throw new Error("not today");
  };
  const { store } = memory.scoped({ user: "ada", onAccess });
  await store.put(["n"], "k", { n: 1 });
  await expect(store.delete(["n"], "k")).rejects.toThrow("not today");
  expect(await store.get(["n"], "k")).not.toBeNull();
  await memory.close();
});

test("a scope needs no closing, and ends with its memory", async () => {
  const path = temporaryFile();
  const memory = await openMemory({ path });
  const scoped = memory.scoped({ user: "ada" });
  await scoped.store.put(["n"], "k", { n: 1 });
  await memory.close();
  expect(await codeOf(scoped.store.get(["n"], "k"))).toBe("closed");
  const again = await openMemory({ path });
  const view = again.scoped({ user: "ada" });
  await view.store.close();
  expect(await codeOf(view.store.get(["n"], "k"))).toBe("closed");
  expect((await again.store.stats()).items).toBe(1);
  await again.close();
});

test("mistakes are told", async () => {
  const memory = await open();
  const mistakes = [
    [{}, "scoped takes one of conversation, user, global, place, got none"],
    [{ user: "a", conversation: "b" }, "got conversation and user"],
    [{ user: "" }, "user must not be empty"],
    [{ usr: "a" }, 'unknown option "usr" of scoped: did you mean "user"?'],
    [{ user: "a", policy: { maxValues: 1 } }, 'unknown option "maxValues" of policy'],
    [{ user: "a", policy: { maxTtl: 0 } }, "maxTtl must be a positive number of minutes"],
    [{ user: "a", policy: { maxBytes: -1 } }, "maxBytes must be a whole number from 0"],
    [{ place: ["a.b"] }, "must not contain '.'"],
  ];
  for (const [options, message] of mistakes) {
    let told = "nothing";
    try {
      await memory.scoped(options).store.get(["n"], "k");
    } catch (error) {
      told = error.message;
    }
    expect(told).toContain(message);
  }
  expect(memory.scoped({ user: "a" })).toBeInstanceOf(ScopedMemory);
  await memory.close();
});
