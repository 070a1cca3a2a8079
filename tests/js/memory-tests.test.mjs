// `npx keepsake test`: the user's own tests of what a memory finds, keeps apart and forgets.

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { openMemory } from "keepsake";
import { keepsake, keepsakeWith } from "./support/command.mjs";
import { snippetsOf } from "./support/documentation.mjs";
import { projectRoot } from "./support/installed-package.mjs";
import { removeTemporaryFolders, temporaryFile, temporaryFolder } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const ada = { user: "ada" };
const bob = { user: "bob" };
const item = (key, text, more) => ({ key, value: { text }, ...more });

/** What `keepsake test` says of a file with this in it. */
function tested(content, ...words) {
  const file = temporaryFile("ada.test.json");
  writeFileSync(file, JSON.stringify(content));
  const { status, stdout, stderr } = keepsake("test", file, ...words, "--json");
  return { status, stderr, ...(stdout !== "" && JSON.parse(stdout)) };
}

/** The problems of one test over some items. */
function problemsOf(test, content) {
  const { status, tests, stderr } = tested({ ...content, tests: [test] });
  expect([status, stderr]).toEqual(
    tests[0].passed ? [0, ""] : [1, "keepsake: 1 of 1 test failed\n"],
  );
  return tests[0].problems;
}

const drinks = {
  scope: ada,
  namespace: "facts",
  items: [
    item("tea", "prefers green tea"),
    item("coffee", "drinks coffee in the office"),
    item("town", "lives in Ghent"),
  ],
};

describe("what is to be found", () => {
  test("is among the first hits, or is missed for a reason that is said", () => {
    expect(problemsOf({ found: { query: "green tea", keys: ["tea"] } }, drinks)).toEqual([]);
    const [problem] = problemsOf(
      { found: { query: "coffee or green tea", keys: ["tea", "coffee", "town", "milk"], k: 1 } },
      drinks,
    );
    expect(problem.expected).toMatch(/^\w+, town, milk, among the first 1 of user ada, facts$/);
    expect(problem.came).toHaveLength(1);
    expect(problem.came[0]).toMatch(/^1\. facts\/\w+ {2}\d\.\d+ {2}\{"text":".* {2}\(words \d/);
    expect(problem.why).toEqual([
      expect.stringMatching(/^facts\/\w+: others come first, it is number 2$/),
      "facts/town: no word of the question",
      "facts/milk: no such item",
    ]);
  });

  test("is what a filter, a time and a ranking leave", () => {
    const held = item("old", "green tea at noon", { validUntil: "2025-01-01" });
    const content = { ...drinks, items: [...drinks.items, held], now: "2026-01-01" };
    const found = (more) =>
      problemsOf({ found: { query: "tea", keys: ["old"], ...more } }, content);
    expect(found()[0].why).toEqual(["facts/old: does not hold now"]);
    expect(found({ validAt: "2024-01-01" })).toEqual([]);
    expect(found({ validAt: "anytime", filter: { text: "none" } })[0].why).toEqual([
      "facts/old: the filter refuses it",
    ]);
    expect(found({ validAt: "anytime", ranking: { minScore: 1 } })[0].why).toEqual([
      "facts/old: the score is too low, it is number 2",
    ]);
  });

  test("counts in recall and MRR, whatever each test asks for", () => {
    const { recall, tests } = tested({
      ...drinks,
      tests: [
        { found: { query: "green tea", keys: ["tea"], k: 1 } },
        { found: { query: "coffee", keys: ["coffee", "town"] } },
      ],
    });
    expect(recall).toEqual({ questions: 2, recall: 0.75, mrr: 1 });
    expect(tests.map(({ passed }) => passed)).toEqual([true, false]);
  });
});

test("what was superseded is not found, and its successor is", () => {
  const homes = (more) => ({
    namespace: "facts",
    now: "2026-01-01",
    items: [
      item("bern", "lives in Bern", { at: "2019-04-01" }),
      item("basel", "lives in Basel", { at: "2025-09-01", ...more }),
    ],
  });
  const moved = {
    superseded: { query: "where does she live? lives in", old: "bern", new: "basel" },
  };
  expect(problemsOf(moved, homes({ supersedes: "bern" }))).toEqual([]);
  const [both] = problemsOf(moved, homes());
  expect(both.expected).toBe("bern is not found");
  expect(both.why).toEqual(["bern: nothing superseded it"]);
  // From the time of the tests on, which is earlier than it is to begin.
  const later = homes({ supersedes: "bern", validFrom: "2026-05-01" });
  const problems = problemsOf(moved, later);
  expect(problems.map(({ why }) => why)).toEqual([
    ["facts/basel: does not hold now"],
    ["bern: it holds until 2026-05-01T00:00:00.000Z"],
  ]);
});

test("what nothing answers has no hit above a score", () => {
  const asks = (more) => problemsOf({ unanswered: { query: "green bicycles", ...more } }, drinks);
  expect(asks({ above: 0.9 })).toEqual([]);
  const [problem] = asks({ above: 0.01 });
  expect(problem.expected).toBe("no hit of 0.01 or more in user ada, facts");
  expect(problem.came[0]).toMatch(/^1\. facts\/tea {2}0\.\d+/);
  expect(problemsOf({ unanswered: { query: "bicycles" } }, drinks)).toEqual([]);
});

describe("what is to be hidden", () => {
  const two = {
    items: [
      item("tea", "prefers oolong", { scope: ada, namespace: "facts" }),
      item("tea", "hates tea", { scope: bob, namespace: "facts" }),
    ],
    conversations: [
      { scope: ada, thread: "monday", messages: [{ role: "user", content: "I like oolong" }] },
    ],
  };
  const fromBob = (more) => ({ hidden: { scope: ada, from: { scope: bob }, ...more } });

  test("is not seen from another scope, by search, get, filter or thread", () => {
    expect(problemsOf(fromBob({ texts: ["oolong"] }), two)).toEqual([]);
  });

  test("is seen from a place that is too wide, by each of its ways", () => {
    const [{ expected, came }] = problemsOf(fromBob({ from: {} }), two);
    expect(expected).toBe("nothing of user ada is seen from the whole memory");
    expect(came.map((line) => line.split(" ").slice(0, 3).join(" "))).toEqual([
      "by search: user/ada/facts/tea",
      "by filter: user/ada/facts/tea",
      "by get: user/ada/facts/tea",
      "by thread: user/ada/monday",
    ]);
    const [{ came: one }] = problemsOf(fromBob({ from: {}, by: ["thread"] }), two);
    expect(one).toHaveLength(1);
  });

  test("is not seen where a policy forbids to read it", () => {
    const support = { user: "ada", policy: { readable: [["open"]] } };
    const by = ["search", "filter", "get"];
    expect(problemsOf(fromBob({ from: { scope: support }, by }), two)).toEqual([]);
    const [{ came }] = problemsOf(fromBob({ from: { scope: support } }), two);
    expect(came).toEqual([expect.stringMatching(/^by thread: user\/ada\/monday /)]);
  });

  test("is seen by get where only a filter keeps users apart", () => {
    const shared = {
      namespace: "all",
      items: [
        { key: "1", value: { user: "ada", text: "prefers oolong" } },
        { key: "2", value: { user: "bob", text: "hates tea" } },
      ],
    };
    const test = { hidden: { filter: { user: "ada" }, from: { namespace: "all", filter: bob } } };
    const [{ came }] = problemsOf(test, shared);
    expect(came).toEqual([expect.stringMatching(/^by get: all\/1 /)]);
  });

  test("is seen in a copy that somebody else has", () => {
    const copied = item("guests", "Ada wants OOLONG", { scope: bob, namespace: "notes" });
    const content = { ...two, items: [...two.items, copied] };
    expect(problemsOf(fromBob(), content)).toEqual([]);
    const [{ came }] = problemsOf(fromBob({ texts: ["oolong"] }), content);
    expect(came[0]).toMatch(/^by search: user\/bob\/notes\/guests /);
  });

  test("must be there", () => {
    expect(problemsOf({ hidden: { scope: { user: "eve" }, from: { scope: bob } } }, two)).toEqual([
      { expected: "something that user eve may hide", came: ["nothing is there"], why: [] },
    ]);
  });
});

describe("what is to be forgotten", () => {
  const two = {
    items: [
      item("tea", "prefers oolong teapots", { scope: ada, namespace: "facts" }),
      item("town", "lives in Ghent", { scope: ada, namespace: "facts" }),
      item("tea", "hates all tea", { scope: bob, namespace: "facts" }),
    ],
    conversations: [
      { scope: ada, thread: "1", messages: [{ role: "user", content: "a talk about secrets" }] },
    ],
  };

  test("is gone from searches, threads and bytes", () => {
    const test = { forgotten: { scope: ada, queries: ["oolong"], texts: ["oolong", "Ghent"] } };
    expect(problemsOf(test, two)).toEqual([]);
    const part = { forgotten: { scope: ada, namespaces: ["facts"], filter: { text: "none" } } };
    expect(problemsOf(part, two)[0]).toMatchObject({
      expected: "something is forgotten of user ada",
    });
  });

  test("must have been there, and be found by nothing else", () => {
    const nobody = { forgotten: { scope: { user: "eve" } } };
    expect(problemsOf(nobody, two)[0].came).toEqual(["nothing was there, or all of it is still"]);
    const whole = { forgotten: { namespaces: ["user/ada"], queries: ["tea"], texts: ["all tea"] } };
    const [found, copies] = problemsOf(whole, two);
    expect(found.expected).toBe('"tea" finds nothing of the whole memory');
    expect(found.came[0]).toMatch(/^1\. user\/bob\/facts\/tea/);
    expect(copies).toMatchObject({ came: ["hates all tea"], why: ["others hold a copy of it"] });
  });

  test("is deleted only, by a program that deletes, and its bytes are told", () => {
    const file = temporaryFile("deleting.test.mjs");
    const content = (by) => `export default {
      items: ${JSON.stringify(two.items)},
      conversations: ${JSON.stringify(two.conversations)},
      tests: [{ forgotten: { by: ${by} } }],
    };`;
    const deletes =
      '(memory) => memory.scoped({ user: "ada" }).store.batch([{ namespace: ["facts"], key: "tea", value: null }])';
    writeFileSync(file, content(deletes));
    const { status, stdout } = keepsake("test", file);
    expect(status).toBe(1);
    expect(stdout).toContain('came      "prefers oolong teapots" is in the bytes of the memory\n');
    const receipt = temporaryFile("forgetting.test.mjs");
    writeFileSync(receipt, content('(memory) => memory.scoped({ user: "ada" }).forget()'));
    expect(keepsake("test", receipt)).toMatchObject({ status: 0 });
  });

  test("is there again, or has a receipt that somebody changed", () => {
    const file = temporaryFile("again.test.mjs");
    const by = `async (memory) => {
      const ada = memory.scoped({ user: "ada" });
      const receipt = await ada.forget();
      await ada.store.put(["facts"], "again", { text: "prefers mint" });
      return { ...receipt, erased: { ...receipt.erased, items: 7 } };
    }`;
    const items = JSON.stringify(two.items);
    writeFileSync(
      file,
      `export default { items: ${items}, tests: [{ forgotten: { by: ${by} } }] };`,
    );
    const [{ problems }] = JSON.parse(keepsake("test", file, "--json").stdout).tests;
    expect(problems).toEqual([
      { expected: "a genuine receipt", came: [expect.stringMatching(/"items":7/)], why: [] },
      {
        expected: "nothing is there under the same names",
        came: ["1 item and 0 threads"],
        why: [],
      },
    ]);
  });
});

test("turns of a conversation are items with their dates, if it names a namespace", () => {
  const talk = {
    thread: "monday",
    namespace: "talks",
    at: "2026-02-02T09:00Z",
    messages: [
      { role: "user", content: "I moved to Ghent" },
      { role: "assistant", content: "A fine town", at: "2026-02-03T09:00Z" },
    ],
  };
  const test = {
    found: { query: "Ghent", namespace: "talks", keys: ["monday:0"], filter: { role: "user" } },
  };
  expect(problemsOf(test, { conversations: [talk] })).toEqual([]);
  const later = { found: { ...test.found, filter: { date: { $gt: "2026-02-03" } } } };
  expect(problemsOf(later, { conversations: [talk] })[0].why).toEqual([
    "talks/monday:0: the filter refuses it",
  ]);
});

test("time stands where a file says, also for what expires", () => {
  const content = (now) => ({
    now,
    namespace: "n",
    items: [item("draft", "a draft", { at: "2026-01-01", ttl: 60 })],
  });
  const test = { found: { query: "draft", keys: ["draft"] } };
  expect(problemsOf(test, content("2026-01-01T00:30Z"))).toEqual([]);
  expect(problemsOf(test, content("2026-01-01T02:00Z"))[0].why).toEqual(["n/draft: no such item"]);
});

describe("a module of options", () => {
  const vectors = `{
    dims: 2,
    fields: ["text"],
    embeddings: (texts) => texts.map((text) => [/tea|drink/, /town|lives/].map((form) => Number(form.test(text)) + .01)),
  }`;
  const meaning = {
    namespace: "n",
    items: [item("tea", "green tea"), item("town", "lives there")],
    tests: [{ found: { query: "drink", keys: ["tea"], k: 1, ranking: { mode: "vector" } } }],
  };
  const written = (text) => {
    const file = temporaryFile("memory.mjs");
    writeFileSync(file, text);
    return file;
  };

  test("brings the user's embedding model, however it exports it", () => {
    for (const text of [
      `export default { index: ${vectors} };`,
      `export const index = ${vectors};`,
      `export default async () => ({ index: ${vectors} });`,
    ]) {
      expect(tested(meaning, "--config", written(text))).toMatchObject({ status: 0, stderr: "" });
    }
    expect(tested(meaning).stderr).toMatch(/tests\[0\] of .*vector/);
  });

  test("has the options of openMemory() alone, without its place and clock", () => {
    for (const [text, message] of [
      ["export const rankin = {};", /unknown option \\"rankin\\" of .*did you mean \\"ranking\\"/],
      ["export const path = 'x.db';", /unknown option \\"path\\"/],
      ["export const now = () => 0;", /unknown option \\"now\\"/],
      ["export const ranking = { mode: 'x' };", /ranking.mode must be one of/],
      ["export default 7;", /memory.mjs must be an object: 7/],
      ["export {", /memory.mjs can't be loaded/],
    ]) {
      const { status, stderr } = tested(meaning, "--config", written(text));
      expect(stderr).toMatch(message);
      expect(status).toBe(2);
    }
    expect(tested(meaning, "--config", "none.mjs")).toMatchObject({ status: 1 });
  });
});

describe("a memory that is there", () => {
  const KEY = "told";
  const told = { found: { query: "told", scope: ada, namespace: "facts", keys: [KEY] } };

  test("is copied, and stays as it is", async () => {
    const path = temporaryFile("agent.db");
    const memory = await openMemory({ path });
    const { store } = memory.scoped(ada);
    await store.put(["facts"], KEY, { text: "told in secret" });
    await store.put(["facts"], "2", { text: "told in public" });
    await memory.close();
    const before = readFileSync(path);
    const content = { tests: [told, { forgotten: { scope: ada, texts: ["secret"] } }] };
    const temporary = temporaryFolder();
    const files = ["1.test.json", "2.test.json"].map((name) => join(temporaryFolder(), name));
    for (const file of files) writeFileSync(file, JSON.stringify(content));
    const words = ["test", ...files, "--memory", path];
    // What the first one forgets is there for the second.
    expect(keepsakeWith({ TMPDIR: temporary }, ...words)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/4 tests: 4 passed/),
    });
    expect(readdirSync(temporary)).toEqual([]);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(existsSync(`${path}-lock`)).toBe(false);
  });

  test("is copied with what is only in its log, and when nobody has it open", async () => {
    const path = temporaryFile("open.db");
    const memory = await openMemory({ path });
    await memory.scoped(ada).store.put(["facts"], KEY, { text: "told" });
    expect(tested({ tests: [told] }, "--memory", path)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/"code":"busy"/),
    });
    const killed = temporaryFile("killed.db");
    for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, killed + suffix);
    expect(statSync(`${killed}-wal`).size).toBeGreaterThan(0);
    await memory.close();
    expect(tested({ tests: [told] }, "--memory", killed)).toMatchObject({ status: 0 });
    expect(existsSync(`${killed}-wal`)).toBe(true);
  });

  test("has its key in the environment", async () => {
    const path = temporaryFile("sealed.db");
    const memory = await openMemory({ path, key: "a passphrase" });
    await memory.scoped(ada).store.put(["facts"], KEY, { text: "told" });
    await memory.close();
    const file = temporaryFile("ada.test.json");
    writeFileSync(file, JSON.stringify({ tests: [told] }));
    const call = ["test", file, "--memory", path];
    expect(keepsakeWith({ KEEPSAKE_KEY: "a passphrase" }, ...call)).toMatchObject({ status: 0 });
    expect(keepsake(...call).stderr).toMatch(/key_required/);
    // What is new is in memory, where nothing is encrypted.
    const fresh = temporaryFile("fresh.test.json");
    writeFileSync(fresh, JSON.stringify({ tests: [{ unanswered: { query: "x" } }] }));
    expect(keepsakeWith({ KEEPSAKE_KEY: "a passphrase" }, "test", fresh)).toMatchObject({
      status: 0,
    });
  });
});

describe("the report", () => {
  const failing = {
    ...drinks,
    name: "what <Ada> drinks",
    tests: [
      { name: "tea & \u001b[2J more", found: { query: "green tea", keys: ["tea"] } },
      { found: { query: "coffee", keys: ["tea"] } },
    ],
  };

  test("is read by people", () => {
    const file = temporaryFile("ada.test.json");
    writeFileSync(file, JSON.stringify(failing));
    const { status, stdout, stderr } = keepsake("test", file);
    expect(status).toBe(1);
    expect(stderr).toBe("keepsake: 1 of 2 tests failed\n");
    expect(stdout.replace(/\d\.\d{3}/g, "N")).toBe(
      [
        `${file}: what <Ada> drinks`,
        String.raw`  ok    tea & \u001b[2J more`,
        "  FAIL  coffee",
        "        expected  tea, among the first 10 of user ada, facts",
        '        came      1. facts/coffee  N  {"text":"drinks coffee in the office"}  (words N, context N, cues N)',
        "        why       facts/tea: no word of the question",
        "",
        "2 tests: 1 passed, 1 failed",
        "recall@10 N, MRR N of 2 questions",
        "",
      ].join("\n"),
    );
  });

  test("is read by programs, as JSON and as JUnit's XML", () => {
    const junit = temporaryFile("report.xml");
    const report = tested(failing, "--junit", junit);
    expect(report).toMatchObject({ passed: 1, failed: 1, k: 10, falls: [] });
    expect(report.tests[1]).toMatchObject({ kind: "found", name: "coffee", passed: false });
    const xml = readFileSync(junit, "utf8");
    expect(xml).toMatch(
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<testsuites name="keepsake" tests="2" failures="1">/,
    );
    expect(xml).toContain(String.raw`<testcase name="tea &amp; \u001b[2J more"`);
    expect(xml).toContain(
      '<failure message="expected tea, among the first 10 of user ada, facts">expected  tea',
    );
    expect(xml.match(/<(testsuite|testcase|failure)\b/g)).toHaveLength(
      xml.match(/<\/(testsuite|failure)>|<testcase[^>]*\/>|<\/testcase>/g).length,
    );
    expect(xml).not.toMatch(/(?!\n)\p{Cc}/u);
    const nowhere = tested(failing, "--junit", join(temporaryFolder(), "none/report.xml"));
    expect(nowhere).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/there is no folder/),
    });
  });
});

describe("a baseline", () => {
  const file = () => temporaryFile("recall.json");
  const content = (...keys) => ({
    ...drinks,
    tests: [
      { found: { query: "green tea", keys } },
      { found: { query: "coffee", keys: ["coffee"] } },
    ],
  });

  test("is written, kept, and fallen below by more than is tolerated", () => {
    const path = file();
    const folder = temporaryFolder();
    const tests = join(folder, "ada.test.json");
    const run = (what, ...words) => {
      writeFileSync(tests, JSON.stringify(what));
      return keepsake("test", tests, "--baseline", path, ...words);
    };
    expect(run(content("tea"))).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/not_found: there is no baseline .*--update-baseline/),
    });
    expect(run(content("tea"), "--update-baseline").status).toBe(0);
    const noted = JSON.parse(readFileSync(path, "utf8"));
    expect(noted.k).toBe(10);
    expect(noted.all).toEqual({ questions: 2, recall: 1, mrr: 1 });
    expect(Object.values(noted.files)).toEqual([noted.all]);
    expect(run(content("tea")).status).toBe(0);
    // The tests themselves would pass, if they asked for less.
    const worse = content("tea");
    worse.items = worse.items.map((each) =>
      each.key === "tea" ? { ...each, value: { text: "a hot drink" } } : each,
    );
    worse.tests[0].found.keys = ["tea"];
    const { status, stdout } = run(worse);
    expect(status).toBe(1);
    expect(stdout).toMatch(/recall of all fell from 1\.000 to 0\.500\nMRR of all fell/);
    expect(run(worse, "--tolerance", "0.5").stdout).not.toMatch(/fell/);
    expect(run(content("tea"), "--k", "5")).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/counts the first 10 hits, and this call 5: say --k 10/),
    });
  });

  test("fails what passes else", () => {
    const path = file();
    const ranked = (k) => ({
      ...drinks,
      items: [...drinks.items, item("other", "coffee, coffee and coffee")],
      tests: [{ found: { query: "coffee", keys: ["coffee"], k } }],
    });
    const tests = temporaryFile("ada.test.json");
    const better = { ...ranked(10), items: drinks.items };
    writeFileSync(tests, JSON.stringify(better));
    expect(keepsake("test", tests, "--baseline", path, "--update-baseline").status).toBe(0);
    writeFileSync(tests, JSON.stringify(ranked(10)));
    const { status, stdout, stderr } = keepsake("test", tests, "--baseline", path);
    expect(stdout).toMatch(/1 test: 1 passed, 0 failed/);
    expect(stderr).toMatch(/^keepsake: MRR of all fell from 1\.000 to 0\.500\n$/);
    expect(status).toBe(1);
  });

  test("is of what it was made of", () => {
    const path = file();
    writeFileSync(path, '{"all":7}');
    expect(tested(content("tea"), "--baseline", path).stderr).toMatch(/is no baseline that/);
    const none = { ...drinks, tests: [{ unanswered: { query: "x" } }] };
    expect(tested(none, "--baseline", path, "--update-baseline")).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/is of tests of what is found: there is none/),
    });
    expect(tested(content("tea"), "--update-baseline").stderr).toMatch(/is of a baseline: say/);
  });
});

test("a folder has those that end with .test.json and .test.mjs", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "more"));
  mkdirSync(join(folder, "node_modules"));
  const one = JSON.stringify({ tests: [{ unanswered: { query: "x" } }] });
  writeFileSync(join(folder, "b.test.json"), one);
  writeFileSync(join(folder, "recall.json"), "{");
  writeFileSync(join(folder, "more/a.test.mjs"), `export default ${one};`);
  writeFileSync(join(folder, "node_modules/c.test.json"), "{");
  const { stdout } = keepsake("test", folder, join(folder, "b.test.json"), "--json");
  const files = JSON.parse(stdout).tests.map(({ file }) => file.slice(folder.length + 1));
  expect(files).toEqual(["b.test.json", "more/a.test.mjs"]);
  expect(keepsake("test", join(folder, "node_modules")).status).toBe(2);
  expect(keepsake("test", join(folder, "none")).stderr).toMatch(/not_found: there is no /);
  expect(keepsake("test").stderr).toMatch(/TESTS is missing/);
});

test("what a file has wrong is named, with what was meant", () => {
  const found = { query: "x", keys: ["y"] };
  for (const [content, message] of [
    [
      { ...drinks, item: [] },
      /unknown option \\"item\\" of .*ada\.test\.json: did you mean \\"items\\"/,
    ],
    [{ ...drinks, tests: [] }, /tests of .* has no test/],
    [drinks, /tests of .* must be a list/],
    [
      { tests: [{ fonud: found }] },
      /unknown option \\"fonud\\" of tests\[0\] of .*did you mean \\"found\\"/,
    ],
    [{ tests: [{}] }, /tests\[0\] of .* takes one of found, superseded, .*, got none/],
    [{ tests: [{ found, unanswered: { query: "x" } }] }, /got found and unanswered/],
    [
      { tests: [{ found: { ...found, quary: "x" } }] },
      /\\"quary\\" of tests\[0\]\.found of .*\\"query\\"/,
    ],
    [{ tests: [{ found: { query: "x", keys: [] } }] }, /keys of tests\[0\]\.found of .* is empty/],
    [{ tests: [{ found: { keys: ["y"] } }] }, /query of tests\[0\]\.found of .* must be a string/],
    [
      { tests: [{ found: { ...found, k: 0 } }] },
      /k of tests\[0\]\.found of .* whole number from 1/,
    ],
    [{ tests: [{ found: { ...found, filter: [] } }] }, /tests\[0\] of .*filter/],
    [
      { tests: [{ found: { ...found, scope: { usr: "ada" } } }] },
      /tests\[0\] of .*\\"usr\\".*\\"user\\"/,
    ],
    [{ tests: [{ hidden: { scope: ada } }] }, /from of tests\[0\]\.hidden of .* must be an object/],
    [
      { tests: [{ hidden: { from: {}, by: ["smell"] } }] },
      /by of .* must be one of search, filter, get, thread/,
    ],
    [{ tests: [{ forgotten: {} }] }, /tests\[0\] of .*forget of a whole memory takes namespaces/],
    [{ tests: [{ forgotten: { by: "x" } }] }, /by of .* must be a function, which only \.mjs has/],
    [{ ...drinks, setup: 1, tests: [{ found }] }, /setup of .* must be a function/],
    [{ now: "soon", tests: [{ found }] }, /now of .* must be a Date/],
    [{ options: { path: "x" }, tests: [{ found }] }, /unknown option \\"path\\" of options of/],
    [{ items: [{ key: "x" }], tests: [{ found }] }, /value of items\[0\] of .* must be an object/],
    [
      { items: [item("x", "y", { namespace: "" })], tests: [{ found }] },
      /items\[0\] of .*namespace/,
    ],
    [
      { items: [item("x", "y", { superseds: "z" })], tests: [{ found }] },
      /did you mean \\"supersedes\\"/,
    ],
    [
      { conversations: [{ thread: "t", messages: [{ rol: "u" }] }], tests: [{ found }] },
      /\\"rol\\" of messages\[0\] of conversations\[0\]/,
    ],
    [
      { conversations: [{ thread: "t" }], tests: [{ found }] },
      /messages of conversations\[0\] of .* must be a list/,
    ],
  ]) {
    const { status, stderr } = tested(content);
    expect(stderr).toMatch(message);
    expect(status).toBe(2);
  }
  const broken = temporaryFile("broken.test.json");
  writeFileSync(broken, "{");
  expect(keepsake("test", broken).stderr).toMatch(/broken\.test\.json is no JSON/);
  const empty = temporaryFile("empty.test.mjs");
  writeFileSync(empty, "export const tests = [];");
  expect(keepsake("test", empty).stderr).toMatch(/has no default export/);
});

test("docs/testing.md and examples/testing pass as they stand", () => {
  const [{ code }] = snippetsOf("json").filter(({ path }) => path === "docs/testing.md");
  const file = temporaryFile("ada.test.json");
  writeFileSync(file, code);
  const { status, stdout } = keepsake("test", file);
  expect(stdout).not.toMatch(/FAIL/);
  expect(status).toBe(0);
  const example = join(projectRoot, "examples/testing");
  const call = ["test", example, "--config", join(example, "memory.mjs")];
  expect(keepsake(...call, "--baseline", join(example, "recall.json"))).toMatchObject({
    status: 0,
    stderr: "",
  });
});
