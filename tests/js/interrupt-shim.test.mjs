// LangGraph without AsyncLocalStorage, in a process of its own.

import { installInterruptShim } from "keepsake";
import "@langchain/langgraph";
import { killAll, start } from "./support/processes.mjs";

afterAll(killAll);

let findings;

beforeAll(async () => {
  const child = start("web-entry.mjs", []);
  let output = "";
  for await (const chunk of child.stdout) output += chunk;
  expect(await child.ended).toBe(0);
  findings = JSON.parse(output);
}, 60_000);

test("without the shim interrupt() fails", () => {
  expect(findings.without).toMatch(/outside the context of a graph/);
});

test("the shim is installed where there is no storage", () => {
  expect(findings.installed).toBe(true);
});

test("a shim that is there is kept, and so is Node's own storage", () => {
  expect(findings.installedTwice).toBe(false);
  expect(installInterruptShim()).toBe(false);
});

test("interrupt(), getStore() and task() work before the first await", () => {
  expect(findings.interrupt).toEqual(["NOW"]);
  expect(findings.store.log).toEqual([1]);
  expect(findings.task).toEqual([2, 4]);
});

test("nodes that wait at the same time each get their own answer", () => {
  expect(findings.concurrent.toSorted()).toEqual(["FAST", "SLOW", "SYNC"]);
});

test("after an await the context is absent, and never another node's", () => {
  expect(findings.afterAwait).toMatch(/outside the context of a graph/);
});

test("a graph that is started while a node waits is no part of that node's run", () => {
  expect(findings.bystander).toEqual(["own"]);
});
