// What crosses between JavaScript and WebAssembly: crossings and bytes per operation.
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";

import { inFolder, introduce, table } from "./lib.mjs";

// The package keeps its open engines here, so that its ESM and CommonJS copies share
// them. Installed before the package is loaded, ours sees every engine made.
const ENGINES = Symbol.for("keepsake.engines");

class MeasuredEngines extends Map {
  crossings = 0;
  requestBytes = 0;
  responseBytes = 0;

  set(path, engine) {
    this.#measure(engine.source);
    return super.set(path, engine);
  }

  #measure(source) {
    const open = source.open.bind(source);
    source.open = async () => {
      const session = await open();
      const execute = session.execute.bind(session);
      session.execute = (request) => {
        const response = execute(request);
        this.crossings++;
        this.requestBytes += request.length;
        this.responseBytes += response.length;
        return response;
      };
      return session;
    };
  }
}

const engines = new MeasuredEngines();
globalThis[ENGINES] = engines;
const { SqliteSaver, SqliteStore } = await import("keepsake");

const TIMES = 100;
const DIMENSIONS = 384;

introduce(
  "The boundary",
  `Per operation, over ${TIMES} of each: calls into WebAssembly, and the bytes of the frames.`,
);
const rows = await inFolder(async (folder) => [
  ...(await measureStore(join(folder, "store.sqlite"))),
  ...(await measureVectors(join(folder, "vectors.sqlite"))),
  ...(await measureSaver(join(folder, "saver.sqlite"))),
]);
console.log(
  `${table(["", "crossings", "request bytes", "response bytes", "content bytes"], rows)}\n`,
);
console.log(
  "Content: the JSON of the values, or the serialised checkpoint, that the operation carries.\n",
);

async function measureStore(path) {
  const store = new SqliteStore({ path });
  const valueBytes = byteLength(noteOf(0));
  const key = (i) => `key-${i}`;
  const rows = [
    await row("put", (i) => store.put(["users", "notes"], key(i), noteOf(i)), valueBytes),
    await row("get", (i) => store.get(["users", "notes"], key(i)), valueBytes),
    await row("search, 10 items", () => store.search(["users"], { limit: 10 }), 10 * valueBytes),
    await row("100 puts in one batch", (i) => store.batch(hundredPuts(i)), 100 * valueBytes),
    await row("listNamespaces", () => store.listNamespaces(), byteLength(["users", "notes"])),
  ];
  await store.close();
  return rows;
}

function hundredPuts(i) {
  return Array.from({ length: 100 }, (_, j) => ({
    namespace: ["users", "notes"],
    key: `key-${i}-${j}`,
    value: noteOf(j),
  }));
}

async function measureVectors(path) {
  const vector = Array.from({ length: DIMENSIONS }, (_, i) => Math.sin(i));
  const embeddings = {
    embedDocuments: async (texts) => texts.map(() => vector),
    embedQuery: async () => vector,
  };
  const store = new SqliteStore({
    path,
    index: { dims: DIMENSIONS, embeddings, fields: ["text"] },
  });
  const vectorBytes = 4 * DIMENSIONS;
  const content = byteLength(noteOf(0));
  const rows = [
    await row(
      `put with a vector of ${DIMENSIONS}`,
      (i) => store.put(["users"], `key-${i}`, noteOf(i)),
      content + vectorBytes,
    ),
    await row(
      "vector search, 10 items",
      () => store.search(["users"], { query: "where is the ferry?", limit: 10 }),
      vectorBytes + 10 * content,
    ),
  ];
  await store.close();
  return rows;
}

async function measureSaver(path) {
  const saver = SqliteSaver.fromConnString(path);
  const thread = { thread_id: "thread", checkpoint_ns: "" };
  const checkpoints = Array.from({ length: TIMES }, (_, step) => checkpointOf(step));
  const [, serialised] = await saver.serde.dumpsTyped(checkpoints[0]);
  const config = (i) => ({ configurable: { ...thread, checkpoint_id: checkpoints[i].id } });
  const metadata = (step) => ({ source: "loop", step, parents: {} });
  const writes = [
    ["messages", "written"],
    ["branch:to:agent", null],
  ];
  const rows = [
    await row(
      "put of a checkpoint of 19 KB",
      (i) => saver.put({ configurable: thread }, checkpoints[i], metadata(i), { messages: i + 1 }),
      serialised.length,
    ),
    await row("putWrites (2)", (i) => saver.putWrites(config(i), writes, `task-${i}`), 13),
    await row(
      "getTuple, latest",
      () => saver.getTuple({ configurable: thread }),
      serialised.length,
    ),
    await row(
      "list, limit 10",
      async () => {
        for await (const _ of saver.list({ configurable: thread }, { limit: 10 }));
      },
      10 * serialised.length,
    ),
  ];
  await saver.close();
  return rows;
}

function checkpointOf(step) {
  const content =
    "Remember that the harbour opens at seven and the ferry leaves from pier nine. ".repeat(3);
  const messages = Array.from(
    { length: 47 },
    (_, i) => new HumanMessage({ id: `${step}-${i}`, content }),
  );
  return {
    ...emptyCheckpoint(),
    id: uuid6(step),
    channel_values: { messages },
    channel_versions: { messages: step + 1 },
  };
}

async function row(name, operation, contentBytes) {
  await operation(0); // the first call of a façade also opens and configures
  const { crossings, requestBytes, responseBytes } = engines;
  for (let i = 0; i < TIMES; i++) await operation(i);
  const each = (after, before) => Math.round((after - before) / TIMES);
  return [
    name,
    each(engines.crossings, crossings),
    each(engines.requestBytes, requestBytes),
    each(engines.responseBytes, responseBytes),
    contentBytes,
  ];
}

function noteOf(i) {
  return { text: `Note ${i}: the ferry leaves from pier nine.`, kind: "note", weight: i % 100 };
}

function byteLength(json) {
  return new TextEncoder().encode(JSON.stringify(json)).length;
}
