// keepsake/langchain inside a Durable Object, with LangChain's build for browsers.

import {
  expectExchanges,
  expectPositions,
  expectTwentyTurns,
} from "../js/support/remembering-facts.mjs";
import { cleanUp, startWorkerd } from "./support/workerd.mjs";

afterAll(cleanUp);

let workerd;

beforeAll(async () => {
  workerd = await startWorkerd("langchain", { classes: { AGENT: "Agent" } });
});

test("[cap 98] an agent remembers for twenty turns", async () => {
  expectTwentyTurns(await workerd.call("twentyTurns"), expect);
});

test("[cap 92] [cap 99] [cap 100] [cap 108] nodes recall and store, twice over one memory", async () => {
  expectExchanges(await workerd.call("exchanges"), expect);
});

test("[cap 93] [cap 94] [cap 95] [cap 97] recalled text is where it is wanted", async () => {
  expectPositions(await workerd.call("positions"), expect);
});
