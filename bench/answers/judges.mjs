// Whether an answer is right, judged three ways. A question that nothing in the conversation answers
// is answered rightly by saying so.

/** What a reader is told to answer where the notes do not say it. */
export const ABSTAINS = "I don't know.";

const NUMBERS = new Map(
  (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen" +
    " fifteen sixteen seventeen eighteen nineteen twenty"
  )
    .split(" ")
    .map((word, number) => [word, String(number)]),
);
const ARTICLES = new Set(["a", "an", "the"]);

/** The words of a text: in lower case, without articles and signs, numbers as digits. */
export const plainAnswer = (text) =>
  (
    text
      .normalize("NFKC")
      .toLowerCase()
      .replace(/['’]/g, "")
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
    .filter((word) => !ARTICLES.has(word))
    .map((word) => NUMBERS.get(word) ?? word);

// Read in plain words. "Not mentioned", "no information about it", "it is unknown".
const ABSTENTION =
  /\b(?:(?:i )?(?:dont|do not|cant|cannot|can not|couldnt|could not) (?:know|say|tell|determine|answer|find)|(?:not|never|isnt|wasnt|arent|doesnt|does not|did not|didnt) (?:\w+ )?(?:mention|mentioned|say|said|specify|specified|stated|provided|known|discussed|given|available|contain|include|included|found)|no (?:\w+ )?(?:information|mention|record|evidence|details?|answer)|unknown|unanswerable|insufficient information|not enough information)\b/;

export const isAbstaining = (answer) =>
  ABSTENTION.test(answer.toLowerCase().replace(/[’']/g, "").replace(/\s+/g, " "));

/** The share of words that an answer and the expected one have in common: F1, as of SQuAD. */
export function f1(answer, expected) {
  const [given, wanted] = [answer, expected].map(plainAnswer);
  if (given.length === 0 || wanted.length === 0) return given.length === wanted.length ? 1 : 0;
  const left = new Map();
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of given) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    common += 1;
  }
  return (2 * common) / (given.length + wanted.length);
}

const ENOUGH_F1 = 0.5;
// Who answers with all that was said has not found it.
const MOST_WORDS_AROUND = 40;

function contains(answer, expected) {
  const [given, wanted] = [answer, expected].map(plainAnswer);
  if (wanted.length === 0 || given.length > wanted.length + MOST_WORDS_AROUND) return false;
  return ` ${given.join(" ")} `.includes(` ${wanted.join(" ")} `);
}

/**
 * `exact`: the same words in the same order, or the agreed words of who does not know. `lenient`: the
 * answer holds the expected one, or shares half of the words with it (F1), or says in any words that
 * it is not known.
 */
export function judged(answer, { answer: expected, isAbstention }) {
  const same = (text) => plainAnswer(answer).join(" ") === plainAnswer(text).join(" ");
  if (isAbstention) {
    return {
      exact: same(ABSTAINS),
      lenient: isAbstaining(answer),
      f1: isAbstaining(answer) ? 1 : 0,
    };
  }
  const share = f1(answer, expected);
  const lenient = share >= ENOUGH_F1 || contains(answer, expected);
  return { exact: same(expected), lenient, f1: share };
}

/** With any change of a prompt: what was judged with another one is not to be compared. */
export const JUDGE_VERSION = 1;

const JUDGE = `You mark the answers of a test. Somebody was asked about a long conversation. You are told the question, what a right answer is, and the answer that was given.
The answer is right if it says all that makes the right answer one, in whatever words. It is wrong if a part is missing, if something in it contradicts the right answer, or if it names several things of which one is right. The same date, number or name in another form is the same. What is said beside the point does not matter.
Reply with one word: right or wrong.`;

/** What a judge model is asked about an answer. */
export function judgePrompt({ text, answer: expected, isAbstention, rubric }, answer) {
  const wanted = isAbstention
    ? "The conversation does not say it. Only an answer that says so is right, such as that it is unknown or was not mentioned. An answer that names something is wrong."
    : rubric === undefined
      ? expected
      : `One that does all of this:\n${rubric.map((each) => `- ${each}`).join("\n")}`;
  const asked = `Question: ${text}\n\nWhat is right: ${wanted}\n\nThe answer given: ${answer}`;
  return [
    { role: "system", content: JUDGE },
    { role: "user", content: asked },
  ];
}

/** true, false, or undefined where it says neither. */
export function verdictIn(reply) {
  const said = reply.replace(/<think>[\s\S]*?<\/think>/g, "");
  const [, word] = /^\W*(right|wrong)\b/i.exec(said) ?? [];
  return word && word.toLowerCase() === "right";
}
