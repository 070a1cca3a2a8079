// Buckets in a page of another origin: what its browser shows of answers, and keeps of them.

import { customBucket, serveBucket } from "keepsake/bucket";
import { fakeS3 } from "../js/support/fake-s3.mjs";
import { closeServers, serveWeb } from "../js/support/local-server.mjs";
import { memoryPort } from "../js/support/memory-bucket.mjs";
import { openTab, startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { servePage } from "./support/test-page.mjs";

// As docs/buckets.md says.
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, PUT, DELETE",
  "access-control-allow-headers": "*, authorization",
};

afterAll(cleanUp);
afterAll(closeServers);

let page;
let errors;

beforeAll(async () => {
  const { url } = await servePage("buckets");
  ({ page, errors } = await openTab(await startChromium(), url));
});

const inPage = (method, ...args) =>
  page.evaluate(([method, args]) => globalThis[method](...args), [method, args]);

async function relay() {
  const store = customBucket(memoryPort().port);
  const url = await serveWeb(async (request) => {
    const isPreflight = request.method === "OPTIONS";
    const answer = isPreflight ? new Response() : await serveBucket(store, request);
    for (const [name, value] of Object.entries(CORS)) answer.headers.set(name, value);
    // What an overeager server says, a page must not believe.
    answer.headers.set("cache-control", "max-age=600");
    return answer;
  });
  return { url, headers: { authorization: "Bearer mine" } };
}

async function store() {
  const { options, credentials, settings } = await fakeS3();
  settings.headers = { ...CORS, "cache-control": "max-age=600" };
  return { ...options, ...credentials };
}

test("a relay that is asked for news leaves the console of a page empty", async () => {
  const options = await relay();
  await inPage("wait", "httpBucket", options);
  expect(await inPage("createTwice", "httpBucket", options)).toEqual([true, false]);
  expect(errors).toEqual([]);
});

test.each([
  ["httpBucket", relay],
  ["s3", store],
])("%s() keeps the rules, though its server lets answers be kept", async (name, start) => {
  const options = await start();
  expect(await inPage("check", name, options)).toMatchObject({ isOk: true, problems: [] });
  expect(await inPage("wait", name, options)).toEqual([undefined, [1, 2, 3], [2, 3]]);
});

test("folder() says that a page has no files", async () => {
  const { isOk, sentence } = await inPage("check", "folder", "/tmp");
  expect([isOk, sentence]).toEqual([false, expect.stringMatching(/needs the files of Node/)]);
});
