// Who may read what a database leaves on the disk, and where nothing may be written.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { openMemory, SqliteStore } from "keepsake";
import { killAll, start } from "./support/processes.mjs";
import { expectRefused } from "./support/refusal.mjs";
import { removeTemporaryFolders, temporaryFile, temporaryFolder } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);
afterAll(killAll);

const modeOf = (path) => (statSync(path).mode & 0o777).toString(8);
const SIDE_FILES = ["-wal", "-journal", "-lock"];

async function opened(options) {
  const memory = await openMemory(options);
  await memory.store.put(["n"], "k", { secret: "green tea" });
  return memory;
}

test("a new database and all beside it are its owner's alone", async () => {
  const path = temporaryFile();
  await using _memory = await opened({ path });
  expect(modeOf(path)).toBe("600");
  for (const suffix of SIDE_FILES) expect([suffix, modeOf(path + suffix)]).toEqual([suffix, "600"]);
});

test("fileMode decides about a new database, whose log has the same mode", async () => {
  const path = temporaryFile();
  await using _memory = await opened({ path, fileMode: 0o640 });
  expect(modeOf(path)).toBe("640");
  expect(modeOf(`${path}-wal`)).toBe("640");
});

test.each([0o200, 0o1777, 1.5, "600", -1])("fileMode %p is refused", async (fileMode) => {
  await expectRefused(
    () => openMemory({ path: temporaryFile(), fileMode }),
    "invalid_argument",
    /fileMode must be a number such as 0o600/,
  );
});

test("a log follows the mode that its database was given later", async () => {
  const path = temporaryFile();
  await (await opened({ path, fileMode: 0o644 })).close();
  writeFileSync(`${path}-wal`, "", { mode: 0o644 });
  chmodSync(path, 0o600);
  await using _memory = await opened({ path });
  expect(modeOf(`${path}-wal`)).toBe("600");
  expect(modeOf(`${path}-journal`)).toBe("600");
});

test.each(["-wal", "-journal"])(
  "a link in place of %s is an error, and not followed",
  async (suffix) => {
    const path = temporaryFile();
    await (await opened({ path })).close();
    const target = join(temporaryFolder(), "target");
    writeFileSync(target, "precious");
    symlinkSync(target, path + suffix);
    const refusal = [() => openMemory({ path }), "cannot_open", /must not be a symbolic link/];
    await expectRefused(...refusal);
    expect(readFileSync(target, "utf8")).toBe("precious");
  },
);

test("a link in place of the lock is an error, whether it leads somewhere or not", async () => {
  for (const target of ["precious", "missing"]) {
    const path = temporaryFile();
    const leadsTo = join(temporaryFolder(), target);
    if (target === "precious") writeFileSync(leadsTo, target);
    symlinkSync(leadsTo, `${path}-lock`);
    await using store = new SqliteStore({ path, lockTimeout: 0 });
    const refusal = [() => store.listKeys(["n"]), "cannot_open", /must not be a symbolic link/];
    await expectRefused(...refusal);
    expect(existsSync(leadsTo) && readFileSync(leadsTo, "utf8")).toBe(
      target === "precious" && target,
    );
  }
});

// Opening a pipe may wait for ever, so that a process of its own does it: one for all calls, until
// it waits.
let elsewhere;

async function refusalElsewhere(call, path) {
  elsewhere ??= start("odd-file-worker.mjs", []);
  const child = elsewhere;
  const overdue = setTimeout(() => child.kill("SIGKILL"), 30_000);
  child.answers ??= createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.stdin.write(`${JSON.stringify([call, path])}\n`);
  const { done, value } = await child.answers.next();
  clearTimeout(overdue);
  if (!done) return JSON.parse(value);
  elsewhere = undefined;
  return "it waits";
}

async function closedFile() {
  const path = temporaryFile();
  await (await opened({ path })).close();
  return path;
}

const ODD_FILES = {
  "a folder": (path) => mkdirSync(path),
  "a pipe": (path) => execFileSync("mkfifo", [path]),
};

describe.each(["-wal", "-journal", "-lock", "-shm"])("in place of %s", (suffix) => {
  test.each(Object.entries(ODD_FILES))("%s is an error at once, and stays", async (what, make) => {
    const path = await closedFile();
    make(path + suffix);
    expect(await refusalElsewhere("open", path)).toEqual({
      code: "cannot_open",
      message: expect.stringContaining(`${path}${suffix} must not be ${what}`),
    });
    const found = statSync(path + suffix);
    expect(found.isDirectory() || found.isFIFO()).toBe(true);
  });
});

test.each([
  ["importFrom", "-wal"],
  ["salvage", "-wal"],
  ["importFrom", "-journal"],
])("%s of a file with a pipe in place of %s is an error at once", async (call, suffix) => {
  const path = await closedFile();
  ODD_FILES["a pipe"](path + suffix);
  expect(await refusalElsewhere(call, path)).toMatchObject({
    code: "cannot_open",
    message: expect.stringContaining("must not be a pipe"),
  });
});

test.each(Object.entries(ODD_FILES))("%s in place of the database is an error", async (_, make) => {
  const path = temporaryFile();
  make(path);
  for (const call of ["open", "importFrom", "salvage"]) {
    expect(await refusalElsewhere(call, path)).toMatchObject({
      code: "cannot_open",
      message: expect.stringContaining("path must be a file"),
    });
  }
});

test.each(["", "-wal", "-journal"])(
  "a second name of the file at %p is an error, and what it leads to stays",
  async (suffix) => {
    const path = await closedFile();
    const target = join(dirname(path), "target");
    if (suffix === "") copyFileSync(path, target);
    else writeFileSync(target, "precious");
    const before = readFileSync(target);
    rmSync(path + suffix, { force: true });
    linkSync(target, path + suffix);
    const refusal = [() => openMemory({ path }), "cannot_open", /must not be a hard link/];
    await expectRefused(...refusal);
    expect(readFileSync(target).equals(before)).toBe(true);
    // As the message says.
    copyFileSync(path + suffix, `${target}-copy`);
    renameSync(`${target}-copy`, path + suffix);
    if (suffix === "") await (await openMemory({ path })).close();
  },
);

test("a second name of another file in place of the lock never changes that file", async () => {
  const path = temporaryFile();
  const target = join(temporaryFolder(), "target");
  writeFileSync(target, "precious");
  linkSync(target, `${path}-lock`);
  await using store = new SqliteStore({ path, lockTimeout: 0 });
  await expectRefused(() => store.listKeys(["n"]), "busy");
  // As old as a lock of somebody who is gone.
  utimesSync(target, 1, 1);
  await store.put(["n"], "k", { n: 1 });
  expect(readFileSync(target, "utf8")).toBe("precious");
});

test.each([
  ["a folder", ODD_FILES["a folder"]],
  ["a pipe", ODD_FILES["a pipe"]],
  ["a symbolic link", (path, target) => symlinkSync(target, path)],
  ["a hard link", (path, target) => linkSync(target, path)],
])("%s in place of the reserve harms nothing", async (what, make) => {
  const path = await closedFile();
  const target = join(temporaryFolder(), "target");
  writeFileSync(target, "precious");
  const reserve = `${path}-reserve`;
  make(reserve, target);
  await using memory = await opened({ path });
  const isMade = () => statSync(reserve).isFile() && statSync(reserve).size === 1 << 20;
  const isDone = what === "a folder" ? () => false : isMade;
  for (let i = 0; i < 40 && !isDone(); i++) await new Promise((wake) => setTimeout(wake, 25));
  expect(isMade()).toBe(what !== "a folder");
  expect(readFileSync(target, "utf8")).toBe("precious");
  expect(await memory.store.get(["n"], "k")).not.toBeNull();
});

const NOTES = "notes of somebody";

test.each([
  ["-wal", "a log"],
  ["-journal", "a journal"],
  ["-reserve", "the reserve"],
])("a file of somebody called %s is an error, and stays", async (suffix, rule) => {
  for (const path of [temporaryFile(), await closedFile()]) {
    writeFileSync(path + suffix, NOTES);
    const message = `${path}${suffix} must be ${rule}`;
    await expectRefused(() => openMemory({ path }), "cannot_open", new RegExp(message));
    expect(readFileSync(path + suffix, "utf8")).toBe(NOTES);
    // As the message says.
    renameSync(path + suffix, `${path}-notes`);
    await (await opened({ path })).close();
    expect(readFileSync(`${path}-notes`, "utf8")).toBe(NOTES);
  }
});

test("a file of somebody that takes the reserve's name later stays", async () => {
  const path = await closedFile();
  const memory = await openMemory({ path });
  writeFileSync(`${path}-reserve`, NOTES);
  await memory.store.put(["n"], "k", { n: 1 });
  await new Promise((wake) => setTimeout(wake, 600));
  await memory.close();
  expect(readFileSync(`${path}-reserve`, "utf8")).toBe(NOTES);
});

test.each(["-wal", "-journal", "-shm", "-lock", "-reserve"])(
  "a path that ends with %s is an error",
  async (suffix) => {
    const path = temporaryFile() + suffix;
    const rule = new RegExp(`path must not end with ${suffix}`);
    await expectRefused(() => openMemory({ path }), "invalid_argument", rule);
  },
);

test.each([
  ["-wal", "a part of zeros", Buffer.alloc(32)],
  ["-wal", "the beginning", Buffer.from([0x37, 0x7f])],
  ["-journal", "a part of zeros", Buffer.alloc(512)],
  ["-reserve", "zeros", Buffer.alloc(1 << 20)],
  ["-reserve", "a half", Buffer.alloc(1 << 19, 0x5a)],
])("what a power cut leaves of %s is no file of somebody: %s", async (suffix, _, content) => {
  const path = await closedFile();
  writeFileSync(path + suffix, content);
  await using memory = await openMemory({ path });
  expect((await memory.store.get(["n"], "k")).value).toEqual({ secret: "green tea" });
});

test("the lock names neither the machine nor its boot", async () => {
  const path = temporaryFile();
  await using _memory = await opened({ path });
  const lock = readFileSync(`${path}-lock`, "utf8");
  expect(Object.keys(JSON.parse(lock)).sort()).toEqual(
    expect.arrayContaining(["machine", "pid", "thread", "token"]),
  );
  expect(lock).not.toContain(hostname());
  if (existsSync("/proc/sys/kernel/random/boot_id")) {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    expect(lock).not.toContain(boot);
  }
});
