// Entry `keepsake/react`: hooks that follow a memory.

"use client";

import type { KeepsakeInspector } from "./inspector/element.js";

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
export { useSharedThread } from "./react/shared-thread.js";

/** What `<keepsake-inspector>` takes in JSX, besides what every element takes. */
export interface InspectorAttributes
  extends Partial<Pick<KeepsakeInspector, "memory" | "scopes" | "threadTitle">> {
  ref?:
    | ((element: KeepsakeInspector | null) => void)
    | { current: KeepsakeInspector | null }
    | null
    | undefined;
  key?: string | number | undefined;
  id?: string | undefined;
  className?: string | undefined;
  style?: object | undefined;
}

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "keepsake-inspector": InspectorAttributes;
    }
  }
}
