// Who may set what (docs/trust.md): a setting belongs to the memory, to a caller, or to a call.

import { openMemory } from "keepsake";
import { memoryOver } from "keepsake/sqlite";
import { libraries } from "./support/connections.mjs";
import { times } from "./support/effort.mjs";
import { differenceOfSettings, INDEXES, TEXT_OPTIONS } from "./support/settings.mjs";
import { temporaryFile } from "./support/temporary.mjs";

const HOUR = 60;

/** Memories of one database: in a file, and over a connection. */
const databases = {
  file: () => {
    const path = temporaryFile();
    return (options) => openMemory({ path, ...options });
  },
  connection: () => {
    const connection = libraries["better-sqlite3"](temporaryFile());
    return async (options) => memoryOver(connection, options);
  },
};

describe.each(Object.entries(databases))("two callers of one memory, %s:", (_name, make) => {
  let time;
  let open;
  let opened;

  beforeEach(() => {
    time = 1_800_000_000_000;
    const openOne = make();
    opened = [];
    open = async (options) => {
      const memory = await openOne({ now: () => time, ...options });
      opened.push(memory);
      return memory;
    };
  });

  afterEach(async () => {
    for (const memory of opened) await memory.close();
  });

  const pass = (minutes) => {
    time += minutes * 60_000;
  };

  test("each has its own ttl, whoever came last", async () => {
    const none = await open();
    await none.store.put(["n"], "before", {});
    const short = await open({ ttl: { defaultTtl: 1 } });
    const long = await open({ ttl: { defaultTtl: HOUR, refreshOnRead: false } });
    for (const [name, { store }] of Object.entries({ none, short, long }))
      await store.put(["n"], name, {});
    expect(await none.store.listKeys(["n"])).toEqual(["before", "long", "none", "short"]);
    pass(1);
    expect(await long.store.listKeys(["n"])).toEqual(["before", "long", "none"]);
    pass(HOUR - 2);
    // Of the two that read, one restarts what it reads.
    await long.store.get(["n"], "long");
    await long.store.put(["n"], "read", {}, undefined, { ttl: 2 });
    pass(1);
    await short.store.get(["n"], "read");
    expect(await short.store.listKeys(["n"])).toEqual(["before", "none", "read"]);
    pass(1);
    expect(await short.store.listKeys(["n"])).toEqual(["before", "none", "read"]);
    pass(100 * HOUR);
    expect(await short.store.listKeys(["n"])).toEqual(["before", "none"]);
  });

  test("a call wins over its caller's ttl", async () => {
    const { store } = await open({ ttl: { defaultTtl: 2, refreshOnRead: false } });
    await store.put(["n"], "k", {});
    await store.put(["n"], "ever", {}, undefined, { ttl: null });
    pass(1);
    await store.get(["n"], "k", { refreshTtl: true });
    pass(1.5);
    expect(await store.listKeys(["n"])).toEqual(["ever", "k"]);
  });

  test("a policy caps what a caller has as its default", async () => {
    const memory = await open({ ttl: { defaultTtl: HOUR } });
    const { store } = memory.scoped({ user: "ada", policy: { maxTtl: 1 } });
    await store.put(["n"], "k", {});
    pass(1);
    expect(await store.listKeys(["n"])).toEqual([]);
    await expect(store.put(["n"], "k", {}, undefined, { ttl: 2 })).rejects.toMatchObject({
      code: "quota_exceeded",
    });
  });

  test("another index is refused, and the first one goes on", async () => {
    const [one, two] = INDEXES;
    const first = await open({ index: one });
    await first.store.put(["n"], "k", { text: "tea" });
    const second = async () => (await open({ index: { ...two, replace: true } })).store.stats();
    await expect(second()).rejects.toMatchObject({ code: "conflicting_options" });
    expect(await first.store.stats()).toMatchObject({ vectors: 1, pending: 0 });
    expect(
      await first.store.search(["n"], { query: "tea", ranking: { mode: "vector" } }),
    ).toHaveLength(1);
  });
});

const GROUPS = times(60);
const ROUNDS = 25;

test("random settings of two callers are answered as by two engines", async () => {
  for (let seed = 1; seed <= GROUPS; seed++) {
    const ofMemory = {
      index: [undefined, INDEXES[0]][seed % 2],
      text: [undefined, TEXT_OPTIONS[0]][(seed >> 1) % 2],
    };
    const paths = [0, 1, 2].map(() => temporaryFile());
    // What the memory has is the same, whoever asks it.
    const owners = [];
    for (const path of paths) owners.push(await openMemory({ path, ...ofMemory }));
    const differs = (name, given) => given !== undefined && given !== ofMemory[name];
    const difference = await differenceOfSettings({
      seed,
      rounds: ROUNDS,
      calls: 6,
      ofMemory,
      refusalOf: ({ options, durability }) =>
        durability !== "relaxed" || differs("index", options.index) || differs("text", options.text)
          ? "conflicting_options"
          : undefined,
      async open(which, user, { options, clock, policy, durability }) {
        const now = () => clock.time;
        const memory = await openMemory({ path: paths[which], durability, now, ...options });
        return { memory: memory.scoped({ user, policy }), close: () => memory.close() };
      },
    });
    expect([seed, difference]).toEqual([seed, ""]);
    for (const owner of owners) await owner.close();
  }
}, 120_000);
