// Small checkpoints to put into savers.

import { emptyCheckpoint, JsonPlusSerializer, uuid6 } from "@langchain/langgraph-checkpoint";

const serde = new JsonPlusSerializer();

/** What LangGraph's own serialiser gives back of a value. */
export const expectedOf = async (value) => serde.loadsTyped(...(await serde.dumpsTyped(value)));

export function checkpointOf(channelValues = {}, version = 1) {
  const channels = Object.keys(channelValues);
  return {
    ...emptyCheckpoint(),
    id: uuid6(0),
    channel_values: channelValues,
    channel_versions: Object.fromEntries(channels.map((channel) => [channel, version])),
  };
}

export function threadConfig(threadId, checkpointId, checkpointNs = "") {
  return {
    configurable: {
      thread_id: threadId,
      checkpoint_ns: checkpointNs,
      ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
    },
  };
}

export const metadataOf = (step = 0, extra = {}) => ({
  source: "loop",
  step,
  parents: {},
  ...extra,
});

/** Puts a checkpoint with these channel values, all of them new; returns its config. */
export function putCheckpoint(saver, config, channelValues, { step = 0, metadata = {} } = {}) {
  const checkpoint = checkpointOf(channelValues, step + 1);
  return saver.put(config, checkpoint, metadataOf(step, metadata), checkpoint.channel_versions);
}
