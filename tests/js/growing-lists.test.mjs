// A saver serialises of a list what is not what it was. Whatever happens to the objects
// of the list in between, what is stored is what they were when they were put.

import {
  AIMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { JsonPlusSerializer } from "@langchain/langgraph-checkpoint";
import { MemorySaver } from "keepsake";
import { expectedOf, putCheckpoint, threadConfig } from "./support/checkpoints.mjs";

const serde = new JsonPlusSerializer();
let saver;
beforeEach(() => {
  saver = new MemorySaver();
});
afterEach(() => saver.close());

const texts = Array.from({ length: 40 }, (_, i) => `text ${i} "é漢\u2028" ${"x".repeat(i * 9)}`);
const messages = (count) => texts.slice(0, count).map((text) => new HumanMessage(text));

/** Puts the list after each of the changes, and expects each version as it was put. */
async function expectVersions(list, ...changes) {
  const versions = [];
  let config = threadConfig("t");
  for (const change of [() => list, ...changes]) {
    const changed = change(list) ?? list;
    const expected = await expectedOf(changed);
    config = await putCheckpoint(saver, config, { list: changed }, { step: versions.length });
    versions.push({ config, expected });
  }
  for (const { config: version, expected } of versions) {
    const { checkpoint } = await saver.getTuple(version);
    expect(checkpoint.channel_values.list).toEqual(expected);
  }
}

test("elements are added, removed, moved and replaced", () =>
  expectVersions(
    messages(20),
    (list) => [...list, new AIMessage("added")],
    (list) => list.slice(1),
    (list) => list.slice(0, -3),
    (list) => list.toSpliced(5, 2),
    (list) => list.toSpliced(5, 2, new HumanMessage("one"), new SystemMessage("two")),
    (list) => [new HumanMessage("first"), ...list],
    (list) => [list.at(-1), ...list.slice(0, -1)],
    (list) => [...list, ...list],
    () => [],
    () => messages(9),
    () => messages(9).toReversed(),
  ));

test("messages that are changed in place are stored as they are then", () => {
  const tools = [{ id: "c", name: "look", args: { deep: [{ n: 1 }] } }];
  const result = new ToolMessage({ content: "found", tool_call_id: "c", artifact: { rows: [1] } });
  const call = new AIMessage({ content: [{ type: "text", text: "a" }], tool_calls: tools });
  return expectVersions(
    [...messages(20), call, result],
    (list) => {
      list[3].content = "changed";
    },
    () => {
      call.content[0].text = "b";
    },
    () => {
      call.tool_calls[0].args.deep[0].n = 2;
    },
    () => {
      call.additional_kwargs.reason = "because";
    },
    () => {
      delete call.additional_kwargs.reason;
    },
    () => {
      result.artifact.rows.push(2);
    },
    (list) => {
      list[0].id = "now it has one";
      list[0].name = "Ada";
    },
    (list) => {
      list[1].lc_kwargs.extra = { of: "subclasses" };
    },
    (list) => {
      list[2] = new AIMessage(list[2].content);
    },
    (list) => {
      list.length = 10;
    },
  );
});

// A field of a message, and a way of changing it in place.
const CHANGES = {
  content: (message) => {
    message.content = [{ type: "text", text: "other" }];
  },
  "a part of content": (message) => {
    message.content[0].text = "other";
  },
  "a part more": (message) => {
    message.content.push({ type: "text", text: "more" });
  },
  id: (message) => {
    message.id = "other";
  },
  "an undefined id": (message) => {
    message.id = undefined;
  },
  name: (message) => {
    message.name = "Ada";
  },
  additional_kwargs: (message) => {
    message.additional_kwargs = { reason: "because" };
  },
  "a member of additional_kwargs": (message) => {
    message.additional_kwargs.more = 1;
  },
  response_metadata: (message) => {
    message.response_metadata = {};
  },
  "members that are inherited": (message) => {
    message.additional_kwargs = Object.create({ ...message.additional_kwargs });
  },
  "fields that are inherited": (message) => {
    message.lc_kwargs = Object.create({ ...message.lc_kwargs });
  },
  "a member of response_metadata": (message) => {
    message.response_metadata.usage.tokens += 1;
  },
  "another name of a member": (message) => {
    message.response_metadata.usage = { words: 1 };
  },
  tool_calls: (message) => {
    message.tool_calls = [];
  },
  "an argument of a tool call": (message) => {
    message.tool_calls[0].args.deep = "other";
  },
  invalid_tool_calls: (message) => {
    message.invalid_tool_calls.push({ id: "i", name: "n", args: "{", error: "no" });
  },
  usage_metadata: (message) => {
    message.usage_metadata.total_tokens += 1;
  },
  tool_call_id: (message) => {
    message.tool_call_id = "other";
  },
  status: (message) => {
    message.status = "error";
  },
  artifact: (message) => {
    message.artifact.rows[0] = 2;
  },
  metadata: (message) => {
    message.metadata.of = "other";
  },
  "a field of no class": (message) => {
    message.lc_kwargs.mood.is = "other";
  },
  "a field more": (message) => {
    message.lc_kwargs.more = 1;
  },
  "a field less": (message) => {
    delete message.lc_kwargs.name;
  },
  "a toJSON() of its own": (message) => {
    message.toJSON = () => ({ its: "own" });
  },
  "a member with a toJSON()": (message) => {
    message.additional_kwargs.toJSON = () => ({ its: "own" });
  },
  lc_serializable: (message) => {
    message.lc_serializable = false;
  },
  "another class": (message) => {
    const isSystem = message.constructor === SystemMessage;
    Object.setPrototypeOf(message, (isSystem ? HumanMessage : SystemMessage).prototype);
  },
};

const fields = () => ({
  content: [{ type: "text", text: "a" }],
  id: "first",
  name: "Bob",
  additional_kwargs: { reason: "none" },
  response_metadata: { usage: { tokens: 1 } },
  mood: { is: "calm" },
});
const ofAi = () => ({
  tool_calls: [{ id: "c", name: "look", args: { deep: 1 }, type: "tool_call" }],
  invalid_tool_calls: [],
  usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
});
const ofTool = () => ({
  tool_call_id: "c",
  status: "success",
  artifact: { rows: [1] },
  metadata: { of: 1 },
});
const KINDS = {
  HumanMessage: [HumanMessage],
  AIMessage: [AIMessage, ofAi],
  ToolMessage: [ToolMessage, ofTool],
  SystemMessage: [SystemMessage],
};
const isOfKind = (change, kind) => {
  const field = /tool_calls|tool call|usage_metadata|tool_call_id|status|artifact|^metadata/.exec(
    change,
  );
  if (field === null) return true;
  return kind === (/tool_calls|tool call|usage/.test(change) ? "AIMessage" : "ToolMessage");
};

test.each(
  Object.keys(KINDS).flatMap((kind) =>
    Object.keys(CHANGES)
      .filter((change) => isOfKind(change, kind))
      .map((change) => [kind, change]),
  ),
)("%s: a change in place is found: %s", async (kind, change) => {
  const [messageClass, more] = KINDS[kind];
  const message = new messageClass({ ...fields(), ...more?.() });
  const list = [...messages(12), message];
  let config = await putCheckpoint(saver, threadConfig("t"), { list });
  // Each element is known, or the change would be found by serialising them all.
  const bytes = await encodedBy(async () => {
    config = await putCheckpoint(saver, config, { list: [...list] }, { step: 1 });
  });
  expect(bytes).toBeLessThan(600);
  const [, before] = await serde.dumpsTyped(list);
  CHANGES[change](message);
  const [, expected] = await serde.dumpsTyped(list);
  expect(expected).not.toEqual(before);
  config = await putCheckpoint(saver, config, { list }, { step: 1 });
  const stored = await serde.loadsTyped("json", expected);
  expect((await saver.getTuple(config)).checkpoint.channel_values.list).toEqual(stored);
});

test("a field that a message loses is what the message was made with", () =>
  expectVersions(
    [...messages(12), new HumanMessage({ content: "a", id: "first" })],
    (list) => {
      list[12].id = undefined;
    },
    (list) => {
      delete list[12].id;
    },
  ));

test("elements of any kind are stored as the serialiser stores them", async () => {
  class Point {
    constructor(x) {
      this.x = x;
    }
  }
  class Fancy extends HumanMessage {
    // What it is loaded as.
    static name = "HumanMessage";
    get lc_attributes() {
      return { mood: Fancy.mood };
    }
  }
  Fancy.mood = "calm";
  const counter = { n: 0 };
  const counting = {
    toJSON: () => ({ n: counter.n }),
  };
  const hidden = Object.defineProperty({ plain: 1 }, "toJSON", { value: () => counter.n });
  const circle = { name: "circle" };
  circle.self = circle;
  const kinds = {
    undefined: undefined,
    null: null,
    numbers: [0, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY],
    date: new Date(0),
    bytes: new Uint8Array([1, 2, 3]),
    set: new Set([1, "a"]),
    map: new Map([["k", { v: 1 }]]),
    regexp: /a+/gi,
    error: new Error("no"),
    point: new Point(1),
    fancy: new Fancy("subclass"),
    remove: new RemoveMessage({ id: "gone" }),
    counting,
    hidden,
    circle,
    function: () => 1,
    nested: Array.from({ length: 40 }).reduce((inner) => [inner], "deep"),
  };
  // One after the other: they share a mood and a counter.
  for (const [kind, element] of Object.entries(kinds)) {
    const other = new MemorySaver();
    const list = [...messages(12), element];
    let config = threadConfig("t");
    for (let step = 0; step < 4; step += 1) {
      Fancy.mood = `mood ${step}`;
      counter.n = step;
      const [, expected] = await serde.dumpsTyped(list);
      config = await putCheckpoint(other, config, { list }, { step });
      const { checkpoint } = await other.getTuple(config);
      const stored = await serde.loadsTyped("json", expected);
      expect([kind, checkpoint.channel_values.list]).toEqual([kind, stored]);
      list.push(new HumanMessage(`after ${step}`));
    }
    await other.close();
  }
});

test("sparse lists and lists with members of their own are what they were", () =>
  expectVersions(
    // biome-ignore lint/suspicious/noSparseArray: it is what is tested
    [...messages(10), , "after a hole"],
    (list) => {
      list.extra = "no element";
      list.push(1);
    },
    (list) => {
      list.toJSON = () => ["as it likes"];
    },
  ));

test("a caller may change the list while it is being put", async () => {
  const list = messages(20);
  const expected = await expectedOf(list);
  let config = threadConfig("t");
  const putting = putCheckpoint(saver, config, { list });
  list[4].content = "changed too late";
  list.push(new HumanMessage("late, too"));
  config = await putting;
  expect((await saver.getTuple(config)).checkpoint.channel_values.list).toEqual(expected);
  const changed = await expectedOf(list);
  config = await putCheckpoint(saver, config, { list }, { step: 1 });
  expect((await saver.getTuple(config)).checkpoint.channel_values.list).toEqual(changed);
});

test("a fork from an older version, and another saver's version, are no wrong bases", async () => {
  const list = messages(20);
  const first = await putCheckpoint(saver, threadConfig("t"), { list });
  await putCheckpoint(saver, first, { list: [...list, new AIMessage("a")] }, { step: 1 });
  const forked = [...list, new AIMessage("b"), new AIMessage("c")];
  const fork = await putCheckpoint(saver, first, { list: forked }, { step: 1 });
  expect((await saver.getTuple(fork)).checkpoint.channel_values.list).toEqual(
    await expectedOf(forked),
  );
});

test("random edits, in place and not, come back as the serialiser would store them", async () => {
  let state = 7;
  const below = (bound) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * bound);
  };
  const fresh = () =>
    [
      () => new HumanMessage({ content: texts[below(40)], id: `${below(1e9)}` }),
      () => new AIMessage({ content: "", tool_calls: [{ id: "c", name: "n", args: { n: [1] } }] }),
      () => ({ role: "user", content: texts[below(40)], meta: { tags: [texts[below(40)]] } }),
      () => texts[below(40)],
    ][below(4)]();
  const edit = (list) =>
    [
      () => [...list, fresh(), fresh()],
      () => [...list, fresh()],
      () => list.toSpliced(below(list.length), below(3)),
      () => list.toSpliced(below(list.length), 1, fresh()),
      () => list.toSpliced(below(list.length), 0, fresh()),
      () => {
        const element = list[below(list.length)];
        if (typeof element === "object") element.content = texts[below(40)];
        return list;
      },
      () => {
        const element = list[below(list.length)];
        if (element?.tool_calls?.length > 0) element.tool_calls[0].args.n.push(below(9));
        if (element?.meta) element.meta.tags[0] = texts[below(40)];
        return list;
      },
    ][below(7)]();
  let list = messages(20);
  let config = threadConfig("t");
  for (let step = 0; step < 150; step += 1) {
    list = edit(list);
    const [, expected] = await serde.dumpsTyped(list);
    config = await putCheckpoint(saver, config, { list }, { step });
    const { checkpoint } = await saver.getTuple(config);
    const [, found] = await serde.dumpsTyped(checkpoint.channel_values.list);
    const wanted = await serde.dumpsTyped(await serde.loadsTyped("json", expected));
    expect(new TextDecoder().decode(found)).toBe(new TextDecoder().decode(wanted[1]));
  }
});

test("what is the same is not serialised again", async () => {
  const list = Array.from({ length: 500 }, (_, i) => new HumanMessage(`${i} ${texts[i % 40]}`));
  let config;
  const first = await encodedBy(async () => {
    config = await putCheckpoint(saver, threadConfig("t"), { list });
  });
  const second = await encodedBy(async () => {
    config = await putCheckpoint(saver, config, { list: [...list, list[0]] }, { step: 1 });
  });
  expect(second).toBeLessThan(first / 50);
  // After a resume the messages are others, with the same members.
  const { checkpoint } = await saver.getTuple(config);
  const resumed = [...checkpoint.channel_values.list, new AIMessage("more")];
  const third = await encodedBy(() => putCheckpoint(saver, config, { list: resumed }, { step: 2 }));
  expect(third).toBeLessThan(first / 50);
});

test("a tree whose nodes know their parent is looked at once", async () => {
  const treeOf = (children, depth) => {
    const node = { children: [] };
    for (let i = 0; depth > 0 && i < children; i++) {
      node.children.push({ ...treeOf(children, depth - 1), parent: node });
    }
    return node;
  };
  let reads = 0;
  const artifact = treeOf(6, 2);
  Object.defineProperty(artifact, "seen", {
    enumerable: true,
    get() {
      reads++;
      return 1;
    },
  });
  const tool = new ToolMessage({ content: "a", tool_call_id: "c", artifact });
  await expectVersions([...messages(12), tool], (list) => [...list, new HumanMessage("b")]);
  // Each of its 43 nodes leads back to it.
  expect(reads).toBeLessThan(43 * 12);
});

test("names are told apart whatever is in them", () =>
  expectVersions(
    [...messages(12), new HumanMessage({ content: "a", "b\0c": 1, d: 2 }), { "a\0b": 1, c: 2 }],
    (list) => list.with(-1, { a: 1, "b\0c": 2 }),
    (list) => list.with(-2, new HumanMessage({ content: "a", b: 1, "c\0d": 2 })),
  ));

test("a message with an id of its own class says nothing of others", async () => {
  const odd = new HumanMessage({ content: "odd", id: "1" });
  Object.defineProperty(odd, "lc_id", { value: ["langchain_core", "messages", "AIMessage"] });
  const like = (list) => [...list, new HumanMessage({ content: "plain", id: "2" })];
  const list = [...messages(12), odd];
  await expectVersions(list, like, () => {
    Object.defineProperty(list[3], "lc_id", { value: odd.lc_id });
  });
});

test("a class is told though a member has its name, or there is none", () =>
  expectVersions(
    [...messages(12), { constructor: 5, message: "m" }, Object.assign(Object.create(null), [1])],
    (list) => {
      Object.setPrototypeOf(list[12], Error.prototype);
    },
    (list) => list.with(-1, Object.setPrototypeOf([1], null)),
  ));

test("a list of numbers is not taken apart", async () => {
  const numbers = Array.from({ length: 1000 }, (_, i) => i);
  let config = threadConfig("t");
  // Each number would be encoded by itself, and kept.
  const bytes = await encodedBy(async () => {
    config = await putCheckpoint(saver, config, { numbers });
  });
  expect(bytes).toBeLessThan(1000);
  numbers[500] = -1;
  config = await putCheckpoint(saver, config, { numbers: [...numbers, 1] }, { step: 1 });
  const { checkpoint } = await saver.getTuple(config);
  expect(checkpoint.channel_values.numbers).toEqual([...numbers, 1]);
});

/** How many bytes of text are made while it works. */
async function encodedBy(work) {
  const { encode } = TextEncoder.prototype;
  let bytes = 0;
  TextEncoder.prototype.encode = function (text) {
    const encoded = encode.call(this, text);
    bytes += encoded.length;
    return encoded;
  };
  try {
    await work();
  } finally {
    TextEncoder.prototype.encode = encode;
  }
  return bytes;
}
