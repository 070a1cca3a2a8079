// What of a memory is shown to a model, for a turn of a conversation: once for all calls of the
// turn, within a budget, and nothing if nothing fits the question.

import type { BaseMessage } from "@langchain/core/messages";
import {
  checkChoice,
  checkFlag,
  checkListener,
  checkNumber,
  checkOptions,
  checkWhole,
  type NamesOf,
  show,
} from "../checks.js";
import { invalid } from "../errors.js";
import {
  checkFormat,
  type EntryFormat,
  fenced,
  fitting,
  KEYED,
  lineOf,
  templateFor,
  textOf,
} from "../prompt/item-text.js";
import { tokensOf } from "../prompt/tokens.js";
import {
  checkRanking,
  GATE,
  HYBRID,
  RANKING_OPTIONS,
  type RankingOptions,
} from "../store/ranking.js";
import type { SearchItem } from "../store/store-operations.js";
import { finderOf } from "../text.js";
import { withoutCopies } from "./copies.js";
import {
  checkPlace,
  facts,
  type ItemStore,
  PLACE_OPTIONS,
  type Place,
  type PlaceOptions,
  placeOf,
  type Run,
} from "./place.js";
import { wordsOf } from "./words.js";

/** Where recalled text stands among the messages that a model gets. */
export type InjectionPosition = "before_system" | "after_system" | "before_user";

/** What is recalled, and how it is shown. */
export interface RecallOptions extends PlaceOptions {
  /** What is looked for. @default the text of the user's last message */
  querySelector?:
    | ((messages: BaseMessage[], run: Run) => string | undefined | Promise<string | undefined>)
    | undefined;
  /** Items at most. @default 10 */
  topK?: number | undefined;
  /** Of items, as a store's `search()` takes it. */
  filter?: Record<string, unknown> | undefined;
  /**
   * As a store's `search()` takes it. `minScore` is the gate: what has a lower score is not shown.
   * Scores by words are 0…1, and can be compared between questions: 0.07 leaves out what shares one
   * word of many, 0.15 is for what is surer. What has no score, as in mode `contains`, needs −1.
   * @default { mode: "hybrid", minScore: 0.07 }
   */
  ranking?: RankingOptions | undefined;
  /**
   * `before_user`: a message of its own just before the user's last one, so that all before it
   * stays as it was. The others are in a system message, and cost the caches of prompts.
   * @default "after_system" of withMemory() with a model, else "before_user"
   */
  injectionPosition?: InjectionPosition | undefined;
  /**
   * A line for each item: `"- {{value.text}} ({{metadata.class}})"`, or a function.
   * @default "- {{key}}: {{value}}" if a tool of the model takes keys, as `rememberTool()` and
   * `forgetTool()` do, else "- {{value}}"
   */
  formatTemplate?: EntryFormat | undefined;
  /** Of all that is added, pinned items included. @default 1000 */
  maxTokens?: number | undefined;
  /** How tokens are counted. @default a third of the bytes in UTF-8, which is rather too many */
  countTokens?: ((text: string) => number) | undefined;
  /**
   * Items that are always in the system message, in the order in which they were made: those of
   * this filter; `true` for `{ pinned: true }`. @default none
   */
  pinned?: true | Record<string, unknown> | undefined;
  /** Leaves out what a message says already. @default true */
  skipSeen?: boolean | undefined;
  /** Once for all model calls until the user says more, or for each call. @default "turn" */
  recallEach?: "turn" | "call" | undefined;
}

/** @internal */
export const RECALL_OPTIONS: NamesOf<RecallOptions> = {
  ...PLACE_OPTIONS,
  querySelector: 1,
  topK: 1,
  filter: 1,
  ranking: RANKING_OPTIONS,
  injectionPosition: 1,
  formatTemplate: 1,
  maxTokens: 1,
  countTokens: 1,
  pinned: 1,
  skipSeen: 1,
  recallEach: 1,
};
const POSITIONS = { before_system: 1, after_system: 1, before_user: 1 };
const EACH = { turn: 1, call: 1 };

const MOST_PINNED = 1000;
const MOST_RECALLED = 1000;
// "Do I like tea?" does not say that I like tea.
const SENTENCE_END = /[.!?。！？\n]/g;

/** What is added to the messages of a model call; "" for nothing. @internal */
export interface Recalled {
  pinned: string;
  recalled: string;
}

// What was found for a turn, and all that decided it: runs may share a message.
interface Turn {
  place: Place;
  context: unknown;
  who: string;
  found: Recalled;
}

/** Recalls for model calls, and knows what the calls of a turn have in common. @internal */
export class Recaller {
  readonly position: InjectionPosition;
  readonly #call: string;
  readonly #options: RecallOptions;
  // By the user's message that began the turn: a run hands on the same object.
  readonly #turns = new WeakMap<BaseMessage, Turn>();

  constructor(call: string, options: RecallOptions, position: InjectionPosition) {
    checkRecallOptions(call, options);
    this.position = options.injectionPosition ?? position;
    this.#call = call;
    this.#options = options;
  }

  /** What the model is to read beside these messages; with `isKeyed`, keys of items, too. */
  async recall(messages: BaseMessage[], run: Run, isKeyed = false): Promise<Recalled> {
    const place = placeOf(this.#call, this.#options, run);
    const message = messages[lastOfUser(messages)];
    // A turn begins where the user spoke last: only what comes after it is the same turn.
    const isLater = message !== messages.at(-1) && this.#options.recallEach !== "call";
    const { context } = run;
    const who = JSON.stringify([place.labels, run.configurable?.thread_id, isKeyed]);
    const known = message && this.#turns.get(message);
    const isSame =
      known?.who === who && known.context === context && readsAlike(known.place.store, place.store);
    if (isLater && isSame) return known.found;
    const found = await this.#recallNow(place, messages, run, isKeyed);
    if (message) this.#turns.set(message, { place, context, who, found });
    return found;
  }

  async #recallNow(
    place: Place,
    messages: BaseMessage[],
    run: Run,
    isKeyed: boolean,
  ): Promise<Recalled> {
    const { formatTemplate } = this.#options;
    const formatOf = (item: SearchItem) => formatTemplate ?? (isKeyed ? KEYED : templateFor(item));
    const [pinned, hits] = await Promise.all([
      this.#pinned(place),
      this.#hits(place, messages, run),
    ]);
    const isPinned = new Set(pinned.map(itemId));
    const unseen = this.#unseen(hits, messages).filter((hit) => !isPinned.has(itemId(hit)));
    const news = withoutCopies(unseen);
    const lines = (items: SearchItem[]) => items.map((item) => lineOf(item, formatOf(item)));
    const { maxTokens = 1000 } = this.#options;
    const above = this.#fit(lines(pinned), maxTokens, ["[Pinned Memory]"]);
    const left = maxTokens - (above === "" ? 0 : this.#count(above));
    const { topK = 10 } = this.#options;
    const title = this.position === "before_user" ? [] : ["[Memory Context]"];
    return { pinned: above, recalled: this.#fit(lines(news.slice(0, topK)), left, title) };
  }

  async #pinned(place: Place): Promise<SearchItem[]> {
    const { pinned } = this.#options;
    if (pinned === undefined) return [];
    const filter = pinned === true ? { pinned: true } : pinned;
    const items = await facts(place, { filter, limit: MOST_PINNED });
    return items.sort(
      (a, b) => Number(a.createdAt) - Number(b.createdAt) || (itemId(a) < itemId(b) ? -1 : 1),
    );
  }

  async #hits(place: Place, messages: BaseMessage[], run: Run): Promise<SearchItem[]> {
    const { querySelector, topK = 10, filter } = this.#options;
    const ranking = gated(this.#options.ranking, GATE);
    const query = querySelector
      ? await querySelector(messages, run)
      : messages[lastOfUser(messages)]?.text;
    if (!query) return [];
    const options = { query, limit: 2 * topK, ranking };
    const hits = await facts(place, filter === undefined ? options : { ...options, filter });
    return hits.filter(isPassing(ranking));
  }

  #unseen(hits: SearchItem[], messages: BaseMessage[]): SearchItem[] {
    if (this.#options.skipSeen === false) return hits;
    const said = messages.map((message) => phraseOf(withoutQuestions(message.text))).join("\n");
    return hits.filter(({ value }) => {
      const phrase = phraseOf(textOf(value));
      return phrase.trim() === "" || finderOf(phrase)(said) < 0;
    });
  }

  #fit(lines: string[], most: number, title: readonly string[]): string {
    const shown = fitting(lines, most, (text) => this.#count(text), title);
    return shown.length === 0 ? "" : fenced([...title, ...shown]);
  }

  #count(text: string): number {
    const { countTokens } = this.#options;
    if (countTokens === undefined) return tokensOf(text);
    return checkNumber("what countTokens answers", countTokens(text), 0);
  }
}

/** As a search takes it. What has no score is a hit where the gate is −1. @internal */
export function gated(given: RankingOptions | undefined, usual: number): RankingOptions {
  const { minScore = usual, ...ranking } = given ?? {};
  return { ...HYBRID, ...ranking, ...(minScore > -1 && { minScore }) };
}

/** Stores that know no ranking have no gate. @internal */
export function isPassing({ minScore = -1 }: RankingOptions): (hit: SearchItem) => boolean {
  return ({ score = -1 }) => score >= minScore;
}

/** Where the user's last message is, or -1. @internal */
export function lastOfUser(messages: readonly BaseMessage[]): number {
  return messages.findLastIndex((message) => message.type === "human");
}

// A scope may be made anew for each call.
function readsAlike(one: ItemStore, other: ItemStore): boolean {
  return one === other || one.readsAs?.(other) === true;
}

function itemId({ namespace, key }: SearchItem): string {
  return JSON.stringify([namespace, key]);
}

function withoutQuestions(text: string): string {
  let kept = "";
  let from = 0;
  for (const { 0: end, index } of text.matchAll(SENTENCE_END)) {
    kept += end === "?" || end === "？" ? "\n" : text.slice(from, index + 1);
    from = index + 1;
  }
  return kept + text.slice(from);
}

// With an end, so that "tea" is not seen in "team".
function phraseOf(text: string): string {
  return ` ${wordsOf(text).join(" ")} `;
}

/** Of the middleware and of the tool. @internal */
export function checkLimits({
  topK,
  ranking,
  maxTokens,
  formatTemplate,
}: Pick<RecallOptions, "topK" | "ranking" | "maxTokens" | "formatTemplate">): void {
  if (topK !== undefined) checkWhole("topK", topK, 1, MOST_RECALLED);
  const { minScore } = checkRanking(ranking) ?? {};
  if (minScore !== undefined) checkNumber("ranking.minScore", minScore, -1, 1);
  if (maxTokens !== undefined) checkWhole("maxTokens", maxTokens, 0);
  checkFormat(formatTemplate);
}

function checkRecallOptions(call: string, given: RecallOptions): void {
  const options = checkOptions(call, RECALL_OPTIONS, given);
  checkPlace(call, options);
  checkLimits(options);
  const { injectionPosition, recallEach, pinned } = options;
  if (injectionPosition !== undefined) {
    checkChoice("injectionPosition", POSITIONS, injectionPosition);
  }
  if (recallEach !== undefined) checkChoice("recallEach", EACH, recallEach);
  checkFlag("skipSeen", options.skipSeen);
  checkListener("countTokens", options.countTokens);
  checkListener("querySelector", options.querySelector);
  if (pinned !== undefined && pinned !== true && typeof pinned !== "object") {
    throw invalid(`pinned must be true or a filter: ${show(pinned)}`);
  }
}
