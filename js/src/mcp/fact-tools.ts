// remember, recall and forget: those of keepsake/langchain, for clients of MCP.

import { z } from "zod";
import type { ItemStore } from "../langchain/place.js";
import { forgetTool, recallTool, rememberTool } from "../langchain/tools.js";
import { textOf } from "../prompt/item-text.js";
import type { SecretHandling } from "../store/secrets.js";
import type { Item } from "../store/store-operations.js";
import { entityOf, relationOf } from "./graph.js";

/** @internal */
export interface FactTool {
  name: string;
  description: string;
  inputSchema: z.ZodRawShape;
  isReader: boolean;
  run(store: ItemStore, input: Record<string, unknown>): Promise<string>;
}

const MOST_RECALLED = 10;

/** Facts below a scope's place. What is recalled may also be of the graph. @internal */
export function factTools(secrets: SecretHandling): FactTool[] {
  const at = (store: ItemStore) => ({ store, namespace: ["facts"] });
  const recallAt = (store: ItemStore) =>
    recallTool({ store, namespace: [], topK: MOST_RECALLED, formatTemplate: lineOfAny });
  const text = (says: string) => z.string().describe(says);
  return [
    tool(
      (store) => rememberTool({ ...at(store), secrets }),
      {
        text: text("The fact, as a short statement."),
        replaces: text("The key of a stored fact that is no longer true.").optional(),
      },
      false,
    ),
    tool(
      recallAt,
      {
        query: text("What to look for."),
        limit: z.number().int().min(1).max(MOST_RECALLED).optional().describe("Facts at most."),
      },
      true,
    ),
    tool(
      (store) => forgetTool(at(store)),
      { key: text("The key of the fact, as recalled.") },
      false,
    ),
  ];
}

// biome-ignore lint/suspicious/noExplicitAny: each has an input of its own.
type AnyTool = { name: string; description: string; invoke(input: any): Promise<unknown> };

const NO_STORE = { search: () => [] } as unknown as ItemStore;

function tool(
  make: (store: ItemStore) => AnyTool,
  inputSchema: z.ZodRawShape,
  isReader: boolean,
): FactTool {
  const { name, description } = make(NO_STORE);
  return {
    name,
    description,
    inputSchema,
    isReader,
    run: async (store, input) => String(await make(store).invoke(input)),
  };
}

function lineOfAny(item: Item): string {
  const entity = entityOf(item.value);
  if (entity !== undefined) {
    return `- entity ${entity.name} (${entity.entityType}): ${entity.observations.join("; ")}`;
  }
  const relation = relationOf(item.value);
  if (relation === undefined) return `- ${item.key}: ${textOf(item.value)}`;
  return `- relation: ${relation.from} ${relation.relationType} ${relation.to}`;
}
