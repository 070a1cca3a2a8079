// A memory that syncs, in the hands of somebody clumsy, and over a store that lies.

import { copyFileSync, existsSync } from "node:fs";
import { openMemory } from "keepsake";
import { customBucket, readLog } from "keepsake/bucket";
import {
  forgeFence,
  forgeImage,
  forgeManifest,
  forgeRequests,
  recordKey,
} from "./support/forged-objects.mjs";
import { memoryBucket } from "./support/memory-bucket.mjs";
import { temporaryFile } from "./support/temporary.mjs";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A device that syncs only when it is told to. */
async function openDevice({ bucket }, { path = temporaryFile(), sync } = {}) {
  const memory = await openMemory({ path, sync: { bucket, name: "ada", everyMs: 0, ...sync } });
  return Object.assign(memory, { path });
}

/** The same objects, behind a store some of whose functions a test replaces. */
function lying({ port }, replaced) {
  const bucket = customBucket({ ...port, ...replaced }, "a store that lies");
  return { bucket };
}

const recordsOf = ({ objects }) => [...objects.keys()].filter(isRecord).sort().reverse();
const isRecord = (key) => /\/l\/\d{13}$/.test(key);

async function keysOf(memory) {
  const items = await memory.store.search([], { limit: 1000 });
  return items.map(({ key }) => key).sort();
}

async function fileWith(write) {
  const path = temporaryFile();
  const memory = await openMemory({ path });
  await write(memory);
  await memory.close();
  return path;
}

/** One that syncs, holds something, and is ahead of the other. */
async function twoDevices(shared) {
  const laptop = await openDevice(shared);
  await laptop.store.put(["n"], "both", {});
  await laptop.sync();
  const phone = await openDevice(shared);
  await phone.sync();
  return { laptop, phone };
}

describe("a memory that moves in", () => {
  const never = () => new Promise(() => {});

  test.each([
    ["before its record is there", never],
    [
      "before it hears that its record is there",
      (key, bytes, port) => port.create(key, bytes).then(never),
    ],
  ])("and is closed %s, moves in the next time", async (_name, create) => {
    const shared = memoryBucket();
    const path = await fileWith(({ store }) => store.put(["n"], "old", {}));
    let isAsked;
    const asked = new Promise((resolve) => {
      isAsked = resolve;
    });
    const first = await openDevice(
      lying(shared, {
        async create(key, bytes) {
          if (!isRecord(key)) return shared.port.create(key, bytes);
          isAsked();
          return create(key, bytes, shared.port);
        },
      }),
      { path },
    );
    first.sync().catch(() => {});
    await asked;
    await first.store.put(["n"], "meanwhile", {});
    await first.close();

    await using laptop = await openDevice(shared, { path });
    await laptop.sync();
    await using phone = await openDevice(shared);
    await phone.sync();
    for (const one of [laptop, phone]) expect(await keysOf(one)).toEqual(["meanwhile", "old"]);
  });

  test("has holds and rules with it, although it has no items", async () => {
    const shared = memoryBucket();
    const path = await fileWith(async (memory) => {
      await memory.hold(["case"], "a lawsuit");
      await memory.store.keepHistory(["n"]);
      await memory.keepAudit();
    });
    await using laptop = await openDevice(shared, { path });
    await laptop.sync();
    await using phone = await openDevice(shared);
    await phone.sync();
    expect(await phone.holds()).toEqual(await laptop.holds());
    expect(await phone.store.historyRules()).toEqual(await laptop.store.historyRules());
    expect(await phone.auditRule()).toEqual(await laptop.auditRule());
    expect(await phone.holds()).toHaveLength(1);
  });
});

describe("sync()", () => {
  test.each([0, 1000])("ends while somebody writes all the time (everyMs: %i)", async (everyMs) => {
    const shared = memoryBucket();
    const slow = lying(shared, {
      async create(key, bytes) {
        await pause(20);
        return shared.port.create(key, bytes);
      },
    });
    await using laptop = await openDevice(slow, { sync: { everyMs } });
    let isDone = false;
    let written = 0;
    const writing = (async () => {
      while (!isDone && written < 500) {
        await laptop.store.put(["n"], `k${written++}`, {});
        await pause(5);
      }
    })();
    await pause(50);
    await laptop.sync();
    expect(written).toBeLessThan(500);
    isDone = true;
    await writing;
    await laptop.sync();
    await using phone = await openDevice(shared);
    await phone.sync();
    expect(await keysOf(phone)).toHaveLength(written);
  });

  test("comes by itself while somebody writes all the time", async () => {
    const shared = memoryBucket();
    await using laptop = await openDevice(shared, { sync: { everyMs: 60_000 } });
    await laptop.sync();
    for (let i = 0; i < 30; i++) {
      await laptop.store.put(["n"], `k${i}`, {});
      await pause(20);
    }
    expect(recordsOf(shared).length).toBeGreaterThan(1);
  });

  test("is asked for rarely, if everyMs is a year", async () => {
    const shared = memoryBucket();
    await using _laptop = await openDevice(shared, { sync: { everyMs: 365 * 86_400_000 } });
    await pause(200);
    const { get, list } = shared.requests;
    expect(get + list).toBeLessThan(10);
  });
});

test.each([
  ["more", ["one", "two"], []],
  ["more, and by now another has more, too", ["one", "two"], ["other"]],
  ["more, one after the other", ["one", "two"], [], true],
])(
  "a backup with writes that were sent since with %s does not do them again",
  async (_name, sent, own, isApart = false) => {
    const shared = memoryBucket();
    const { laptop, phone } = await twoDevices(shared);
    await laptop.store.keepHistory(["n"]);
    await laptop.sync();
    await phone.sync();
    const write = (memory, v) => memory.store.put(["n"], "k", { v });
    await write(laptop, "zero");
    await laptop.close();
    const path = temporaryFile();
    copyFileSync(laptop.path, path);
    if (existsSync(`${laptop.path}-wal`)) copyFileSync(`${laptop.path}-wal`, `${path}-wal`);
    // Of others, so that the record is not the next one.
    await phone.store.put(["n"], "phone", {});
    await phone.sync();

    const again = await openDevice(shared, { path: laptop.path });
    for (const v of sent) {
      if (isApart) await again.sync();
      await write(again, v);
    }
    await again.sync();
    await using backup = await openDevice(shared, { path });
    for (const key of own) await backup.store.put(["n"], key, {});
    await backup.sync();
    for (const one of [again, phone]) await one.sync();
    for (const one of [again, backup, phone]) {
      expect((await one.store.get(["n"], "k")).value).toEqual({ v: "two" });
      expect(await one.store.history(["n"], "k")).toHaveLength(3);
      expect(await keysOf(one)).toEqual(["both", "k", ...own, "phone"].sort());
      expect(await one.syncStatus()).toMatchObject({ waiting: 0, badRecords: [] });
    }
    await again.close();
    await phone.close();
  },
);

test("a name that no bucket takes is refused at once", async () => {
  const { bucket } = memoryBucket();
  const long = openDevice({ bucket }, { sync: { name: "x".repeat(301) } });
  await expect(long).rejects.toMatchObject({
    code: "invalid_argument",
    message: expect.stringContaining("sync.name must have at most 300 bytes"),
  });
  // Escaped it is three times as long.
  await using memory = await openDevice({ bucket }, { sync: { name: "é".repeat(150) } });
  await expect(memory.sync()).rejects.toMatchObject({ code: "invalid_argument" });
});

describe("a store", () => {
  test("that garbles a record for one device only, does not part it from the others", async () => {
    const shared = memoryBucket();
    const { laptop, phone } = await twoDevices(shared);
    const { path } = phone;
    await phone.close();
    await laptop.store.put(["n"], "garbled", {});
    await laptop.sync();
    const [, garbled] = recordsOf(shared);
    await laptop.store.put(["n"], "later", {});
    await laptop.sync();
    const page = new TextEncoder().encode("<html>Welcome to our airport</html>");
    const portal = lying(shared, {
      get: async (key, range) => (key === garbled ? page : shared.port.get(key, range)),
    });
    const atAirport = await openDevice(portal, { path });
    await atAirport.store.put(["n"], "there", {});
    await atAirport.sync();
    expect(await keysOf(atAirport)).toEqual(["both", "later", "there"]);
    await atAirport.close();

    await using again = await openDevice(shared, { path });
    expect((await again.syncStatus()).badRecords).toEqual([{ record: 2, why: expect.any(String) }]);
    await again.sync();
    expect((await again.syncStatus()).badRecords).toEqual([]);
    await laptop.sync();
    for (const one of [again, laptop]) {
      expect(await keysOf(one)).toEqual(["both", "garbled", "later", "there"]);
    }
    await laptop.close();
  });

  test.each([
    [
      "is told from the one before",
      () => {},
      /another record 2 is there.*put back what the store had/,
    ],
    [
      "and had deleted what would tell it, is told by who sent what is gone",
      (phone) => phone.forget({ namespaces: [["n"]] }),
      /record 2, which this device has sent, is not in it/,
    ],
  ])("that goes on from an older state %s", async (_name, cover, message) => {
    const shared = memoryBucket();
    const { laptop, phone } = await twoDevices(shared);
    const before = new Map(shared.objects);
    await laptop.store.put(["n"], "gone", {});
    await laptop.sync();
    shared.objects.clear();
    for (const [key, bytes] of before) shared.objects.set(key, bytes);
    await phone.store.put(["n"], "other", {});
    await cover(phone);
    await phone.sync();
    await pause(1_100);
    await expect(laptop.sync()).rejects.toMatchObject({
      code: "rolled_back",
      message: expect.stringMatching(message),
    });
    expect(await keysOf(laptop)).toEqual(["both", "gone"]);
    await laptop.close();
    await phone.close();
  });

  test("that lost a record of the middle is `rolled_back` for who needs it", async () => {
    const shared = memoryBucket();
    const { laptop, phone } = await twoDevices(shared);
    await laptop.store.put(["n"], "k", {});
    await laptop.sync();
    shared.objects.delete(recordsOf(shared)[0]);
    await using late = await openDevice(shared);
    await expect(late.sync()).rejects.toMatchObject({
      code: "rolled_back",
      message: expect.stringContaining("a record is missing"),
    });
    await laptop.close();
    await phone.close();
  });

  test.each([
    ["was emptied", (shared) => shared.objects.clear(), undefined],
    ["is asked with another key", () => {}, "another key"],
  ])("that %s gets no second log from who knew the first", async (_name, change, key) => {
    const shared = memoryBucket();
    const first = await openDevice(shared);
    await first.store.put(["n"], "k", {});
    await first.sync();
    await first.close();
    change(shared);
    const { size } = shared.objects;
    await using again = await openDevice(shared, { path: first.path, sync: { key } });
    await expect(again.sync()).rejects.toMatchObject({
      code: "rolled_back",
      message: expect.stringMatching(/is not in .*key.*import an export/),
    });
    expect(shared.objects.size).toBe(size);
    expect(await keysOf(again)).toEqual(["k"]);
  });
});

test("a call whose answer was lost is in the log once, though its record was deleted", async () => {
  const shared = memoryBucket();
  const { laptop, phone } = await twoDevices(shared);
  await laptop.store.keepHistory(["h"]);
  await laptop.sync();
  await laptop.close();
  let isThere;
  const there = new Promise((resolve) => {
    isThere = resolve;
  });
  const deaf = await openDevice(
    lying(shared, {
      async create(key, bytes) {
        await shared.port.create(key, bytes);
        isThere();
        return new Promise(() => {});
      },
    }),
    { path: laptop.path },
  );
  await deaf.store.put(["h"], "k", { v: 1 });
  await deaf.store.put(["h"], "k", { v: 2 });
  deaf.sync().catch(() => {});
  await there;
  await deaf.close();
  await phone.sync();
  await phone.forget({ namespaces: [["n"]] });
  await phone.sync();

  await using again = await openDevice(shared, { path: laptop.path });
  await again.store.put(["h"], "k", { v: 3 });
  await again.sync();
  await phone.sync();
  for (const { store } of [again, phone]) {
    expect((await store.history(["h"], "k")).map(({ value }) => value)).toEqual([
      { v: 3 },
      { v: 2 },
      { v: 1 },
    ]);
  }
  await phone.close();
});

describe("somebody who writes into a bucket without a key", () => {
  const withPieces = (manifest, change) => ({ ...manifest, pieces: manifest.pieces.map(change) });

  test.each([
    ["a request that is none", (shared) => forgeRequests(shared, 3, [Buffer.from("nonsense")])],
    ["an empty request", (shared) => forgeRequests(shared, 3, [Buffer.alloc(0)])],
    ["an image that no base can be", (shared) => forgeImage(shared, 3, "../../x")],
  ])("costs one record by %s, which is named", async (_name, forge) => {
    const shared = memoryBucket();
    const { laptop, phone } = await twoDevices(shared);
    await laptop.store.put(["n"], "second", {});
    await laptop.sync();
    forge(shared);
    await phone.store.put(["n"], "behind", {});
    await phone.sync();
    await laptop.sync();
    const late = await openDevice(shared);
    await late.sync();
    const served = await openMemory({ bucket: shared.bucket, name: "ada" });
    for (const one of [phone, laptop, late, served]) {
      expect(await keysOf(one)).toEqual(["behind", "both", "second"]);
    }
    for (const one of [phone, laptop, late]) {
      expect((await one.syncStatus()).badRecords).toEqual([
        { record: 3, why: expect.stringMatching(/request in it is none|names no base/) },
      ]);
    }
    for (const one of [phone, laptop, late, served]) await one.close();
  });

  test.each([
    ["is no JSON", () => "nonsense"],
    ["is nothing", () => "null"],
    ["is of another number", (of) => ({ ...of, number: of.number + 1 })],
    ["forgot what is still to come", (of) => ({ ...of, purged: 1e7 })],
    ["has more bytes than pieces", (of) => ({ ...of, bytes: 1e15 })],
    ["has pieces of no base", (of) => withPieces(of, ([, at, length]) => [7, at, length])],
    [
      "has pieces before its beginning",
      (of) => withPieces(of, ([, , length]) => [0, -1e5, length]),
    ],
    ["has pieces of a terabyte", (of) => withPieces(of, ([, at]) => [0, at, 2 ** 40])],
    ["configures nothing", (of) => ({ ...of, configuration: "00ff" })],
    ["knows no senders", (of) => ({ ...of, senders: [0, null] })],
    ["knows senders of the future", (of) => ({ ...of, senders: [1e15, []] })],
  ])("makes nothing of a base that %s", async (_name, change) => {
    const shared = memoryBucket();
    const { laptop, phone } = await twoDevices(shared);
    await laptop.forget({ namespaces: [["x"]] });
    await laptop.sync();
    const before = new Map(shared.objects);
    forgeManifest(shared, change);
    await using late = await openDevice(shared);
    await expect(late.sync()).rejects.toMatchObject({
      code: "corrupt",
      message: expect.stringMatching(/no base .*can be read; base \d+ of the log/),
    });
    const served = openMemory({ bucket: shared.bucket, name: "ada" });
    await expect(served).rejects.toMatchObject({ code: "corrupt" });
    for (const [key, bytes] of before) shared.objects.set(key, bytes);
    await late.sync();
    expect(await keysOf(late)).toEqual(["both"]);
    await laptop.close();
    await phone.close();
  });

  test("and says that the end was deleted is told as `rolled_back`", async () => {
    const shared = memoryBucket();
    const { laptop, phone } = await twoDevices(shared);
    forgeFence(shared, 2);
    await expect(laptop.sync()).rejects.toMatchObject({ code: "rolled_back" });
    const served = openMemory({ bucket: shared.bucket, name: "ada" });
    await expect(served).rejects.toMatchObject({ code: "rolled_back" });
    await laptop.close();
    await phone.close();
  }, 120_000);
});

test("a store that answers a page for every object that it does not have, is `unreachable`", async () => {
  const shared = memoryBucket();
  const { laptop, phone } = await twoDevices(shared);
  const page = new TextEncoder().encode("<!doctype html><title>Not found</title>");
  const get = async (key, range) =>
    (await shared.port.get(key)) === undefined && isRecord(key)
      ? page.slice(range?.from, range?.to)
      : shared.port.get(key, range);
  const bucket = lying(shared, { get });
  await using device = await openDevice(bucket);
  const refused = {
    code: "unreachable",
    message: expect.stringContaining("something for record 2 of the log, which it does not list"),
  };
  await expect(device.sync()).rejects.toMatchObject(refused);
  await expect(openMemory({ ...bucket, name: "ada" })).rejects.toMatchObject(refused);
  await laptop.close();
  await phone.close();
});

test("a log with more records than a call has arguments is listed", async () => {
  const shared = memoryBucket();
  const { laptop, phone } = await twoDevices(shared);
  const records = Array.from({ length: 200_000 }, (_, i) => recordKey(200_000 - i));
  const { bucket } = lying(shared, {
    async list(_prefix, { after = "" } = {}) {
      return records.filter((key) => key > after);
    },
  });
  expect(await readLog(bucket, { name: "ada", limit: 200 })).toMatchObject({ last: 200_000 });
  await laptop.close();
  await phone.close();
});
