// A server of the Model Context Protocol over a keepsake file.

import { McpServer, type RegisteredTool } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import {
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { ItemStore } from "../langchain/place.js";
import { maskedNote, SecretGuard, type SecretHandling } from "../store/secrets.js";
import { factTools } from "./fact-tools.js";
import { KnowledgeGraph } from "./graph.js";
import { GRAPH_TOOLS, guardInput, within } from "./graph-tools.js";
import type { SharedFile } from "./shared-file.js";

// As the official server has it.
const GRAPH_URI = "memory://knowledge-graph";

/** Serves a client on stdin and stdout, until it closes them. @internal */
export async function serve(
  file: SharedFile,
  version: string,
  secrets: SecretHandling,
  readOnly: boolean,
): Promise<void> {
  const server = serverOf(file, version, secrets, readOnly);
  const ended = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve);
    process.stdin.once("close", resolve);
    process.stdout.once("error", () => resolve());
    server.server.onclose = resolve;
  });
  await server.connect(new StdioServerTransport());
  await ended;
}

function serverOf(
  file: SharedFile,
  version: string,
  secrets: SecretHandling,
  readOnly: boolean,
): McpServer {
  const guard = SecretGuard.of(secrets, "mask");
  const server = new McpServer({ name: "keepsake", version });
  const withGraph = <T>(body: (graph: KnowledgeGraph) => Promise<T>) =>
    file.use((store) => body(new KnowledgeGraph(store, [])));
  const tellOfChange = serveGraph(server, withGraph);
  // One that is disabled is not offered, and a call of it is refused.
  const offer = (tool: RegisteredTool, isReader: boolean | undefined) => {
    if (readOnly && !isReader) tool.disable();
  };
  for (const [name, graphTool] of Object.entries(GRAPH_TOOLS)) {
    const { run, writes: _, ...about } = graphTool;
    const tool = server.registerTool(name, about, async (input: unknown) => {
      const given = guardInput(graphTool, input as Record<string, unknown>, guard);
      const [structuredContent, answer, ...said] = await withGraph((graph) =>
        run(graph, given.value),
      );
      if (!about.annotations.readOnlyHint) tellOfChange();
      const notes = [maskedNote(given.masked).trim(), ...said].filter((note) => note !== "");
      return { ...toolResult(answer, ...notes), structuredContent };
    });
    offer(tool, about.annotations.readOnlyHint);
  }
  for (const { name, run, isReader, ...about } of factTools(secrets)) {
    const annotations = { readOnlyHint: isReader, openWorldHint: false };
    const tool = server.registerTool(name, { ...about, annotations }, async (input: unknown) =>
      toolResult(
        await file.use((store) =>
          run(store as unknown as ItemStore, input as Record<string, unknown>),
        ),
      ),
    );
    offer(tool, isReader);
  }
  return server;
}

// The graph as a resource. Answers how those who subscribed to it hear of a change.
function serveGraph(
  server: McpServer,
  withGraph: <T>(body: (graph: KnowledgeGraph) => Promise<T>) => Promise<T>,
): () => void {
  const mimeType = "application/json";
  const about = {
    title: "Knowledge Graph",
    description: "The full knowledge graph with all entities and relations",
    mimeType,
  };
  server.registerResource("knowledge-graph", GRAPH_URI, about, async (uri) => {
    const [graph, , ...notes] = await withGraph(async (each) =>
      within(await each.read(), Number.POSITIVE_INFINITY),
    );
    const content = (text: string, type: string) => ({ uri: uri.href, mimeType: type, text });
    return {
      contents: [
        content(JSON.stringify(graph, null, 2), mimeType),
        ...notes.map((note) => content(note, "text/plain")),
      ],
    };
  });
  const subscribed = new Set<string>();
  server.server.registerCapabilities({ resources: { subscribe: true } });
  server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  return () => {
    if (subscribed.has(GRAPH_URI)) void server.server.sendResourceUpdated({ uri: GRAPH_URI });
  };
}

function toolResult(answer: unknown, ...notes: string[]) {
  const text = typeof answer === "string" ? answer : JSON.stringify(answer, null, 2);
  return { content: [text, ...notes].map((each) => ({ type: "text" as const, text: each })) };
}
