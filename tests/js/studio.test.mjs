// `npx keepsake studio`, as LangGraph Studio and Agent Chat UI use it: over HTTP.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { openMemory } from "keepsake";
import { projectRoot } from "./support/installed-package.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

const EARLIER = "11111111-2222-4333-8444-555555555555";
const GRAPH = `
  import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
  export const graph = new StateGraph(MessagesAnnotation)
    .addNode("agent", async ({ messages }, config) => {
      await config.store.put(["said"], String(messages.length), { text: messages.at(-1).content });
      return { messages: [{ role: "assistant", content: "heard " + messages.length }] };
    })
    .addEdge(START, "agent");
`;

const program = join(projectRoot, "dist/cli.js");
const env = { ...process.env, NODE_OPTIONS: "" };

let folder;
let file;
let server;
let address;
let told;

beforeAll(async () => {
  // Where the packages are found.
  folder = mkdtempSync(join(projectRoot, "build", "studio-"));
  writeFileSync(join(folder, "agent.mjs"), GRAPH);
  file = temporaryFile("studio.db");
  const memory = await openMemory({ path: file });
  const { graph } = await import(join(folder, "agent.mjs"));
  const earlier = graph.compile({ checkpointer: memory.checkpointer, store: memory.store });
  for (const thread_id of [EARLIER, "no-uuid"]) {
    const said = { messages: [{ role: "user", content: "from before" }] };
    await earlier.invoke(said, { configurable: { thread_id } });
  }
  await memory.close();
  ({ server, address, told } = await serve(file, join(folder, "agent.mjs"), "--port", "0"));
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  if (server.exitCode === null) {
    server.kill();
    await once(server, "exit");
  }
  removeTemporaryFolders();
});

async function serve(...words) {
  const child = spawn(process.execPath, [program, "studio", ...words], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  child.stderr.setEncoding("utf8");
  for await (const chunk of child.stderr.iterator({ destroyOnReturn: false })) {
    text += chunk;
    const found = /at (http:\S+)/.exec(text);
    if (found && /UUIDs/.test(text)) return { server: child, address: found[1], told: text };
  }
  throw new Error(`it ended: ${text}`);
}

// As a page of another origin, or under another name, asks.
function ask(path, headers, method = "GET") {
  return new Promise((resolve, reject) => {
    const asked = request(`${address}${path}`, { method, headers }, async (response) => {
      const body = Buffer.concat(await response.toArray()).toString();
      resolve({ status: response.statusCode, headers: response.headers, body });
    });
    asked.on("error", reject).end();
  });
}

const client = () => new Client({ apiUrl: address });
const said = (content) => ({ messages: [{ role: "user", content }] });

test("it says where to look, and which threads can't be shown", () => {
  expect(told).toContain(`smith.langchain.com/studio/?baseUrl=${address}`);
  expect(told).toContain(`apiUrl=${address}&assistantId=graph`);
  expect(told).toContain("1 thread can't be shown");
  expect(told).toContain("no-uuid");
});

test("a body that is too large is refused before it is kept", async () => {
  const send = (headers, pieces) =>
    new Promise((resolve, reject) => {
      const options = { method: "POST", headers };
      const asked = request(`${address}/threads`, options, async (response) => {
        resolve([response.statusCode, (await response.toArray()).join("")]);
      });
      asked.on("error", reject);
      for (const piece of pieces) asked.write(piece);
      if (pieces.length === 0) asked.flushHeaders();
    });
  const refused = [413, expect.stringContaining("must not be larger than 16777216 bytes")];
  expect(await send({ "content-length": 300_000_000 }, [])).toEqual(refused);
  expect(await send({}, Array(17).fill(Buffer.alloc(1 << 20, 32)))).toEqual(refused);
  expect(await send({ "content-length": 2 }, ["{}"])).toEqual([200, expect.any(String)]);
});

test("a run streams, and its state and history are in the file", async () => {
  const { threads, runs } = client();
  const { thread_id } = await threads.create({ metadata: { graph_id: "graph" } });
  const answers = [];
  for await (const { event, data } of runs.stream(thread_id, "graph", {
    input: said("hello"),
    streamMode: "values",
  })) {
    if (event === "values") answers.push(data.messages.at(-1).content);
  }
  expect(answers.at(-1)).toBe("heard 1");
  const { values, next } = await threads.getState(thread_id);
  expect(values.messages.map(({ content }) => content)).toEqual(["hello", "heard 1"]);
  expect(next).toEqual([]);
  const history = await threads.getHistory(thread_id);
  expect(history.map(({ metadata }) => metadata.step)).toEqual([1, 0, -1]);
  const { checkpoint_id } = history[1].checkpoint;
  const earlier = await threads.getState(thread_id, checkpoint_id);
  expect(earlier.values.messages).toHaveLength(1);
});

test("threads that the program made are listed with their values, and go on", async () => {
  const { threads, runs } = client();
  const [found] = await threads.search({ sortBy: "updated_at", sortOrder: "asc" });
  expect(found).toMatchObject({ thread_id: EARLIER, metadata: { graph_id: "graph" } });
  expect(found.values.messages[0].content).toBe("from before");
  for await (const _ of runs.stream(EARLIER, "graph", { input: said("and now") })) {
    // To its end.
  }
  const { values } = await threads.getState(EARLIER);
  expect(values.messages.at(-1).content).toBe("heard 3");
});

test("a thread has the title that a run was given", async () => {
  const { threads, runs } = client();
  const { thread_id } = await threads.create({ metadata: { graph_id: "graph" } });
  const run = { input: said("hello"), metadata: { title: "A greeting" } };
  for await (const _ of runs.stream(thread_id, "graph", run)) {
    // To its end.
  }
  const [found] = await threads.search({ metadata: { title: "A greeting" } });
  expect(found).toMatchObject({ thread_id, metadata: { title: "A greeting", graph_id: "graph" } });
  expect(found.metadata).not.toHaveProperty("step");
  await threads.delete(thread_id);
});

test("metadata is kept, searched for and patched; a thread is deleted", async () => {
  const { threads } = client();
  const { thread_id } = await threads.create({ metadata: { topic: "tea", graph_id: "graph" } });
  await threads.update(thread_id, { metadata: { mood: "calm" } });
  const [found, ...others] = await threads.search({ metadata: { topic: "tea" } });
  expect(others).toEqual([]);
  expect(found.metadata).toMatchObject({ topic: "tea", mood: "calm" });
  await threads.delete(thread_id);
  await expect(threads.search({ metadata: { topic: "tea" } })).resolves.toEqual([]);
});

test("the graph is the one assistant, and can be drawn", async () => {
  const { assistants } = client();
  const [assistant] = await assistants.search();
  expect(assistant).toMatchObject({ assistant_id: "graph", graph_id: "graph" });
  const { nodes } = await assistants.getGraph("graph");
  expect(nodes.map(({ id }) => id)).toEqual(["__start__", "agent", "__end__"]);
});

test("pages of others are refused, and so are other names for this machine", async () => {
  const studio = "https://smith.langchain.com";
  const allowed = await ask("/info", { origin: studio, "access-control-request-headers": "a" });
  expect(allowed.headers["access-control-allow-origin"]).toBe(studio);
  const before = await ask("/threads/search", { origin: studio }, "OPTIONS");
  expect(before.status).toBe(204);
  for (const headers of [{ origin: "https://evil.example" }, { host: "evil.example" }]) {
    const refused = await ask("/info", headers);
    expect(refused.status).toBe(403);
    expect(refused.headers).not.toHaveProperty("access-control-allow-origin");
  }
});

test("what it can't serve is refused in words", () => {
  const graph = join(folder, "agent.mjs");
  const refused = (...words) => {
    const all = [program, "studio", temporaryFile("x.db"), ...words];
    const { status, stderr } = spawnSync(process.execPath, all, { encoding: "utf8", env });
    return { status, stderr };
  };
  const saying = (text) => expect.stringMatching(text);
  expect(refused("nowhere.mjs")).toEqual({
    status: 1,
    stderr: saying(/not_found: there is no file nowhere.mjs/),
  });
  expect(refused(`${graph}:other`)).toEqual({
    status: 2,
    stderr: saying(/exports no other, but graph: say/),
  });
  const empty = join(folder, "empty.mjs");
  writeFileSync(empty, "const graph = {};");
  expect(refused(empty)).toEqual({
    status: 2,
    stderr: saying(/empty.mjs exports nothing: write `export const graph = …` in it/),
  });
  expect(refused(graph, "--origin", "chat.example.com")).toEqual({
    status: 2,
    stderr: saying(/takes one such as https:/),
  });
});

test("what was written is in the file when it ends", async () => {
  server.kill("SIGINT");
  await once(server, "exit");
  const memory = await openMemory({ path: file });
  const items = await memory.store.search(["said"]);
  expect(items.map(({ value }) => value.text)).toContain("hello");
  await memory.close();
});
