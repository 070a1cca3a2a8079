// Facts that the user's own model finds in a conversation, after each turn and in the background.
//
//   noted      a turn is an item in the store until it is done: a restart loses nothing.
//   read       the hook is given its messages and the facts that are like them. What it answers is
//              kept with the turn before any of it is done, so that nobody is asked twice.
//   done       each change goes through the rules of remember.ts. Done twice it is as done once.
//   failed     it is tried again later, each time after a longer wait. After `maxFailures` it is set
//              aside: the number of its failures, which is stored with it, keeps it from being tried.

import type { BaseMessage } from "@langchain/core/messages";
import {
  checkFlag,
  checkList,
  checkListener,
  checkNumber,
  checkOptions,
  checkText,
  checkWhole,
  type NamesOf,
} from "../checks.js";
import { Mutex } from "../engine/mutex.js";
import { invalid, KeepsakeError, messageOf } from "../errors.js";
import { textOf, unfenced, withoutFenced } from "../prompt/item-text.js";
import { tokensOf } from "../prompt/tokens.js";
import { HYBRID } from "../store/ranking.js";
import { guarded, SecretGuard, type SecretHandling, type SecretOptions } from "../store/secrets.js";
import type { Item, SearchItem } from "../store/store-operations.js";
import { BRAND, type MemoryMiddleware } from "./middleware.js";
import type { MemoryNode } from "./nodes.js";
import {
  BY_MODEL,
  checkPlace,
  facts,
  itemAt,
  PLACE_OPTIONS,
  type Place,
  type PlaceOptions,
  placeOf,
  type Run,
  UNLEARNT,
} from "./place.js";
import { areAlike, hashKey, judge, type Remembered, remember, type Source } from "./remember.js";
import { isRefusal, sourceOf } from "./tools.js";
import { wordsOf } from "./words.js";

/** What somebody said. */
export interface TurnMessage {
  role: "user" | "assistant";
  text: string;
  id?: string | undefined;
}

/** A fact that is stored. */
export interface KnownFact {
  key: string;
  text: string;
  value: Record<string, unknown>;
}

/** A fact to be stored: its text, and whatever else its item is to have. */
export interface NewFact {
  text: string;
  [field: string]: unknown;
}

/** What a hook wants to be done, in this order. */
export interface FactChanges {
  /** New facts, or their texts. What is known already is not stored again. */
  put?: (string | NewFact)[] | undefined;
  /** Facts that take the place of stored ones, by key; the old text stays in `supersedes`. */
  update?: (NewFact & { key: string })[] | undefined;
  /** Keys. A pinned item stays. */
  delete?: string[] | undefined;
}

/** What `extract` is given. */
export interface TurnToLearn {
  /** From the user's message to the answer. */
  messages: TurnMessage[];
  /** Stored facts that are like it, the nearest first. */
  near: KnownFact[];
  source?: Source | undefined;
  signal?: AbortSignal | undefined;
}

/** What `consolidate` is given: facts that say nearly the same, the newest first. */
export interface FactsToConsolidate {
  facts: KnownFact[];
  signal?: AbortSignal | undefined;
}

type Answer = FactChanges | null | undefined;

/** How much the hooks may do in one run. */
export interface LearnBudget {
  /** Calls of hooks. @default 20 */
  maxCalls?: number | undefined;
  /** Tokens of all texts that hooks are given. A turn that is larger waits. @default no limit */
  maxTokens?: number | undefined;
  /**
   * Failures of one turn, or of one group of facts, after which it is set aside: it stays in the
   * store, and only a run with a larger number tries it again. @default 5
   */
  maxFailures?: number | undefined;
}

/** Whose facts, and who finds them. */
export interface LearnerOptions extends PlaceOptions, LearnBudget {
  /** Finds the facts in a turn: a call of your model. */
  extract: (turn: TurnToLearn) => Answer | Promise<Answer>;
  /** Makes one of facts that are alike. @default they stay beside each other */
  consolidate?: ((group: FactsToConsolidate) => Answer | Promise<Answer>) | undefined;
  /**
   * What becomes of keys, tokens and card numbers in turns that wait and in facts. `extract` is
   * shown what is kept. @default "mask"
   */
  secrets?: SecretHandling | SecretOptions | undefined;
  /** Stored facts that `extract` is shown at most. @default 10 */
  topK?: number | undefined;
  /** How tokens are counted. @default a third of the bytes in UTF-8 */
  countTokens?: ((text: string) => number) | undefined;
  /** Keeps a Worker alive until the background is done: `(work) => ctx.waitUntil(work)`. */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined;
  /** Told of each run in the background. @default what failed is warned of on the console */
  onRun?: ((report: LearnReport) => void) | undefined;
}

/** How one run goes. */
export interface LearnOptions extends LearnBudget {
  /** Asks the hooks, but only says what would be done: nothing is written. @default false */
  dryRun?: boolean | undefined;
  /** Ends it between two changes. What is not done stays. */
  signal?: AbortSignal | undefined;
}

/** A change, and what became of it. */
export interface LearntChange {
  kind: "put" | "update" | "delete";
  /**
   * `known`, `merged`, `replaced`, `stored` or `missing`, as remembered texts are. `deleted`, or
   * not: `pinned`, which what the user pinned is also for an update, or `kept` because something
   * of the same answer was put there. `refused`: the
   * store takes no such fact, by its policy or because of a secret that is to be refused.
   */
  outcome: Remembered["outcome"] | "deleted" | "pinned" | "kept" | "refused";
  key: string;
  text?: string | undefined;
  /** The kind of each secret that was masked in it. */
  masked?: string[] | undefined;
}

/** What a run did, or would do. */
export interface LearnReport {
  dryRun: boolean;
  /** Of hooks. */
  calls: number;
  tokens: number;
  changes: LearntChange[];
  /** Turns and groups of facts that are left for later runs. */
  waiting: number;
  /** What failed once too often in this run, or could not be kept with its failure. */
  setAside: number;
  /**
   * Why it ended early: what a hook threw or answered wrongly, or what the store did. What failed
   * is tried again after 1, 5, 25 minutes and so on, unless it is set aside.
   */
  error?: string | undefined;
}

const LEARNER: NamesOf<LearnerOptions> = {
  ...PLACE_OPTIONS,
  extract: 1,
  consolidate: 1,
  secrets: 1,
  topK: 1,
  maxCalls: 1,
  maxTokens: 1,
  maxFailures: 1,
  countTokens: 1,
  waitUntil: 1,
  onRun: 1,
};
const LEARN: NamesOf<LearnOptions> = {
  maxCalls: 1,
  maxTokens: 1,
  maxFailures: 1,
  dryRun: 1,
  signal: 1,
};
const CHANGES: NamesOf<FactChanges> = { put: 1, update: 1, delete: 1 };

/** What waits, as it is stored. */
interface Waiting {
  kind: "turn" | "group";
  /** Milliseconds since 1970: when it was noted, or when it may be tried again. */
  at: number;
  failures: number;
  messages?: TurnMessage[];
  source?: Source | undefined;
  /** Of the facts of a group. */
  keys?: string[];
  /** What the hook answered. */
  changes?: Change[];
}
type Entry = Waiting & { name: string };
type Change =
  | { kind: "put"; fact: NewFact }
  | { kind: "update"; key: string; fact: NewFact }
  | { kind: "delete"; key: string };

const NOTHING = { calls: 0, tokens: 0, waiting: 0, setAside: 0 };
const NOT_STORED: ReadonlySet<LearntChange["outcome"]> = new Set(["missing", "pinned", "refused"]);
const MOST_WAITING = 1000;
// Milliseconds after the first failure. So an outage of two hours sets nothing aside.
const FIRST_WAIT = 60_000;
const WAIT_GROWTH = 5;
// Those of one place run one after the other, whichever learner began them.
const mutexes = new WeakMap<object, Map<string, Mutex>>();

/**
 * Learns from conversations by a model of yours: `extract` finds the facts in each turn, after
 * the turn, in the background. What is not done yet is kept in the store.
 *
 *     const learns = learner({ memory, scope: "user", extract: async ({ messages, near }) => … });
 *     createAgent({ model, middleware: [learns.middleware(), memoryMiddleware(hers)] });
 */
export function learner(options: LearnerOptions): Learner {
  return new Learner(options);
}

/** Finds facts in what was said: `learner()` makes one. */
export class Learner {
  readonly #options: LearnerOptions;
  readonly #secrets: SecretGuard | undefined;
  readonly #background = new Set<Promise<unknown>>();
  #notedAt = 0; // the last turn

  /** @internal */
  constructor(given: LearnerOptions) {
    const options = checkOptions("learner", LEARNER, given);
    checkPlace("learner", options);
    if (typeof options.extract !== "function") {
      throw invalid("learner needs extract: a function that finds the facts in a turn");
    }
    for (const name of ["consolidate", "countTokens", "waitUntil", "onRun"] as const) {
      checkListener(name, options[name]);
    }
    checkWhole("topK", options.topK ?? 0, 0, 100);
    checkBudget(options);
    this.#secrets = SecretGuard.of(options.secrets, "mask");
    this.#options = options;
  }

  /** For `createAgent()`: notes each turn when the model has answered. */
  middleware(name: string = "learner"): MemoryMiddleware {
    checkText("name", name);
    const wrapModelCall: MemoryMiddleware["wrapModelCall"] = async (request, handler) => {
      const answer = await handler(request);
      const message = answer as unknown as BaseMessage & { tool_calls?: unknown[] };
      if ((message.tool_calls?.length ?? 0) > 0) return answer;
      const state = request.state as { messages?: BaseMessage[] };
      const run = { ...(request.runtime as Run), state };
      await this.#noteOrTell([...(state.messages ?? request.messages), message], run);
      return answer;
    };
    return { [BRAND]: true, name, wrapModelCall } as unknown as MemoryMiddleware;
  }

  /** For a `StateGraph`: a node after the one that answers, which notes `messages`. */
  node(): MemoryNode {
    return async (state, run = {}) => {
      await this.#noteOrTell(state?.messages, { ...run, state });
      return {};
    };
  }

  /**
   * Keeps the last turn of these messages, and begins to learn from it in the background.
   * Resolves when it is kept.
   */
  async note(messages: BaseMessage[], run: Run = {}): Promise<void> {
    const said = turnIn(checkList("messages", messages));
    if (said.length === 0) return;
    const place = this.#placeOf(run);
    const source = sourceOf(run);
    const name = hashKey(JSON.stringify([source?.thread_id, said]));
    // Turns of one millisecond keep their order, too.
    this.#notedAt = Math.max(Date.now(), this.#notedAt + 1);
    const at = this.#notedAt;
    await add(place, { name, kind: "turn", at, failures: 0, messages: said, source });
    const work: Promise<void> = this.#workBehind(place).finally(() =>
      this.#background.delete(work),
    );
    this.#background.add(work);
    this.#options.waitUntil?.(work);
  }

  /** Learns now from all that waits for this run's user, within a budget. */
  async run(run: Run = {}, given?: LearnOptions): Promise<LearnReport> {
    const options = checkOptions("run", LEARN, given);
    checkBudget(options);
    checkFlag("dryRun", options.dryRun);
    return this.#work(this.#placeOf(run), options);
  }

  /** Resolves when nothing goes on in the background. */
  async settled(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }

  #placeOf(run: Run): Place {
    return { ...placeOf("learner", this.#options, run), secrets: this.#secrets };
  }

  // What a store may not keep is no reason to lose the answer.
  async #noteOrTell(messages: BaseMessage[], run: Run): Promise<void> {
    try {
      await this.note(messages, run);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#tell(failure(error), "the turn is not learnt from");
    }
  }

  async #workBehind(place: Place): Promise<void> {
    let isExpected = false;
    const report = await this.#work(place, {}).catch((error: unknown) => {
      // Where the memory was closed the next start goes on.
      isExpected = isClosed(error);
      return { ...failure(error), waiting: 1 };
    });
    this.#tell(report, isExpected ? undefined : consequenceOf(report));
  }

  #tell(report: LearnReport, consequence: string | undefined): void {
    const { onRun } = this.#options;
    if (onRun !== undefined) onRun(report);
    else if (report.error !== undefined && consequence !== undefined) {
      console.warn(`[keepsake] learner: ${report.error}; ${consequence}`);
    }
  }

  #work(place: Place, options: LearnOptions): Promise<LearnReport> {
    return mutexAt(place).run(() => new LearnRun(place, this.#options, options).all());
  }
}

/** One run: what waits, the oldest first, until it is done or the budget is spent. */
class LearnRun {
  readonly #place: Place;
  readonly #hooks: LearnerOptions;
  readonly #options: LearnOptions;
  readonly #report: LearnReport;

  constructor(place: Place, hooks: LearnerOptions, options: LearnOptions) {
    this.#place = place;
    this.#hooks = hooks;
    this.#options = options;
    const dryRun = options.dryRun ?? false;
    this.#report = { dryRun, ...NOTHING, changes: [] };
  }

  get #maxCalls(): number {
    return this.#options.maxCalls ?? this.#hooks.maxCalls ?? 20;
  }

  get #maxFailures(): number {
    return this.#options.maxFailures ?? this.#hooks.maxFailures ?? 5;
  }

  async all(): Promise<LearnReport> {
    const report = this.#report;
    const entries = await waitingAt(this.#place, this.#maxFailures);
    while (entries.length > 0 && report.error === undefined) {
      const entry = entries.shift() as Entry;
      const next = await this.#one(entry).catch((error: unknown) => this.#failed(entry, error));
      if (next === "later") report.waiting++;
      else if (next !== undefined && !entries.some(({ name }) => name === next.name)) {
        entries.push(next);
      }
    }
    report.waiting += entries.length;
    return report;
  }

  // Answers what is to be done afterwards, if anything.
  async #one(entry: Entry): Promise<Entry | "later" | undefined> {
    this.#options.signal?.throwIfAborted();
    const current = await currentOf(this.#place, entry);
    if (current === undefined || current.failures >= this.#maxFailures) return undefined;
    if (current.failures > 0 && current.at > Date.now()) return "later";
    const changes = current.changes ?? (await this.#ask(current));
    if (changes === "later") return "later";
    // What was told before it was cut off is told no more.
    const isResumed = current.changes !== undefined;
    const news: string[] = [];
    const going = new Set(changes.flatMap((one) => (one.kind === "delete" ? [one.key] : [])));
    for (const change of changes) {
      this.#options.signal?.throwIfAborted();
      const done = await this.#apply(change, going, current.source).catch((error: unknown) =>
        refusedAt(change, error),
      );
      this.#report.changes.push(done);
      // What was put there stays there.
      if (change.kind === "delete") continue;
      if (NOT_STORED.has(done.outcome)) continue;
      going.delete(done.key);
      if (done.outcome !== "known" || isResumed) news.push(change.fact.text);
    }
    if (this.#report.dryRun) return undefined;
    const group = current.kind === "turn" ? await this.#groupOf(news) : undefined;
    const next = group && (await add(this.#place, group));
    await drop(this.#place, current);
    return next;
  }

  // Counted behind what another process counted meanwhile. Last, so that it stands in the way of
  // nothing.
  async #failed(entry: Entry, error: unknown): Promise<"later" | undefined> {
    this.#options.signal?.throwIfAborted();
    if (isClosed(error)) throw error;
    const report = this.#report;
    report.error = messageOf(error);
    if (report.dryRun) return "later";
    const current = await currentOf(this.#place, entry);
    if (current === undefined) return undefined;
    const failures = current.failures + 1;
    const at = Date.now() + FIRST_WAIT * WAIT_GROWTH ** current.failures;
    const isKept = await this.#keepUnlessRefused({ ...current, failures, at });
    if (isKept && failures < this.#maxFailures) return "later";
    // What cannot be counted would be paid for without end.
    if (!isKept) await drop(this.#place, current);
    report.setAside++;
    return undefined;
  }

  async #ask(entry: Entry): Promise<Change[] | "later"> {
    const { extract, consolidate } = this.#hooks;
    const { signal } = this.#options;
    if (this.#report.calls >= this.#maxCalls) return "later";
    const near = await this.#factsFor(entry);
    const { messages = [], source } = entry;
    if (entry.kind === "group" && (near.length < 2 || consolidate === undefined)) return [];
    if (!this.#canAfford([...messages, ...near])) return "later";
    const answer =
      entry.kind === "turn"
        ? await extract({ messages, near, source, signal })
        : await consolidate?.({ facts: near, signal });
    const changes = changesIn(answer, entry.kind === "turn" ? "extract" : "consolidate");
    // From here on nobody is asked again, unless a policy refuses to keep the answer as a whole.
    if (!this.#report.dryRun) await this.#keepUnlessRefused({ ...entry, changes });
    return changes;
  }

  async #keepUnlessRefused(entry: Entry): Promise<boolean> {
    try {
      await keep(this.#place, entry);
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return false;
    }
  }

  async #factsFor({ kind, messages = [], keys = [] }: Entry): Promise<KnownFact[]> {
    if (kind === "group") {
      const items = await Promise.all(keys.map((key) => itemAt(this.#place, key)));
      return items.filter((item) => item !== undefined).map(factOf);
    }
    const { topK = 10 } = this.#hooks;
    const query = messages.map(({ text }) => text).join("\n");
    if (topK === 0) return [];
    const hits = await facts(this.#place, { query, limit: topK, ranking: HYBRID });
    return hits.filter(isAt(this.#place)).map(factOf);
  }

  // What it is given counts, whatever comes of it.
  #canAfford(texts: readonly { text: string }[]): boolean {
    const most = this.#options.maxTokens ?? this.#hooks.maxTokens ?? Number.POSITIVE_INFINITY;
    const { countTokens = tokensOf } = this.#hooks;
    const report = this.#report;
    const tokens = texts.reduce(
      (sum, { text }) => sum + checkNumber("what countTokens answers", countTokens(text), 0),
      0,
    );
    if (report.tokens + tokens > most) return false;
    report.calls++;
    report.tokens += tokens;
    return true;
  }

  async #apply(
    change: Change,
    going: ReadonlySet<string>,
    source: Source | undefined,
  ): Promise<LearntChange> {
    const { kind } = change;
    if (change.kind === "delete") {
      const { key } = change;
      return { kind, key, outcome: going.has(key) ? await this.#delete(key) : "kept" };
    }
    const { value: fact, masked } = guarded(this.#place.secrets, change.fact, "the fact");
    const { text, ...more } = fact;
    const options = {
      replaces: change.kind === "update" ? change.key : undefined,
      except: going,
      more,
    };
    const { outcome, key } = this.#report.dryRun
      ? await judge(this.#place, text, options)
      : await remember(this.#place, text, source, options);
    return { kind, outcome, key, text, ...(masked.length > 0 && { masked }) };
  }

  async #delete(key: string): Promise<"deleted" | "pinned" | "missing"> {
    const { store, labels } = this.#place;
    const item = await itemAt(this.#place, key);
    if (item === undefined) return "missing";
    if (item.value.pinned === true) return "pinned";
    if (!this.#report.dryRun) await store.delete(labels, key);
    return "deleted";
  }

  // Of what was stored, and what is like it.
  async #groupOf(news: readonly string[]): Promise<Entry | undefined> {
    if (this.#hooks.consolidate === undefined) return undefined;
    const group = new Map<string, string>();
    for (const text of news) {
      const query = wordsOf(text).join(" ");
      const hits = await facts(this.#place, { query, limit: 10, ranking: HYBRID });
      const alike = hits
        .filter(isAt(this.#place))
        .filter(({ value }) => areAlike(textOf(value), text));
      if (alike.length > 1) for (const { key, value } of alike) group.set(key, textOf(value));
    }
    if (group.size === 0) return undefined;
    const keys = [...group.keys()].sort();
    // With its texts: when one of them changes, a group that was set aside is another one.
    const name = hashKey(JSON.stringify(keys.map((key) => [key, group.get(key)])));
    return { name, kind: "group", at: Date.now(), failures: 0, keys };
  }
}

// It would be refused again: what comes after it goes on.
function refusedAt(change: Change, error: unknown): LearntChange {
  if (!isRefusal(error)) throw error;
  const { kind } = change;
  const key = kind === "put" ? "" : change.key;
  return { kind, outcome: "refused", key, ...(kind !== "delete" && { text: change.fact.text }) };
}

function checkBudget({ maxCalls, maxTokens, maxFailures }: LearnBudget): void {
  if (maxCalls !== undefined) checkWhole("maxCalls", maxCalls, 0);
  if (maxTokens !== undefined) checkWhole("maxTokens", maxTokens, 0);
  if (maxFailures !== undefined) checkWhole("maxFailures", maxFailures, 1);
}

// From where the user began to speak last. What tools answered is not said by anybody.
function turnIn(messages: readonly BaseMessage[]): TurnMessage[] {
  let from = messages.findLastIndex(({ type }) => type === "human");
  while (messages[from - 1]?.type === "human") from--;
  return messages.slice(Math.max(from, 0)).flatMap(({ type, text, id }) => {
    const said = withoutFenced(text);
    if ((type !== "human" && type !== "ai") || said === "") return [];
    return [{ role: type === "human" ? "user" : "assistant", text: said, ...(id && { id }) }];
  });
}

function changesIn(answer: Answer, hook: string): Change[] {
  const given = checkOptions(`what ${hook} answers`, CHANGES, answer);
  const list = <T>(name: keyof FactChanges) =>
    checkList(`${name} of what ${hook} answers`, (given[name] ?? []) as T[]);
  return [
    ...list<string | NewFact>("put").map((fact) => ({ kind: "put" as const, fact: newFact(fact) })),
    ...list<NewFact & { key: string }>("update").map(({ key, ...fact }) => ({
      kind: "update" as const,
      key: checkText("key of an update", key),
      fact: newFact(fact as NewFact),
    })),
    ...list<string>("delete").map((key) => ({
      kind: "delete" as const,
      key: checkText("key to delete", key),
    })),
  ].filter((change) => change.kind === "delete" || wordsOf(change.fact.text).length > 0);
}

function newFact(fact: string | NewFact): NewFact {
  const whole = typeof fact === "string" ? { text: fact } : fact;
  return { ...whole, text: unfenced(checkText("text of a fact", whole?.text)) };
}

function factOf({ key, value }: Item | SearchItem): KnownFact {
  return { key, text: textOf(value), value };
}

// A search is of what lies below, too.
function isAt({ labels }: Place): (item: SearchItem) => boolean {
  return ({ namespace }) => namespace.length === labels.length;
}

function failure(error: unknown): LearnReport {
  return { dryRun: false, ...NOTHING, changes: [], error: messageOf(error) };
}

function consequenceOf({ setAside }: LearnReport): string {
  if (setAside === 0) return "a later turn tries again";
  return "it is set aside: no run with this maxFailures tries it again";
}

function isClosed(error: unknown): boolean {
  return error instanceof KeepsakeError && error.code === "closed";
}

function mutexAt({ store, labels }: Place): Mutex {
  const places = mutexes.get(store) ?? new Map<string, Mutex>();
  mutexes.set(store, places);
  const name = JSON.stringify(labels);
  const mutex = places.get(name) ?? new Mutex();
  places.set(name, mutex);
  return mutex;
}

// ---- what waits

async function keep(place: Place, { name, ...waiting }: Entry): Promise<void> {
  const { store, labels, secrets } = place;
  const { value } = guarded(secrets, waiting, "the turn");
  await store.put([...labels, UNLEARNT], name, value, false, BY_MODEL);
}

// What is there already keeps its failures, and its answer.
async function add(place: Place, entry: Entry): Promise<Entry> {
  const current = await currentOf(place, entry);
  if (current === undefined) await keep(place, entry);
  return current ?? entry;
}

function drop({ store, labels }: Place, { name }: Entry): Promise<void> {
  return store.delete([...labels, UNLEARNT], name);
}

/** The oldest first, behind them what failed before. */
async function waitingAt({ store, labels }: Place, maxFailures: number): Promise<Entry[]> {
  const filter = { failures: { $lt: maxFailures } };
  const search = { limit: MOST_WAITING, filter, includeQuarantined: true };
  const items = await store.search([...labels, UNLEARNT], search);
  return items
    .map(entryOf)
    .sort((a, b) => a.failures - b.failures || a.at - b.at || (a.name < b.name ? -1 : 1));
}

// Another process may have done it.
async function currentOf({ store, labels }: Place, { name }: Entry): Promise<Entry | undefined> {
  const item = await store.get([...labels, UNLEARNT], name);
  return item === null ? undefined : entryOf(item);
}

function entryOf({ key, value }: Item | SearchItem): Entry {
  return { ...(value as unknown as Waiting), name: key };
}
