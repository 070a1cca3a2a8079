// What the agent can do with its memory: for the model a description, for the graph a
// function on the store.
import { interrupt } from "@langchain/langgraph/web";
import { withContext } from "keepsake";
import { keyOf, MEMORIES, PERSON, today, topicNamespace } from "./items.mjs";

export const RECALLED = 5;
// Of all that is there, and not of what fits best.
const LISTED = 10;

/** Each: {description, parameters (JSON schema), run(args, {store, config}) → result}. */
export const TOOLS = {
  recall: {
    description:
      "Search the long-term memory: what the person told you, and conversations that you heard.",
    parameters: {
      type: "object",
      properties: {
        query: { type: "string", description: "What to look for; without it, the newest" },
        aboutPerson: { type: "boolean", description: "Only what the person told you" },
        topic: { type: "string", description: "Only what they told you on it: likes, work" },
      },
    },
    run: recall,
  },
  remember: {
    description: "Keep one fact about the person for ever.",
    parameters: {
      type: "object",
      properties: {
        text: { type: "string", description: "The fact, in one sentence" },
        topic: { type: "string", description: "One word, such as likes, work or health" },
      },
      required: ["text", "topic"],
    },
    run: remember,
  },
  forget: {
    description: "Delete one item that recall found. The person is asked first.",
    parameters: {
      type: "object",
      properties: {
        namespace: { type: "array", items: { type: "string" } },
        key: { type: "string" },
      },
      required: ["namespace", "key"],
    },
    run: forget,
  },
};

async function recall({ query, aboutPerson = false, topic }, { store }) {
  const prefix = topic ? topicNamespace(topic) : aboutPerson ? PERSON : MEMORIES;
  const asked = query ? { query, explain: true } : {};
  const found = await store.search(prefix, { ...asked, limit: query ? RECALLED : LISTED });
  return { items: found.map(recalledItem), plan: found[0]?.plan };
}

function recalledItem({ namespace, key, value, score, explain }) {
  const { text, speaker, date } = value;
  return { namespace, key, score, text, speaker, date, explain };
}

async function remember({ text, topic }, { store }) {
  const namespace = topicNamespace(topic);
  const key = keyOf(text);
  await store.put(namespace, key, { text, date: today() });
  return { namespace, key, text };
}

async function forget({ namespace, key }, { store, config }) {
  const item = await store.get(namespace, key);
  if (item === null) return { forgotten: false, reason: "there is no such item" };
  const { text } = item.value;
  // The run ends here, and begins again when the person has answered.
  const { approved } = withContext(config, () =>
    interrupt({ action: "forget", namespace, key, text }),
  );
  if (!approved) return { forgotten: false, reason: "the person wants to keep it", text };
  await store.delete(namespace, key);
  return { forgotten: true, namespace, key, text };
}
