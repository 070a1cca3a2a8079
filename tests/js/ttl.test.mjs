// The sweeper, which runs by itself; what TTL means is in the store contract.

import { InMemoryStore, SqliteStore } from "keepsake";
import { ManualClock } from "keepsake/testing";
import { closeOpened, closing } from "./support/closing.mjs";

afterEach(closeOpened);

const soon = 0.001; // minutes

async function eventually(condition) {
  for (let round = 0; round < 200; round += 1) {
    if (await condition()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

describe.each([
  ["InMemoryStore", (options) => new InMemoryStore(options)],
  ["SqliteStore", (options) => new SqliteStore({ path: ":memory:", ...options })],
])("%s", (name, make) => {
  test(`[cap 56] expired items are swept by themselves (${name})`, async () => {
    const clock = new ManualClock();
    const store = closing(
      make({
        now: clock.now,
        ttl: { defaultTtl: 1, sweepIntervalMinutes: soon },
      }),
    );
    await store.put(["n"], "k", {});
    expect((await store.stats()).items).toBe(1);
    clock.advanceMinutes(1);
    expect(await eventually(async () => (await store.stats()).items === 0)).toBe(true);
  });

  test(`[cap 56] stop() stops the sweeper and start() starts it again (${name})`, async () => {
    const clock = new ManualClock();
    const store = closing(
      make({
        now: clock.now,
        ttl: { defaultTtl: 1, sweepIntervalMinutes: soon },
      }),
    );
    await store.put(["n"], "k", {});
    store.stop();
    clock.advanceMinutes(1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await store.stats()).items).toBe(1);
    store.start();
    expect(await eventually(async () => (await store.stats()).items === 0)).toBe(true);
  });
});
