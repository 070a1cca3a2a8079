// A backup is put back in every way in which people do it. What it holds is there then, or an error
// says what to do. It is never mixed with the log of the file that was there, and neither is lost.

import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { jest } from "@jest/globals";
import { openMemory } from "keepsake";
import { expectRefused } from "./support/refusal.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const OTHERS_LOG = /the log beside the file is of another database.*move .*-wal.* away/;
const SIDE_FILES = ["-wal", "-journal"];

async function keysIn(path, options) {
  await using memory = await openMemory({ path, ...options });
  const keys = await memory.store.listKeys(["n"]);
  expect(await memory.check()).toMatchObject({ isOk: true });
  return keys;
}

/** A backup of a closed file with "a", and what a killed process leaves of it that put "b", too. */
async function backedUp(options) {
  const [path, backup, killed] = ["live", "backup", "killed"].map((name) => temporaryFile(name));
  {
    await using memory = await openMemory({ path, ...options });
    await memory.store.put(["n"], "a", { n: 1 });
  }
  copyFileSync(path, backup);
  await using memory = await openMemory({ path, ...options });
  await memory.store.put(["n"], "b", { n: 2 });
  for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, killed + suffix);
  return { path, backup, killed };
}

describe.each([
  ["in plain", {}],
  ["encrypted", { key: new Uint8Array(32).fill(7) }],
])("a file %s", (_, options) => {
  test("that was closed takes a backup in its place", async () => {
    const { path, backup } = await backedUp(options);
    copyFileSync(backup, path);
    expect(await keysIn(path, options)).toEqual(["a"]);
  });

  test("of a killed process is not mixed with a backup that is put over it", async () => {
    const { backup, killed } = await backedUp(options);
    const [database, log] = ["", "-wal"].map((suffix) => readFileSync(killed + suffix));
    copyFileSync(backup, killed);
    await expectRefused(() => openMemory({ path: killed, ...options }), "cannot_open", OTHERS_LOG);
    expect(readFileSync(killed).equals(readFileSync(backup))).toBe(true);
    expect(readFileSync(`${killed}-wal`).equals(log)).toBe(true);
    // As the message says: the backup, or what was there.
    renameSync(`${killed}-wal`, `${killed}-aside`);
    expect(await keysIn(killed, options)).toEqual(["a"]);
    writeFileSync(killed, database);
    renameSync(`${killed}-aside`, `${killed}-wal`);
    expect(await keysIn(killed, options)).toEqual(["a", "b"]);
  });

  test("of a killed process opens elsewhere with its log, and over a newer pair", async () => {
    const { path, killed } = await backedUp(options);
    const other = temporaryFile("other");
    for (const suffix of ["", "-wal"]) copyFileSync(killed + suffix, other + suffix);
    expect(await keysIn(other, options)).toEqual(["a", "b"]);
    for (const suffix of ["", "-wal"]) copyFileSync(killed + suffix, path + suffix);
    expect(await keysIn(path, options)).toEqual(["a", "b"]);
  });

  test.each([
    ["copied", copyFileSync],
    ["moved", renameSync],
  ])("that is open notices a backup that is %s over it, and writes nothing", async (_, put) => {
    const { path, backup } = await backedUp(options);
    const content = readFileSync(backup);
    const memory = await openMemory({ path, ...options });
    await memory.store.put(["n"], "c", { n: 3 });
    put(backup, path);
    await expectRefused(() => memory.store.put(["n"], "d", { n: 4 }), "changed_outside");
    await memory.close();
    expect(readFileSync(path).equals(content)).toBe(true);
    await expectRefused(() => openMemory({ path, ...options }), "cannot_open", OTHERS_LOG);
    for (const suffix of SIDE_FILES) rmSync(path + suffix, { force: true });
    expect(await keysIn(path, options)).toEqual(["a"]);
  });

  test("that is open, and whose engine was let go of meanwhile, notices it as well", async () => {
    const { path, backup } = await backedUp(options);
    const content = readFileSync(backup);
    const memory = await openMemory({ path, ...options });
    jest.useFakeTimers();
    // An instance that grew this much is replaced when nobody calls for a while.
    await memory.store.put(["n"], "c", { text: "x".repeat(30_000_000) });
    jest.advanceTimersByTime(60_000);
    jest.useRealTimers();
    expect(existsSync(`${path}-wal`)).toBe(false);
    copyFileSync(backup, path);
    await expectRefused(() => memory.store.put(["n"], "d", { n: 4 }), "changed_outside");
    await expectRefused(() => memory.store.get(["n"], "a"), "changed_outside");
    await memory.close();
    expect(readFileSync(path).equals(content)).toBe(true);
    expect(await keysIn(path, options)).toEqual(["a"]);
  });

  test("that is open, and whose log was moved, notices it as well", async () => {
    const { path } = await backedUp(options);
    const memory = await openMemory({ path, ...options });
    await memory.store.put(["n"], "c", { n: 3 });
    const copy = readFileSync(path);
    await memory.store.put(["n"], "d", { n: "x".repeat(1_000_000) });
    await memory.flush();
    writeFileSync(path, copy);
    await expectRefused(() => memory.store.put(["n"], "e", { n: 5 }), "changed_outside");
    await memory.close();
    expect(readFileSync(path).equals(copy)).toBe(true);
  });
});

test("no log belongs to an export that is put in place of a file", async () => {
  const path = temporaryFile();
  const memory = await openMemory({ path });
  await memory.store.put(["n"], "a", { n: 1 });
  const backup = await memory.export();
  await memory.store.put(["n"], "b", { n: 2 });
  const killed = temporaryFile("killed");
  for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, killed + suffix);
  await memory.close();
  writeFileSync(killed, backup);
  await expectRefused(() => openMemory({ path: killed }), "cannot_open", OTHERS_LOG);
  rmSync(`${killed}-wal`);
  expect(await keysIn(killed)).toEqual(["a"]);
  expect(existsSync(`${killed}-wal`)).toBe(false);
});
