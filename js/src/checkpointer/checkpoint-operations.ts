// A checkpoint as the core keeps it: a shell, and each new channel value by itself.

import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import { show } from "../checks.js";
import { type MaybePromise, whenAllThere, whenThere } from "../engine/answers.js";
import { invalid } from "../errors.js";
import type { Blob, CheckpointKey } from "../wire/layout.js";
import type { OperationOf } from "../wire/operations.js";
import type { LatestLists } from "./latest-lists.js";
import { dump, dumpChannel } from "./serde/serde.js";

/** @internal */
export interface CheckpointParts {
  key: CheckpointKey;
  parentCheckpointId: string;
  checkpoint: Checkpoint;
  metadata: CheckpointMetadata;
  newVersions: ChannelVersions;
}

/** With `latest`, lists are serialised as far as they are not what they were. @internal */
export function toPutOperation(
  serde: SerializerProtocol,
  parts: CheckpointParts,
  latest?: LatestLists,
): MaybePromise<OperationOf<"putCheckpoint">> {
  const { key, parentCheckpointId, checkpoint, metadata, newVersions } = parts;
  // Not by a spread of both, which is ten times as slow. Without a prototype a channel
  // "__proto__" is a channel like any other.
  const versions: ChannelVersions = Object.assign(
    Object.create(null),
    newVersions,
    checkpoint.channel_versions,
  );
  const values: Record<string, unknown> = checkpoint.channel_values ?? {};
  // A value without a version belongs to no channel that is versioned: it stays.
  const unversioned = Object.entries(values).filter(
    ([channel]) => !Object.hasOwn(versions, channel),
  );
  const channels = Object.keys(versions).filter(
    (channel) => Object.hasOwn(newVersions, channel) && Object.hasOwn(values, channel),
  );
  const texts = new Map<string, string>();
  const channelVersions = Object.entries(versions).map(([channel, given]) => {
    const version = JSON.stringify(given);
    if (version === undefined) {
      throw invalid(
        `the version of channel "${channel}" must be a number or a text: ${show(given)}`,
      );
    }
    texts.set(channel, version);
    return { channel, version };
  });
  const stored = Object.keys(newVersions);
  // All is read before anything is awaited: the caller may change it afterwards.
  const blobs = whenAllThere([
    dump(serde, "checkpoint", {
      ...checkpoint,
      channel_values: Object.fromEntries(unversioned),
    }),
    dump(serde, "metadata", metadata),
    ...channels.map((channel) =>
      dumpChannel(serde, channel, values[channel], latest?.listOf(key, channel)),
    ),
  ]);
  return whenThere(blobs, (all) => ({
    kind: "putCheckpoint",
    key,
    parentCheckpointId,
    checkpoint: all[0] as Blob,
    metadata: all[1] as Blob,
    channelVersions,
    newVersions: stored,
    values: channels.map((channel, i) => ({
      channel,
      version: texts.get(channel) as string,
      value: all[i + 2] as Blob,
    })),
  }));
}
