// The page of bench/browser-search.mjs and bench/cold.mjs: what it waits for, the way to a worker and back included.
import { openMemory } from "keepsake";
import { MORE, putTexts, setOf } from "../search-texts.mjs";

const CANDIDATES = {
  async Keepsake(name) {
    const memory = await openMemory({ name });
    return {
      put: (texts, from, spaces) => putTexts(memory.store, texts, from, spaces),
      ask: (query) => memory.store.search(["n"], { query }),
      close: () => memory.close(),
    };
  },
  async "FTS5 by hand"(name, tokenize) {
    const worker = new Worker("search-fts5.js", { type: "module" });
    const call = (message) =>
      new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) =>
          data.error ? reject(new Error(data.error)) : resolve(data.answer);
        worker.onerror = (event) => reject(new Error(event.message || "the worker did not load"));
        worker.postMessage(message);
      });
    await call({ call: "open", name, tokenize });
    return {
      put: (texts, from) => call({ call: "put", texts, from }),
      ask: (question) => call({ call: "ask", question }),
      close: () => worker.terminate(),
    };
  },
};

async function timeOf(body) {
  const began = performance.now();
  await body();
  return performance.now() - began;
}

const nameOf = (kind, size, spaces) => `${kind}-${size}-${spaces}`;

globalThis.fill = async (candidate, kind, size, spaces) => {
  const { texts, questions, tokenize } = setOf(kind, size);
  const subject = await CANDIDATES[candidate](nameOf(kind, size, spaces), tokenize);
  await subject.put(texts, 0, spaces);
  await subject.ask(questions[0]);
  await subject.close();
};

/** In a page that was just loaded. */
globalThis.measureCold = async (candidate, kind, size, spaces) => {
  const { questions, tokenize } = setOf(kind, size);
  let subject;
  const open = await timeOf(async () => {
    subject = await CANDIDATES[candidate](nameOf(kind, size, spaces), tokenize);
  });
  const first = await timeOf(() => subject.ask(questions[1]));
  const times = [];
  for (const question of questions.slice(2)) times.push(await timeOf(() => subject.ask(question)));
  await subject.close();
  return { open, first, times };
};

globalThis.measureSearch = async (candidate, kind, size) => {
  const { texts, more, questions, tokenize } = setOf(kind, size);
  const subject = await CANDIDATES[candidate](`${kind}-${size}`, tokenize);
  const put = (await timeOf(() => subject.put(texts, 0))) / size;
  const first = await timeOf(() => subject.ask(questions[0]));
  const times = [];
  for (const question of questions) times.push(await timeOf(() => subject.ask(question)));
  const found = await timeOf(async () => {
    await subject.put(more, size);
    await subject.ask(questions[0]);
  });
  await subject.close();
  return { put, found: found / MORE, first, times };
};
