// A file that can be read and not written: in a folder of another user's, and on a disk that is
// mounted for reading.

import { chmodSync, copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openMemory } from "keepsake";
import { putCheckpoint, threadConfig } from "./support/checkpoints.mjs";
import { onDisk, remount, testWithMount } from "./support/disks.mjs";
import { projectRoot, run } from "./support/installed-package.mjs";
import { removeTemporaryFolders, temporaryFolder } from "./support/temporary.mjs";

let image;

const SCRIPT = `
const { openMemory, KeepsakeError } = await import("${join(projectRoot, "dist/index.js")}");
const said = {};
// Root may write everywhere. It changes late, because another user may not read the project.
await (await openMemory({ path: ":memory:" })).close();
if (process.getuid?.() === 0 && process.argv[3] !== "root") process.setuid(65534);
const refusalOf = (call) => call().then(() => "done", ({ code }) => code);
try {
  const memory = await openMemory({ path: process.argv[2], ttl: { sweepIntervalMinutes: 0.001 } });
  const { store, checkpointer } = memory;
  said.readOnly = (await memory.diagnose()).readOnly;
  said.hit = (await store.search(["user"], { query: "Which tea?" }))[0]?.key;
  said.item = (await store.get(["user", "ada"], "tea")).value;
  said.threads = [];
  for await (const { threadId } of checkpointer.listThreads()) said.threads.push(threadId);
  said.scoped = (await memory.scoped({ user: "ada" }).store.search([])).length;
  said.exported = (await memory.export()).length > 0;
  await new Promise((resolve) => setTimeout(resolve, 200));
  said.put = await refusalOf(() => store.put(["user", "ada"], "tea", { text: "coffee" }));
  said.together = await Promise.all([
    refusalOf(() => store.put(["user", "ada"], "pet", {})),
    refusalOf(() => store.get(["user", "ada"], "tea")),
  ]);
  said.deleted = await refusalOf(() => store.delete(["user", "ada"], "tea"));
  said.forgotten = await refusalOf(() => memory.forget({ namespaces: [["user"]] }));
  said.thread = await refusalOf(() => checkpointer.deleteThread("t"));
  said.key = await refusalOf(() => memory.changeKey(new Uint8Array(32)));
  said.after = (await store.get(["user", "ada"], "tea")).value;
  await memory.close();
} catch ({ code, message }) {
  Object.assign(said, { code, message });
}
console.log(JSON.stringify(said));
`;

const READ = {
  readOnly: true,
  hit: "tea",
  item: { text: "Ada drinks green tea" },
  threads: ["t"],
  scoped: 1,
  exported: true,
  put: "read_only",
  together: ["read_only", "done"],
  deleted: "read_only",
  forgotten: "read_only",
  thread: "read_only",
  key: "read_only",
  after: { text: "Ada drinks green tea" },
};

beforeAll(async () => {
  image = temporaryFolder();
  chmodSync(image, 0o755);
  const path = join(image, "agent.db");
  const memory = await openMemory({ path });
  await memory.store.put(["user", "ada"], "tea", { text: "Ada drinks green tea" });
  await putCheckpoint(memory.checkpointer, threadConfig("t"), { a: 1 });
  await memory.close();
  writeFileSync(join(image, "script.mjs"), SCRIPT);
  chmodSync(path, 0o444);
  chmodSync(image, 0o555);
});

afterAll(() => {
  chmodSync(image, 0o755);
  removeTemporaryFolders();
});

const ask = (path, ...user) =>
  JSON.parse(run(process.execPath, [join(image, "script.mjs"), path, ...user], { cwd: "/" }));

test("is read, and refuses what would be stored", () => {
  const before = readFileSync(join(image, "agent.db"));
  expect(ask(join(image, "agent.db"))).toEqual(READ);
  expect(readFileSync(join(image, "agent.db")).equals(before)).toBe(true);
  expect(readdirSync(image).sort()).toEqual(["agent.db", "script.mjs"]);
});

test("several processes read it at once", async () => {
  const memory = await openMemory({ path: join(image, "agent.db") });
  expect(await memory.store.get(["user", "ada"], "tea")).toMatchObject({ key: "tea" });
  // Root could write, and so has the lock.
  if (process.getuid?.() === 0) await memory.close();
  expect(ask(join(image, "agent.db"))).toEqual(READ);
  await memory.close();
});

test("a file in a folder that may be written is read, too, and its key stays", async () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o777);
  const path = join(folder, "agent.db");
  copyFileSync(join(image, "agent.db"), path);
  chmodSync(path, 0o444);
  expect(ask(path)).toEqual(READ);
  expect(readdirSync(folder)).toEqual(["agent.db"]);
});

test("what was lost is told as it is where the file can be written", () => {
  const folder = temporaryFolder();
  const path = join(folder, "agent.db");
  writeFileSync(path, "");
  writeFileSync(`${path}-wal`, Buffer.concat([Buffer.from("377f0682", "hex"), Buffer.alloc(5000)]));
  chmodSync(path, 0o444);
  chmodSync(folder, 0o555);
  expect(ask(path)).toMatchObject({
    code: "cannot_open",
    message: expect.stringMatching(/has only 0 bytes, but .*-wal is there/),
  });
  chmodSync(folder, 0o755);
});

test("is not read without a log that it may not read", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "agent.db");
  const source = join(temporaryFolder(), "agent.db");
  copyFileSync(join(image, "agent.db"), source);
  chmodSync(source, 0o644);
  const memory = await openMemory({ path: source });
  await memory.store.put(["user", "ada"], "pet", { text: "Ada has a cat" });
  copyFileSync(source, path);
  copyFileSync(`${source}-wal`, `${path}-wal`);
  await memory.close();
  chmodSync(path, 0o444);
  chmodSync(`${path}-wal`, 0);
  chmodSync(folder, 0o555);
  expect(ask(path)).toMatchObject({
    code: "cannot_open",
    message: expect.stringMatching(/-wal has what was written last, and you may not read it/),
  });
  chmodSync(`${path}-wal`, 0o444);
  expect(ask(path)).toEqual({ ...READ, scoped: 2 });
  chmodSync(folder, 0o755);
});

test("is not read beside one who may write it", () => {
  const folder = temporaryFolder();
  const path = join(folder, "agent.db");
  copyFileSync(join(image, "agent.db"), path);
  writeFileSync(`${path}-lock`, "{}");
  chmodSync(path, 0o444);
  chmodSync(folder, 0o555);
  expect(ask(path)).toMatchObject({ code: "read_only", message: expect.stringContaining("lock") });
  chmodSync(folder, 0o755);
});

test("a file that is not there can't be made", () => {
  const { code, message } = ask(join(image, "other.db"));
  expect({ code, message }).toEqual({ code: "read_only", message: expect.stringContaining(image) });
});

testWithMount(
  "a disk that is mounted for reading is read, though a lock was left on it",
  async () => {
    await onDisk("8m", (disk) => {
      const path = join(disk, "agent.db");
      copyFileSync(join(image, "agent.db"), path);
      writeFileSync(`${path}-lock`, "{}");
      remount(disk, "ro");
      expect(ask(path, "root")).toEqual(READ);
      const cli = (...args) => run(process.execPath, [join(projectRoot, "dist/cli.js"), ...args]);
      expect(cli("inspect", path)).toMatch(/items +1/);
      expect(cli("search", path, "tea")).toContain("green tea");
      const copy = join(temporaryFolder(), "copy.db");
      cli("export", path, copy);
      expect(cli("search", copy, "tea")).toContain("green tea");
    });
  },
);
