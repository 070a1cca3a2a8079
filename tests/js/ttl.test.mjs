// The sweeper, which runs by itself; what TTL means is in the store contract.

import { InMemoryStore, SqliteStore } from "keepsake";
import { ManualClock } from "keepsake/testing";
import { closeOpened, closing } from "./support/closing.mjs";

afterEach(closeOpened);

const soon = 0.001; // minutes

// Many turns of the sweeper, on a busy machine too.
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 1000));

describe.each([
  ["InMemoryStore", (options) => new InMemoryStore(options)],
  ["SqliteStore", (options) => new SqliteStore({ path: ":memory:", ...options })],
])("%s", (name, make) => {
  async function storeWithExpiredItem() {
    const clock = new ManualClock();
    const store = closing(
      make({ now: clock.now, ttl: { defaultTtl: 1, sweepIntervalMinutes: soon } }),
    );
    await store.put(["n"], "k", {});
    clock.advanceMinutes(1);
    return store;
  }

  test(`expired items are swept by themselves (${name})`, async () => {
    const store = await storeWithExpiredItem();
    await aWhile();
    expect(await store.sweepExpired()).toBe(0);
  });

  test(`stop() stops the sweeper (${name})`, async () => {
    const store = await storeWithExpiredItem();
    store.stop();
    await aWhile();
    expect(await store.sweepExpired()).toBe(1);
  });

  test(`start() starts the sweeper again (${name})`, async () => {
    const store = await storeWithExpiredItem();
    store.stop();
    store.start();
    await aWhile();
    expect(await store.sweepExpired()).toBe(0);
  });
});
