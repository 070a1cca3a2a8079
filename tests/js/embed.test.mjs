// Vectors of texts out of tables of word vectors, as they are published.

import { InMemoryStore, SqliteStore } from "keepsake";
import { cutWordVectors, staticEmbedder } from "keepsake/embed";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

// Three topics, and words in the middle of all: each table has 8 dimensions of its own noise.
const TOPICS = {
  drinks: ["tea", "coffee", "cocoa", "juice"],
  weather: ["rain", "snow", "storm", "wind"],
  music: ["piano", "violin", "concert", "song"],
  rest: ["the", "a", "of", "and", "is", "we"],
};
const DIMS = 8;

function rows() {
  let seed = 11;
  const noise = () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return (seed / 2147483648 - 0.5) * 0.3;
  };
  const of = (words, topic) =>
    words.map((word) => [
      word,
      Array.from({ length: DIMS }, (_, d) => (d === topic ? 1 : 0) + (d === 3 ? 0.8 : 0) + noise()),
    ]);
  return [
    ...of(TOPICS.rest, 3),
    ...of(TOPICS.drinks, 0),
    ...of(TOPICS.weather, 1),
    ...of(TOPICS.music, 2),
  ];
}

const gloveText = (table = rows()) =>
  table.map(([word, row]) => `${word} ${row.map((x) => x.toFixed(5)).join(" ")}`).join("\n");

const cosine = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
async function nearnessBy(embedder) {
  const [tea, coffee, storm] = await embedder.embedDocuments(["tea", "Coffee!", "a storm"]);
  return { related: cosine(tea, coffee), unrelated: cosine(tea, storm) };
}
const refused = (message) => ({
  code: "invalid_argument",
  message: expect.stringMatching(message),
});

function tensors(table, dtype = "F32") {
  const size = dtype === "F32" ? 4 : 2;
  const data = new DataView(new ArrayBuffer(table.length * DIMS * size));
  table.forEach(([, row], i) => {
    row.forEach((x, d) => {
      if (size === 4) data.setFloat32((i * DIMS + d) * size, x, true);
      else data.setUint16((i * DIMS + d) * size, halfOf(x), true);
    });
  });
  const header = new TextEncoder().encode(
    JSON.stringify({
      embeddings: { dtype, shape: [table.length, DIMS], data_offsets: [0, data.byteLength] },
    }),
  );
  const file = new Uint8Array(8 + header.length + data.byteLength);
  new DataView(file.buffer).setBigUint64(0, BigInt(header.length), true);
  file.set(header, 8);
  file.set(new Uint8Array(data.buffer), 8 + header.length);
  return file;
}

// Of numbers between 2^-14 and 2^15.
function halfOf(x) {
  const exponent = Math.floor(Math.log2(Math.abs(x)));
  const fraction = Math.round((Math.abs(x) / 2 ** exponent - 1) * 1024);
  return (x < 0 ? 0x8000 : 0) + ((exponent + 15) << 10) + fraction;
}

const tokenizerOf = (words, type = "WordPiece") =>
  JSON.stringify({ model: { type, vocab: Object.fromEntries(words.map((word, i) => [word, i])) } });

async function* inChunks(text, size) {
  const bytes = new TextEncoder().encode(text);
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}

const wink = (table = rows()) =>
  JSON.stringify({
    dimensions: DIMS,
    words: table.map(([word]) => word),
    vectors: Object.fromEntries(table.map(([word, row], i) => [word, [...row, 1.5, i]])),
  });

test.each([
  ["text as GloVe's", () => cutWordVectors(gloveText())],
  ["text as fastText's", () => cutWordVectors(`${rows().length} ${DIMS}\n${gloveText()}\n`)],
  ["a stream of text", () => cutWordVectors(inChunks(gloveText(), 7))],
  ["JSON as wink's", () => cutWordVectors(wink())],
  ["a buffer", async () => cutWordVectors(new TextEncoder().encode(wink()).buffer)],
])("%s becomes a table by which related words are near", async (_, cut) => {
  const embedder = staticEmbedder(await cut());
  expect(embedder.dims).toBe(DIMS);
  const { related, unrelated } = await nearnessBy(embedder);
  // Of so few words directions of noise are spread, too.
  expect(related).toBeGreaterThan(0.6);
  expect(unrelated).toBeLessThan(0.1);
  expect(await embedder.embedQuery("tea")).toEqual((await embedder.embedDocuments(["tea"]))[0]);
});

test("a silent word says nothing, and a text of such words is like no other", async () => {
  const embedder = staticEmbedder(await cutWordVectors(gloveText(), { silent: ["storm", "The"] }));
  const [tea, both] = await embedder.embedDocuments(["tea", "the storm tea"]);
  expect(both).toEqual(tea);
});

test("what a sentence model says of words stands beside what the table says", async () => {
  const asked = [];
  const sentences = async (words) => {
    asked.push(...words);
    return words.map((word) => (TOPICS.music.includes(word) ? [1, 0] : [0, 1]));
  };
  const cut = await cutWordVectors(gloveText(), { sentences });
  expect(asked).toEqual(rows().map(([word]) => word));
  const embedder = staticEmbedder(cut);
  expect(embedder.dims).toBe(DIMS + 2);
  const [piano, song, tea] = await embedder.embedDocuments(["piano", "song", "tea"]);
  expect(cosine(piano, song)).toBeGreaterThan(cosine(piano, tea) + 0.5);
});

test.each([
  [{ silent: "the" }, /silent must be a list of words/],
  [{ sentences: {} }, /sentences must be a function/],
  [{ sentences: async () => [[1]] }, /must answer 18 words with as many vectors/],
  [{ sentences: async (words) => words.map(() => []) }, /vectors of one length/],
  [{ sentences: async (words) => words.map(() => [Number.NaN]) }, /of finite numbers/],
])("a mistake is refused: %j", async (options, message) => {
  await expect(cutWordVectors(gloveText(), options)).rejects.toMatchObject(refused(message));
});

test("a word with an unknown ending is the one without it", async () => {
  const embedder = staticEmbedder(await cutWordVectors(gloveText()));
  const [storm, storms, stormy, teas] = await embedder.embedDocuments([
    "storm",
    "storms!",
    "stormily",
    "teas",
  ]);
  expect(storms).toEqual(storm);
  expect(stormy).toEqual(storm);
  expect(teas).not.toEqual((await embedder.embedDocuments(["tea"]))[0]); // too short to tell
});

test("of a whole value its strings count, not the names of its fields", async () => {
  const embedder = staticEmbedder(await cutWordVectors(gloveText()));
  const value = { storm: { tea: ["coffee", { rain: "juice" }] }, snow: 7, wind: null };
  const [whole, strings, broken, bare] = await embedder.embedDocuments([
    JSON.stringify(value),
    "coffee juice",
    "{coffee juice",
    "[coffee] juice",
  ]);
  expect(whole).toEqual(strings);
  expect(broken).toEqual(strings);
  expect(bare).toEqual(strings);
});

test.each(["F32", "F16"])("tensors of model2vec in %s, with pieces of words", async (dtype) => {
  const table = rows();
  const words = table.map(([word]) => (word === "juice" ? "##juice" : word));
  const embedder = staticEmbedder(
    await cutWordVectors(tensors(table, dtype), { tokenizer: tokenizerOf(words) }),
  );
  const [tea, both, none] = await embedder.embedDocuments(["tea", "teajuice", "teaspoon"]);
  const juice = table.find(([word]) => word === "juice")[1];
  const sum = table.find(([word]) => word === "tea")[1].map((x, d) => x + juice[d]);
  expect(cosine(both, sum) / Math.hypot(...sum)).toBeGreaterThan(0.999);
  expect(tea).not.toEqual(none); // "spoon" is no piece: the word is unknown
});

test("only the most frequent words are kept", async () => {
  const all = await cutWordVectors(gloveText());
  const some = await cutWordVectors(gloveText(), { words: 8 });
  expect(some.length).toBeLessThan(all.length);
  const texts = ["coffee", "piano", ""];
  const [known, unknown, nothing] = await staticEmbedder(some).embedDocuments(texts);
  expect(unknown).toEqual(nothing);
  expect(known).not.toEqual(nothing);
});

test("a word is found in the forms that people write", async () => {
  const words = [...rows(), ["cafe", Array(DIMS).fill(0.4)], ["茶", Array(DIMS).fill(-0.4)]];
  const embedder = staticEmbedder(await cutWordVectors(gloveText(words)));
  const [plain, accent, owner, chinese, none] = await embedder.embedDocuments([
    "cafe",
    "CAFÉ",
    "the café’s",
    "我喝茶",
    "",
  ]);
  expect(accent).toEqual(plain);
  expect(cosine(owner, plain)).toBeGreaterThan(0.9);
  expect(chinese).not.toEqual(none);
});

test("a word with a line break is refused, for it would move all that come after it", async () => {
  const table = rows();
  table[2][0] = "two\nlines";
  const rule = /^\[keepsake\] a word of the table must not contain a line break: "two\\nlines"/;
  await expect(cutWordVectors(wink(table))).rejects.toMatchObject(refused(rule.source));
});

test("what is no table is refused, and says what is wrong", async () => {
  const table = await cutWordVectors(gloveText());
  const whole = "cutWordVectors\\(\\) made";
  expect(() => staticEmbedder(new Uint8Array(8))).toThrow(expect.objectContaining(refused(whole)));
  expect(() => staticEmbedder(table.subarray(0, 90))).toThrow(
    expect.objectContaining(refused("cut short: 90 bytes where it has")),
  );
  const newer = table.slice();
  newer[4] = 9;
  expect(() => staticEmbedder(newer)).toThrow(expect.objectContaining(refused("newer keepsake")));
  const wrong = [
    ["", {}, "no words"],
    ["tea 0.1 0.2\ncoffee 0.1", {}, "a word and 2 numbers: coffee 0.1"],
    ["tea 0.1 x", {}, "a word and 2 numbers: tea 0.1 x"],
    ["glove.6B.100d.txt", {}, "glove.6B.100d.txt.*createReadStream\\(path\\)"],
    ["{", {}, "no JSON"],
    ["{}", {}, "dimensions, words and vectors"],
    [gloveText(), { words: 0 }, "words must be a whole number from 1: 0"],
    [gloveText(), { word: 5 }, 'unknown option "word".*words'],
    [tensors(rows()), { tokenizer: tokenizerOf(["a"], "BPE") }, "WordPiece\\): BPE"],
    [new Uint8Array(4), { tokenizer: tokenizerOf(["a"]) }, "safetensors"],
    [tensors(rows()).subarray(0, 200), { tokenizer: tokenizerOf(["a"]) }, "of F32 or F16"],
  ];
  for (const [source, options, message] of wrong) {
    await expect(cutWordVectors(source, options)).rejects.toMatchObject(refused(message));
  }
});

test.each([
  ["InMemoryStore", (options) => new InMemoryStore(options)],
  ["SqliteStore", (options) => new SqliteStore({ path: ":memory:", ...options })],
])("%s finds by meaning what shares no word", async (_, make) => {
  const embedder = staticEmbedder(await cutWordVectors(gloveText()));
  const store = make({ index: { dims: embedder.dims, embeddings: embedder, fields: ["text"] } });
  await store.put(["n"], "drink", { text: "a coffee" });
  await store.put(["n"], "sky", { text: "the storm" });
  await store.put(["n"], "sound", { text: "we song" });
  expect((await store.search(["n"], { query: "tea" }))[0].key).toBe("drink");
  await store.close();
});

test("its searches by words and vectors go by what stands out, unless told otherwise", async () => {
  const embeddings = staticEmbedder(await cutWordVectors(gloveText()));
  const indexOf = (model) => ({ dims: embeddings.dims, embeddings: model, fields: ["text"] });
  const { ranking: own, ...rough } = embeddings;
  expect(own).toEqual({ mode: "hybrid", fusion: "standout" });
  const texts = ["tea", "coffee", "storm", "song", "we", "a"];
  const scoresOf = async (model, ranking) => {
    const store = new InMemoryStore({ index: indexOf(model), ranking: { mode: "hybrid" } });
    for (let i = 0; i < 48; i++) {
      await store.put(["n"], `${i}`, { text: `${texts[i % 6]} ${texts[(i * 5) % 6]} ${i}` });
    }
    const hits = await store.search(["n"], { query: "tea", limit: 48, ranking });
    await store.close();
    return hits.map(({ key, score }) => [key, score]);
  };
  const standouts = await scoresOf(embeddings);
  expect(standouts).not.toEqual(await scoresOf(rough));
  expect(await scoresOf(rough, { fusion: "standout" })).toEqual(standouts);
  expect(await scoresOf(embeddings, { fusion: "weighted" })).toEqual(await scoresOf(rough));
  expect(
    () => new InMemoryStore({ index: indexOf({ ...rough, ranking: { fusion: "loud" } }) }),
  ).toThrow('embeddings.ranking.fusion must be one of weighted, reciprocalRank, standout: "loud"');
});

test("a file of one table refuses another one", async () => {
  const path = temporaryFile("embed.db");
  const indexOf = (table) => {
    const embedder = staticEmbedder(table);
    return { dims: embedder.dims, embeddings: embedder };
  };
  const store = new SqliteStore({ path, index: indexOf(await cutWordVectors(gloveText())) });
  await store.put(["n"], "a", { text: "tea" });
  await store.close();
  const other = await cutWordVectors(gloveText(rows().reverse()));
  const again = new SqliteStore({ path, index: indexOf(other) });
  await expect(again.get(["n"], "a")).rejects.toMatchObject({ code: "model_mismatch" });
  await again.close();
});
