// Capabilities that are the same on every platform, in Chromium.

import { testCapabilities } from "../js/support/capability-cases.mjs";
import { runOver } from "../js/support/sqlite-bytes.mjs";
import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { servePage } from "./support/test-page.mjs";

afterAll(cleanUp);

let page;
let errors;

beforeAll(async () => {
  const { url } = await servePage("capabilities");
  ({ page, errors } = await openTab(await startChromium(), url));
  await page.exposeFunction("runOver", (base64, statement) => {
    const { rows, bytes } = runOver(Buffer.from(base64, "base64"), statement);
    return { rows, bytes: bytes.toString("base64") };
  });
});

afterEach(() => expect(errors).toEqual([]));

testCapabilities("Chromium", (title) => page.evaluate((one) => globalThis.run(one), title));
