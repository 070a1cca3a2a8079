// Reads a conversation from JSON: the demo's own format (README.md) or LoCoMo's.
// Whatever is wrong with it is told by place and rule, as a ConversationError.

export const FORMAT = "keepsake-conversation/1";

export class ConversationError extends Error {
  name = "ConversationError";
}

// → {id, title, people, sessions: [{date, turns: [{id, speaker, text}]}], turns, questions}
// `turns` are those of all sessions, each with the number and the date of its session, and its
// place there.
// `source` is what messages call the text; `conversation` is which one of a list.
export function readConversation(text, { source, conversation: number }) {
  const json = parsed(source, text);
  const { chosen, where } = Array.isArray(json)
    ? numbered(json, number, source)
    : { chosen: json, where: source };
  const read = isLocomo(chosen) ? fromLocomo(chosen, where) : fromOwnFormat(chosen, where);
  return complete(read, where);
}

function parsed(source, text) {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause.message.replace(/\s+/g, " ");
    throw new ConversationError(`${source} is not JSON: ${reason}${placeOf(cause, text)}`, {
      cause,
    });
  }
}

// V8 gives a position or a few characters of the text; people look for lines.
function placeOf({ message }, text) {
  if (/line \d+/.test(message)) return "";
  const position = /position (\d+)/.exec(message)?.[1] ?? positionOfExcerpt(message, text);
  if (position === undefined) return "";
  const before = text.slice(0, Number(position)).split("\n");
  return ` (line ${before.length}, column ${before.at(-1).length + 1})`;
}

// Of `Unexpected token '}', ..."after the comma: }, { …"... is not valid JSON`: the
// excerpt starts ten characters before the token.
function positionOfExcerpt(message, text) {
  const excerpt = /, \.\.\."([\s\S]*)"(?:\.\.\.)? is not valid JSON$/.exec(message)?.[1];
  const start = excerpt === undefined ? -1 : text.indexOf(excerpt);
  const isCertain = start >= 0 && start === text.lastIndexOf(excerpt);
  return isCertain ? start + 10 : undefined;
}

function numbered(list, number = 1, source) {
  if (list.length === 0) throw new ConversationError(`${source} holds an empty list`);
  if (number > list.length) {
    throw new ConversationError(
      `${source} holds ${list.length} conversations; --conversation must be 1 to ${list.length}, not ${number}`,
    );
  }
  return { chosen: list[number - 1], where: `${source}, conversation ${number}` };
}

function fromOwnFormat(json, where) {
  const expect = expectations(where);
  expect(isRecord(json), "", "an object", json);
  expect(json.format === FORMAT, "format", `"${FORMAT}" (or be LoCoMo's format)`, json.format);
  expect(isText(json.id), "id", "a text", json.id);
  expect(Array.isArray(json.sessions), "sessions", "a list", json.sessions);
  const sessions = json.sessions.map((session, i) => {
    const at = `sessions[${i}]`;
    expect(isRecord(session), at, "an object", session);
    expect(isDate(session.date), `${at}.date`, 'a date such as "2024-03-02T18:30"', session.date);
    expect(Array.isArray(session.turns), `${at}.turns`, "a list", session.turns);
    for (const [j, turn] of session.turns.entries()) expectTurn(expect, turn, `${at}.turns[${j}]`);
    return { date: readableDate(session.date), turns: session.turns };
  });
  const questions = json.questions ?? [];
  expect(Array.isArray(questions), "questions", "a list", questions);
  for (const [i, question] of questions.entries()) {
    expectQuestion(expect, question, `questions[${i}]`);
  }
  return { id: json.id, title: json.title ?? json.id, sessions, questions };
}

function expectTurn(expect, turn, at) {
  expect(isRecord(turn), at, "an object", turn);
  for (const field of ["id", "speaker", "text"]) {
    expect(isText(turn[field]), `${at}.${field}`, "a text", turn[field]);
  }
}

function expectQuestion(expect, question, at) {
  expect(isRecord(question), at, "an object", question);
  expect(isText(question.question), `${at}.question`, "a text", question.question);
  const evidence = question.evidence;
  const isListOfIds = Array.isArray(evidence) && evidence.every(isText);
  expect(isListOfIds, `${at}.evidence`, "a list of turn ids", evidence);
}

function expectations(where) {
  return (holds, field, rule, found) => {
    if (holds) return;
    const subject = field === "" ? "the conversation" : `"${field}"`;
    const shown = JSON.stringify(found)?.slice(0, 60) ?? "nothing";
    throw new ConversationError(`${where}: ${subject} must be ${rule}, found ${shown}`);
  };
}

// LoCoMo: {sample_id, conversation: {session_1: [{speaker, dia_id, text, blip_caption?}],
// session_1_date_time, …}, qa: [{question, answer, evidence: ["D1:3"]}]}
function isLocomo(json) {
  return isRecord(json) && isRecord(json.conversation) && "session_1" in json.conversation;
}

function fromLocomo(json, where) {
  const numbers = Object.keys(json.conversation)
    .map((field) => /^session_(\d+)$/.exec(field)?.[1])
    .filter((number) => number !== undefined)
    .sort((a, b) => a - b);
  const expect = expectations(where);
  const sessions = numbers.map((number) => {
    const field = `session_${number}`;
    const turns = json.conversation[field];
    expect(Array.isArray(turns), `conversation.${field}`, "a list", turns);
    return {
      date: String(json.conversation[`${field}_date_time`] ?? `session ${number}`),
      turns: turns.map((turn, i) => locomoTurn(expect, turn, `conversation.${field}[${i}]`)),
    };
  });
  const people = [...new Set(sessions.flatMap(({ turns }) => turns.map((turn) => turn.speaker)))];
  const questions = (json.qa ?? []).map(({ question, answer, adversarial_answer, evidence }) => ({
    question,
    answer: String(answer ?? adversarial_answer ?? ""),
    evidence: evidenceIds(evidence),
  }));
  return { id: json.sample_id ?? "locomo", title: people.join(" and "), sessions, questions };
}

function locomoTurn(expect, turn, at) {
  expect(isRecord(turn), at, "an object", turn);
  const { dia_id: id, speaker, text, blip_caption: caption } = turn;
  const read = { id, speaker, text: caption ? `${text} [shows ${caption}]` : text };
  expectTurn(expect, read, at);
  return read;
}

// Some evidence strings of LoCoMo are malformed: "D8:6; D9:17", "D:11:26", "D30:05".
function evidenceIds(evidence = []) {
  return evidence.flatMap((text) =>
    [...String(text).matchAll(/D:?(\d+):0*(\d+)/g)].map(
      ([, session, turn]) => `D${session}:${turn}`,
    ),
  );
}

function complete({ id, title, sessions, questions }, where) {
  const turns = sessions.flatMap(({ date, turns }, i) =>
    turns.map((turn, place) => ({ ...turn, session: i + 1, date, place })),
  );
  if (turns.length === 0) throw new ConversationError(`${where} has no turns`);
  const ids = new Set();
  for (const turn of turns) {
    if (ids.has(turn.id))
      throw new ConversationError(`${where}: two turns have the id "${turn.id}"`);
    ids.add(turn.id);
  }
  const people = [...new Set(turns.map((turn) => turn.speaker))];
  const answerable = questions
    .map((question) => ({
      ...question,
      evidence: question.evidence.filter((turn) => ids.has(turn)),
    }))
    .filter((question) => question.evidence.length > 0);
  return { id, title, people, sessions, turns, questions: answerable };
}

const isRecord = (json) => typeof json === "object" && json !== null && !Array.isArray(json);
const isText = (json) => typeof json === "string" && json.trim() !== "";
const isDate = (json) => isText(json) && !Number.isNaN(Date.parse(json));

function readableDate(date) {
  return new Date(date).toLocaleDateString("en-GB", { dateStyle: "long" });
}
