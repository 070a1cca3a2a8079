// Files that are not as they were written: what is read is right or `corrupt`, a check says what
// is wrong, and a salvage keeps what can be read.

import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import BetterSqlite3 from "better-sqlite3";
import { openMemory, salvageMemory } from "keepsake";
import { tenthOf, times } from "./support/effort.mjs";
import { expectRefused } from "./support/refusal.mjs";
import { sealed } from "./support/sums.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

const PAGE = 4096;
const ITEMS = 400;

afterAll(removeTemporaryFolders);

async function listOf(tuples) {
  const list = [];
  for await (const tuple of tuples) list.push(tuple);
  return list;
}

const idOf = (step) => `1ef4f797-8335-6428-8001-${String(step).padStart(12, "0")}`;

async function fill(memory) {
  const puts = Array.from({ length: ITEMS }, (_, i) => ({
    namespace: ["users", i % 2 === 0 ? "ada" : "bo"],
    key: `k${i}`,
    value: { text: `marker-${i}-${"x".repeat(i % 40 === 0 ? 9000 : 150)}` },
  }));
  await memory.store.batch(puts);
  for (const thread_id of ["t1", "t2"]) {
    let config = { configurable: { thread_id, checkpoint_ns: "" } };
    for (let step = 0; step < 30; step++) {
      const messages = Array.from({ length: step + 1 }, (_, i) => `${thread_id} message ${i}`);
      const checkpoint = {
        v: 4,
        id: idOf(step),
        ts: "2026-11-24T00:00:00.000Z",
        channel_values: { messages },
        channel_versions: { messages: step + 1 },
        versions_seen: {},
      };
      const metadata = { source: "loop", step, parents: {} };
      config = await memory.checkpointer.put(config, checkpoint, metadata, { messages: step + 1 });
    }
  }
}

let whole;

async function bytesOfFilled(options) {
  const path = temporaryFile("whole.db");
  const memory = await openMemory({ path, ...options });
  await fill(memory);
  await memory.close();
  return readFileSync(path);
}

beforeAll(async () => {
  whole = await bytesOfFilled({});
});

// A file with bytes changed.
function fileWith(change, original = whole) {
  const path = temporaryFile("damaged.db");
  const bytes = Buffer.from(original);
  change(bytes);
  writeFileSync(path, bytes);
  return path;
}

const pageOf = (text) => Math.floor(whole.indexOf(text) / PAGE) + 1;
const damage = (page) => fileWith((bytes) => (bytes[(page - 1) * PAGE + 2000] ^= 1));

// Everything that the memory answers, or an error's code.
async function answersOf(path, options) {
  const answers = [];
  const note = async (call) => {
    try {
      answers.push(String(JSON.stringify(await call())));
    } catch (error) {
      answers.push(`error ${error.code}`);
    }
  };
  let memory;
  await note(async () => {
    memory = await openMemory({ path, ...options });
  });
  if (memory === undefined) return answers;
  const { store, checkpointer } = memory;
  await note(() => store.listNamespaces());
  await note(() => store.search(["users"], { limit: 1000 }));
  await note(() => store.search(["users"], { query: "marker 17" }));
  for (let i = 0; i < ITEMS; i += 7) {
    await note(() => store.get(["users", i % 2 === 0 ? "ada" : "bo"], `k${i}`));
  }
  for (const thread_id of ["t1", "t2"]) {
    await note(() => checkpointer.getTuple({ configurable: { thread_id } }));
    await note(() => listOf(checkpointer.list({ configurable: { thread_id } })));
  }
  await note(() => memory.close());
  return answers;
}

test("with verifyPages, a damaged page is `corrupt` for the calls that need it, and for no others", async () => {
  const page = pageOf("marker-200-");
  const memory = await openMemory({ path: damage(page), verifyPages: true });
  await expectRefused(
    () => memory.store.search(["users"], { limit: 1000 }),
    "corrupt",
    /page \d+ does not match its checksum: the file is damaged, or/,
  );
  const tuple = await memory.checkpointer.getTuple({ configurable: { thread_id: "t1" } });
  expect(tuple.checkpoint.channel_values.messages).toHaveLength(30);
  await memory.close();
});

const flipsOf = ({ key }) => times(key ? 150 : 300);

test.each([
  ["with verifyPages", { verifyPages: true }],
  ["with a key", { key: new Uint8Array(32).fill(7) }],
])(
  "%s, a flipped bit is never a wrong answer",
  async (_, options) => {
    const original = await bytesOfFilled(options);
    const expected = await answersOf(
      fileWith(() => {}, original),
      options,
    );
    expect(expected.filter((answer) => answer.startsWith("error"))).toEqual([]);
    let seed = 20261124;
    const random = (below) => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31;
      return seed % below;
    };
    const flips = flipsOf(options);
    let noticed = 0;
    for (let i = 0; i < flips; i++) {
      const at = random(original.length);
      const bit = random(8);
      const path = fileWith((bytes) => {
        bytes[at] ^= 1 << bit;
      }, original);
      const found = await answersOf(path, options);
      const wrong = found.filter(
        (answer, n) => !answer.startsWith("error") && answer !== expected[n],
      );
      expect({ at, bit, wrong }).toEqual({ at, bit, wrong: [] });
      if (found.some((answer) => answer.startsWith("error"))) noticed++;
    }
    expect(noticed).toBeGreaterThan(flips / 3);
  },
  60_000 + 500 * flipsOf({}),
);

test("a check reads every page, says how far it is, and what damaged ones hold", async () => {
  await using memory = await openMemory({ path: fileWith(() => {}) });
  const steps = [];
  const report = await memory.check({ onProgress: (step) => steps.push(step) });
  expect(report).toEqual({ isOk: true, pages: whole.length / PAGE, damagedPages: [] });
  expect(steps.at(-1)).toEqual({ done: report.pages, total: report.pages });

  const page = pageOf("marker-200-");
  await using damaged = await openMemory({ path: damage(page) });
  expect(await damaged.check()).toMatchObject({
    isOk: false,
    damagedPages: [{ page, heldBy: "store_kv" }],
  });
  const signal = AbortSignal.abort();
  await expect(damaged.check({ signal })).rejects.toMatchObject({ name: "AbortError" });
  await expectRefused(() => damaged.check({ accept: true }), "invalid_argument", /acceptPages/);
});

test("pages that another program wrote are accepted when that is asked for", async () => {
  const path = fileWith(() => {});
  const other = new BetterSqlite3(path);
  other.prepare("UPDATE store_kv SET value = ? WHERE key = 'k201'").run('{"text":"by hand"}');
  other.close();
  await using memory = await openMemory({ path });
  const { damagedPages } = await memory.check();
  expect(damagedPages).toMatchObject([{ heldBy: "store_kv" }]);
  expect(await memory.check({ acceptPages: true })).toMatchObject({ isOk: true });
  expect(await memory.check()).toMatchObject({ isOk: true });
  expect((await memory.store.get(["users", "bo"], "k201")).value).toEqual({ text: "by hand" });
});

test("a memory in memory has no pages to check", async () => {
  await using memory = await openMemory({ path: ":memory:" });
  expect(await memory.check()).toEqual({ isOk: true, pages: 0, damagedPages: [] });
});

test("a salvage keeps what can be read, and names what is lost", async () => {
  const to = temporaryFile("salvaged.db");
  await using memory = await openMemory({ path: damage(pageOf("marker-201-")) });
  const report = await memory.salvage({ path: to });
  expect(report.lostItemCount).toBeGreaterThan(0);
  expect(report.items + report.lostItemCount).toBe(ITEMS);
  expect(report.lostItems).toContainEqual({ namespace: ["users", "bo"], key: "k201" });
  expect(report).toMatchObject({ checkpoints: 60, lostCheckpoints: [] });

  await using salvaged = await openMemory({ path: to });
  expect(await salvaged.check()).toMatchObject({ isOk: true });
  const items = await salvaged.store.search(["users"], { limit: 1000 });
  expect(items).toHaveLength(report.items);
  for (const { key, value } of items) expect(value.text).toContain(`marker-${key.slice(1)}-`);
  expect(await salvaged.store.search(["users"], { query: "marker 17" })).not.toHaveLength(0);
  const threads = await listOf(salvaged.checkpointer.listThreads());
  expect(threads.map(({ threadId }) => threadId).sort()).toEqual(["t1", "t2"]);
});

// All pages where the text stands, those of the past too.
function damageAll(text) {
  return fileWith((bytes) => {
    for (let at = whole.indexOf(text); at >= 0; at = whole.indexOf(text, at + 1)) {
      bytes[(Math.floor(at / PAGE) + 1) * PAGE - 1] ^= 1;
      at = (Math.floor(at / PAGE) + 1) * PAGE;
    }
  });
}

// One that holds values of threads.
async function contentPage() {
  await using memory = await openMemory({ path: damageAll("t1 message") });
  const { damagedPages } = await memory.check();
  return damagedPages.find(({ heldBy }) => heldBy === "content").page;
}

test("of checkpoints those go of which a part is lost", async () => {
  const to = temporaryFile("salvaged.db");
  const report = await salvageMemory(damage(await contentPage()), { path: to });
  expect(report.lostCheckpointCount).toBeGreaterThan(0);
  expect(report.items).toBe(ITEMS);
  await using salvaged = await openMemory({ path: to });
  for (const thread_id of ["t1", "t2"]) {
    const kept = await listOf(salvaged.checkpointer.list({ configurable: { thread_id } }));
    for (const { checkpoint, metadata } of kept) {
      expect(checkpoint.channel_values.messages).toHaveLength(metadata.step + 1);
    }
  }
});

describe("a salvage of what items were, and of who wrote", () => {
  const START = Date.UTC(2026, 10, 25);
  const WRITES = 500;
  const KEYS = 20;
  // One a second; in between, an item is deleted.
  const timeOf = (write) => START + 1000 * (write + 1);
  const keys = Array.from({ length: KEYS }, (_, i) => `k${i}`);
  let original;
  let expected;

  // The salvage itself is told as an import.
  const entriesOf = async (memory) =>
    (await memory.auditLog({ limit: 10_000 })).filter(({ operation }) => operation !== "import");

  async function historyOf({ store }) {
    const all = [];
    for (const key of keys) {
      for (const { operation, change, value } of await store.history(["n"], key, { limit: 1000 })) {
        all.push(`${key} ${operation} ${change} ${value?.write}`);
      }
    }
    return all;
  }

  async function pastOf(memory) {
    const all = [];
    for (let write = 0; write < WRITES; write += 3) {
      const then = memory.asOf(timeOf(write));
      for (const key of [keys[write % KEYS], keys[(write * 7) % KEYS]]) {
        const answer = await then.get(["n"], key).catch(({ code }) => code);
        all.push(typeof answer === "string" ? answer : (answer?.value.write ?? "nothing"));
      }
    }
    return all;
  }

  async function answersIn(path) {
    await using memory = await openMemory({ path, now: () => timeOf(WRITES) });
    return {
      history: await historyOf(memory),
      past: await pastOf(memory),
      entries: (await entriesOf(memory)).map((entry) => JSON.stringify(entry)),
    };
  }

  beforeAll(async () => {
    const path = temporaryFile();
    let write = 0;
    const memory = await openMemory({ path, now: () => timeOf(write) });
    await memory.store.keepHistory([], { maxVersions: 1000 });
    await memory.keepAudit();
    for (; write < WRITES; write++) {
      const key = keys[write % KEYS];
      const value = { write, text: "x".repeat(100 + (write % 300)) };
      if (write % 17 === 16) await memory.store.delete(["n"], key);
      else await memory.store.put(["n"], key, value);
    }
    await memory.close();
    original = readFileSync(path);
    expected = await answersIn(path);
  });

  // By what holds them.
  let pages;

  async function pagesOf(held) {
    pages ??= await pagesByHolder();
    return pages[held];
  }

  async function pagesByHolder() {
    const found = {};
    for (let page = 29; page <= original.length / PAGE; page++) {
      await using memory = await openMemory({ path: withPage(page) });
      const { damagedPages } = await memory.check();
      const held = damagedPages[0]?.heldBy;
      found[held] ??= [];
      found[held].push(page);
    }
    return found;
  }

  // What was before all known versions has no operation.
  const isTold = (version) =>
    version.includes("undefined earlier ")
      ? expected.history.some((known) => known.endsWith(version.replace(/.* earlier/, "put")))
      : expected.history.includes(version);

  const withPage = (page) => fileWith((bytes) => (bytes[page * PAGE - 1] ^= 1), original);

  async function salvagedOf(page) {
    const to = temporaryFile("salvaged.db");
    const report = await salvageMemory(withPage(page), { path: to });
    return { report, ...(await answersIn(to)) };
  }

  test("brings all of them over, if none is damaged", async () => {
    const to = temporaryFile("salvaged.db");
    await salvageMemory(
      fileWith(() => {}, original),
      { path: to },
    );
    expect(await answersIn(to)).toEqual(expected);
    expect(expected.history).toHaveLength(WRITES);
    expect(expected.past).not.toContain("no_history");
  });

  test("names the page that versions are lost with, and tells nothing wrong of the past", async () => {
    const pages = await pagesOf("store_versions");
    expect(pages.length).toBeGreaterThan(20);
    let noHistory = 0;
    for (const page of tenthOf(pages, 0)) {
      const { report, history, past, entries } = await salvagedOf(page);
      expect(report.damagedPages).toEqual([{ page, heldBy: "store_versions" }]);
      const untrue = history.filter((version) => !isTold(version));
      expect({ page, untrue }).toEqual({ page, untrue: [] });
      const wrong = past.filter(
        (answer, i) => answer !== expected.past[i] && answer !== "no_history",
      );
      expect({ page, wrong }).toEqual({ page, wrong: [] });
      noHistory += past.filter((answer) => answer === "no_history").length;
      expect(history.length).toBeGreaterThan(0);
      expect(entries).toEqual(expected.entries);
    }
    expect(noHistory).toBeGreaterThan(0);
  });

  test("names the page that entries are lost with, and keeps all others", async () => {
    const pages = await pagesOf("audit_log");
    const lost = [];
    for (const page of pages) {
      const { report, history, past, entries } = await salvagedOf(page);
      expect(report.damagedPages).toEqual([{ page, heldBy: "audit_log" }]);
      expect({ history, past }).toEqual({ history: expected.history, past: expected.past });
      expect(entries.filter((entry) => !expected.entries.includes(entry))).toEqual([]);
      lost.push(...expected.entries.filter((entry) => !entries.includes(entry)));
    }
    // Each entry lies on a page.
    expect(new Set(lost)).toEqual(new Set(expected.entries));
  });
});

test("a file that does not open is salvaged by its path, and by its bytes", async () => {
  const path = damage(1);
  const opened = () => openMemory({ path, verifyPages: true });
  await expectRefused(opened, "corrupt", /page 1 does not match/);
  for (const source of [path, readFileSync(path)]) {
    const to = temporaryFile("salvaged.db");
    const report = await salvageMemory(source, { path: to });
    expect(report).toMatchObject({ items: ITEMS, checkpoints: 60 });
  }
});

test("of a file that was emptied, what its log has is salvaged", async () => {
  const path = temporaryFile();
  const lost = temporaryFile("emptied.db");
  const open = await openMemory({ path });
  await open.store.put(["n"], "k", { n: 1 });
  copyFileSync(`${path}-wal`, `${lost}-wal`);
  await open.close();
  writeFileSync(lost, "");
  const to = temporaryFile("salvaged.db");
  expect(await salvageMemory(lost, { path: to })).toMatchObject({ items: 1 });
  await using salvaged = await openMemory({ path: to });
  expect((await salvaged.store.get(["n"], "k")).value).toEqual({ n: 1 });
});

test.each([0, 1, 99, 100, 4095])("of %i bytes there is nothing to salvage", async (size) => {
  const rule = /no table of keepsake can be read in the file/;
  const path = temporaryFile();
  writeFileSync(path, whole.subarray(0, size));
  for (const source of [path, readFileSync(path)]) {
    const into = { path: temporaryFile("new.db") };
    await expectRefused(() => salvageMemory(source, into), "foreign_file", rule);
  }
});

test("a salvage goes into a new memory, from a file of ours", async () => {
  const path = fileWith(() => {});
  const taken = temporaryFile("taken.db");
  const memory = await openMemory({ path: taken });
  await memory.store.put(["a"], "k", { n: 1 });
  await memory.close();
  await expectRefused(() => salvageMemory(path, { path: taken }), "invalid_argument", /be new/);
  const into = { path: temporaryFile("new.db") };
  await expectRefused(() => salvageMemory(Buffer.alloc(9000, 7), into), "foreign_file");
});

test("a file has the checksums that its format says", () => {
  expect(sealed(whole).equals(whole)).toBe(true);
});
