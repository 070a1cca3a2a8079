// Who may read what a database leaves on the disk, and where nothing may be written.

import { chmodSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { openMemory, SqliteStore } from "keepsake";
import { expectRefused } from "./support/refusal.mjs";
import { removeTemporaryFolders, temporaryFile, temporaryFolder } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

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
