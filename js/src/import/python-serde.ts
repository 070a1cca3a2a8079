// What Python's JsonPlusSerializer wrote, as the values that JavaScript's graphs
// use: messages become LangChain messages, sets become Sets, and so on. An object
// of a class that we don't know becomes a plain object of its fields.
// Its MessagePack extensions hold [module, name, arguments, method?].

import { Document } from "@langchain/core/documents";
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { decodeMsgpack } from "./msgpack.js";

const Extension = {
  constructorSingleArg: 0,
  constructorPosArgs: 1,
  constructorKwArgs: 2,
  methodSingleArg: 3,
  pydanticV1: 4,
  pydanticV2: 5,
  numpyArray: 6,
} as const;

const TYPES = new Set(["msgpack", "null", "bytes", "bytearray"]);

/** Whether a blob's type is one that only Python writes. @internal */
export function isPythonType(type: string): boolean {
  return type !== "bytes" && TYPES.has(type);
}

/** Throws a RangeError if `bytes` is not what its type says. @internal */
export function decodePythonValue(type: string, bytes: Uint8Array): unknown {
  if (type === "null") return null;
  return type === "msgpack" ? decodeMsgpack(bytes, readExtension) : bytes.slice();
}

function readExtension(type: number, data: Uint8Array): unknown {
  const content = decodeMsgpack(data, readExtension);
  if (!Array.isArray(content)) return content;
  const [module, name, args] = content as [string, string, unknown];
  switch (type) {
    case Extension.constructorSingleArg:
      return fromSingleArg(name, args);
    case Extension.constructorPosArgs:
      return fromPosArgs(module, name, args as unknown[]);
    case Extension.constructorKwArgs:
      return args;
    case Extension.methodSingleArg:
      return name === "datetime" ? toDate(args) : args;
    case Extension.pydanticV1:
    case Extension.pydanticV2:
      return fromModel(module, name, args as Record<string, unknown>);
    case Extension.numpyArray:
      throw new RangeError("numpy arrays can't be read");
    default:
      throw new RangeError(`extension type ${type} is not known`);
  }
}

function fromSingleArg(name: string, arg: unknown): unknown {
  const isSet = (name === "set" || name === "frozenset") && Array.isArray(arg);
  return isSet ? new Set(arg) : arg; // A UUID, Decimal, deque or member of an Enum.
}

function fromPosArgs(module: string, name: string, args: unknown[]): unknown {
  if (module === "datetime" && name === "date") {
    const [year, month, day] = args as [number, number, number];
    return new Date(Date.UTC(year, month - 1, day));
  }
  if (module === "re") return new RegExp(String(args[0]));
  if (module === "pathlib") return args.join("/").replace(/^\/\//, "/");
  if (name === "Send") return { node: args[0], args: args[1] };
  return args;
}

function toDate(text: unknown): unknown {
  const iso = String(text);
  // Python's naive times are taken as UTC, so that every machine reads the same.
  const date = new Date(/(Z|[+-]\d\d:?\d\d)$/.test(iso) ? iso : `${iso}Z`);
  return Number.isNaN(date.getTime()) ? iso : date;
}

function fromModel(module: string, name: string, fields: Record<string, unknown>): unknown {
  if (module.startsWith("langchain_core.messages")) return toMessage(name, fields) ?? fields;
  if (module.startsWith("langchain_core.documents") && name === "Document") {
    const { page_content, metadata, id } = fields as {
      page_content: string;
      metadata: Record<string, unknown>;
      id?: string;
    };
    return new Document({ pageContent: page_content, metadata, ...(id && { id }) });
  }
  return fields;
}

function toMessage(name: string, fields: Record<string, unknown>): BaseMessage | undefined {
  // What the constructors take differs by class, and comes from a file.
  const given = Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null),
  ) as never;
  switch (name) {
    case "HumanMessage":
    case "HumanMessageChunk":
      return new HumanMessage(given);
    case "AIMessage":
      return new AIMessage(given);
    case "AIMessageChunk":
      return new AIMessageChunk(given);
    case "SystemMessage":
    case "SystemMessageChunk":
      return new SystemMessage(given);
    case "ToolMessage":
    case "ToolMessageChunk":
      return new ToolMessage(given);
    case "FunctionMessage":
      return new FunctionMessage(given);
    case "ChatMessage":
    case "ChatMessageChunk":
      return new ChatMessage(given);
    case "RemoveMessage":
      return new RemoveMessage(given);
    default:
      return undefined;
  }
}
