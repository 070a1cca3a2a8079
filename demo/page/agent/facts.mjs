// What the scripted model makes of a person's words: patterns, no understanding.

const TOPICS = [
  { topic: "name", statement: /\b(my name is|call me|i am called)\b/i, question: /\bname\b/i },
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
    topic: "people",
    statement:
      /\bmy (wife|husband|partner|sister|brother|mother|father|daughter|son|friend|dog|cat)\b/i,
    question:
      /\b(wife|husband|partner|sister|brother|mother|father|daughter|son|friend|dog|cat|family)\b/i,
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
const GREETING =
  /^(hi|hello|hey|good (morning|evening|day)|thanks?|thank you|ok(ay)?)\b[\s\w]{0,12}[.!]*$/i;
const FIRST_PERSON = /\b(i|i'm|me|my|mine)\b/i;
const ABOUT_ALL_OF_THEM =
  /\bwho am i\b|\b(know|knew|remember|learn(ed|t)?|heard?|told you|tell me|say)( of| about)? (me|myself)\b|\bhave i told you\b/i;
// What a question about the person says beside its subject.
const FILLING =
  /\b(what|who|where|when|which|how|is|are|was|do|does|did|am|i|i'm|me|my|mine|you|the|a|an|to|tell|know|about|of|so|much|many|things?)\b|'s\b/gi;

export const isGreeting = (text) => GREETING.test(text.trim());
export const isQuestion = (text) => QUESTION.test(text.trim());
export const isAboutThePerson = (text) => FIRST_PERSON.test(text);

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
  const names = new Set(people.flatMap(wordsOf));
  const about = wordsOf(question.replace(FILLING, " ")).filter((word) => !names.has(word));
  const words = texts.flatMap(wordsOf);
  const found = about.filter((word) => words.some((other) => isAkin(word, other)));
  return found.length * 2 >= about.length;
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

/** → [{topic, text}], a fact for each statement about the person. */
export function extractFacts(text) {
  return sentences(text).flatMap((sentence) => {
    const isRequest = REMEMBER.test(sentence);
    const fact = sentence.replace(REMEMBER, "");
    if (!isRequest && (isQuestion(sentence) || !FIRST_PERSON.test(sentence))) return [];
    return [{ topic: topicOfStatement(fact), text: fact }];
  });
}

function topicOfStatement(text) {
  return TOPICS.find((entry) => entry.statement.test(text))?.topic ?? "notes";
}

// A full stop within a word, as in package.json, ends none.
function sentences(text) {
  const found = text.split(/(?<=[.!?])\s+|\n+/);
  return found.map((sentence) => sentence.trim()).filter((sentence) => sentence !== "");
}
