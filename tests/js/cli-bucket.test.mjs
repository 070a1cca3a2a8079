// `npx keepsake sync` and `bucket`: a file and a memory in a bucket.

import { mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { openMemory } from "keepsake";
import { customBucket, folder, readLog } from "keepsake/bucket";
import { keepsake } from "./support/command.mjs";
import { memoryBucket } from "./support/memory-bucket.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

function jsonOf(...words) {
  const { status, stdout, stderr } = keepsake(...words, "--json");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return JSON.parse(stdout);
}

async function put(path, key) {
  const memory = await openMemory({ path });
  await memory.store.put(["n"], key, { text: "green tea" });
  await memory.close();
}

function shared() {
  const path = join(dirname(temporaryFile()), "shared");
  mkdirSync(path);
  return path;
}

test("a file moves into a bucket, from there into a new one, and both go on", async () => {
  const bucket = shared();
  const [first, second] = [temporaryFile(), temporaryFile()];
  await put(first, "a");
  expect(jsonOf("sync", first, bucket, "--name", "ada")).toMatchObject({ sent: 0, record: 1 });
  expect(jsonOf("sync", second, bucket, "--name", "ada").store).toMatchObject({ items: 1 });
  await put(second, "b");
  const sent = jsonOf("sync", second, bucket, "--name", "ada", "--device", "phone");
  expect(sent).toMatchObject({ sent: 1, record: 2, setAside: [], badRecords: [] });
  expect(jsonOf("sync", first, bucket, "--name", "ada").store).toMatchObject({ items: 2 });

  const log = jsonOf("bucket", bucket, "--name", "ada");
  expect(log).toMatchObject({ total: 2, last: 2, bases: [], badRecords: [] });
  expect(log.records.map(({ record, device, calls }) => [record, device, calls])).toEqual([
    [1, "", { restore: 1 }],
    [2, "phone", { put: 1 }],
  ]);
  const text = keepsake("bucket", bucket, "--name", "ada", "--limit", "1").stdout;
  expect(text).toMatch(/RECORD.+\n +2 .+phone.+put\n2 records up to 2, 0 bases\n/);
  expect(jsonOf("bucket", bucket, "--name", "ada", "--limit", "0")).toEqual(log);
});

test("sync says that a bucket has nothing of this name, and so nothing came", () => {
  const bucket = shared();
  const { status, stdout } = keepsake("sync", temporaryFile(), bucket, "--name", "nobody");
  expect(status).toBe(0);
  expect(stdout).toMatch(/\nthe bucket has nothing of this name, or not with this key\n$/);
});

test("a bucket is tried without a name, and a log that is not there is not begun", async () => {
  const bucket = shared();
  expect(jsonOf("bucket", bucket)).toMatchObject({ isOk: true, problems: [] });
  const { status, stderr } = keepsake("bucket", bucket, "--name", "ada");
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(/not_found: there is no memory called "ada"/),
  });
  expect(await folder(bucket).port.list("")).toEqual([]);
});

test("a call that is wrong says how it is called, and makes no file", () => {
  const file = temporaryFile();
  expect(keepsake("sync", file, shared())).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/--name says what/),
  });
  expect(keepsake("sync", file, `${file}-nowhere`, "--name", "ada")).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/bucket_refused: .+there is no such folder/),
  });
  expect(keepsake("inspect", file).stderr).toMatch(/no such file|not_found|no file/);
  expect(keepsake("bucket", "s3://memories", "--name", "ada")).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/AWS_ACCESS_KEY_ID/),
  });
});

test("doctor and inspect say how a file that syncs stands to its bucket", async () => {
  const place = shared();
  const [file, other] = [temporaryFile(), temporaryFile()];
  const openSynced = (path) =>
    openMemory({ path, sync: { bucket: folder(place), name: "ada's", everyMs: 0 } });
  const laptop = await openSynced(other);
  await laptop.hold(["case"], "a lawsuit");
  await laptop.sync();
  const phone = await openSynced(file);
  await phone.sync();
  await phone.release(["case"]);
  await phone.store.put(["case"], "k", {});
  await phone.sync();
  await laptop.sync();
  await laptop.hold(["case"], "a lawsuit");
  await laptop.sync();
  await phone.forget({ namespaces: [["case"]] });
  await phone.sync();
  await phone.close();
  await laptop.close();
  const place2 = `${place}-elsewhere`;
  renameSync(place, place2);

  const before = Date.now();
  await put(file, "waits");
  await put(file, "waits, too");
  const inspected = jsonOf("inspect", file);
  expect(inspected.sync).toEqual({
    name: "ada's",
    record: expect.any(Number),
    waiting: 2,
    waitingBytes: expect.any(Number),
    waitingSince: expect.any(String),
    setAside: [
      {
        id: expect.any(Number),
        at: expect.any(String),
        code: "held",
        message: expect.stringContaining("lawsuit"),
      },
    ],
  });
  expect(Date.parse(inspected.sync.waitingSince)).toBeGreaterThanOrEqual(before);
  expect(inspected.sync.record).toBeGreaterThan(0);
  const { sync, advice } = jsonOf("doctor", file);
  expect(sync).toEqual(inspected.sync);
  expect(advice).toEqual([
    expect.stringMatching(/keepsake sync FILE BUCKET --name NAME/),
    expect.stringMatching(/dropSetAside\(\)/),
  ]);
  for (const command of ["doctor", "inspect"]) {
    const { stdout } = keepsake(command, file);
    expect(stdout).toMatch(/syncs with +the memory "ada's" in a bucket, and has .+ record \d+\n/);
    expect(stdout).toMatch(/waiting +2 calls since 20.+Z, \d+ bytes\n/);
    expect(stdout).toMatch(/set aside +20.+Z held: .+lawsuit/);
  }

  renameSync(place2, place);
  const again = await openSynced(file);
  await again.sync();
  await again.dropSetAside((await again.syncStatus()).setAside.map(({ id }) => id));
  await again.close();
  expect(jsonOf("doctor", file)).toMatchObject({ sync: { waiting: 0, setAside: [] }, advice: [] });
  expect(keepsake("inspect", file).stdout).toMatch(/waiting +nothing\n/);
});

test("doctor and inspect say nothing of syncing where a file does not sync", async () => {
  const file = temporaryFile();
  await put(file, "a");
  for (const command of ["doctor", "inspect"]) {
    expect(jsonOf(command, file)).not.toHaveProperty("sync");
    expect(keepsake(command, file).stdout).not.toMatch(/sync/);
  }
});

test("readLog() names a record that is damaged, and needs the key", async () => {
  const { bucket, objects } = memoryBucket();
  const key = new Uint8Array(32).fill(3);
  const memory = await openMemory({ bucket, name: "ada", key, log: { device: "server" } });
  await memory.store.put(["n"], "a", {});
  await memory.store.put(["n"], "b", {});
  await memory.close();
  await expect(readLog(bucket, { name: "ada" })).rejects.toMatchObject({ code: "not_found" });
  const [last] = [...objects.keys()].filter((name) => name.includes("/l/")).sort();
  objects.set(last, objects.get(last).fill(1, 60));
  const { records, badRecords } = await readLog(bucket, { name: "ada", key });
  expect(records).toMatchObject([{ record: 1, device: "server", calls: { put: 1 } }]);
  expect(badRecords).toEqual([{ record: 2, why: expect.any(String) }]);
});

test("readLog() fetches as many of the last records as are asked for, 16 at once", async () => {
  const { bucket, port } = memoryBucket();
  const memory = await openMemory({ bucket, name: "ada" });
  for (let i = 1; i <= 40; i++) await memory.store.put(["n"], `${i}`, {});
  await memory.close();
  const fetched = { records: 0, now: 0, most: 0 };
  const slow = {
    ...port,
    async get(key) {
      if (!key.includes("/l/")) return port.get(key);
      fetched.records++;
      fetched.most = Math.max(fetched.most, ++fetched.now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      fetched.now--;
      return port.get(key);
    },
  };
  const counted = customBucket(slow, "a bucket that counts");
  const last = await readLog(counted, { name: "ada", limit: 3 });
  expect(last.records.map(({ record }) => record)).toEqual([38, 39, 40]);
  expect(last).toMatchObject({ total: 40, last: 40 });
  expect(fetched).toMatchObject({ records: 3, most: 3 });
  const all = await readLog(counted, { name: "ada" });
  expect(all.records.map(({ record }) => record)).toEqual(
    Array.from({ length: 40 }, (_, i) => i + 1),
  );
  expect(fetched).toMatchObject({ records: 43, most: 16 });
  expect(await readLog(bucket, { name: "ada", limit: 100 })).toEqual(all);
  for (const limit of [0, -1, 2.5, "3"]) {
    await expect(readLog(bucket, { name: "ada", limit })).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringMatching(/limit must be a whole number from 1: /),
    });
  }
});

test("readLog() counts no record that was deleted", async () => {
  const { bucket, objects } = memoryBucket();
  const memory = await openMemory({ bucket, name: "ada" });
  for (const key of ["a", "b", "c"]) await memory.store.put(["n"], key, {});
  await memory.forget({ namespaces: [["n"]] });
  await memory.store.put(["n"], "d", {});
  await memory.close();
  const report = await readLog(bucket, { name: "ada" });
  const { records, total, last } = report;
  expect(records.map(({ record, calls }) => [record, calls])).toEqual([[last, { put: 1 }]]);
  expect(total).toBe(1);
  // As long as deleting goes on, fences are listed, and nothing says yet that all before them is gone.
  const [cleared] = [...objects.keys()].filter((key) => key.endsWith("-"));
  objects.delete(cleared);
  expect(await readLog(bucket, { name: "ada" })).toEqual(report);
});
