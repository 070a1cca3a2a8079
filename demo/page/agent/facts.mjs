// What the scripted model makes of a person's words: patterns, no understanding.

const TOPICS = [
  { topic: "name", statement: /\b(my name is|call me|i am called)\b/i, question: /\bname\b/i },
  {
    topic: "age",
    statement: /\bi('m| am) \d+\b/i,
    question: /\b(old|age)\b/i,
  },
  {
    topic: "health",
    statement: /\b(allerg|intolerant|diagnosed|my doctor)/i,
    question: /\b(allerg|intoleran|health|doctor)/i,
  },
  {
    topic: "dislikes",
    statement:
      /\bi (really )?(hate|dislike|avoid|can(no|')t stand|do(n't| not) (like|eat|drink))\b/i,
    question: /\b(hate|dislike|avoid)\b/i,
  },
  {
    topic: "likes",
    statement: /\bi (really |also )?(like|love|enjoy|prefer|adore)\b|\bmy favou?rite\b/i,
    question: /\b(like|love|enjoy|prefer|favou?rite)\b/i,
  },
  {
    topic: "home",
    statement: /\bi (live|lived|moved|grew up)\b|\bi('m| am) from\b/i,
    question: /\b(live|home|from)\b/i,
  },
  {
    topic: "work",
    statement: /\bi (work|worked|teach|study|run)\b|\bmy (job|work|company)\b/i,
    question: /\b(work|job|study)\b/i,
  },
  {
    // A question asks for one of them, and so for a word.
    topic: "people",
    statement:
      /\bmy (wife|husband|partner|sister|brother|mother|father|daughter|son|friend|dog|cat)\b/i,
    question: /\bfamily\b/i,
  },
  {
    topic: "plans",
    statement: /\bi('m| am) (going to|planning)\b|\bi (will|want to|plan to|hope to)\b|\bi'll\b/i,
    question: /\b(plan|plans|going to|want)\b/i,
  },
];

const REMEMBER = /^(please )?remember( that|:)?\s+/i;
const FORGET = /^(please )?(forget|delete|erase)( that| about|:)?\s+/i;
const QUESTION =
  /\?\s*$|^(who|what|when|where|which|why|how|is|are|was|were|do|does|did|can|could|has|have|will|would|tell me)\b/i;
const GREETING = /^(hi|hello|hey|good (morning|evening|day))\b[\s\w]{0,12}[.!]*$/i;
const THANKS = /^(thanks?|thank you)\b[\s\w]{0,12}[.!]*$/i;
const AGREEMENT = /^(ok(ay)?|great|nice|cool|good|fine)[.!]*$/i;
const ABOUT_THE_AGENT =
  /^(so )?(who|what) are you\b|\b(what|how much) can you (do|remember)\b|\bhow do you work\b|^help\b|^what is (this|keepsake)\b/i;
const FIRST_PERSON = /\b(i|i'm|me|my|mine)\b/i;
// "Tell me about the bakery" is not about the person.
const ADDRESS = /^(please |can you |could you )*(tell|show|remind|give) me\b/i;
const ABOUT_ALL_OF_THEM =
  /\bwho am i\b|\b(know|knew|remember|learn(ed|t)?|heard?|told you|tell me|say)( of| about)? (me|myself)\b|\bhave i told you\b/i;
// What a question about the person says beside its subject.
const FILLING =
  /\b(what|who|where|when|which|how|is|are|was|do|does|did|am|i|i'm|me|my|mine|you|the|a|an|to|tell|told|know|remember|about|of|so|much|many|things?)\b|'s\b/gi;

export const isGreeting = (text) => GREETING.test(text.trim());
export const isThanks = (text) => THANKS.test(text.trim());
export const isAboutTheAgent = (text) => ABOUT_THE_AGENT.test(text.trim());
export const isQuestion = (text) => QUESTION.test(text.trim());
export const isAgreement = (text) => AGREEMENT.test(text.trim());
export const isAboutThePerson = (text) => FIRST_PERSON.test(text.trim().replace(ADDRESS, ""));

/** Whether anything about the person answers it: "who am I?" */
export const isAboutAllOfThem = (text) => ABOUT_ALL_OF_THEM.test(text);

/** What is to be forgotten; undefined if nothing is. */
export function subjectToForget(text) {
  return FORGET.test(text.trim()) ? text.trim().replace(FORGET, "") : undefined;
}

const LEAST_SHARED = 4;

/**
 * Whether the texts are likely to be about the question: together they have half of
 * the words that it is about. `people` are named in most texts, and tell nothing.
 */
export function areAbout(question, texts, people) {
  const about = subjectsOf(question, people);
  return sharedOf(about, texts.flatMap(wordsOf)) * 2 >= about.length;
}

/** Those of `people` that a question asks for and nothing else: "who is Jonas?" */
export function namesIn(question, people) {
  if (subjectsOf(question, people).length > 0) return [];
  const words = new Set(wordsOf(question));
  return [...new Set(people)].filter((name) => wordsOf(name).every((word) => words.has(word)));
}

/** The items whose texts share the most words with the question, if any shares one. */
export function mostAbout(question, items) {
  const about = subjectsOf(question);
  const shared = items.map(({ text }) => sharedOf(about, wordsOf(text)));
  const most = Math.max(...shared);
  return most > 0 ? items.filter((_, i) => shared[i] === most) : [];
}

// The words that it is about.
function subjectsOf(question, people = []) {
  const names = new Set(people.flatMap(wordsOf));
  return wordsOf(question.replace(FILLING, " ")).filter((word) => !names.has(word));
}

function sharedOf(about, words) {
  return about.filter((word) => words.some((other) => isAkin(word, other))).length;
}

const SMALL_WORDS =
  /^(and|or|not|in|on|at|for|with|by|there|that|this|did|has|have|had|why|say|says|said|called)$/;

const wordsOf = (text) =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter(
    (word) => word.length > 1 && !SMALL_WORDS.test(word),
  );

// "bakery" and "baking", "nuts" and "hazelnuts".
function isAkin(a, b) {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short.length < LEAST_SHARED) return short === long;
  const beginning = short.slice(0, Math.max(LEAST_SHARED - 1, short.length - 3));
  return long.startsWith(beginning) || long.includes(short);
}

/** The topic that a question asks for and nothing else: "where do I live?" */
export function topicOf(question) {
  const entry = TOPICS.find((each) => each.question.test(question));
  const rest = question.replace(FILLING, " ").replace(entry?.question ?? "", " ");
  return /[\p{L}\p{N}]/u.test(rest) ? undefined : entry?.topic;
}

// "My name is Ada and I live in London" are two facts.
const ANOTHER_FACT = /,?\s+and\s+(?=(?:i|i'm|i've|my)\b)/i;
// "My sister is called Eve. She lives in Rome." is one.
const GOES_ON = /^(he|she|it|they|his|her|its|their|there)\b/i;

/** → [{topic, text}], a fact for each statement about the person. */
export function extractFacts(text) {
  const facts = [];
  for (const sentence of sentences(text)) {
    const last = facts.at(-1);
    if (last && GOES_ON.test(sentence) && !isQuestion(sentence)) last.text += ` ${sentence}`;
    else facts.push(...factsOf(sentence));
  }
  return facts.map((fact) => ({ topic: topicOfStatement(fact.text), text: fact.text }));
}

function factsOf(sentence) {
  const isRequest = REMEMBER.test(sentence);
  if (!isRequest && (isQuestion(sentence) || !FIRST_PERSON.test(sentence))) return [];
  return sentence
    .replace(REMEMBER, "")
    .split(ANOTHER_FACT)
    .map((text) => ({ text }));
}

function topicOfStatement(text) {
  return TOPICS.find((entry) => entry.statement.test(text))?.topic ?? "notes";
}

// A full stop within a word, as in package.json, ends none.
function sentences(text) {
  const found = text.split(/(?<=[.!?])\s+|\n+/);
  return found.map((sentence) => sentence.trim()).filter((sentence) => sentence !== "");
}
