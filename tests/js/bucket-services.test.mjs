// Netlify Blobs over the server of its package, Vercel Blob over a fake of its HTTP interface.

import { getStore } from "@netlify/blobs";
import * as blob from "@vercel/blob";
import { checkBucket, netlifyBlobs, vercelBlob } from "keepsake/bucket";
import { bytesOf, callsOf, describeBucket } from "../contract/bucket.mjs";
import { fakeVercel } from "./support/fake-vercel.mjs";
import { closeServers } from "./support/local-server.mjs";
import { found, killAll, start } from "./support/processes.mjs";
import { expectRefused } from "./support/refusal.mjs";
import { removeTemporaryFolders, temporaryFolder } from "./support/temporary.mjs";

afterAll(async () => {
  await killAll();
  closeServers();
  removeTemporaryFolders();
});

describe("netlifyBlobs()", () => {
  let address;
  // The local server looks and writes in two steps. Netlify's is one.
  let last = Promise.resolve();
  const oneByOne = (url, init) => {
    if (init?.method !== "put") return fetch(url, init);
    last = last.then(() => fetch(url, init));
    return last;
  };

  beforeAll(async () => {
    const server = start("netlify-server.mjs", [temporaryFolder(), "right"]);
    address = await found(server, /at (http:\S+)/);
  });

  const storeOf = (changed) =>
    getStore({
      name: "agents",
      siteID: "00000000-0000-4000-8000-000000000000",
      token: "right",
      edgeURL: address,
      uncachedEdgeURL: address,
      consistency: "strong",
      fetch: oneByOne,
      ...changed,
    });

  // Its keys are paths of files.
  describeBucket("Netlify Blobs", (prefix) => netlifyBlobs(storeOf(), { prefix }), {
    nested: false,
  });

  test("checkBucket() finds that the local server looks before it writes", async () => {
    const store = storeOf({ fetch });
    const { problems } = await checkBucket(netlifyBlobs(store), { rounds: 5 });
    expect(problems).toEqual([expect.stringMatching(/more than one is told that it did/)]);
  });

  test("a create that is refused is no success, though the package says so", async () => {
    const store = storeOf({ token: "wrong" });
    expect(await store.set("a", "x", { onlyIfNew: true })).toMatchObject({ modified: true });
    for (const call of callsOf(netlifyBlobs(store))) {
      await expectRefused(call, "bucket_refused", /403/);
    }
  });

  test("a store that is busy is `unreachable`", async () => {
    const busy = async () => new Response(null, { status: 503 });
    for (const call of callsOf(netlifyBlobs(storeOf({ fetch: busy })))) {
      await expectRefused(call, "unreachable", /503|did not confirm/);
    }
    const unplugged = async () => {
      throw new TypeError("fetch failed");
    };
    for (const call of callsOf(netlifyBlobs(storeOf({ fetch: unplugged })))) {
      await expectRefused(call, "unreachable", /fetch failed/);
    }
    const halfBusy = async (url, init) => (init.method === "put" ? busy() : fetch(url, init));
    const { port } = netlifyBlobs(storeOf({ fetch: halfBusy }));
    await expectRefused(() => port.create("a", bytesOf(1)), "unreachable", /is not known/);
  });

  test("a store that is consistent only in the end is refused", async () => {
    for (const consistency of ["eventual", undefined]) {
      await expectRefused(
        () => netlifyBlobs(storeOf({ consistency })),
        "invalid_argument",
        /consistency: "strong"/,
      );
    }
    const { port } = netlifyBlobs(storeOf({ uncachedEdgeURL: undefined }));
    await expectRefused(() => port.get("a"), "bucket_refused", /strong consistency/);
  });

  test("mistakes in its options are refused", async () => {
    await expectRefused(() => netlifyBlobs("agents"), "invalid_argument", /getStore\(\)/);
    await expectRefused(
      () => netlifyBlobs(storeOf(), { folder: "a" }),
      "invalid_argument",
      /"folder"/,
    );
  });
});

describe("vercelBlob()", () => {
  let vercel;
  beforeAll(async () => {
    vercel = await fakeVercel();
  });
  afterAll(() => vercel.close());

  const bucketOf = (changed) => vercelBlob(blob, { token: vercel.token, ...changed });

  describeBucket("Vercel Blob", (prefix) => bucketOf({ prefix }));

  test("a blob is private, has the name that it is given, and is never written over", async () => {
    vercel.requests.splice(0);
    await bucketOf().port.create("a", bytesOf(1));
    expect(vercel.requests[0].headers).toMatchObject({
      "x-vercel-blob-access": "private",
      "x-add-random-suffix": "0",
      "x-allow-overwrite": "0",
      "x-content-type": "application/octet-stream",
    });
  });

  test.each([
    [403, "forbidden", "bucket_refused", /Access denied/],
    [404, "store_not_found", "bucket_refused", /does not exist/],
    [403, "store_suspended", "bucket_refused", /suspended/],
    [400, "bad_request", "bucket_refused", /in a sentence/],
    [503, "service_unavailable", "unreachable", /not available/],
    [429, "rate_limited", "unreachable", /Too many requests/],
    [500, "unknown_error", "unreachable", /Unknown error/],
  ])("%i %s is %s", async (status, code, meaning, message) => {
    const { port } = bucketOf();
    for (const call of [
      () => port.create("z", bytesOf(1)),
      () => port.list(""),
      () => port.delete("z"),
    ]) {
      vercel.faults.push([status, code]);
      await expectRefused(call, meaning, message);
    }
    // Of what is read the package tells no more than the status.
    if (status !== 404) {
      vercel.faults.push([status, code]);
      await expectRefused(() => port.get("z"), meaning, new RegExp(String(status)));
    }
  });

  test("a token that is wrong is refused, and not shown", async () => {
    const wrong = bucketOf({ token: "vercel_blob_rw_store1_wrong" });
    for (const call of callsOf(wrong)) {
      const error = await expectRefused(call, "bucket_refused", /Access denied|403/);
      expect(`${error.stack}`).not.toContain("rw_store1");
    }
  });

  test("without a token the package's own words say what is missing", async () => {
    await expectRefused(
      () => vercelBlob(blob).port.list(""),
      "bucket_refused",
      /No blob credentials found/,
    );
  });

  test("an older package, and mistakes in its options, are refused", async () => {
    const { put, list, del } = blob;
    await expectRefused(() => vercelBlob({ put, list, del }), "invalid_argument", /2\.3 or later/);
    await expectRefused(() => vercelBlob({ token: "x" }), "invalid_argument", /takes the package/);
    await expectRefused(() => bucketOf({ token: "" }), "invalid_argument", /environment/);
    await expectRefused(() => bucketOf({ access: "public" }), "invalid_argument", /"access"/);
  });
});
