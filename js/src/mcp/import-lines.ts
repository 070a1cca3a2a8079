// Import of the file of @modelcontextprotocol/server-memory: a JSON object in each line.

import type { ImportReport } from "../import/options.js";
import { entityOf, faultOf, type Graph, type KnowledgeGraph, relationOf } from "./graph.js";

const LONGEST_TEXT = 400;

/** A line that can't be read is skipped, and told of; the others are added, all or none. @internal */
export async function importLines(
  graph: KnowledgeGraph,
  text: string,
  replace: boolean,
): Promise<ImportReport> {
  const { skipped, ...lines } = read(text);
  const { added, kept } = await graph.add(lines, replace);
  return { items: added, checkpoints: 0, writes: 0, kept, skipped };
}

function read(text: string): Graph & Pick<ImportReport, "skipped"> {
  const graph: Graph = { entities: [], relations: [] };
  const skipped: ImportReport["skipped"] = [];
  const seen = new Set<string>();
  for (const [i, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const why = take(line, graph, seen);
    if (why !== undefined) skipped.push({ what: `line ${i + 1}`, why });
  }
  return { ...graph, skipped };
}

// Answers why it was not taken.
function take(line: string, graph: Graph, seen: Set<string>): string | undefined {
  let value: { type?: unknown };
  try {
    value = Object(JSON.parse(line));
  } catch {
    return "it is no JSON";
  }
  const entity = value.type === "entity" ? entityOf(value) : undefined;
  const relation = value.type === "relation" ? relationOf(value) : undefined;
  const one = entity ?? relation;
  if (one === undefined) return "it is no entity and no relation with all its fields";
  const fault = faultOf(one);
  if (fault !== undefined) return fault;
  const name = JSON.stringify(entity?.name ?? relation);
  if (seen.has(name)) return `an earlier line has ${name.slice(0, LONGEST_TEXT)}`;
  seen.add(name);
  if (entity !== undefined) graph.entities.push(entity);
  if (relation !== undefined) graph.relations.push(relation);
  return undefined;
}
