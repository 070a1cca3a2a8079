// Scopes in Chromium: in the tab that owns the database, and in one that follows.

import { startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { serveSource } from "./support/test-page.mjs";

let server;
let browser;

beforeAll(async () => {
  server = await serveSource(`
    import { openMemory, resolveNamespace } from "keepsake";
    import { differenceOf } from "./tests/js/support/isolation.mjs";
    const now = () => 1_800_000_000_000;
    globalThis.open = async (name) => {
      globalThis.memory = await openMemory({ name, now });
      return (await globalThis.memory.diagnose()).owner ?? null;
    };
    globalThis.difference = (seed, calls) =>
      differenceOf(globalThis.memory, () => openMemory({ path: ":memory:", now }), { seed, calls });
    globalThis.codeOf = (body) => body(globalThis.memory).then(() => "", ({ code, message }) => code + " " + message);
    globalThis.resolveNamespace = resolveNamespace;
  `);
  browser = await startChromium();
});

afterAll(cleanUp);

async function openTab(name) {
  const page = await browser.context.newPage();
  await page.goto(server.url);
  await page.evaluate((given) => globalThis.open(given), name);
  return page;
}

test("[cap 52] scopes are as memories of their own, in the owner and in a follower", async () => {
  const owner = await openTab("isolation");
  const follower = await openTab("isolation");
  expect(await owner.evaluate(() => globalThis.difference(1, 300))).toBe("");
  await owner.evaluate(() =>
    globalThis.memory.store
      .search([], { limit: 1000 })
      .then((items) =>
        globalThis.memory.store.batch(
          items.map(({ namespace, key }) => ({ namespace, key, value: null })),
        ),
      ),
  );
  for (const thread of await owner.evaluate(async () => {
    const ids = [];
    for await (const { threadId } of globalThis.memory.checkpointer.listThreads())
      ids.push(threadId);
    return ids;
  })) {
    await owner.evaluate((id) => globalThis.memory.checkpointer.deleteThread(id), thread);
  }
  expect(await follower.evaluate(() => globalThis.difference(2, 300))).toBe("");
});

test("[cap 88] [cap 90] [cap 104] [cap 105] a policy holds in a follower", async () => {
  await openTab("policy");
  const follower = await openTab("policy");
  const told = await follower.evaluate(() =>
    Promise.all([
      globalThis.codeOf((memory) =>
        memory.scoped({ user: "ada", policy: { readOnly: true } }).store.put(["n"], "k", {}),
      ),
      globalThis.codeOf((memory) =>
        memory
          .scoped({ user: "ada", policy: { maxValueBytes: 5 } })
          .store.put(["n"], "k", { n: 1 }),
      ),
      globalThis.codeOf((memory) => memory.scoped({ user: "ada" }).store.stats()),
    ]),
  );
  expect(told).toEqual([
    expect.stringMatching(/^access_denied .*read only/),
    expect.stringMatching(/^quota_exceeded .*Value size 7 exceeds max 5/),
    expect.stringMatching(/^access_denied .*whole memory/),
  ]);
});

test("[cap 84] [cap 85] [cap 86] [cap 87] [cap 91] [cap 103] [cap 108] a provider, in the next run as well", async () => {
  const first = await openTab("provider");
  const events = await first.evaluate(async () => {
    const heard = [];
    const onAccess = ({ phase, operation }) => heard.push(`${phase} ${operation}`);
    const provider = globalThis.memory.scoped({ user: "ada", onAccess }).provider();
    const namespace = globalThis.resolveNamespace("conversation", { thread_id: "1" });
    await provider.store({ namespace, key: "tea", value: "likes tea", metadata: { class: "a" } });
    return heard;
  });
  expect(events).toEqual(["before store", "after store"]);
  await first.close();
  const second = await openTab("provider");
  const entries = await second.evaluate(() =>
    globalThis.memory
      .scoped({ user: "ada" })
      .provider()
      .recall({ namespace: "conv:1", query_text: "tea" }),
  );
  expect(entries).toEqual([expect.objectContaining({ key: "tea", value: "likes tea" })]);
});
