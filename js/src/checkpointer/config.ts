// What LangGraph's configs say of a checkpoint: its ids, and where a list begins and ends.

import type { RunnableConfig } from "@langchain/core/runnables";
import { getCheckpointId } from "@langchain/langgraph-checkpoint";
import { checkText } from "../checks.js";
import { invalid, KeepsakeError } from "../errors.js";
import type { CheckpointKey } from "../wire/types.js";

/** A checkpoint's id or config, or a moment. */
export type CheckpointBound = RunnableConfig | string | Date;

/** @internal */
export function configOf({ threadId, checkpointNs, checkpointId }: CheckpointKey): RunnableConfig {
  return {
    configurable: { thread_id: threadId, checkpoint_ns: checkpointNs, checkpoint_id: checkpointId },
  };
}

/** @internal */
export function threadIdOf(threadId: unknown): string {
  if (threadId === undefined || threadId === null || threadId === "") {
    throw new KeepsakeError(
      "thread_id_required",
      "configurable.thread_id is required with a checkpointer",
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
  if (bound instanceof Date) return uuid6At(bound, end);
  return optionalId(name, typeof bound === "string" ? bound : getCheckpointId(bound));
}

/**
 * Checkpoint ids are version 6 UUIDs: they begin with their time, in units of
 * 100 ns since 1582. The least and the greatest of a millisecond are its bounds. @internal
 */
export function uuid6At(moment: Date, end: "first" | "last"): string {
  const ms = moment.getTime();
  if (Number.isNaN(ms)) throw invalid("before and after must be valid dates");
  const ticks = (BigInt(ms) + 12_219_292_800_000n) * 10_000n + (end === "last" ? 9_999n : 0n);
  const hex = ticks.toString(16).padStart(15, "0");
  const rest = end === "last" ? "ffff-ffffffffffff" : "0000-000000000000";
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-6${hex.slice(12)}-${rest}`;
}
