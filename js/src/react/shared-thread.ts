// A chat of `useStream()` whose thread other tabs write to.

import { useEffect } from "react";
import { show } from "../checks.js";
import { invalid } from "../errors.js";
import { checkMemory, type FollowedMemory } from "./follow.js";
import { GraphTransport } from "./graph-transport.js";

// As the hooks of @langchain/react themselves find what is behind a stream.
const CONTROLLER = Symbol.for("@langchain/react/controller");

interface Controller {
  hydrate(): Promise<void>;
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
  useEffect(
    () => (memory === undefined ? undefined : transport.follow(memory, () => controller.hydrate())),
    [memory, transport, controller],
  );
}
