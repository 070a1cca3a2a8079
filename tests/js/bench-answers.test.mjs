// bench/answers.mjs: questions, memories, a reader on this machine that answers by a script, judges.

import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { isAbstaining, judged, verdictIn } from "../../bench/answers/judges.mjs";
import { MEMORIES, packed } from "../../bench/answers/memories.mjs";
import { answers } from "../../bench/answers/run.mjs";
import { DataError, talksOf } from "../../bench/answers/sets.mjs";
import { isLong } from "./support/effort.mjs";
import { removeTemporaryFolders, temporaryFolder } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

// ---- a set in each of the three forms, made up

const said = (speaker, session, texts) =>
  texts.map((text, i) => ({ speaker, dia_id: `D${session}:${i + 1}`, text }));

const LOCOMO = [
  {
    sample_id: "talk-1",
    conversation: {
      speaker_a: "Ida",
      speaker_b: "Ole",
      session_1_date_time: "1:00 pm on 3 March, 2024",
      session_1: [
        ...said("Ida", 1, ["I bought a red canoe.", "The weather was awful all week."]),
        { speaker: "Ole", dia_id: "D1:9", text: "Look!", blip_caption: "a photo of a lighthouse" },
      ],
      session_2_date_time: "9:00 am on 5 April, 2024",
      session_2: said("Ole", 2, ["My sister Runa moved to Tromsø.", "She works as a baker there."]),
    },
    qa: [
      { question: "What did Ida buy?", answer: "a red canoe", evidence: ["D1:1"], category: 4 },
      { question: "Where did Runa move?", answer: "Tromsø", evidence: ["D2:1; D2:2"], category: 1 },
      { question: "How many canoes?", answer: 1, evidence: ["D1:1", "D7:7"], category: 2 },
      {
        question: "What did Ole name his boat?",
        adversarial_answer: "Runa",
        evidence: [],
        category: 5,
      },
    ],
  },
];

const LONGMEMEVAL = [
  {
    question_id: "q1",
    question_type: "single-session-user",
    question: "Which instrument do I play?",
    answer: "the cello",
    question_date: "2024/05/30 (Thu) 23:40",
    haystack_session_ids: ["s1", "answer_2"],
    haystack_dates: ["2024/05/01 (Wed) 10:00", "2024/05/20 (Mon) 09:15"],
    haystack_sessions: [
      [
        { role: "user", content: "Name a good soup." },
        { role: "assistant", content: "Borscht." },
      ],
      [
        { role: "user", content: "I practise the cello daily.", has_answer: true },
        { role: "assistant", content: "Nice." },
      ],
    ],
    answer_session_ids: ["answer_2"],
  },
  {
    question_id: "q2_abs",
    question_type: "multi-session",
    question: "How old is my cat?",
    answer: "The information provided is not enough: no cat was mentioned.",
    question_date: "2024/05/30 (Thu) 23:40",
    haystack_session_ids: ["s1"],
    haystack_dates: ["2024/05/01 (Wed) 10:00"],
    haystack_sessions: [[{ role: "user", content: "My dog is three." }]],
    answer_session_ids: ["s1"],
  },
];

const BEAM_CHAT = [
  {
    batch_number: 1,
    turns: [
      [
        {
          role: "user",
          id: 0,
          time_anchor: "March-15-2024",
          content: "I will use Flask 2.3. ->-> 1,1",
        },
        { role: "assistant", id: 1, content: "Good choice." },
      ],
    ],
  },
  { batch_number: 2, turns: [[{ role: "user", id: 2, content: "I moved to Flask 3." }]] },
];
const BEAM_QUESTIONS = {
  abstention: [
    {
      question: "Who reviewed it?",
      ideal_response: "Nothing is said of it.",
      rubric: ["says that nothing is said"],
    },
  ],
  knowledge_update: [
    {
      question: "Which Flask?",
      answer: "Flask 3",
      source_chat_ids: { original: [0], updated: [2] },
    },
  ],
  summarization: [
    {
      question: "Summarise.",
      ideal_summary: "They use Flask.",
      source_chat_ids: [0, 2],
      rubric: ["names Flask"],
    },
  ],
};

let folder;
let locomo;
beforeEach(() => {
  folder = temporaryFolder();
  locomo = join(folder, "locomo.json");
  writeFileSync(locomo, JSON.stringify(LOCOMO));
});

// ---- a server that answers as `script(request)` says: a text, or { status, headers, body }

let server;
let requests;
let most;
let baseUrl;
beforeEach(async () => {
  requests = [];
  most = 0;
  server = undefined;
});
afterEach(() => server && new Promise((resolve) => server.close(resolve)));

async function serve(script) {
  let open = 0;
  server = createServer(async (request, response) => {
    open += 1;
    most = Math.max(most, open);
    let text = "";
    for await (const chunk of request) text += chunk;
    const asked = { ...JSON.parse(text), path: request.url, key: request.headers.authorization };
    requests.push(asked);
    const reply = await script(asked, requests.length);
    open -= 1;
    if (typeof reply !== "string") {
      response.writeHead(reply.status ?? 200, reply.headers).end(reply.body ?? "");
      return;
    }
    const usage = { prompt_tokens: 100, completion_tokens: 5 };
    response.end(JSON.stringify({ choices: [{ message: { content: reply } }], usage }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${server.address().port}/v1`;
}

const isJudge = ({ messages }) => messages[0].content.startsWith("You mark");
const questionIn = ({ messages }) => messages[1].content.split("Question: ")[1];
/** Knows what stands in the notes. */
const reads = ({ messages }) => {
  const text = messages[1].content;
  const asked = text.split("Question: ")[1];
  if (/What did Ida/.test(asked) && /red canoe/.test(text)) return "A red canoe.";
  if (/Runa/.test(asked) && /moved to Troms/.test(text)) return "She moved to Tromsø with her cat";
  if (/How many/.test(asked) && /canoe\./.test(text)) return "one";
  return "I don't know.";
};

async function run(...words) {
  const printed = { out: "", error: "" };
  const status = await answers(
    ["--retries=3", "--backoff=1", ...(baseUrl ? [`--base-url=${baseUrl}`] : []), ...words],
    {
      out: (text) => (printed.out += text),
      error: (text) => (printed.error += text),
      env: { ANSWERS_API_KEY: "secret" },
    },
  );
  return { status, ...printed };
}
/** The cells of the rows of the first table, by their first. */
const rowsIn = (text) =>
  new Map(
    text
      .split("\n\n")
      .find((part) => part.startsWith("| "))
      .split("\n")
      .map((line) => line.split("|").map((cell) => cell.trim()))
      .map(([, first, ...cells]) => [first, cells]),
  );
const linesOf = (out, memory) =>
  readFileSync(join(out, `${memory}.jsonl`), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

// Jest takes seconds to read that table.
const BY_TABLE = ["hybrid", "vectors"];

const wordsFor = (out) => [
  `--locomo=${locomo}`,
  "--model=m",
  "--memories=full",
  "--sample=4",
  `--out=${out}`,
];

test("a reader answers by each memory what that memory holds", async () => {
  await serve(reads);
  const out = join(folder, "out");
  const memories = Object.keys(MEMORIES).filter((name) => isLong || !BY_TABLE.includes(name));
  const words = [`--locomo=${locomo}`, "--model=m", `--memories=${memories}`, `--out=${out}`];
  const { status, out: text, error } = await run(...words);
  expect({ status, error }).toEqual({ status: 0, error: "" });
  expect(text).toMatch(/^## LoCoMo: 3 questions with an answer, 1 without\n/);
  expect(text).toMatch(/Reader: m at 127\.0\.0\.1:\d+/);
  const rows = rowsIn(text);
  const shown = (name) => rows.get(name).slice(0, 7);
  for (const name of [
    "Keepsake, no option set",
    ...(isLong ? ["Keepsake, `english()`"] : []),
    "the evidence (oracle)",
    "the whole conversation",
  ]) {
    expect(shown(name)).toEqual([
      "2 (66.7 %)",
      "3 (100.0 %)",
      expect.any(String),
      "1 (100.0 %)",
      "1.000",
      "105",
      "105",
    ]);
  }
  expect(shown("nothing")).toEqual([
    "0 (0.0 %)",
    "0 (0.0 %)",
    "0.000",
    "1 (100.0 %)",
    "0.000",
    "105",
    "–",
  ]);
  expect([...rows.keys()].slice(2)).toEqual(memories.map((name) => MEMORIES[name].title));
  expect(text).toMatch(/\| one turn \| 1 \| 1\.000 \|/);

  const [first] = linesOf(out, "oracle");
  expect(first).toMatchObject({
    id: "talk-1:0",
    kind: "one turn",
    expected: "a red canoe",
    answer: "A red canoe.",
    exact: true,
    lenient: true,
    evidence: 1,
    tokens: { in: 100, out: 5 },
    attempts: 1,
  });
  expect(requests).toHaveLength(4 * memories.length);
  expect(most).toBeLessThanOrEqual(4);
  const [{ model, temperature, max_tokens, messages, key, path }] = requests;
  expect({ model, temperature, max_tokens, key, path }).toEqual({
    model: "m",
    temperature: 0,
    max_tokens: 300,
    key: "Bearer secret",
    path: "/v1/chat/completions",
  });
  expect(messages[1].content).toMatch(
    /^Notes:\n\[1:00 pm on 3 March, 2024\] Ida: I bought a red canoe\.\n/,
  );
  expect(messages[1].content).toContain("Ole: Look! [shows a picture: a photo of a lighthouse]");
});

test("a server that is busy, broken or talks nonsense is asked again", async () => {
  const failures = [
    { status: 429, headers: { "retry-after": "0" } },
    { status: 503, body: "overloaded" },
    { body: "<html>" },
    { body: '{"choices":[]}' },
  ];
  await serve((request, count) => failures[count - 1] ?? reads(request));
  const out = join(folder, "out");
  const words = wordsFor(out);
  expect((await run(...words, "--retries=4")).status).toBe(0);
  expect(linesOf(out, "full")).toMatchObject([{ attempts: 5, lenient: true }]);
  expect(requests).toHaveLength(5);
});

test("what a server refuses is told, and is asked again by the next run alone", async () => {
  let isRefusing = true;
  await serve((request) => {
    const isRefused = isRefusing && /Runa/.test(questionIn(request));
    return isRefused ? { status: 400, body: "too long" } : reads(request);
  });
  const out = join(folder, "out");
  const words = [`--locomo=${locomo}`, "--model=m", "--memories=full,nothing", `--out=${out}`];
  const failed = await run(...words);
  expect(failed).toMatchObject({
    status: 1,
    error: "answers: 2 × 400 of chat/completions: too long\n",
  });
  expect(requests).toHaveLength(8);
  // As a run that was killed while it wrote leaves it.
  appendFileSync(join(out, "nothing.jsonl"), '{"id":"talk-1:1","ans');
  isRefusing = false;
  requests = [];
  expect((await run(...words)).status).toBe(0);
  expect(requests.map(questionIn)).toEqual(["Where did Runa move?", "Where did Runa move?"]);
  expect(linesOf(out, "nothing")).toHaveLength(4);
  requests = [];
  expect((await run(...words)).out).toMatch(/3 questions with an answer, 1 without/);
  expect(requests).toEqual([]);
  const other = await run(...words, "--budget=500");
  expect(other.status).toBe(2);
  expect(other.error).toMatch(/run\.json is of a run with budget 2000, and this one has 500: name/);
});

test("a wrong key ends it at once", async () => {
  await serve(() => ({ status: 401, body: "no such key" }));
  const { status, error, out } = await run(`--locomo=${locomo}`, "--model=m", "--parallel=1");
  expect({ status, out }).toEqual({ status: 2, out: "" });
  expect(error).toBe("answers: nobody answers there: 401 of chat/completions: no such key\n");
  expect(requests).toHaveLength(1);
});

test("a model judges strictly, also what was read before", async () => {
  const verdicts = [];
  await serve((request) => {
    if (!isJudge(request)) return reads(request);
    const { messages, model } = request;
    expect(model).toBe("j");
    if (messages.length === 4) return "Right.";
    const [, text] = messages;
    verdicts.push(text.content);
    if (/Runa/.test(text.content)) return "Hmm, that depends.";
    return /How many/.test(text.content) ? "**Wrong**, as it is not said" : "right";
  });
  const out = join(folder, "out");
  const words = [`--locomo=${locomo}`, "--model=m", "--memories=full", `--out=${out}`];
  await run(...words);
  requests = [];
  const { status, out: text } = await run(...words, "--judge-model=j");
  expect(status).toBe(0);
  expect(requests.every(isJudge)).toBe(true);
  expect(requests).toHaveLength(5);
  const [, row] = [...rowsIn(text)].at(-1);
  expect(row.slice(0, 5)).toEqual([
    "2 (66.7 %)",
    "3 (100.0 %)",
    "0.750",
    "2 (66.7 %)",
    "1 (100.0 %)",
  ]);
  expect(verdicts.find((each) => /boat/.test(each))).toMatch(/The conversation does not say it\./);
  const judged = new Map(linesOf(out, "full").map((line) => [line.id, line.strict]));
  expect(Object.fromEntries(judged)).toEqual({
    "talk-1:0": true,
    "talk-1:1": true,
    "talk-1:2": false,
    "talk-1:3": true,
  });
});

test("a judge that never says right or wrong is told, and what was read stays", async () => {
  await serve((request) => (isJudge(request) ? "It depends." : reads(request)));
  const out = join(folder, "out");
  const words = wordsFor(out);
  const { status, error, out: text } = await run(...words, "--judge-model=j");
  expect(status).toBe(1);
  expect(error).toBe("answers: 1 × the judge says neither right nor wrong: It depends.\n");
  expect(text).toMatch(/Not all answers have a verdict/);
  expect(linesOf(out, "full")).toMatchObject([{ answer: "A red canoe." }]);
});

test("a dry run says what it would cost, and asks nobody", async () => {
  await serve(reads);
  const words = [
    `--locomo=${locomo}`,
    "--model=m",
    "--judge-model=j",
    "--dry-run",
    "--memories=full,nothing",
  ];
  const unknown = await run(...words);
  expect(unknown).toMatchObject({ status: 0, error: "" });
  expect(unknown.out).toMatch(
    /--price=IN,OUT \(and --judge-price\) say what a million tokens cost/,
  );
  const { out } = await run(...words, "--price=1000,1000", "--judge-price=0,50000");
  const rows = rowsIn(out);
  const [, tokens, most, cost] = rows.get("the whole conversation");
  expect(most).toBe("1,200");
  expect(Number(cost)).toBeCloseTo((Number(tokens.replace(",", "")) + 1200) / 1000, 1);
  expect(rows.get("the judge")).toMatchObject({ 0: "8", 3: "8.00" });
  expect(requests).toEqual([]);
});

test("vectors may come from a model of the same server", async () => {
  await serve((request) => {
    if (request.path !== "/v1/embeddings") return reads(request);
    expect(request.model).toBe("e");
    const data = request.input.map((text, index) => ({
      index,
      embedding: [/buy|bought/.test(text), /move/.test(text)].map((is) => Number(is) + 0.01),
    }));
    return { body: JSON.stringify({ data: data.reverse() }) };
  });
  const words = [`--locomo=${locomo}`, "--model=m", "--memories=vectors", "--budget=20"];
  const { out } = await run(...words, "--embedding=api:e", "--sample=4");
  expect(rowsIn(out).get("vectors alone")[1]).toBe("1 (100.0 %)");
});

test("the extractive reader answers with a sentence, or says that it does not know", async () => {
  baseUrl = undefined;
  const { status, out } = await run(
    `--locomo=${locomo}`,
    "--reader=extractive",
    "--memories=full,nothing",
  );
  expect(status).toBe(0);
  expect(out).toMatch(/Reader: extractive \(no model: /);
  expect(out).toMatch(/Tokens are those of the memory, a quarter of its bytes/);
  const full = rowsIn(out).get("the whole conversation");
  expect(full.slice(0, 2)).toEqual(["0 (0.0 %)", "2 (66.7 %)"]);
  expect(rowsIn(out).get("nothing").slice(0, 4)).toEqual([
    "0 (0.0 %)",
    "0 (0.0 %)",
    "0.000",
    "1 (100.0 %)",
  ]);
});

test("a call that makes no sense is told what does", async () => {
  baseUrl = undefined;
  const set = `--locomo=${locomo}`;
  for (const [words, message] of [
    [[], /name one set: --locomo=locomo10\.json, --longmemeval=/],
    [[set, "--beam=x"], /name one set/],
    [[set], /say who reads: --model=NAME, or --reader=extractive/],
    [[set, "--modle=x"], /--modle/],
    [[set, "--reader=x"], /--reader is chat or extractive/],
    [[set, "--reader=extractive", "--memories=full,x"], /no memory x: there is keepsake, hybrid/],
    [[set, "--reader=extractive", "--budget=0"], /--budget takes a whole number from 1: 0/],
    [[set, "--reader=extractive", "--embedding=x"], /--embedding is english, use or api:MODEL/],
    [[set, "--model=m", "--body={"], /--body takes JSON/],
    [[set, "--model=m", "--base-url=x"], /--base-url takes a URL/],
    [[set, "--model=m", "--dry-run", "--price=1"], /--price takes two numbers/],
  ]) {
    const { status, error } = await run(...words);
    expect(error).toMatch(message);
    expect(status).toBe(2);
  }
  expect((await run("--help")).out).toMatch(/--judge-model=NAME +who judges strictly/);
});

describe("sets", () => {
  test("say where they are and under which licence, if they are not there", async () => {
    baseUrl = undefined;
    for (const [name, parts] of [
      [
        "locomo",
        ["CC BY-NC 4.0", "raw.githubusercontent.com/snap-research/locomo/main/data/locomo10.json"],
      ],
      ["longmemeval", ["MIT", "huggingface.co/datasets/xiaowu0162/longmemeval-cleaned/"]],
      ["beam", ["CC BY-SA 4.0", "github.com/mohammadtakavoli78/BEAM"]],
    ]) {
      const { status, error } = await run(
        `--${name}=${join(folder, "none")}`,
        "--reader=extractive",
      );
      expect(status).toBe(2);
      for (const part of parts) expect(error).toContain(part);
    }
    writeFileSync(locomo, '{"a":1}');
    expect((await run(`--locomo=${locomo}`, "--reader=extractive")).error).toMatch(
      /locomo\.json is no list/,
    );
    writeFileSync(locomo, "[{}]");
    expect((await run(`--locomo=${locomo}`, "--reader=extractive")).error).toMatch(
      /does not look like locomo10\.json of LoCoMo/,
    );
  });

  test("of LoCoMo: evidence that is there, and questions without an answer", () => {
    const [{ items, questions }] = talksOf("locomo", locomo);
    expect(items.map(({ key }) => key)).toEqual(["D1:1", "D1:2", "D1:9", "D2:1", "D2:2"]);
    expect(questions.map(({ evidence }) => evidence)).toEqual([
      ["D1:1"],
      ["D2:1", "D2:2"],
      ["D1:1"],
      [],
    ]);
    expect(questions.map(({ answer, isAbstention }) => [answer, isAbstention])).toEqual([
      ["a red canoe", false],
      ["Tromsø", false],
      ["1", false],
      ["", true],
    ]);
  });

  test("of LongMemEval: a history for each question, and when it is asked", () => {
    const path = join(folder, "longmemeval.json");
    writeFileSync(path, JSON.stringify(LONGMEMEVAL));
    const [first, second] = talksOf("longmemeval", path);
    expect(first.at).toBe(Date.parse("2024-05-30T23:40Z"));
    expect(first.items[2]).toEqual({
      key: "1:0",
      value: {
        session: "answer_2",
        date: "2024/05/20 (Mon) 09:15",
        role: "user",
        content: "I practise the cello daily.",
      },
      line: "[2024/05/20 (Mon) 09:15] user: I practise the cello daily.",
    });
    expect(first.questions).toMatchObject([
      { evidence: ["1:0"], isAbstention: false, kind: "single-session-user" },
    ]);
    // Where no turn is marked, all of the session are.
    expect(second.questions).toMatchObject([
      { evidence: ["0:0"], isAbstention: true, kind: "abstention" },
    ]);
  });

  test("of BEAM: a folder for each conversation, with what a good answer does", () => {
    const path = join(folder, "100K");
    for (const id of ["10", "2"]) {
      mkdirSync(join(path, id, "probing_questions"), { recursive: true });
      writeFileSync(join(path, id, "chat.json"), JSON.stringify(BEAM_CHAT));
      writeFileSync(
        join(path, id, "probing_questions/probing_questions.json"),
        JSON.stringify(BEAM_QUESTIONS),
      );
    }
    const [talk, other] = talksOf("beam", path);
    expect([talk.id, other.id]).toEqual(["2", "10"]);
    expect(talk.items.map(({ line }) => line)).toEqual([
      "[March-15-2024] user: I will use Flask 2.3.",
      "[March-15-2024] assistant: Good choice.",
      "user: I moved to Flask 3.",
    ]);
    expect(talk.questions).toMatchObject([
      { kind: "abstention", isAbstention: true, answer: "Nothing is said of it." },
      { kind: "knowledge update", answer: "Flask 3", evidence: ["0", "2"] },
      { kind: "summarization", answer: "They use Flask.", rubric: ["names Flask"] },
    ]);
    writeFileSync(join(path, "2/chat.json"), '[{"plan-1":[]}]');
    expect(() => [...talksOf("beam", path)]).toThrow(DataError);
  });
});

test("a memory has as many tokens as it may, and one long line does not empty it", () => {
  const items = ["short", "x".repeat(400), "also short", "last"].map((line, i) => ({
    key: `${i}`,
    line,
  }));
  const { keys, tokens } = packed({ items }, ["1", "3", "0", "3", "2"], 5);
  expect(keys).toEqual(["0", "2", "3"].filter((key) => keys.includes(key)));
  expect(keys).toContain("3");
  expect(keys).not.toContain("1");
  expect(tokens).toBeLessThanOrEqual(5);
  expect(packed({ items }, ["2", "1", "0", "3"], Number.POSITIVE_INFINITY).keys).toEqual([
    "0",
    "1",
    "2",
    "3",
  ]);
});

describe("an answer is right", () => {
  const ofAnswer = (answer, given) => judged(given, { answer, isAbstention: false });

  test.each([
    ["a red canoe", "The red canoe!", true, true],
    ["2", "two", true, true],
    ["7 May 2023", "May 7, 2023", false, true],
    ["Tromsø", "She moved to Tromsø with her cat", false, true],
    ["Adoption agencies", "agencies", false, true],
    ["2", "in 2022", false, false],
    ["Tromsø", `It was ${"very ".repeat(60)} far: Tromsø`, false, false],
    ["a red canoe", "", false, false],
    ["cello", "I don't know.", false, false],
  ])("%j by %j: exactly %s, leniently %s", (expected, given, exact, lenient) => {
    expect(ofAnswer(expected, given)).toMatchObject({ exact, lenient });
  });

  test("by saying that nothing is known, where nothing is", () => {
    const nothing = (given) => judged(given, { answer: "", isAbstention: true });
    expect(nothing("I don’t know")).toMatchObject({ exact: true, lenient: true });
    for (const text of [
      "It is not mentioned.",
      "There is no information about that",
      "The notes do not say.",
      "That wasn't mentioned in the conversation",
    ]) {
      expect([text, nothing(text)]).toEqual([text, { exact: false, lenient: true, f1: 1 }]);
    }
    expect(nothing("Runa")).toMatchObject({ exact: false, lenient: false });
    expect(isAbstaining("He knows nothing better than a canoe")).toBe(false);
  });

  test("as a judge's reply says", () => {
    const replies = [
      "right",
      "Wrong.",
      "**Right**",
      "<think>wrong?</think>\nright",
      "It is right",
      "",
      "rightly so",
    ];
    expect(replies.map(verdictIn)).toEqual([
      true,
      false,
      true,
      true,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
