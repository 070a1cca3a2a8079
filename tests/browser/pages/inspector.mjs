// A page with an inspector, over a memory whose name is in the address.

import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { openMemory } from "keepsake";
import "keepsake/inspector";

const PORTION = 5_000;

// Drinks are alike, and so are places.
const embeddings = (texts) =>
  texts.map((text) => [/tea|drink/.test(text), /pier|place/.test(text), 0.1].map(Number));
const index = { dims: 3, fields: ["text"], embeddings };

const { searchParams } = new URL(location.href);
const name = searchParams.get("name") ?? "inspected";
const memory = await openMemory({
  name,
  secrets: searchParams.get("secrets") ?? undefined,
  ...(searchParams.has("index") && { index }),
});
globalThis.memory = memory;

document.documentElement.lang = "en";
document.body.style.margin = "0";
const heading = document.createElement("h1");
heading.textContent = "A page of somebody's";
heading.style.cssText = "font: 600 18px system-ui; margin: 0; padding: 8px; height: 44px";
const main = document.createElement("main");
const inspector = document.createElement("keepsake-inspector");
inspector.style.height = "calc(100vh - 44px)";
main.append(inspector);
main.prepend(heading);
document.body.append(main);
document.head.insertAdjacentHTML("beforeend", '<meta name="color-scheme" content="light dark">');

/** Some people's likes, notes and a task list. */
globalThis.seedItems = async () => {
  const { store } = memory;
  await store.batch([
    put(["users", "ada", "likes"], "drink", {
      text: "Ada prefers green tea, never coffee",
      kind: "fact",
    }),
    put(["users", "ada", "likes"], "place", { text: "The lighthouse at the end of the pier" }),
    put(["users", "ada", "notes"], "sister", {
      text: "Her sister Mary lives in Porto",
      kind: "fact",
    }),
    put(["users", "bob", "likes"], "drink", { text: "Bob drinks black coffee", kind: "fact" }),
    put(["tasks"], "1", { title: "Water the plants", done: false, due: "2026-05-01" }),
  ]);
};

const put = (namespace, key, value) => ({ namespace, key, value });

/** So many notes below ["many"]. */
globalThis.seedMany = async (count) => {
  for (let first = 0; first < count; first += PORTION) {
    const size = Math.min(PORTION, count - first);
    await memory.store.batch(
      Array.from({ length: size }, (_, i) =>
        put(["many"], `note-${first + i}`, { text: `Note number ${first + i} of many` }),
      ),
    );
  }
};

/** A scope with a policy, whose writes and refusals are in the audit log. */
globalThis.seedScope = async () => {
  await memory.keepAudit({ maxEntries: 500 });
  const policy = {
    readable: [["notes"], ["likes"]],
    maxEntriesPerNamespace: 4,
    maxValueBytes: 200,
    maxBytes: 1000,
    maxTtl: 1440,
  };
  const scope = memory.scoped({ user: "eve@example.com", actor: "agent", policy });
  for (const key of ["1", "2", "3"]) await scope.store.put(["notes"], key, { text: `Note ${key}` });
  const refused = [
    scope.store.put(["notes"], "4", { text: "x".repeat(300) }),
    scope.store.get(["diary"], "1"),
  ];
  await Promise.allSettled(refused);
  return scope;
};

let clock = 0;

/** A thread with a list of messages that grows, up to so many. → the ids of its checkpoints */
globalThis.seedThread = async (thread_id, steps, most = steps, metadata = {}) => {
  const ids = [];
  let config = { configurable: { thread_id, checkpoint_ns: "" }, metadata };
  const messages = [];
  for (let step = 0; step < steps; step++) {
    messages.push(step % 2 ? `Answer ${step}: tea is served` : `Question ${step}: is there tea?`);
    const mood = step > 2 ? "calm" : "eager";
    config = await step_(config, step, { messages: messages.slice(-most), mood });
    ids.push(config.configurable.checkpoint_id);
  }
  return ids;
};

/** A checkpoint that follows another one of the thread. */
globalThis.branch = (thread_id, checkpoint_id, step) =>
  step_({ configurable: { thread_id, checkpoint_ns: "", checkpoint_id } }, step, {
    messages: ["Another way"],
    mood: "curious",
  });

function step_(config, step, channel_values) {
  clock++;
  const versions = Object.fromEntries(Object.keys(channel_values).map((name) => [name, clock]));
  const checkpoint = { ...emptyCheckpoint(), id: uuid6(clock % 16384), channel_values };
  checkpoint.channel_versions = versions;
  const metadata = { source: step === 0 ? "input" : "loop", step: step - 1, parents: {} };
  return memory.checkpointer.put(config, checkpoint, metadata, versions);
}

inspector.memory = memory;
globalThis.ready = true;
