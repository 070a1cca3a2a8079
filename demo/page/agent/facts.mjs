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

export const isGreeting = (text) => GREETING.test(text.trim());
export const isQuestion = (text) => QUESTION.test(text.trim());
export const isAboutThePerson = (text) => FIRST_PERSON.test(text);

/** What is to be forgotten; undefined if nothing is. */
export function subjectToForget(text) {
  return FORGET.test(text.trim()) ? text.trim().replace(FORGET, "") : undefined;
}

/** The topic that a question asks for, if the patterns tell. */
export function topicOf(question) {
  return TOPICS.find((entry) => entry.question.test(question))?.topic;
}

/** → [{topic, text}], a fact for each statement about the person. */
export function extractFacts(text) {
  return sentences(text).flatMap((sentence) => {
    const isRequest = REMEMBER.test(sentence);
    const fact = capitalised(sentence.replace(REMEMBER, ""));
    if (!isRequest && (isQuestion(sentence) || !FIRST_PERSON.test(sentence))) return [];
    return [{ topic: topicOfStatement(fact), text: fact }];
  });
}

function topicOfStatement(text) {
  return TOPICS.find((entry) => entry.statement.test(text))?.topic ?? "notes";
}

function sentences(text) {
  const found = text.match(/[^.!?\n]+(?:[.!?]+(?=\s|$)|\n|$)(?:[.!?]+)?/g) ?? [];
  return found.map((sentence) => sentence.trim()).filter((sentence) => sentence !== "");
}

function capitalised(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
