// Where the agent's items are in the store, and what they look like.

export const MEMORIES = ["memories"];
export const PERSON = [...MEMORIES, "you"];

const LONGEST_LABEL = 40;

export function topicNamespace(topic) {
  return [...PERSON, labelOf(topic) || "notes"];
}

export function sessionNamespace(recording, session) {
  return [...MEMORIES, labelOf(recording), `session-${String(session).padStart(2, "0")}`];
}

// The same fact has the same key: told twice, it is one item.
export function keyOf(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.join("-").slice(0, LONGEST_LABEL).replace(/-$/, "") || "note";
}

export function today() {
  return new Date().toLocaleDateString("en-GB", { dateStyle: "long" });
}

// Without what a label must not contain.
function labelOf(text) {
  return text
    .replace(/[.:\0]/g, "-")
    .trim()
    .slice(0, LONGEST_LABEL);
}
