// How a search by text weighs what it finds, and what it tells about it.

import {
  checkChoice,
  checkFlag,
  checkNumber,
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

/** Of searches by `text` and `hybrid`. Nothing of it is stored. */
export interface RankingOptions {
  /** Hits with a lower score are left out. */
  minScore?: number | undefined;
  /**
   * `weighted`: scores, the vectors' if items that share words are near each other.
   * `standout`: for a rough embedder: the less sure the words are, the more its vectors count.
   * `reciprocalRank`: ranks only.
   * @default the embedder's own (`embeddings.fusion`), or "weighted"
   */
  fusion?: Fusion | undefined;
  /** 0…1, of `hybrid`: the words have the rest. @default 0.3 */
  vectorWeight?: number | undefined;
  /** 0…1: how much of its score an old item loses. @default 0 */
  recency?: number | undefined;
  /** Days after which half of that is lost. @default 7 */
  halfLifeDays?: number | undefined;
  /** Paths of numbers −1…1 of the value that raise a hit, or lower it: `{ importance: 0.5 }`. */
  boosts?: Record<string, number> | undefined;
  /**
   * 0…1: what a hit of an origin is worth, in searches by vector, too: `{ web: 0.5 }`. What a
   * search gives no score is not ranked.
   */
  origins?: Partial<Record<Origin | "unknown", number>> | undefined;
  /** 0…1: how much a hit loses that says what one before it said. @default 0 */
  diversity?: number | undefined;
  /** Whether hits say what their score is made of. @default false */
  explain?: boolean | undefined;
  /** Whether hits bring the piece of text that was found, of about so many bytes (true: 160). */
  snippet?: boolean | number | undefined;
}

/** A piece of an item's text, and where in it what was asked for stands. */
export interface Snippet {
  text: string;
  /** Begin and end of each, as for `text.slice()`. */
  highlights: [number, number][];
}

/** @internal */
export const RANKING_OPTIONS: NamesOf<RankingOptions> = {
  minScore: 1,
  fusion: 1,
  vectorWeight: 1,
  recency: 1,
  halfLifeDays: 1,
  boosts: 1,
  origins: 1,
  diversity: 1,
  explain: 1,
  snippet: 1,
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

// One by one: a loop over names takes as long as the rest of a small search's request.
function isDefault(options: RankingOptions): boolean {
  return (
    options.minScore === undefined &&
    options.fusion === undefined &&
    options.vectorWeight === undefined &&
    options.recency === undefined &&
    options.halfLifeDays === undefined &&
    options.boosts === undefined &&
    options.origins === undefined &&
    options.diversity === undefined &&
    options.explain === undefined &&
    options.snippet === undefined
  );
}

/**
 * Undefined if nothing differs from the core's defaults. `usual` is the fusion where none is named.
 * @internal
 */
export function rankingToCore(
  options: RankingOptions,
  usual: Fusion = "weighted",
): Ranking | undefined {
  if (isDefault(options) && usual === "weighted") return undefined;
  return {
    minScore:
      options.minScore === undefined ? undefined : checkNumber("minScore", options.minScore),
    fusion: checkChoice("fusion", Fusion, options.fusion ?? usual),
    vectorWeight: checkNumber("vectorWeight", options.vectorWeight ?? DEFAULTS.vectorWeight, 0, 1),
    recency: checkNumber("recency", options.recency ?? 0, 0, 1),
    halfLife: Math.round(
      checkNumber(
        "halfLifeDays",
        options.halfLifeDays ?? DEFAULTS.halfLifeDays,
        LEAST_DAYS,
        MOST_DAYS,
      ) * MS_PER_DAY,
    ),
    boosts: weights("boosts", options.boosts ?? {}),
    diversity: checkNumber("diversity", options.diversity ?? 0, 0, 1),
    explain: checkFlag("explain", options.explain) ?? false,
    snippetLength: snippetLength(options.snippet),
    origins: byOrigin("origins", options.origins ?? {}, weightOf),
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
