// Tools with which a model remembers, recalls and forgets by itself.

import type { BaseMessage } from "@langchain/core/messages";
import { type DynamicStructuredTool, type ToolRuntime, tool } from "@langchain/core/tools";
import { checkOptions, checkText, type NamesOf } from "../checks.js";
import { invalid, KeepsakeError, type KeepsakeErrorCode } from "../errors.js";
import {
  asLine,
  type EntryFormat,
  fencedWithin,
  KEYED,
  lineOf,
  quote,
  quoted,
  takingKeys,
  unfenced,
} from "../prompt/item-text.js";
import { RANKING_OPTIONS, type RankingOptions } from "../store/ranking.js";
import {
  guarded,
  maskedNote,
  SecretGuard,
  type SecretHandling,
  type SecretOptions,
} from "../store/secrets.js";
import { forgetCopies, withoutCopies } from "./copies.js";
import {
  checkPlace,
  facts,
  itemAt,
  PLACE_OPTIONS,
  type PlaceOptions,
  placeOf,
  type Run,
} from "./place.js";
import { checkLimits, gated, isPassing, lastOfUser } from "./recall.js";
import { type Remembered, remember, type Source } from "./remember.js";
import { wordsOf } from "./words.js";

/** How a tool is called, and whose items it is for. */
export interface ToolOptions extends PlaceOptions {
  /** What the model calls it. @default "remember", "recall" or "forget" */
  name?: string | undefined;
  /** What the model is told of it. */
  description?: string | undefined;
}

/** How `rememberTool()` is called, and what it stores. */
export interface RememberToolOptions extends ToolOptions {
  /**
   * What becomes of keys, tokens and card numbers in what the model stores. It is told what was
   * masked or refused. @default "mask"
   */
  secrets?: SecretHandling | SecretOptions | undefined;
}

/** What `recallTool()` finds. */
export interface RecallToolOptions extends ToolOptions {
  /** Items at most, unless the model asks for fewer; up to 1000. @default 5 */
  topK?: number | undefined;
  /** Of items, as a store's `search()` takes it. */
  filter?: Record<string, unknown> | undefined;
  /** As a store's `search()` takes it. @default { mode: "hybrid" } */
  ranking?: RankingOptions | undefined;
  /** A line for each item. @default "- {{key}}: {{value}}" */
  formatTemplate?: EntryFormat | undefined;
  /** Of an answer. It says how many facts it leaves out. @default 1000 */
  maxTokens?: number | undefined;
}

/** A tool that answers a text. */
export type MemoryTool<Input> = DynamicStructuredTool<
  Record<string, unknown>,
  Input,
  Input,
  string
>;

const TOOL_OPTIONS: NamesOf<ToolOptions> = { ...PLACE_OPTIONS, name: 1, description: 1 };
const REMEMBER_TOOL_OPTIONS: NamesOf<RememberToolOptions> = { ...TOOL_OPTIONS, secrets: 1 };
const RECALL_TOOL_OPTIONS: NamesOf<RecallToolOptions> = {
  ...TOOL_OPTIONS,
  topK: 1,
  filter: 1,
  ranking: RANKING_OPTIONS,
  formatTemplate: 1,
  maxTokens: 1,
};

const REFUSALS: readonly KeepsakeErrorCode[] = [
  "access_denied",
  "quota_exceeded",
  "too_large",
  "secret_found",
];

const REMEMBER = `Stores one fact for later conversations: a preference, a decision, a name, a date. \
Write it as a short statement that is clear without this conversation. Do not store what was \
just recalled. If it corrects or updates something that is stored, give the key of that as "replaces".`;
const RECALL = `Looks up what was stored in earlier conversations. Ask with the words that the \
stored facts would have. Each line of the answer is a key and what is stored under it.`;
const FORGET = `Deletes one stored fact, and what says the same word for word, so that it is recalled no more. Use it when the user asks \
for it, or when the fact is wrong and nothing takes its place. Its text may still be in the file \
and in the history of the memory: say that it is forgotten, never that it is erased.`;

const text = (description: string) => ({ type: "string", description });

/**
 * A tool that stores a fact, unless it is known: see docs/agents.md. The thread, the checkpoint and the
 * message that it comes from are kept in `sources`.
 */
export function rememberTool(
  options: RememberToolOptions,
): MemoryTool<{ text: string; replaces?: string | undefined }> {
  checkToolOptions("rememberTool", REMEMBER_TOOL_OPTIONS, options);
  checkItemPlace("rememberTool", options);
  const secrets = SecretGuard.of(options.secrets, "mask");
  const parameters = {
    text: text("The fact, as a short statement."),
    replaces: text("The key of a stored fact that is no longer true. Leave it out otherwise."),
  };
  const body = async (input: { text: string; replaces?: string | undefined }, run: Run) => {
    if (wordsOf(unfenced(input.text)).length === 0) return "Not stored: the text has no words.";
    const place = placeOf("rememberTool", options, run);
    const { value: said, masked } = guarded(secrets, input.text, "the fact");
    const replaces = input.replaces || undefined;
    if (replaces !== undefined) secrets?.name(replaces, "the key that it replaces");
    const remembered = await remember(place, said, sourceOf(run), { replaces });
    return answerOf(remembered, maskedNote(masked));
  };
  return takingKeys(toolOf(options, "remember", REMEMBER, parameters, ["text"], body));
}

/** A tool that finds stored facts by words, and by meaning if the store has an index. */
export function recallTool(
  options: RecallToolOptions,
): MemoryTool<{ query: string; limit?: number | undefined }> {
  checkToolOptions("recallTool", RECALL_TOOL_OPTIONS, options);
  checkLimits(options);
  const { topK = 5, filter, formatTemplate = KEYED, maxTokens = 1000 } = options;
  const ranking = gated(options.ranking, -1);
  const parameters = {
    query: text("What to look for."),
    limit: { type: "integer", minimum: 1, maximum: topK, description: "Facts at most." },
  };
  return toolOf(options, "recall", RECALL, parameters, ["query"], async (input, run) => {
    const place = placeOf("recallTool", options, run);
    const { query, limit = topK } = input;
    const most = Math.min(limit, topK);
    const search = {
      query,
      // Copies may be among them.
      limit: 2 * most,
      ranking,
      ...(filter !== undefined && { filter }),
    };
    const hits = query.trim() === "" ? [] : await facts(place, search);
    const lines = withoutCopies(hits.filter(isPassing(ranking)))
      .slice(0, most)
      .map((item) => lineOf(item, formatTemplate));
    if (lines.length === 0) return "Nothing is stored about that.";
    return fencedWithin(maxTokens, "facts", lines);
  });
}

/** A tool that deletes a fact by its key, and its copies: recall shows one of them. */
export function forgetTool(options: ToolOptions): MemoryTool<{ key: string }> {
  checkToolOptions("forgetTool", TOOL_OPTIONS, options);
  checkItemPlace("forgetTool", options);
  const parameters = { key: text("The key of the fact, as recalled.") };
  const body = async ({ key }: { key: string }, run: Run) => {
    const place = placeOf("forgetTool", options, run);
    const item = await itemAt(place, key);
    if (item === undefined) return noneUnder(key);
    return `${forgottenOf(await forgetCopies(place, item))}\n${quoted([item])}`;
  };
  return takingKeys(toolOf(options, "forget", FORGET, parameters, ["key"], body));
}

function checkToolOptions<Options extends ToolOptions>(
  call: string,
  known: NamesOf<Options>,
  options: Options,
): void {
  const given = checkOptions(call, known, options);
  const { name, description } = given;
  checkPlace(call, given);
  if (name !== undefined) checkText("name", name);
  if (description !== undefined) checkText("description", description);
}

// A search may be of everything; an item is somewhere.
function checkItemPlace(call: string, { scope, namespace }: ToolOptions): void {
  if (scope !== undefined || !Array.isArray(namespace) || namespace.length > 0) return;
  throw invalid(
    `namespace of ${call} must not be empty without a scope: give it one, such as ["facts"]`,
  );
}

function toolOf<Input>(
  options: ToolOptions,
  name: string,
  description: string,
  properties: Record<string, object>,
  required: string[],
  body: (input: Input, run: Run) => Promise<string>,
): MemoryTool<Input> {
  const fields = {
    name: options.name ?? name,
    description: options.description ?? description,
    schema: { type: "object", properties, required, additionalProperties: false },
  };
  const run = (input: unknown, runtime: ToolRuntime) =>
    body(input as Input, runtime as Run).catch(refusalOf);
  return tool(run as never, fields as never) as unknown as MemoryTool<Input>;
}

// What a policy refuses is for the model to know; all else ends the run.
function refusalOf(error: unknown): string {
  if (isRefusal(error)) return `Refused: ${asLine(error.message)}`;
  throw error;
}

/** Whether a store may not take it, by its rules: to try again is no use. @internal */
export function isRefusal(error: unknown): error is KeepsakeError {
  return error instanceof KeepsakeError && REFUSALS.includes(error.code);
}

// What is quoted stands below, as data.
function answerOf({ others, ...remembered }: Remembered, note: string): string {
  const hidden = remembered.isHidden ? " It waits for review: until then it is not recalled." : "";
  const says = `${outcomeOf(remembered, others.length > 0)}${hidden}${note}`;
  return others.length === 0 ? says : `${says}\n${quoted(others)}`;
}

const IS_ALIKE = ' What is below is alike. If the new one corrects it, call again with "replaces".';

function outcomeOf({ outcome, key }: Omit<Remembered, "others">, hasOthers: boolean): string {
  switch (outcome) {
    case "known":
      return 'Not stored: it is known already, as you see below. If it corrects one of these, call again with "replaces".';
    case "missing":
      return `Not stored: ${noneUnder(key)}`;
    case "pinned":
      return "Not stored: the user has pinned what is below, and only the user changes it.";
    case "merged":
    case "replaced":
      return "Stored in the place of what is below.";
    case "stored":
      return `Stored as "${key}".${hasOthers ? IS_ALIKE : ""}`;
  }
}

function forgottenOf({ forgotten, left }: { forgotten: number; left: number }): string {
  const copies = forgotten === 1 ? "one copy" : `${forgotten} copies`;
  const says = forgotten === 0 ? "Forgotten" : `Forgotten, with ${copies} of it`;
  return left === 0
    ? `${says}: what is below is recalled no more, but not erased.`
    : `${says}: but what is below also stands in other namespaces, where it stays.`;
}

function noneUnder(key: string): string {
  return `nothing is stored under "${quote(key)}". Recall tells the keys.`;
}

/** The conversation that a run is part of, as far as it says. @internal */
export function sourceOf({ configurable, executionInfo, state }: Run): Source | undefined {
  const { checkpointId } = Object(executionInfo) as { checkpointId?: string };
  const { messages } = Object(state) as { messages?: BaseMessage[] };
  const source: Source = {};
  if (configurable?.thread_id !== undefined) {
    source.thread_id = String(configurable.thread_id);
    if (checkpointId !== undefined) source.checkpoint_id = checkpointId;
  }
  const said = Array.isArray(messages) ? messages[lastOfUser(messages)] : undefined;
  if (said?.id !== undefined) source.message_id = said.id;
  return Object.keys(source).length === 0 ? undefined : source;
}
