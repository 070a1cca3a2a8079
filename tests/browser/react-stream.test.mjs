// useStream() of @langchain/react, over a graph in the page and without a server.

import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { servePage } from "./support/test-page.mjs";

let browser;
let url;
let page;
let requests;

beforeAll(async () => {
  ({ url } = await servePage("react-stream"));
  browser = await startChromium();
  browser.context.on("request", (request) => requests.push(request.url()));
});

beforeEach(() => {
  requests = [];
});

afterAll(cleanUp);

afterEach(async () => {
  await page.close();
  const { origin } = new URL(url);
  const elsewhere = requests.filter(
    (to) => !/^(data|blob):/.test(to) && new URL(to).origin !== origin,
  );
  expect(requests.length).toBeGreaterThan(0);
  expect(elsewhere).toEqual([]);
});

async function open(thread, of = "graph") {
  const tab = await openTab(browser, `${url}?thread=${thread}&${of}`);
  page = tab.page;
  page.setDefaultTimeout(20_000);
  await page.waitForFunction(() => globalThis.ready && globalThis.stream);
  return tab;
}

async function reload(thread, of) {
  await page.close();
  return open(thread, of);
}

const say = (text, options) =>
  page.evaluate(([said, given]) => void globalThis.say(said, given), [text, options]);
const respond = (answer) => page.evaluate((given) => void globalThis.stream.respond(given), answer);
const shown = (id, text, on = page) =>
  on.waitForFunction(
    ([name, wanted]) => document.getElementById(name)?.textContent === wanted,
    [id, text],
  );

test("a graph in the page answers, and knows its thread after a reload", async () => {
  const { errors } = await open("chat");
  await say("remember ada drinks oolong");
  await shown("messages", "remember ada drinks oolong | noted");
  await shown("state", "idle");
  await say("oolong?");
  await shown("messages", "remember ada drinks oolong | noted | oolong? | ada drinks oolong");
  expect(errors).toEqual([]);
  await reload("chat");
  await shown("messages", "remember ada drinks oolong | noted | oolong? | ada drinks oolong");
  await say("and now");
  await page.waitForFunction(() =>
    document.getElementById("messages").textContent.endsWith("and now | that was message 5"),
  );
});

test("an interrupt is asked, also after a reload, and its answer goes on", async () => {
  await open("asks");
  await say("ask");
  await shown("question", "may I?");
  await shown("state", "idle");
  await reload("asks");
  await shown("question", "may I?");
  await respond("yes");
  await shown("messages", "ask | approved: yes");
  await shown("question", "");
});

test("a node that throws is an error, and the next message works", async () => {
  await open("fails");
  await say("fail");
  await page.waitForFunction(() =>
    document.getElementById("error").textContent.includes("no model here"),
  );
  await shown("state", "idle");
  await say("hello");
  await page.waitForFunction(() =>
    document.getElementById("messages").textContent.includes("hello | that was message"),
  );
  await shown("error", "");
});

test("a run is cancelled", async () => {
  await open("waits");
  await say("wait");
  await shown("state", "running");
  await page.evaluate(() => globalThis.transport.cancel());
  await shown("state", "idle");
  await reload("waits");
  await shown("messages", "wait");
  // Nobody goes on with it.
  expect(await page.evaluate(() => globalThis.loadings)).not.toContain(true);
  await say("hello");
  await page.waitForFunction(() =>
    document.getElementById("messages").textContent.includes("hello | that was message"),
  );
});

describe.each(["graph", "agent"])("a run of an %s that is cancelled in the middle", (of) => {
  test("leaves no half behind what comes next", async () => {
    const thread = `half-${of}`;
    await open(thread, of);
    await say("slow one");
    await page.waitForFunction(() =>
      /^slow one \| about.+/.test(document.getElementById("messages").textContent),
    );
    await page.evaluate(() => globalThis.transport.cancel());
    await shown("state", "idle");
    await say("slow two");
    await page.waitForFunction(() =>
      document.getElementById("messages").textContent.endsWith("slow two | about slow two"),
    );
    await shown("state", "idle");
    await shown("messages", "slow one | slow two | about slow two");
  });
});

describe("an approval of an agent", () => {
  test.each([
    ["approved", { decision: "approve" }, "sent: hello"],
    ["edited", { decision: "edit", text: "good day" }, "sent: good day"],
    ["rejected", { decision: "reject", reason: "too short" }, "not sent: too short"],
  ])("is %s", async (name, decision, result) => {
    await open(name, "agent");
    await say("send hello");
    await shown("question", "send hello?");
    await shown("state", "idle");
    await respond(decision);
    await shown("messages", `send hello |  | ${result} | ${result}`);
    await shown("question", "");
    expect(await page.evaluate(() => globalThis.calls)).toBe(2);
  });

  test("is given after a reload, and the next one after that", async () => {
    await open("later", "agent");
    await say("send hello");
    await shown("question", "send hello?");
    await reload("later", "agent");
    await shown("question", "send hello?");
    await respond({ decision: "approve" });
    await shown("messages", "send hello |  | sent: hello | sent: hello");
    await say("send again");
    await shown("question", "send again?");
    await respond({ decision: "reject", reason: "twice" });
    await page.waitForFunction(() =>
      document.getElementById("messages").textContent.endsWith("not sent: twice | not sent: twice"),
    );
    await reload("later", "agent");
    await page.waitForFunction(() =>
      document.getElementById("messages").textContent.endsWith("not sent: twice | not sent: twice"),
    );
    await shown("question", "");
  });
});

test("two tabs show each other's turns and questions", async () => {
  await open("both");
  const first = page;
  await open("both");
  const second = page;
  const everywhere = (id, text) => Promise.all([shown(id, text, first), shown(id, text, second)]);
  page = first;
  await say("one");
  await everywhere("messages", "one | that was message 1");
  await everywhere("state", "idle");
  page = second;
  await say("two");
  await everywhere("messages", "one | that was message 1 | two | that was message 3");
  page = first;
  await say("ask");
  await everywhere("question", "may I?");
  page = second;
  await respond("yes");
  const all = "one | that was message 1 | two | that was message 3 | ask | approved: yes";
  await everywhere("messages", all);
  await everywhere("question", "");
  await everywhere("state", "idle");
  page = first;
  await say("three");
  await everywhere("messages", `${all} | three | that was message 7`);
  await second.close();
});

test("a tab that finds a thread at rest shows the turn whose question it answers", async () => {
  await open("answers");
  const first = page;
  await say("one");
  await shown("messages", "one | that was message 1");
  await shown("state", "idle");
  await open("answers");
  const second = page;
  await shown("messages", "one | that was message 1");
  const everywhere = (id, text) => Promise.all([shown(id, text, first), shown(id, text, second)]);
  // As it would be painted: what a frame has.
  await second.evaluate(() => {
    globalThis.painted = [];
    const look = () => {
      globalThis.painted.push(document.getElementById("messages").textContent);
      requestAnimationFrame(look);
    };
    look();
  });
  let all = "one | that was message 1";
  for (const answer of ["yes", "again"]) {
    page = first;
    await say("ask");
    await everywhere("question", "may I?");
    page = second;
    await respond(answer);
    all += ` | ask | approved: ${answer}`;
    await everywhere("messages", all);
    await everywhere("question", "");
    await everywhere("state", "idle");
  }
  expect(await second.evaluate(() => globalThis.painted)).not.toContain("");
  expect(await second.evaluate(() => globalThis.loadings)).toContain(true);
  await first.close();
});

test("a thread has the title that its run was given", async () => {
  await open("titled");
  await say("hello", { metadata: { title: "A greeting" } });
  await page.waitForFunction(() =>
    document.getElementById("titles").textContent.startsWith("A greeting | "),
  );
});
