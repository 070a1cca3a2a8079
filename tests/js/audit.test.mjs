// Who wrote where and what was refused, as a memory keeps it.

import { readFileSync } from "node:fs";
import BetterSqlite3 from "better-sqlite3";
import { openMemory } from "keepsake";
import { memoryOver } from "keepsake/sqlite";
import { audited, auditOf, lineOf } from "./support/auditing.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

const opened = [];
async function memoryAt(path, options) {
  const memory = await openMemory({ path, ...options });
  opened.push(memory);
  return memory;
}
afterEach(() => Promise.all(opened.splice(0).map((memory) => memory.close())));
afterAll(removeTemporaryFolders);

test.each([
  ["in memory", () => memoryAt(":memory:")],
  ["in a file", () => memoryAt(temporaryFile())],
  ["over a connection", () => memoryOver(new BetterSqlite3(temporaryFile()))],
])("writes, refusals and erasures are told, reads are not, %s", async (_, open) => {
  expect(await auditOf(await open())).toEqual(audited);
});

test("the database remembers the rule and the log", async () => {
  const path = temporaryFile();
  const memory = await memoryAt(path, { actor: "service" });
  await memory.keepAudit({ maxEntries: 2 });
  for (const key of ["a", "b", "c"]) await memory.store.put([key], "k", { n: 1 });
  await memory.close();
  const again = await memoryAt(path);
  expect(await again.auditRule()).toEqual({ maxEntries: 2, since: expect.any(Date) });
  expect((await again.auditLog()).map(lineOf)).toEqual([
    "store - c service - ok 1",
    "store - b service - ok 1",
  ]);
  await again.store.put(["d"], "k", { n: 1 });
  expect((await again.auditLog()).map(({ id }) => id)).toEqual([4, 3]);
});

test("writes of one tick keep their actors", async () => {
  const memory = await memoryAt(temporaryFile());
  await memory.keepAudit();
  const scoped = ["a", "b"].map((actor) => memory.scoped({ user: "ada", actor }).store);
  await Promise.all(scoped.map((store, i) => store.put(["n"], `k${i}`, { i })));
  const actors = (await memory.auditLog()).map(({ actor }) => actor);
  expect(actors.sort()).toEqual(["a", "b"]);
});

test("what is older than maxAge is neither read nor kept", async () => {
  let time = 1_800_000_000_000;
  const path = temporaryFile();
  const memory = await memoryAt(path, { now: () => time });
  await memory.keepAudit({ maxAge: 10 });
  await memory.store.put(["SECRET-name"], "k", { n: 1 });
  time += 11 * 60_000;
  expect(await memory.auditLog()).toEqual([]);
  await memory.store.delete(["SECRET-name"], "k");
  await memory.keepAudit({});
  expect((await memory.auditLog()).map(({ operation }) => operation)).toEqual([
    "configure",
    "delete",
  ]);
});

test("what is forgotten has no name in the file's log", async () => {
  const path = temporaryFile();
  const memory = await memoryAt(path);
  await memory.keepAudit();
  const ada = memory.scoped({ user: "SECRET-ada", actor: "SECRET-actor" });
  await ada.store.put(["notes"], "k", { n: 1 });
  await memory.flush();
  expect(readFileSync(path).includes("SECRET")).toBe(true);
  await ada.forget();
  await memory.flush();
  expect(readFileSync(path).includes("SECRET")).toBe(false);
  expect((await memory.auditLog()).map(lineOf)).toEqual([
    "forget - - - - ok 1",
    "store - - - - ok 1",
  ]);
});

test.each(["sqlite", "portable"])(
  "a %s export carries the log, and its import is told",
  async (format) => {
    const memory = await memoryAt(temporaryFile());
    await memory.keepAudit();
    await memory.store.put(["n"], "k", { n: 1 });
    const bytes = await memory.export({ format });
    const other = await memoryAt(temporaryFile(), { actor: "restorer" });
    await other.keepAudit();
    await other.store.put(["other"], "k", { n: 1 });
    await other.import(bytes);
    expect((await other.auditLog()).map(lineOf)).toEqual([
      "import - - restorer - ok 1",
      "store - n - - ok 1",
    ]);
  },
);

test("another connection's rule holds at once, and what is rolled back leaves nothing", async () => {
  const path = temporaryFile();
  const connections = [new BetterSqlite3(path), new BetterSqlite3(path)];
  const [one, two] = connections.map((connection) => memoryOver(connection));
  opened.push(one, two);
  await two.store.put(["n"], "before", { n: 1 });
  await one.keepAudit();
  await two.store.put(["n"], "k", { n: 1 });
  expect(await one.auditLog()).toHaveLength(1);
  connections[0].exec("BEGIN");
  await one.store.put(["n"], "l", { n: 1 });
  connections[0].exec("ROLLBACK");
  expect(await one.auditLog()).toHaveLength(1);
  await one.store.put(["n"], "m", { n: 1 });
  expect((await two.auditLog()).map(({ id }) => id)).toEqual([2, 1]);
});
