// A reader that is no model: it answers with the sentence of the notes that shares most with the
// question, the rarer its words the more, or with "I don't know" where none shares enough. It shows
// what a memory brings within reach, and nothing of what a model makes of it.

import { plainWords } from "../plain.mjs";
import { ABSTAINS } from "./judges.mjs";

// So much of a question's words, by how rare they are, must stand in a sentence.
const ENOUGH = 0.2;

/** A reader as `Chat` is one. */
export const extractive = {
  title: "extractive (no model: the sentence that shares most words with the question)",
  async answer({ question: { text }, lines }) {
    return { text: bestOf(text, lines) };
  },
};

function bestOf(question, lines) {
  const sentences = lines.flatMap(sentencesOf);
  const asked = new Set(plainWords(question));
  const held = new Map();
  for (const { words } of sentences) {
    for (const word of words) if (asked.has(word)) held.set(word, (held.get(word) ?? 0) + 1);
  }
  const weight = (word) => Math.log(1 + sentences.length / (held.get(word) ?? 0.5));
  const worth = (words) =>
    [...asked].reduce((sum, word) => (words.has(word) ? sum + weight(word) : sum), 0);
  let best;
  let most = ENOUGH * worth(asked);
  for (const sentence of sentences) {
    const value = worth(sentence.words);
    if (value <= most) continue;
    most = value;
    best = sentence;
  }
  if (best === undefined) return ABSTAINS;
  const isWhen = /^(when|what (day|date|month|year)|wann)\b/i.test(question.trim());
  return isWhen && best.date ? `${best.date}: ${best.text}` : best.text;
}

// The name of who speaks is one of a sentence's words.
function sentencesOf(line) {
  const [, date, who, said] = /^(?:\[([^\]]*)\] )?([^:]*): ([\s\S]*)$/.exec(line) ?? [];
  if (said === undefined) return [];
  return said
    .split(/(?<=[.!?])\s+|\n+/)
    .filter((text) => /\w/.test(text))
    .map((text) => ({ text, date, words: new Set(plainWords(`${who} ${text}`)) }));
}
