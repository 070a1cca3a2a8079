// interrupt(), the end of the process, and resume, with objects on a disk.

import { temporaryFolder } from "../js/support/temporary.mjs";
import { bundleWorker } from "./support/bundle.mjs";
import { cleanUp, startWorkerd } from "./support/workerd.mjs";

afterAll(cleanUp);

let bundle;
let persist;
const start = (flags) =>
  startWorkerd("agent", { classes: { AGENT: "Agent" }, persist, bundle, flags });

beforeAll(async () => {
  bundle = await bundleWorker("tests/edge/workers/agent.mjs");
});

beforeEach(() => {
  persist = temporaryFolder();
});

const LOG = ["begun", "answered this", "remembered this"];

test("an agent in an object asks, the process ends, a new one goes on with the answer", async () => {
  const first = await start();
  expect(await first.call("ask", "user", "t")).toEqual(["what?"]);
  await first.kill();
  const second = await start();
  expect(await second.call("answer", "user", "t", "this")).toEqual(LOG);
});

test("an agent in the Worker does the same through a stub, and shares the object's memory", async () => {
  const first = await start();
  expect(await first.call("askByStub", "user", "t")).toEqual(["what?"]);
  await first.kill();
  const second = await start();
  expect(await second.call("answerByStub", "user", "t", "this")).toEqual(LOG);
  expect(await second.call("ask", "user", "t2")).toEqual(["what?"]);
  expect(await second.call("answerByStub", "user", "t2", "that")).toEqual([
    "begun",
    "answered that",
    "remembered that",
  ]);
});

test("nodejs_als is enough", async () => {
  const workerd = await start(["nodejs_als"]);
  expect(await workerd.call("ask", "user", "t")).toEqual(["what?"]);
  expect(await workerd.call("answer", "user", "t", "this")).toEqual(LOG);
});

test("tenants know nothing of each other", async () => {
  const workerd = await start();
  await workerd.call("ask", "one", "t");
  await workerd.call("answer", "one", "t", "mine");
  expect(await workerd.call("ask", "two", "t")).toEqual(["what?"]);
});

test("what a node answered is kept in the object: a new process and a stub have it, a scope of its own", async () => {
  const answer = "42 to life";
  const first = await start();
  expect(await first.call("cached", "user", "life")).toEqual({ answer, runs: 1 });
  await first.kill();
  const second = await start();
  expect(await second.call("cached", "user", "life")).toEqual({ answer, runs: 0 });
  expect(await second.call("cachedByStub", "user", "life")).toEqual({ answer, runs: 0 });
  expect(await second.call("cachedInScope", "user", "life")).toEqual({ answer, runs: 1 });
  expect(await second.call("cachedInScope", "user", "life")).toEqual({ answer, runs: 0 });
  expect(await second.call("cached", "other", "life")).toEqual({ answer, runs: 1 });
});
