// A page that finds by words at once, and by meaning as soon as a model is there: Chrome's own where
// it is installed already, else one of transformers.js, 23 MB that are fetched once. No text leaves
// the browser.
//
// Needs: a bundler, and what README.md installs; no key.

import { openMemory } from "keepsake";
import { type LazyModel, lazyEmbedder } from "keepsake/embed";

// Chrome's Embedding API, which is behind a flag as yet.
interface ChromesEmbedder {
  availability(options: { embeddingSpace: string }): Promise<string>;
  create(options: { embeddingSpace: string }): Promise<{
    embed(
      texts: string[],
      options: { taskType: "retrieval-document" | "retrieval-query" },
    ): Promise<{ embeddings: { values: Float32Array }[] }>;
  }>;
}

async function chromesModel(): Promise<LazyModel | undefined> {
  const { SemanticEmbedder: chromes } = globalThis as { SemanticEmbedder?: ChromesEmbedder };
  const embeddingSpace = "embeddinggemma-300m";
  // What has to be fetched first needs a click of the user, and is not waited for here.
  if ((await chromes?.availability({ embeddingSpace })) !== "available" || !chromes) return;
  return {
    dims: 768,
    model: embeddingSpace,
    load: async () => {
      const embedder = await chromes.create({ embeddingSpace });
      const embed = async (texts: string[], kind: "document" | "query") =>
        (await embedder.embed(texts, { taskType: `retrieval-${kind}` })).embeddings.map(
          ({ values }) => values,
        );
      return {
        embedDocuments: (texts) => embed(texts, "document"),
        embedQuery: async (text) => (await embed([text], "query"))[0] as Float32Array,
      };
    },
  };
}

const transformersModel: LazyModel = {
  dims: 384,
  model: "Xenova/all-MiniLM-L6-v2",
  load: async () => {
    const { pipeline } = await import("@huggingface/transformers");
    const extract = await pipeline("feature-extraction", transformersModel.model, { dtype: "q8" });
    const embedDocuments = async (texts: string[]): Promise<number[][]> =>
      (await extract(texts, { pooling: "mean", normalize: true })).tolist();
    return {
      embedDocuments,
      embedQuery: async (text) => (await embedDocuments([text]))[0] as number[],
    };
  },
};

const model = (await chromesModel()) ?? transformersModel;
const embeddings = lazyEmbedder({ ...model, ranking: { mode: "hybrid" } });
const memory = await openMemory({
  name: "meaning",
  // What another model embedded, as before Chrome had one, is embedded anew.
  index: { dims: model.dims, embeddings, fields: ["text"], replace: true },
});
const notes = ["notes"];

const show = (selector: string, text: string) => {
  (document.querySelector(selector) as HTMLElement).textContent = text;
};

async function say(text: string) {
  if (!text.endsWith("?")) {
    await memory.store.put(notes, crypto.randomUUID(), { text });
    show("#answer", "Noted.");
    return;
  }
  const [hit] = await memory.store.search(notes, { query: text, limit: 1 });
  show("#answer", hit ? hit.value.text : "Nothing is known of that.");
}

const form = document.querySelector("form") as HTMLFormElement;
const input = document.querySelector("input") as HTMLInputElement;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  void say(input.value);
  input.value = "";
});

show("#state", "finds by words");
try {
  await embeddings.loading(); // it begins when the page is idle
  await memory.store.reembed(); // what was put meanwhile, or by an earlier visit
  show("#state", `finds by words and meaning, with ${model.model}`);
} catch (error) {
  show("#state", `finds by words: ${(error as Error).message}`);
}
