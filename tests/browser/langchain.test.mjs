// keepsake/langchain in a page, with LangChain's build for browsers.

import { testAgents } from "../js/support/remembering-facts.mjs";
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

testAgents((name) => page.evaluate((agent) => globalThis.run(agent), name));
