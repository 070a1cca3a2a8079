// A memory on devices that syncs with a bucket: each has its own file, and all follow one log.

import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { openMemory } from "keepsake";
import { customBucket, readLog } from "keepsake/bucket";
import { memoryBucket } from "./support/memory-bucket.mjs";
import { temporaryFile } from "./support/temporary.mjs";

const DIMS = 4;
const embeddings = {
  embedDocuments: async (texts) => texts.map(vectorOf),
  embedQuery: async (text) => vectorOf(text),
};
const vectorOf = (text) => Array.from({ length: DIMS }, (_, i) => (text.charCodeAt(i) || 1) / 128);

/** A device that syncs only when it is told to. */
async function openDevice({ bucket }, { path = temporaryFile(), sync, ...options } = {}) {
  const memory = await openMemory({
    path,
    ...options,
    sync: { bucket, name: "ada", everyMs: 0, ...sync },
  });
  return Object.assign(memory, { path });
}

/** The same bucket, which can be cut off. */
function line(shared) {
  const cut = { isCut: false };
  const port = Object.fromEntries(
    Object.entries(shared.port).map(([name, call]) => [
      name,
      async (...args) => {
        if (cut.isCut) throw new Error("no network");
        return call(...args);
      },
    ]),
  );
  return Object.assign(cut, { bucket: customBucket(port, "a bucket far away") });
}

const itemOf = async (memory, key, namespace = ["n"]) =>
  (await memory.store.get(namespace, key))?.value;

async function contentOf(memory) {
  const items = await memory.store.search([], { limit: 1000 });
  return items.map(({ namespace, key, value }) => [namespace.join("/"), key, value]).sort();
}

function textOf({ objects }) {
  return [...objects.values()].map((bytes) => Buffer.from(bytes).toString("latin1")).join("\n");
}

/** A promise, and what resolves it. */
function openGate() {
  let resolve;
  const promise = new Promise((resolved) => {
    resolve = resolved;
  });
  return { promise, resolve };
}

const tick = () => new Promise((resolve) => setTimeout(resolve, 5));
const isThere = ({ objects }, pattern) => [...objects.keys()].some((key) => pattern.test(key));

/** A port that creates an object of such a key, and never says so. */
function neverTold(port, pattern) {
  return {
    ...port,
    async create(key, bytes) {
      const created = await port.create(key, bytes);
      return pattern.test(key) ? new Promise(() => {}) : created;
    },
  };
}

async function putCheckpoint({ checkpointer }, thread_id, id, parent) {
  const config = { configurable: { thread_id, checkpoint_ns: "", checkpoint_id: parent } };
  const checkpoint = { ...emptyCheckpoint(), id, ts: new Date().toISOString() };
  await checkpointer.put(config, checkpoint, { source: "loop", step: 0, parents: {} }, {});
}

describe("two devices", () => {
  test("have what both put, and the last in the log wins", async () => {
    const shared = memoryBucket();
    await using ada = await openDevice(shared);
    await using phone = await openDevice(shared);
    await ada.store.put(["n"], "k", { by: "laptop" });
    await phone.store.put(["n"], "k", { by: "phone" });
    await phone.store.put(["n"], "own", { by: "phone" });
    await ada.sync();
    await phone.sync();
    await ada.sync();
    expect(await contentOf(ada)).toEqual([
      ["n", "k", { by: "phone" }],
      ["n", "own", { by: "phone" }],
    ]);
    expect(await contentOf(phone)).toEqual(await contentOf(ada));
    const status = await ada.syncStatus();
    expect(status).toMatchObject({ waiting: 0, isForgetting: false, record: 2, setAside: [] });
    expect(status.lastSync).toBeInstanceOf(Date);
    expect(status.error).toBeUndefined();
  });

  test("ask for news with two requests, and send what waits with one more", async () => {
    const shared = memoryBucket();
    await using memory = await openDevice(shared);
    await memory.store.put(["n"], "k", {});
    await memory.sync();
    const total = () => Object.values(shared.requests).reduce((sum, one) => sum + one);
    // Of what it has just seen it is sure for a second.
    const longAgo = () => new Promise((resolve) => setTimeout(resolve, 1_100));
    await longAgo();
    let before = total();
    await memory.sync();
    expect(total() - before).toBe(2);
    await longAgo();
    await memory.store.put(["n"], "k", { again: true });
    await memory.store.put(["n"], "other", {});
    before = total();
    await memory.sync();
    expect(total() - before).toBe(3);
  });

  test("have all of it in a closed file, which may be copied without what is beside it", async () => {
    const shared = memoryBucket();
    await using phone = await openDevice(shared);
    const path = temporaryFile();
    const laptop = await openDevice(shared, { path });
    await laptop.store.put(["n"], "sent", { at: 1 });
    await laptop.sync();
    await laptop.store.put(["n"], "waits", { at: 2 });
    await laptop.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
    await phone.sync();
    await phone.store.put(["n"], "meanwhile", { at: 3 });
    await phone.sync();
    const copy = temporaryFile();
    copyFileSync(path, copy);
    await using moved = await openDevice(shared, { path: copy });
    expect(await itemOf(moved, "waits")).toEqual({ at: 2 });
    expect(await moved.syncStatus()).toMatchObject({ waiting: 1 });
    await moved.sync();
    await phone.sync();
    expect(await contentOf(moved)).toHaveLength(3);
    expect(await contentOf(phone)).toEqual(await contentOf(moved));
  });

  test("give back what a quota that both fill does not let in", async () => {
    const shared = memoryBucket();
    await using laptop = await openDevice(shared);
    await using phone = await openDevice(shared);
    const [here, there] = [laptop, phone].map((one) =>
      one.scoped({ user: "ada", policy: { maxEntries: 1 } }),
    );
    await here.store.put(["n"], "first", { text: "tea" });
    await there.store.put(["n"], "second", { text: "rain", bytes: Uint8Array.of(1, 2) });
    await laptop.sync();
    await phone.sync();
    expect(await there.store.get(["n"], "second")).toBe(null);
    const { setAside } = await phone.syncStatus();
    expect(setAside).toMatchObject([
      {
        code: "quota_exceeded",
        items: [
          {
            namespace: ["user", "ada", "n"],
            key: "second",
            value: { text: "rain", bytes: Uint8Array.of(1, 2) },
          },
        ],
      },
    ]);
    const [{ namespace, key, value }] = setAside[0].items;
    await phone.store.put([...namespace, "later"], key, value);
    await phone.dropSetAside([setAside[0].id]);
    expect((await phone.syncStatus()).setAside).toEqual([]);
  });

  test("write offline, before the bucket was ever reached, and lose nothing", async () => {
    const shared = memoryBucket();
    await using laptop = await openDevice(shared);
    await laptop.store.put(["n"], "laptop", { at: 1 });
    await laptop.sync();
    const network = line(shared);
    network.isCut = true;
    const path = temporaryFile();
    let phone = await openDevice(network, { path });
    await phone.store.put(["n"], "phone", { at: 2 });
    expect(await phone.syncStatus()).toMatchObject({ waiting: 1, record: 0 });
    await phone.close();
    phone = await openDevice(network, { path });
    expect(await itemOf(phone, "phone")).toEqual({ at: 2 });
    network.isCut = false;
    await phone.sync();
    await laptop.sync();
    expect(await contentOf(phone)).toHaveLength(2);
    expect(await contentOf(laptop)).toEqual(await contentOf(phone));
    await phone.close();
  });

  test("know at once that nobody answers, and are closed at once", async () => {
    const network = line(memoryBucket());
    network.isCut = true;
    const memory = await openDevice(network);
    await memory.store.put(["n"], "k", {});
    const syncing = memory.sync();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await memory.syncStatus()).toMatchObject({
      isSyncing: true,
      waiting: 1,
      error: {
        code: "unreachable",
        message: expect.stringMatching(/a bucket far away does not answer: .*no network/),
      },
    });
    await memory.close();
    await expect(syncing).rejects.toMatchObject({ code: "closed" });
  });

  test("sync by themselves", async () => {
    const shared = memoryBucket();
    const sync = { everyMs: 20 };
    await using laptop = await openDevice(shared, { sync });
    await using phone = await openDevice(shared, { sync });
    const came = new Promise((resolve) => phone.onChange(resolve));
    await laptop.store.put(["facts"], "k", { from: "laptop" });
    expect(await came).toEqual({ namespaces: [["facts"]], threads: [], everything: false });
    expect(await itemOf(phone, "k", ["facts"])).toEqual({ from: "laptop" });
  });

  test("that went on with one thread have two branches of it, of which the newest counts", async () => {
    const shared = memoryBucket();
    await using laptop = await openDevice(shared);
    await using phone = await openDevice(shared);
    await putCheckpoint(laptop, "t", "1ef00000-0000-6000-8000-000000000001");
    await laptop.sync();
    await phone.sync();
    await putCheckpoint(
      laptop,
      "t",
      "1ef00000-0000-6000-8000-000000000002",
      "1ef00000-0000-6000-8000-000000000001",
    );
    await putCheckpoint(
      phone,
      "t",
      "1ef00000-0000-6000-8000-000000000003",
      "1ef00000-0000-6000-8000-000000000001",
    );
    for (const one of [laptop, phone, laptop]) await one.sync();
    for (const { checkpointer } of [laptop, phone]) {
      const ids = [];
      for await (const { checkpoint } of checkpointer.list({ configurable: { thread_id: "t" } })) {
        ids.push(checkpoint.id.at(-1));
      }
      expect(ids).toEqual(["3", "2", "1"]);
      const tuple = await checkpointer.getTuple({ configurable: { thread_id: "t" } });
      expect(tuple.checkpoint.id.at(-1)).toBe("3");
    }
  });

  test("set aside what is refused on top of what the other wrote, and go on", async () => {
    const shared = memoryBucket();
    await using laptop = await openDevice(shared);
    await using phone = await openDevice(shared);
    await laptop.store.put(["case"], "k", { keep: true });
    await laptop.sync();
    await phone.sync();
    await laptop.hold(["case"], "a lawsuit");
    await laptop.sync();
    await phone.forget({ namespaces: [["case"]] });
    await phone.store.put(["n"], "later", { x: 1 });
    await phone.sync();
    expect(await itemOf(phone, "k", ["case"])).toEqual({ keep: true });
    const { setAside, waiting } = await phone.syncStatus();
    expect(waiting).toBe(0);
    expect(setAside).toEqual([
      expect.objectContaining({ code: "held", message: expect.stringContaining("lawsuit") }),
    ]);
    await phone.dropSetAside(setAside.map(({ id }) => id));
    expect((await phone.syncStatus()).setAside).toEqual([]);
    await laptop.sync();
    expect(await contentOf(laptop)).toEqual(await contentOf(phone));
  });

  test("give the memory its index also when one can't go back to what it was before", async () => {
    const shared = memoryBucket();
    const index = { dims: DIMS, embeddings, fields: ["text"] };
    await using laptop = await openDevice(shared, { index });
    await laptop.store.put(["old"], "k", { text: "tea" });
    await laptop.forget({ namespaces: [["old"]] });
    await laptop.store.put(["n"], "k", { text: "car" });
    await laptop.sync();
    await using phone = await openDevice(shared, { index });
    await phone.sync();
    expect(await contentOf(phone)).toEqual([["n", "k", { text: "car" }]]);
  });

  test("search by the vectors that the other has made", async () => {
    const shared = memoryBucket();
    const index = { dims: DIMS, embeddings, fields: ["text"] };
    await using laptop = await openDevice(shared, { index });
    await laptop.store.put(["n"], "tea", { text: "tea" });
    await laptop.store.put(["n"], "car", { text: "car" });
    await laptop.sync();
    await using phone = await openDevice(shared, { index });
    await phone.sync();
    const found = await phone.store.search(["n"], {
      query: "tea",
      ranking: { mode: "vector" },
    });
    expect(found.map(({ key }) => key)).toEqual(["tea", "car"]);
    await using other = await openDevice(shared, {
      index: { dims: 8, embeddings, fields: ["text"] },
    });
    await expect(other.sync()).rejects.toMatchObject({
      code: "conflicting_options",
      message: expect.stringContaining("4 dimensions"),
    });
  });
});

describe("forget()", () => {
  test("reaches the bucket and the other device, and the status says when", async () => {
    const shared = memoryBucket();
    await using laptop = await openDevice(shared);
    await using phone = await openDevice(shared);
    await laptop.store.put(["n"], "k", { secret: "xylophone-7" });
    await laptop.store.put(["n"], "other", { secret: "harmless" });
    await laptop.sync();
    await phone.sync();
    const { remains } = await laptop.forget({ namespaces: [["n"]] });
    expect(remains).toMatch(/The bucket that this memory syncs with still has it/);
    const scoped = await laptop.scoped({ user: "ada" }).forget();
    expect(scoped.remains).toMatch(/The bucket that this memory syncs with still has it/);
    expect((await laptop.syncStatus()).isForgetting).toBe(true);
    await laptop.sync();
    expect((await laptop.syncStatus()).isForgetting).toBe(false);
    expect(shared.objects.size).toBeGreaterThan(0);
    expect(await itemOf(phone, "k")).toEqual({ secret: "xylophone-7" });
    await phone.sync();
    expect(await contentOf(phone)).toEqual([]);
    await phone.close();
    expect(readFileSync(phone.path).includes("xylophone-7")).toBe(false);
    await using late = await openMemory({ bucket: shared.bucket, name: "ada" });
    expect(await contentOf(late)).toEqual([]);
  });

  test("is never said to be over while the bucket has it", async () => {
    const shared = memoryBucket();
    await using laptop = await openDevice(shared);
    await laptop.store.put(["n"], "k", { secret: "xylophone-7" });
    await laptop.sync();
    await laptop.forget({ namespaces: [["n"]] });
    let isOver = false;
    const over = laptop.sync().then(() => {
      isOver = true;
    });
    let asked = 0;
    while (!isOver) {
      const { isForgetting } = await laptop.syncStatus();
      if (!isForgetting) expect(textOf(shared)).not.toContain("xylophone-7");
      asked++;
      await new Promise(setImmediate);
    }
    await over;
    expect(asked).toBeGreaterThan(1);
    expect((await laptop.syncStatus()).isForgetting).toBe(false);
    expect(textOf(shared)).not.toContain("xylophone-7");
  });

  test("and a device whose records were deleted meanwhile comes back with what it wrote", async () => {
    const shared = memoryBucket();
    await using laptop = await openDevice(shared);
    await using phone = await openDevice(shared);
    await laptop.store.put(["old"], "k", { secret: 1 });
    await laptop.sync();
    await phone.sync();
    await phone.store.put(["n"], "phone", { offline: true });
    await laptop.store.put(["n"], "laptop", {});
    await laptop.forget({ namespaces: [["old"]] });
    await laptop.sync();
    await phone.sync();
    await laptop.sync();
    expect(await contentOf(phone)).toEqual([
      ["n", "laptop", {}],
      ["n", "phone", { offline: true }],
    ]);
    expect(await contentOf(laptop)).toEqual(await contentOf(phone));
  });
});

describe("forget(), whose objects another device clears,", () => {
  test("leaves the base that is needed", async () => {
    const shared = memoryBucket();
    const gate = openGate();
    const port = { ...shared.port };
    port.delete = (key) => gate.promise.then(() => shared.port.delete(key));
    const stuck = customBucket(port);
    await using first = await openMemory({ bucket: stuck, name: "ada" });
    await first.store.put(["n"], "k", { secret: 1 });
    // It does not come to delete anything.
    const forgotten = first.forget({ namespaces: [["n"]] });
    while (!isThere(shared, /\.[0-9a-f]{15}1$/)) await tick();
    // From that base to the next one, which needs it.
    await using second = await openMemory({ bucket: stuck, name: "ada" });
    for (let i = 0; i < 70; i++) await second.store.put(["m"], `k${i}`, {});
    while (!isThere(shared, /\.[0-9a-f]{15}0\d{13}$/)) await tick();
    await using device = await openDevice(shared);
    await device.sync();
    expect((await device.syncStatus()).isForgetting).toBe(false);
    await using late = await openMemory({ bucket: shared.bucket, name: "ada" });
    expect(await contentOf(late)).toHaveLength(70);
    gate.resolve();
    await forgotten;
  });

  test("does not make a device forget what it has appended itself", async () => {
    const shared = memoryBucket();
    await using laptop = await openDevice(shared);
    await laptop.store.put(["old"], "k", { secret: 1 });
    await laptop.forget({ namespaces: [["old"]] });
    const cleared = laptop.sync();
    const path = temporaryFile();
    const phone = await openDevice(
      { bucket: customBucket(neverTold(shared.port, /\/l\/\d+7$/)) },
      { path },
    );
    while (!isThere(shared, /\.[0-9a-f]{15}1$/)) await tick();
    await phone.store.keepHistory(["n"]);
    await phone.store.put(["n"], "k", { v: 1 });
    // Its record is there, and it ends before it hears of that.
    phone.sync().catch(() => {});
    while (!isThere(shared, /\/l\/\d+7$/)) await tick();
    await phone.close();
    await cleared;
    await using again = await openDevice(shared, { path });
    await again.sync();
    await laptop.sync();
    for (const { store } of [again, laptop]) {
      expect(await store.history(["n"], "k")).toHaveLength(1);
    }
  });
});

describe("the bucket", () => {
  test("takes a memory that was there before, once", async () => {
    const shared = memoryBucket();
    const path = temporaryFile();
    const before = await openMemory({ path });
    await before.store.put(["n"], "old", { x: 1 });
    await putCheckpoint(before, "t", "1ef00000-0000-6000-8000-000000000001");
    await before.close();
    await using laptop = await openDevice(shared, { path });
    await laptop.sync();
    await laptop.store.put(["n"], "new", { x: 2 });
    await laptop.sync();
    await using phone = await openDevice(shared);
    await phone.sync();
    expect(await contentOf(phone)).toEqual(await contentOf(laptop));
    expect(await phone.checkpointer.getTuple({ configurable: { thread_id: "t" } })).toBeDefined();

    const own = temporaryFile();
    const second = await openMemory({ path: own });
    await second.store.put(["n"], "mine", {});
    await second.close();
    await using third = await openDevice(shared, { path: own });
    await expect(third.sync()).rejects.toMatchObject({
      code: "already_exists",
      message: expect.stringContaining("both hold something"),
    });
    expect((await third.syncStatus()).error).toMatchObject({ code: "already_exists" });
    expect(await contentOf(third)).toHaveLength(1);
  });

  test("has a function beside devices, and operations have one id everywhere", async () => {
    const shared = memoryBucket();
    await using device = await openDevice(shared);
    await device.store.keepHistory(["n"]);
    await device.store.put(["n"], "k", { v: 1 });
    await device.store.put(["n"], "k", { v: 2 });
    await device.sync();
    await using served = await openMemory({ bucket: shared.bucket, name: "ada" });
    await served.store.put(["n"], "k", { v: 3 });
    await device.sync();
    expect(await itemOf(device, "k")).toEqual({ v: 3 });
    const idsOf = async ({ store }) => {
      const versions = await store.history(["n"], "k");
      return versions.map((version) => version.operationId ?? version.operation);
    };
    expect(await idsOf(device)).toEqual(await idsOf(served));
  });

  test("is ciphertext with a key, and its names tell nothing", async () => {
    const shared = memoryBucket();
    const key = "correct horse";
    const path = temporaryFile();
    await using laptop = await openDevice(shared, { path, key });
    await laptop.store.put(["n"], "k", { word: "xylophone" });
    await laptop.sync();
    await using phone = await openDevice(shared, { sync: { key } });
    await phone.sync();
    expect(await contentOf(phone)).toEqual(await contentOf(laptop));
    expect(textOf(shared)).not.toContain("xylophone");
    expect([...shared.objects.keys()].join()).not.toContain("ada");
  });

  test.each([
    ["loses the answer", () => Promise.reject(new Error("the answer is lost"))],
    ["does not answer before the device ends", () => new Promise(() => {})],
  ])("that %s has the write once", async (_name, answer) => {
    const shared = memoryBucket();
    let answers = 0;
    const bucket = customBucket({
      ...shared.port,
      async create(name, bytes) {
        const created = await shared.port.create(name, bytes);
        return answers-- === 1 ? answer() : created;
      },
    });
    const path = temporaryFile();
    const first = await openDevice({ bucket }, { path });
    await first.store.keepHistory(["n"]);
    await first.sync();
    await first.store.put(["n"], "k", { v: 1 });
    answers = 1;
    await Promise.race([first.sync(), new Promise((resolve) => setTimeout(resolve, 500))]);
    await first.close();
    await using again = await openDevice({ bucket }, { path });
    await again.sync();
    await using phone = await openDevice(shared);
    await phone.sync();
    for (const { store } of [again, phone]) expect(await store.history(["n"], "k")).toHaveLength(1);
  });

  test("with a damaged record loses what is in it, and names it", async () => {
    const shared = memoryBucket();
    await using laptop = await openDevice(shared);
    for (const key of ["a", "b", "c"]) {
      await laptop.store.put(["n"], key, {});
      await laptop.sync();
    }
    const second = [...shared.objects.keys()].filter((key) => key.includes("/l/")).sort()[1];
    shared.objects.set(
      second,
      shared.objects.get(second).map((byte) => byte ^ 1),
    );
    await using phone = await openDevice(shared);
    await phone.sync();
    expect((await contentOf(phone)).map(([, key]) => key)).toEqual(["a", "c"]);
    expect((await phone.syncStatus()).badRecords).toEqual([{ record: 2, why: expect.any(String) }]);
  });

  test("that is empty is restored to what it was: empty", async () => {
    const shared = memoryBucket();
    await using laptop = await openDevice(shared);
    await laptop.restore({ at: Date.now() });
    await laptop.store.put(["n"], "k", { v: 1 });
    await laptop.sync();
    await using phone = await openDevice(shared);
    await phone.sync();
    expect(await itemOf(phone, "k")).toEqual({ v: 1 });
    expect((await phone.syncStatus()).badRecords).toEqual([]);
  });

  test("is not restored to a time of which the clocks of the devices differ", async () => {
    const shared = memoryBucket();
    await using laptop = await openDevice(shared);
    await laptop.store.put(["n"], "first", {});
    await laptop.sync();
    const { now } = Date;
    Date.now = () => now() + 366 * 24 * 3_600_000;
    try {
      await using phone = await openDevice(shared);
      await phone.store.put(["n"], "fast", {});
      await phone.sync();
    } finally {
      Date.now = now;
    }
    await laptop.store.put(["n"], "second", {});
    await laptop.sync();
    await tick();
    const at = Date.now();
    await tick();
    await laptop.store.put(["n"], "third", {});
    await laptop.sync();
    const { records } = await readLog(shared.bucket, { name: "ada" });
    const [second, third] = records.slice(-2).map(({ record }) => record);
    await expect(laptop.restore({ at })).rejects.toMatchObject({
      code: "no_history",
      message: expect.stringMatching(
        /clocks of the devices differ: .*restore\(\{ record: \d+ \}\)/,
      ),
    });
    expect(await contentOf(laptop)).toHaveLength(4);
    await laptop.restore({ record: second });
    const keys = async () => (await contentOf(laptop)).map(([, key]) => key);
    expect(await keys()).toEqual(["fast", "first", "second"]);
    await laptop.restore({ record: third });
    expect(await keys()).toEqual(["fast", "first", "second", "third"]);
  });

  test("is not emptied by a time before all of it, or by a record that it does not have", async () => {
    const shared = memoryBucket();
    await using laptop = await openDevice(shared);
    await laptop.store.put(["n"], "k", { v: 1 });
    await laptop.sync();
    for (const [point, code, message] of [
      [
        { at: "2020-01-01" },
        "no_history",
        /begins after 2020-.*restore\(\{ record: 0 \}\) empties/,
      ],
      [{ record: 1000 }, "no_history", /ends with record \d+$/],
      [{ record: -1 }, "invalid_argument", /record of restore must be a whole number/],
      [{}, "invalid_argument", /either at, a time, or record/],
      [{ at: 0, record: 0 }, "invalid_argument", /either at, a time, or record/],
    ]) {
      await expect(laptop.restore(point)).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message),
      });
    }
    expect(await itemOf(laptop, "k")).toEqual({ v: 1 });
    await laptop.restore({ record: 0 });
    expect(await contentOf(laptop)).toEqual([]);
  });

  test("has the past, which a device restores for all", async () => {
    const shared = memoryBucket();
    await using laptop = await openDevice(shared);
    await using phone = await openDevice(shared);
    await laptop.store.put(["n"], "k", { v: 1 });
    await laptop.sync();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const at = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 20));
    await laptop.store.put(["n"], "k", { v: 2 });
    await laptop.sync();
    await phone.sync();
    expect(await itemOf(phone, "k")).toEqual({ v: 2 });
    await phone.restore({ at });
    await laptop.sync();
    for (const one of [phone, laptop]) expect(await itemOf(one, "k")).toEqual({ v: 1 });
  });
});

describe("is refused:", () => {
  const { bucket } = memoryBucket();

  test.each([
    ["a name that is missing", { path: "x.db", sync: { bucket } }, /needs a name/],
    ["a bucket beside it", { name: "ada", bucket, sync: { bucket, name: "a" } }, /exclude/],
    ["no bucket", { path: "x.db", sync: { name: "ada" } }, /sync\.bucket must be/],
    ["a memory that does not stay", { path: ":memory:", sync: { bucket, name: "ada" } }, /kept on/],
  ])("%s", async (_name, options, message) => {
    await expect(openMemory(options)).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringMatching(message),
    });
  });

  test("an odd option, an odd id, and what is of a memory that syncs alone", async () => {
    const path = temporaryFile();
    const odd = { bucket, name: "ada", every: 3 };
    await expect(openMemory({ path, sync: odd })).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("every"),
    });
    await using memory = await openMemory({ path });
    for (const call of [() => memory.sync(), () => memory.syncStatus()]) {
      await expect(call()).rejects.toMatchObject({ code: "unsupported" });
    }
    await expect(memory.dropSetAside("1")).rejects.toMatchObject({ code: "invalid_argument" });
  });

  test("the log of another memory", async () => {
    const path = temporaryFile();
    const first = await openDevice(memoryBucket(), { path });
    await first.store.put(["n"], "k", {});
    await first.sync();
    await first.close();
    const another = memoryBucket();
    const other = await openDevice(another);
    await other.sync();
    await other.close();
    await using second = await openDevice(another, { path });
    await expect(second.sync()).rejects.toMatchObject({ code: "conflicting_options" });
    expect(await itemOf(second, "k")).toEqual({});
  });
});
