// keepsake-english: what its table finds, and what a store does until it is there.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jest } from "@jest/globals";
import { InMemoryStore, openMemory } from "keepsake";
import { lazyEmbedder, staticEmbedder } from "keepsake/embed";
import { bytes } from "../../packages/english/dist/table.js";
import {
  installPackage,
  packEnglish,
  packProject,
  projectRoot,
  run,
} from "./support/installed-package.mjs";
import { PARAPHRASES } from "./support/paraphrases.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const table = bytes();
const { dims, model } = staticEmbedder(table);
const ns = ["user", "ada"];

describe("questions in other words", () => {
  const FIRST = 3;
  const FEW = 15;
  let embeddings;
  beforeAll(() => {
    embeddings = staticEmbedder(table);
  });

  async function storeOf(positions, options) {
    const store = new InMemoryStore(options);
    const put = (i) => ({ namespace: ns, key: String(i), value: { text: PARAPHRASES[i][0] } });
    await store.batch(positions.map(put));
    return store;
  }

  async function isFound(store, i) {
    const hits = await store.search(ns, { query: PARAPHRASES[i][1], limit: FIRST });
    return hits.some(({ key }) => key === String(i));
  }

  // Of one half, in a store of all facts, and in stores of a few.
  async function shares(half, options) {
    const all = await storeOf([...PARAPHRASES.keys()], options);
    let found = 0;
    let foundAmongFew = 0;
    const asked = [...PARAPHRASES.keys()].filter((i) => i % 2 === half);
    for (const i of asked) {
      if (await isFound(all, i)) found++;
      const others = Array.from({ length: FEW }, (_, k) => (i + 7 * k) % PARAPHRASES.length);
      const few = await storeOf(others, options);
      if (await isFound(few, i)) foundAmongFew++;
      await few.close();
    }
    await all.close();
    return { all: found / asked.length, few: foundAmongFew / asked.length };
  }

  test.each([
    ["that was tuned on", 0, { all: 0.66, few: 0.9 }],
    ["that was not", 1, { all: 0.7, few: 0.96 }],
  ])("find their fact among the first three, of the half %s", async (_, half, least) => {
    const words = await shares(half, {});
    const both = await shares(half, { index: { dims, embeddings } });
    expect(both.all).toBeGreaterThanOrEqual(least.all);
    expect(both.few).toBeGreaterThanOrEqual(least.few);
    expect(words.all).toBeLessThan(0.1);
  });
});

describe("until the table is there", () => {
  let warn;
  beforeEach(() => {
    warn = jest.spyOn(console, "warn").mockImplementation(() => {});
  });
  afterEach(() => warn.mockRestore());

  // A table that comes when the test says so.
  function later() {
    let settle;
    const coming = new Promise((resolve, reject) => {
      settle = { resolve, reject };
    });
    coming.catch(() => {});
    const load = jest.fn(() => coming);
    return { embeddings: lazyEmbedder({ dims, model, load }), load, ...settle };
  }
  const until = async (holds) => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const dog = { text: "Her dog is called Max" };
  const paraphrase = { query: "Has she an animal?" };

  test("words answer, and then both: of what was put before, too", async () => {
    const { embeddings, resolve } = later();
    await using store = new InMemoryStore({ index: { dims, embeddings } });
    await store.put(ns, "dog", dog);
    await store.put(ns, "tea", { text: "She drinks green tea" });
    expect((await store.search(ns, { query: "dog" })).map(({ key }) => key)).toEqual(["dog"]);
    expect(await store.search(ns, paraphrase)).toEqual([]);
    expect(await store.stats()).toMatchObject({ pending: 2, vectors: 0 });
    resolve(table);
    await until(async () => (await store.stats()).vectors === 2);
    expect((await store.search(ns, paraphrase))[0].key).toBe("dog");
    await store.put(ns, "cat", { text: "A cat" });
    expect(await store.stats()).toMatchObject({ pending: 0, vectors: 3 });
    expect(warn).not.toHaveBeenCalled();
  });

  test("what asks for vectors alone waits", async () => {
    const { embeddings, resolve } = later();
    await using store = new InMemoryStore({ index: { dims, embeddings } });
    await store.put(ns, "dog", dog);
    const hits = store.search(ns, { ...paraphrase, ranking: { mode: "vector" } });
    const embedded = store.reembed();
    resolve(table);
    await Promise.all([hits, embedded]);
    expect((await hits)[0].key).toBe("dog");
    expect((await store.search(ns, paraphrase))[0].key).toBe("dog");
  });

  test("a question without a known word is near to no text without one", async () => {
    await using store = new InMemoryStore({
      index: { dims, embeddings: staticEmbedder(table) },
    });
    await store.put(ns, "ru", { text: "Моя сестра живёт в Омске" });
    await store.put(ns, "code", { text: "qwxz zzvk" });
    await store.put(ns, "dog", dog);
    for (const query of ["zzyzxq", "???", "12345"]) {
      expect(await store.search(ns, { query, ranking: { minScore: 0.07 } })).toEqual([]);
    }
    expect((await store.search(ns, paraphrase))[0].key).toBe("dog");
  });

  test("reembed() waits for the table also if no item waits for a vector", async () => {
    const path = temporaryFile("there.db");
    {
      const { embeddings, resolve } = later();
      resolve(table);
      await using memory = await openMemory({ path, index: { dims, embeddings } });
      const { store } = memory;
      await store.put(ns, "dog", dog);
      expect(await store.reembed()).toBe(1);
    }
    const { embeddings, resolve } = later();
    await using memory = await openMemory({ path, index: { dims, embeddings } });
    const { store } = memory;
    expect(await store.search(ns, paraphrase)).toEqual([]);
    const embedded = store.reembed();
    resolve(table);
    expect(await embedded).toBe(0);
    expect((await store.search(ns, paraphrase))[0].key).toBe("dog");
  });

  test("nothing is loaded before the first call, and once for all stores", async () => {
    const { embeddings, load, resolve } = later();
    const options = { index: { dims, embeddings } };
    await using store = new InMemoryStore(options);
    await using other = new InMemoryStore(options);
    await new Promise((done) => setTimeout(done, 20));
    expect(load).not.toHaveBeenCalled();
    await Promise.all([store.put(ns, "dog", dog), other.put(ns, "dog", dog)]);
    resolve(table);
    await until(async () => (await other.stats()).vectors === 1);
    expect(load).toHaveBeenCalledTimes(1);
  });

  test("what a scope put, and a session that was too short, gets its vectors by the memory", async () => {
    const path = temporaryFile("later.db");
    const first = await openMemory({ path, index: { dims, embeddings: later().embeddings } });
    await first.store.put(ns, "dog", dog);
    await first.close();
    const { embeddings, resolve } = later();
    await using memory = await openMemory({ path, index: { dims, embeddings } });
    const scope = memory.scoped({ place: ["team"] });
    await scope.store.put(ns, "cat", { text: "A cat" });
    resolve(table);
    await until(async () => (await memory.store.stats()).vectors === 2);
    expect((await scope.store.search(ns, paraphrase))[0].key).toBe("cat");
  });

  test("a table that can't be loaded is told once, by name, and words go on", async () => {
    const { embeddings, reject } = later();
    await using store = new InMemoryStore({ index: { dims, embeddings } });
    await store.put(ns, "dog", dog);
    reject(new Error("Failed to fetch"));
    const refused = {
      code: "embedding_failed",
      message: expect.stringMatching(
        /model "static-.*" can't be loaded: Failed to fetch; see that/,
      ),
    };
    await expect(
      store.search(ns, { ...paraphrase, ranking: { mode: "vector" } }),
    ).rejects.toMatchObject(refused);
    await expect(store.reembed()).rejects.toMatchObject(refused);
    expect((await store.search(ns, { query: "dog" })).map(({ key }) => key)).toEqual(["dog"]);
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/InMemoryStore finds items without vectors by words alone: .*Failed/)],
    ]);
  });

  test("a model may come later, too, and ranks as its options say", async () => {
    const animals = (text) => [Number(/dog|animal/.test(text)), Number(/tea/.test(text)), 0.1];
    const arrived = {
      embedDocuments: jest.fn(async (texts) => texts.map(animals)),
      embedQuery: jest.fn(async (text) => animals(text)),
    };
    let resolve;
    const coming = new Promise((settle) => {
      resolve = settle;
    });
    const ranking = { mode: "vector" };
    const options = { dims: 3, model: "animals", ranking, load: () => coming };
    await using store = new InMemoryStore({
      index: { dims: 3, embeddings: lazyEmbedder(options), fields: ["text"] },
    });
    await store.put(ns, "tea", { text: "She drinks green tea" });
    await store.put(ns, "dog", dog);
    expect(await store.search(ns, { query: "dog", ranking: { mode: "text" } })).toHaveLength(1);
    expect(await store.stats()).toMatchObject({ pending: 2, vectors: 0 });
    const hits = store.search(ns, { ...paraphrase, explain: true });
    const embedded = store.reembed(); // beside the store's own, and no text twice
    resolve(arrived);
    await embedded;
    // By vectors alone a hit has the cosine: of an animal and a dog, all.
    expect((await hits)[0]).toMatchObject({ key: "dog", score: expect.closeTo(1) });
    expect(await store.stats()).toMatchObject({ pending: 0, vectors: 2 });
    expect(arrived.embedQuery).toHaveBeenCalledWith(paraphrase.query);
    expect(arrived.embedDocuments.mock.calls.flat(2).sort()).toEqual([
      dog.text,
      "She drinks green tea",
    ]);
    expect(
      () =>
        new InMemoryStore({
          index: { dims: 3, embeddings: lazyEmbedder({ ...options, ranking: { mode: "near" } }) },
        }),
    ).toThrow(/embeddings.ranking.mode/);
  });

  test.each([[async () => ({ embed: 1 })], [async () => undefined]])(
    "what answers neither a table nor a model can't be loaded",
    async (load) => {
      const embeddings = lazyEmbedder({ dims: 3, model: "none", load });
      await expect(embeddings.embedQuery("tea")).rejects.toMatchObject({
        code: "embedding_failed",
        message: expect.stringMatching(/model "none" can't be loaded: .*table/),
      });
    },
  );

  test("a table of another build is refused", async () => {
    const embeddings = lazyEmbedder({ dims, model: "static-other", load: async () => table });
    await expect(embeddings.embedQuery("tea")).rejects.toMatchObject({
      code: "embedding_failed",
      message: expect.stringMatching(/it is static-.* and not static-other/),
    });
  });

  test.each([
    [{ dims: 0 }, /dims/],
    [{ model: 7 }, /model must be a string/],
    [{ load: "table.bin" }, /load must be a function/],
    [{ file: "table.bin" }, /file/],
  ])("a mistake in its options is refused: %j", (wrong, message) => {
    const options = { dims, model, load: async () => table, ...wrong };
    const caught = expect.objectContaining({ code: "invalid_argument" });
    expect(() => lazyEmbedder(options)).toThrow(caught);
    expect(() => lazyEmbedder(options)).toThrow(message);
  });
});

describe("the package", () => {
  const { tarball, files } = packEnglish();
  const folder = installPackage(packProject().tarball, tarball);
  const evaluate = (type, script) =>
    run(process.execPath, [`--input-type=${type}`, "--eval", script], { cwd: folder });

  test("has its table, which takes 5 MB, its licences, and nothing else", () => {
    expect(table.length).toBeLessThan(5_000_000);
    expect(files.sort()).toEqual([
      "LICENSE",
      "LICENSE-APACHE-2.0",
      "README.md",
      "THIRD_PARTY_NOTICES.md",
      ...["cjs", "d.cts", "d.ts", "js"].map((kind) => `dist/index.${kind}`),
      "dist/table.js",
      "make.js",
      "package.json",
    ]);
    const read = (name) => JSON.parse(readFileSync(join(projectRoot, name), "utf8"));
    const { version } = read("package.json");
    expect(read("packages/english/package.json")).toMatchObject({
      version,
      peerDependencies: { keepsake: `^${version}` },
    });
  });

  const use = `
    (async () => {
      const store = new InMemoryStore({ index: await english() });
      await store.put(["a"], "dog", { text: "Her dog is called Max" });
      await store.put(["a"], "tea", { text: "She drinks green tea" });
      await store.reembed();
      const [hit] = await store.search(["a"], { query: "Has she an animal?" });
      console.log(hit.key);
      await store.close();
    })();`;

  test.each([
    [
      "module",
      'import { InMemoryStore } from "keepsake"; import { english } from "keepsake-english";',
    ],
    [
      "commonjs",
      'const { InMemoryStore } = require("keepsake"); const { english } = require("keepsake-english");',
    ],
  ])("finds by meaning: %s", (type, load) => {
    expect(evaluate(type, load + use)).toBe("dog\n");
  });

  test("its types fit a store and a memory", () => {
    writeFileSync(
      join(folder, "typed.mts"),
      `import { InMemoryStore, openMemory } from "keepsake";
      import { english } from "keepsake-english";
      export const store = new InMemoryStore({ index: await english({ fields: ["text"] }) });
      export const memory = await openMemory({ path: ":memory:", index: await english() });
      // @ts-expect-error
      await english({ language: "german" });`,
    );
    const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--skipLibCheck"];
    const target = ["--target", "ES2022", "--module", "NodeNext", "--lib", "ES2023,DOM"];
    const tsc = join(projectRoot, "node_modules/typescript/bin/tsc");
    run(process.execPath, [tsc, ...options, ...target, "typed.mts"], { cwd: folder });
  });

  test("makes a folder to import out of another table", () => {
    const words = { tee: [9, 1, 2], kaffee: [8, 2, 1], sturm: [1, 9, 3] };
    const lines = Object.entries(words).map(([word, row]) => [word, ...row].join(" "));
    writeFileSync(join(folder, "german.txt"), lines.join("\n"));
    writeFileSync(join(folder, "silent.txt"), "der die das");
    const program = join(folder, "node_modules/.bin/keepsake-table");
    const args = ["german.txt", "--name=german", "--out=german", "--silent=silent.txt"];
    expect(run(program, args, { cwd: folder })).toMatch(/^german: german\(\), a table of 0.0 MB/);
    const script = `import { german } from "./german/index.js";
      const { embeddings } = await german();
      console.log(embeddings.model, (await embeddings.embedQuery("Tee")).length);`;
    writeFileSync(join(folder, "german.mjs"), script);
    expect(run(process.execPath, ["german.mjs"], { cwd: folder })).toMatch(/^static-3-\w+ 3\n$/);
  });

  test.each([
    [[], /name one table/],
    [["a.txt", "--out=b"], /--name is missing/],
    [["a.txt", "--name=b", "--language=c"], /unknown option --language=c/],
    [["a.txt", "--name=b-c", "--out=b"], /ENOENT|--name must be a name in JavaScript/],
  ])("tells what is wrong with its arguments: %j", (args, message) => {
    const program = join(folder, "node_modules/.bin/keepsake-table");
    expect(() => execFileSync(program, args, { cwd: folder, stdio: "pipe" })).toThrow(message);
  });
});
