// Imports so many files of each kind with something wrong, and tells a line of JSON for each: what
// became of it, and what it took.
//   mutant-worker.mjs <count> <kind>...

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import Database from "better-sqlite3";
import { KeepsakeError, openMemory } from "keepsake";
import { projectRoot } from "./installed-package.mjs";
import { mutantOf, originals } from "./mutants.mjs";

const [, , count, ...kinds] = process.argv;
const folder = mkdtempSync(join(tmpdir(), "keepsake-mutants-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

let linearMemory = 0;
const { Instance } = WebAssembly;
const memories = [];
WebAssembly.Instance = class extends Instance {
  constructor(module, imports) {
    super(module, imports);
    const memory = Object.values(this.exports).find((one) => one instanceof WebAssembly.Memory);
    if (memory !== undefined) memories.push(memory);
  }
};

const codeOf = (error) =>
  error instanceof KeepsakeError ? error.code : `untyped: ${error?.stack ?? error}`;

async function outcomeOf(call) {
  try {
    return { done: await call() };
  } catch (error) {
    return { code: codeOf(error), message: error?.message };
  }
}

// Everything that is there then, and a write: each is answered, or an error of its own.
async function useOf(memory) {
  const calls = [
    () => memory.store.search([], { limit: 1000 }),
    () => memory.store.search([], { query: "note likes" }),
    () => memory.store.listNamespaces(),
    async () => {
      for await (const _ of memory.checkpointer.list({ configurable: {} }));
    },
    async () => {
      for await (const _ of memory.checkpointer.listThreads());
    },
    () => memory.stats(),
    () => memory.store.put(["after"], "k", { text: "after" }),
    () => memory.store.get(["after"], "k"),
  ];
  const codes = [];
  for (const call of calls) {
    const { code, message } = await outcomeOf(call);
    if (code !== undefined) codes.push(`${code}: ${message}`);
  }
  return codes;
}

// What a table is known by.
const COLUMNS = {
  checkpoints:
    "thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata",
  writes: "thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value",
  store: "prefix, key, value, created_at, updated_at",
  store_kv: "ns, key, value",
};

// How many rows the importer has to import or to list, and which tables lack a column;
// undefined if SQLite can't say.
function contentsOf(path) {
  let database;
  try {
    database = new Database(path, { readonly: true });
    if (database.pragma("quick_check", { simple: true }) !== "ok") return undefined;
    const has = (table) => database.prepare("SELECT 1 FROM pragma_table_info(?)").get(table);
    const lacking = [];
    const count = (table) => {
      if (!has(table)) return 0;
      try {
        // In brackets a name is never a text.
        const columns = COLUMNS[table].replace(/\w+/g, "[$&]");
        database.prepare(`SELECT ${columns} FROM ${table}`);
        // By the table: an index may have other rows than it, and SQLite counts what is shorter.
        return database.prepare(`SELECT count(*) FROM ${table} NOT INDEXED`).pluck().get();
      } catch {
        lacking.push(`table ${table}`);
        return 0;
      }
    };
    const rows = Object.keys(COLUMNS).reduce((sum, table) => sum + count(table), 0);
    return { rows, lacking };
  } catch {
    return undefined;
  } finally {
    database?.close();
  }
}

async function importLines(path) {
  const target = join(folder, "lines.db");
  const printed = [];
  const said = [];
  const { write } = process.stdout;
  const writeError = process.stderr.write;
  process.argv = [process.argv[0], "keepsake", "import", target, path, "--format", "mcp", "--json"];
  process.stdout.write = (text) => printed.push(text);
  process.stderr.write = (text) => said.push(text);
  try {
    await import(`${pathToFileURL(join(projectRoot, "dist/cli.js"))}?${path}`);
  } finally {
    process.stdout.write = write;
    process.stderr.write = writeError;
    // Each import listens anew: Node warns of the eleventh.
    for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners("error");
    process.exitCode = 0;
    rmSync(target, { force: true });
  }
  const { error, ...report } = JSON.parse(printed.join("") || said.join(""));
  if (error !== undefined) throw Object.assign(new KeepsakeError("internal", ""), error);
  return report;
}

async function importInto(memory, kind, bytes, path) {
  if (kind === "an export" || kind === "a portable export") {
    await memory.import(bytes);
    return undefined;
  }
  return memory.importFrom(path);
}

// Of what the file holds, how much the report does not tell.
function missingIn({ items, checkpoints, writes, kept, skipped }, { rows, lacking }) {
  const tables = skipped.filter(({ what }) => what.startsWith("table ")).map(({ what }) => what);
  const told = items + checkpoints + writes + kept + skipped.length - tables.length;
  return rows - told + lacking.filter((table) => !tables.includes(table)).length;
}

async function attempt(kind, number, original) {
  const bytes = mutantOf(kind, original, number, folder);
  const path = join(folder, `mutant-${number}`);
  writeFileSync(path, bytes);
  const before = process.cpuUsage();
  const isLines = kind === "lines of the memory server";
  const memory = isLines ? undefined : await openMemory({ path: ":memory:" });
  const outcome = await outcomeOf(() =>
    isLines ? importLines(path) : importInto(memory, kind, bytes, path),
  );
  const { user, system } = process.cpuUsage(before);
  const used = memory === undefined ? [] : await useOf(memory);
  await memory?.close();
  const contents = outcome.done && !isLines ? contentsOf(path) : undefined;
  for (const { buffer } of memories.splice(0)) {
    linearMemory = Math.max(linearMemory, buffer.byteLength);
  }
  rmSync(path, { force: true });
  return {
    kind,
    number,
    bytes: bytes.length,
    ms: (user + system) / 1000,
    code: outcome.code ?? null,
    message: outcome.message,
    missing: contents === undefined ? 0 : missingIn(outcome.done, contents),
    whys: outcome.done?.skipped.map(({ why }) => why) ?? [],
    used,
    linearMemory,
    rss: process.resourceUsage().maxRSS * 1024,
  };
}

// A command listens to both, once in a process: here it runs many times.
process.stdout.setMaxListeners(0);
process.stderr.setMaxListeners(0);
const all = await originals(folder);
for (const kind of kinds) {
  for (let number = 0; number < Number(count); number++) {
    console.log(JSON.stringify(await attempt(kind, number, all[kind])));
  }
}
