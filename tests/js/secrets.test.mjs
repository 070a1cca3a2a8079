// Secrets in what is put: found, masked and reported, refused, or left alone; and what only
// looks like one.

import { InMemoryStore, openMemory } from "keepsake";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

// In pieces, so that no scanner of repositories takes them for real ones.
const of = (...parts) => parts.join("");
const letters = (count) => "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0xL".repeat(8).slice(0, count);
const upper = (count) => "A3E6G9K2N5Q8T1W4Z7F0".repeat(4).slice(0, count);
const hex = (count) => "0123456789abcdef".repeat(8).slice(0, count);

const SECRETS = [
  ["openai key", of("sk-", letters(48))],
  ["openai key", of("sk-proj-", letters(60))],
  ["anthropic key", of("sk-ant-api03-", letters(80))],
  ["aws key", of("AKIA", upper(16))],
  ["github token", of("ghp_", letters(36))],
  ["github token", of("github_pat_", letters(70))],
  ["gitlab token", of("glpat-", letters(20))],
  ["google key", of("AIza", letters(35))],
  ["google key", of("ya29.", letters(60))],
  ["slack token", of("xoxb-", "123456789012-", letters(24))],
  ["stripe key", of("sk_live_", letters(24))],
  ["stripe key", of("whsec_", letters(32))],
  ["sendgrid key", of("SG.", letters(22), ".", letters(43))],
  ["npm token", of("npm_", letters(36))],
  ["pypi token", of("pypi-", letters(80))],
  ["hugging face token", of("hf_", letters(34))],
  ["digitalocean token", of("dop_v1_", hex(64))],
  ["telegram token", of("123456789", ":AA", letters(33))],
  ["json web token", of("eyJ", letters(30), ".eyJ", letters(40), ".", letters(43))],
  ["card number", "4111 1111 1111 1111"],
  ["card number", "5555-5555-5555-4444"],
  ["card number", "378282246310005"],
  [
    "private key",
    of("-----BEGIN RSA PRIVATE", " KEY-----\n", letters(64), "\n-----END RSA PRIVATE", " KEY-----"),
  ],
  ["private key", of("-----BEGIN OPENSSH PRIVATE", " KEY-----\n", letters(64))],
];

const HARMLESS = [
  "the task-force-of-2026-Has-A-Very-Long-Name met",
  "class sk-folding-cube-spinner-animation is from a style sheet",
  "sk-SK is the locale of Slovakia",
  "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
  "id 123e4567-e89b-12d3-a456-426614174000",
  "at 1700000000000, that is 1700000000000000 in microseconds",
  "order 4111 1111 1111 1112 was sent", // no card: its check digit is wrong
  "parcel 1234 5678 9012 3452",
  "call +49 170 1234567 or 4111-1111",
  "ISBN 978-3-16-148410-0",
  "pi is 3.1415926535897932",
  "npm_config_registry and hf_hub_download are names",
  "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
  "-----BEGIN CERTIFICATE-----",
  "see https://example.com:8080/path and mail me at a@b.example",
  "ratio 3://4: or so",
  "Bearer of good news from far away places",
  "eyJ is how a token begins",
  "AKIA is a prefix, and AKIAisnotakeyatall neither",
  'it said "sk-" and nothing more',
];

const put = async (store, value) => {
  const report = await store.put(["n"], "k", value);
  return { report, stored: (await store.get(["n"], "k")).value };
};

test.each(SECRETS)("[cap 106] a %s is masked and reported", async (kind, secret) => {
  const store = new InMemoryStore();
  for (const [before, after] of [
    ["", ""],
    ["it is ", ", keep it"],
    ['the "key":\n', "\n\\ and more"],
    ["(", ")"],
  ]) {
    const { report, stored } = await put(store, { text: before + secret + after, n: [1] });
    expect(report).toEqual({ masked: [kind] });
    const end = secret.includes("END") || !secret.includes("BEGIN") ? after : "";
    expect(stored).toEqual({ text: `${before}[${kind}]${end}`, n: [1] });
  }
});

test.each(HARMLESS)("[cap 106] nothing is masked in: %s", async (text) => {
  const { report, stored } = await put(new InMemoryStore(), { text, nested: { again: [text] } });
  expect(report).toBeUndefined();
  expect(stored).toEqual({ text, nested: { again: [text] } });
});

test("[cap 106] passwords are masked where they stand, and all secrets of a value", async () => {
  const store = new InMemoryStore();
  const [token, key] = [SECRETS[4][1], SECRETS[0][1]];
  const value = {
    url: "postgres://ada:hunter2@db.example/app",
    header: of("Authorization: Bearer ", letters(40)),
    list: [token, { deep: key }],
    card: 4111111111111111,
  };
  const { report, stored } = await put(store, value);
  expect(stored).toEqual({
    url: "postgres://ada:[password in a url]@db.example/app",
    header: "Authorization: Bearer [bearer token]",
    list: ["[github token]", { deep: "[openai key]" }],
    card: "[card number]",
  });
  expect([...report.masked].sort()).toEqual([
    "bearer token",
    "card number",
    "github token",
    "openai key",
    "password in a url",
  ]);
});

test("[cap 106] a secret is masked before it is embedded, searched or written", async () => {
  const texts = [];
  const embeddings = (given) => {
    texts.push(...given);
    return given.map(() => [1, 2]);
  };
  const path = temporaryFile("secrets.db");
  const memory = await openMemory({ path, index: { dims: 2, embeddings } });
  const secret = SECRETS[0][1];
  const results = await memory.store.batch([
    { namespace: ["n"], key: "a", value: { text: `use ${secret}` } },
    { namespace: ["n"], key: "b", value: { text: "nothing here" } },
  ]);
  expect(results).toEqual([{ masked: ["openai key"] }, null]);
  await memory.scoped({ user: "ada" }).store.put(["n"], "c", { text: secret });
  await memory.flush();
  expect(texts.join()).not.toContain(secret);
  expect(await memory.store.search([], { query: secret, mode: "contains" })).toEqual([]);
  expect(Buffer.from(await memory.export()).includes(secret)).toBe(false);
  await memory.close();
});

test("[cap 106] refuse writes nothing and names the kind, allow leaves it", async () => {
  const secret = SECRETS[4][1];
  const refusing = new InMemoryStore({ secrets: "refuse" });
  await expect(
    refusing.batch([
      { namespace: ["n"], key: "a", value: { n: 1 } },
      { namespace: ["n"], key: "b", value: { text: secret } },
    ]),
  ).rejects.toMatchObject({
    code: "secret_found",
    message: expect.stringMatching(/"b" holds a secret \(github token\): leave it out/),
  });
  expect(await refusing.search([])).toEqual([]);
  const allowing = new InMemoryStore({ secrets: "allow" });
  expect(await put(allowing, { text: secret })).toEqual({
    report: undefined,
    stored: { text: secret },
  });
  expect(() => new InMemoryStore({ secrets: "hide" })).toThrow(
    /secrets must be one of mask, refuse, allow: "hide"/,
  );
});
