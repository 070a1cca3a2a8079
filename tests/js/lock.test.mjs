// One owner at a time: other processes and threads wait, then fail clearly; what a
// dead owner left is taken over, by one of the waiters only.

import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { SqliteSaver, SqliteStore } from "keepsake";
import { killAll, printed, start } from "./support/processes.mjs";
import { expectRefused } from "./support/refusal.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterEach(killAll);
afterAll(removeTemporaryFolders);

// The id of a user without rights.
const SOMEBODY_ELSE = 65_534;

const lockOf = (path) => `${path}-lock`;
const filesBeside = (path) => readdirSync(dirname(path)).sort();

async function heldByAnother(path) {
  const child = start("holder.mjs", [path, "hold"]);
  await printed(child, "held");
  return child;
}

/** A lock file as another owner would have left it. */
function writeLock(path, owner, name = lockOf(path)) {
  const lock = { pid: 1, thread: 0, machine: "elsewhere", token: "its-token", ...owner };
  writeFileSync(name, JSON.stringify(lock));
}

function makeOld(path, name = lockOf(path)) {
  const twoMinutesAgo = Date.now() / 1000 - 120;
  utimesSync(name, twoMinutesAgo, twoMinutesAgo);
}

async function expectUsable(path) {
  await using store = new SqliteStore({ path, lockTimeout: 0 });
  await store.put(["n"], "mine", { n: 1 });
  expect((await store.get(["n"], "mine")).value).toEqual({ n: 1 });
}

async function expectBusy(path, rule) {
  await using store = new SqliteStore({ path, lockTimeout: 50 });
  await expectRefused(() => store.get(["n"], "k"), "busy", rule);
}

describe("a second process", () => {
  test("is refused as busy when its timeout is over, and told who has the file", async () => {
    const path = temporaryFile();
    const child = await heldByAnother(path);
    await using store = new SqliteStore({ path, lockTimeout: 300 });
    const started = performance.now();
    const told = new RegExp(`\\b${child.pid}\\b.*Waited 0.3 s: a greater lockTimeout waits longer`);
    await expectRefused(() => store.get(["n"], "k"), "busy", told);
    expect(performance.now() - started).toBeGreaterThanOrEqual(300);
  });

  test("gets the file, and what is in it, as soon as the first has closed it", async () => {
    const path = temporaryFile();
    const child = await heldByAnother(path);
    await using store = new SqliteStore({ path });
    const reading = store.get(["n"], "k");
    child.stdin.write("close\n");
    expect((await reading).value).toEqual({ by: child.pid });
    expect(await child.ended).toBe(0);
  });

  test("takes over from an owner that was killed, with all that was acknowledged", async () => {
    const path = temporaryFile();
    const child = await heldByAnother(path);
    child.kill("SIGKILL");
    await child.ended;
    expect(existsSync(lockOf(path))).toBe(true);
    await using store = new SqliteStore({ path, lockTimeout: 0 });
    expect((await store.get(["n"], "k")).value).toEqual({ by: child.pid });
  });

  test("is alone when several wait for an owner that is killed", async () => {
    const path = temporaryFile();
    const owner = await heldByAnother(path);
    const waiters = Array.from({ length: 4 }, () => start("holder.mjs", [path, "count"]));
    await Promise.all(waiters.map((waiter) => printed(waiter, "waiting")));
    owner.kill("SIGKILL");
    expect(await Promise.all(waiters.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
    await using store = new SqliteStore({ path });
    expect((await store.get(["counters"], "n")).value).toEqual({ value: 40 });
  }, 60_000);

  test("finds no lock after one that ended without closing", async () => {
    const path = temporaryFile();
    const child = start("holder.mjs", [path, "exit"]);
    expect(await child.ended).toBe(0);
    expect(filesBeside(path)).toEqual([basename(path)]);
    await using store = new SqliteStore({ path });
    expect((await store.get(["n"], "k")).value).toEqual({ by: child.pid });
  });
});

describe("a second thread", () => {
  const program = `
    const { parentPort, workerData } = require("node:worker_threads");
    const { SqliteStore } = require(workerData.keepsake);
    const store = new SqliteStore({ path: workerData.path });
    store.put(["n"], "k", { by: "thread" }).then(() => parentPort.postMessage("held"));
    parentPort.on("message", async () => { await store.close(); process.exit(); });
  `;

  async function heldByThread(path) {
    const keepsake = createRequire(import.meta.url).resolve("keepsake");
    const worker = new Worker(program, { eval: true, workerData: { path, keepsake } });
    await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    return worker;
  }

  test("of the same process is refused as busy, and told so", async () => {
    const path = temporaryFile();
    const worker = await heldByThread(path);
    await expectBusy(path, /thread \d+ of this process/);
    await worker.terminate();
  });

  test("takes over from one that was terminated", async () => {
    const path = temporaryFile();
    const worker = await heldByThread(path);
    await worker.terminate();
    await using store = new SqliteStore({ path, lockTimeout: 5000 });
    expect((await store.get(["n"], "k")).value).toEqual({ by: "thread" });
  });
});

describe("a lock that was left", () => {
  test("by a process whose pid is now another's is taken over", async () => {
    const path = temporaryFile();
    await using first = new SqliteStore({ path });
    await first.get(["n"], "k");
    const mine = JSON.parse(readFileSync(lockOf(path), "utf8"));
    await first.close();
    writeLock(path, { ...mine, token: "earlier", started: "1" });
    await expectUsable(path);
  });

  test("by another host counts for as long as it shows life", async () => {
    const path = temporaryFile();
    writeLock(path, { pid: 4711 });
    const rule = /process 4711 of another machine or container.*if that process is gone, remove \//;
    await expectBusy(path, rule);
    makeOld(path);
    await expectUsable(path);
  });

  test("by another user who hides it is named, with the remedy", async () => {
    const path = temporaryFile();
    writeLock(path, { pid: 4711 });
    chmodSync(lockOf(path), 0o000);
    const isRoot = process.geteuid() === 0;
    if (isRoot) {
      chmodSync(dirname(path), 0o777);
      process.seteuid(SOMEBODY_ELSE);
    }
    try {
      await using store = new SqliteStore({ path, lockTimeout: 50 });
      const rule = /-lock, which this process may not read.*if no process has it open, remove /;
      await expectRefused(() => store.get(["n"], "k"), "read_only", rule);
    } finally {
      if (isRoot) process.seteuid(0);
    }
    expect(filesBeside(path)).toEqual([basename(lockOf(path))]);
  });

  test.each([
    ["empty", ""],
    ["without a process", '{"token":"t"}'],
  ])("%s by a power cut is taken over when it is old", async (_, text) => {
    const path = temporaryFile();
    writeFileSync(lockOf(path), text);
    await expectBusy(path, /its damaged lock does not name.*if that process is gone, remove \//);
    makeOld(path);
    await expectUsable(path);
  });

  test("damaged, with a time to come, is taken over", async () => {
    const path = temporaryFile();
    writeFileSync(lockOf(path), "");
    const tomorrow = Date.now() / 1000 + 86_400;
    utimesSync(lockOf(path), tomorrow, tomorrow);
    await expectUsable(path);
  });

  test.each([
    ["a whole lock", '{"token":"t","pid":1,"machine":"elsewhere","thread":0}', ["t", "tdamaged"]],
    ["a damaged lock", "", ["damaged", "damageddamaged"]],
  ])("with empty claims beside %s is taken over", async (_, text, tokens) => {
    const path = temporaryFile();
    writeFileSync(lockOf(path), text);
    for (const token of tokens) writeFileSync(`${lockOf(path)}.${token}`, "");
    makeOld(path);
    await expectUsable(path);
    expect(filesBeside(path)).toEqual([basename(path)]);
  });

  test("by an heir that died before it became the owner is taken over", async () => {
    const path = temporaryFile();
    const dead = { machine: (await ownLock(path)).machine, pid: 2 ** 22 + 1 };
    writeLock(path, { ...dead, token: "first" });
    writeLock(path, { ...dead, token: "second" }, `${lockOf(path)}.first`);
    await expectUsable(path);
    expect(filesBeside(path)).toEqual([basename(path)]);
  });

  test("by a dead owner whose heir lives is not taken from the heir", async () => {
    const path = temporaryFile();
    const mine = await ownLock(path);
    writeLock(path, { ...mine, pid: 2 ** 22 + 1, token: "first" });
    writeLock(path, { ...mine, token: "second" }, `${lockOf(path)}.first`);
    await expectBusy(path, new RegExp(`pid ${process.pid}`));
  });

  /** What we write into a lock. */
  async function ownLock(path) {
    await using store = new SqliteStore({ path });
    await store.get(["n"], "k");
    return JSON.parse(readFileSync(lockOf(path), "utf8"));
  }
});

describe("one process", () => {
  test("shares one engine between stores and savers on one path, links included", async () => {
    const path = temporaryFile();
    const link = join(dirname(path), "link.sqlite");
    symlinkSync(path, link);
    await using store = new SqliteStore({ path: link });
    await using saver = SqliteSaver.fromConnString(path);
    await using again = new SqliteStore({ path });
    await store.put(["n"], "k", { n: 1 });
    await saver.deleteThread("none");
    expect((await again.get(["n"], "k")).value).toEqual({ n: 1 });
  });

  test("shares it between the ESM and the CommonJS copy of the package", async () => {
    const path = temporaryFile();
    const copy = createRequire(import.meta.url)("keepsake");
    expect(copy.SqliteStore).not.toBe(SqliteStore);
    await using ours = new SqliteStore({ path });
    const theirs = new copy.SqliteStore({ path });
    await ours.put(["n"], "k", { n: 1 });
    expect((await theirs.get(["n"], "k")).value).toEqual({ n: 1 });
    await ours.close();
    await theirs.put(["n"], "k", { n: 2 });
    const error = await theirs.put(["a.b"], "k", {}).catch((reason) => reason);
    expect(error).toBeInstanceOf(copy.KeepsakeError);
    await theirs.close();
    expect(filesBeside(path)).toEqual([basename(path)]);
  });

  test("keeps the lock until the last of them is closed", async () => {
    const path = temporaryFile();
    const first = new SqliteStore({ path });
    const second = new SqliteStore({ path });
    await first.get(["n"], "k");
    await second.get(["n"], "k");
    await first.close();
    await first.close();
    expect(existsSync(lockOf(path))).toBe(true);
    await second.close();
    expect(existsSync(lockOf(path))).toBe(false);
  });

  test.each([
    ["durability", { durability: "strict" }],
    ["index dims", { index: { dims: 3, embeddings: () => [] } }],
  ])("refuses conflicting options on one path: %s", async (_, options) => {
    const path = temporaryFile();
    const index = { dims: 2, embeddings: (texts) => texts.map(() => [1, 0]) };
    await using first = new SqliteStore({ path, index, ttl: { defaultTtl: 1 } });
    await first.get(["n"], "k");
    await using second = new SqliteStore({ path, ...options });
    await expectRefused(() => second.get(["n"], "k"), "conflicting_options");
    await first.put(["n"], "k", { n: 1 });
  });
});
