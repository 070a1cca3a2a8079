// Files of tests: what is in a memory, and what is expected of it then.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { checkEach, checkList, checkText, isList, show } from "../../checks.js";
import { invalid, KeepsakeError, messageOf } from "../../errors.js";
import { type Memory, TIER_OPTIONS, type TierOptions } from "../../memory.js";
import type { ScopeOptions } from "../../scope/scope.js";
import { PUT_OPTIONS, type PutOptions } from "../../store/store-operations.js";
import { type MemoryTest, testOf } from "./expectations.js";
import {
  fields,
  namespaceIn,
  PLACE,
  textOf,
  timeOf,
  type Usual,
  type View,
  viewOf,
} from "./fields.js";

/** Options of a memory that a test may choose: the clock, the place and the key are the command's. */
export type MemoryChoice = Omit<TierOptions, "now">;

/** An item that is put before the tests. */
export interface PutFixture extends View {
  key: string;
  value: object;
  index: false | string[] | undefined;
  options: PutOptions;
  /** When; the time of the tests unless it is said. */
  at: number | undefined;
}

/** A thread that is there before the tests, and the items of its turns if it names a namespace. */
export interface ConversationFixture {
  scope: ScopeOptions | undefined;
  namespace: string[] | undefined;
  thread: string;
  messages: { role: string; content: string; at: number | undefined }[];
}

/** A file of tests. */
export interface Fixture {
  file: string;
  name: string;
  /** When the tests are; now if it is not said. */
  now: number | undefined;
  options: MemoryChoice;
  puts: PutFixture[];
  conversations: ConversationFixture[];
  setup: ((memory: Memory) => unknown) | undefined;
  tests: MemoryTest[];
}

const IN_FOLDER = /\.test\.(json|mjs)$/;
const { now: _, ...CHOICE } = TIER_OPTIONS;

const FILE = {
  ...PLACE,
  name: 1,
  now: 1,
  options: CHOICE,
  items: 1,
  conversations: 1,
  setup: 1,
  tests: 1,
} as const;
const ITEM = { ...PLACE, key: 1, value: 1, index: 1, at: 1, ...PUT_OPTIONS } as const;
const CONVERSATION = { ...PLACE, thread: 1, at: 1, messages: 1 } as const;
const MESSAGE = { role: 1, content: 1, at: 1 } as const;
/** The files that were named, and those of folders whose names end with `.test.json` or `.test.mjs`. */
export function filesOf(named: readonly string[]): string[] {
  const files = named.flatMap((path) => {
    if (!existsSync(path)) throw new KeepsakeError("not_found", `there is no ${path}`);
    if (!statSync(path).isDirectory()) return [path];
    const found = filesBelow(path);
    if (found.length > 0) return found;
    throw invalid(`${path} has no files that end with .test.json or .test.mjs`);
  });
  return [...new Set(files)];
}

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.name === "node_modules" || entry.name.startsWith(".")) return [];
    if (entry.isDirectory()) return filesBelow(path);
    return IN_FOLDER.test(entry.name) ? [path] : [];
  });
}

/** The options that a module exports: its default, that of a function, or each by its name. */
export async function choiceIn(path: string | undefined): Promise<MemoryChoice> {
  if (path === undefined) return {};
  const exported = await exportedBy(path);
  const given = "default" in exported ? exported.default : { ...exported };
  const made = typeof given === "function" ? await given() : given;
  return fields(path, CHOICE, made) as MemoryChoice;
}

async function exportedBy(path: string): Promise<Record<string, unknown>> {
  if (!existsSync(path)) throw new KeepsakeError("not_found", `there is no file ${path}`);
  try {
    return await import(pathToFileURL(resolve(path)).href);
  } catch (cause) {
    throw new KeepsakeError("invalid_argument", `${path} can't be loaded: ${messageOf(cause)}`, {
      cause,
    });
  }
}

/** `k` is how many hits count where a test says nothing else. */
export async function readFixture(file: string, k: number): Promise<Fixture> {
  const given = fields(file, FILE, await contentOf(file));
  const { name, now, options, items = [], conversations = [], setup, tests } = given;
  const usual = { ...viewOf(file, given, { scope: undefined, namespace: [] }), k };
  if (setup !== undefined && typeof setup !== "function") {
    throw invalid(`setup of ${file} must be a function, which only .mjs has: ${show(setup)}`);
  }
  const list = checkList(`tests of ${file}`, tests as unknown[]);
  if (list.length === 0) throw invalid(`tests of ${file} has no test`);
  return {
    file,
    name: name === undefined ? file : checkText(`name of ${file}`, name as string),
    now: timeOf(`now of ${file}`, now),
    options:
      options === undefined ? {} : (fields(`options of ${file}`, CHOICE, options) as MemoryChoice),
    puts: eachOf("items", file, items, (where, item) => putOf(where, item, usual)),
    conversations: eachOf("conversations", file, conversations, (where, each) =>
      conversationOf(where, each, usual),
    ),
    setup: setup as Fixture["setup"],
    tests: eachOf("tests", file, list, (where, test) => testOf(where, test, usual, file)),
  };
}

async function contentOf(file: string): Promise<unknown> {
  if (!file.endsWith(".json")) {
    const exported = await exportedBy(file);
    if ("default" in exported) return exported.default;
    throw invalid(`${file} has no default export: \`export default { items, tests }\``);
  }
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw invalid(`${file} is no JSON: ${messageOf(cause)}`, cause);
  }
}

function eachOf<T>(
  name: string,
  file: string,
  list: unknown,
  read: (where: string, one: unknown) => T,
): T[] {
  const checked = checkList(`${name} of ${file}`, list as unknown[]);
  return checkEach(name, checked, (one, i) => read(`${name}[${i}] of ${file}`, one));
}

function putOf(where: string, item: unknown, usual: Usual): PutFixture {
  const { key, value, index, at, scope, namespace, ...options } = fields(where, ITEM, item);
  if (typeof value !== "object" || value === null || isList(value)) {
    throw invalid(`value of ${where} must be an object: ${show(value)}`);
  }
  return {
    ...viewOf(where, { scope, namespace }, usual),
    key: textOf(`key of ${where}`, key),
    value,
    index: index as PutFixture["index"],
    options: options as PutOptions,
    at: timeOf(`at of ${where}`, at),
  };
}

function conversationOf(where: string, given: unknown, usual: Usual): ConversationFixture {
  const { thread, at, messages, scope, namespace } = fields(where, CONVERSATION, given);
  const began = timeOf(`at of ${where}`, at);
  const list = checkList(`messages of ${where}`, messages as unknown[]);
  return {
    scope: viewOf(where, { scope }, usual).scope,
    namespace:
      namespace === undefined ? undefined : namespaceIn(`namespace of ${where}`, namespace),
    thread: textOf(`thread of ${where}`, thread),
    messages: checkEach("messages", list, (message, i) => {
      const place = `messages[${i}] of ${where}`;
      const { role, content, at: said } = fields(place, MESSAGE, message);
      return {
        role: textOf(`role of ${place}`, role),
        content: textOf(`content of ${place}`, content),
        at: timeOf(`at of ${place}`, said) ?? began,
      };
    }),
  };
}
