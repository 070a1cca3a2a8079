// What was tried, and what came of it: found by what it was like, weighed when it is read.

import {
  checkFlag,
  checkNumber,
  checkOptions,
  checkText,
  checkWhole,
  type NamesOf,
  readInput,
} from "../checks.js";
import { invalid, KeepsakeError } from "../errors.js";
import { asLine, fencedWithin, originOf } from "../prompt/item-text.js";
import { type GivenProvenance, isForeign, toldOf } from "../store/provenance.js";
import { HYBRID } from "../store/ranking.js";
import { guarded, SecretGuard, type SecretHandling, type SecretOptions } from "../store/secrets.js";
import type { Item, SearchItem } from "../store/store-operations.js";
import { BY_MODEL, type HasStore, type ItemStore, itemAt, type Place, placeOf } from "./place.js";

/** A try: where one was, what one did, what came of it. */
export interface Episode {
  state: string;
  action: string;
  outcome: string;
  /** −1 for what failed to 1 for what worked. */
  reward: number;
  /** 0 to 1. @default 0 */
  importance?: number | undefined;
  /** Never loses by age. @default false */
  pinned?: boolean | undefined;
}

/** An episode that is like the state that was asked about, and whose word it is. */
export interface RecalledEpisode extends Episode, Pick<Item, "origin" | "source"> {
  key: string;
  /** Whether its reward is below 0. */
  failed: boolean;
  /** How often `used()` was told of it. */
  uses: number;
  /** How like it is, as the search says. */
  similarity: number;
  /** The same, with the weights. */
  score: number;
}

/** How much each counts, from 0 for not at all. */
export interface EpisodeWeights {
  /** @default 0.5 */
  reward: number;
  /** 0…1: what an old episode loses; half of it after `halfLifeDays`. @default 0.5 */
  recency: number;
  /** @default 0.5 */
  importance: number;
  /** @default 0.2 */
  uses: number;
}

/** Where episodes are, and how they are weighed. */
export interface EpisodesOptions {
  /** @default ["episodes"] */
  namespace?: string[] | undefined;
  weights?: Partial<EpisodeWeights> | undefined;
  /** @default 30 */
  halfLifeDays?: number | undefined;
  /** What becomes of keys, tokens and card numbers in what is recorded. @default "mask" */
  secrets?: SecretHandling | SecretOptions | undefined;
  /** Milliseconds since 1970. @default Date.now */
  now?: (() => number) | undefined;
}

/** Which episodes are recalled. */
export interface RecallEpisodesOptions {
  /** @default 5 */
  limit?: number | undefined;
  /** What is less like the state is left out. @default 0.15 */
  minSimilarity?: number | undefined;
  filter?: Record<string, unknown> | undefined;
}

const EPISODE: NamesOf<Episode> = {
  state: 1,
  action: 1,
  outcome: 1,
  reward: 1,
  importance: 1,
  pinned: 1,
};
const WEIGHTS: NamesOf<EpisodeWeights> = { reward: 1, recency: 1, importance: 1, uses: 1 };
const OPTIONS: NamesOf<EpisodesOptions> = {
  namespace: 1,
  weights: 1,
  halfLifeDays: 1,
  secrets: 1,
  now: 1,
};
const RECALL: NamesOf<RecallEpisodesOptions> = { limit: 1, minSimilarity: 1, filter: 1 };
const DEFAULTS: EpisodeWeights = { reward: 0.5, recency: 0.5, importance: 0.5, uses: 0.2 };
const MS_PER_DAY = 86_400_000;
// The best by likeness, of which the weights choose.
const CANDIDATES = 50;
// Of the lessons in a prompt.
const MOST_TOKENS = 1000;

/**
 * The episodes of a memory, of a scope of one, or of a store.
 *
 *     const tries = episodes(memory.scoped({ user: "ada" }));
 *     await tries.record({ state, action, outcome: "the door opened", reward: 1 });
 *     const lessons = await tries.lessons("a locked door");
 */
export function episodes(memory: HasStore | object, options?: EpisodesOptions): Episodes {
  return new Episodes(memory, options);
}

/** Episodes in a namespace of a store: `episodes()` makes one. */
export class Episodes {
  readonly #place: Place;
  readonly #weights: EpisodeWeights;
  readonly #halfLife: number;
  readonly #secrets: SecretGuard | undefined;
  readonly #now: () => number;

  /** @internal */
  constructor(memory: HasStore | object, given?: EpisodesOptions) {
    const options = checkOptions("episodes", OPTIONS, given);
    const { namespace = ["episodes"], halfLifeDays = 30, now = Date.now } = options;
    this.#place = readInput("what episodes takes", () => {
      const store = "store" in Object(memory) ? (memory as HasStore).store : memory;
      return placeOf("episodes", { store, namespace }, {});
    });
    if (namespace.length === 0) throw invalid("namespace of episodes must not be empty");
    this.#weights = { ...DEFAULTS, ...checkOptions("weights", WEIGHTS, options.weights) };
    for (const [name, weight] of Object.entries(this.#weights)) checkNumber(name, weight, 0, 1);
    this.#halfLife = checkNumber("halfLifeDays", halfLifeDays, 0.001) * MS_PER_DAY;
    this.#secrets = SecretGuard.of(options.secrets, "mask");
    this.#now = now;
  }

  /** Stores an episode, by one put; under a new key unless one is given, which it answers. */
  async record(episode: Episode, key: string = crypto.randomUUID()): Promise<string> {
    const {
      state,
      action,
      outcome,
      reward,
      importance = 0,
      pinned = false,
    } = checkOptions("record", EPISODE, episode);
    const value = {
      state: checkText("state", state),
      action: checkText("action", action),
      outcome: checkText("outcome", outcome),
      reward: checkNumber("reward", reward, -1, 1),
      importance: checkNumber("importance", importance, 0, 1),
      pinned: checkFlag("pinned", pinned),
      uses: 0,
    };
    this.#secrets?.name(key, "the key of the episode");
    await this.#put(key, guarded(this.#secrets, value, "the episode").value);
    return key;
  }

  /** Those of a like state: what worked first, then what failed; the best of each first. */
  async recall(state: string, given?: RecallEpisodesOptions): Promise<RecalledEpisode[]> {
    const options = checkOptions("recall", RECALL, given);
    const { limit = 5, minSimilarity = 0.15, filter } = options;
    checkWhole("limit", limit, 0);
    checkNumber("minSimilarity", minSimilarity, -1, 1);
    const most = Math.max(CANDIDATES, limit);
    const hits = await this.#store.search(this.#place.labels, {
      query: checkText("state", state),
      limit: most,
      ranking: HYBRID,
      ...(filter !== undefined && { filter }),
    });
    return hits
      .filter(({ score = -1 }) => score >= minSimilarity)
      .map((hit) => this.#weigh(hit))
      .sort((a, b) => Number(a.failed) - Number(b.failed) || b.score - a.score)
      .slice(0, limit);
  }

  /** The same for a prompt, in 1,000 tokens: a line each, fenced as data, failures marked; "" if there is none. Says how many do not fit. */
  async lessons(state: string, options?: RecallEpisodesOptions): Promise<string> {
    const found = await this.recall(state, options);
    const lines = found.map((episode) => {
      const { failed, state, action, outcome } = episode;
      const line = asLine(`- ${failed ? "FAILED" : "worked"}: ${action} (${state}): ${outcome}`);
      // All others are the agent's own.
      return isForeign(episode) ? line + originOf(episode) : line;
    });
    return fencedWithin(MOST_TOKENS, "episodes", lines);
  }

  /** Notes that an episode was of use. Of two calls at once one may be lost. */
  async used(key: string): Promise<void> {
    const item = await itemAt(this.#place, key);
    if (item === undefined) {
      throw new KeepsakeError("not_found", `there is no episode ${JSON.stringify(key)}`);
    }
    const { origin, source } = item;
    await this.#put(key, { ...item.value, uses: usesOf(item) + 1 }, { origin, source });
  }

  async forget(key: string): Promise<void> {
    await this.#store.delete(this.#place.labels, key);
  }

  get #store(): ItemStore {
    return this.#place.store;
  }

  // Only the state is embedded: it is what others are compared with.
  #put(key: string, value: object, from: GivenProvenance = BY_MODEL): Promise<void> {
    return this.#store.put(this.#place.labels, key, value, ["state"], from);
  }

  #weigh(hit: SearchItem): RecalledEpisode {
    const episode = hit.value as unknown as Required<Episode>;
    const { reward, importance, pinned } = episode;
    const { recency, ...weights } = this.#weights;
    const uses = usesOf(hit);
    const age = Math.max(0, this.#now() - Number(hit.updatedAt));
    const kept = pinned ? 1 : 1 - recency * (1 - 0.5 ** (age / this.#halfLife));
    const similarity = hit.score ?? 0;
    const score =
      similarity *
      kept *
      raised(weights.reward, reward) *
      raised(weights.importance, importance) *
      raised(weights.uses, 1 - 1 / (1 + uses));
    const { key } = hit;
    return { ...episode, ...toldOf(hit), key, failed: reward < 0, uses, similarity, score };
  }
}

// What is 1 keeps the score; what is 0 loses the more, the more it counts.
function raised(weight: number, value: number): number {
  return (1 + weight * value) / (1 + weight);
}

function usesOf({ value }: Item): number {
  return typeof value.uses === "number" ? value.uses : 0;
}
