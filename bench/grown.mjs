// What must not grow with what is there: the last threads among many, the last checkpoints of a
// long thread, a put to it. `--other=` interleaves another build.
import { join } from "node:path";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import * as own from "keepsake";
import { inFolder, introduce, otherBuild, quick, seededRandom, table, takeTurns } from "./lib.mjs";

const THREADS = quick ? [100, 1000] : [1000, 10_000];
const LIST_AT = quick ? 300 : 3000;
const TURNS = quick ? [50, 500] : [50, 500, 5000];
const PUTS = 20; // of a round
const ROUNDS = quick ? 3 : 9;

const random = seededRandom(3);
const WORDS = "harbour ferry pier nine seven opens leaves letter garden winter engine".split(" ");
const wordsOf = (count) =>
  Array.from({ length: count }, () => WORDS[Math.floor(random() * WORDS.length)]).join(" ");

let previousId;
const other = await otherBuild();
const builds = [["ours", own], ...(other === undefined ? [] : [["other", other]])];

introduce("What grows", "Milliseconds, medians: CPU time and, in brackets, time on the clock.");
const rows = [
  ...(await threadRows()),
  ...(await inFolder((folder) => chatRows(folder, "plain", plainMessage))),
  ...(await inFolder((folder) => chatRows(folder, "LangChain's", langChainMessage))),
  ...(await vectorRows()),
];
console.log(table(["", ...builds.map(([name]) => name)], rows));

function rowsOf(times, count = 1) {
  return Object.entries(times).map(([title, of]) => [
    title,
    ...builds.map(([name]) => {
      const [cpu, clock] = of[name].map((ms) => (ms / count).toFixed(2));
      return `${cpu} (${clock})`;
    }),
  ]);
}

async function threadRows() {
  const all = [];
  for (const count of THREADS) {
    await inFolder(async (folder) => {
      const subjects = savers(folder);
      for (const { saver } of subjects) {
        for (let i = 0; i < count; i++) await put(saver, `thread-${i % 97}-${i}`, stepOf(i, [i]));
      }
      const title = `listThreads({ limit: 10 }) of ${count}`;
      const body = ({ saver }) => drain(saver.listThreads({ limit: 10 }));
      all.push(...rowsOf(await takeTurns(subjects, ROUNDS, { work: { [title]: body } })));
      for (const { saver } of subjects) await saver.close();
    });
  }
  return all;
}

// A chat that grows by a message each step.
async function chatRows(folder, kind, messageOf) {
  const subjects = savers(folder);
  const messages = [];
  const all = [];
  const grow = async (to) => {
    while (messages.length < to) await step(subjects, messages, messageOf);
  };
  for (const turns of [...TURNS, LIST_AT].sort((a, b) => a - b)) {
    await grow(turns);
    if (turns === LIST_AT) {
      const body = ({ saver }) =>
        drain(saver.list({ configurable: { thread_id: "chat" } }, { limit: 10 }));
      const work = { [`list({ limit: 10 }) at turn ${turns}, ${kind}`]: body };
      all.push(...rowsOf(await takeTurns(subjects, 3, { work })));
    }
    if (!TURNS.includes(turns)) continue;
    const times = await takeTurns(subjects, ROUNDS, {
      prepare: () =>
        Array.from({ length: PUTS }, () => {
          messages.push(messageOf(messages.length));
          return stepOf(messages.length, [...messages]);
        }),
      work: {
        [`put at turn ${turns}, ${kind}`]: async ({ saver }, steps) => {
          for (const one of steps) await put(saver, "chat", one);
        },
      },
    });
    all.push(...rowsOf(times, PUTS));
  }
  for (const { saver } of subjects) await saver.close();
  return all;
}

async function step(subjects, messages, messageOf) {
  messages.push(messageOf(messages.length));
  const next = stepOf(messages.length, [...messages]);
  for (const { saver } of subjects) await put(saver, "chat", next);
}

// Searches after a third of the vectors was deleted and a third overwritten.
async function vectorRows() {
  const count = quick ? 2000 : 10_000;
  const dims = 128;
  const vector = () => Array.from({ length: dims }, () => random() - 0.5);
  const embeddings = {
    embedDocuments: async (texts) => texts.map(vector),
    embedQuery: async () => vector(),
  };
  const subjects = builds.map(([name, { InMemoryStore }]) => ({
    name,
    store: new InMemoryStore({ index: { dims, embeddings, fields: ["text"] } }),
  }));
  const write = (store, from, to, value) =>
    store.batch(
      Array.from({ length: to - from }, (_, i) => ({
        namespace: ["notes"],
        key: `${from + i}`,
        value,
      })),
    );
  const third = Math.floor(count / 3);
  const search = async ({ store }) => {
    for (let i = 0; i < 50; i++) await store.search(["notes"], { query: "q", limit: 10 });
  };
  const measured = async (title) =>
    rowsOf(await takeTurns(subjects, ROUNDS, { work: { [title]: search } }), 50);
  for (const { store } of subjects) {
    await write(store, 0, count, { text: "a" });
    await store.buildIndex?.();
  }
  const rows = await measured(`search of ${count} vectors`);
  for (const { store } of subjects) {
    await write(store, 0, third, null);
    await write(store, third, 2 * third, { text: "b" });
  }
  rows.push(...(await measured("… a third deleted, a third overwritten")));
  await new Promise((resolve) => setTimeout(resolve, 5000));
  rows.push(...(await measured("… five seconds later")));
  for (const { store } of subjects) await store.close();
  return rows;
}

function savers(folder) {
  return builds.map(([name, { SqliteSaver }]) => ({
    name,
    saver: SqliteSaver.fromConnString(join(folder, name)),
  }));
}

function langChainMessage(i) {
  const fields = { id: `message-${i}`, content: wordsOf(42) };
  return i % 2 ? new AIMessage(fields) : new HumanMessage(fields);
}

function plainMessage(i) {
  return { role: i % 2 ? "assistant" : "user", id: `message-${i}`, content: wordsOf(42) };
}

function stepOf(step, messages) {
  const parentId = previousId;
  const versions = { messages: step + 1 };
  const checkpoint = {
    ...emptyCheckpoint(),
    id: uuid6(step),
    channel_values: { messages },
    channel_versions: versions,
    versions_seen: {},
  };
  previousId = checkpoint.id;
  return { parentId, checkpoint, metadata: { source: "loop", step, parents: {} }, versions };
}

function put(saver, thread_id, { parentId, checkpoint, metadata, versions }) {
  const configurable = { thread_id, checkpoint_ns: "", checkpoint_id: parentId };
  return saver.put({ configurable }, checkpoint, metadata, versions);
}

async function drain(iterable) {
  for await (const _ of iterable);
}
