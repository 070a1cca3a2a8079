// Finds by meaning what shares no word with the question, with an embedding model.
//
// Needs: Node 22.18, and one of three models, which --with names:
//   openai  OPENAI_API_KEY in the environment, and npm install @langchain/openai
//   ollama  Ollama on this machine with `ollama pull nomic-embed-text`, and @langchain/ollama
//   local   npm install @huggingface/transformers, which fetches the model once: 23 MB
//
//   npm install keepsake @langchain/core @langchain/langgraph @langchain/openai
//   OPENAI_API_KEY=… node meaning.ts "Has she an animal?"

import { parseArgs } from "node:util";
import { openMemory } from "keepsake";

const MODELS: Record<string, () => Promise<{ dims: number; embeddings: Embeddings }>> = {
  openai: async () => {
    const { OpenAIEmbeddings } = await import("@langchain/openai");
    return { dims: 1536, embeddings: new OpenAIEmbeddings({ model: "text-embedding-3-small" }) };
  },
  ollama: async () => {
    const { OllamaEmbeddings } = await import("@langchain/ollama");
    return { dims: 768, embeddings: new OllamaEmbeddings({ model: "nomic-embed-text" }) };
  },
  local: async () => {
    const { pipeline } = await import("@huggingface/transformers");
    const model = "Xenova/all-MiniLM-L6-v2";
    const extract = await pipeline("feature-extraction", model, { dtype: "q8" });
    const embedDocuments = async (texts: string[]): Promise<number[][]> =>
      (await extract(texts, { pooling: "mean", normalize: true })).tolist();
    const embedQuery = async (text: string) => (await embedDocuments([text]))[0] as number[];
    return { dims: 384, embeddings: { model, embedDocuments, embedQuery } };
  },
};

interface Embeddings {
  model: string; // the file keeps it, and refuses the vectors of another
  embedDocuments(texts: string[]): Promise<number[][]>;
  embedQuery(text: string): Promise<number[]>;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { with: { type: "string", default: "openai" } },
});
const model = MODELS[values.with];
if (!model) throw new Error(`--with takes ${Object.keys(MODELS).join(", ")}`);

const memory = await openMemory({
  path: `notes-${values.with}.db`,
  index: { ...(await model()), fields: ["text"] },
  ranking: { mode: "hybrid" },
});
const notes = ["user", "ada"];
await memory.store.put(notes, "pet", { text: "Her dog is called Max" });
await memory.store.put(notes, "tea", { text: "She drinks green tea, no sugar" });
await memory.store.put(notes, "sister", { text: "Her sister Mary lives in Porto" });
for (const query of positionals) {
  const [hit] = await memory.store.search(notes, { query, limit: 1 });
  console.log(query, hit ? `${hit.value.text} (${hit.score?.toFixed(2)})` : "nothing is known");
}
await memory.close();
