// The page of bench/browser-search.mjs: what it waits for, the way to a worker and back included.
import { openMemory } from "keepsake";
import { MORE, putTexts, setOf } from "../search-texts.mjs";

const CANDIDATES = {
  async Keepsake(name) {
    const memory = await openMemory({ name });
    return {
      put: (texts, from) => putTexts(memory.store, texts, from),
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
