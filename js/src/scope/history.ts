// When a checkpoint was, so that the items can be seen as they were then.

import type { RunnableConfig } from "@langchain/core/runnables";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { checkTime, readInput, show } from "../checks.js";
import { invalid, KeepsakeError } from "../errors.js";
import type { Time } from "../store/store-operations.js";

/** A time, or the config or the tuple of a checkpoint, which says when it was made. */
export type Moment = Time | RunnableConfig | CheckpointTuple;

interface Saver {
  getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined>;
}

/** When it was, to be asked when that is needed. @internal */
export function momentOf(saver: Saver, moment: Moment): () => number | Promise<number> {
  return readInput("the moment of asOf", () => whenOf(saver, moment));
}

function whenOf(saver: Saver, moment: Moment): () => number | Promise<number> {
  if (typeof moment !== "object" || moment === null || moment instanceof Date) {
    const at = checkTime("the time of asOf", moment);
    return () => at;
  }
  if ("checkpoint" in moment) {
    const at = timeOf(moment);
    return () => at;
  }
  if (typeof moment.configurable?.thread_id !== "string") {
    throw invalid(
      `asOf takes a time, or the config or tuple of a checkpoint, such as { configurable: { thread_id, checkpoint_id } }: ${show(moment)}`,
    );
  }
  let found: Promise<number> | undefined;
  return () => {
    found ??= findTime(saver, moment);
    return found;
  };
}

async function findTime(saver: Saver, config: RunnableConfig): Promise<number> {
  const tuple = await saver.getTuple(config);
  if (tuple !== undefined) return timeOf(tuple);
  throw new KeepsakeError("not_found", `asOf: there is no such checkpoint: ${show(config)}`);
}

function timeOf({ checkpoint }: CheckpointTuple): number {
  return checkTime("ts of the checkpoint of asOf", checkpoint?.ts);
}
