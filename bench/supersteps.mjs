// What a first benchmark of a saver measures: supersteps (a put and its writes) and getTuple of
// small states on a file, beside the official native SqliteSaver. Both take turns within one
// process, a few supersteps at a time, so that what the machine does meanwhile hits all alike.
import { join } from "node:path";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { SqliteSaver as OfficialSqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { SqliteSaver } from "keepsake";
import { inFolder, introduce, otherBuild, quick, seededRandom, table, takeTurns } from "./lib.mjs";

const ROUNDS = quick ? 6 : 24;
const STEPS = quick ? 20 : 50; // of a round
const THREAD = { thread_id: "thread", checkpoint_ns: "" };

const random = seededRandom(7);
const WORDS = "harbour ferry pier nine seven opens leaves letter garden winter engine".split(" ");
const wordsOf = (count) =>
  Array.from({ length: count }, () => WORDS[Math.floor(random() * WORDS.length)]).join(" ");
const letters = (count) =>
  Array.from({ length: count }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join("");

const PLAIN = Array.from({ length: 40 }, (_, i) => ({
  role: i % 2 ? "assistant" : "user",
  id: `message-${i}`,
  content: wordsOf(42),
}));
const MESSAGES = Array.from({ length: 41 }, (_, i) => {
  const fields = { id: `message-${i}`, content: wordsOf(42) };
  return i % 2 ? new AIMessage(fields) : new HumanMessage(fields);
});
const STATES = {
  "40 plain messages, 13 KB": (step) => ({
    messages: [...PLAIN.slice(0, 39), { ...PLAIN[39], id: `last-${step}` }],
  }),
  "0.4 KB": (step) => ({
    messages: [{ role: "user", id: `message-${step}`, content: wordsOf(42) }],
  }),
  "41 LangChain messages": (step) => ({
    messages: [
      ...MESSAGES.slice(0, 40),
      new HumanMessage({ id: `last-${step}`, content: `Step ${step}.` }),
    ],
  }),
  "a 10 KB string that changes whole": () => ({ text: letters(10_240) }),
  "10 KB Uint8Array": () => ({ bytes: new Uint8Array(10_240).map(() => random() * 256) }),
};

let previousId;
const other = await otherBuild();
const candidates = [
  { name: "official", open: (folder) => OfficialSqliteSaver.fromConnString(join(folder, "a")) },
  { name: "ours", open: (folder) => SqliteSaver.fromConnString(join(folder, "b")) },
  ...(other === undefined
    ? []
    : [{ name: "other", open: (folder) => other.SqliteSaver.fromConnString(join(folder, "c")) }]),
];

const columns = ["", " later"].flatMap((when, run) =>
  candidates.map(({ name }) => ({ header: name + when, candidate: name, run })),
);

introduce(
  "Supersteps on a file",
  "Microseconds, medians: CPU time and, in brackets, time on the clock. Put, then its writes, " +
    "each awaited; *at once*: both asked for in one tick, as LangGraph does. *Later*: the same " +
    "again in this process, when V8 has compiled the module.",
);
const first = {};
for (const [title, stateOf] of Object.entries(STATES))
  first[title] = await inFolder((folder) => timesOf(folder, stateOf));
for (const [title, stateOf] of Object.entries(STATES)) {
  const later = await inFolder((folder) => timesOf(folder, stateOf));
  const header = ["", ...columns.map(({ header }) => header)];
  console.log(`### ${title}\n\n${table(header, rowsOf(first[title], later))}\n`);
}

async function timesOf(folder, stateOf) {
  const subjects = candidates.map(({ name, open }) => ({ name, saver: open(folder) }));
  const times = await takeTurns(subjects, ROUNDS, {
    prepare: (round) =>
      Array.from({ length: 2 * STEPS }, (_, i) => stepOf(2 * STEPS * round + i, stateOf)),
    work: {
      put: ({ saver }, steps) => each(steps.slice(0, STEPS), (step) => put(saver, step)),
      putWrites: ({ saver }, steps) =>
        each(steps.slice(0, STEPS), (step) => putWrites(saver, step)),
      "at once": ({ saver }, steps) =>
        each(steps.slice(STEPS), (step) => Promise.all([put(saver, step), putWrites(saver, step)])),
      getTuple: ({ saver }) =>
        each(Array(STEPS).fill(0), () => saver.getTuple({ configurable: THREAD })),
    },
  });
  for (const { saver } of subjects) await (saver.close?.() ?? saver.db.close());
  return times;
}

function rowsOf(...runs) {
  return Object.keys(runs[0]).map((name) => [
    name,
    ...columns.map(({ candidate, run }) => {
      const of = runs[run][name];
      const [cpu, clock] = of[candidate].map((ms) => ((1000 * ms) / STEPS).toFixed(0));
      const ratio = (of.official[0] / of[candidate][0]).toFixed(2);
      return `${cpu} (${clock})${candidate === "official" ? "" : ` ×${ratio}`}`;
    }),
  ]);
}

async function each(list, body) {
  for (const one of list) await body(one);
}

function stepOf(step, stateOf) {
  const values = stateOf(step);
  const [channel] = Object.keys(values);
  const versions = { [channel]: step + 1, "branch:to:agent": step + 1 };
  const parentId = previousId;
  const checkpoint = {
    ...emptyCheckpoint(),
    id: uuid6(step),
    channel_values: { ...values, "branch:to:agent": null },
    channel_versions: { __start__: 1, ...versions },
    versions_seen: { agent: { "branch:to:agent": step } },
  };
  previousId = checkpoint.id;
  const config = { configurable: { ...THREAD, checkpoint_id: parentId } };
  const metadata = { source: "loop", step, parents: {} };
  const written = [
    [
      channel,
      { role: "assistant", id: `write-${step}`, content: `Step ${step} has written this.` },
    ],
    ["branch:to:agent", null],
  ];
  return { config, checkpoint, metadata, versions, written };
}

function put(saver, { config, checkpoint, metadata, versions }) {
  return saver.put(config, checkpoint, metadata, versions);
}

function putWrites(saver, { checkpoint, written }) {
  const config = { configurable: { ...THREAD, checkpoint_id: checkpoint.id } };
  return saver.putWrites(config, written, `task-${checkpoint.id}`);
}
