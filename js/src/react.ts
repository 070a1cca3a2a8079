// Entry `keepsake/react`: hooks that follow a memory.

"use client";

export type { Answer, FollowedMemory } from "./react/follow.js";
export {
  type GraphTransport,
  type GraphTransportOptions,
  graphTransport,
  type StreamedGraph,
} from "./react/graph-transport.js";
export {
  type MemoriesOptions,
  type MemorySearchOptions,
  type ThreadsOptions,
  useMemories,
  useMemorySearch,
  useThreads,
} from "./react/hooks.js";
