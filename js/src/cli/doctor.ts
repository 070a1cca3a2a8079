// `npx keepsake doctor`: what is the matter with a file, and what to do.

import { existsSync, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { detailOf, KeepsakeError } from "../errors.js";
import type { Memory } from "../memory.js";
import type { Command } from "./command.js";
import { keyOfFile } from "./key.js";
import { brief, bytes, type Printed, plural, table } from "./output.js";
import { REMEDIES } from "./remedies.js";
import { rowsOfSync, type SyncFindings, syncOf } from "./sync-state.js";
import { version } from "./version.js";

/** What a file has beside it while it is open, and after a crash. */
const COMPANIONS = ["lock", "wal", "reserve"];
// Less is soon full.
const LITTLE_ROOM = 100 << 20;
// Of each thread, on average: more is worth a look.
const MANY_CHECKPOINTS = 500;

/** @internal */
export const doctor: Command = {
  words: ["FILE"],
  says: "where it is kept, by whom, how large it is, whether it opens, and what to do",
  examples: ["doctor agent.db"],
  options: {},
  async rescue(path) {
    const surroundings = surroundingsOf(path);
    try {
      const { openMemory } = await import("../memory.js");
      const memory = await openMemory({ path, key: keyOfFile() });
      try {
        return healthy({ ...surroundings, ...(await inside(memory, path)) });
      } finally {
        await memory.close();
      }
    } catch (error) {
      if (!(error instanceof KeepsakeError)) throw error;
      return ill(surroundings, error);
    }
  },
};

interface Surroundings {
  node: string;
  platform: string;
  fileBytes: number;
  mode: string;
  freeBytes: number;
  beside: string[];
}

function surroundingsOf(path: string): Surroundings & Record<string, unknown> {
  const { size, mode } = statSync(path);
  const { bavail, bsize } = statfsSync(dirname(resolve(path)));
  return {
    node: process.version,
    keepsake: version(),
    platform: `${process.platform} ${process.arch}`,
    fileBytes: size,
    mode: (mode & 0o777).toString(8),
    freeBytes: bavail * bsize,
    beside: COMPANIONS.filter((name) => existsSync(`${path}-${name}`)),
  };
}

async function inside(memory: Memory, path: string) {
  const [diagnosis, { store, checkpointer }, sync] = await Promise.all([
    memory.diagnose(),
    memory.stats(),
    syncOf(path),
  ]);
  return { ...diagnosis, store, checkpointer, sync };
}

type Findings = Surroundings & Awaited<ReturnType<typeof inside>>;

function healthy(findings: Findings): Printed {
  const { store, checkpointer, sync, ...rest } = findings;
  const advice = adviceOn(findings);
  const rows = [
    ...rowsOf(rest),
    ["items", `${store.items} in ${plural(store.namespaces, "namespace")}`],
    ["vectors", `${store.vectors}${store.pending > 0 ? `, ${store.pending} wait` : ""}`],
    ["threads", `${checkpointer.threads} with ${plural(checkpointer.checkpoints, "checkpoint")}`],
    ...rowsOfSync(sync),
  ];
  const text = `${table(["", ""], rows).trimStart()}it opens, and answers; \`keepsake check FILE\` reads every page\n${listed(advice)}`;
  return { data: { ...findings, opens: true, advice }, text };
}

function ill(surroundings: Surroundings & Record<string, unknown>, error: KeepsakeError): Printed {
  const { code } = error;
  const problem = detailOf(error);
  const advice = REMEDIES[code] === undefined ? [] : [REMEDIES[code]];
  const rows = rowsOf(surroundings);
  return {
    data: { ...surroundings, opens: false, code, problem, advice },
    text: `${table(["", ""], rows).trimStart()}it does not open\n${listed(advice)}`,
    failure: `${code}: ${problem}`,
  };
}

function adviceOn({ mode, freeBytes, store, checkpointer, sync }: Findings): string[] {
  const isPrivate = process.platform === "win32" || mode.endsWith("00");
  const isLong = checkpointer.checkpoints > MANY_CHECKPOINTS * Math.max(1, checkpointer.threads);
  return [
    ...(isPrivate ? [] : ["Others of this machine can read it: `chmod 600 FILE`."]),
    ...(freeBytes < LITTLE_ROOM ? [`Only ${bytes(freeBytes)} of the disk are free.`] : []),
    ...(store.pending > 0
      ? [
          `${plural(store.pending, "item")} wait for a vector: call store.reembed() in your program.`,
        ]
      : []),
    ...(isLong ? ["Threads are long: `keepsake prune FILE --keep-last 50` says what may go."] : []),
    ...adviceOnSync(sync),
  ];
}

function adviceOnSync(sync: SyncFindings | undefined): string[] {
  return [
    ...(sync !== undefined && sync.waiting > 0
      ? ["Only this file has what waits: `keepsake sync FILE BUCKET --name NAME` sends it."]
      : []),
    ...(sync !== undefined && sync.setAside.length > 0
      ? [
          "A write was set aside: syncStatus() in your program says what it would have changed, and dropSetAside() drops it.",
        ]
      : []),
  ];
}

// What a person calls them, where that differs.
const LABELS: Record<string, string> = {
  fileBytes: "file size",
  mode: "permissions",
  freeBytes: "free on disk",
  beside: "beside it",
  bytes: "database size",
};

const rowsOf = (findings: object) =>
  Object.entries(findings).map(([name, value]) => [LABELS[name] ?? name, shown(name, value)]);

const listed = (advice: string[]) => advice.map((line) => `→ ${line}\n`).join("");

function shown(name: string, value: unknown): string {
  if (/bytes$/i.test(name) && typeof value === "number") return bytes(value);
  if (Array.isArray(value)) return value.join(", ") || "nothing";
  return typeof value === "string" ? value : brief(value);
}
