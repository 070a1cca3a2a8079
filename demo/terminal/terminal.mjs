// The story that the terminal demo tells: listen, answer, restart, and what it cost.
import { spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { mkdtemp, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openMemory } from "keepsake";

import { SEARCH } from "../search.mjs";
import { Agent, RECALLED } from "./agent.mjs";
import { loadConversation } from "./conversation-file.mjs";
import { modelFromEnvironment } from "./model.mjs";
import { bytes, counted, Output, seconds } from "./output.mjs";

const MAIN = fileURLToPath(new URL("../main.mjs", import.meta.url));

// → the exit code
export async function runTerminalDemo(options) {
  const conversation = await loadConversation(options.file, options);
  if (options.afterRestart) return afterRestart(conversation, options);
  if (options.db !== undefined) return beforeRestart(conversation, options);
  const db = join(await temporaryFolder(options), "memory.sqlite");
  return beforeRestart(conversation, { ...options, db, isTemporary: !options.keep });
}

// Removed however the process ends, by Ctrl-C too.
async function temporaryFolder({ keep }) {
  const folder = await mkdtemp(join(tmpdir(), "keepsake-demo-"));
  if (keep) return folder;
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  process.once("SIGINT", () => process.exit(130));
  return folder;
}

async function beforeRestart(conversation, options) {
  const output = new Output();
  const model = modelFromEnvironment();
  introduce(output, conversation, options, model);

  const memory = await open(options.db);
  const figures = {};
  try {
    const agent = new Agent({ memory, model, id: conversation.id });
    figures.listening = await listen(output, agent, conversation);
    figures.recall = await answer(output, agent, conversation, options);
    figures.memory = await memory.stats();
  } finally {
    await memory.close();
  }

  output.heading("3", "After a restart");
  const restarted = performance.now();
  const exitCode = await restart(options);
  figures.restart = performance.now() - restarted;
  await conclude(output, figures, options);
  return exitCode;
}

const open = (path) => openMemory({ path, ...SEARCH });

function introduce(output, { title, people, turns, sessions }, { db, isTemporary }, model) {
  output.title("Keepsake: an agent that remembers");
  const extent = `${counted(turns.length, "turn")} in ${counted(sessions.length, "session")}`;
  output.field("Conversation", `${title} (${people.join(", ")}; ${extent})`);
  output.field("Database", isTemporary ? `${db} (for this run; --keep keeps it)` : db);
  output.field("Model", model.name);
}

async function listen(output, agent, { turns }) {
  output.heading("1", "Listening");
  const heard = await agent.heard();
  if (heard > 0) {
    output.text(`${counted(heard, "turn")} in this database from an earlier run; going on.`);
  }
  const start = performance.now();
  for (const [i, turn] of turns.entries()) {
    if (i < heard) continue;
    await agent.listen(turn);
    output.progress(i + 1, turns.length, turn.date);
  }
  const figures = { turns: Math.max(0, turns.length - heard), ms: performance.now() - start };
  if (figures.turns > 0) {
    output.text(
      `Heard ${counted(figures.turns, "turn")} in ${seconds(figures.ms)}. Each was one run of a ` +
        "LangGraph graph, which kept its state in the checkpointer and the turn in the store.",
    );
  }
  return figures;
}

async function answer(output, agent, { questions }, options) {
  output.heading("2", "Answering from memory");
  if (questions.length === 0) output.text("The file brings no questions.");
  for (const [i, question] of questions.slice(0, options.questions).entries()) {
    const { recalled, answer } = await agent.ask(question.question);
    showAnswer(output, i + 1, question, recalled, answer);
  }
  const figures = await measureRecall(output, agent, questions);
  showRecall(output, figures, options);
  return figures;
}

function showAnswer(output, number, { question, evidence }, recalled, answer) {
  output.text(question, { first: `${String(number).padStart(3)}. `, style: output.bold });
  output.text(answer, { first: `     ${output.cyan("→")} ` });
  for (const { key, value, score } of recalled) {
    const mark = evidence.includes(key) ? output.green("✓") : output.dim("·");
    const found = `${key.padEnd(6)} ${score.toFixed(2)}`;
    output.line(value.text, { first: `     ${mark} ${output.dim(found)}  ` });
  }
  const found = recalled.map(({ key }) => key);
  const missed = evidence.filter((turn) => !found.includes(turn));
  const miss = `     ${output.red("✗")} `;
  if (missed.length > 0) output.line(`missed: ${missed.join(", ")}`, { first: miss });
  output.blank();
}

async function measureRecall(output, agent, questions) {
  const figures = { questions: questions.length, sum: 0, ms: 0 };
  for (const [i, { question, evidence }] of questions.entries()) {
    const start = performance.now();
    const recalled = await agent.recall(question);
    figures.ms += performance.now() - start;
    const found = new Set(recalled.map(({ key }) => key));
    figures.sum += evidence.filter((turn) => found.has(turn)).length / evidence.length;
    output.progress(i + 1, questions.length, "measuring recall");
  }
  return figures;
}

function showRecall(output, { questions, sum }, options) {
  if (questions === 0) return;
  const average = (sum / questions).toFixed(2);
  output.text(
    `recall@${RECALLED} = ${average} over ${counted(questions, "question")}: of the turns that ` +
      `hold an answer, that share is among the ${RECALLED} found. No model took part.`,
  );
  const hidden = questions - options.questions;
  if (hidden > 0) output.text(`(--questions ${questions} shows the other ${hidden} too.)`);
}

// A new process, so that nothing can survive but what is in the file.
function restart(options) {
  const args = [MAIN, "--terminal", options.file, "--after-restart", "--db", options.db];
  args.push("--conversation", String(options.conversation));
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

async function afterRestart(conversation, { db }) {
  const output = new Output();
  const start = performance.now();
  const memory = await open(db);
  try {
    const agent = new Agent({ memory, model: modelFromEnvironment(), id: conversation.id });
    const end = await agent.state();
    const ready = seconds(performance.now() - start);
    output.text(`A new process (${process.pid}) opened the file and read the state in ${ready}.`);
    const checks = new Checks(output);
    await showHistory(checks, memory, conversation, end);
    await showItems(checks, memory, agent, conversation);
    await showTimeTravel(checks, agent, conversation, end);
    return checks.failed === 0 ? 0 : 1;
  } finally {
    await memory.close();
  }
}

async function showHistory(checks, memory, { turns }, end) {
  const messages = end.values.messages ?? [];
  const { checkpointer } = await memory.stats();
  checks.that(
    messages.length === turns.length && messages.every(({ id }, i) => id === turns[i].id),
    "history",
    `${messages.length} of ${counted(turns.length, "turn")} in the thread's state, ` +
      `${counted(checkpointer.checkpoints, "checkpoint")} in the file`,
  );
}

async function showItems(checks, memory, agent, { turns, sessions }) {
  const items = await itemCount(memory, agent);
  checks.that(
    items === turns.length,
    "items",
    `${items} of ${counted(turns.length, "item")} in the store`,
  );
  const namespaces = await memory.store.listNamespaces({
    prefix: agent.namespace,
    limit: sessions.length + 1,
  });
  const labels = namespaces.map((namespace) => namespace.at(-1));
  checks.that(
    namespaces.length === sessions.length,
    "namespaces",
    `${namespaces.length} below ${agent.namespace.join(" › ")}: ${labels.at(0)} to ${labels.at(-1)}`,
  );
}

async function showTimeTravel(checks, agent, { turns, sessions }, end) {
  const turn = turns.findLast(({ session }) => session <= Math.ceil(sessions.length / 3));
  const expected = turns.indexOf(turn) + 1;
  const then = await agent.stateAfter(turn);
  const messages = then?.values.messages ?? [];
  checks.that(
    messages.length === expected && messages.at(-1).id === turn.id,
    "time travel",
    `after turn ${turn.id} (${turn.date}) the state held ${counted(messages.length, "turn")}; ` +
      `the last, by ${turn.speaker}: “${turn.text}”`,
  );
  if (then === null) return;

  const words = { speaker: turn.speaker, text: "What if it had all gone another way from here?" };
  const fork = await agent.fork(then, words);
  const back = await agent.goOnFrom(end);
  checks.that(
    fork.values.messages.length === expected + 1 &&
      fork.values.messages.at(-1).content === words.text &&
      back.values.messages.length === end.values.messages.length,
    "fork",
    `from there the thread went another way with ${counted(fork.values.messages.length, "turn")}, ` +
      `and back to the ${back.values.messages.length} of the main line`,
  );
}

class Checks {
  failed = 0;
  #output;

  constructor(output) {
    this.#output = output;
  }

  that(holds, name, text) {
    if (!holds) this.failed++;
    const mark = holds ? this.#output.green("✓") : this.#output.red("✗");
    this.#output.text(text, { first: `  ${mark} ${this.#output.bold(name.padEnd(12))} ` });
  }
}

async function conclude(output, figures, { db, keep }) {
  const { listening, recall, restart } = figures;
  const { store, checkpointer } = figures.memory;
  output.heading("4", "Sizes and timings");
  output.field("File", bytes(await fileBytes(db)));
  output.field("Items", `${store.items} in ${counted(store.namespaces, "namespace")}`);
  output.field("Checkpoints", `${checkpointer.checkpoints}`);
  if (listening.turns > 0) {
    output.field("Listening", `${Math.round((1000 * listening.turns) / listening.ms)} turns/s`);
  }
  if (recall.questions > 0) output.field("Recall", `${seconds(recall.ms / recall.questions)} each`);
  output.field("Restart", `${seconds(restart)}, with the start of Node and all of the checks`);
  if (keep) output.field("Kept", db);
  output.blank();
}

async function itemCount(memory, agent) {
  const page = 1000;
  for (let offset = 0; ; offset += page) {
    const items = await memory.store.search(agent.namespace, { limit: page, offset });
    if (items.length < page) return offset + items.length;
  }
}

// With what SQLite keeps beside the file while it is open.
async function fileBytes(path) {
  const files = [path, `${path}-wal`].filter(existsSync);
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
