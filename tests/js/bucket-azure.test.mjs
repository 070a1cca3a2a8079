// Azure Blob Storage over Azure's own emulator.

import { azureBlob } from "keepsake/bucket";
import { bytesOf, callsOf, describeBucket } from "../contract/bucket.mjs";
import { startAzurite } from "./support/azurite.mjs";
import { closeServers, serveWeb } from "./support/local-server.mjs";
import { killAll } from "./support/processes.mjs";
import { expectRefused } from "./support/refusal.mjs";
import { removeTemporaryFolders } from "./support/temporary.mjs";

afterAll(async () => {
  await killAll();
  closeServers();
  removeTemporaryFolders();
});

describe("azureBlob()", () => {
  let azurite;
  beforeAll(async () => {
    azurite = await startAzurite();
  });

  const bucketOf = (changed) =>
    azureBlob({ containerUrl: azurite.at("agents"), sasToken: azurite.sas(), ...changed });

  describeBucket("Azure Blob Storage", (prefix) => bucketOf({ prefix }));

  test("the signature may be the address's query, begin with ?, or be asked for each time", async () => {
    const containerUrl = `${azurite.at("agents")}?${azurite.sas()}`;
    await bucketOf().port.create("sas", bytesOf(3));
    expect(await azureBlob({ containerUrl }).port.get("sas")).toEqual(bytesOf(3));
    expect(await bucketOf({ sasToken: `?${azurite.sas()}` }).port.get("sas")).toEqual(bytesOf(3));
    const given = ["sv=old", azurite.sas()];
    const { port } = bucketOf({ sasToken: async () => given.shift() });
    await expectRefused(() => port.get("sas"), "bucket_refused");
    expect(await port.get("sas")).toEqual(bytesOf(3));
  });

  test("a signature that is wrong, too narrow or too old is refused, and never shown", async () => {
    const past = "2020-01-01T00:00:00Z";
    const right = azurite.sas();
    for (const sasToken of [
      right.replace(/sig=.{8}/, "sig=AAAAAAAA"),
      azurite.sas("agents", { until: past }),
    ]) {
      for (const call of callsOf(bucketOf({ sasToken }))) {
        const error = await expectRefused(call, "bucket_refused", /403.*Auth/);
        expect(`${error.stack}${JSON.stringify(error)}`).not.toContain("sig=");
      }
    }
    const readOnly = bucketOf({ sasToken: azurite.sas("agents", { permissions: "rl" }) });
    await expectRefused(
      () => readOnly.port.create("b", bytesOf(1)),
      "bucket_refused",
      /Permission/,
    );
    expect(bucketOf().place).toBe(`${azurite.at("agents")}/`);
  });

  test("a container that is not there, and what is no Azure, are refused", async () => {
    const nowhere = { containerUrl: azurite.at("nowhere"), sasToken: azurite.sas("nowhere") };
    const { port } = azureBlob(nowhere);
    for (const call of [
      () => port.get("a"),
      () => port.create("a", bytesOf(1)),
      () => port.list(""),
    ]) {
      await expectRefused(call, "bucket_refused", /404.*ContainerNotFound/);
    }
    const page = await serveWeb(() => new Response("<h1>no</h1>", { status: 404 }));
    for (const call of callsOf(bucketOf({ containerUrl: `${page}/agents` }))) {
      await expectRefused(call, "bucket_refused", /is no Azure/);
    }
  });

  test.each([
    [409, "BlobAlreadyExists", false],
    [412, "ConditionNotMet", false],
    [409, "BlobImmutableDueToPolicy", "bucket_refused"],
    [409, "ContainerBeingDeleted", "unreachable"],
    [503, "ServerBusy", "unreachable"],
    [500, "OperationTimedOut", "unreachable"],
    [403, "AuthorizationFailure", "bucket_refused"],
    [400, "InvalidHeaderValue", "bucket_refused"],
  ])("a create that is answered by %i %s is %s", async (status, code, meaning) => {
    const { port } = bucketOf({
      fetch: async () => new Response("", { status, headers: { "x-ms-error-code": code } }),
    });
    if (meaning === false) expect(await port.create("a", bytesOf(1))).toBe(false);
    else await expectRefused(() => port.create("a", bytesOf(1)), meaning, new RegExp(code));
  });

  test("pages of a list are read until there are keys behind `after`", async () => {
    const asked = [];
    const page = (names, next) =>
      `<?xml version="1.0"?><EnumerationResults><Blobs>${names
        .map((name) => `<Blob><Name>${name}</Name></Blob>`)
        .join("")}</Blobs><NextMarker>${next}</NextMarker></EnumerationResults>`;
    const pages = [page(["a", "b"], "1&amp;2"), page([], "3"), page(["c", "d"], "4")];
    const { port } = bucketOf({
      fetch: async (url) => {
        asked.push(new URL(url).searchParams.get("marker"));
        return new Response(pages[asked.length - 1]);
      },
    });
    expect(await port.list("", { after: "b", limit: 5 })).toEqual(["c", "d"]);
    expect(asked).toEqual([null, "1&2", "3"]);
    const cut = bucketOf({ fetch: async () => new Response(pages[0].slice(0, 60)) });
    await expectRefused(() => cut.port.list(""), "unreachable", /no list/);
  });

  test("a token of Entra ID is sent in the place of a signature", async () => {
    const sent = [];
    const { port } = azureBlob({
      containerUrl: "https://account.blob.core.windows.net/agents",
      token: async () => `token-${sent.length}`,
      fetch: async (url, { headers }) => {
        sent.push([url, headers.authorization]);
        return new Response("x");
      },
    });
    await port.get("a");
    await port.get("a");
    const url = "https://account.blob.core.windows.net/agents/a";
    expect(sent).toEqual([
      [url, "Bearer token-0"],
      [url, "Bearer token-1"],
    ]);
  });

  test("mistakes in its options are refused", async () => {
    const refused = (options, message) =>
      expectRefused(() => azureBlob(options), "invalid_argument", message);
    const containerUrl = "https://account.blob.core.windows.net/agents";
    await refused({ containerUrl }, /environment/);
    await refused({ containerUrl, sasToken: "a", token: () => "b" }, /one of them/);
    await refused({ containerUrl: `${containerUrl}?sig=a`, sasToken: "a" }, /one of them/);
    await refused({ containerUrl, sasToken: "" }, /sasToken/);
    await refused(
      { containerUrl: "https://account.blob.core.windows.net", sasToken: "a" },
      /containerUrl/,
    );
    await refused({ containerURL: containerUrl }, /"containerUrl"/);
  });
});
