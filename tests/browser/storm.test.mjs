// Several tabs write to one database while tabs are closed, reloaded, crashed, and put
// into the back/forward cache and brought back: nothing that was acknowledged is lost or
// applied twice, and every call settles.

import { setTimeout as sleep } from "node:timers/promises";
import { times } from "../js/support/effort.mjs";
import { closeBrowsers, elsewhere, leaveAndReturn, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { randomFrom } from "./support/random.mjs";
import { Ledger, StormTab } from "./support/storm.mjs";
import { servePage } from "./support/test-page.mjs";

const TABS = 5;
const KILLS = times(40);
const SEED = Number(process.env.KEEPSAKE_STORM_SEED ?? 20261122);

let server;

beforeAll(async () => {
  server = await servePage("storm");
});

afterEach(closeBrowsers);

afterAll(cleanUp);

const kills = {
  async close(tab) {
    await tab.page.close();
    await tab.open();
  },
  async reload(tab) {
    await tab.page.reload();
    await tab.begin();
  },
  async crash(tab) {
    const session = await tab.page.context().newCDPSession(tab.page);
    const crashed = new Promise((resolve) => tab.page.once("crash", resolve));
    session.send("Page.crash").catch(() => {});
    await crashed;
    await tab.page.close();
    await tab.open();
  },
  async navigate(tab, random) {
    const away = elsewhere(server.url);
    const isRestored = await leaveAndReturn(tab.page, away, () => sleep(random.below(1_000)));
    if (!isRestored) await tab.begin();
    return isRestored;
  },
};

async function victim(tabs, random) {
  if (random.chance(0.5)) return random.of(tabs);
  const owns = await Promise.all(tabs.map((tab) => tab.isOwner()));
  return tabs[owns.indexOf(true)] ?? random.of(tabs);
}

async function storm({ storage, killCount, seed }) {
  const random = randomFrom(seed);
  const ledger = new Ledger();
  const browser = await startChromium({ bfcache: true });
  const options = { name: "storm", storage };
  const tabs = Array.from(
    { length: TABS },
    (_, i) => new StormTab({ browser, ledger, url: server.url, name: `tab${i}`, options }),
  );
  await Promise.all(tabs.map((tab) => tab.open()));
  const counts = { close: 0, reload: 0, crash: 0, navigate: 0, restored: 0 };
  for (let i = 0; i < killCount; i++) {
    const kind = random.of(["close", "reload", "crash", "navigate"]);
    counts[kind]++;
    if (await kills[kind](await victim(tabs, random), random)) counts.restored++;
    await sleep(random.below(300));
  }
  await Promise.all(tabs.map((tab) => tab.stop()));
  const result = await ledger.check(await tabs[0].export());
  const { acknowledged, longestStall } = ledger;
  return { result, counts, acknowledged, longestStall: Math.round(longestStall) };
}

const slices = [
  ["opfs", KILLS],
  ["indexeddb", Math.ceil(KILLS / 4)],
];

test.each(slices)(
  "over %s nothing acknowledged is lost or applied twice",
  async (storage, killCount) => {
    const started = Date.now();
    const { result, counts, acknowledged, longestStall } = await storm({
      storage,
      killCount,
      seed: SEED,
    });
    const seconds = Math.round((Date.now() - started) / 1000);
    process.stdout.write(
      `storm over ${storage}: seed ${SEED}, ${killCount} kills ${JSON.stringify(counts)} in ${seconds} s, ` +
        `${acknowledged} acknowledged, longest stall of a surviving tab ${longestStall} ms\n`,
    );
    expect(result).toEqual({ integrity: "ok", lacking: [], failures: [] });
    expect(acknowledged).toBeGreaterThan(killCount);
  },
  60_000 + KILLS * 15_000,
);
