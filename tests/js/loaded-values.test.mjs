// What a saver gives back is what LangGraph's serialiser stores and loads, although most
// of both is done without it.

import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  HumanMessageChunk,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
  ToolMessageChunk,
} from "@langchain/core/messages";
import { PromptTemplate } from "@langchain/core/prompts";
import { JsonPlusSerializer } from "@langchain/langgraph-checkpoint";
import { MemorySaver } from "keepsake";
import { expectedOf, putCheckpoint, threadConfig } from "./support/checkpoints.mjs";

let saver;
beforeEach(() => {
  saver = new MemorySaver();
});
afterEach(() => saver.close());

async function readBack(value) {
  const config = await putCheckpoint(saver, threadConfig("t"), { value });
  await saver.putWrites(config, [["value", value]], "task");
  const { checkpoint, pendingWrites } = await saver.getTuple(config);
  return [checkpoint.channel_values.value, pendingWrites[0][2], await readBackLarge(value)];
}

// Large values of a list are made when they are asked for.
async function readBackLarge(value) {
  const config = threadConfig("large");
  await putCheckpoint(saver, config, { large: { value, padding: "x".repeat(20_000) } });
  for await (const { checkpoint } of saver.list(config))
    return checkpoint.channel_values.large.value;
}

async function expectSame(value) {
  const expected = await expectedOf(value);
  for (const found of await readBack(value)) {
    expect(found).toStrictEqual(expected);
    expect(shapeOf(found)).toEqual(shapeOf(expected));
  }
}

// Classes, the order of members, and which of them are one object.
function shapeOf(value, seen = new Map()) {
  if (typeof value !== "object" || value === null) return value;
  if (seen.has(value)) return `#${seen.get(value)}`;
  seen.set(value, seen.size);
  const members = Reflect.ownKeys(value).map((key) => [String(key), shapeOf(value[key], seen)]);
  return [Object.getPrototypeOf(value)?.constructor, members];
}

const call = { id: "c", name: "look", args: { deep: [{ n: 1 }] }, type: "tool_call" };
const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
const kinds = {
  human: new HumanMessage("hello"),
  named: new HumanMessage({ content: "hé 漢 \u2028", id: "m", name: "Ada" }),
  blocks: new HumanMessage({ content: [{ type: "text", text: "a" }] }),
  standardBlocks: new HumanMessage({ contentBlocks: [{ type: "text", text: "a" }] }),
  ai: new AIMessage({ content: "", tool_calls: [call], usage_metadata: usage }),
  aiOfVersion1: new AIMessage({
    contentBlocks: [{ type: "text", text: "a" }, call],
    response_metadata: { output_version: "v1" },
  }),
  aiOfOpenAi: new AIMessage({
    content: "x",
    additional_kwargs: { function_call: { name: "f", arguments: "{}" } },
    response_metadata: { model_provider: "openai", tokens: [1] },
  }),
  aiChunk: new AIMessageChunk({
    content: "part",
    tool_call_chunks: [{ name: "f", args: '{"a"', id: "i", index: 0, type: "tool_call_chunk" }],
  }),
  tool: new ToolMessage({ content: "r", tool_call_id: "c", status: "error", artifact: { a: [1] } }),
  toolChunk: new ToolMessageChunk({ content: "r", tool_call_id: "c" }),
  system: new SystemMessage("rules"),
  humanChunk: new HumanMessageChunk("part"),
  chat: new ChatMessage("said", "narrator"),
  function: new FunctionMessage({ content: "7", name: "add" }),
  remove: new RemoveMessage({ id: "gone" }),
  extraFields: new HumanMessage({ content: "x", some_field: 1, otherField: 2, constructor: 3 }),
  withUndefined: new HumanMessage({ content: "x", name: undefined }),
  withMap: new HumanMessage({ content: "x", additional_kwargs: { map: new Map([[1, 2]]) } }),
  withMessage: new HumanMessage({ content: "x", additional_kwargs: { of: new AIMessage("y") } }),
  withLc: new HumanMessage({
    content: "x",
    additional_kwargs: { lc: 1, type: "secret", id: ["K"] },
  }),
  withEscape: new HumanMessage({ content: "x", additional_kwargs: { __lc_escaped__: { a: 1 } } }),
  deep: new HumanMessage({
    content: "x",
    additional_kwargs: Array.from({ length: 40 }).reduce((inner) => ({ inner }), {}),
  }),
  template: PromptTemplate.fromTemplate("say {word}"),
  ownRecord: { lc: 3, type: "constructor", id: ["mine"] },
  secret: { lc: 1, type: "secret", id: ["KEY"] },
  strangeRecord: { lc: 2, type: "constructor", id: ["Set"], args: "no list" },
  prototype: JSON.parse('{"__proto__": {"a": 1}, "b": 2}'),
  prototypeOfMessage: JSON.parse('{"m": {"__proto__": null}}'),
  sameNameTwice: new HumanMessage({ content: "x", someField: 1, some_field: 2 }),
  numberedFields: new HumanMessage({ content: "x", b: 1, 2: "two", 1: "one" }),
  changed: Object.assign(new HumanMessage("x"), { content: "y", name: "Ada", other: 1 }),
  without: (() => {
    const message = new HumanMessage({ content: "x", id: "i" });
    delete message.content;
    return message;
  })(),
  elsewhere: Object.assign(new HumanMessage("x"), {
    lc_namespace: ["langchain_core", "messages", "human"],
  }),
  ownText: Object.assign(new HumanMessage("x"), { toJSON: () => ({ mine: true }) }),
  unserialisable: { type: Object.assign(new HumanMessage("x"), { lc_serializable: false }).type },
  fieldsOfAClass: new HumanMessage({ content: "x", additional_kwargs: { at: new Date(0) } }),
  circle: (() => {
    const message = new HumanMessage({ content: "x", additional_kwargs: {} });
    message.additional_kwargs.self = message.additional_kwargs;
    return message;
  })(),
  send: { lg_name: "Send", node: "n", args: { a: 1 }, left_out: 1 },
  // biome-ignore lint/suspicious/noSparseArray: it is what is tested
  sparse: [1, , 3],
  notFinite: [Number.NaN, Number.NEGATIVE_INFINITY, -0],
  date: { at: new Date(0) },
  set: new Set([new HumanMessage("in a set"), 1]),
  undefined: undefined,
  numbers: [0, -1.5, 1e300, 2 ** 60],
};

test.each(Object.entries(kinds))("%s is what the serialiser makes of it", async (_, value) => {
  await expectSame(value);
  await expectSame([{ value }, "beside it", new HumanMessage("after it")]);
});

test("a message that the serialiser refuses is refused", async () => {
  const record = { lc: 1, type: "constructor", id: ["langchain_core", "messages", "NoMessage"] };
  const value = [{ ...record, kwargs: {} }];
  await expect(expectedOf(value)).rejects.toThrow("NoMessage");
  await expect(readBack(value)).rejects.toThrow("NoMessage");
});

test("an object of an unknown class is named with its channel and thread, small or large", async () => {
  class Unknown extends AIMessage {
    static lc_name() {
      return "Unknown";
    }
  }
  const refusal = {
    code: "unsupported",
    message: expect.stringMatching(
      /channel "\w+" of thread "\w+" holds an object of the class \[.*"Unknown"\].*serde that reads it/,
    ),
  };
  await expect(readBack(new Unknown("hi"))).rejects.toMatchObject(refusal);
  await expect(readBackLarge(new Unknown("hi"))).rejects.toMatchObject(refusal);
});

test("each reading gives objects of its own", async () => {
  const messages = [new HumanMessage({ content: [{ type: "text", text: "as it was" }] })];
  const config = await putCheckpoint(saver, threadConfig("t"), { messages });
  const first = (await saver.getTuple(config)).checkpoint.channel_values;
  first.messages[0].content[0].text = "changed";
  first.messages.push(new AIMessage("more"));
  const second = (await saver.getTuple(config)).checkpoint.channel_values;
  expect(second.messages).toStrictEqual(await expectedOf(messages));
});

test("a serialiser that was changed is asked", async () => {
  class Own extends JsonPlusSerializer {
    async loadsTyped(type, data) {
      return { loaded: await super.loadsTyped(type, data) };
    }
  }
  const own = new MemorySaver(new Own());
  const config = await putCheckpoint(own, threadConfig("t"), { n: 1 }).catch((error) => error);
  expect(config).not.toBeInstanceOf(Error);
  const { metadata } = await own.getTuple(config);
  expect(metadata).toHaveProperty("loaded");
  await own.close();
});

test("lists of messages at random are what the serialiser makes of them", async () => {
  let state = 7;
  const random = (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % limit;
  };
  const pool = Object.values(kinds);
  const make = (depth) => {
    const kind = random(depth > 3 ? 2 : 4);
    if (kind === 0) return pool[random(pool.length)];
    if (kind === 1) return ["text", 1, null, true, "é", { lc: random(4) }][random(6)];
    const members = Array.from({ length: random(5) }, () => make(depth + 1));
    return kind === 2 ? members : Object.fromEntries(members.map((m, i) => [`k${i}`, m]));
  };
  for (let i = 0; i < 300; i += 1) await expectSame(make(0));
});

it("lists the large values of a chat, each its own", async () => {
  const config = threadConfig("chat");
  const messages = [new PromptTemplate({ template: "{a}", inputVariables: ["a"] })];
  const put = [];
  for (let i = 0; i < 12; i++) {
    messages.push(new HumanMessage({ id: `m${i}`, content: "a".repeat(4000) }));
    put.unshift(
      await putCheckpoint(saver, config, { messages: i < 9 ? messages.slice(1) : messages }),
    );
  }
  const listed = [];
  for await (const tuple of saver.list(config)) listed.push(tuple);
  expect(listed.map(({ config }) => config)).toEqual(put);
  for (const { config, checkpoint } of listed) {
    const { messages: expected } = (await saver.getTuple(config)).checkpoint.channel_values;
    expect({ ...checkpoint.channel_values }.messages).toStrictEqual(expected);
    expect(checkpoint.channel_values.messages).toBe(checkpoint.channel_values.messages);
    checkpoint.channel_values.messages.at(-1).content = "changed";
  }
  listed[1].checkpoint.channel_values.messages = "set";
  expect(listed[1].checkpoint.channel_values.messages).toBe("set");
});

test("lists the values of a list that stayed, shrank, was nested otherwise or changed", async () => {
  const config = threadConfig("changing");
  const texts = Array.from({ length: 9 }, (_, i) => `${i}`.repeat(4000));
  const messages = texts.map((content, i) => new HumanMessage({ id: `m${i}`, content }));
  const changed = messages.with(3, new AIMessage({ id: "m3", content: "3".repeat(4000) }));
  const states = [
    messages,
    messages.slice(0, 7),
    messages,
    [...messages],
    changed,
    changed.slice(0, 5),
    texts,
    [texts, texts],
    [texts.slice(0, 6), "[", "]"],
    [texts.slice(0, 6)],
    texts.with(8, texts[8].replace("88", "89")),
    { texts },
    { texts: [...texts] },
    `${texts}`,
  ];
  for (const value of states) await putCheckpoint(saver, config, { value });
  const found = [];
  for await (const { checkpoint } of saver.list(config))
    found.unshift(checkpoint.channel_values.value);
  const expected = await Promise.all(states.map(expectedOf));
  expect(found).toStrictEqual(expected);
});

test("a large value of a list can be read though its object was frozen, and belongs to it alone", async () => {
  const config = threadConfig("t");
  const large = [new HumanMessage("a"), { padding: "x".repeat(20_000) }];
  await putCheckpoint(saver, config, { large });
  await putCheckpoint(saver, config, { large }, { step: 1 });
  const tuples = [];
  for await (const { checkpoint } of saver.list(config)) tuples.push(checkpoint.channel_values);
  const [frozen, open] = tuples;
  Object.freeze(frozen);
  expect(frozen.large).toEqual(large);
  expect(frozen.large).toBe(frozen.large);
  const child = Object.create(open);
  child.large = "mine";
  expect(child.large).toBe("mine");
  expect(open.large).toEqual(large);
  expect(open.large).toBe(open.large);
});
