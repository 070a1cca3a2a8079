// keepsake/langchain in a page, with LangChain's build for browsers.

import {
  expectBesideWindow,
  expectEvicting,
  expectExchanges,
  expectLearning,
  expectLessons,
  expectNewest,
  expectNotebook,
  expectPositions,
  expectShownGraph,
  expectThreeTools,
  expectTwentyTurns,
} from "../js/support/remembering-facts.mjs";
import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { servePage } from "./support/test-page.mjs";

afterAll(cleanUp);

let page;
let errors;

beforeAll(async () => {
  const { url } = await servePage("langchain");
  ({ page, errors } = await openTab(await startChromium(), url));
});

afterEach(() => expect(errors).toEqual([]));

const run = (name) => page.evaluate((agent) => globalThis.run(agent), name);

test("[cap 98] an agent remembers for twenty turns", async () => {
  expectTwentyTurns(await run("twentyTurns"), expect);
});

test("[cap 92] [cap 99] [cap 100] [cap 108] nodes recall and store, twice over one memory", async () => {
  expectExchanges(await run("exchanges"), expect);
});

test("[cap 93] [cap 94] [cap 95] [cap 97] recalled text is where it is wanted", async () => {
  expectPositions(await run("positions"), expect);
});

test("[cap 53] [cap 54] a model remembers, recalls and forgets, in the store of its agent", async () => {
  expectThreeTools(await run("threeTools"), expect);
});

test("[cap 96] what the window says is not repeated", async () => {
  expectBesideWindow(await run("besideWindow"), expect);
});

test("[cap 101] [cap 102] without a query the newest are recalled", async () => {
  expectNewest(await run("newest"), expect);
});

test("[cap 58] [cap 65] episodes tell what worked in a like state", async () => {
  expectLessons(await run("lessons"), expect);
});

test("[cap 93] a graph is shown what is recalled, and keeps nothing of it", async () => {
  expectShownGraph(await run("shownGraph"), expect);
});

test("what is used least is evicted, but nothing pinned, held or new", async () => {
  expectEvicting(await run("evicting"), expect);
});

test("facts are learnt in the background, by a model of the user's", async () => {
  expectLearning(await run("learning"), expect);
});

test("notes are files, for deepagents and for Anthropic's memory tool", async () => {
  expectNotebook(await run("notebook"), expect);
});
