// What fails is rolled back, and the next request is served.

import { cleanUp, startWorkerd } from "./support/workerd.mjs";

let workerd;

beforeAll(async () => {
  workerd = await startWorkerd("failures", { classes: { FAILING: "Failing", MEMORY: "Memory" } });
});

afterAll(cleanUp);

test("a failing statement undoes its batch", async () => {
  const { refused, during, after } = await workerd.call("statement");
  expect(refused).toMatchObject({ code: "internal" });
  expect(refused.message).toContain("refused on purpose");
  expect(during).toEqual(["before"]);
  expect(after).toEqual(["after", "before"]);
});

test.each([0, 1, 2, 3, 4])(
  "an exception of the host after %i statements undoes the batch",
  async (count) => {
    const { refused, during, after } = await workerd.call("exception", count);
    expect(refused).toMatchObject({ code: "internal" });
    expect(refused.message).toContain("thrown on purpose");
    expect(during).toEqual(["before"]);
    expect(after).toEqual(["after", "before"]);
  },
);

test.each([0, 1, 2, 3, 4, 5])(
  "a trap of the engine after %i calls of its host undoes the batch",
  async (count) => {
    const { refused, during, after } = await workerd.call("trap", count);
    expect(refused).toMatchObject({ code: "internal", cause: "unreachable" });
    expect(during).toEqual(["before"]);
    expect(after).toEqual(["after", "before"]);
  },
);

test("a trap in one object costs the others nothing that is stored", async () => {
  const { keys, inMemory } = await workerd.call("bystander");
  expect(keys).toEqual(["after", "before"]);
  expect(inMemory).toMatchObject({ code: "lost" });
});

test("an object may have tables of its own", async () => {
  expect(await workerd.call("beside")).toEqual(["a"]);
});

test("tables of somebody else that have our names are refused, and stay as they are", async () => {
  expect(await workerd.call("foreign")).toMatchObject({ code: "foreign_file" });
  expect(await workerd.call("foreign")).toMatchObject({ code: "foreign_file" });
});

test.each(["get", "put", "search", "getTuple", "putCheckpoint", "stats"])(
  "after deleteAll() the memory is empty, and serves %s and what follows",
  async (method) => {
    const { refused, keys, values } = await workerd.call("erased", method);
    expect(refused).toBeUndefined();
    expect(keys).toEqual(method === "put" ? ["after", "later"] : ["later"]);
    expect(values).toEqual({ id: "3" });
  },
);

test("a stub goes on with an object that was emptied", async () => {
  expect(await workerd.call("erasedByStub")).toEqual({ found: null, keys: ["after"] });
});

test("a first call that the caller's own transaction undoes does not spoil the next one", async () => {
  const { refused, keys } = await workerd.call("undone");
  expect(refused.message).toBe("undone on purpose");
  expect(keys).toEqual(["after"]);
});

test("a mistake is an error in an object and through a stub, too", async () => {
  const refused = await workerd.call("mistakes");
  expect(refused.map(({ code, message }) => `${code}: ${message}`)).toEqual([
    expect.stringMatching(/^invalid_argument: .*"locationhint".*"locationHint"/),
    expect.stringMatching(/^invalid_argument: .*"path".* it takes locationHint, /),
    expect.stringMatching(/^invalid_argument: .*ttl takes options by name/),
    expect.stringMatching(/^invalid_argument: .*"searchmode".*ranking: { mode: … }/),
    expect.stringMatching(/^unsupported: .*Cloudflare encrypts what a Durable Object keeps/),
    expect.stringMatching(/^unsupported: .*Cloudflare encrypts what a Durable Object keeps/),
    expect.stringMatching(/^invalid_argument: .*"where" of search: did you mean "filter"/),
    expect.stringMatching(/^invalid_filter: .*"user.name".* "user": { "name"/),
    expect.stringMatching(/^not_found: .*"nobody"/),
  ]);
});

test("errors keep their code through a stub", async () => {
  const { codes, item } = await workerd.call("byStub");
  expect(codes.map((refused) => refused?.code)).toEqual([
    "thread_id_required",
    "invalid_filter",
    "too_large",
    "invalid_namespace",
    "unsupported",
    "foreign_file",
  ]);
  expect(item).toEqual({ there: true });
});
