// Cases for what our stores do beyond LangGraph's.

import { ColourEmbeddings, ManualClock } from "keepsake/testing";

/** Cases by their sentence, with stores that have a clock, and what else they need. */
export const cases = (needs, runs) =>
  Object.entries(runs).map(([name, run]) => ({
    name,
    needs,
    async run(make, reopen) {
      const clock = new ManualClock();
      const embeddings = new ColourEmbeddings();
      const index = needs.includes("index") && { index: embeddings.index(["text"]) };
      const options = { now: clock.now, ...index };
      await run(await make(options), { clock, embeddings, options, make, reopen });
    },
  }));

export const N = ["n"];

/** Puts all of them in one batch: they are of the same moment. */
export const putAll = (store, namespace, items) =>
  store.batch(Object.entries(items).map(([key, value]) => ({ namespace, key, value })));

export const keysOf = (items) => items.map(({ key }) => key);

export const sortedKeysOf = (items) => keysOf(items).sort();
