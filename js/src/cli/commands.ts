// What `npx keepsake` can do, a row for each command.

import { once } from "node:events";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setFlagsFromString } from "node:v8";
import type { CheckpointDiff } from "../checkpointer/diff.js";
import { checkChoice } from "../checks.js";
import { detailOf, invalid, KeepsakeError } from "../errors.js";
import { KnowledgeGraph } from "../mcp/graph.js";
import { importLines } from "../mcp/import-lines.js";
import type { Memory } from "../memory.js";
import { missingFolder } from "../node/file-error.js";
import type { ErasureReceipt } from "../scope/erasure.js";
import { shownThreadId, storedThreadId } from "../scope/thread-ids.js";
import type { SearchItem } from "../store/store-operations.js";
import { type SalvageReport, SearchMode } from "../wire/layout.js";
import { type Arguments, namespaceOf, type Option } from "./arguments.js";
import { branchesOf, withTips } from "./branches.js";
import { bucket, sync } from "./bucket.js";
import type { Command } from "./command.js";
import { doctor } from "./doctor.js";
import { evaluation } from "./eval.js";
import { keyOfFile } from "./key.js";
import { mcp, namespaceFor, PLACE } from "./mcp.js";
import { brief, bytes, oneLine, type Printed, partsOf, pathOf, plural, table } from "./output.js";
import { studio } from "./studio.js";
import { rowsOfSync, syncOf } from "./sync-state.js";
import { test } from "./test.js";

const LIMIT: Option = { type: "string", takes: "N", says: "at most so many, 0 for all" };
const IN: Option = { type: "string", takes: "NAMESPACE", says: "only below it: users/ada" };
const FILTER: Option = {
  type: "string",
  takes: "JSON",
  says: 'fields that match: {"kind":"fact"}',
};
// A command has no embedding model.
const MODES = { text: SearchMode.text, contains: SearchMode.contains };
const AS = { sqlite: "a SQLite file", portable: "a portable stream" };
const DRY_RUN: Option = { type: "boolean", says: "only say what would go, as without --yes" };
const YES: Option = { type: "boolean", says: "do it" };
const isDry = (given: Arguments) => given.flag("dry-run") || !given.flag("yes");

// As shells have it: 128 and the number of SIGINT.
const INTERRUPTED = 130;

const word = (given: Arguments, at: number): string => given.words[at] ?? "";
const limitOf = (given: Arguments, usual: number) => {
  const limit = given.number("limit") ?? usual;
  return limit === 0 ? 0xffff_ffff : limit;
};

async function newest(memory: Memory, thread_id: string, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for await (const { checkpoint } of memory.checkpointer.list(
    { configurable: { thread_id, checkpoint_ns: "" } },
    { limit },
  ))
    ids.push(checkpoint.id);
  return ids;
}

const onlyOf = (format: string, options: Record<string, Option>) =>
  Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      name,
      { ...option, says: `${format} only: ${option.says}` },
    ]),
  );

/** By name. @internal */
export const COMMANDS: Record<string, Command> = {
  inspect: {
    words: ["FILE"],
    says: "how much it holds, where, and whether it syncs",
    examples: ["inspect agent.db"],
    options: {},
    async run(memory, given) {
      const [stats, namespaces, holds, sync] = await Promise.all([
        memory.stats(),
        countsOf(memory),
        memory.holds(),
        syncOf(word(given, 0)),
      ]);
      const { store, checkpointer } = stats;
      const text = [
        table(
          ["", ""],
          [
            ["file", bytes(stats.bytes)],
            ["items", `${store.items} in ${plural(store.namespaces, "namespace")}`],
            ["vectors", `${store.vectors}${store.pending > 0 ? `, ${store.pending} wait` : ""}`],
            [
              "threads",
              `${checkpointer.threads} with ${plural(checkpointer.checkpoints, "checkpoint")}`,
            ],
            ...holds.map(({ namespace, reason }) => ["held", `${pathOf(namespace)}: ${reason}`]),
            ...rowsOfSync(sync),
          ],
        ).trimStart(),
        ...(namespaces.length === 0
          ? []
          : [
              table(
                ["NAMESPACE", "ITEMS"],
                namespaces.map((row) => [pathOf(row.namespace), row.items]),
              ),
            ]),
      ].join("\n");
      return { data: { ...stats, namespaces, holds, sync }, text };
    },
  },

  ls: {
    words: ["FILE", "[NAMESPACE]"],
    says: "namespaces below one, and the keys in it",
    examples: ["ls agent.db", "ls agent.db users/ada"],
    options: {},
    async run(memory, given) {
      const prefix = namespaceOf(given.words[1]);
      const namespaces = (await memory.store.listNamespaces({ prefix, limit: 0xffff_ffff })).filter(
        (namespace) => namespace.length > prefix.length,
      );
      const keys = prefix.length === 0 ? [] : await memory.store.listKeys(prefix);
      const lines = [...namespaces.map((namespace) => `${pathOf(namespace)}/`), ...keys];
      return { data: { namespaces, keys }, text: linesOf(lines, "nothing here") };
    },
  },

  get: {
    words: ["FILE", "NAMESPACE", "KEY"],
    says: "one item, as JSON",
    examples: ["get agent.db users/ada tea"],
    options: {},
    async run(memory, given) {
      const namespace = namespaceOf(word(given, 1));
      const item = await memory.store.get(namespace, word(given, 2), { refreshTtl: false });
      if (item === null) {
        const there = pathOf(namespace);
        throw new KeepsakeError(
          "not_found",
          `no item ${JSON.stringify(word(given, 2))} in ${there}`,
        );
      }
      return { data: item, text: `${JSON.stringify(item.value, undefined, 2)}\n` };
    },
  },

  search: {
    words: ["FILE", "QUERY…"],
    says: "items by words, the best first",
    examples: ['search agent.db "green tea" --in users --why'],
    options: {
      in: IN,
      filter: FILTER,
      limit: LIMIT,
      mode: { type: "string", takes: "MODE", says: "text or contains" },
      why: { type: "boolean", says: "what each score is made of" },
    },
    async run(memory, given) {
      const mode = given.text("mode") as keyof typeof MODES | undefined;
      const query = word(given, 1);
      const isWhy = given.flag("why");
      const found = await memory.store.search(namespaceOf(given.text("in")), {
        query,
        filter: given.json("filter"),
        limit: limitOf(given, 10),
        explain: isWhy,
        refreshTtl: false,
        ...(mode && { ranking: { mode: checkChoice("--mode", MODES, mode) } }),
      });
      const hits = found.map((hit) => ({ ...hit, ...(isWhy && reasonOf(hit, query)) }));
      const rows = hits.map(({ namespace, key, value, score, explain, reason }) => [
        score === undefined ? undefined : score.toFixed(3),
        `${pathOf(namespace)}/${key}`,
        brief(value, 80),
        ...(isWhy ? [[reason, partsOf(explain)].filter(Boolean).join(", ")] : []),
      ]);
      const head = ["SCORE", "ITEM", "VALUE", ...(isWhy ? ["WHY"] : [])];
      return { data: hits, text: rows.length === 0 ? "nothing found\n" : table(head, rows) };
    },
  },

  threads: {
    words: ["FILE"],
    says: "threads, the last used first",
    examples: ["threads agent.db --limit 10"],
    options: { limit: LIMIT },
    async run(memory, given) {
      const threads = [];
      const limit = limitOf(given, 50);
      for await (const thread of memory.checkpointer.listThreads({ limit })) threads.push(thread);
      const rows = threads.map((thread) => [
        shownThreadId(thread.threadId),
        thread.checkpoints,
        bytes(thread.bytes),
        thread.lastActivity?.toISOString(),
        thread.metadata?.title as string | undefined,
      ]);
      const text = table(["THREAD", "CHECKPOINTS", "BYTES", "LAST USED", "TITLE"], rows);
      return { data: threads, text: rows.length === 0 ? "no threads\n" : text };
    },
  },

  log: {
    words: ["FILE", "THREAD"],
    says: "the checkpoints of a thread, the newest first; a graph if it has branches",
    examples: ["log agent.db thread-42"],
    options: { limit: LIMIT },
    async run(memory, given) {
      const checkpoints = [];
      const config = { configurable: { thread_id: await threadIdOf(memory, word(given, 1)) } };
      for await (const tuple of memory.checkpointer.list(config, { limit: limitOf(given, 50) })) {
        const { checkpoint, metadata, pendingWrites } = tuple;
        checkpoints.push({
          id: checkpoint.id,
          namespace: tuple.config.configurable?.checkpoint_ns ?? "",
          parent: tuple.parentConfig?.configurable?.checkpoint_id as string | undefined,
          time: checkpoint.ts,
          step: metadata?.step,
          source: metadata?.source,
          channels: Object.keys(checkpoint.channel_values),
          pendingWrites: pendingWrites?.length ?? 0,
        });
      }
      if (checkpoints.length === 0) throw noThread(word(given, 1));
      const shown = withTips(checkpoints);
      const branches = branchesOf(shown);
      const hasSubgraphs = shown.some(({ namespace }) => namespace !== "");
      const rows = shown.map(({ id, namespace, time, step, source, channels }, i) => [
        ...(branches === undefined ? [] : [branches.graph[i]]),
        id,
        ...(hasSubgraphs ? [namespace] : []),
        step,
        source,
        time,
        channels.filter(isOfTheGraph).join(", "),
      ]);
      const subgraph = hasSubgraphs ? ["SUBGRAPH"] : [];
      const head = ["CHECKPOINT", ...subgraph, "STEP", "SOURCE", "TIME", "CHANNELS"];
      if (branches === undefined) return { data: shown, text: table(head, rows) };
      const { tips } = branches;
      const ends = `${plural(tips.length, "branch", "branches")}, which end at ${tips.join(", ")}\n`;
      return { data: shown, text: table(["GRAPH", ...head], rows) + ends };
    },
  },

  diff: {
    words: ["FILE", "THREAD", "[BEFORE]", "[AFTER]"],
    says: "what changed between two checkpoints of a thread, usually the last two",
    examples: ["diff agent.db thread-42"],
    options: {},
    async run(memory, given) {
      const thread_id = await threadIdOf(memory, word(given, 1));
      const at = (checkpoint_id: string) => ({ configurable: { thread_id, checkpoint_id } });
      const [, , first, second] = given.words;
      const [last, one] = second === undefined ? await newest(memory, thread_id, 2) : [];
      const [before, after] = [first ?? one, second ?? last];
      if (before === undefined || after === undefined) {
        if (last === undefined) throw noThread(word(given, 1));
        throw new KeepsakeError(
          "not_found",
          `thread ${JSON.stringify(word(given, 1))} has no two checkpoints to compare`,
        );
      }
      const diff = await memory.checkpointer.diff(at(before), at(after)).catch((error) => {
        throw error.code === "not_found" ? noCheckpoint(error, thread_id, word(given, 1)) : error;
      });
      return { data: diff, text: linesOf(linesOfDiff(diff), "nothing changed") };
    },
  },

  export: {
    words: ["FILE", "TARGET"],
    says: "the whole memory into a new file",
    examples: ["export agent.db backup.db"],
    options: {
      format: { type: "string", takes: "FORMAT", says: "sqlite (as usual) or portable" },
    },
    async run(memory, given) {
      const target = word(given, 1);
      const format = checkChoice(
        "--format",
        { sqlite: 1, portable: 1 },
        (given.text("format") ?? "sqlite") as "sqlite" | "portable",
      );
      if (existsSync(target)) throw thereAlready(target);
      const missing = missingFolder(target);
      if (missing !== undefined) throw new KeepsakeError("not_found", missing);
      const size = await written(memory.exportStream({ format }), target);
      return {
        data: { target, format, bytes: size },
        text: `${target}: ${bytes(size)}, as ${AS[format]}\n`,
      };
    },
  },

  import: {
    words: ["FILE", "SOURCE"],
    says: "adds what LangGraph's savers and stores wrote; with --replace, a keepsake export",
    examples: ["import agent.db checkpoints.db", "import restored.db backup.db --replace"],
    options: {
      format: {
        type: "string",
        takes: "FORMAT",
        says: "sqlite (as usual), or mcp: the lines of @modelcontextprotocol/server-memory",
      },
      replace: {
        type: "boolean",
        says: "SOURCE is an export; everything in FILE is replaced by it",
      },
      overwrite: {
        type: "boolean",
        says: "items and checkpoints of SOURCE win over those of FILE",
      },
      ...onlyOf("mcp", PLACE),
    },
    creates: true,
    async run(memory, given) {
      const source = word(given, 1);
      if (!existsSync(source)) throw noFile(source);
      const isGraph = importsGraph(given);
      if (given.flag("replace")) {
        await memory.import(Readable.toWeb(createReadStream(source)) as never);
        const { store, checkpointer } = await memory.stats();
        const counts = { items: store.items, checkpoints: checkpointer.checkpoints };
        return { data: counts, text: imported(counts) };
      }
      const onConflict = given.flag("overwrite") ? "replace" : "keep";
      const report = await (isGraph
        ? importGraph(memory, source, given)
        : memory.importFrom(source, { onConflict }).catch((error) => {
            throw isOfOurs(error) ? needsReplace(source) : error;
          }));
      const skipped = report.skipped.map(({ what, why }) => `skipped ${what}: ${why}\n`);
      const kept = report.kept > 0 ? `${report.kept} were there already, and stayed\n` : "";
      const isNothing = report.items + report.checkpoints + report.kept === 0;
      return {
        data: report,
        text: imported(report) + kept + skipped.join(""),
        ...(isNothing && skipped.length > 0 && { failure: `nothing of ${source} could be read` }),
      };
    },
  },

  prune: {
    words: ["FILE"],
    says: "deletes old checkpoints of threads",
    examples: ["prune agent.db --keep-last 50", "prune agent.db --keep-last 50 --yes"],
    options: {
      thread: {
        type: "string",
        takes: "ID",
        multiple: true,
        says: "only of this one; may be repeated",
      },
      "keep-last": { type: "string", takes: "N", says: "so many of each thread stay" },
      "max-age": { type: "string", takes: "DAYS", says: "older ones go" },
      "max-bytes": { type: "string", takes: "N", says: "the oldest go until the rest fits" },
      "dry-run": DRY_RUN,
      yes: YES,
    },
    async run(memory, given) {
      const days = given.number("max-age");
      const rules = {
        threadIds: await threadIdsOf(memory, given.texts("thread")),
        keepLast: given.number("keep-last"),
        maxAge: days === undefined ? undefined : days * 24 * 60,
        maxBytes: given.number("max-bytes"),
      };
      const { keepLast, maxAge, maxBytes } = rules;
      if (keepLast === undefined && maxAge === undefined && maxBytes === undefined) {
        throw invalid("say what may go: --keep-last, --max-age or --max-bytes");
      }
      const dryRun = isDry(given);
      const pruned = await memory.checkpointer.prune({ ...rules, dryRun });
      const what =
        pruned.checkpoints > 0 &&
        `${plural(pruned.checkpoints, "checkpoint")}, ${bytes(pruned.bytes)}`;
      return { data: { ...pruned, dryRun }, text: told(dryRun, what, "pruned") };
    },
  },

  forget: {
    words: ["FILE"],
    says: "erases items and threads in every byte of the file, and prints the receipt",
    examples: ["forget agent.db --user ada", "forget agent.db --user ada --yes"],
    options: {
      in: { ...IN, multiple: true, says: "what is below it: users/ada; may be repeated" },
      filter: FILTER,
      thread: { type: "string", takes: "ID", multiple: true, says: "this thread; may be repeated" },
      user: { type: "string", takes: "ID", says: "everything of memory.scoped({ user: ID })" },
      "dry-run": DRY_RUN,
      yes: YES,
    },
    async run(memory, given) {
      const dryRun = isDry(given);
      const user = given.text("user");
      const namespaces = given.texts("in")?.map(namespaceOf);
      const options = {
        namespaces,
        // Within a scope they are those that it has.
        threads:
          user === undefined
            ? await threadIdsOf(memory, given.texts("thread"))
            : given.texts("thread"),
        filter: given.json("filter"),
        dryRun,
      };
      if (user === undefined && namespaces === undefined && options.threads === undefined) {
        throw invalid("say what may go: --user, --in or --thread");
      }
      const receipt =
        user === undefined
          ? await memory.forget(options)
          : await memory.scoped({ user }).forget(options);
      const text = told(dryRun, erasedText(receipt), "forgotten");
      return {
        data: receipt,
        text: dryRun ? text : `${text}${JSON.stringify(receipt, undefined, 2)}\n`,
      };
    },
  },

  hold: {
    words: ["FILE", "NAMESPACE", "REASON"],
    says: "refuses to forget what is below a namespace, until it is released",
    examples: ['hold agent.db users/ada "case 7"'],
    options: {},
    async run(memory, given) {
      await memory.hold(namespaceOf(word(given, 1)), word(given, 2));
      return heldNow(memory);
    },
  },

  release: {
    words: ["FILE", "NAMESPACE"],
    says: "ends a hold",
    examples: ["release agent.db users/ada"],
    options: {},
    async run(memory, given) {
      const namespace = namespaceOf(word(given, 1));
      const held = (await memory.holds()).map((one) => pathOf(one.namespace));
      if (!held.includes(pathOf(namespace))) {
        const all = held.length === 0 ? "nothing is held" : `held are ${held.join(", ")}`;
        throw invalid(`there is no hold on ${pathOf(namespace)}: ${all}`);
      }
      await memory.release(namespace);
      return heldNow(memory);
    },
  },

  audit: {
    words: ["FILE", "[NAMESPACE]"],
    says: "who wrote where, and what was refused: the newest first, if keepAudit() keeps it",
    examples: ["audit agent.db users/ada --limit 20"],
    options: { limit: LIMIT },
    async run(memory, given) {
      const namespace = namespaceOf(given.words[1]);
      const entries = await memory.auditLog({ namespace, limit: limitOf(given, 100) });
      const rows = entries.map((entry) => [
        entry.time.toISOString(),
        entry.operation,
        (entry.threadId && shownThreadId(entry.threadId)) ??
          (entry.namespace && pathOf(entry.namespace)),
        entry.scope || undefined,
        entry.actor,
        entry.code ?? "ok",
        entry.count,
      ]);
      const head = [
        "TIME",
        "OPERATION",
        "NAMESPACE OR THREAD",
        "SCOPE",
        "ACTOR",
        "RESULT",
        "COUNT",
      ];
      if (rows.length > 0) return { data: entries, text: table(head, rows) };
      const isKept = (await memory.auditRule()) !== undefined;
      const none = isKept ? "nothing is told" : "no log is kept: memory.keepAudit() begins one";
      return { data: entries, text: `${none}\n` };
    },
  },

  check: {
    words: ["FILE"],
    says: "compares every page with its checksum, and tables with their indexes",
    examples: ["check agent.db"],
    options: {
      accept: {
        type: "boolean",
        says: "another program wrote to the file: take its pages as they are now",
      },
    },
    async run(memory, given) {
      const report = await memory.check({ acceptPages: given.flag("accept") });
      const { isOk, pages, damagedPages, problem } = report;
      if (isOk) return { data: report, text: `${plural(pages, "page")}, all as written\n` };
      const rows = damagedPages.map(({ page, heldBy }) => [page, heldBy || "unknown"]);
      const text = problem === undefined ? table(["PAGE", "HELD BY"], rows) : `${problem}\n`;
      const failure = `the file is damaged: \`keepsake salvage ${word(given, 0)} NEW\` copies what can be read`;
      return { data: report, text, failure };
    },
  },

  salvage: {
    words: ["FILE", "NEW"],
    says: "copies what can be read of a damaged file into a new one, and lists the rest",
    examples: ["salvage agent.db saved.db"],
    options: {},
    async rescue(path, given) {
      const target = word(given, 1);
      if (existsSync(target)) {
        throw thereAlready(target);
      }
      const { salvageMemory } = await import("../memory.js");
      const report = await salvageMemory(path, { path: target }, { key: keyOfFile() });
      return { data: report, text: salvagedText(report) };
    },
  },

  bucket,

  sync,

  doctor,

  eval: evaluation,

  test,

  mcp,

  studio,
};

/** Opens the file, runs the command, and closes it. @internal */
export async function execute(command: Command, given: Arguments): Promise<Printed | undefined> {
  if ("perform" in command) return command.perform(given);
  const path = word(given, 0);
  if ("serve" in command) return void (await command.serve(path, given));
  if (!("run" in command && command.creates)) checkFile(path);
  if ("rescue" in command) return command.rescue(path, given);
  const isNew = !existsSync(path);
  // What V8 compiles anew of a module is ready after most commands have ended, which wait for it.
  if (!("bun" in process.versions)) setFlagsFromString("--wasm-tiering-budget=200000000");
  // By those who need it: it takes a third of a second.
  const { openMemory } = await import("../memory.js");
  const more = await command.optionsOf?.(given);
  const memory = await openMemory({ path, key: keyOfFile(), ...more });
  let isOfNoUse = false;
  try {
    return await command.run(memory, given);
  } catch (error) {
    isOfNoUse = isNew && (await isEmpty(memory));
    throw error;
  } finally {
    await memory.close();
    if (isOfNoUse) rmSync(path, { force: true });
  }
}

async function isEmpty(memory: Memory): Promise<boolean> {
  const { store, checkpointer } = await memory.stats();
  return store.items + checkpointer.checkpoints + checkpointer.writes === 0;
}

// Opening makes a memory of an empty file, which a look at it should not.
function checkFile(path: string): void {
  if (!existsSync(path)) throw noFile(path);
  const stats = statSync(path);
  if (stats.isFile() && stats.size === 0 && !existsSync(`${path}-wal`)) {
    throw new KeepsakeError("not_a_database", `the file is empty: ${path}`);
  }
}

// → bytes. A part of an export is of no use: it goes, also when Ctrl-C ends it.
async function written(stream: ReadableStream<Uint8Array>, target: string): Promise<number> {
  const file = createWriteStream(target, { flags: "wx", mode: 0o600 });
  await once(file, "open");
  const interrupted = () => {
    rmSync(target, { force: true });
    process.exit(INTERRUPTED);
  };
  process.once("SIGINT", interrupted);
  try {
    await pipeline(Readable.fromWeb(stream as never), file);
    return file.bytesWritten;
  } catch (error) {
    rmSync(target, { force: true });
    throw error;
  } finally {
    process.off("SIGINT", interrupted);
  }
}

function salvagedText(report: SalvageReport): string {
  const { items, vectors, checkpoints, damagedPages, lostItems, lostCheckpoints } = report;
  const counts = [
    plural(items, "item"),
    plural(vectors, "vector"),
    plural(checkpoints, "checkpoint"),
  ];
  const lost = [
    ...lostItems.map(({ namespace, key }) => ["item", `${pathOf(namespace)}/${key}`]),
    ...lostCheckpoints.map(({ threadId, checkpointId }) => [
      "checkpoint",
      `${checkpointId} of ${shownThreadId(threadId)}`,
    ]),
  ];
  const more = report.lostItemCount + report.lostCheckpointCount - lost.length;
  return [
    `salvaged ${counts.join(", ")}\n`,
    `${plural(damagedPages.length, "page")} damaged, ${plural(lost.length + more, "known thing")} lost\n`,
    lost.length === 0 ? "" : table(["LOST", ""], lost),
    more === 0 ? "" : `and ${more} more\n`,
  ].join("");
}

const noFile = (path: string) =>
  new KeepsakeError("not_found", missingFolder(path) ?? `there is no file ${path}`);
const thereAlready = (path: string) =>
  new KeepsakeError("already_exists", `there is a file ${path}: name a new one`);
const isOfOurs = ({ message }: Error) => message.includes("file was made by keepsake");
const needsReplace = (source: string) =>
  invalid(`${source} is a memory of keepsake: with --replace it takes the place of all in FILE`);
const noThread = (id: string) =>
  new KeepsakeError(
    "not_found",
    `no thread ${JSON.stringify(id)}: \`keepsake threads\` lists them`,
  );

function noCheckpoint(error: KeepsakeError, id: string, called: string): KeepsakeError {
  const what = detailOf(error)
    .replace(/^[\w.]+: /, "")
    .replace(JSON.stringify(id), JSON.stringify(called));
  return new KeepsakeError("not_found", `${what}: \`keepsake log FILE ${called}\` lists their ids`);
}

// As it is stored, or as commands show it.
async function threadIdOf(memory: Memory, word: string): Promise<string> {
  const stored = storedThreadId(word);
  if (stored === word) return word;
  const config = { configurable: { thread_id: word } };
  for await (const _ of memory.checkpointer.list(config, { limit: 1 })) return word;
  return stored;
}

async function threadIdsOf(memory: Memory, words?: string[]): Promise<string[] | undefined> {
  return words && Promise.all(words.map((word) => threadIdOf(memory, word)));
}

// Of a hit without a word of the query, which has it as a piece: a score tells nothing of that.
function reasonOf({ key, explain }: SearchItem, query: string): { reason?: string } {
  if (query === "" || explain?.words !== undefined) return {};
  const isInKey = folded(key).includes(folded(query));
  return { reason: isInKey ? "its key contains the query" : "it contains the query" };
}

// As a search does it: whatever case and accents are.
const folded = (text: string) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

// LangGraph's own channels say nothing of the state.
const isOfTheGraph = (channel: string) => !/^(__|branch:)/.test(channel);

async function countsOf(memory: Memory): Promise<{ namespace: string[]; items: number }[]> {
  const namespaces = await memory.store.listNamespaces({ limit: 0xffff_ffff });
  const keys = await Promise.all(namespaces.map((namespace) => memory.store.listKeys(namespace)));
  return namespaces.map((namespace, i) => ({ namespace, items: keys[i]?.length ?? 0 }));
}

// Whether it is one of MCP. Throws if there are words that don't go with it.
function importsGraph(given: Arguments): boolean {
  const formats = { sqlite: false, mcp: true };
  const format = (given.text("format") ?? "sqlite") as keyof typeof formats;
  const isGraph = formats[checkChoice("--format", formats, format)];
  if (isGraph && given.flag("replace")) {
    throw invalid("--replace takes an export, and no --format mcp");
  }
  const place = Object.keys(PLACE).find((name) => given.text(name) !== undefined);
  if (!isGraph && place !== undefined) {
    throw invalid(`--${place} is for --format mcp: the rows of SOURCE say where they are`);
  }
  return isGraph;
}

async function importGraph(memory: Memory, source: string, given: Arguments) {
  const graph = new KnowledgeGraph(memory.store, namespaceFor(given));
  return importLines(graph, readFileSync(source, "utf8"), given.flag("overwrite"));
}

async function heldNow(memory: Memory): Promise<Printed> {
  const holds = await memory.holds();
  const lines = holds.map(({ namespace, reason }) => `${pathOf(namespace)}: ${reason}`);
  return { data: holds, text: linesOf(lines, "nothing is held") };
}

const linesOf = (lines: string[], none: string) =>
  `${lines.length === 0 ? none : lines.map(oneLine).join("\n")}\n`;

function linesOfDiff({ added, removed, changed }: CheckpointDiff): string[] {
  const entriesOf = <T>(channels: Record<string, T>) =>
    Object.entries(channels).filter(([name]) => isOfTheGraph(name));
  const shown = (value: unknown) => brief(asRead(value));
  return [
    ...entriesOf(added).map(([name, value]) => `+ ${name} ${shown(value)}`),
    ...entriesOf(removed).map(([name, value]) => `- ${name} ${shown(value)}`),
    ...entriesOf(changed).flatMap(([name, { before, after, appended }]) =>
      appended === undefined
        ? [`- ${name} ${shown(before)}`, `+ ${name} ${shown(after)}`]
        : appended.map((element) => `+ ${name}[] ${shown(element)}`),
    ),
  ];
}

// A message by its class and what it says, instead of the JSON that LangChain makes of it.
function asRead(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asRead);
  const { lc_kwargs: kwargs, constructor: made } = (value ?? {}) as Record<string, unknown>;
  if (kwargs === undefined || typeof made !== "function") return value;
  const { content, tool_calls } = kwargs as Record<string, unknown>;
  const calls = Array.isArray(tool_calls) && tool_calls.length > 0 ? { tool_calls } : {};
  return { [made.name]: content, ...calls };
}

const imported = ({ items, checkpoints }: { items: number; checkpoints: number }) =>
  `${plural(items, "item")} and ${plural(checkpoints, "checkpoint")}\n`;

// False if nothing was there.
function erasedText({ erased }: ErasureReceipt): string | false {
  const { items, threads, checkpoints } = erased;
  if (items + threads + checkpoints + erased.bytes === 0) return false;
  return `${plural(items, "item")}, ${plural(threads, "thread")} with ${plural(checkpoints, "checkpoint")}, ${bytes(erased.bytes)}`;
}

// `what` is false where nothing was to be done.
function told(dryRun: boolean, what: string | false, done: string): string {
  if (what === false) return `nothing ${dryRun ? "would be" : "was"} ${done}\n`;
  return dryRun ? `would be ${done}: ${what}\nSay --yes to do it.\n` : `${done}: ${what}\n`;
}
