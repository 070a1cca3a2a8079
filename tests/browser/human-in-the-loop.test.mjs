// Calls of tools that wait for a human, in a page. What LangChain's own middleware answers in Node is
// the judge.

import { openMemory } from "keepsake";
import { humanInTheLoopMiddleware as official } from "langchain";
import { improved, judged } from "../js/support/approvals.mjs";
import { expectImproved } from "../js/support/approvals-facts.mjs";
import { subagent } from "../js/support/deep-approvals.mjs";
import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { serveFolder } from "./support/static-server.mjs";
import { buildPage, servePage } from "./support/test-page.mjs";

afterAll(cleanUp);

// What deepagents brings along asks for modules of Node, and for the platform. As other bundlers do
// it, these are empty.
const withoutNode = {
  name: "without-node",
  setup(build) {
    const none = { path: "none", namespace: "none" };
    build.onResolve({ filter: /^(node:.*|path|util)$/ }, () => none);
    build.onLoad({ filter: /.*/, namespace: "none" }, () => ({ contents: "module.exports = {}" }));
  },
};
const forDeepAgents = { plugins: [withoutNode], define: { "process.platform": '"browser"' } };

let page;
let errors;

beforeAll(async () => {
  const { url } = await servePage("approvals");
  ({ page, errors } = await openTab(await startChromium(), url));
});

afterEach(() => expect(errors).toEqual([]));

const inPage = async (agent, name, ...more) => {
  const args = [agent, name, ...more];
  const { persistence, ...facts } = await page.evaluate((given) => globalThis.run(...given), args);
  expect(persistence).toBe("opfs");
  return facts;
};

// As it comes from a page.
async function inNode(run, approvals) {
  const memory = await openMemory({ path: ":memory:" });
  const facts = await run({ approvals, memory });
  await memory.close();
  return JSON.parse(JSON.stringify(facts));
}

test("LangChain's own middleware finds no graph in a page", async () => {
  expect(await page.evaluate(() => globalThis.runOfficial())).toMatch(
    /outside the context of a graph/,
  );
});

test.each(Object.keys(judged))("%s: the same as LangChain's own in Node", async (name) => {
  expect(await inPage(name, name)).toEqual(await inNode(judged[name], official));
});

test.each(Object.keys(improved))("%s: a thread is never lost by an answer", async (name) => {
  expectImproved[name](await inPage(name, name), expect);
});

test("a subagent of deepagents asks, and goes on", async () => {
  const { url } = await serveFolder(await buildPage("deep-approvals", forDeepAgents));
  const tab = await openTab(await startChromium(), url);
  const facts = await tab.page.evaluate(() => globalThis.run());
  expect(facts).toEqual(await inNode(subagent, undefined));
  expect(tab.errors).toEqual([]);
});

const decisions = {
  approve: { type: "approve" },
  edit: { type: "edit", editedAction: { name: "pay", args: { x: "2" } } },
  reject: { type: "reject", message: "No." },
};
const ran = { approve: ["send 1"], edit: ["pay 2"], reject: [] };

test.each(Object.keys(decisions))("%s after a reload", async (type) => {
  const { 0: question } = await inPage("waiting", `reload ${type}`);
  expect(question.actionRequests).toMatchObject([{ name: "send", args: { x: "1" } }]);
  await page.reload();
  await page.waitForFunction(() => globalThis.run !== undefined);
  const facts = await inPage("answered", `reload ${type}`, decisions[type]);
  expect(Object.values(facts)).toEqual(ran[type]);
});
