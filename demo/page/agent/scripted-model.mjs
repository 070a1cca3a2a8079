// A model without a model: it plans by patterns, and answers with quotes of what was
// recalled. It needs no key and no network.
import { AIMessage, isHumanMessage, isToolMessage } from "@langchain/core/messages";
import {
  areAbout,
  extractFacts,
  isAboutAllOfThem,
  isAboutTheAgent,
  isAboutThePerson,
  isAgreement,
  isGreeting,
  isQuestion,
  isThanks,
  mostAbout,
  namesIn,
  subjectToForget,
  topicOf,
} from "./facts.mjs";

// Below, two texts share little more than letters.
const RELEVANT = 0.12;
// Of the best score: what is nearly as good is said too.
const NEARLY_AS_GOOD = 0.6;
const MOST_QUOTES = 2;
const MOST_FACTS = 10;

export class ScriptedModel {
  name = "Scripted";

  async respond(messages) {
    const start = messages.findLastIndex(isHumanMessage);
    const said = messages[start].content;
    const results = messages.slice(start).filter(isToolMessage).map(resultOf);
    const calls = results.length === 0 ? firstCalls(said) : nextCalls(said, results);
    if (calls.length > 0)
      return new AIMessage({ id: crypto.randomUUID(), content: "", tool_calls: calls });
    return new AIMessage({ id: crypto.randomUUID(), content: answer(said, results) });
  }
}

function resultOf({ name, content }) {
  return { name, ...JSON.parse(content) };
}

// ---- which tools

function firstCalls(said) {
  if (smallTalk(said) !== undefined) return [];
  const subject = subjectToForget(said);
  if (subject !== undefined) return [call("recall", { query: subject })];
  const aboutPerson = isQuestion(said) && isAboutThePerson(said);
  if (aboutPerson && isAboutAllOfThem(said)) return [call("recall", { aboutPerson })];
  const topic = aboutPerson ? topicOf(said) : undefined;
  if (topic !== undefined) return [call("recall", { topic })];
  const facts = extractFacts(said);
  return [
    call("recall", { query: said, aboutPerson: aboutPerson || facts.length > 0 }),
    ...facts.map((fact) => call("remember", fact)),
  ];
}

function nextCalls(said, results) {
  if (isInNoDrawer(said, results)) return [call("recall", { query: said, aboutPerson: true })];
  if (subjectToForget(said) === undefined || results.some(({ name }) => name === "forget"))
    return [];
  const best = relevant(recalled(results))[0];
  return best ? [call("forget", { namespace: best.namespace, key: best.key })] : [];
}

// It may be kept under another topic than the one that was asked for.
function isInNoDrawer(said, results) {
  if (subjectToForget(said) !== undefined || isAboutAllOfThem(said)) return false;
  return results.length === 1 && topicOf(said) !== undefined && recalled(results).length === 0;
}

function call(name, args) {
  return { type: "tool_call", id: crypto.randomUUID(), name, args };
}

// ---- which words

function answer(said, results) {
  const forgotten = results.find(({ name }) => name === "forget");
  if (forgotten) return answerToForget(forgotten);
  const facts = results.filter(({ name }) => name === "remember");
  if (facts.length > 0) return answerToFacts(facts, recalled(results));
  if (results.length === 0) return smallTalk(said);
  if (subjectToForget(said) !== undefined) return "I found nothing like that to forget.";
  return isAboutThePerson(said)
    ? answerAboutPerson(said, recalled(results))
    : quoted(said, recalled(results));
}

// undefined if it is none.
function smallTalk(said) {
  if (isGreeting(said)) return GREETING;
  if (isThanks(said)) return "You are welcome.";
  if (isAgreement(said)) return "Good.";
  return isAboutTheAgent(said) ? ABOUT_ME : undefined;
}

const GREETING =
  "Hello! Tell me something about yourself and I will keep it, or ask me about what I have heard.";
const ABOUT_ME =
  "I am the scripted model of this demo. I keep what you tell me about yourself, in every thread, and answer with quotes of what I remember. In the page, a model of yours can speak instead.";
const NOTHING = "I remember nothing about that.";

function answerToForget({ forgotten, text, reason }) {
  if (forgotten) return `Forgotten: “${text}”`;
  return text ? `Then I keep it: “${text}”` : `I did not forget anything: ${reason}.`;
}

function answerToFacts(facts, before) {
  const kept = facts.map(({ text, namespace }) => `“${text}” (under ${namespace.at(-1)})`);
  const others = before.filter(({ text }) => !facts.some((fact) => fact.text === text));
  const told = facts.map(({ text }) => text).join(" ");
  const [related] = mostAbout(told, relevant(others));
  const reminder = related
    ? `\nThat goes with what you told me on ${related.date}: “${related.text}”`
    : "";
  return `I will remember: ${kept.join(", ")}.${reminder}`;
}

function answerAboutPerson(question, items) {
  const isAboutAll = isAboutAllOfThem(question);
  // Of a topic, or of the person, all is the answer: nothing was looked for by words.
  const isListed = items.every(({ score }) => score === undefined);
  const known = isListed ? items : mostAbout(question, items).slice(0, MOST_QUOTES);
  if (known.length > 0) {
    const facts = known.slice(0, MOST_FACTS).map(({ text }) => `“${text}”`);
    return `You told me: ${facts.join(", ")}`;
  }
  return isAboutAll
    ? "You have not told me anything about yourself yet."
    : "You have not told me that.";
}

function quoted(question, items) {
  const texts = items.map(({ text }) => text);
  const people = items.flatMap(({ speaker }) => speaker ?? []);
  const [name] = namesIn(question, people);
  if (name !== undefined)
    return `I have heard ${name} talk. Ask me what ${name} said about something.`;
  if (!areAbout(question, texts, people)) return NOTHING;
  const chosen = nearlyAsGood(relevant(items).filter(({ text }) => !text.endsWith("?")));
  if (chosen.length === 0) return NOTHING;
  return chosen.map(quote).join("\n");
}

function quote({ text, speaker, date }) {
  if (speaker === undefined) return `You told me on ${date}: “${text}”`;
  return `${speaker} said on ${date}: “${text.replace(`${speaker}: `, "")}”`;
}

function recalled(results) {
  return results.filter(({ name }) => name === "recall").flatMap(({ items = [] }) => items);
}

function relevant(items) {
  return items.filter(({ score }) => score >= RELEVANT);
}

function nearlyAsGood(items) {
  const least = NEARLY_AS_GOOD * (items[0]?.score ?? 0);
  return items.filter(({ score }) => score >= least).slice(0, MOST_QUOTES);
}
