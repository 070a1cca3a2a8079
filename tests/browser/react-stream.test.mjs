// useStream() of @langchain/react, over a graph in the page and without a server.

import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { servePage } from "./support/test-page.mjs";

let browser;
let url;
let page;

beforeAll(async () => {
  ({ url } = await servePage("react-stream"));
  browser = await startChromium();
});

afterAll(cleanUp);
afterEach(() => page.close());

async function open(thread) {
  const tab = await openTab(browser, `${url}?thread=${thread}`);
  page = tab.page;
  page.setDefaultTimeout(20_000);
  await page.waitForFunction(() => globalThis.ready && globalThis.stream);
  return tab;
}

const say = (text) => page.evaluate((said) => void globalThis.say(said), text);
const shown = (id, text) =>
  page.waitForFunction(
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
  await page.close();
  await open("chat");
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
  await page.close();
  await open("asks");
  await shown("question", "may I?");
  await page.evaluate(() => void globalThis.stream.respond("yes"));
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
  await say("hello");
  await page.waitForFunction(() =>
    document.getElementById("messages").textContent.includes("hello | that was message"),
  );
});
