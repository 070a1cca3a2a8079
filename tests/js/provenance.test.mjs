// Where items come from: what policies make of it, and that all of one source is taken back. What
// every store does with origins is in the contract (keepsake/testing).

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openMemory } from "keepsake";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const N = ["facts"];
const PAGE = "https://bad.example/page";
const web = { origin: "web", source: PAGE };
const user = { origin: "user" };
const keysOf = (items) => items.map(({ key }) => key);

function bytesHold(path, text) {
  const folder = dirname(path);
  return readdirSync(folder).some((name) => readFileSync(join(folder, name)).includes(text));
}

test("a poisoned page is taken back, and what it had replaced is there again", async () => {
  const path = temporaryFile("poisoned.db");
  const memory = await openMemory({ path });
  await memory.keepHistory([]);
  await memory.store.put(N, "bank", { text: "the account is 111" }, undefined, user);
  await memory.store.put(N, "home", { text: "lives in Bern" }, undefined, user);
  await memory.store.put(N, "bank", { text: "the account is POISON" }, undefined, web);
  const supersedes = "home";
  await memory.store.put(N, "x", { text: "POISON" }, undefined, { ...web, supersedes });
  const other = { ...web, source: "https://good.example/" };
  await memory.store.put(N, "news", { text: "of another page" }, undefined, other);

  const asked = { sourcePrefix: "https://bad.example/" };
  const would = await memory.revoke({ ...asked, dryRun: true });
  expect(would.erased).toMatchObject({ items: 2, restored: 2, threads: 0 });
  const receipt = await memory.revoke(asked);
  expect(receipt).toMatchObject({ ...asked, namespaces: [[]], erased: would.erased });
  const items = await memory.store.search(N, { limit: 10 });
  expect(items.map(({ value }) => value.text).sort()).toEqual([
    "lives in Bern",
    "of another page",
    "the account is 111",
  ]);
  expect(items.find(({ key }) => key === "bank")).toMatchObject(user);
  expect(await memory.store.history(N, "bank")).toHaveLength(1);
  expect(bytesHold(path, "POISON")).toBe(false);

  const kept = JSON.parse(JSON.stringify(receipt));
  expect(await memory.checkReceipt(kept)).toMatchObject({ isGenuine: true, found: { items: 0 } });
  expect(await memory.checkReceipt({ ...kept, sourcePrefix: "https://" })).toMatchObject({
    isGenuine: false,
    found: { items: 1 },
  });
  await memory.close();
});

test("revoke keeps to its scope, to holds, and to what the log tells", async () => {
  const memory = await openMemory({ path: ":memory:" });
  await memory.keepAudit();
  const [ada, bob] = ["ada", "bob"].map((name) => memory.scoped({ user: name }));
  for (const { store } of [ada, bob]) await store.put(N, "k", { n: 1 }, undefined, web);
  const receipt = await ada.revoke({ source: PAGE, namespaces: [N] });
  expect(receipt).toMatchObject({ place: ["user", "ada"], source: PAGE, erased: { items: 1 } });
  expect(await bob.store.search([])).toHaveLength(1);
  expect((await memory.auditLog())[0]).toMatchObject({ operation: "forget", count: 1 });
  await memory.hold(["user", "bob"], "case 7");
  await expect(bob.revoke({ origin: "web" })).rejects.toMatchObject({ code: "held" });
  await memory.release(["user", "bob"]);
  const readOnly = memory.scoped({ user: "bob", policy: { readOnly: true } });
  await expect(readOnly.revoke({ origin: "web" })).rejects.toMatchObject({ code: "access_denied" });
  expect((await bob.revoke({ origin: "web" })).erased.items).toBe(1);
  await memory.close();
});

test.each([
  [{}, "revoke takes an origin, a source or a sourcePrefix"],
  [{ source: "" }, "revoke takes an origin, a source or a sourcePrefix"],
  [{ source: "a", sourcePrefix: "a" }, "exclude each other"],
  [{ origin: "nobody" }, "origin must be one of user, tool, web, model"],
  [{ source: "a", filter: {} }, 'unknown option "filter" of revoke'],
])("what revoke can't be asked for: %j", async (options, why) => {
  const memory = await openMemory({ path: ":memory:" });
  await memory.store.put(N, "k", {}, undefined, web);
  await expect(memory.revoke(options)).rejects.toThrow(why);
  expect(await memory.store.search([])).toHaveLength(1);
  await memory.close();
});

test("a policy refuses, quarantines and ranks by origin", async () => {
  const memory = await openMemory({ path: ":memory:" });
  const origins = { web: "quarantine", unknown: "refuse", tool: 0.5, user: "allow" };
  const ada = memory.scoped({ user: "ada", policy: { origins } });
  expect(ada.policies[0].policy).toEqual({ origins });
  const { store } = ada;
  const put = (key, options) => store.put(N, key, { text: "green tea" }, undefined, options);
  await expect(put("k")).rejects.toMatchObject({ code: "access_denied" });
  await put("tool", { origin: "tool" });
  await put("user", user);
  await put("web", web);

  expect(keysOf(await store.search(N, { query: "tea" }))).toEqual(["user", "tool"]);
  expect(await store.search(N, { includeSuperseded: true })).toHaveLength(2);
  const all = await store.search(N, { includeQuarantined: true });
  expect(all).toHaveLength(3);
  expect(all.find(({ key }) => key === "web")).toMatchObject({ ...web, quarantined: true });
  expect(await store.get(N, "web")).toMatchObject({ quarantined: true });
  const why = await store.whyNot([], { namespace: N, key: "web" }, { query: "tea" });
  expect(why.reason).toBe("quarantined");
  // The owner, who has no policy, doesn't find it either.
  expect(await memory.store.search([], { query: "tea" })).toHaveLength(2);

  await expect(put("user", web)).rejects.toThrow("replaces nothing outside");
  await expect(put("x", { ...web, supersedes: "user" })).rejects.toThrow("supersedes nothing");
  await put("web", user);
  expect(await store.search(N)).toHaveLength(3);
  await memory.close();
});

test.each([
  [{ web: "block" }, "origins.web must be allow, quarantine, refuse or a number 0…1"],
  [{ web: 2 }, "origins.web must be"],
  [{ page: "refuse" }, "an origin of origins must be one of user, tool, web, model, unknown"],
  [["web"], "origins must say something of each origin"],
])("what a policy can't say of origins: %j", async (origins, why) => {
  const memory = await openMemory({ path: ":memory:" });
  expect(() => memory.scoped({ user: "ada", policy: { origins } })).toThrow(why);
  await memory.close();
});

test.each(["sqlite", "portable"])("origins travel in an export (%s)", async (format) => {
  const source = await openMemory({ path: temporaryFile() });
  await source.keepHistory([]);
  await source.store.put(N, "k", { n: 1 }, undefined, user);
  const origins = { web: "quarantine" };
  const ada = source.scoped({ user: "ada", policy: { origins } });
  await ada.store.put(N, "q", { n: 1 }, undefined, web);
  await source.store.put(N, "k", { n: 2 }, undefined, web);
  const bytes = await source.export({ format });
  await source.close();
  const target = await openMemory({ path: temporaryFile() });
  await target.import(bytes);
  expect(await target.store.get(N, "k")).toMatchObject(web);
  expect(keysOf(await target.store.search([]))).toEqual(["k"]);
  expect((await target.store.history(N, "k")).map(({ item }) => item.origin)).toEqual([
    "web",
    "user",
  ]);
  expect((await target.revoke({ origin: "web" })).erased).toMatchObject({ items: 2, restored: 1 });
  expect(await target.store.get(N, "k")).toMatchObject({ value: { n: 1 }, ...user });
  await target.close();
});
