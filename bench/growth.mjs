// What a chat costs as it grows: bytes on disk and in all, and the time of a put at its
// end, turn by turn, for plain message lists and for delta channels.
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import {
  emptyCheckpoint,
  MemorySaver as OfficialMemorySaver,
  uuid6,
} from "@langchain/langgraph-checkpoint";
import { SqliteSaver as OfficialSqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import Database from "better-sqlite3";
import { SqliteSaver } from "keepsake";

import {
  inFolder,
  introduce,
  kilobytes,
  now,
  otherBuild,
  quick,
  seededRandom,
  table,
  textsFile,
} from "./lib.mjs";

const LENGTHS = quick ? [50, 200] : [50, 200, 1000, 5000];
// The official savers write the whole state each time: 1,000 turns are some 2.5 GB, 5,000
// some 60. Of more than these only the last are put, which tells the times.
const LONGEST_OF_OFFICIAL = 200;
const MEASURED = 20; // turns, at the end
const READINGS = 7;
const WARMING = 200; // turns, before anything is measured
const COMPRESSED_TURNS = quick ? 200 : 1000;
const COMPRESSED_PIECES = [4032, 16 * 1024, 64 * 1024];
const COMPRESSIONS = {
  "deflate, level 1": {
    compress: (bytes) => deflateRawSync(bytes, { level: 1 }),
    expand: (bytes) => inflateRawSync(bytes),
  },
  "deflate, level 6": {
    compress: (bytes) => deflateRawSync(bytes, { level: 6 }),
    expand: (bytes) => inflateRawSync(bytes),
  },
};
const THREAD = { thread_id: "thread", checkpoint_ns: "" };

const other = await otherBuild();
const candidates = [
  {
    name: "SqliteSaver",
    longest: Number.POSITIVE_INFINITY,
    open: (folder) => {
      const saver = SqliteSaver.fromConnString(join(folder, "own.sqlite"));
      return { saver, close: () => saver.close() };
    },
  },
  {
    name: "official SqliteSaver",
    longest: LONGEST_OF_OFFICIAL,
    open: (folder) => {
      const saver = OfficialSqliteSaver.fromConnString(join(folder, "official.sqlite"));
      return { saver, close: () => saver.db.close() };
    },
  },
  {
    name: "official MemorySaver",
    longest: LONGEST_OF_OFFICIAL,
    open: () => ({ saver: new OfficialMemorySaver(), close() {} }),
  },
  ...(other === undefined ? [] : [ofOther()]),
];

function ofOther() {
  return {
    name: "other",
    longest: Number.POSITIVE_INFINITY,
    open: (folder) => {
      const saver = other.SqliteSaver.fromConnString(join(folder, "other.sqlite"));
      return { saver, close: () => saver.close() };
    },
  };
}

const lines = await conversationLines();

async function compareGrowth(isDelta) {
  const rows = [];
  for (const turns of LENGTHS) {
    for (const { name, longest, open } of candidates) {
      const isWhole = turns <= longest;
      const result = await inFolder((folder) =>
        grow(open(folder), folder, { turns, isDelta, isWhole }),
      );
      const hasBytes = isWhole && result.bytes > 0;
      rows.push([
        String(turns),
        name,
        hasBytes ? kilobytes(result.bytes) : "–",
        hasBytes ? `${Math.round(result.bytesOfTurn)}` : "–",
        milliseconds(result.put),
        milliseconds(result.get),
      ]);
    }
  }
  const header = [
    "turns",
    "",
    "on disk",
    "bytes of a turn, at the end",
    "a turn's puts and writes",
    "getTuple, latest",
  ];
  console.log(`### ${isDelta ? "Delta channel" : "Plain message list"}\n`);
  console.log(`${table(header, rows)}\n`);
}

// What a process does first, it does slowly, whoever comes first.
async function warmUp(open, isDelta) {
  await inFolder((folder) =>
    grow(open(folder), folder, { turns: WARMING, isDelta, isWhole: false }),
  );
}

// Without `isWhole` only the last turns are put.
async function grow({ saver, close }, folder, { turns, isDelta, isWhole }) {
  const chat = new Chat(saver, isDelta);
  const times = [];
  let before = 0;
  for (let turn = 0; turn < turns; turn++) {
    const isMeasured = turn >= turns - MEASURED;
    if (turn === turns - MEASURED) before = await bytesIn(saver, folder);
    const step = chat.prepare(turn);
    if (!isWhole && !isMeasured) continue;
    const start = now();
    await chat.put(step);
    if (!isMeasured) continue;
    times.push(now() - start);
  }
  const bytes = await bytesIn(saver, folder);
  const gets = [];
  for (let i = 0; i < READINGS; i++) {
    const start = now();
    await saver.getTuple({ configurable: THREAD });
    gets.push(now() - start);
  }
  await close();
  return {
    bytes: await folderBytes(folder),
    bytesOfTurn: (bytes - before) / MEASURED,
    put: median(times),
    get: median(gets),
  };
}

// What the content of a chat would take, were it compressed in pieces of some size.
async function compareCompression() {
  const rows = await inFolder(async (folder) => {
    const opened = candidates[0].open(folder);
    const chat = new Chat(opened.saver, false);
    for (let turn = 0; turn < COMPRESSED_TURNS; turn++) await chat.put(chat.prepare(turn));
    await opened.close();
    const content = contentOf(join(folder, "own.sqlite"));
    return Object.entries(COMPRESSIONS).flatMap(([name, { compress, expand }]) =>
      COMPRESSED_PIECES.map((size) => {
        const pieces = Array.from({ length: Math.ceil(content.length / size) }, (_, i) =>
          content.subarray(i * size, (i + 1) * size),
        );
        const [compressed, packing] = timed(() => pieces.map(compress));
        const [, unpacking] = timed(() => compressed.map(expand));
        const bytes = compressed.reduce((sum, { length }) => sum + length, 0);
        const speed = (ms) => `${Math.round(content.length / 1000 / ms)} MB/s`;
        const part = `${Math.round((100 * bytes) / content.length)}%`;
        return [name, kilobytes(size), part, speed(packing), speed(unpacking)];
      }),
    );
  });
  console.log(`### Content of ${COMPRESSED_TURNS} turns, compressed (by Node's zlib)\n`);
  console.log(`${table(["", "in pieces of", "is", "compressing", "expanding"], rows)}\n`);
}

function contentOf(path) {
  const database = new Database(path, { readonly: true });
  const rows = database.prepare("SELECT bytes FROM content ORDER BY chunk").all();
  database.close();
  return Buffer.concat(rows.map(({ bytes }) => bytes));
}

function timed(body) {
  const start = now();
  return [body(), now() - start];
}

class Chat {
  #saver;
  #isDelta;
  #messages = [];
  #line = 0;
  #step = 0;
  #parent;

  constructor(saver, isDelta) {
    this.#saver = saver;
    this.#isDelta = isDelta;
  }

  // What a turn puts: for each superstep a checkpoint and the writes that lead on from it.
  prepare(turn) {
    const random = seededRandom(turn);
    const question = new HumanMessage({ id: `human-${turn}`, content: this.#nextLine() });
    const answers = [new AIMessage({ id: `ai-${turn}`, content: this.#nextLine() })];
    if (turn % 5 === 4) answers.unshift(...this.#toolCall(turn, random));
    return [
      this.#superstep("input", question, [question]),
      this.#superstep("loop", undefined, answers),
    ];
  }

  #superstep(source, input, added) {
    this.#messages = [...this.#messages, ...added];
    const version = ++this.#step;
    const isSnapshot = version % 100 === 1;
    const checkpoint = {
      ...emptyCheckpoint(),
      id: uuid6(version),
      ts: new Date(1_700_000_000_000 + version * 1000).toISOString(),
      channel_values: {
        ...(input && { __start__: { messages: [input] } }),
        ...((!this.#isDelta || isSnapshot) && { messages: this.#messages }),
      },
      channel_versions: { __start__: version, messages: version, "branch:to:agent": version },
      versions_seen: {
        __input__: {},
        __start__: { __start__: version - 1 },
        agent: { "branch:to:agent": version - 1 },
      },
    };
    const metadata = { source, step: version - 2, parents: {}, thread_id: THREAD.thread_id };
    const writes = [
      ["messages", added],
      ["branch:to:agent", null],
    ];
    return { checkpoint, metadata, writes };
  }

  async put(supersteps) {
    for (const { checkpoint, metadata, writes } of supersteps) {
      const configurable = { ...THREAD, ...(this.#parent && { checkpoint_id: this.#parent }) };
      await this.#saver.put({ configurable }, checkpoint, metadata, checkpoint.channel_versions);
      this.#parent = checkpoint.id;
      await this.#saver.putWrites(
        { configurable: { ...THREAD, checkpoint_id: checkpoint.id } },
        writes,
        `6f1ed002-ab55-5b16-a9a1-${checkpoint.id.slice(-12)}`,
      );
    }
  }

  #toolCall(turn, random) {
    const id = `call-${turn}`;
    const rows = Array.from({ length: 40 + Math.floor(random() * 80) }, () => this.#nextLine());
    return [
      new AIMessage({
        id: `tool-call-${turn}`,
        content: "",
        tool_calls: [{ id, name: "search", args: { query: this.#nextLine() } }],
      }),
      new ToolMessage({
        id: `tool-${turn}`,
        tool_call_id: id,
        content: rows.join("\n").slice(0, 12_000),
      }),
    ];
  }

  #nextLine() {
    return lines[this.#line++ % lines.length];
  }
}

async function conversationLines() {
  if (textsFile === undefined) return generatedLines();
  const found = [];
  collectTexts(JSON.parse(await readFile(textsFile, "utf8")), found);
  return found;
}

function collectTexts(value, found) {
  if (typeof value !== "object" || value === null) return;
  if (typeof value.text === "string") found.push(value.text);
  for (const member of Object.values(value)) collectTexts(member, found);
}

function generatedLines() {
  const random = seededRandom(1);
  const words =
    "harbour ferry seven opens leaves pier nine ticket morning rain market bridge".split(" ");
  return Array.from({ length: 5000 }, (_, i) => {
    const length = 8 + Math.floor(random() * 30);
    const text = Array.from({ length }, () => words[Math.floor(random() * words.length)]);
    return `${i}: ${text.join(" ")}.`;
  });
}

// The log counts, too: it becomes part of the file.
async function bytesIn(saver, folder) {
  if (typeof saver.stats === "function") return (await saver.stats()).bytes;
  return folderBytes(folder);
}

async function folderBytes(folder) {
  const names = await readdir(folder);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

function milliseconds(ms) {
  return `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;
}

introduce(
  "Growth of a chat",
  "A turn is what a graph with one agent and a tool puts: the input, the agent's step and " +
    "the pending writes of both; each fifth turn calls a tool with a result of 4 to 12 KB. " +
    `Texts are ${textsFile ? "of real conversations" : "generated; --texts=file.json names others"}. ` +
    `Times are medians of the last ${MEASURED} turns, of two supersteps each, in a process that is warm.`,
);
for (const isDelta of [false, true]) {
  for (const { open } of candidates) await warmUp(open, isDelta);
  await compareGrowth(isDelta);
}
await compareCompression();
