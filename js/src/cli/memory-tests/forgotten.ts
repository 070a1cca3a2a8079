// Whether what is forgotten is gone: from searches, by the receipt, and from every byte.

import type { ErasureReceipt } from "../../scope/erasure.js";
import { plural } from "../output.js";
import type { ForgottenTest } from "./expectations.js";
import { shownView } from "./fields.js";
import type { TestMemory } from "./memory.js";
import { hitLines, type Problem, someOf } from "./outcome.js";
import { snapshotOf } from "./snapshot.js";

// A word alone, such as a role, stands in the bytes of others, too. The user may name such a one.
const SHORTEST = 8;
const SEVERAL_WORDS = /\s|[^\0-\x7f]/;
const HITS = 10;

/** Forgets, and answers what is left. @internal */
export async function forgottenProblems(
  memory: TestMemory,
  test: ForgottenTest,
): Promise<Problem[]> {
  const before = await snapshotOf(memory.memory);
  const receipt = await forget(memory, test);
  const after = await snapshotOf(memory.memory);
  const gone = [...before].filter(([name]) => !after.has(name));
  if (gone.length === 0) {
    const expected = `something is forgotten of ${whoseOf(test)}`;
    return [{ expected, came: ["nothing was there, or all of it is still"], why: [] }];
  }
  const left = [...after.values()].flat();
  return [
    ...(receipt === undefined ? [] : await receiptProblems(memory, receipt)),
    ...(await stillFound(memory, test)),
    ...textsLeft(test, left),
    ...(await bytesLeft(
      memory,
      test,
      gone.flatMap(([, texts]) => texts),
      left,
    )),
  ];
}

async function forget(
  { memory }: TestMemory,
  { scope, namespaces, filter, threads, by }: ForgottenTest,
): Promise<ErasureReceipt | undefined> {
  if (by !== undefined) {
    const answer = await by(memory);
    return isReceipt(answer) ? answer : undefined;
  }
  const options = { namespaces, filter, threads };
  return scope === undefined ? memory.forget(options) : memory.scoped(scope).forget(options);
}

// Whether what a user's own forgetting answered is a receipt.
function isReceipt(answer: unknown): answer is ErasureReceipt {
  return typeof answer === "object" && answer !== null && "digest" in answer && "erased" in answer;
}

async function receiptProblems(
  { memory }: TestMemory,
  receipt: ErasureReceipt,
): Promise<Problem[]> {
  const { place } = receipt;
  const giver = place.length === 0 ? memory : memory.scoped({ place });
  const { isGenuine, scrubbed, remains, found } = await giver.checkReceipt(receipt);
  const problems: Problem[] = [];
  if (!isGenuine) {
    problems.push({ expected: "a genuine receipt", came: [JSON.stringify(receipt)], why: [] });
  }
  if (found.items + found.threads > 0) {
    const came = `${plural(found.items, "item")} and ${plural(found.threads, "thread")}`;
    problems.push({ expected: "nothing is there under the same names", came: [came], why: [] });
  }
  if (scrubbed !== "pages" && scrubbed !== "memory") {
    const came = [`the receipt says ${scrubbed}`];
    problems.push({ expected: "all bytes are cleared", came, why: remains ? [remains] : [] });
  }
  return problems;
}

async function stillFound(
  memory: TestMemory,
  { scope, queries, ...test }: ForgottenTest,
): Promise<Problem[]> {
  const { store } = memory.tier(scope);
  const problems: Problem[] = [];
  for (const query of queries) {
    const hits = await store.search([], { query, limit: HITS, explain: true, refreshTtl: false });
    if (hits.length === 0) continue;
    const expected = `${JSON.stringify(query)} finds nothing of ${whoseOf({ scope, ...test })}`;
    problems.push({ expected, came: hitLines(hits), why: [] });
  }
  return problems;
}

const whoseOf = ({ scope }: Pick<ForgottenTest, "scope">) => shownView({ scope, namespace: [] });

// A copy that was made of it, in another item or thread.
function textsLeft({ texts }: ForgottenTest, left: readonly string[]): Problem[] {
  const came = texts.flatMap((text) => {
    const wanted = text.toLowerCase();
    return left.filter((each) => each.toLowerCase().includes(wanted));
  });
  if (came.length === 0) return [];
  const expected = `${texts.join(", ")}: in no item and no thread`;
  return [{ expected, came: someOf(came), why: ["others hold a copy of it"] }];
}

/** Texts that stand in the bytes of the memory, though nothing holds them any more. */
async function bytesLeft(
  { memory }: TestMemory,
  { texts }: ForgottenTest,
  gone: readonly string[],
  left: readonly string[],
): Promise<Problem[]> {
  const held = left.join("\n").toLowerCase();
  const ofSomebody = gone.filter((text) => text.length >= SHORTEST && SEVERAL_WORDS.test(text));
  const wanted = [...new Set([...texts, ...ofSomebody])].filter(
    (text) => !held.includes(text.toLowerCase()),
  );
  if (wanted.length === 0) return [];
  const found = await foundIn(memory.exportStream(), wanted);
  if (found.length === 0) return [];
  const came = someOf(found.map((text) => `${JSON.stringify(text)} is in the bytes of the memory`));
  return [{ expected: "no byte of it is left", came, why: [] }];
}

// Byte by byte, whatever the case of its letters: an index of words has them in lower case.
async function foundIn(
  stream: ReadableStream<Uint8Array>,
  texts: readonly string[],
): Promise<string[]> {
  const needles = new Map(texts.map((text) => [text, formsOf(text)]));
  const longest = Math.max(...[...needles.values()].flat().map(({ length }) => length));
  const found: string[] = [];
  let carried = "";
  for await (const chunk of stream) {
    const bytes = carried + folded(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    for (const [text, forms] of needles) {
      if (!forms.some((form) => bytes.includes(form))) continue;
      found.push(text);
      needles.delete(text);
    }
    carried = bytes.slice(-longest);
  }
  return found;
}

// As it is, and as JSON writes it.
const formsOf = (text: string) =>
  [...new Set([text, JSON.stringify(text).slice(1, -1)])].map((form) => folded(Buffer.from(form)));
const folded = (bytes: Buffer) => bytes.toString("latin1").toLowerCase();
