// A model behind an OpenAI-compatible endpoint, which calls the same tools.
import { AIMessage, isAIMessage, isToolMessage } from "@langchain/core/messages";
import { ChatCompletions, ModelError } from "../../chat-completions.mjs";
import { TOOLS } from "./tools.mjs";

const SYSTEM = `You are an assistant with a long-term memory that outlives this conversation.
Before you answer a question, call recall. When the person tells you something about themselves
that will matter later, call remember, one fact per call. When they want you to forget something,
call recall and then forget with the namespace and key that were found; they are asked for
confirmation by the application, so don't ask yourself. Answer briefly, and say which memory an
answer comes from. Never invent memories.`;

const TOOL_DESCRIPTIONS = Object.entries(TOOLS).map(([name, { description, parameters }]) => ({
  type: "function",
  function: { name, description, parameters },
}));

export class ProviderModel {
  #endpoint;

  constructor({ baseUrl, model, key }) {
    this.#endpoint = new ChatCompletions({ baseUrl, model, key });
    this.name = this.#endpoint.name;
  }

  async respond(messages) {
    const answer = await this.#endpoint.complete({
      messages: [{ role: "system", content: SYSTEM }, ...messages.map(toProvider)],
      tools: TOOL_DESCRIPTIONS,
    });
    return new AIMessage({
      id: crypto.randomUUID(),
      content: answer.content ?? "",
      tool_calls: (answer.tool_calls ?? []).map(fromProviderCall),
    });
  }
}

function toProvider(message) {
  const { content } = message;
  if (isToolMessage(message)) return { role: "tool", tool_call_id: message.tool_call_id, content };
  if (!isAIMessage(message)) return { role: "user", content };
  if (!message.tool_calls?.length) return { role: "assistant", content };
  return { role: "assistant", content, tool_calls: message.tool_calls.map(toProviderCall) };
}

function toProviderCall({ id, name, args }) {
  return { id, type: "function", function: { name, arguments: JSON.stringify(args) } };
}

function fromProviderCall({ id, function: { name, arguments: text } }) {
  try {
    return { type: "tool_call", id, name, args: JSON.parse(text || "{}") };
  } catch (cause) {
    throw new ModelError(`the model called ${name} with arguments that are not JSON: ${text}`, {
      cause,
    });
  }
}
