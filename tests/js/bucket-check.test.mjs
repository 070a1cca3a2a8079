// checkBucket() finds what is wrong with a store, and says it in a sentence.

import { checkBucket, customBucket, folder, httpBucket } from "keepsake/bucket";
import { bytesOf } from "../contract/bucket.mjs";
import { memoryPort } from "./support/memory-bucket.mjs";
import { expectRefused } from "./support/refusal.mjs";
import { removeTemporaryFolders, temporaryFolder } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const pause = (ms = 1) => new Promise((resolve) => setTimeout(resolve, ms));

/** A store in memory whose functions `change(port, objects)` replaces. */
function storeWith(change) {
  const { port, objects } = memoryPort();
  return { bucket: customBucket({ ...port, ...change(port, objects) }, "the store"), objects };
}

const few = { rounds: 3, writers: 3 };

test("a store that keeps the rules has no problem, and nothing is left in it", async () => {
  const { bucket, objects } = storeWith(() => ({}));
  objects.set("log/00000000001", bytesOf(3));
  const report = await checkBucket(bucket);
  expect(report).toEqual({
    isOk: true,
    problems: [],
    sentence: expect.stringMatching(
      /^the store can keep memories: of 5 writers at once one won in each of 10 rounds, and what was created was read at once \(create [\d.]+ ms, get [\d.]+ ms, list [\d.]+ ms\)\.$/,
    ),
    latency: {
      create: expect.any(Number),
      get: expect.any(Number),
      list: expect.any(Number),
    },
  });
  expect([...objects.keys()]).toEqual(["log/00000000001"]);
});

test("the folder of a check is empty behind it", async () => {
  const bucket = folder(temporaryFolder());
  expect(await checkBucket(bucket, few)).toMatchObject({ isOk: true });
  expect(await bucket.port.list("")).toEqual([]);
});

const WRONG = {
  "create overwrites, and says that there was one": [
    (_, objects) => ({
      async create(key, bytes) {
        const isNew = !objects.has(key);
        objects.set(key, bytes);
        return isNew;
      },
    }),
    /create\(\) changes an object that is there/,
  ],
  "create overwrites, and says that it created": [
    (_, objects) => ({
      async create(key, bytes) {
        objects.set(key, bytes);
        return true;
      },
    }),
    /answers true: two writers would overwrite each other/,
  ],
  "create answers true twice, and keeps the first": [
    (port) => ({
      async create(key, bytes) {
        await port.create(key, bytes);
        return true;
      },
    }),
    /answers true: two writers/,
  ],
  "create looks first and writes later": [
    (_, objects) => ({
      async create(key, bytes) {
        if (objects.has(key)) return false;
        await pause();
        objects.set(key, bytes);
        return true;
      },
    }),
    /more than one is told that it did \(in 3 of 3 rounds\)/,
  ],
  "of several that create at once none is told": [
    (port) => {
      let running = 0;
      return {
        async create(key, bytes) {
          running += 1;
          await pause();
          const isNew = await port.create(key, bytes);
          const isAlone = running === 1;
          await pause();
          running -= 1;
          return isNew && isAlone;
        },
      };
    },
    /none is told that it did/,
  ],
  "the last of several is kept, and the first is told": [
    (_, objects) => {
      const running = new Map();
      return {
        async create(key, bytes) {
          if (objects.has(key)) return false;
          const isFirst = !running.has(key);
          running.set(key, bytes);
          await pause();
          objects.set(key, running.get(key));
          return isFirst;
        },
      };
    },
    /another one's bytes are there than the winner's/,
  ],
  "what was created is read late": [
    (port, objects) => ({
      async create(key, bytes) {
        if (objects.has(key)) return false;
        objects.set(key, undefined);
        pause(20).then(() => objects.set(key, bytes));
        return true;
      },
      async get(key, range) {
        return objects.get(key) && port.get(key, range);
      },
    }),
    /an object is not there right after it was created/,
  ],
  "what was not there is remembered as not there": [
    (port) => {
      const missing = new Set();
      return {
        async get(key, range) {
          if (missing.has(key)) return undefined;
          const bytes = await port.get(key, range);
          if (bytes === undefined) missing.add(key);
          return bytes;
        },
      };
    },
    /an object is not there right after it was created/,
  ],
  "a range is ignored": [
    (port) => ({ get: (key) => port.get(key) }),
    /bytes from 100 to 200 .* does not answer them: .* a range alone/,
  ],
  "a range is another": [
    (port) => ({
      get: (key, range) => port.get(key, range && { from: 0, to: range.to - range.from }),
    }),
    /bytes from 100 to 200 of 1000 does not answer them/,
  ],
  "a range beyond the end is an error": [
    (port) => ({
      async get(key, range) {
        const bytes = await port.get(key);
        if (range !== undefined && bytes !== undefined && range.to > bytes.length) {
          throw new Error("416");
        }
        return port.get(key, range);
      },
    }),
    /bytes from 900 to 2000 of 1000 does not answer them: .*416/,
  ],
  "an object is cut off": [
    (port) => ({ create: (key, bytes) => port.create(key, bytes.subarray(0, 65_536)) }),
    /an object of 1000000 bytes does not come back as it was/,
  ],
  "an empty object is none": [
    (port) => ({
      async get(key, range) {
        const bytes = await port.get(key, range);
        return bytes?.length === 0 && range === undefined ? undefined : bytes;
      },
    }),
    /an object is not there right after it was created/,
  ],
  "a list has no order": [
    (_, objects) => ({
      async list(prefix, { after = "", limit } = {}) {
        const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after);
        return keys.slice(0, limit);
      },
    }),
    /list\(\) of a prefix does not answer .*: .* ascending order/,
  ],
  "a list has the order of a language": [
    (_, objects) => ({
      async list(prefix, { after = "", limit } = {}) {
        const keys = [...objects.keys()].filter((key) => key.startsWith(prefix));
        const sorted = keys.sort((a, b) => a.localeCompare(b));
        return sorted.filter((key) => after === "" || key.localeCompare(after) > 0).slice(0, limit);
      },
    }),
    /ascending order/,
  ],
  "a list leaves one out": [
    (port) => ({
      async list(prefix, range) {
        const keys = await port.list(prefix, range);
        return keys.filter((key) => !key.endsWith("b/0002"));
      },
    }),
    /list\(\) of a prefix leaves out 1 of 10 keys/,
  ],
  "a list is late": [
    (port, objects) => {
      const listed = new Set();
      return {
        async list(prefix, range) {
          const keys = (await port.list(prefix, range)).filter((key) => listed.has(key));
          for (const key of objects.keys()) listed.add(key);
          return keys;
        },
      };
    },
    /list\(\) of a prefix leaves out 10 of 10 keys/,
  ],
  "a list ignores `after`": [
    (port) => ({ list: (prefix, { limit } = {}) => port.list(prefix, { limit }) }),
    /behind `after`/,
  ],
  "a list ignores its prefix": [
    (port) => ({ list: (_, range) => port.list("", range) }),
    /list\(\) of a prefix within a name .* begin with the prefix/,
  ],
  "a list ends after a page": [
    (port) => ({
      async list(prefix, range) {
        return range?.after === undefined ? port.list(prefix, { limit: 3 }) : [];
      },
    }),
    /list\(\) of a prefix leaves out 7 of 10 keys/,
  ],
  "a list takes prefixes for folders": [
    (port) => ({
      async list(prefix, range) {
        const folderOf = prefix.slice(0, prefix.lastIndexOf("/") + 1);
        return prefix === folderOf ? port.list(prefix, range) : [];
      },
    }),
    /list\(\) of a prefix within a name leaves out 5 of 5 keys/,
  ],
  "nothing is deleted": [() => ({ async delete() {} }), /an object that was deleted is still read/],
  "deleting twice is an error": [
    (_, objects) => ({
      async delete(key) {
        if (!objects.delete(key)) throw new Error("404");
      },
    }),
    /delete\(\) of a key that is not there fails: .*404/,
  ],
  "something is there that nobody created": [
    () => ({ get: async () => bytesOf(3) }),
    /get\(\) answers something for a key that was never created/,
  ],
};

test.each(Object.keys(WRONG))("it is found that %s", async (name) => {
  const [change, problem] = WRONG[name];
  const { bucket } = storeWith(change);
  const report = await checkBucket(bucket, few);
  expect(report.isOk).toBe(false);
  expect(report.problems).toEqual(expect.arrayContaining([expect.stringMatching(problem)]));
  expect(report.sentence).toMatch(/^the store can't keep memories: .+\.$/);
});

test("a store that refuses is told in its own words, after one call", async () => {
  let calls = 0;
  const { bucket } = storeWith(() => ({
    async get() {
      calls += 1;
      return folder("/nowhere").port.get("a");
    },
  }));
  const { isOk, problems, sentence } = await checkBucket(bucket);
  expect([isOk, calls]).toEqual([false, 1]);
  expect(problems).toEqual([expect.stringMatching(/no such folder/)]);
  expect(sentence).toMatch(/^the store can't keep memories: .*no such folder.*\.$/);
});

test("a store that is not there is told", async () => {
  const report = await checkBucket(httpBucket({ url: "http://127.0.0.1:9" }));
  expect(report).toMatchObject({ isOk: false, latency: { create: 0, get: 0, list: 0 } });
  expect(report.sentence).toMatch(/fetch failed/);
});

test("a store that fails now and then, also after it did what it was asked, is no wrong one", async () => {
  let calls = 0;
  const sometimes =
    (body, isBefore) =>
    async (...args) => {
      calls += 1;
      if (calls % 9 === 0 && isBefore) throw new Error("503");
      const answer = await body(...args);
      if (calls % 9 === 0) throw new Error("the answer is lost");
      return answer;
    };
  for (const isBefore of [true, false]) {
    const { bucket, objects } = storeWith((port) =>
      Object.fromEntries(
        Object.entries(port).map(([name, body]) => [name, sometimes(body, isBefore)]),
      ),
    );
    expect(await checkBucket(bucket, few)).toMatchObject({ isOk: true, problems: [] });
    expect(objects.size).toBe(0);
  }
});

test("a mistake of the caller is an error", async () => {
  const { port } = memoryPort();
  await expectRefused(() => checkBucket(port), "invalid_argument", /takes a bucket/);
  await expectRefused(() => checkBucket(undefined), "invalid_argument", /takes a bucket/);
  const bucket = customBucket(port);
  await expectRefused(() => checkBucket(bucket, { rounds: 0 }), "invalid_argument", /rounds/);
  await expectRefused(() => checkBucket(bucket, { writers: 1 }), "invalid_argument", /writers/);
  await expectRefused(() => checkBucket(bucket, { tries: 1 }), "invalid_argument", /"tries"/);
});
