// folder(): the contract, several processes at once, one that is killed, and disks that fail.

import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { folder } from "keepsake/bucket";
import { bytesOf, describeBucket } from "../contract/bucket.mjs";
import { onDisk, remount, testWithMount } from "./support/disks.mjs";
import { found, killAll, printed, start } from "./support/processes.mjs";
import { expectRefused } from "./support/refusal.mjs";
import { removeTemporaryFolders, temporaryFolder } from "./support/temporary.mjs";

afterAll(async () => {
  await killAll();
  removeTemporaryFolders();
});

const root = temporaryFolder();
describeBucket("a folder", (prefix) => folder(root, { prefix }));

test("nobody reads a half: a crash leaves no object, and is tidied up later", async () => {
  const path = temporaryFolder();
  const unfinished = join(path, "unfinished");
  mkdirSync(unfinished);
  for (const name of ["old", "new"]) writeFileSync(join(unfinished, name), "half");
  const before = new Date(Date.now() - 11 * 60 * 1000);
  utimesSync(join(unfinished, "old"), before, before);
  const { port } = folder(path);
  expect(await port.list("")).toEqual([]);
  await port.create("a", bytesOf(3));
  expect(readdirSync(unfinished)).toEqual(["new"]);
});

test("what is deleted is gone, also where a crash left it under two names", async () => {
  const path = temporaryFolder();
  const unfinished = join(path, "unfinished");
  const { port } = folder(path);
  await port.create("a/b", bytesOf(3));
  linkSync(join(path, "a+", "b="), join(unfinished, "twin"));
  writeFileSync(join(unfinished, "of another"), "half");
  await port.delete("a/b");
  expect(readdirSync(unfinished)).toEqual(["of another"]);
});

test("writers and those who delete do not get in each other's way", async () => {
  const { port } = folder(temporaryFolder());
  const work = Array.from({ length: 40 }, async (_, i) => {
    expect(await port.create(`deep/er/${i}`, bytesOf(1))).toBe(true);
    await port.delete(`deep/er/${i}`);
  });
  await Promise.all(work);
  expect(await port.list("")).toEqual([]);
});

test("a name that the file system does not take is refused, and the message says what to do", async () => {
  const { port } = folder(temporaryFolder());
  for (const call of [
    () => port.create("a".repeat(300), bytesOf(1)),
    () => port.get("a".repeat(300)),
  ]) {
    await expectRefused(call, "bucket_refused", /longer than this file system takes.*shorter name/);
  }
});

test("a folder that is not there is refused, and not made", async () => {
  const path = join(temporaryFolder(), "drive");
  const { port } = folder(path);
  for (const call of [
    () => port.get("a"),
    () => port.create("a", bytesOf(1)),
    () => port.list(""),
    () => port.delete("a"),
  ]) {
    await expectRefused(call, "bucket_refused", /no such folder: make it, or connect/);
  }
  expect(existsSync(path)).toBe(false);
  writeFileSync(path, "a file");
  await expectRefused(() => port.get("a"), "bucket_refused", /ENOTDIR|no such folder/);
});

test("files of others beside its own are no keys", async () => {
  const path = temporaryFolder();
  const { port } = folder(path);
  await port.create("log/1", bytesOf(1));
  writeFileSync(join(path, ".DS_Store"), "");
  writeFileSync(join(path, "log+", "note to self="), "");
  mkdirSync(join(path, "log+", "2="));
  expect(await port.list("")).toEqual(["log/1"]);
});

test("its path and its options are checked", async () => {
  await expectRefused(() => folder(""), "invalid_argument", /path of a folder/);
  await expectRefused(() => folder("/tmp", { prefx: "a" }), "invalid_argument", /"prefix"/);
  await expectRefused(() => folder("/tmp", { prefix: "../a" }), "invalid_argument", /prefix/);
});

test("of several processes one creates each object, and all read its bytes", async () => {
  const path = temporaryFolder();
  const children = [1, 2, 3].map((seed) => start("folder-worker.mjs", [path, "race", seed]));
  await Promise.all(children.map((child) => printed(child, "ready")));
  for (const child of children) child.stdin.end();
  const won = await Promise.all(children.map((child) => found(child, /won (\[.*\])\n/)));
  const keys = won.flatMap((list) => JSON.parse(list));
  const { port } = folder(path);
  expect([...keys].sort()).toEqual(await port.list(""));
  expect(keys.length).toBe(100);
  for (const [i, list] of won.entries()) {
    for (const key of JSON.parse(list)) expect(await port.get(key)).toEqual(bytesOf(500, i + 1));
  }
});

test("what a killed process was writing is not there, or whole", async () => {
  const path = temporaryFolder();
  const child = start("folder-worker.mjs", [path, "large", 1]);
  await printed(child, "ready");
  child.stdin.end();
  await found(child, /created (3)\n/);
  child.kill("SIGKILL");
  await child.ended;
  const { port } = folder(path);
  const keys = await port.list("");
  expect(keys.length).toBeGreaterThanOrEqual(3);
  for (const key of keys) {
    expect(Buffer.compare(await port.get(key), bytesOf(3_000_000, 1))).toBe(0);
  }
});

testWithMount("a folder whose files can't be linked is refused, and nothing is there", async () => {
  await onDisk("4m", async (disk) => {
    const path = temporaryFolder();
    symlinkSync(disk, join(path, "log+"));
    const { port } = folder(path);
    expect(await port.create("a", bytesOf(1))).toBe(true);
    await expectRefused(
      () => port.create("log/1", bytesOf(1)),
      "bucket_refused",
      /can't be linked there \(EXDEV\).*exFAT/,
    );
    expect(readdirSync(disk)).toEqual([]);
    expect(readdirSync(join(path, "unfinished"))).toEqual([]);
  });
});

testWithMount("a full disk is `unreachable`, one that may only be read refuses", async () => {
  await onDisk("1m", async (path) => {
    const { port } = folder(path);
    expect(await port.create("a", bytesOf(1000))).toBe(true);
    await expectRefused(() => port.create("b", bytesOf(2_000_000)), "unreachable", /ENOSPC/);
    expect(await port.list("")).toEqual(["a"]);
    expect(await port.create("c", bytesOf(1000))).toBe(true);
    remount(path, "ro");
    await expectRefused(() => port.create("d", bytesOf(1)), "bucket_refused", /EROFS/);
    await expectRefused(() => port.delete("a"), "bucket_refused", /EROFS/);
    expect(await port.get("a")).toEqual(bytesOf(1000));
  });
});

test("the folder of unfinished files is made anew if somebody deletes it", async () => {
  const path = temporaryFolder();
  const { port } = folder(path);
  await port.create("a", bytesOf(1));
  rmSync(join(path, "unfinished"), { recursive: true });
  await expectRefused(() => port.create("b", bytesOf(1)), "unreachable", /ENOENT/);
  expect(await port.create("b", bytesOf(1))).toBe(true);
});
