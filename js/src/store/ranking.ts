// How a search finds and weighs what it finds, and what it tells about it.

import {
  checkChoice,
  checkCount,
  checkFlag,
  checkNumber,
  checkOptions,
  isList,
  type NamesOf,
  readInput,
  show,
  textsIn,
} from "../checks.js";
import { invalid } from "../errors.js";
import {
  type SearchItem as CoreSearchItem,
  type TextConfig as CoreTextConfig,
  Fusion,
  Language,
  type Ranking,
  SearchMode,
  SearchPlan,
} from "../wire/layout.js";
import { Origin } from "./provenance.js";

/** What of a value is text, and how items belong together. */
export interface TextOptions {
  /**
   * Paths of the texts, or the weight of each: `{ title: 2, "turns[*].text": 1 }`. A
   * field of weight 0 only says when the item was.
   * @default every string of the value; `date`, `createdAt` and their like say when
   */
  fields?: string[] | Record<string, number> | undefined;
  /**
   * Path of what an item is a part of, as the session of a turn: its neighbours raise it.
   * @default `session`, `thread_id` and their like
   */
  group?: string | undefined;
  /** Path of a number that orders the items of a group. @default the order of the first puts */
  position?: string | undefined;
  /**
   * Path of who says it: a question that names a speaker is about what that speaker says.
   * @default `speaker`, `author`, `role` and their like
   */
  speaker?: string | undefined;
  /**
   * Whose words are stemmed. Cyrillic and scripts without spaces need no choice.
   * @default "english"
   */
  language?: Language | undefined;
}

/**
 * How searches find and weigh what they find: of one search, of all searches of a memory, and what
 * `tune()` answers. Nothing of it is stored.
 */
export interface RankingOptions {
  /**
   * `vector`: by meaning, `score` is the cosine. `contains`: the query is part of
   * the key, or of a string or number in the value. `text`: by the words of the query, `score`
   * is 0…1, and what matches nothing is no hit. `hybrid`: by `text` and `vector`, or by `text`
   * alone in a store without an index. `auto`: `vector` if the store has an index, else
   * `text`, and what contains the query is a hit, too.
   * @default the embedder's own (`embeddings.ranking`), or "auto"
   */
  mode?: SearchMode | undefined;
  /** Hits with a lower score are left out. */
  minScore?: number | undefined;
  /**
   * `weighted`: scores, the vectors' if items that share words are near each other.
   * `standout`: for a rough embedder: the less sure the words are, the more its vectors count.
   * `reciprocalRank`: ranks only.
   * @default the embedder's own (`embeddings.ranking`), or "weighted"
   */
  fusion?: Fusion | undefined;
  /** 0…1, of `hybrid`: the words have the rest. @default 0.3 */
  vectorWeight?: number | undefined;
  /** 0…1, of `text` and `hybrid`: how much of its score an old item loses. @default 0 */
  recency?: number | undefined;
  /** Days after which half of that is lost. @default 7 */
  halfLifeDays?: number | undefined;
  /**
   * Of `text` and `hybrid`: paths of numbers −1…1 of the value that raise a hit, or lower it:
   * `{ importance: 0.5 }`.
   */
  boosts?: Record<string, number> | undefined;
  /**
   * 0…1: what a hit of an origin is worth, in searches by vector, too: `{ web: 0.5 }`. What a
   * search gives no score is not ranked.
   */
  origins?: Partial<Record<Origin | "unknown", number>> | undefined;
  /** 0…1, of `text` and `hybrid`: how much a hit loses that says what one before it said. @default 0 */
  diversity?: number | undefined;
  /**
   * How a search by vector finds its candidates. `exact`: reads all vectors. `codes`: scans
   * a byte per dimension and reads the best; finds the same. `graph`: follows HNSW, and may
   * miss some; without a graph (`buildIndex()`) as `auto`. `auto`: what costs least.
   * `explain` tells what was done. @default "auto"
   */
  plan?: SearchPlan | undefined;
  /**
   * Of `graph`: how many of what it finds are held in view, "ef" in the paper. More raises
   * recall and costs in proportion. @default as the vectors need it: 64 to 640, and at least four
   * times what is wanted
   */
  efSearch?: number | undefined;
}

/** A piece of an item's text, and where in it what was asked for stands. */
export interface Snippet {
  text: string;
  /** Begin and end of each, as for `text.slice()`. */
  highlights: [number, number][];
}

/** @internal */
export const RANKING_OPTIONS: NamesOf<RankingOptions> = {
  mode: 1,
  minScore: 1,
  fusion: 1,
  vectorWeight: 1,
  recency: 1,
  halfLifeDays: 1,
  boosts: 1,
  origins: 1,
  diversity: 1,
  plan: 1,
  efSearch: 1,
};
/** @internal */
export const TEXT: NamesOf<TextOptions> = {
  fields: 1,
  group: 1,
  position: 1,
  speaker: 1,
  language: 1,
};
const MS_PER_DAY = 86_400_000;
// A second, and longer than anybody keeps anything.
const LEAST_DAYS = 0.00002;
const MOST_DAYS = 1_000_000;
const SNIPPET_BYTES = 160;
const DEFAULTS = { vectorWeight: 0.3, halfLifeDays: 7 };

/** By words and meaning: what suits most. @internal */
export const HYBRID: RankingOptions = { mode: "hybrid" };

/** Scores by words below this say too little to be shown to a model. @internal */
export const GATE = 0.07;

/** What is told about a hit. */
interface Telling {
  explain?: boolean | undefined;
  snippet?: boolean | number | undefined;
}

/** A copy, all of whose names are known. @internal */
export function checkRanking(given: RankingOptions | undefined): RankingOptions | undefined {
  return given === undefined ? undefined : checkOptions("ranking", RANKING_OPTIONS, given);
}

/** How the searches of a store are ranked that do not say it themselves. @internal */
export class UsualRanking {
  readonly mode: SearchMode;
  /** Undefined if nobody said one. */
  readonly saidMode: SearchMode | undefined;
  readonly #fusion: Fusion | undefined;
  // Undefined where a search has nothing of it: most stores have none.
  readonly #weights: RankingOptions | undefined;

  /** What the store is told, and what its model says of itself. */
  constructor(given: RankingOptions = {}, model: RankingOptions = {}, hasIndex = false) {
    const { mode, fusion, ...weights } = given;
    this.saidMode = mode ?? model.mode;
    this.mode = checkChoice("ranking.mode", SearchMode, this.saidMode ?? "auto");
    this.#fusion = fusion ?? model.fusion;
    const said = definedOf(weights);
    this.#weights = Object.keys(said).length === 0 ? undefined : said;
    // Of its own, so that a mistake is not told by the first search.
    rankingToCore({ ...given }, {});
    planOf(given);
    const unheard = WORD_WEIGHTS.filter((name) => name in said);
    if (unheard.length > 0 && !isByWords(this.mode, hasIndex)) {
      throw invalid(
        `ranking.${unheard[0]} is of searches by words: give ranking a mode beside it, "text" or "hybrid"`,
      );
    }
  }

  /** That of a search: its own, and what it leaves to the store. */
  of(own: RankingOptions | undefined, mode: SearchMode, isQuestion: boolean, hasIndex: boolean) {
    const fusion = mode === "hybrid" ? this.#fusion : undefined;
    if (this.#weights === undefined || !isQuestion || mode === "contains") {
      return fusion === undefined ? own : { fusion, ...definedOf(own) };
    }
    const usual = { ...this.#weights, fusion };
    if (!isByWords(mode, hasIndex)) for (const name of WORD_WEIGHTS) delete usual[name];
    return { ...usual, ...definedOf(own) };
  }
}

// What the core refuses of a search by vector.
const WORD_WEIGHTS = ["recency", "halfLifeDays", "boosts", "diversity"] as const;

function isByWords(mode: SearchMode, hasIndex: boolean): boolean {
  return mode === "text" || mode === "hybrid" || (mode === "auto" && !hasIndex);
}

function definedOf(options: RankingOptions = {}): RankingOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** How a search goes through the vectors. @internal */
export function planOf({ plan, efSearch }: RankingOptions = {}) {
  return {
    plan: plan === undefined ? undefined : checkChoice("plan", SearchPlan, plan),
    efSearch: checkCount("efSearch", efSearch),
  };
}

/** Undefined if nothing differs from the core's defaults. @internal */
export function rankingToCore(
  options: RankingOptions | undefined,
  { explain, snippet }: Telling,
): Ranking | undefined {
  if (options === undefined && explain === undefined && snippet === undefined) return undefined;
  const given = options ?? {};
  return {
    minScore: given.minScore === undefined ? undefined : checkNumber("minScore", given.minScore),
    fusion: checkChoice("fusion", Fusion, given.fusion ?? "weighted"),
    vectorWeight: checkNumber("vectorWeight", given.vectorWeight ?? DEFAULTS.vectorWeight, 0, 1),
    recency: checkNumber("recency", given.recency ?? 0, 0, 1),
    halfLife: Math.round(
      checkNumber(
        "halfLifeDays",
        given.halfLifeDays ?? DEFAULTS.halfLifeDays,
        LEAST_DAYS,
        MOST_DAYS,
      ) * MS_PER_DAY,
    ),
    boosts: weights("boosts", given.boosts ?? {}),
    diversity: checkNumber("diversity", given.diversity ?? 0, 0, 1),
    explain: checkFlag("explain", explain) ?? false,
    snippetLength: snippetLength(snippet),
    origins: byOrigin("origins", given.origins ?? {}, weightOf),
  };
}

const ORIGINS = { ...Origin, unknown: 0 };

/** What is said of each origin: `{ web: … }`. @internal */
export function byOrigin<T, R>(
  name: string,
  given: Partial<Record<keyof typeof ORIGINS, T>>,
  read: (name: string, one: T) => R,
): ({ origin: keyof typeof ORIGINS } & R)[] {
  if (typeof given !== "object" || given === null || isList(given)) {
    throw invalid(
      `${name} must say something of each origin, such as { web: 0.5 }: ${show(given)}`,
    );
  }
  return readInput(name, () => Object.entries(given)).flatMap(([origin, one]) => {
    const known = checkChoice(`an origin of ${name}`, ORIGINS, origin as keyof typeof ORIGINS);
    return one === undefined ? [] : [{ origin: known, ...read(`${name}.${known}`, one as T) }];
  });
}

function weightOf(name: string, weight: number): { weight: number } {
  return { weight: checkNumber(name, weight, 0, 1) };
}

/** @internal */
export function textToCore(text: TextOptions): CoreTextConfig {
  const { fields = [], group = "", position = "", speaker = "", language = "english" } = text;
  for (const [name, path] of Object.entries({ group, position, speaker })) {
    if (typeof path !== "string") {
      throw invalid(`text.${name} must be a field path, such as "${name}": ${show(path)}`);
    }
  }
  const list = textsIn(fields);
  const even = list && Object.fromEntries(list.map((path) => [path, 1] as const));
  return {
    fields: weights("text.fields", even ?? fields),
    group,
    position,
    speaker,
    language: checkChoice("text.language", Language, language),
  };
}

/** @internal */
export function explanationOf(
  item: Pick<CoreSearchItem, "parts">,
): Record<string, number> | undefined {
  if (item.parts.length === 0) return undefined;
  return Object.fromEntries(item.parts.map(({ name, value }) => [name, value]));
}

/** The core counts bytes, JavaScript UTF-16 units. @internal */
export function snippetOf(item: CoreSearchItem): Snippet | undefined {
  if (item.snippet === undefined) return undefined;
  const { text, highlights } = item.snippet;
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  const unitsBefore = (end: number) => decoder.decode(bytes.subarray(0, end)).length;
  return {
    text,
    highlights: highlights.map(({ begin, end }) => [unitsBefore(begin), unitsBefore(end)]),
  };
}

function snippetLength(snippet: boolean | number | undefined): number {
  if (snippet === undefined || snippet === false) return 0;
  if (snippet === true) return SNIPPET_BYTES;
  if (Number.isInteger(snippet) && snippet > 0 && snippet <= 0xffff_ffff) return snippet;
  throw invalid(`snippet must be true, false or a positive number of bytes: ${show(snippet)}`);
}

function weights(name: string, fields: unknown): { path: string; weight: number }[] {
  if (typeof fields !== "object" || fields === null || isList(fields)) {
    throw invalid(`${name} must be weights by their paths, such as { title: 2 }: ${show(fields)}`);
  }
  return readInput(name, () => Object.entries(fields)).map(([path, weight]) => ({
    path,
    weight: checkNumber(`${name}["${path}"]`, weight),
  }));
}
