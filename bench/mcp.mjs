// What a client of MCP waits for: the official memory server and ours, in graphs of three sizes.
//
//   node bench/mcp.mjs
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { inFolder, introduce, table } from "./lib.mjs";

const SIZES = [100, 1000, 10_000];
const ROUNDS = 9;
const AT_ONCE = 500;
const root = fileURLToPath(new URL("..", import.meta.url));
const official = join(root, "node_modules/@modelcontextprotocol/server-memory/dist/index.js");

const SERVERS = {
  official: (folder) => ({
    args: [official],
    env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
  }),
  keepsake: (folder) => ({ args: [join(root, "dist/cli.js"), "mcp", join(folder, "memory.db")] }),
};
const entity = (i) => ({
  name: `e${i}`,
  entityType: "person",
  observations: [`likes green tea number ${i}`, `lives in town ${i % AT_ONCE}`],
});
const CALLS = {
  create_entities: (round) => ({ entities: [entity(`new ${round}`)] }),
  add_observations: (round) => ({
    observations: [{ entityName: "e7", contents: [`said in round ${round}`] }],
  }),
  search_nodes: () => ({ query: "number 77" }),
  open_nodes: () => ({ names: ["e5"] }),
  recall: () => ({ query: "green tea number 77" }),
  remember: (round) => ({ text: `fact number ${round} about apples` }),
};

async function connect({ args, env }) {
  const client = new Client({ name: "bench", version: "1" });
  const command = process.execPath;
  const environment = { ...process.env, ...env };
  await client.connect(
    new StdioClientTransport({ command, args, env: environment, stderr: "ignore" }),
  );
  return client;
}

async function call(client, name, input) {
  const { isError, content } = await client.callTool({ name, arguments: input });
  if (isError) throw new Error(`${name}: ${content[0].text}`);
}

async function timeOf(body) {
  const start = performance.now();
  await body();
  return performance.now() - start;
}

const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

// → {server: {call: milliseconds}}
async function measure(folder, size) {
  const clients = {};
  for (const [name, open] of Object.entries(SERVERS)) {
    clients[name] = await connect(open(folder));
    for (let i = 0; i < size; i += AT_ONCE) {
      const length = Math.min(AT_ONCE, size - i);
      const entities = Array.from({ length }, (_, j) => entity(i + j));
      await call(clients[name], "create_entities", { entities });
    }
  }
  const times = {};
  for (const [name, client] of Object.entries(clients)) {
    const { tools } = await client.listTools();
    times[name] = {};
    for (const [tool, inputOf] of Object.entries(CALLS)) {
      if (!tools.some((each) => each.name === tool)) continue;
      const rounds = [];
      for (let i = 0; i < ROUNDS; i++) {
        rounds.push(await timeOf(() => call(client, tool, inputOf(i))));
      }
      times[name][tool] = median(rounds);
    }
    await client.close();
  }
  return times;
}

introduce(
  "What a client of MCP waits for",
  "Milliseconds of a call, the median of nine: the official server / ours.",
);
const rows = [];
for (const size of SIZES) {
  const { official: theirs, keepsake } = await inFolder((folder) => measure(folder, size));
  const cells = Object.keys(CALLS).map(
    (tool) => `${theirs[tool]?.toFixed(1) ?? "–"} / ${keepsake[tool].toFixed(1)}`,
  );
  rows.push([`${size}`, ...cells]);
}
console.log(table(["entities", ...Object.keys(CALLS)], rows));
