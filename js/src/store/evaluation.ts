// How well searches find what they should, on the user's own questions.

import {
  checkEach,
  checkListener,
  checkOptions,
  checkWhole,
  isList,
  type NamesOf,
  show,
  textsIn,
} from "../checks.js";
import { invalid, tell } from "../errors.js";
import { checkRanking, RANKING_OPTIONS, type RankingOptions } from "./ranking.js";
import type { SearchItem, SearchOperation } from "./store-operations.js";

/** A question, and the keys of the items that answer it. */
export interface EvaluationCase {
  namespacePrefix: string[];
  query: string;
  relevant: string[];
  filter?: SearchOperation["filter"];
}

/** How to search, and how far down to look. No search of an evaluation restarts a TTL. */
export interface EvaluationOptions {
  /** As a search takes it. Its mode is `hybrid`, unless it or the store's `ranking` says another. */
  ranking?: RankingOptions | undefined;
  /** Hits that count. @default 10 */
  k?: number;
  /** After every search. */
  onProgress?: (done: number, total: number) => void;
}

/** Means over all cases. */
export interface Evaluation {
  cases: number;
  k: number;
  /** Share of the relevant items among the first k hits. */
  recall: number;
  /** One divided by the rank of the first relevant hit. */
  mrr: number;
  /** Discounted gain, 1 if all relevant items come first, or k of them where there are more. */
  ndcg: number;
  /** Milliseconds of a search, its embedding included where none is cached. */
  latency: { median: number; p95: number };
}

/** What `tune()` found. */
export interface Tuning {
  /** For searches, or for all of them: `openMemory({ ranking })`. */
  ranking: RankingOptions;
  /** On the cases that nothing was fitted to: with the defaults, and with `ranking`. */
  before: Evaluation;
  after: Evaluation;
}

const OPTIONS: NamesOf<EvaluationOptions> = { ranking: RANKING_OPTIONS, k: 1, onProgress: 1 };
const CASE: NamesOf<EvaluationCase> = { namespacePrefix: 1, query: 1, relevant: 1, filter: 1 };

/** What is evaluated. @internal */
export interface Searchable {
  /** Of its searches that say none; undefined if nobody said one. */
  readonly mode: RankingOptions["mode"];
  search(namespacePrefix: string[], options: object): Promise<SearchItem[]>;
}

// Each is tried with the best of those before it.
const CANDIDATES: readonly (readonly RankingOptions[])[] = [
  [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7].map((vectorWeight) => ({ vectorWeight })),
  [{ fusion: "weighted" }, { fusion: "standout" }, { fusion: "reciprocalRank" }],
  [0, 0.1, 0.25, 0.5].map((recency) => ({ recency })),
];

/** @internal */
export async function evaluate(
  store: Searchable,
  cases: readonly EvaluationCase[],
  options?: EvaluationOptions,
): Promise<Evaluation> {
  const checked = checkCases(cases);
  const given = checkOptions("eval", OPTIONS, options);
  const { k = 10, onProgress } = given;
  const ranking = rankingIn(store, given);
  checkListener("onProgress", onProgress);
  checkWhole("k", k, 1);
  const latencies: number[] = [];
  const sums = { recall: 0, mrr: 0, ndcg: 0 };
  for (const [i, { namespacePrefix, query, relevant, filter }] of checked.entries()) {
    const started = performance.now();
    const hits = await store.search(namespacePrefix, { query, filter, limit: k, ranking });
    latencies.push(performance.now() - started);
    const judged = judge(
      hits.map(({ key }) => key),
      new Set(relevant),
      k,
    );
    sums.recall += judged.recall / checked.length;
    sums.mrr += judged.mrr / checked.length;
    sums.ndcg += judged.ndcg / checked.length;
    tell(onProgress, i + 1, checked.length);
  }
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.ceil(share * latencies.length) - 1] ?? 0;
  return { cases: checked.length, k, ...sums, latency: { median: at(0.5), p95: at(0.95) } };
}

/**
 * Fits the weights to every second case, and tells what they are worth on the others, which
 * choose nothing but whether the fitted weights or those before are kept.
 * @internal
 */
export async function tune(
  store: Searchable,
  cases: readonly EvaluationCase[],
  options?: EvaluationOptions,
): Promise<Tuning> {
  const checked = checkCases(cases, 2);
  const { onProgress, ...given } = checkOptions("tune", OPTIONS, options);
  checkListener("onProgress", onProgress);
  const base = rankingIn(store, given);
  const fitted = checked.filter((_, i) => i % 2 === 0);
  const heldOut = checked.filter((_, i) => i % 2 === 1);
  const isByWords = base.mode === "hybrid" || base.mode === "text";
  const candidates = CANDIDATES.flat().filter((each) => isByWords || !("recency" in each));
  const total = (1 + candidates.length) * fitted.length + 2 * heldOut.length;
  let done = 0;
  const evaluateWith = (some: readonly EvaluationCase[], tried: RankingOptions) =>
    evaluate(store, some, {
      ...given,
      ranking: tried,
      onProgress: () => onProgress?.(++done, total),
    });
  let ranking = base;
  let best = worth(await evaluateWith(fitted, ranking));
  for (const candidate of candidates) {
    const tried = { ...ranking, ...candidate };
    const score = worth(await evaluateWith(fitted, tried));
    if (score > best) {
      best = score;
      ranking = tried;
    }
  }
  const before = await evaluateWith(heldOut, base);
  const after = await evaluateWith(heldOut, ranking);
  return worth(after) > worth(before)
    ? { ranking, before, after }
    : { ranking: base, before, after: before };
}

function rankingIn(store: Searchable, { ranking }: EvaluationOptions): RankingOptions {
  const given = checkRanking(ranking);
  return { ...given, mode: given?.mode ?? store.mode ?? "hybrid" };
}

const worth = ({ recall, ndcg }: Evaluation) => recall + ndcg;

/** What the keys that a search found are worth, the best first. @internal */
export function judge(found: readonly string[], relevant: ReadonlySet<string>, k: number) {
  const gain = (rank: number) => 1 / Math.log2(rank + 2);
  // A key that is found in two namespaces counts once.
  const ranks = found.flatMap((key, rank) =>
    relevant.has(key) && found.indexOf(key) === rank ? [rank] : [],
  );
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  const most = Math.min(relevant.size, k);
  const ideal = sum(Array.from({ length: most }, (_, rank) => gain(rank)));
  const [first] = ranks;
  return {
    recall: ranks.length / relevant.size,
    mrr: first === undefined ? 0 : 1 / (first + 1),
    ndcg: sum(ranks.map(gain)) / ideal,
  };
}

// Copies: what is asked first and last is asked of the same cases.
function checkCases(cases: readonly EvaluationCase[], least = 1): EvaluationCase[] {
  const checked = checkEach("cases", isList(cases) ? cases : [], (given: EvaluationCase, i) => {
    const name = `case ${i}`;
    const each = checkOptions(name, CASE, given);
    const relevant = textsIn(each.relevant);
    if (relevant === undefined) {
      throw invalid(`relevant of ${name} must be a list of keys: ${show(each.relevant)}`);
    }
    if (relevant.length === 0) throw invalid(`${name} has no relevant keys`);
    return { ...each, relevant };
  });
  if (checked.length >= least) return checked;
  throw invalid(
    `it takes a list of at least ${least} cases, { namespacePrefix, query, relevant } each: ${show(cases)}`,
  );
}
