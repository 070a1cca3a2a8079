// Our savers beside the official ones: one thread, as a graph uses it.
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import {
  emptyCheckpoint,
  MemorySaver as OfficialMemorySaver,
  uuid6,
} from "@langchain/langgraph-checkpoint";
import { SqliteSaver as OfficialSqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import Database from "better-sqlite3";
import { MemorySaver, SqliteSaver } from "keepsake";
import { memoryOver } from "keepsake/sqlite";

import {
  compare,
  comparisonTable,
  introduce,
  kilobytes,
  otherBuild,
  quick,
  seededRandom,
  table,
  timed,
} from "./lib.mjs";

const CHECKPOINTS = quick ? 200 : 1000;
const READS = quick ? 50 : 200;
const ROUNDS = quick ? 2 : 5;
const CHAT_TURNS = quick ? 50 : 200;
const THREAD = { thread_id: "thread", checkpoint_ns: "" };

const FILE_PEER = "official SqliteSaver, file";
const MEMORY_DATABASE_PEER = "official SqliteSaver, :memory:";
const MEMORY_PEER = "official MemorySaver";

const other = await otherBuild();
const candidates = [
  { name: FILE_PEER, open: (folder) => officialSqlite(join(folder, "official.sqlite")) },
  {
    name: "SqliteSaver, file",
    peer: FILE_PEER,
    open: (folder) => ownSqlite(join(folder, "own.sqlite")),
  },
  {
    name: "memoryOver better-sqlite3",
    peer: FILE_PEER,
    open: (folder) => overConnection(join(folder, "shared.sqlite")),
  },
  { name: MEMORY_DATABASE_PEER, open: () => officialSqlite(":memory:") },
  { name: "SqliteSaver, :memory:", peer: MEMORY_DATABASE_PEER, open: () => ownSqlite(":memory:") },
  { name: MEMORY_PEER, open: () => ({ subject: new OfficialMemorySaver(), close() {} }) },
  { name: "MemorySaver", peer: MEMORY_PEER, open: () => own(new MemorySaver()) },
  ...(other === undefined ? [] : ofOther()),
];

function ofOther() {
  return [
    {
      name: "other, file",
      peer: "SqliteSaver, file",
      open: (folder) => own(other.SqliteSaver.fromConnString(join(folder, "other.sqlite"))),
    },
    { name: "other, memory", peer: "MemorySaver", open: () => own(new other.MemorySaver()) },
  ];
}

function officialSqlite(path) {
  const saver = OfficialSqliteSaver.fromConnString(path);
  return { subject: saver, close: () => saver.db.close() };
}

function ownSqlite(path) {
  return own(SqliteSaver.fromConnString(path));
}

function overConnection(path) {
  const connection = new Database(path);
  connection.pragma("journal_mode = WAL");
  connection.pragma("synchronous = NORMAL"); // as SqliteSaver does
  const memory = memoryOver(connection);
  return {
    subject: memory.checkpointer,
    async close() {
      await memory.close();
      connection.close();
    },
  };
}

function own(saver) {
  return { subject: saver, close: () => saver.close() };
}

introduce(
  "Checkpointers",
  "In brackets: how many times as fast as the official class of the same kind " +
    "(SqliteSaver: native better-sqlite3, WAL). Higher is better.",
);
await compareStates(`${CHECKPOINTS} checkpoints, state of 19 KB`, 47);
await compareStates(`${CHECKPOINTS} checkpoints, state of 0.4 KB`, 1);
await compareGrowingChat();

async function compareStates(title, messages) {
  const history = makeHistory(CHECKPOINTS, (step) => stateOf(messages, step));
  const results = await compare(candidates, {
    rounds: ROUNDS,
    exercise: (saver) => exercise(saver, history),
  });
  const onDisk = candidates
    .map(({ name }) => [name, results.get(name).bytes])
    .filter(([, bytes]) => bytes);
  console.log(`### ${title}\n\n${comparisonTable(candidates, results)}\n`);
  console.log(
    `On disk: ${onDisk.map(([name, bytes]) => `${name} ${kilobytes(bytes)}`).join("; ")}.\n`,
  );
}

// The plain message list: each step stores two more messages.
async function compareGrowingChat() {
  const history = makeHistory(CHAT_TURNS, (step) => stateOf(2 * (step + 1), 0));
  const onFiles = candidates.slice(0, 2);
  const results = await compare(onFiles, {
    rounds: Math.min(3, ROUNDS),
    exercise: async (saver) => ({ "put of a turn": await putAll(saver, history) }),
  });
  const rows = onFiles.map(({ name }) => {
    const { timings, bytes } = results.get(name);
    return [name, `${Math.round(timings["put of a turn"].ms)} ms`, kilobytes(bytes)];
  });
  console.log(`### A chat of ${CHAT_TURNS} turns, ${2 * CHAT_TURNS} messages\n`);
  console.log(`${table(["", "all puts", "on disk"], rows)}\n`);
}

async function exercise(saver, history) {
  const random = seededRandom(1);
  const someId = () => history[Math.floor(random() * history.length)].checkpoint.id;
  return {
    put: await putAll(saver, history),
    "putWrites (2)": await timed(history.length, (i) =>
      saver.putWrites(configOf(history[i]), writesOf(i), `task-${i}`),
    ),
    "getTuple, latest": await timed(READS, () => saver.getTuple({ configurable: THREAD })),
    "getTuple, by id": await timed(READS, () =>
      saver.getTuple({ configurable: { ...THREAD, checkpoint_id: someId() } }),
    ),
    "list, all": await timed(1, () => drain(saver.list({ configurable: THREAD }))),
    "list, limit 10": await timed(READS / 5, () =>
      drain(saver.list({ configurable: THREAD }, { limit: 10 })),
    ),
    "list, filter by step": await timed(READS / 5, (i) =>
      drain(saver.list({ configurable: THREAD }, { filter: { step: i } })),
    ),
    deleteThread: await timed(1, () => saver.deleteThread(THREAD.thread_id)),
  };
}

function putAll(saver, history) {
  return timed(history.length, (i) => {
    const { checkpoint, metadata, newVersions } = history[i];
    const configurable =
      i === 0 ? THREAD : { ...THREAD, checkpoint_id: history[i - 1].checkpoint.id };
    return saver.put({ configurable }, checkpoint, metadata, newVersions);
  });
}

function makeHistory(steps, state) {
  return Array.from({ length: steps }, (_, step) => {
    const versions = { messages: step + 1, "branch:to:agent": step + 1 };
    const checkpoint = {
      ...emptyCheckpoint(),
      id: uuid6(step),
      channel_values: { messages: state(step) },
      channel_versions: { __start__: 1, ...versions },
      versions_seen: { agent: { "branch:to:agent": step } },
    };
    return { checkpoint, metadata: { source: "loop", step, parents: {} }, newVersions: versions };
  });
}

// About 400 bytes a message, once it is serialised.
function stateOf(messages, step) {
  const text =
    "Remember that the harbour opens at seven and the ferry leaves from pier nine. ".repeat(3);
  return Array.from(
    { length: messages },
    (_, i) => new HumanMessage({ id: `message-${step}-${i}`, content: `${step}.${i} ${text}` }),
  );
}

function writesOf(step) {
  return [
    [
      "messages",
      [new HumanMessage({ id: `write-${step}`, content: `Step ${step} has written this.` })],
    ],
    ["branch:to:agent", null],
  ];
}

function configOf({ checkpoint }) {
  return { configurable: { ...THREAD, checkpoint_id: checkpoint.id } };
}

async function drain(iterable) {
  for await (const _ of iterable);
}
