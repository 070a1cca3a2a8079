// What LangGraph's configs say of a checkpoint: its ids, and where a list begins and ends.

import type { RunnableConfig } from "@langchain/core/runnables";
import type { CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import { checkText, msOfDate, readInput, show } from "../checks.js";
import { invalid, KeepsakeError } from "../errors.js";
import type { CheckpointKey } from "../wire/layout.js";

/** A checkpoint's id or config, or a moment. */
export type CheckpointBound = RunnableConfig | string | Date;

/** @internal */
export function configOf({ threadId, checkpointNs, checkpointId }: CheckpointKey): RunnableConfig {
  return {
    configurable: { thread_id: threadId, checkpoint_ns: checkpointNs, checkpoint_id: checkpointId },
  };
}

const MISSPELT = [
  ["thread_id", ["threadId", "threadID"]],
  ["checkpoint_ns", ["checkpointNs"]],
  ["checkpoint_id", ["checkpointId"]],
] as const;

/** What a config says of a checkpoint. @internal */
export interface Configurable {
  thread_id?: unknown;
  checkpoint_ns?: unknown;
  checkpoint_id?: unknown;
  // What it was called once.
  thread_ts?: unknown;
}

// What LangGraph and LangChain add for those who trace a run. A checkpoint that had its run's
// `run_id` would be taken for the one at which a run with the same id was cut off.
const OF_TRACERS = /^(?:__|ls_|lc_|langgraph_|checkpoint_|(?:thread|run)_id$)/;

/**
 * As savers of Python do: with the texts, numbers and flags of the run's own metadata, under what
 * the checkpoint has itself. Copies of `configurable`, which may hold secrets, are left out.
 * @internal
 */
export function withRunMetadata(
  metadata: CheckpointMetadata,
  { metadata: ofRun, configurable }: RunnableConfig,
): CheckpointMetadata {
  const added = Object.entries(ofRun ?? {}).filter(
    ([name, value]) =>
      ["string", "number", "boolean"].includes(typeof value) &&
      !OF_TRACERS.test(name) &&
      configurable?.[name] !== value,
  );
  return added.length === 0 ? metadata : { ...Object.fromEntries(added), ...metadata };
}

/** A copy of that, if it is where LangGraph has it. @internal */
export function configurableOf(config: RunnableConfig | undefined): Configurable {
  if (config === undefined || config === null) return {};
  return readInput("a config", () => copyOfConfigurable(config));
}

function copyOfConfigurable(config: RunnableConfig): Configurable {
  if (typeof config !== "object") {
    throw invalid(`a config must be { configurable: { thread_id } }: ${show(config)}`);
  }
  const configurable: Record<string, unknown> = config.configurable ?? {};
  for (const [name, others] of MISSPELT) {
    if (configurable[name] !== undefined) continue;
    if ((config as Record<string, unknown>)[name] !== undefined) {
      throw invalid(
        `${name} of a config is read within configurable: { configurable: { ${name} } }`,
      );
    }
    const other = others.find((each) => configurable[each] !== undefined);
    if (other === undefined) continue;
    throw invalid(`unknown name "${other}" in configurable: did you mean "${name}"?`);
  }
  const { thread_id, checkpoint_ns, checkpoint_id, thread_ts } = configurable;
  return { thread_id, checkpoint_ns, checkpoint_id, thread_ts };
}

/** Of the checkpoint, "" for the newest. @internal */
export function checkpointIdOf(
  { checkpoint_id, thread_ts }: Configurable,
  name: string = "checkpoint_id",
): string {
  return optionalId(name, checkpoint_id || thread_ts);
}

/** @internal */
export function threadIdOf(threadId: unknown): string {
  if (threadId === undefined || threadId === null || threadId === "") {
    throw new KeepsakeError(
      "thread_id_required",
      "thread_id is required with a checkpointer: give { configurable: { thread_id } }",
    );
  }
  return checkText("thread_id", threadId);
}

/** @internal */
export function optionalId(name: string, id: unknown): string {
  return id === undefined || id === null ? "" : checkText(name, id);
}

/** @internal */
export function boundOf(
  name: string,
  bound: CheckpointBound | undefined,
  end: "first" | "last",
): string {
  if (bound === undefined || bound === null) return "";
  const ms = msOfDate(bound);
  if (ms !== undefined) return uuid6At(ms, end);
  if (typeof bound !== "string" && typeof bound !== "object") {
    throw invalid(`${name} must be a checkpoint's id, its config or a Date: ${show(bound)}`);
  }
  if (typeof bound === "string") return bound === "" ? "" : checkText(name, bound);
  return checkpointIdOf(configurableOf(bound as RunnableConfig), name);
}

/**
 * Checkpoint ids are version 6 UUIDs: they begin with their time, in units of
 * 100 ns since 1582. The least and the greatest of a millisecond are its bounds. @internal
 */
export function uuid6At(ms: number, end: "first" | "last"): string {
  if (Number.isNaN(ms)) throw invalid("before, after and olderThan must be valid dates");
  const ticks = (BigInt(ms) + 12_219_292_800_000n) * 10_000n + (end === "last" ? 9_999n : 0n);
  const hex = ticks.toString(16).padStart(15, "0");
  const rest = end === "last" ? "ffff-ffffffffffff" : "0000-000000000000";
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-6${hex.slice(12)}-${rest}`;
}
