// `npx keepsake studio`: a file and a graph behind the API that LangGraph Studio and Agent
// Chat UI speak.

import { existsSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { invalid, KeepsakeError, messageOf } from "../errors.js";
import type { Arguments } from "./arguments.js";
import type { Command } from "./command.js";
import { keyOfFile } from "./key.js";
import { plural } from "./output.js";
import { type Application, listen } from "./studio-server.js";
import { StudioThreads } from "./studio-threads.js";

const PACKAGES = "@langchain/langgraph-api@1 @langchain/langgraph-sdk@1";
const PORT = 2024;
const ORIGINS = ["https://smith.langchain.com", "https://agentchat.vercel.app"];

/** What we ask of a compiled graph. */
interface Graph {
  invoke(...args: unknown[]): unknown;
  getState(config: object): Promise<{ values: unknown }>;
  getGraphAsync(): Promise<{ toJSON(): unknown }>;
  store?: unknown;
  checkpointer?: unknown;
}

interface Routes extends Application {
  get(path: string, handle: (context: Context) => unknown): unknown;
  post(path: string, handle: (context: Context) => unknown): unknown;
}

interface Context {
  json(value: unknown): unknown;
}

/** @internal */
export const studio: Command = {
  words: ["FILE", "GRAPH"],
  says: "serves it with a graph to LangGraph Studio and Agent Chat UI; FILE may be new",
  needs: `npm install ${PACKAGES}`,
  examples: ["studio agent.db agent.mjs:graph"],
  options: {
    port: { type: "string", takes: "N", says: `where to listen on this machine (${PORT})` },
    origin: {
      type: "string",
      takes: "URL",
      multiple: true,
      says: "a page that may ask, beside Studio, Agent Chat UI and this machine's own",
    },
  },
  async serve(path, given) {
    const port = given.number("port") ?? PORT;
    const origins = originsOf(given);
    const { id, graph } = await loadGraph(given.words[1] ?? "");
    const createEmbedServer = await embedServer();
    const { openMemory } = await import("../memory.js");
    const memory = await openMemory({ path, key: keyOfFile() });
    const { checkpointer, store } = memory;
    Object.assign(graph, { checkpointer, store });
    const threads = new StudioThreads(memory, id, async (thread_id) => {
      const { values } = await graph.getState({ configurable: { thread_id } });
      return values;
    });
    const application = createEmbedServer({ graph: { [id]: graph }, threads, checkpointer, store });
    addAssistant(application, id, graph);
    const address = await listen(application, { port, origins });
    process.stderr.write(greeting(path, id, address));
    const unreachable = await threads.unreachable();
    if (unreachable.length > 0) process.stderr.write(about(unreachable));
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => {
        memory.close().finally(() => process.exit());
      });
    }
  },
};

type CreateEmbedServer = (options: object) => Routes;

// Only needed here, and may not be there.
async function embedServer(): Promise<CreateEmbedServer> {
  const name = "@langchain/langgraph-api/experimental/embed";
  try {
    return (await import(name)).createEmbedServer;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new KeepsakeError(
      "unsupported",
      `studio needs two more packages: npm install ${PACKAGES} (${messageOf(cause)})`,
      { cause },
    );
  }
}

// `agent.mjs`, or `agent.mjs:name` as in langgraph.json.
async function loadGraph(words: string): Promise<{ id: string; graph: Graph }> {
  const [, file = words, name] = /^(.+\.\w+):(\w+)$/.exec(words) ?? [];
  if (!existsSync(file)) throw new KeepsakeError("not_found", `there is no file ${file}`);
  const module = (await import(pathToFileURL(resolve(file)).href)) as Record<string, unknown>;
  const names = name === undefined ? ["graph", "agent", "default"] : [name];
  const found = names.find((each) => module[each] !== undefined);
  if (found === undefined) {
    const there = Object.keys(module);
    throw invalid(
      there.length === 0
        ? `${file} exports nothing: write \`export const graph = …\` in it`
        : `${file} exports no ${names.join(" or ")}, but ${there.join(", ")}: say ${file}:NAME`,
    );
  }
  const graph = compiled(module[found]);
  if (graph === undefined) throw invalid(`${found} of ${file} is no graph that can be invoked`);
  return { id: found === "default" ? basename(file, extname(file)) : found, graph };
}

function compiled(exported: unknown): Graph | undefined {
  const { graph = exported } = exported as { graph?: unknown };
  // What `createAgent()` answers has its graph in `graph`; one that is not compiled yet compiles.
  const { compile } = graph as { compile?: () => unknown };
  const made = typeof compile === "function" ? compile.call(graph) : graph;
  const { invoke, getState } = made as Partial<Graph>;
  return typeof invoke === "function" && typeof getState === "function"
    ? (made as Graph)
    : undefined;
}

// What the embedded server leaves out, and both clients ask first.
function addAssistant(application: Routes, id: string, graph: Graph): void {
  const made = new Date().toISOString();
  const assistant = {
    assistant_id: id,
    graph_id: id,
    name: id,
    config: {},
    context: {},
    metadata: { created_by: "system" },
    version: 1,
    created_at: made,
    updated_at: made,
  };
  const drawn = async (context: Context) => context.json((await graph.getGraphAsync()).toJSON());
  application.get("/ok", (context) => context.json({ ok: true }));
  application.get("/info", (context) =>
    context.json({ flags: { assistants: true, crons: false } }),
  );
  application.post("/assistants/search", (context) => context.json([assistant]));
  application.get("/assistants/:id", (context) => context.json(assistant));
  application.get("/assistants/:id/graph", drawn);
}

function originsOf(given: Arguments): string[] {
  const more = given.texts("origin") ?? [];
  for (const origin of more) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw invalid(`--origin takes one such as https://chat.example.com: ${origin}`);
    }
  }
  return [...ORIGINS, ...more];
}

const greeting = (path: string, id: string, address: string) =>
  [
    `keepsake: serves ${path} at ${address}`,
    `  Studio         https://smith.langchain.com/studio/?baseUrl=${address}`,
    `  Agent Chat UI  https://agentchat.vercel.app/?apiUrl=${address}&assistantId=${id}`,
    "Ctrl-C ends it.",
    "",
  ].join("\n");

const about = (ids: string[]) =>
  `${plural(ids.length, "thread")} can't be shown, because Studio wants UUIDs as ids: ${ids.slice(0, 3).join(", ")}\n`;
