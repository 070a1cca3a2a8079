// What came of each question: a file of JSON lines for each memory, so that a run that was ended
// goes on where it was. Of several lines about a question the last one counts.

import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DataError } from "./sets.mjs";

// A judge may be added to a run that had none.
const MAY_COME_LATER = new Set(["judge"]);

export class Results {
  #folder;
  #records = new Map();

  /** Without a folder nothing is kept. `settings` say what lines of one folder have in common. */
  constructor(folder, settings, memories) {
    this.#folder = folder;
    for (const memory of memories) this.#records.set(memory, new Map());
    if (folder === undefined) return;
    mkdirSync(folder, { recursive: true });
    checkSettings(join(folder, "run.json"), settings);
    for (const [memory, records] of this.#records) {
      for (const record of linesOf(join(folder, `${memory}.jsonl`))) records.set(record.id, record);
    }
  }

  of(memory) {
    return [...this.#records.get(memory).values()];
  }

  find(memory, id) {
    return this.#records.get(memory).get(id);
  }

  keep(memory, record) {
    this.#records.get(memory).set(record.id, record);
    if (this.#folder === undefined) return;
    appendFileSync(join(this.#folder, `${memory}.jsonl`), `${JSON.stringify(record)}\n`);
  }
}

function checkSettings(path, settings) {
  const earlier = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
  for (const [name, value] of Object.entries(earlier)) {
    if (MAY_COME_LATER.has(name) && value === null) continue;
    if (settings[name] === null && MAY_COME_LATER.has(name)) settings[name] = value;
    if (JSON.stringify(settings[name]) === JSON.stringify(value)) continue;
    throw new DataError(
      `${path} is of a run with ${name} ${JSON.stringify(value)}, and this one has ` +
        `${JSON.stringify(settings[name])}: name another folder with --out`,
    );
  }
  writeFileSync(path, `${JSON.stringify(settings, undefined, 2)}\n`);
}

// The last line of a run that was killed may be torn: it is cut off, and its question asked again.
function linesOf(path) {
  if (!existsSync(path)) return [];
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf(10) + 1;
  if (end < bytes.length) truncateSync(path, end);
  const lines = bytes.toString("utf8", 0, end).split("\n").filter(Boolean);
  return lines.map((line, i) => {
    try {
      return JSON.parse(line);
    } catch {
      throw new DataError(`line ${i + 1} of ${path} is no JSON: mend or delete it`);
    }
  });
}
