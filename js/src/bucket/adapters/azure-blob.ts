// Azure Blob Storage, by its REST interface.

import { checkListener, checkOptions, type NamesOf, show } from "../../checks.js";
import { invalid } from "../../errors.js";
import { Bucket } from "../bucket.js";
import { refused, unreachable } from "../guard.js";
import { checkFolder } from "../keys.js";
import type { ByteRange, ListRange } from "../port.js";
import {
  type Answer,
  type Fetch,
  failureOf,
  fetcherOf,
  rangeHeader,
  rangeOf,
  send,
  textOf,
  urlIn,
} from "./http.js";
import { errorIn, textsIn } from "./xml.js";

/** Where a container is, and who asks: by a shared access signature, or by a token of Entra ID. */
export interface AzureBlobOptions {
  /** Such as `https://account.blob.core.windows.net/agents`; the signature may be its query. */
  containerUrl: string;
  /** With the rights read, create, list and delete. A function, if it changes, is asked each time. */
  sasToken?: string | (() => string | Promise<string>) | undefined;
  /** In its place: answers a token for `https://storage.azure.com/.default`, asked each time. */
  token?: (() => string | Promise<string>) | undefined;
  /** A folder that all is below, such as `agents/ada`. @default none */
  prefix?: string | undefined;
  /** @default the global one */
  fetch?: Fetch | undefined;
}

const AZURE_OPTIONS: NamesOf<AzureBlobOptions> = {
  containerUrl: 1,
  sasToken: 1,
  token: 1,
  prefix: 1,
  fetch: 1,
};

const API_VERSION = "2023-11-03";
const EXISTS = ["BlobAlreadyExists", "ConditionNotMet", "UnauthorizedBlobOverwrite"];
// Conflicts that stay.
const IMMUTABLE = /^BlobImmutable|^SnapshotsPresent$|^BlobOperationNotSupported$/;

/** A container of Azure Blob Storage; the account has no hierarchical namespace. */
export function azureBlob(options: AzureBlobOptions): Bucket {
  const checked = checkOptions("azureBlob", AZURE_OPTIONS, options);
  const { prefix, fetch } = checked;
  const folder = checkFolder("prefix", prefix);
  const root = urlIn(checked.containerUrl);
  if (root === undefined || root.pathname === "/") {
    throw invalid(
      "containerUrl must be the address of a container, such as https://account.blob.core.windows.net/agents",
    );
  }
  const queryOfUrl = root.search;
  root.search = "";
  if (!root.pathname.endsWith("/")) root.pathname += "/";
  checkListener("fetch", fetch);
  const fetcher = fetcherOf(fetch);
  const place = `${root.href}${folder}`;
  const admission = admissionOf(checked, queryOfUrl);

  const ask = async (
    method: string,
    key: string,
    headers: Record<string, string> = {},
    { query = {}, body }: { query?: Record<string, string>; body?: Uint8Array } = {},
  ): Promise<Answer> => {
    const { sas, token } = await admission();
    const url = new URL(root.pathname + key, root);
    if (key === "") url.pathname = url.pathname.slice(0, -1);
    url.search = sas;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const all = {
      ...headers,
      "x-ms-version": API_VERSION,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    return send(place, fetcher, { method, url, headers: all, body });
  };
  const failure = (answer: Answer) => {
    const { status } = answer;
    const { code, words } = errorOf(answer);
    if (status === 404 && code === "") {
      return refused(
        place,
        "what answers there (404) is no Azure Blob Storage: see `containerUrl`",
      );
    }
    return status === 409 && IMMUTABLE.test(code)
      ? refused(place, `it refuses (409): ${words}`)
      : failureOf(place, answer, words);
  };

  const get = async (key: string, range?: ByteRange): Promise<Uint8Array | undefined> => {
    const answer = await ask("GET", key, rangeHeader(range));
    const { status } = answer;
    if (status === 200 || status === 206) return rangeOf(place, answer, range);
    if (status === 404 && errorOf(answer).code === "BlobNotFound") return undefined;
    if (status === 416 && range !== undefined) return new Uint8Array();
    throw failure(answer);
  };

  const create = async (key: string, body: Uint8Array): Promise<boolean> => {
    const headers = { "if-none-match": "*", "x-ms-blob-type": "BlockBlob" };
    const answer = await ask("PUT", key, headers, { body });
    if (answer.status === 201) return true;
    if (EXISTS.includes(errorOf(answer).code)) return false;
    throw failure(answer);
  };

  // There is no way to begin behind a key: pages are read until there are some.
  const list = async (begin: string, { after = "", limit }: ListRange = {}): Promise<string[]> => {
    let marker = "";
    do {
      const query = {
        restype: "container",
        comp: "list",
        ...(begin !== "" && { prefix: begin }),
        ...(marker !== "" && { marker }),
        // So many may lie before `after`.
        ...(limit !== undefined && after === "" && { maxresults: String(Math.min(limit, 5000)) }),
      };
      const answer = await ask("GET", "", {}, { query });
      if (answer.status !== 200) throw failure(answer);
      const xml = textOf(answer.bytes);
      if (!xml.trimEnd().endsWith("</EnumerationResults>")) {
        throw unreachable(place, "it answers no list of objects");
      }
      const keys = textsIn(xml, "Name").filter((key) => key > after);
      if (keys.length > 0) return keys;
      [marker = ""] = textsIn(xml, "NextMarker");
    } while (marker !== "");
    return [];
  };

  const remove = async (key: string): Promise<void> => {
    const answer = await ask("DELETE", key);
    if (answer.status >= 300 && errorOf(answer).code !== "BlobNotFound") throw failure(answer);
  };

  return new Bucket({ get, create, list, delete: remove }, place, prefix);
}

function errorOf({ headers, bytes }: Answer): { code: string; words: string } {
  const told = errorIn(textOf(bytes));
  const code = headers.get("x-ms-error-code") ?? told.code;
  return { code, words: told.words || code };
}

type Admission = { sas: string; token?: string };

/** What a request is let in by. */
function admissionOf(
  { sasToken, token }: AzureBlobOptions,
  queryOfUrl: string,
): () => Promise<Admission> {
  const given = [queryOfUrl !== "", sasToken !== undefined, token !== undefined];
  if (given.filter((one) => one).length !== 1) {
    throw invalid(
      "azureBlob takes a sasToken (which may be the query of containerUrl), or a token: one of them; is a variable of the environment missing?",
    );
  }
  if (token !== undefined) {
    checkListener("token", token);
    return async () => ({ sas: "", token: checkSecret("token()", await token()) });
  }
  if (typeof sasToken === "function") {
    return async () => ({ sas: checkSecret("sasToken()", await sasToken()) });
  }
  const sas = checkSecret("sasToken", sasToken ?? queryOfUrl);
  return async () => ({ sas });
}

// An error never shows what was given.
function checkSecret(name: string, secret: unknown): string {
  if (typeof secret === "string" && secret !== "") return secret;
  throw invalid(`${name} must be a text: ${secret === "" ? "an empty one" : show(typeof secret)}`);
}
