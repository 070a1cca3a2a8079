// The kinds of tests that ask a memory: what is found, what took its place, what has no answer.

import { judge } from "../../store/evaluation.js";
import type { SearchItem } from "../../store/store-operations.js";
import { missOf, REASONS } from "../eval.js";
import { pathOf } from "../output.js";
import type { FoundTest, MemoryTest, SupersededTest, UnansweredTest } from "./expectations.js";
import { located, shownView } from "./fields.js";
import { forgottenProblems } from "./forgotten.js";
import { hiddenProblems } from "./hidden.js";
import type { TestMemory } from "./memory.js";
import { hitLines, type Problem, type Worth } from "./outcome.js";

type Asked = FoundTest | SupersededTest | UnansweredTest;

/** What a test expected and did not get; `k` is how many hits count for the worth of what is found. */
export async function judgeTest(
  memory: TestMemory,
  test: MemoryTest,
  k: number,
): Promise<{ problems: Problem[]; worth?: Worth }> {
  switch (test.kind) {
    case "found":
      return judgeFound(memory, test, k);
    case "superseded":
      return { problems: await supersededProblems(memory, test) };
    case "unanswered":
      return { problems: await unansweredProblems(memory, test) };
    case "hidden":
      return { problems: await hiddenProblems(memory, test) };
    case "forgotten":
      return { problems: await forgottenProblems(memory, test) };
  }
}

async function search(memory: TestMemory, test: Asked, limit: number): Promise<SearchItem[]> {
  const options = { ...test.search, limit, explain: true, refreshTtl: false };
  return memory.tier(test.scope).store.search(test.namespace, options);
}

async function judgeFound(memory: TestMemory, test: FoundTest, k: number) {
  const hits = await search(memory, test, test.k);
  const missing = test.keys.filter((key) => !hits.some((hit) => hit.key === key));
  // Weights choose among as many as a search asks for, so that another limit is another search.
  const counted = k === test.k ? hits : await search(memory, test, k);
  const { recall, mrr } = judge(
    counted.map(({ key }) => key),
    new Set(test.keys),
    k,
  );
  const problems = missing.length === 0 ? [] : [await missed(memory, test, missing, hits)];
  return { problems, worth: { recall, mrr } };
}

async function missed(
  memory: TestMemory,
  test: Asked,
  keys: string[],
  hits: SearchItem[],
): Promise<Problem> {
  const { store } = memory.tier(test.scope);
  const options = { ...test.search, limit: test.k, refreshTtl: false };
  const why: string[] = [];
  for (const key of keys) {
    const { namespace, reason, rank } = await missOf(store, test.namespace, key, options);
    const place = rank === undefined ? "" : `, it is number ${rank}`;
    why.push(`${pathOf([...namespace, key])}: ${REASONS[reason]}${place}`);
  }
  return { expected: `${keys.join(", ")}, ${placeOf(test)}`, came: hitLines(hits), why };
}

const placeOf = (test: Asked) => `among the first ${test.k} of ${shownView(test)}`;

async function supersededProblems(memory: TestMemory, test: SupersededTest): Promise<Problem[]> {
  const hits = await search(memory, test, test.k);
  const problems: Problem[] = [];
  if (!hits.some(({ key }) => key === test.new)) {
    problems.push(await missed(memory, test, [test.new], hits));
  }
  const old = hits.find(({ key }) => key === test.old);
  if (old !== undefined) {
    const until = old.validUntil?.toISOString();
    const why = until === undefined ? "nothing superseded it" : `it holds until ${until}`;
    const expected = `${test.old} is not found`;
    problems.push({ expected, came: hitLines(hits), why: [`${test.old}: ${why}`] });
  }
  return problems;
}

async function unansweredProblems(memory: TestMemory, test: UnansweredTest): Promise<Problem[]> {
  const hits = await search(memory, test, test.k);
  const sure = hits.filter(({ score }) => score !== undefined && score >= test.above);
  if (sure.length === 0) return [];
  const expected = `no hit of ${test.above} or more in ${shownView(test)}`;
  return [{ expected, came: hitLines(sure), why: [] }];
}

/** The same, with where the test stands in what it throws. */
export const judgeAt = (where: string, memory: TestMemory, test: MemoryTest, k: number) =>
  judgeTest(memory, test, k).catch(located(where));
