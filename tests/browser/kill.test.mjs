// The whole browser is killed while it writes: what was acknowledged is there afterwards.

import { setTimeout as sleep } from "node:timers/promises";
import { times } from "../js/support/effort.mjs";
import { closeBrowsers, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { killBrowser } from "./support/kill.mjs";
import { randomFrom } from "./support/random.mjs";
import { Ledger, StormTab } from "./support/storm.mjs";
import { servePage } from "./support/test-page.mjs";

const TABS = 2;
const KILLS = times(20);
const SEED = Number(process.env.KEEPSAKE_STORM_SEED ?? 20261122);

let server;

beforeAll(async () => {
  server = await servePage("storm");
});

afterEach(closeBrowsers);

afterAll(cleanUp);

async function openTabs({ browser, ledger, options, names }) {
  const tabs = names.map(
    (name) => new StormTab({ browser, ledger, url: server.url, name, options }),
  );
  await Promise.all(tabs.map((tab) => tab.open()));
  return tabs;
}

async function writeUntilKilled({ options, killCount, seed }) {
  const random = randomFrom(seed);
  const ledger = new Ledger();
  let browser = await startChromium();
  const namesOf = (life) => Array.from({ length: TABS }, (_, i) => `life${life}-tab${i}`);
  for (let life = 0; life < killCount; life++) {
    await openTabs({ browser, ledger, options, names: namesOf(life) });
    await sleep(200 + random.below(1_300));
    await killBrowser(browser);
    browser = await startChromium({ profile: browser.profile });
  }
  const [last] = await openTabs({ browser, ledger, options, names: ["last"] });
  await last.stop();
  return { result: await ledger.check(await last.export()), acknowledged: ledger.acknowledged };
}

const slices = [
  ["opfs", "relaxed", Math.ceil(KILLS / 2)],
  ["opfs", "strict", Math.floor(KILLS / 2)],
  ["indexeddb", "relaxed", Math.ceil(KILLS / 5)],
];

test.each(slices)(
  "over %s, %s, nothing acknowledged is lost",
  async (storage, durability, killCount) => {
    const options = { name: "killed", storage, durability };
    const { result, acknowledged } = await writeUntilKilled({ options, killCount, seed: SEED });
    process.stdout.write(
      `browser killed over ${storage}, ${durability}: seed ${SEED}, ${killCount} times, ${acknowledged} acknowledged\n`,
    );
    expect(result).toEqual({ integrity: "ok", lacking: [], failures: [] });
    expect(acknowledged).toBeGreaterThan(killCount);
  },
  60_000 + KILLS * 30_000,
);
