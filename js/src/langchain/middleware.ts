// Memory for createAgent(): what is recalled is in the messages of a model call, never in the
// state.

import { SystemMessage } from "@langchain/core/messages";
import type { AgentMiddleware } from "langchain";
import { checkOptions, checkText, type NamesOf } from "../checks.js";
import { takesKeys } from "../prompt/item-text.js";
import { besideUser } from "./messages.js";
import type { Run } from "./place.js";
import { RECALL_OPTIONS, type Recalled, Recaller, type RecallOptions } from "./recall.js";

// By which LangChain knows a middleware; createMiddleware() does no more, and would bring all
// of LangChain along.
/** @internal */
export const BRAND = Symbol.for("AgentMiddleware");

/** A middleware without state, context and tools of its own. */
export type MemoryMiddleware = AgentMiddleware<
  undefined,
  undefined,
  unknown,
  readonly [],
  readonly []
>;

/** What is recalled, how it is shown, and what the middleware is called. */
export interface MemoryMiddlewareOptions extends RecallOptions {
  /** An agent takes several, of different names: one for a user, one for all. @default "memory" */
  name?: string | undefined;
}

const OPTIONS: NamesOf<MemoryMiddlewareOptions> = { name: 1, ...RECALL_OPTIONS };

/**
 * Shows an agent what a memory knows of the user's last message, in a message just before it.
 * System prompt, tools and all earlier messages stay as they were, so that caches of prompts
 * hold; checkpoints know nothing of it.
 *
 *     createAgent({ model, middleware: [memoryMiddleware({ memory, scope: "user" })] });
 */
export function memoryMiddleware(given: MemoryMiddlewareOptions): MemoryMiddleware {
  const { name = "memory", ...options } = checkOptions("memoryMiddleware", OPTIONS, given);
  checkText("name", name);
  const recaller = new Recaller("memoryMiddleware", options, "before_user");
  const wrapModelCall: MemoryMiddleware["wrapModelCall"] = async (request, handler) => {
    const isKeyed = takesKeys(request.tools);
    const found = await recaller.recall(request.messages, request.runtime as Run, isKeyed);
    const systemMessage = systemWith(request.systemMessage, found, recaller.position);
    const changed = { ...request, systemMessage };
    if (recaller.position === "before_user") {
      changed.messages = besideUser(request.messages, found.recalled);
    }
    return handler(changed);
  };
  return { [BRAND]: true, name, wrapModelCall } as unknown as MemoryMiddleware;
}

// An agent has one system message.
function systemWith(
  system: SystemMessage,
  { pinned, recalled }: Recalled,
  position: Recaller["position"],
): SystemMessage {
  const above = position === "before_system" ? recalled : "";
  const below = [pinned, position === "after_system" ? recalled : ""].filter(Boolean).join("\n\n");
  if (above === "" && below === "") return system;
  const content = typeof system.content === "string" ? [textBlock(system.content)] : system.content;
  const gap = system.text === "" ? "" : "\n\n";
  const blocks = [
    ...(above === "" ? [] : [textBlock(above + gap)]),
    ...content,
    ...(below === "" ? [] : [textBlock(gap + below)]),
  ];
  return new SystemMessage({ content: blocks.filter((block) => block.text !== "") });
}

function textBlock(text: string): { type: "text"; text: string } {
  return { type: "text", text };
}
