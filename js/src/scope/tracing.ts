// Accesses as spans of OpenTelemetry, by the names of its conventions for generative AI.

import type { AccessEvent } from "./access.js";

/** What is used of a tracer of `@opentelemetry/api`. */
export interface TracerLike {
  startSpan(
    name: string,
    options: { startTime: number; attributes: Record<string, string | number> },
  ): {
    setStatus(status: { code: number; message?: string }): unknown;
    end(time: number): void;
  };
}

const OPERATIONS: Record<AccessEvent["operation"], string> = {
  recall: "search_memory",
  store: "update_memory",
  delete: "delete_memory",
  clear: "delete_memory",
  undo: "update_memory",
  forget: "delete_memory",
};

const FAILED = 2; // SpanStatusCode.ERROR

/**
 * For `onAccess`: a span for each access, without values, keys or queries.
 *
 *     const onAccess = traceAccess(trace.getTracer("my-agent"));
 *     const memory = await openMemory({ path: "agent.db", onAccess });
 */
export function traceAccess(tracer: TracerLike): (event: AccessEvent) => void {
  return ({ phase, operation, scope, namespace, threadId, actor, nodeId, ...event }) => {
    if (phase === "before") return;
    const attributes = {
      "gen_ai.operation.name": OPERATIONS[operation],
      "gen_ai.memory.store.id": scope,
      "keepsake.operation": operation,
      ...(namespace && { "keepsake.namespace": namespace.join("/") }),
      ...(threadId !== undefined && { "gen_ai.conversation.id": threadId }),
      ...(actor !== undefined && { "gen_ai.agent.id": actor }),
      ...(nodeId !== undefined && { "keepsake.node.id": nodeId }),
      ...(event.count !== undefined && { "keepsake.count": event.count }),
      ...(event.code !== undefined && { "error.type": event.code }),
    };
    const name = `${OPERATIONS[operation]} ${scope}`.trimEnd();
    const span = tracer.startSpan(name, { startTime: event.began ?? event.time, attributes });
    if (event.code !== undefined) span.setStatus({ code: FAILED, message: event.code });
    span.end(event.time);
  };
}
