// One process of bench/cold.mjs: `make` fills a file and asks once, so that all is analysed; `ask`
// opens it again.
//
//   node bench/cold/process.mjs make|ask candidate kind size namespaces path

import { statSync } from "node:fs";
import Database from "better-sqlite3";
import { openMemory } from "keepsake";
import { at, BEST_TEN, matchOf, putTexts, schemaOf, setOf } from "../search-texts.mjs";

const [phase, candidate, kind, size, spaces, path] = process.argv.slice(2);
const { texts, more, questions, tokenize } = setOf(kind, Number(size));

const CANDIDATES = {
  async Keepsake() {
    const memory = await openMemory({ path });
    return {
      put: (some, from) => putTexts(memory.store, some, from, Number(spaces)),
      ask: (query) => memory.store.search(["n"], { query }),
      close: () => memory.close(),
    };
  },
  "FTS5 by hand"() {
    const db = new Database(path);
    db.pragma("journal_mode = wal");
    db.exec(schemaOf(tokenize));
    const insert = db.prepare("INSERT INTO t(rowid, text) VALUES(?, ?)");
    const best = db.prepare(BEST_TEN);
    return {
      put: db.transaction((some, from) => {
        for (const [i, text] of some.entries()) insert.run(from + i + 1, text);
      }),
      ask(question) {
        const match = matchOf(question, tokenize);
        return match === "" ? [] : best.all(match);
      },
      close: () => db.close(),
    };
  },
};

/** [CPU ms, ms on the clock] */
async function timeOf(body) {
  const [cpu, began] = [process.cpuUsage(), performance.now()];
  await body();
  const { user, system } = process.cpuUsage(cpu);
  return [(user + system) / 1000, performance.now() - began];
}

const rss = process.memoryUsage().rss;
let subject;
const open = await timeOf(async () => {
  subject = await CANDIDATES[candidate]();
});
const answer = { open };
if (phase === "make") {
  await subject.put(texts, 0);
  answer.first = await timeOf(() => subject.ask(questions[0]));
} else {
  answer.first = await timeOf(() => subject.ask(questions[1]));
  answer.memory = process.memoryUsage().rss - rss;
  const times = [];
  for (const question of questions.slice(2)) {
    times.push((await timeOf(() => subject.ask(question)))[0]);
  }
  answer.later = [at(times, 0.5), at(times, 0.95)];
  await subject.put(more.slice(0, 1), texts.length);
  answer.afterPut = await timeOf(() => subject.ask(questions[1]));
}
await subject.close();
answer.bytes = statSync(path).size;
answer.textBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
console.log(JSON.stringify(answer));
