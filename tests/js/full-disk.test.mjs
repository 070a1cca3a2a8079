// A disk on which not one byte is free, and how it is left: as docs/operations.md says.

import { spawnSync } from "node:child_process";
import {
  closeSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openMemory } from "keepsake";
import { onDisk, testWithMount } from "./support/disks.mjs";
import { projectRoot } from "./support/installed-package.mjs";
import { removeTemporaryFolders } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const program = join(projectRoot, "dist", "cli.js");
const ITEMS = 300;

function fill(folder) {
  const filler = openSync(join(folder, "filler"), "a");
  expect(() => {
    for (;;) writeSync(filler, new Uint8Array(4096));
  }).toThrow("ENOSPC");
  closeSync(filler);
}

async function putItems(memory) {
  for (let i = 0; i < ITEMS; i += 100) {
    const namespace = ["users", "ada"];
    const value = (n) => ({ n, text: `what was said on day ${n}, and more of it`.repeat(4) });
    await memory.store.batch(
      Array.from({ length: 100 }, (_, k) => ({
        namespace,
        key: `k${i + k}`,
        value: value(i + k),
      })),
    );
  }
}

/** What each of these commands prints, in one process. */
function run(...calls) {
  const script = `
    for (const [i, words] of ${JSON.stringify(calls)}.entries()) {
      process.argv = [process.argv[0], "", ...words];
      await import(${JSON.stringify(pathToFileURL(program).href)} + "?" + i);
      if (process.exitCode) throw new Error(words.join(" "));
    }`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "-e", script],
    { encoding: "utf8", env: { ...process.env, NODE_OPTIONS: "" } },
  );
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return stdout;
}

testWithMount(
  "a memory that was closed is opened, looked at, pruned and emptied",
  async () => {
    await onDisk("24m", async (folder) => {
      const path = join(folder, "agent.db");
      {
        await using memory = await openMemory({ path });
        await putItems(memory);
      }
      expect(statSync(`${path}-reserve`).size).toBe(1 << 20);
      fill(folder);
      const prune = ["prune", path, "--keep-last", "1", "--yes"];
      const told = run(["inspect", path], ["ls", path], ["check", path], prune);
      expect(told).toContain(`items    ${ITEMS}`);
      const memory = await openMemory({ path });
      for (let i = 0; i < ITEMS; i++) await memory.store.delete(["users", "ada"], `k${i}`);
      expect(await memory.store.search(["users"])).toEqual([]);
      await memory.store.put(["n"], "after", { text: "x".repeat(100_000) });
      await memory.close();
      rmSync(join(folder, "filler"));
      const again = await openMemory({ path });
      expect(await again.check()).toMatchObject({ isOk: true });
      expect(await again.store.listKeys(["n"])).toEqual(["after"]);
      await again.close();
      const left = readdirSync(folder).filter((name) => !name.endsWith("-reserve"));
      expect(left).toEqual(["agent.db"]);
    });
  },
  120_000,
);

testWithMount("reads of all kinds go on", async () => {
  await onDisk("24m", async (folder) => {
    const memory = await openMemory({ path: join(folder, "agent.db"), ttl: { defaultTtl: 60 } });
    const { store } = memory;
    await putItems(memory);
    fill(folder);
    const namespace = ["users", "ada"];
    const many = { limit: 1000 };
    for (let again = 0; again < 3; again++) {
      expect((await store.get(namespace, "k7")).value.n).toBe(7);
      expect(await store.search(namespace, many)).toHaveLength(ITEMS);
      expect(await store.search(namespace, { filter: { n: 7 } })).toHaveLength(1);
      const [first] = await store.search(namespace, { query: "day 77", ranking: { mode: "text" } });
      expect(first.key).toBe("k77");
    }
    await expect(store.put(namespace, "new", { text: "x".repeat(1e5) })).rejects.toMatchObject({
      code: "storage_full",
    });
    rmSync(join(folder, "filler"));
    // What was found out meanwhile is stored now.
    await store.put(namespace, "new", { text: "new" });
    const [newest] = await store.search(namespace, { query: "new", ranking: { mode: "text" } });
    expect(newest.key).toBe("new");
    await memory.close();
  });
});

testWithMount("the lock of a full disk takes no byte, and says who has it", async () => {
  await onDisk("4m", async (folder) => {
    const path = join(folder, "agent.db");
    {
      await using memory = await openMemory({ path });
      await memory.store.put(["n"], "k", { n: 1 });
    }
    fill(folder);
    const memory = await openMemory({ path });
    expect(readlinkSync(`${path}-lock`)).toContain(`${process.pid},`);
    expect((await memory.store.get(["n"], "k")).value).toEqual({ n: 1 });
    const other = spawnSync(process.execPath, [program, "inspect", path], { encoding: "utf8" });
    expect(other.stderr).toContain(`is open in process ${process.pid}`);
    await memory.close();
    // Who was killed has it no longer.
    const kill = `const { openMemory } = await import("keepsake");
      await openMemory({ path: ${JSON.stringify(path)} }); process.kill(process.pid, "SIGKILL")`;
    spawnSync(process.execPath, ["--input-type=module", "-e", kill], { cwd: projectRoot });
    expect(readlinkSync(`${path}-lock`)).not.toContain(`${process.pid},`);
    await using again = await openMemory({ path });
    expect((await again.store.get(["n"], "k")).value).toEqual({ n: 1 });
  });
});
