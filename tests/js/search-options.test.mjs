// What README.md says of search's options, tried one by one over both stores.

import { InMemoryStore, SqliteStore } from "keepsake";

const DAY = 86_400_000;
const N = ["n"];
const index = {
  dims: 3,
  fields: ["text"],
  embeddings: (texts) =>
    texts.map((text) => [/tea/i.test(text), /rain/i.test(text), 0.3].map(Number)),
};
const keysOf = (hits) => hits.map(({ key }) => key);

describe.each([
  ["InMemoryStore", (options) => new InMemoryStore(options)],
  ["SqliteStore", (options) => new SqliteStore({ path: ":memory:", ...options })],
])("%s", (_, make) => {
  let now;
  let store;

  beforeEach(() => {
    now = Date.UTC(2026, 0, 1);
  });
  afterEach(() => store?.close());

  async function open(options, items = {}) {
    await store?.close();
    store = make({ now: () => now, ...options });
    for (const [key, value] of Object.entries(items)) {
      await store.put(N, key, typeof value === "string" ? { text: value } : value);
    }
  }
  const keys = async (query, options) => keysOf(await store.search(N, { query, ...options }));

  test("words are found in any form, misspelled, by their beginning and as a phrase", async () => {
    await open(
      { ranking: { mode: "text" } },
      {
        walk: "we walked along the harbour",
        tea: "green tea in the morning",
        other: "tea that is green",
        keeper: "the lighthouse keeper",
      },
    );
    expect(await keys("walking")).toEqual(["walk"]);
    expect(await keys("harbor")).toEqual(["walk"]);
    expect(await keys("lighthuose")).toEqual(["keeper"]);
    expect(await keys("light*")).toEqual(["keeper"]);
    expect(await keys('"green tea"')).toEqual(["tea"]);
    expect(await keys("\u201cgreen tea\u201d")).toEqual(["tea"]);
    expect(await keys('"tea green"')).toEqual([]);
    expect(await keys("bicycle")).toEqual([]);
    for (const odd of [
      '"',
      '""',
      '"green',
      "*",
      '"*"',
      "a*b",
      "(tea OR",
      "NEAR(a b)",
      "-tea",
      "a:b",
    ]) {
      await keys(odd);
    }
  });

  test.each([
    ["german", "Wir gingen durch die H\u00e4user", "Haus"],
    ["french", "nous mangions des pommes", "pomme"],
    ["spanish", "las casas blancas", "casa"],
    ["italian", "le case bianche", "casa"],
    ["portuguese", "as casas brancas", "casa"],
  ])("words of %s are stemmed", async (language, text, query) => {
    await open({ ranking: { mode: "text" }, text: { language } }, { found: text, other: "zzz" });
    expect(await keys(query)).toEqual(["found"]);
  });

  test.each([
    ["\u5317\u4eac", "\u6211\u6628\u5929\u53bb\u4e86\u5317\u4eac\u5927\u5b66"],
    ["\u6771\u4eac", "\u6771\u4eac\u30bf\u30ef\u30fc\u306b\u884c\u304d\u307e\u3057\u305f"],
    ["\uc11c\uc6b8", "\uc11c\uc6b8\uc5d0\uc11c \ub9cc\ub0ac\uc5b4\uc694"],
    [
      "\u043a\u043e\u0448\u043a\u0438",
      "\u041c\u044b \u0432\u0438\u0434\u0435\u043b\u0438 \u043a\u043e\u0448\u0435\u043a",
    ],
    ["ada@example.org", "write to ada@example.org"],
    ["user name", "call getUserName now"],
    ["\u{1f389}", "great \u{1f389}"],
    ["1299", "it cost 1,299 euros"],
  ])("%s is found in any language's text", async (query, text) => {
    await open({ ranking: { mode: "text" } }, { found: text, other: "nothing like it" });
    expect(await keys(query)).toEqual(["found"]);
  });

  test("a field's weight, and a field of weight 0 that says when", async () => {
    await open(
      { ranking: { mode: "text" }, text: { fields: { title: 5, text: 1, date: 0 } } },
      {
        body: { title: "x", text: "tea y z" },
        title: { title: "tea", text: "x y z" },
        dated: { title: "trip", text: "by boat", date: "9 June 2023" },
      },
    );
    expect(await keys("tea")).toEqual(["title", "body"]);
    expect(await keys("what was on 9 June 2023?")).toEqual(["dated"]);
  });

  test("group and position raise what stands beside a hit, speaker whom a question names", async () => {
    const text = { fields: ["text"], group: "session", position: "turn", speaker: "who" };
    await open({ ranking: { mode: "text" }, text });
    const turns = [
      ["Bob", "Where did you go?"],
      ["Ada", "To the lighthouse."],
      ["Bob", "I was at home."],
      ["Ada", "And I came home late."],
    ];
    await store.batch(
      turns.map(([who, said], turn) => ({
        namespace: N,
        key: `${turn}`,
        value: { session: 1, turn, who, text: said },
      })),
    );
    const hits = await store.search(N, { query: "lighthouse", explain: true });
    expect(hits[0].key).toBe("1");
    const beside = hits.find(({ key }) => key === "0").explain;
    expect(beside.words).toBe(0);
    expect(beside.context).toBeGreaterThan(0);
    expect((await keys("was Bob at home?"))[0]).toBe("2");
    expect((await keys("when did Ada come home?"))[0]).toBe("3");
  });

  test("recency halves what an old item loses after each halfLifeDays", async () => {
    await open({ ranking: { mode: "text" } });
    await store.put(N, "old", { text: "green tea" });
    now += 14 * DAY;
    await store.put(N, "young", { text: "green tea" });
    const scores = async (ranking) => {
      const hits = await store.search(N, { query: "tea", explain: true, ranking });
      return Object.fromEntries(hits.map(({ key, score }) => [key, score]));
    };
    const ratio = ({ old, young }) => old / young;
    expect(ratio(await scores({}))).toBe(1);
    expect(ratio(await scores({ recency: 1 }))).toBeCloseTo(0.25);
    expect(ratio(await scores({ recency: 0.5, halfLifeDays: 14 }))).toBeCloseTo(0.75);
  });

  test("boosts raise and lower by numbers of the value", async () => {
    await open(
      { ranking: { mode: "text" } },
      {
        high: { text: "green tea", importance: 1, reward: 0.5 },
        low: { text: "green tea", importance: -1 },
        none: { text: "green tea" },
      },
    );
    const options = { ranking: { boosts: { importance: 0.5, reward: 0.5 } }, explain: true };
    const hits = await store.search(N, { query: "tea", ...options });
    expect(keysOf(hits)).toEqual(["high", "none", "low"]);
    expect(hits[0].explain).toMatchObject({ importance: 1, reward: expect.any(Number) });
  });

  test("diversity lets what was said already wait", async () => {
    const items = {
      a: "green tea green tea at home",
      b: "green tea green tea at home",
      c: "tea ceremony in Kyoto with my long absent aunt",
    };
    await open({ ranking: { mode: "text" } }, items);
    expect(await keys("green tea")).toEqual(["a", "b", "c"]);
    const hits = await store.search(N, {
      query: "green tea",
      ranking: { diversity: 1 },
      explain: true,
    });
    expect(keysOf(hits)).toEqual(["a", "c", "b"]);
    expect(hits[2].explain.diversity).toBeCloseTo(0);
  });

  test("what a search leaves out of its ranking is the store's, option by option", async () => {
    const items = { old: { text: "green tea" }, rain: { text: "rain" } };
    await open({ ranking: { mode: "text", recency: 1, halfLifeDays: 14, minScore: 0.1 } }, items);
    now += 14 * DAY;
    await store.put(N, "young", { text: "green tea" });
    const scores = async (options) => {
      const hits = await store.search(N, { query: "tea", ...options });
      return Object.fromEntries(hits.map(({ key, score }) => [key, score]));
    };
    const ratio = ({ old, young }) => old / young;
    expect(ratio(await scores({}))).toBeCloseTo(0.5);
    expect(ratio(await scores({ ranking: {} }))).toBeCloseTo(0.5);
    expect(ratio(await scores({ ranking: { recency: undefined } }))).toBeCloseTo(0.5);
    expect(ratio(await scores({ ranking: { halfLifeDays: 7 } }))).toBeCloseTo(0.25);
    expect(ratio(await scores({ ranking: { recency: 0 } }))).toBe(1);
    expect(await scores({ ranking: { minScore: 0.99 } })).toEqual({});
    // What is no question has no scores, and neither has a search for what contains a text.
    expect(keysOf(await store.search(N))).toHaveLength(3);
    expect(await keys("tea", { ranking: { mode: "contains" } })).toHaveLength(2);
  });

  test("weights of words that are the store's are left out of searches by vector", async () => {
    await open({ index, ranking: { mode: "hybrid", recency: 1, boosts: { importance: 1 } } });
    await store.put(N, "tea", { text: "green tea" });
    expect(await keys("tea", { ranking: { mode: "vector" } })).toEqual(["tea"]);
    const near = { query: undefined, near: [1, 0, 0.3], ranking: { mode: "auto" } };
    expect(keysOf(await store.search(N, near))).toEqual(["tea"]);
    await expect(
      store.search(N, { query: "tea", ranking: { mode: "vector", recency: 1 } }),
    ).rejects.toMatchObject({ code: "invalid_argument" });
  });

  test("minScore leaves out what scores less, in every mode with scores", async () => {
    await open({ index }, { tea: "green tea", rain: "rain", none: { x: 1 } });
    expect(await keys("tea", { ranking: { minScore: 0.5 } })).toEqual(["tea"]);
    expect(await keys("tea", { ranking: { mode: "hybrid", minScore: 0.3 } })).toEqual(["tea"]);
    expect(await keys("tea", { ranking: { mode: "text", minScore: 0.99 } })).toEqual([]);
  });

  test("a hybrid search explains itself; vectorWeight and fusion change what counts", async () => {
    await open(
      { index, ranking: { mode: "hybrid" } },
      {
        tea: "green tea",
        leaves: "a cup of tea leaves",
        rain: "rain in May",
      },
    );
    const [hit] = await store.search(N, { query: "green tea", explain: true });
    expect(hit.key).toBe("tea");
    expect(Object.keys(hit.explain)).toEqual(["words", "context", "cues", "vector", "agreement"]);
    expect(hit.plan).toMatch(/^words and vectors: \d+ candidates of 3 items; vectors: /);
    const [first] = await store.search(N, {
      query: "green tea",
      ranking: { fusion: "reciprocalRank" },
    });
    expect(first.key).toBe("tea");
    expect(first.score).toBeGreaterThan(0.9); // 1 is the first of both rankings
    const words = await store.search(N, { query: "green tea", ranking: { mode: "text" } });
    const weightless = await store.search(N, { query: "green tea", ranking: { vectorWeight: 0 } });
    expect(weightless[0].score).toBeCloseTo(words[0].score);
  });

  test("an embedder that knows nothing leaves the words' answer, one that knows words counts", async () => {
    let seed = 1;
    const random = () => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return seed / 2 ** 32 - 0.5;
    };
    const dims = 24;
    const noise = () => Array.from({ length: dims }, random);
    const words = Array.from({ length: 30 }, (_, i) => `word${i}`);
    const meaning = new Map(words.map((word) => [word, noise()]));
    const knowing = (text) =>
      noise().map((x, d) =>
        text.split(" ").reduce((sum, word) => sum + (meaning.get(word)?.[d] ?? 0), x / 2),
      );
    const items = Object.fromEntries(
      Array.from({ length: 80 }, (_, i) => [
        `${i}`,
        Array.from({ length: 4 }, () => words[Math.floor((random() + 0.5) * 30)]).join(" "),
      ]),
    );
    const query = "word3 word4";
    const search = (mode, explain) =>
      store.search(N, { query, ranking: { mode }, explain, limit: 80 });

    await open({ index: { ...index, dims, embeddings: (texts) => texts.map(noise) } }, items);
    const scores = (hits) => hits.map(({ key, score }) => [key, score]);
    expect(scores(await search("hybrid"))).toEqual(scores(await search("text")));
    const [ignored] = await search("hybrid", true);
    expect(ignored.explain.agreement ?? 0).toBe(0);
    expect(ignored.plan).toContain("by words alone: their vectors know nothing of them");
    const absent = Object.keys(items).find((key) => !/word[34]\b/.test(items[key]));
    const why = await store.whyNot(N, absent, { query, ranking: { mode: "hybrid" }, limit: 80 });
    expect(why.reason).toBe("noMatch");

    await open({ index: { ...index, dims, embeddings: (texts) => texts.map(knowing) } }, items);
    const hits = await search("hybrid", true);
    expect(hits.length).toBeGreaterThan((await search("text")).length);
    expect(hits.find(({ explain }) => "vector" in explain).explain.agreement).toBe(1);
    expect(hits[0].plan).not.toContain("by words alone");
  });

  test("near finds by an item and by a vector", async () => {
    await open({ index }, { tea: "green tea", leaves: "tea leaves", rain: "rain in May" });
    const near = { namespace: N, key: "tea" };
    expect(keysOf(await store.search(N, { near }))).toEqual(["leaves", "rain"]);
    expect(keysOf(await store.search(N, { near, ranking: { minScore: 0.9 } }))).toEqual(["leaves"]);
    for (const vector of [[0, 1, 0], Float32Array.of(0, 1, 0)]) {
      expect(keysOf(await store.search(N, { near: vector, limit: 1 }))).toEqual(["rain"]);
    }
    const why = await store.whyNot(N, "rain", { near, limit: 1 });
    expect(why).toMatchObject({ reason: "notOnPage", rank: 1 });
  });

  test("whyNot knows every reason", async () => {
    await open(
      { ranking: { mode: "text" } },
      {
        a: { text: "green tea", n: 1 },
        b: { text: "green tea and a cake", n: 2 },
        c: { text: "rain", n: 3 },
      },
    );
    const why = async (key, options) =>
      (await store.whyNot(N, key, { query: "green tea", ...options })).reason;
    expect(await why("a")).toBe("hit");
    expect(await why("missing")).toBe("noItem");
    expect(await why("c")).toBe("noMatch");
    expect(await why("a", { filter: { n: 2 } })).toBe("filter");
    expect(await why("a", { ranking: { minScore: 0.99 } })).toBe("belowMinScore");
    const { reason, rank, score, lastScore, explain } = await store.whyNot(N, "b", {
      query: "green tea",
      limit: 1,
    });
    expect({ reason, rank }).toEqual({ reason: "notOnPage", rank: 1 });
    expect(lastScore).toBeGreaterThan(score);
    expect(explain.words).toBeGreaterThan(0);
    const elsewhere = await store.whyNot(["m"], { namespace: N, key: "a" }, { query: "tea" });
    expect(elsewhere.reason).toBe("outsideNamespace");
  });

  test.each([{ recency: 0.5 }, { boosts: { importance: 1 } }, { diversity: 1 }, { snippet: true }])(
    "%j is of searches by words",
    async ({ snippet, ...weights }) => {
      const by = (mode) => ({ ranking: { mode, ...weights }, snippet });
      await open({}, { a: "green tea", b: "tea" });
      await expect(store.search(N, { query: "tea", ...by("contains") })).rejects.toMatchObject({
        code: "invalid_argument",
        message: expect.stringContaining("modes text and hybrid"),
      });
      expect(await store.search(N, { query: "tea", ...by("text") })).toHaveLength(2);
      expect(await store.search(N, by())).toHaveLength(2);
    },
  );

  test.each([
    [{ vectorWeight: 2 }, "vectorWeight"],
    [{ recency: -1 }, "recency"],
    [{ diversity: 1.5 }, "diversity"],
    [{ halfLifeDays: 1e300 }, "halfLifeDays"],
    [{ halfLifeDays: 1e-9 }, "halfLifeDays"],
    [{ minScore: Number.NaN }, "minScore"],
  ])("%j is refused by its name", async (ranking, name) => {
    await open({}, { a: "tea" });
    await expect(
      store.search(N, { query: "tea", ranking: { mode: "text", ...ranking } }),
    ).rejects.toMatchObject({ code: "invalid_argument", message: expect.stringContaining(name) });
  });

  test("contains finds text in any case, and what JSON escapes", async () => {
    const text = 'Über ÉCOLE МОСКВА C:\\dir "quoted"\nnext';
    await open({}, { a: text, b: "plain" });
    const found = async (query) =>
      (await store.search(N, { query, ranking: { mode: "contains" } })).map(({ key }) => key);
    const queries = ["über", "école", "москва", "ÜBER", "C:\\dir", 'r "Quoted"', 'd"\nnext'];
    for (const query of [...queries, '"quoted"', '"text":"über']) {
      expect([query, await found(query)]).toEqual([query, ["a"]]);
    }
    expect(await found("D:\\dir")).toEqual([]);
  });

  test("a query that only names of fields contain has no hits", async () => {
    await open({}, { a: "Flight on Monday", b: "zebra" });
    const found = async (query, mode) =>
      (await store.search(N, { query, ranking: { mode } })).map(({ key }) => key);
    for (const mode of ["auto", "contains"]) {
      expect(await found("te", mode)).toEqual([]);
      expect(await found("ext", mode)).toEqual([]);
      expect(await found("zeb", mode)).toEqual(["b"]);
    }
  });

  test("limit: Infinity with an offset leaves out so many", async () => {
    const texts = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`k${i}`, `tea ${i}`]));
    const index = { dims: 2, fields: ["text"], embeddings: (all) => all.map((t) => [t.length, 1]) };
    await open({ index }, texts);
    for (const mode of ["vector", "text", "hybrid", "contains"]) {
      const options = {
        query: "tea",
        ranking: { mode },
        limit: Number.POSITIVE_INFINITY,
        offset: 1,
      };
      expect([mode, (await store.search(N, options)).length]).toEqual([mode, 29]);
    }
  });

  test("a snippet is about as long as was asked for, and marks what was found", async () => {
    const text = `${"\u{1f600} Long ago ".repeat(30)}we drank green tea in K\u00f6ln${" and so on".repeat(30)}`;
    await open({ ranking: { mode: "text" } }, { a: text });
    for (const [query, found] of [
      ["tea", "tea"],
      ["koln", "K\u00f6ln"],
    ]) {
      const [{ snippet }] = await store.search(N, { query, snippet: 80 });
      expect(snippet.text.length).toBeLessThan(140);
      expect(snippet.highlights.map(([from, to]) => snippet.text.slice(from, to))).toEqual([found]);
    }
  });

  test.each([{}, { recency: 0.5 }, { diversity: 0.5 }])(
    "pages with %j are parts of the whole",
    async (ranking) => {
      const items = Array.from({ length: 25 }, (_, i) => [`k${i}`, `tea ${"x ".repeat(i)}`]);
      await open({ ranking: { mode: "text" } }, Object.fromEntries(items));
      const all = await keys("tea", { limit: 25, ranking });
      const pages = [];
      for (let offset = 0; offset < 25; offset += 5) {
        pages.push(...(await keys("tea", { limit: 5, offset, ranking })));
      }
      expect(pages).toEqual(all);
      expect(new Set(all).size).toBe(25);
    },
  );

  test.each([
    ["vectorWeight", 2],
    ["recency", -1],
    ["diversity", 5],
    ["minScore", "a"],
    ["halfLifeDays", 0],
    ["boosts", 5],
    ["fusion", "sum"],
    ["snippet", -3],
  ])("%s of %j is refused", async (name, value) => {
    await open({ ranking: { mode: "text" } });
    const options = name === "snippet" ? { snippet: value } : { ranking: { [name]: value } };
    const search = store.search(N, { query: "x", ...options });
    await expect(search).rejects.toMatchObject({ code: "invalid_argument" });
  });
});

describe.each([
  ["InMemoryStore", () => new InMemoryStore()],
  ["SqliteStore", () => new SqliteStore({ path: ":memory:" })],
])("%s: a first search of many texts", (_, make) => {
  test("lets others run meanwhile, and finds what is there", async () => {
    const store = make();
    const text = (i) => `note ${i} ${"of tea, coal and rain in the harbour ".repeat(5)}`;
    await store.batch(
      Array.from({ length: 1500 }, (_, i) => ({
        namespace: N,
        key: `k${i}`,
        value: { text: text(i) },
      })),
    );
    let turns = 0;
    const timer = setInterval(() => turns++);
    const hits = await store.search(N, { query: "note 1234" });
    clearInterval(timer);
    expect(hits[0].key).toBe("k1234");
    expect(turns).toBeGreaterThan(3);
    await store.close();
  });

  test("is one of several calls that are asked for at once", async () => {
    const store = make();
    const long = "tea and coal ".repeat(400);
    for (let i = 0; i < 40; i++) await store.put(N, `k${i}`, { text: `${long} n${i}` });
    const [first, again, got, both] = await Promise.all([
      store.search(N, { query: "n7" }),
      store.search(N, { query: "n8" }),
      store.get(N, "k9"),
      store.batch([
        { namespacePrefix: N, query: "n10" },
        { namespace: N, key: "new", value: { text: "samovar" } },
      ]),
    ]);
    expect([first[0].key, again[0].key, got.key, both[0][0].key]).toEqual([
      "k7",
      "k8",
      "k9",
      "k10",
    ]);
    expect(keysOf(await store.search(N, { query: "samovar" }))).toEqual(["new"]);
    await store.close();
  });
});

describe.each([
  ["InMemoryStore", (options) => new InMemoryStore(options)],
  ["SqliteStore", (options) => new SqliteStore({ path: ":memory:", ...options })],
])("%s: how far away a day is", (_, make) => {
  const now = () => Date.UTC(2023, 4, 10, 12);

  test("a question means days as of now", async () => {
    const store = make({ now });
    for (const [key, date] of Object.entries({
      yesterday: "2023-05-09",
      week: "2023-05-03",
      month: "2023-04-12",
      year: "2022-08-01",
    })) {
      await store.put(N, key, { text: "I was swimming", date });
    }
    const first = async (query) => (await store.search(N, { query }))[0]?.key;
    expect(await first("What did I do yesterday?")).toBe("yesterday");
    expect(await first("When was I swimming last week?")).toBe("week");
    expect(await first("Was war letzten Monat?")).toBe("month");
    expect(await first("去年")).toBe("year");
    await store.close();
  });

  test("numbers and compounds are read as they are meant", async () => {
    const store = make({ now });
    for (const [key, text] of Object.entries({
      phone: "call +49 170 1234567",
      price: "it costs 1.250 euros",
      street: "in der Hauptstraße",
    })) {
      await store.put(N, key, { text });
    }
    const first = async (query) => (await store.search(N, { query }))[0]?.key;
    expect(await first("+491701234567")).toBe("phone");
    expect(await first("0170 1234567")).toBe("phone");
    expect(await first("1,250")).toBe("price");
    expect(await first("strasse")).toBe("street");
    await store.close();
  });

  test("a filter that was asked before finds what was written since", async () => {
    const store = make({ now });
    const of = (i) => ({
      namespace: N,
      key: `k${i}`,
      value: { kind: i % 300 ? "common" : "rare" },
    });
    await store.batch(Array.from({ length: 900 }, (_, i) => of(i)));
    const rare = async () =>
      keysOf(await store.search(N, { filter: { kind: "rare" }, limit: 50 })).sort();
    for (let i = 0; i < 3; i++) expect(await rare()).toEqual(["k0", "k300", "k600"]);
    await store.put(N, "k1", { kind: "rare" });
    await store.put(N, "k300", { kind: "common" });
    await store.delete(N, "k600");
    expect(await rare()).toEqual(["k0", "k1"]);
    await store.close();
  });
});
