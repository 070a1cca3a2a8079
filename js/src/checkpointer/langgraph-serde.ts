// What is known of LangGraph's own serialiser, so that its work may be done faster: which
// serialiser is it, and which classes of LangChain it writes and reads.

import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  HumanMessageChunk,
  RemoveMessage,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
} from "@langchain/core/messages";
import { JsonPlusSerializer, type SerializerProtocol } from "@langchain/langgraph-checkpoint";

/** By the names that are stored. Their text depends on nothing but their members. @internal */
export const MESSAGE_CLASSES = {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  HumanMessageChunk,
  RemoveMessage,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
} as const;

const { dumpsTyped, loadsTyped } = JsonPlusSerializer.prototype;

/** Any other may make of a value what it likes. @internal */
export function dumpsAsLangGraph(serde: SerializerProtocol): boolean {
  return isLangGraphs(serde) && serde.dumpsTyped === dumpsTyped;
}

/** @internal */
export function loadsAsLangGraph(serde: SerializerProtocol): boolean {
  return isLangGraphs(serde) && serde.loadsTyped === loadsTyped;
}

function isLangGraphs(serde: SerializerProtocol): boolean {
  return (
    Object.getPrototypeOf(serde) === JsonPlusSerializer.prototype && Object.keys(serde).length === 0
  );
}
