// A call whose answer was lost is asked again, and applied once.

import { cleanUp, startWorkerd } from "./support/workerd.mjs";

let workerd;

beforeAll(async () => {
  workerd = await startWorkerd("retries", { classes: { MEMORY: "Memory" } });
});

afterAll(cleanUp);

test("a put that an object applied before it was reset is not applied over a later one", async () => {
  const { calls, value } = await workerd.call("put");
  expect(calls.slice(0, 4)).toEqual(["connect", "reset", "connect", "answer"]);
  expect(value).toBe(2);
});

test("the answer is that of the first try, however often it is lost", async () => {
  expect(await workerd.call("count")).toBe(3);
});

test("a call that did not reach its object is made again", async () => {
  expect(await workerd.call("notReached")).toBe(3);
});

test("an object that is overloaded is not asked again", async () => {
  const { refused, calls } = await workerd.call("overloaded");
  expect(refused).toMatchObject({ code: "busy" });
  expect(calls).toEqual(["connect", "overloaded"]);
});

test("an exception that will not pass is an error, which says what is not known", async () => {
  const { refused, tries } = await workerd.call("failing", {});
  expect(refused).toMatchObject({ code: "io_error" });
  expect(refused.message).toContain("whether it was stored is not known");
  expect(tries).toBe(1);
});

test("after three tries it is an error, whatever Cloudflare says", async () => {
  const { refused, tries } = await workerd.call("failing", { retryable: true });
  expect(refused).toMatchObject({ code: "io_error" });
  expect(tries).toBe(3);
});

test("answers are kept no longer than they may be asked for", async () => {
  const { keys, answers } = await workerd.call("many");
  expect(keys).toEqual([10, 10]);
  expect(answers).toBeLessThanOrEqual(2);
});
