// What `node bench/answers.mjs` can be told.

import { parseArgs } from "node:util";
import { Chat } from "./chat.mjs";
import { extractive } from "./extractive.mjs";
import { MEMORIES } from "./memories.mjs";
import { SETS } from "./sets.mjs";

const OPENAI = "https://api.openai.com/v1";
// One word. A judge that thinks first takes more: --judge-body says it.
const JUDGE_TOKENS = 20;

const OPTIONS = {
  locomo: ["FILE", "locomo10.json"],
  longmemeval: ["FILE", "longmemeval_s_cleaned.json"],
  beam: ["FOLDER", "chats/100K of BEAM"],
  reader: ["WHICH", "chat (as usual), or extractive, which is no model and costs nothing"],
  "base-url": ["URL", `where the chat API is: ${OPENAI} unless you say another`],
  model: ["NAME", "who reads"],
  body: ["JSON", 'more for each request of the reader, null takes out: {"temperature":null}'],
  "max-answer": ["N", "tokens of an answer at most: 300"],
  "judge-model": ["NAME", "who judges strictly; without it nobody does"],
  "judge-base-url": ["URL", "where the judge is, if not where the reader is"],
  "judge-body": ["JSON", 'the same of the judge, for one that thinks: {"max_tokens":2000}'],
  budget: ["N", "tokens of a memory: 2000"],
  memories: ["LIST", `some of ${Object.keys(MEMORIES).join(",")}`],
  embedding: ["WHICH", "of vectors alone: english (as usual), use (USE lite), or api:MODEL"],
  sample: ["N", "each nth question"],
  parallel: ["N", "requests at once: 4"],
  retries: ["N", "after a 429, a 5xx or no answer: 6"],
  backoff: ["MS", "before the first of them; it doubles: 1000"],
  timeout: ["S", "of a request: 120"],
  out: ["FOLDER", "a line of JSON for each question; a run that was ended goes on from there"],
  "dry-run": ["", "only say how many requests and tokens it would be, and what they cost"],
  price: ["IN,OUT", "of a million tokens of the reader, for --dry-run: 0.15,0.6"],
  "judge-price": ["IN,OUT", "the same of the judge"],
  help: ["", "say this"],
};

/** A call that makes no sense; its message says what does. */
export class UsageError extends Error {}

export function help() {
  const rows = Object.entries(OPTIONS).map(([name, [takes, says]]) => [
    takes === "" ? `--${name}` : `--${name}=${takes}`,
    says,
  ]);
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    "How many questions about long conversations a reader answers, by what it is given of them.",
    "",
    "  node bench/answers.mjs --locomo=locomo10.json --model=gpt-4o-mini --out=build/answers",
    "",
    ...rows.map(([name, says]) => `  ${name.padEnd(width)}  ${says}`),
    "",
    "The key is the environment variable ANSWERS_API_KEY, or else OPENAI_API_KEY.",
    "",
  ].join("\n");
}

/** What is asked for, checked; undefined if that is help. */
export function optionsIn(words, env) {
  const given = parsed(words);
  if (given.help) return undefined;
  const reading = new Reading(given, env);
  const set = reading.set();
  const budget = reading.whole("budget", 2000);
  const maxAnswer = reading.whole("max-answer", 300);
  const judge = given["judge-model"] && reading.chat("judge-", JUDGE_TOKENS);
  return {
    set,
    path: given[set],
    memories: reading.memories(),
    budget,
    sample: reading.whole("sample", 1),
    parallel: reading.whole("parallel", 4),
    reader: reading.reader(maxAnswer),
    body: given.body,
    maxAnswer,
    judge,
    judgeTokens: JUDGE_TOKENS,
    embedding: reading.embedding(),
    out: given.out,
    isDry: given["dry-run"] === true,
    prices: { reader: reading.price("price"), judge: reading.price("judge-price") },
  };
}

function parsed(words) {
  const known = Object.entries(OPTIONS).map(([name, [takes]]) => [
    name,
    { type: takes === "" ? "boolean" : "string" },
  ]);
  try {
    return parseArgs({ args: words, options: Object.fromEntries(known) }).values;
  } catch (error) {
    throw new UsageError(error.message);
  }
}

class Reading {
  #given;
  #key;

  constructor(given, env) {
    this.#given = given;
    this.#key = env.ANSWERS_API_KEY ?? env.OPENAI_API_KEY;
  }

  set() {
    const named = Object.keys(SETS).filter((name) => this.#given[name] !== undefined);
    if (named.length === 1) return named[0];
    const all = Object.entries(SETS).map(([name, { takes }]) => `--${name}=${takes}`);
    throw new UsageError(`name one set: ${all.join(", ")}`);
  }

  whole(name, usual, least = 1) {
    const text = this.#given[name];
    if (text === undefined) return usual;
    if (/^\d+$/.test(text) && Number(text) >= least) return Number(text);
    throw new UsageError(`--${name} takes a whole number from ${least}: ${text}`);
  }

  memories() {
    const names = this.#given.memories?.split(",") ?? Object.keys(MEMORIES);
    const unknown = names.find((name) => !Object.hasOwn(MEMORIES, name));
    if (unknown === undefined) return [...new Set(names)];
    throw new UsageError(`no memory ${unknown}: there is ${Object.keys(MEMORIES).join(", ")}`);
  }

  reader(maxTokens) {
    const { reader = "chat", model } = this.#given;
    if (reader === "extractive") return extractive;
    if (reader !== "chat") throw new UsageError(`--reader is chat or extractive: ${reader}`);
    if (model !== undefined) return this.chat("", maxTokens);
    throw new UsageError("say who reads: --model=NAME, or --reader=extractive, which is no model");
  }

  /** A model whose options begin with `prefix`. */
  chat(prefix, maxTokens, model = this.#given[`${prefix}model`]) {
    const baseUrl = this.#given[`${prefix}base-url`] ?? this.#given["base-url"] ?? OPENAI;
    if (!URL.canParse(baseUrl)) throw new UsageError(`--${prefix}base-url takes a URL: ${baseUrl}`);
    if (baseUrl === OPENAI && !this.#key && !this.#given["dry-run"]) {
      throw new UsageError(`${OPENAI} needs a key: set OPENAI_API_KEY, or name another --base-url`);
    }
    return new Chat({
      baseUrl,
      model,
      key: this.#key,
      body: this.#json(`${prefix}body`),
      maxTokens,
      retries: this.whole("retries", 6, 0),
      backoff: this.whole("backoff", 1000, 0),
      timeout: this.whole("timeout", 120) * 1000,
    });
  }

  #json(name) {
    const text = this.#given[name] ?? "{}";
    try {
      return JSON.parse(text);
    } catch {
      throw new UsageError(`--${name} takes JSON: ${text}`);
    }
  }

  /** Its name, and the model behind the API if it is one. */
  embedding() {
    const { embedding: name = "english" } = this.#given;
    if (name === "english" || name === "use") return { name };
    const [, model] = /^api:(.+)$/.exec(name) ?? [];
    if (model) return { name, chat: this.chat("", 1, model) };
    throw new UsageError(`--embedding is english, use or api:MODEL: ${name}`);
  }

  price(name) {
    const text = this.#given[name];
    if (text === undefined) return undefined;
    const prices = text.split(",").map(Number);
    if (prices.length === 2 && prices.every((price) => price >= 0)) return prices;
    throw new UsageError(`--${name} takes two numbers, IN,OUT, of a million tokens: ${text}`);
  }
}
