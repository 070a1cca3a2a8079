// A chat of `useStream()` whose thread other tabs write to.

import { useEffect } from "react";
import { show } from "../checks.js";
import { invalid } from "../errors.js";
import { checkMemory, type FollowedMemory } from "./follow.js";
import { GraphTransport } from "./graph-transport.js";

// As the hooks of @langchain/react themselves find what is behind a stream.
const CONTROLLER = Symbol.for("@langchain/react/controller");

interface Snapshot {
  threadId: string | null;
}

interface Controller {
  readonly rootStore: {
    getSnapshot(): Snapshot;
    setState(change: (snapshot: Snapshot) => Snapshot): void;
  };
  hydrate(threadId?: string | null): Promise<void>;
}

/**
 * Shows in a chat of `useStream()` what others add to its thread: another tab, or code of this
 * one. `memory` is where the graph's checkpointer is from, or undefined until there is one.
 *
 *     const stream = useStream({ transport, threadId });
 *     useSharedThread(memory, transport, stream);
 */
export function useSharedThread(
  memory: FollowedMemory | undefined,
  transport: GraphTransport,
  stream: object,
): void {
  checkMemory("useSharedThread", memory);
  if (!(transport instanceof GraphTransport)) {
    throw invalid(
      `useSharedThread: its transport is what graphTransport() answers: ${show(transport)}`,
    );
  }
  const controller = (stream as { [CONTROLLER]?: Controller } | undefined)?.[CONTROLLER];
  if (typeof controller?.hydrate !== "function") {
    throw invalid(
      `useSharedThread: its stream is what useStream() of @langchain/react answers: ${show(stream)}`,
    );
  }
  useEffect(() => {
    if (memory === undefined) return undefined;
    return transport.follow(memory, async (isUnheard) => {
      const { threadId } = transport;
      // SDKs before 1.15 that found a thread at rest listen from the next submit() on, and respond()
      // is none. They listen to a thread that asks when they begin with it.
      if (!isUnheard) return controller.hydrate();
      await beginWith(controller, null);
      // The chat may have gone to another thread meanwhile.
      if (controller.rootStore.getSnapshot().threadId !== null) return undefined;
      return beginWith(controller, threadId);
    });
  }, [memory, transport, controller]);
}

// Another thread empties the chat: what is shown stays until the new state is there.
function beginWith(controller: Controller, threadId: string | null): Promise<void> {
  const shown = controller.rootStore.getSnapshot();
  const whenShown = controller.hydrate(threadId);
  controller.rootStore.setState(({ threadId }) => ({ ...shown, threadId }));
  return whenShown;
}
