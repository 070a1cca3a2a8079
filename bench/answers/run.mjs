// Asks a reader each question with each memory, and has its answers judged.

import { basename } from "node:path";
import { progress } from "../lib.mjs";
import { READER_VERSION, RefusedError, readerPrompt } from "./chat.mjs";
import { JUDGE_VERSION, judged, judgePrompt, verdictIn } from "./judges.mjs";
import { english, MEMORIES, mostHits, packed, tokensOf } from "./memories.mjs";
import { help, optionsIn, UsageError } from "./options.mjs";
import { estimateText, reportText } from "./report.mjs";
import { Results } from "./results.mjs";
import { DataError, talksOf } from "./sets.mjs";

/** Answers the exit code: 0 done, 1 a question has no answer or verdict, 2 called wrongly. */
export async function answers(words, { out, error, env }) {
  try {
    const options = optionsIn(words, env);
    if (options === undefined) out(help());
    else if (options.isDry) out(await estimate(options));
    else return await run(options, { out, error });
    return 0;
  } catch (thrown) {
    if (!(thrown instanceof UsageError || thrown instanceof DataError)) throw thrown;
    error(`answers: ${thrown.message}\n`);
    return 2;
  }
}

async function run(options, { out, error }) {
  const results = resultsFor(options);
  const failures = await ask(options, results);
  const columns = options.memories.map((name) => ({
    title: MEMORIES[name].title,
    records: results.of(name),
  }));
  out(reportText(options, columns));
  for (const [message, count] of failures) error(`answers: ${count} × ${message}\n`);
  return failures.size === 0 ? 0 : 1;
}

function resultsFor({ set, path, sample, budget, embedding, reader, body, judge, out, memories }) {
  const settings = {
    set,
    data: basename(path),
    sample,
    budget,
    embedding: embedding.name,
    reader: reader.title,
    body: body ?? null,
    prompt: READER_VERSION,
    judge: judge ? `${judge.title}, prompt ${JUDGE_VERSION}` : null,
  };
  return new Results(out, settings, memories);
}

// ---- what is asked

// Talks with those of their questions that are asked.
function* talksAsked({ set, path, sample }) {
  let count = 0;
  for (const talk of talksOf(set, path)) {
    const questions = talk.questions.filter(() => count++ % sample === 0);
    if (questions.length > 0) yield { ...talk, questions };
  }
}

// Each question with each memory, but for those that are done.
async function* jobsOf(options, isDone = () => false) {
  let index;
  const indexOnce = () => (index ??= indexOf(options.embedding));
  for (const talk of talksAsked(options)) {
    for (const memory of options.memories) {
      const open = talk.questions.filter(({ id }) => !isDone(memory, id));
      if (open.length === 0) continue;
      const { title, isWhole, open: fill } = MEMORIES[memory];
      progress(`${talk.id}: ${title}`);
      const { search, close } = await fill(talk, { index: indexOnce });
      const most = isWhole ? Number.POSITIVE_INFINITY : options.budget;
      try {
        for (const question of open) {
          const began = performance.now();
          const ranked = await search(question, mostHits(options.budget));
          const notes = packed(talk, ranked, most);
          yield { talk, memory, question, ...notes, ms: performance.now() - began };
        }
      } finally {
        await close?.();
      }
    }
  }
  progress("");
}

// Of "vectors alone".
async function indexOf({ name, chat }) {
  if (name === "english") return english();
  if (name === "use") {
    const { DIMS, sentenceEncoder } = await import("../recall-model.mjs");
    return { dims: DIMS, embeddings: await sentenceEncoder() };
  }
  const [first] = await chat.embed(["How long is a vector?"]);
  return { dims: first.length, embeddings: (texts) => chat.embed(texts) };
}

// ---- before it begins

async function estimate(options) {
  const { reader, judge, memories, maxAnswer, judgeTokens, prices } = options;
  const sums = new Map(memories.map((name) => [name, { requests: 0, tokens: 0 }]));
  const judging = { requests: 0, tokens: 0 };
  for await (const { memory, question, lines } of jobsOf(options)) {
    const sum = sums.get(memory);
    sum.requests += 1;
    sum.tokens += tokensOfAll(readerPrompt(question, lines));
    judging.requests += 1;
    judging.tokens += tokensOfAll(judgePrompt(question, "")) + maxAnswer;
  }
  const parts = memories.map((name) => ({
    title: MEMORIES[name].title,
    ...sums.get(name),
    out: sums.get(name).requests * maxAnswer,
    price: prices.reader,
  }));
  if (judge !== undefined) {
    const out = judging.requests * judgeTokens;
    parts.push({ title: "the judge", ...judging, out, price: prices.judge });
  }
  return estimateText(reader, parts);
}

const tokensOfAll = (messages) => messages.reduce((sum, { content }) => sum + tokensOf(content), 0);

// ---- asking

// Messages of what failed, and how often. A wrong key or model ends it at once.
async function ask(options, results) {
  const { judge, parallel } = options;
  const isDone = (memory, id) => {
    const record = results.find(memory, id);
    return record !== undefined && (judge === undefined || record.strict !== undefined);
  };
  const jobs = jobsOf(options, isDone);
  const failures = new Map();
  let fatal;
  const work = async () => {
    while (fatal === undefined) {
      const { value: job, done } = await jobs.next();
      if (done) return;
      try {
        await askOne(options, results, job);
      } catch (error) {
        if (error instanceof RefusedError && error.isFatal) fatal = error;
        failures.set(error.message, (failures.get(error.message) ?? 0) + 1);
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  await jobs.return();
  if (fatal !== undefined) throw new DataError(`nobody answers there: ${fatal.message}`);
  return failures;
}

async function askOne({ reader, judge }, results, { memory, question, ...job }) {
  let record = results.find(memory, question.id);
  if (record === undefined) {
    record = await read(reader, question, job);
    // Also if the judge fails: the reader need not be asked again.
    results.keep(memory, record);
  }
  if (judge === undefined) return;
  results.keep(memory, { ...record, strict: await verdictOf(judge, question, record.answer) });
}

async function read(reader, question, { talk, keys, lines, tokens, ms }) {
  const began = performance.now();
  const reply = await reader.answer({ question, lines });
  const { id, kind, text, answer: expected, isAbstention, evidence } = question;
  const held = evidence.filter((key) => keys.includes(key)).length;
  return {
    id,
    talk: talk.id,
    kind,
    question: text,
    expected,
    isAbstention,
    answer: reply.text,
    ...judged(reply.text, question),
    evidence: evidence.length === 0 ? null : held / evidence.length,
    tokens: { memory: tokens, ...reply.tokens },
    ms: { memory: ms, reader: reply.ms ?? performance.now() - began },
    attempts: reply.attempts ?? 1,
  };
}

async function verdictOf(judge, question, answer) {
  const asked = judgePrompt(question, answer);
  const { text } = await judge.ask(asked);
  const verdict = verdictIn(text);
  if (verdict !== undefined) return verdict;
  const again = await judge.ask([
    ...asked,
    { role: "assistant", content: text },
    { role: "user", content: "One word: right or wrong." },
  ]);
  const second = verdictIn(again.text);
  if (second !== undefined) return second;
  throw new Error(`the judge says neither right nor wrong: ${again.text.slice(0, 80)}`);
}
