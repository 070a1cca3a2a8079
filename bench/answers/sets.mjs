// Sets of questions about long conversations, read where they lie. They are no part of the project.
//
// A talk is { id, at?, items: [{ key, value, line }], questions }. `line` is what a reader sees of
// an item, `at` when the questions are asked. A question is { id, kind, text, asked?, answer,
// isAbstention, evidence: [key], rubric? }: `rubric` lists what a good answer does, where no text
// can say it.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** By their names: what to give, under which licence it is, where it is, and how it is read. */
export const SETS = {
  locomo: {
    title: "LoCoMo",
    takes: "locomo10.json",
    licence: "CC BY-NC 4.0, not for commercial use",
    get: "curl -LO https://raw.githubusercontent.com/snap-research/locomo/main/data/locomo10.json",
    read: locomo,
  },
  longmemeval: {
    title: "LongMemEval",
    takes: "longmemeval_s_cleaned.json",
    licence: "MIT",
    get: "curl -LO https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned/resolve/main/longmemeval_s_cleaned.json",
    read: longMemEval,
  },
  beam: {
    title: "BEAM",
    takes: "BEAM/chats/100K",
    licence: "CC BY-SA 4.0",
    get: "git clone --depth 1 https://github.com/mohammadtakavoli78/BEAM",
    read: beam,
  },
};

/** What is wrong with data that was named; its message says what to do. */
export class DataError extends Error {}

/** The talks in what `path` names, one after the other. */
export function* talksOf(name, path) {
  const { title, takes, licence, get, read } = SETS[name];
  if (!existsSync(path)) {
    throw new DataError(
      `there is no ${path}. ${title} (${licence}) is published, and not part of this project:\n` +
        `  ${get}\nThen say --${name}=${takes}`,
    );
  }
  try {
    yield* read(path);
  } catch (error) {
    if (error instanceof DataError) throw error;
    throw new DataError(`${path} does not look like ${takes} of ${title}: ${error.message}`, {
      cause: error,
    });
  }
}

function json(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const isHuge = error.code === "ERR_STRING_TOO_LONG" || error.code === "ERR_FS_FILE_TOO_LARGE";
    throw isHuge
      ? new DataError(`${path} is too large to be read at once: take a smaller part of the set`)
      : error;
  }
}

const lineOf = ({ date, who, text }) => `${date ? `[${date}] ` : ""}${who}: ${text}`;
const firstOf = (...texts) => texts.find((text) => text !== undefined && text !== null);
const listOf = (name, value) => {
  if (Array.isArray(value)) return value;
  throw new DataError(`${name} is no list`);
};

// ---- LoCoMo

const LOCOMO_KINDS = {
  1: "several turns",
  2: "time",
  3: "open domain",
  4: "one turn",
  5: "abstention",
};

function* locomo(path) {
  for (const { sample_id: id, conversation, qa } of listOf(basename(path), json(path))) {
    const items = new Map();
    for (let session = 1; conversation[`session_${session}`]; session++) {
      const date = conversation[`session_${session}_date_time`] ?? "";
      for (const turn of conversation[`session_${session}`]) {
        const { speaker, text, blip_caption: caption } = turn;
        const shown = caption ? `${text} [shows a picture: ${caption}]` : text;
        items.set(turn.dia_id, {
          key: turn.dia_id,
          value: { speaker, text, ...(caption && { caption }), date },
          line: lineOf({ date, who: speaker, text: shown }),
        });
      }
    }
    const questions = qa.map(({ question, answer, category, evidence }, i) => {
      const isAbstention = category === 5;
      return {
        id: `${id}:${i}`,
        kind: LOCOMO_KINDS[category] ?? `category ${category}`,
        text: question,
        answer: isAbstention ? "" : String(answer),
        isAbstention,
        evidence: turnsIn(evidence).filter((key) => items.has(key)),
      };
    });
    yield { id, items: [...items.values()], questions };
  }
}

// Some name several turns in one text.
const turnsIn = (evidence = []) => [
  ...new Set(evidence.flatMap((each) => each.split(/[;,\s]+/)).filter(Boolean)),
];

// ---- LongMemEval: each question has a history of its own

function* longMemEval(path) {
  for (const each of listOf(basename(path), json(path))) {
    const { question_id: id, question_type: type, question_date: asked } = each;
    const isAbstention = id.endsWith("_abs");
    const items = [];
    const marked = [];
    const inSessions = [];
    for (const [i, turns] of each.haystack_sessions.entries()) {
      const session = each.haystack_session_ids[i];
      const date = each.haystack_dates[i];
      for (const [turn, { role, content, has_answer: isEvidence }] of turns.entries()) {
        const key = `${i}:${turn}`;
        if (isEvidence) marked.push(key);
        if (each.answer_session_ids.includes(session)) inSessions.push(key);
        items.push({
          key,
          value: { session, date, role, content },
          line: lineOf({ date, who: role, text: content }),
        });
      }
    }
    yield {
      id,
      at: momentOf(asked),
      items,
      questions: [
        {
          id,
          kind: isAbstention ? "abstention" : type,
          text: each.question,
          asked,
          answer: String(each.answer),
          isAbstention,
          evidence: marked.length > 0 ? marked : inSessions,
          ...(type === "single-session-preference" && { rubric: [String(each.answer)] }),
        },
      ],
    };
  }
}

// "2023/05/30 (Tue) 23:40"; undefined if it can't be read.
function momentOf(text = "") {
  const [, day, time] = /^(\d{4}\/\d\d\/\d\d)(?: \(\w+\))? (\d\d:\d\d)$/.exec(text) ?? [];
  return day && Date.parse(`${day.replaceAll("/", "-")}T${time}:00Z`);
}

// ---- BEAM: a folder for each conversation

function* beam(path) {
  const ids = readdirSync(path).filter((name) => existsSync(join(path, name, "chat.json")));
  if (ids.length === 0) {
    throw new DataError(`${path} has no folders with a chat.json, as BEAM/chats/100K has`);
  }
  for (const id of ids.sort((a, b) => a.localeCompare(b, "en", { numeric: true }))) {
    const batches = listOf("chat.json", json(join(path, id, "chat.json")));
    if (batches.some((batch) => batch.turns === undefined)) {
      throw new DataError(`chat.json of ${id} has no turns: conversations of 10M are not read`);
    }
    const items = batches.flatMap(({ turns, time_anchor: batchDate }) => {
      let date = batchDate;
      return turns.flat().map((turn) => {
        date = turn.time_anchor ?? date;
        const { role } = turn;
        // What stands behind the arrow says how the question was made.
        const content = turn.content.replace(/\s*->->[\s\S]*$/, "");
        return {
          key: String(turn.id),
          value: { role, content, ...(date && { date }) },
          line: lineOf({ date, who: role, text: content }),
        };
      });
    });
    const known = new Set(items.map(({ key }) => key));
    const probing = json(join(path, id, "probing_questions/probing_questions.json"));
    yield {
      id,
      items,
      questions: Object.entries(probing).flatMap(([kind, questions]) =>
        questions.map((each, i) => ({
          id: `${id}:${kind}:${i}`,
          kind: kind.replaceAll("_", " "),
          text: each.question,
          answer: String(
            firstOf(
              each.answer,
              each.ideal_answer,
              each.ideal_response,
              each.ideal_summary,
              each.expected_compliance,
              "",
            ),
          ),
          isAbstention: kind === "abstention",
          evidence: [...new Set(idsIn(each.source_chat_ids))].filter((key) => known.has(key)),
          ...(each.rubric?.length > 0 && { rubric: each.rubric.map(String) }),
        })),
      ),
    };
  }
}

const idsIn = (value) =>
  typeof value === "number"
    ? [String(value)]
    : value && typeof value === "object"
      ? Object.values(value).flatMap(idsIn)
      : [];
