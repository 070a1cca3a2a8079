// `npx keepsake eval`: how many of the user's own questions find their answers.

import { existsSync, readFileSync } from "node:fs";
import { checkChoice, checkList, checkOptions, checkText, checkWhole } from "../checks.js";
import { invalid, KeepsakeError } from "../errors.js";
import type { Memory } from "../memory.js";
import type { EvaluationCase } from "../store/evaluation.js";
import type { RankingOptions } from "../store/ranking.js";
import type { SearchOptions, WhyNot } from "../store/store.js";
import { SearchMode } from "../wire/layout.js";
import { type Arguments, namespaceOf, parsed } from "./arguments.js";
import type { Command } from "./command.js";
import { pathOf, table } from "./output.js";

/** A line of the questions. */
interface Question {
  question: string;
  namespace?: string | string[];
  expected: string[];
  filter?: Record<string, unknown>;
}

/** An item that answers a question, and is not among the first k. */
interface Miss {
  question: string;
  namespace: string[];
  key: string;
  /** As `whyNot()` says it. */
  reason: WhyNot["reason"];
  /** Its place among all hits, 1 for the first. */
  rank: number | undefined;
}

const QUESTION = { question: 1, namespace: 1, expected: 1, filter: 1 } as const;
const ALL = 0xffff_ffff;

/** @internal */
export const evaluation: Command = {
  words: ["FILE"],
  says: "how many of your own questions find the items that answer them, and which do not",
  examples: ["eval agent.db --questions questions.jsonl --min-recall 0.8"],
  options: {
    questions: {
      type: "string",
      takes: "PATH",
      says: 'a line for each: {"question":"…","namespace":"users/ada","expected":["key"]}',
    },
    k: { type: "string", takes: "N", says: "hits that count, 10 unless you say otherwise" },
    mode: { type: "string", takes: "MODE", says: "text (as usual) or contains" },
    "min-recall": { type: "string", takes: "SHARE", says: "below it the exit code is 1: 0.8" },
  },
  async run(memory, given) {
    const cases = casesOf(given.text("questions"));
    const k = checkWhole("--k", given.number("k") ?? 10, 1);
    const modes = { text: SearchMode.text, contains: SearchMode.contains };
    const mode = checkChoice("--mode", modes, (given.text("mode") ?? "text") as keyof typeof modes);
    const least = leastOf(given);
    const report = await memory.store.eval(cases, { k, ranking: { mode } });
    const misses: Miss[] = [];
    for (const each of cases)
      misses.push(...(await missesOf(memory, each, { limit: k, ranking: { mode } })));
    const { recall, mrr, ndcg, latency } = report;
    const summary = table(
      ["", ""],
      [
        ["questions", String(cases.length)],
        [`recall@${k}`, recall.toFixed(3)],
        ["MRR", mrr.toFixed(3)],
        ["nDCG", ndcg.toFixed(3)],
        ["median time", `${latency.median.toFixed(1)} ms`],
        ["misses", String(misses.length)],
      ],
    ).trimStart();
    const isBelow = recall < least;
    return {
      data: { ...report, mode, misses },
      text: misses.length === 0 ? summary : `${summary}\n${tableOf(misses)}`,
      ...(isBelow && { failure: `recall@${k} is ${recall.toFixed(3)}, below ${least}` }),
    };
  },
};

function leastOf(given: Arguments): number {
  const least = given.number("min-recall") ?? 0;
  if (least <= 1) return least;
  throw invalid(`--min-recall takes a share from 0 to 1: ${least}`);
}

function casesOf(path: string | undefined): EvaluationCase[] {
  if (path === undefined) throw invalid("say what to ask: --questions questions.jsonl");
  if (!existsSync(path)) throw new KeepsakeError("not_found", `there is no file ${path}`);
  const lines = readFileSync(path, "utf8").split("\n");
  const cases = lines.flatMap((line, i) =>
    line.trim() === "" ? [] : [caseOf(`line ${i + 1} of ${path}`, line)],
  );
  if (cases.length > 0) return cases;
  throw invalid(`${path} has no questions: it takes a line for each`);
}

function caseOf(where: string, line: string): EvaluationCase {
  const given = parsed(where, line, '{"question":"which tea?","expected":["tea"]}') as Question;
  if (typeof given !== "object" || given === null) {
    throw invalid(`${where} is no object with question and expected`);
  }
  const { question, namespace = [], expected, filter } = checkOptions(where, QUESTION, given);
  const keys = checkList(`expected of ${where}`, expected);
  if (keys.length === 0) throw invalid(`expected of ${where} has no keys`);
  return {
    namespacePrefix: typeof namespace === "string" ? namespaceOf(namespace) : namespace,
    query: checkText(`question of ${where}`, question),
    relevant: keys.map((key) => checkText(`a key of ${where}`, key)),
    ...(filter !== undefined && { filter }),
  };
}

async function missesOf(
  { store }: Memory,
  { namespacePrefix, query, relevant, filter }: EvaluationCase,
  options: { limit: number; ranking: RankingOptions },
): Promise<Miss[]> {
  const search = { ...options, query, filter, refreshTtl: false };
  const hits = await store.search(namespacePrefix, search);
  const found = new Set(hits.map(({ key }) => key));
  const misses: Miss[] = [];
  for (const key of new Set(relevant)) {
    if (found.has(key)) continue;
    misses.push({ question: query, ...(await missOf(store, namespacePrefix, key, search)) });
  }
  return misses;
}

/** Why an item is not among the hits of a search. @internal */
export async function missOf(
  store: Memory["store"],
  prefix: string[],
  key: string,
  search: SearchOptions,
): Promise<Omit<Miss, "question">> {
  const namespace = await placeOf(store, prefix, key);
  if (namespace === undefined) return { namespace: prefix, key, reason: "noItem", rank: undefined };
  const { reason, rank } = await store.whyNot(prefix, { namespace, key }, search);
  return { namespace, key, reason, rank: rank === undefined ? rank : rank + 1 };
}

// Undefined if it is not there.
async function placeOf(
  store: Memory["store"],
  prefix: string[],
  key: string,
): Promise<string[] | undefined> {
  const namespaces = await store.listNamespaces({ prefix, limit: ALL });
  const gets = namespaces.map((namespace) => ({ namespace, key, refreshTtl: false }));
  const items = await store.batch(gets);
  return namespaces[items.findIndex((item) => item !== null)];
}

/** In words. @internal */
export const REASONS: Record<WhyNot["reason"], string> = {
  hit: "a hit",
  noItem: "no such item",
  outsideNamespace: "not below the namespace",
  filter: "the filter refuses it",
  noMatch: "no word of the question",
  notValid: "does not hold now",
  quarantined: "is in quarantine",
  belowMinScore: "the score is too low",
  notOnPage: "others come first",
};

const tableOf = (misses: Miss[]) =>
  table(
    ["QUESTION", "MISSES", "WHY", "RANK"],
    misses.map(({ question, namespace, key, reason, rank }) => [
      question,
      pathOf([...namespace, key]),
      REASONS[reason],
      rank,
    ]),
  );
