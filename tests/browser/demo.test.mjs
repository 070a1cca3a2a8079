// The demo's page as a person meets it: one server, one browser, one story.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, get } from "node:http";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { closeBrowsers, openTab, startChromium } from "./support/chromium.mjs";

const MAIN = join(process.cwd(), "demo/main.mjs");
const QUESTION = "When and where is Leila's wedding?";
const TURNS = 80;

let server;
let address;
let browser;
let tab;
let errors;

beforeAll(async () => {
  ({ server, address } = await startServer());
  browser = await startChromium();
  ({ page: tab, errors } = await openTab(browser, address));
  tab.setDefaultTimeout(30_000);
  await tab.setViewportSize({ width: 1440, height: 900 });
});

afterAll(async () => {
  await closeBrowsers();
  await stopServer();
});

afterEach(() => expect(errors).toEqual([]));

async function startServer() {
  const child = spawn(process.execPath, [MAIN, "--port", "0"], { stdio: ["ignore", "pipe", 2] });
  let output = "";
  child.stdout.setEncoding("utf8");
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += chunk;
    const found = /http:\S+/.exec(output);
    if (found) return { server: child, address: found[0] };
  }
  throw new Error(`the demo ended without an address: ${output}`);
}

async function stopServer() {
  if (server.exitCode !== null) return;
  server.kill("SIGINT");
  await once(server, "exit");
}

// → the answer's text
async function say(page, text) {
  const turns = page.locator(".turn");
  const before = await turns.count();
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.getByRole("button", { name: "Send" }).click();
  const answer = turns.nth(before).locator(".answer .text");
  await answer.waitFor();
  await page.locator(".working").waitFor({ state: "detached" });
  return answer.textContent();
}

// As the server sends it; fetch() would decompress it.
function read(url, headers) {
  return new Promise((resolve, reject) => {
    get(url, { headers }, async (response) => {
      resolve({ headers: response.headers, body: Buffer.concat(await response.toArray()) });
    }).on("error", reject);
  });
}

const fact = (page, name, hasText) => page.locator(`#fact-${name}`, { hasText });

async function listenTo(page, turns) {
  const conversation = {
    format: "keepsake-conversation/1",
    id: "weather",
    title: "About the weather",
    sessions: [{ date: "2024-05-01T10:00", turns }],
  };
  await page.locator("#own-file").setInputFiles({
    name: "weather.json",
    mimeType: "application/json",
    buffer: Buffer.from(JSON.stringify(conversation)),
  });
}

test("a first visit says what to do, and where the memory lives", async () => {
  await tab.getByRole("button", { name: "Load a conversation" }).waitFor();
  await tab.locator("#memory-empty", { hasText: "Nothing here yet" }).waitFor();
  await fact(tab, "place", "Private file, OPFS").waitFor();
  await fact(tab, "role", "Owner").waitFor();
});

test("a conversation is loaded with visible progress", async () => {
  await tab.getByRole("button", { name: "Load a conversation" }).click();
  await tab.locator("#heard", { hasText: `of ${TURNS} turns` }).waitFor();
  await tab.locator(".step .done").waitFor();
  await tab.getByText(`${TURNS} items`, { exact: true }).waitFor();
});

test("an answer shows what was recalled, with namespace, key and score", async () => {
  const answer = await say(tab, QUESTION);
  expect(answer).toContain("Porto");
  await tab.getByText("Recalled 5 items").click();
  await tab.locator(".recalled .plan", { hasText: "words: " }).waitFor();
  const told = await tab.locator(".recalled li", { hasText: "Porto" }).first().textContent();
  expect(told).toContain("It has words of the question");
  expect(told).toContain("memories › harbour › session-02 › 2.4");
  expect(told).toMatch(/0\.\d\d/);
});

test("a reload comes back to the thread, and to the list of threads", async () => {
  await tab.reload();
  await tab.locator(".answer").waitFor();
  await expect(tab.locator(".said").textContent()).resolves.toContain(QUESTION);
  await tab.getByRole("button", { name: /^A boat and a bakery/ }).click();
  await tab
    .locator(".heard")
    .nth(TURNS - 1)
    .waitFor();
  await tab.getByRole("button", { name: new RegExp(`^${QUESTION.replace("?", "\\?")}`) }).click();
  await tab.locator(".answer").waitFor();
});

test("facts are kept for every thread", async () => {
  await say(tab, "I'm allergic to peanuts. I love green tea.");
  await tab.getByRole("button", { name: "New thread", exact: true }).click();
  await tab.locator("#welcome").waitFor();
  const answer = await say(tab, "What do you know about me?");
  expect(answer).toContain("allergic to peanuts");
  expect(answer).toContain("green tea");
  // "Who am I?" is no question for words: all that it was told is the answer.
  const all = await say(tab, "Who am I?");
  expect(all).toContain("allergic to peanuts");
  expect(all).toContain("green tea");
});

test("a question is answered with what it is about, and with no more", async () => {
  const sister = "My sister is called Eve. She lives in Rome.";
  await say(tab, `${sister} I live in London and I collect stamps.`);
  await expect(say(tab, "Where does my sister live?")).resolves.toBe(`You told me: “${sister}”`);
  await expect(say(tab, "Where do I live?")).resolves.toBe("You told me: “I live in London”");
  await expect(say(tab, "Tell me about the bakery")).resolves.toContain("Mira said on");
  await expect(say(tab, "Who is Jonas?")).resolves.toContain("I have heard Jonas talk");
  await expect(say(tab, "What can you do?")).resolves.toContain("I am the scripted model");
});

test("what is not known is not answered with something else", async () => {
  await expect(say(tab, "What is my shoe size?")).resolves.toBe("You have not told me that.");
  const unknown = "What did Mira say about elephants?";
  await expect(say(tab, unknown)).resolves.toBe("I remember nothing about that.");
});

test("what is said comes into sight, also when its writer read further up", async () => {
  await tab.setViewportSize({ width: 1440, height: 560 });
  const scroll = tab.locator("#chat-scroll");
  const fromEnd = () =>
    scroll.evaluate((box) => box.scrollHeight - box.clientHeight - box.scrollTop);
  await scroll.evaluate((box) => {
    box.scrollTop = 0;
  });
  expect(await fromEnd()).toBeGreaterThan(100);
  await say(tab, "What is my hat size?");
  expect(await fromEnd()).toBeLessThan(2);
  await tab.setViewportSize({ width: 1440, height: 900 });
});

test("a name at the beginning stays as it was written", async () => {
  const answer = await say(tab, "package.json is where I look first. gpt-4o is my usual model.");
  expect(answer).toContain("“package.json is where I look first.”");
  expect(answer).toContain("“gpt-4o is my usual model.”");
});

test("the inspector finds an item, shows its value and deletes it", async () => {
  await say(tab, "I live in a lighthouse.");
  await tab.getByLabel("Search the memory").fill("lighthouse");
  const item = tab.locator("#found .item", { hasText: "i-live-in-a-lighthouse" });
  await item.locator("summary").click();
  expect(JSON.parse(await item.locator("pre").textContent())).toMatchObject({
    text: "I live in a lighthouse.",
  });
  await item.getByRole("button", { name: "Delete item" }).click();
  await tab.locator("#confirm").getByRole("button", { name: "Delete item" }).click();
  await item.waitFor({ state: "detached" });
  await tab.getByLabel("Search the memory").fill("");
});

test("all of the memory can be looked into, and the look ends with the dialog", async () => {
  await tab.getByRole("button", { name: "Look inside" }).click();
  await tab.getByRole("treeitem", { name: /^\S?\s*memories/ }).click();
  await tab
    .getByRole("option", { name: /harbour/ })
    .first()
    .click();
  await tab.getByLabel("Value, as JSON").waitFor();
  await tab.getByRole("tab", { name: "Threads" }).click();
  await tab
    .getByRole("option", { name: /A boat and a bakery.*checkpoints/s })
    .first()
    .waitFor();
  await tab.getByRole("tab", { name: "Audit" }).click();
  await tab
    .getByRole("option", { name: /Stored 1 item.*memories.*by demo/s })
    .first()
    .waitFor();
  await tab.getByRole("button", { name: "Close" }).click();
  await expect(tab.getByRole("tab").count()).resolves.toBe(0);
});

test("the list of threads is not counted as memory", async () => {
  const [count] = /^\S+ items/.exec(await tab.locator("#memory-count").textContent());
  await tab.locator("#hint-size", { hasText: count }).waitFor();
});

describe("the past of a thread", () => {
  const turns = () => tab.locator(".said").allTextContents();

  test("is looked back at, turn by turn, and left again", async () => {
    await tab.getByRole("button", { name: "New thread", exact: true }).click();
    await tab.locator("#welcome").waitFor();
    await say(tab, "I play the cello.");
    await say(tab, "I collect maps.");
    await tab.getByRole("button", { name: "Look back" }).click();
    await tab.getByText("As it was after turn 2 of 2").waitFor();
    await tab.keyboard.press("ArrowLeft");
    await tab.getByText("As it was after turn 1 of 2").waitFor();
    await expect(turns()).resolves.toEqual([expect.stringContaining("cello")]);
    await tab.getByRole("button", { name: "Back to now" }).click();
    await expect(turns()).resolves.toHaveLength(2);
  });

  test("is gone on from in a new thread, and the old one stays", async () => {
    await tab.getByRole("button", { name: "Look back" }).click();
    await tab.locator("#past-at:focus").waitFor();
    await tab.keyboard.press("Home");
    await tab.getByRole("button", { name: "Go on from here in a new thread" }).click();
    await tab.locator("#chat-title", { hasText: "From turn 1: I play" }).waitFor();
    await say(tab, "I hate maps.");
    await expect(turns()).resolves.toEqual([
      expect.stringContaining("cello"),
      expect.stringContaining("hate"),
    ]);
    await tab.getByRole("button", { name: /^I play the cello\. ?\d/ }).click();
    await tab.locator(".said", { hasText: "collect" }).waitFor();
    await expect(turns()).resolves.toHaveLength(2);
  });
});

describe("a second tab", () => {
  let second;
  let errorsOfSecond;

  beforeAll(async () => {
    ({ page: second, errors: errorsOfSecond } = await openTab(browser, tab.url()));
    second.setDefaultTimeout(30_000);
    await second.locator(".answer").first().waitFor();
  });

  afterAll(() => second.close());
  afterEach(() => expect(errorsOfSecond).toEqual([]));

  test("follows the first, and says so", async () => {
    await fact(second, "role", "Follower").waitFor();
  });

  test("and the first follow each other's threads and items", async () => {
    await say(second, "I work as a harbour pilot.");
    await tab.locator(".said", { hasText: "harbour pilot" }).waitFor();
    await tab.locator(".answer", { hasText: "harbour pilot" }).waitFor();
    await tab.locator("#namespaces summary", { hasText: "memories › you › work" }).waitFor();
  });

  test("takes over when the first tab's worker is killed, and both go on", async () => {
    await tab.bringToFront();
    await tab.getByRole("button", { name: "Kill this tab’s worker" }).click();
    await tab.getByText("nothing is lost").waitFor();
    await fact(tab, "role", "Follower").waitFor();
    await second.bringToFront();
    await fact(second, "role", "Owner").waitFor();
    await expect(say(tab, "Where do I work?")).resolves.toContain("harbour pilot");
    await expect(say(second, "Which nuts is Jonas allergic to?")).resolves.toContain("hazelnuts");
  });
});

test("loading goes on where it was when the worker is killed", async () => {
  await tab.bringToFront();
  await tab.getByRole("button", { name: "New thread", exact: true }).click();
  await tab.locator("#welcome").waitFor();
  const turns = Array.from({ length: 40 }, (_, i) => ({
    id: `w${i}`,
    speaker: "Ada",
    text: `Day ${i}: it rained.`,
  }));
  await listenTo(tab, turns);
  await tab.locator("#heard", { hasText: /: ([5-9]|\d\d) of 40 turns/ }).waitFor();
  await tab.getByRole("button", { name: "Kill this tab’s worker" }).click();
  await tab.getByText("Heard 40 turns").waitFor();
  const namespace = tab.locator("#namespaces summary", { hasText: "weather" });
  await namespace.locator(".count", { hasText: /^40$/ }).waitFor();
  await tab.getByRole("button", { name: /^About the weather/ }).click();
  await tab.locator(".heard").nth(39).waitFor();
  await expect(tab.locator(".heard").count()).resolves.toBe(40);
});

describe("before it forgets, the agent asks", () => {
  async function askToForget() {
    await tab.getByRole("button", { name: "New thread", exact: true }).click();
    await tab.locator("#welcome").waitFor();
    await tab.getByLabel("Message", { exact: true }).fill("Forget that I love green tea.");
    await tab.keyboard.press("Enter");
    await tab.getByText("May I forget this?").waitFor();
    await tab.reload();
    await tab.getByText("May I forget this?").waitFor();
  }

  const likes = () => tab.locator("#namespaces summary", { hasText: "memories › you › likes" });

  test("and keeps it when declined after a reload", async () => {
    await askToForget();
    await tab.getByRole("button", { name: "Decline" }).click();
    await tab.locator(".answer", { hasText: "Then I keep it" }).waitFor();
    await expect(likes().count()).resolves.toBe(1);
  });

  test("and deletes it when approved after a reload", async () => {
    await askToForget();
    await tab.getByRole("button", { name: "Approve" }).click();
    await tab.locator(".answer", { hasText: "Forgotten" }).waitFor();
    await likes().waitFor({ state: "detached" });
  });
});

async function until(condition) {
  while (!(await condition())) await tab.waitForTimeout(50);
}

test("the threads show their sizes, and their history can be shortened", async () => {
  const thread = tab.getByRole("button", { name: new RegExp(`^${QUESTION.replace("?", "\\?")}`) });
  expect(await thread.textContent()).toMatch(/ · \d+(\.\d)?\s[KM]?B$/);
  const checkpoints = async () =>
    Number(/([\d,]+) checkpoints/.exec(await tab.locator("#hint-size").textContent())[1]);
  const before = await checkpoints();
  await tab.getByRole("button", { name: "Shorten history" }).click();
  const question = tab.locator("#confirm-text", { hasText: "would go" });
  await question.waitFor();
  const [, counted] = /^(\S+) old checkpoints? would go/.exec(await question.textContent());
  await tab.getByRole("button", { name: "Shorten", exact: true }).click();
  await tab.locator("#notices", { hasText: `${counted} old checkpoint` }).waitFor();
  // A step of the answer before may still have been counted meanwhile.
  await until(async () => (await checkpoints()) < before);
  await thread.click();
  await tab.locator(".answer").first().waitFor();
});

test("what was exported comes back by an import", async () => {
  const [download] = await Promise.all([
    tab.waitForEvent("download"),
    tab.getByRole("button", { name: "Export" }).click(),
  ]);
  const path = await download.path();
  await tab.getByRole("button", { name: "Delete the thread “A boat and a bakery”" }).click();
  await tab.getByRole("button", { name: "Delete thread", exact: true }).click();
  await tab.getByRole("button", { name: /^A boat/ }).waitFor({ state: "detached" });
  await tab.locator("#import-file").setInputFiles(path);
  await tab.getByRole("button", { name: "Replace" }).click();
  await tab.getByRole("button", { name: /^A boat and a bakery/ }).waitFor();
  await tab.getByRole("button", { name: /^A boat and a bakery/ }).click();
  await tab
    .locator(".heard")
    .nth(TURNS - 1)
    .waitFor();
});

test("a file that is no database is refused in words, and changes nothing", async () => {
  const { page, errors } = await openTab(browser, address);
  await page.locator("#welcome h3").waitFor();
  const before = await page.locator("#memory-count").textContent();
  const buffer = Buffer.from("no database at all, only a text of some length");
  await page.locator("#import-file").setInputFiles({ name: "x.db", mimeType: "", buffer });
  await page.getByRole("button", { name: "Replace" }).click();
  await page.locator(".notice.error").waitFor();
  await expect(page.locator("#memory-count").textContent()).resolves.toBe(before);
  expect(errors).toEqual([]);
  await page.close();
});

describe("a model of one's own", () => {
  const requests = [];
  /** What each answer waits for. */
  let held;
  let endpoint;
  let page;

  beforeAll(async () => {
    endpoint = createServer(async (request, response) => {
      response.setHeader("access-control-allow-origin", "*");
      response.setHeader("access-control-allow-headers", "*");
      if (request.method === "OPTIONS") return response.end();
      const body = JSON.parse((await request.toArray()).join(""));
      requests.push({ body, key: request.headers.authorization });
      const message = answerOf(body.messages);
      await held;
      return response
        .writeHead(message ? 200 : 500)
        .end(message ? JSON.stringify({ choices: [{ message }] }) : "out of order");
    });
    await new Promise((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
    ({ page } = await openTab(browser, address));
    await page.getByRole("button", { name: /^Model/ }).click();
    await page.getByLabel("A model of yours").check();
    await page
      .getByRole("textbox", { name: "Endpoint" })
      .fill(`http://127.0.0.1:${endpoint.address().port}/v1/`);
    await page.getByRole("textbox", { name: "Model" }).fill("test-model");
    await page.getByRole("textbox", { name: "Key" }).fill("secret");
    await page.getByRole("button", { name: "Use this" }).click();
  });

  afterAll(async () => {
    await page.close();
    endpoint.closeAllConnections();
    endpoint.close();
  });

  function answerOf(messages) {
    const { role, content } = messages.at(-1);
    if (content.includes("bicycle?")) return { role: "assistant", content: "It is red." };
    if (role === "tool") return { role: "assistant", content: `Noted: ${JSON.parse(content).key}` };
    if (content.includes("fail")) return undefined;
    const args = JSON.stringify({ text: "Owns a red bicycle", topic: "things" });
    const call = { id: "c1", type: "function", function: { name: "remember", arguments: args } };
    return { role: "assistant", content: null, tool_calls: [call] };
  }

  test("remembers by calling tools", async () => {
    await expect(say(page, "My bicycle is red.")).resolves.toBe("Noted: owns-a-red-bicycle");
    await page.locator("#namespaces summary", { hasText: "memories › you › things" }).waitFor();
    expect(requests[0].key).toBe("Bearer secret");
    const tools = requests[0].body.tools.map((tool) => tool.function.name);
    expect(tools).toEqual(["recall", "remember", "forget"]);
  });

  test("answers what was written meanwhile, too", async () => {
    const message = page.getByLabel("Message", { exact: true });
    let release;
    held = new Promise((resolve) => {
      release = resolve;
    });
    await message.fill("Which colour has my bicycle?");
    await page.keyboard.press("Enter");
    await page.locator(".working").waitFor();
    await message.fill("And your bicycle?");
    await page.keyboard.press("Enter");
    await page.getByText("Sent when the agent has answered.").waitFor();
    await expect(message.inputValue()).resolves.toBe("");
    release();
    held = undefined;
    const answers = page.locator(".answer", { hasText: "It is red." });
    await answers.nth(1).waitFor();
    await expect(page.locator(".said").last().textContent()).resolves.toContain("And your");
    await expect(page.locator("#waiting").textContent()).resolves.toBe("");
  });

  test("that fails is an error in words, and the thread can go on", async () => {
    await page.getByLabel("Message", { exact: true }).fill("Please fail.");
    await page.keyboard.press("Enter");
    await page.locator(".notice.error", { hasText: "answered 500: out of order" }).waitFor();
    await page.getByRole("button", { name: "Go on from there" }).waitFor();
  });

  test("is known to its tab alone", async () => {
    const { page: other } = await openTab(browser, address);
    await expect(other.locator("#model-name").textContent()).resolves.toBe("Scripted");
    await other.close();
  });
});

describe("for everybody", () => {
  const SIZES = [
    { width: 360, height: 740 },
    { width: 768, height: 1024 },
    { width: 1440, height: 900 },
  ];

  test("the page ends where it is seen to end, in a window of any size", async () => {
    await tab.getByRole("button", { name: /^A boat and a bakery/ }).click();
    await tab.locator(".heard").last().waitFor();
    for (const size of SIZES) {
      await tab.setViewportSize(size);
      const heights = await tab.evaluate(() => {
        const { scrollHeight, clientHeight } = document.documentElement;
        return [scrollHeight, clientHeight];
      });
      expect(heights).toEqual([size.height, size.height]);
    }
  });

  test("two parts stand side by side at 768 px", async () => {
    await tab.setViewportSize(SIZES[1]);
    const [threads, chat] = await Promise.all(
      [".threads", ".chat"].map((part) => tab.locator(part).boundingBox()),
    );
    expect(threads.x + threads.width).toBeLessThan(chat.x);
    await tab.setViewportSize(SIZES[2]);
  });

  test("what is written and not sent survives a reload", async () => {
    await tab.getByRole("button", { name: "New thread", exact: true }).click();
    await tab.locator("#welcome").waitFor();
    const message = tab.getByLabel("Message", { exact: true });
    await message.fill("half a thou");
    await tab.reload();
    await tab.locator("#welcome").waitFor();
    await expect(message.inputValue()).resolves.toBe("half a thou");
    await message.fill("");
  });

  test("what the page says covers no control", async () => {
    for (const size of SIZES) {
      await tab.setViewportSize(size);
      if (size.width < 720) await tab.getByRole("button", { name: "Storage" }).click();
      await tab.getByRole("button", { name: "Kill this tab’s worker" }).click();
      await tab.getByText("The worker was killed").waitFor();
      if (size.width < 720) await tab.getByRole("button", { name: "Chat", exact: true }).click();
      const covered = await tab.evaluate(() => {
        const notices = document.getElementById("notices").getBoundingClientRect();
        return [...document.querySelectorAll("button, textarea, input, a.button")]
          .filter((control) => control.checkVisibility() && !control.closest("#notices, .skip"))
          .map((control) => [control.outerHTML, control.getBoundingClientRect()])
          .filter(([, { top, bottom }]) => top < notices.bottom && bottom > notices.top)
          .map(([html]) => html);
      });
      expect(covered).toEqual([]);
      await tab.getByRole("button", { name: "Dismiss" }).click();
    }
  });

  test("a box that goes on says so by a fade", async () => {
    await tab.setViewportSize(SIZES[0]);
    const scroll = tab.locator("#chat-scroll");
    await scroll.and(tab.locator("[data-more]")).waitFor();
    await scroll.evaluate((box) => {
      box.scrollTop = box.scrollHeight;
    });
    await scroll.and(tab.locator(":not([data-more])")).waitFor();
    await tab.setViewportSize(SIZES[2]);
  });

  test("what deletes looks unlike the rest", async () => {
    const color = (name) =>
      tab
        .locator(".storage")
        .getByRole("button", { name })
        .evaluate((button) => getComputedStyle(button).backgroundColor);
    const usual = await color("Export");
    for (const name of ["Forget everything", "Shorten history", "Import"]) {
      expect(await color(name)).not.toBe(usual);
    }
  });

  test("the files are served compressed, and are the same then", async () => {
    const url = await tab.locator("script[type=module]").evaluate(({ src }) => src);
    const [plain, small] = await Promise.all(
      ["identity", "br"].map((coding) => read(url, { "accept-encoding": coding })),
    );
    expect(small.headers["content-encoding"]).toBe("br");
    expect(small.body.length * 3).toBeLessThan(plain.body.length);
    expect(brotliDecompressSync(small.body).equals(plain.body)).toBe(true);
  });

  test("nothing scrolls sideways at 360 px, in any part", async () => {
    await tab.setViewportSize({ width: 360, height: 740 });
    for (const part of ["Threads", "Memory", "Storage", "Chat"]) {
      await tab.locator(".parts").getByRole("button", { name: part }).click();
      const wide = await tab.evaluate(() =>
        [...document.querySelectorAll("html, .panel, .scroll")]
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
          .map(({ className }) => className),
      );
      expect(wide).toEqual([]);
    }
    await tab.setViewportSize({ width: 1440, height: 900 });
  });

  test("every control has a name, every id is one of a kind", async () => {
    const nameless = await tab.evaluate(() =>
      [...document.querySelectorAll("button, a, input, textarea, summary")]
        .filter((control) => {
          const label = control.labels?.[0]?.textContent ?? control.getAttribute("aria-label");
          return !(label ?? control.textContent).trim();
        })
        .map((control) => control.outerHTML),
    );
    expect(nameless).toEqual([]);
    const ids = await tab.evaluate(() =>
      [...document.querySelectorAll("[id]")].map((element) => element.id),
    );
    expect(ids).toEqual([...new Set(ids)]);
  });

  test("a thread can be written to by keyboard alone", async () => {
    await tab.goto(address);
    await fact(tab, "role", "Owner").waitFor();
    await tab.locator("#welcome h3").waitFor();
    const thread = await tab.evaluate(() => location.hash);
    await tab.keyboard.press("Tab");
    await tab.keyboard.press("Enter");
    await tab.keyboard.type("hello");
    await tab.keyboard.press("Enter");
    await tab.locator(".answer").waitFor();
    expect(await tab.evaluate(() => location.hash)).toBe(thread);
  });
});

test("without a network and a server the page reloads, remembers and says so", async () => {
  await tab.evaluate(() => navigator.serviceWorker.ready);
  await browser.context.setOffline(true);
  await stopServer();
  await tab.reload();
  await tab.getByText("Offline. Everything goes on.").waitFor();
  await tab.getByRole("button", { name: "New thread", exact: true }).click();
  await tab.locator("#welcome").waitFor();
  await expect(say(tab, QUESTION)).resolves.toContain("Porto");
});

test("everything can be forgotten, with a receipt", async () => {
  await tab.locator("#memory-count", { hasText: "item" }).waitFor();
  await tab.getByRole("button", { name: "Forget everything" }).click();
  // As many as the page shows.
  const [count] = /^\S+ items/.exec(await tab.locator("#memory-count").textContent());
  await tab.locator("#confirm-text", { hasText: `${count} and ` }).waitFor();
  await tab
    .locator("#confirm-text", { hasText: "The receipt says whether bytes of them may be left" })
    .waitFor();
  const [download] = await Promise.all([
    tab.waitForEvent("download"),
    tab.getByRole("button", { name: "Forget", exact: true }).click(),
  ]);
  const receipt = JSON.parse(readFileSync(await download.path(), "utf8"));
  expect(receipt).toMatchObject({ threads: "all", dryRun: false });
  expect(receipt.erased.items).toBeGreaterThan(0);
  await tab.locator("#memory-empty", { hasText: "Nothing here yet" }).waitFor();
  await tab.locator("#welcome h3").waitFor();
  await tab.getByRole("button", { name: "Forget everything" }).click();
  await tab.locator("#notices", { hasText: "There is nothing to forget" }).waitFor();
});
