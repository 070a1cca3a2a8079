// Secrets in what is put: found, masked and reported, refused, or left alone; and what only
// looks like one.

import { readFileSync } from "node:fs";
import { InMemoryStore, openMemory } from "keepsake";
import { Files } from "keepsake/files";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

// The cases are those of core, too: tests/core/secrets_test.cc.
const CASES = JSON.parse(readFileSync(new URL("../golden/secrets.json", import.meta.url), "utf8"));

const run = (name, count) => CASES.runs[name].repeat(8).slice(0, count);
const pieceText = (piece) => (typeof piece === "string" ? piece : run(...Object.entries(piece)[0]));
const textOf = (pieces) => pieces.map(pieceText).join("");

const SECRETS = CASES.secrets.map((one) => ({ ...one, secret: textOf(one.text) }));
const masking = () => new InMemoryStore({ secrets: "mask" });
const aSecret = (kind) => SECRETS.find((one) => one.kind === kind).secret;

const put = async (store, value) => {
  const report = await store.put(["n"], "k", value);
  return { report, stored: (await store.get(["n"], "k")).value };
};

test.each(SECRETS)("[cap 106] a $kind is masked and reported", async ({ kind, secret, ...one }) => {
  const store = masking();
  for (const [before, after] of CASES.around) {
    const { report, stored } = await put(store, { text: before + secret + after, n: [1] });
    expect(report).toEqual({ masked: [kind] });
    const left = one.toEnd ? "" : textOf(one.left ?? []) + after;
    expect(stored).toEqual({ text: `${before}[${kind}]${left}`, n: [1] });
  }
});

test.each(CASES.harmless)("[cap 106] nothing is masked in: %s", async (text) => {
  const { report, stored } = await put(masking(), { text, nested: { again: [text] } });
  expect(report).toBeUndefined();
  expect(stored).toEqual({ text, nested: { again: [text] } });
});

test.each(CASES.values)("[cap 106] masked is $name", async ({ json, masked, kinds }) => {
  const { report, stored } = await put(masking(), JSON.parse(textOf(json)));
  expect(stored).toEqual(JSON.parse(masked));
  expect(report).toEqual({ masked: kinds });
});

test.each(CASES.long)("[cap 106] a long text of $name is read once", async (one) => {
  const text = one.begin + one.again.repeat(one.times);
  const { report } = await put(masking(), { text });
  expect(report?.masked.length ?? 0).toBe(one.masked);
});

test("[cap 106] a secret is masked before it is embedded, searched or written", async () => {
  const texts = [];
  const embeddings = (given) => {
    texts.push(...given);
    return given.map(() => [1, 2]);
  };
  const path = temporaryFile("secrets.db");
  const memory = await openMemory({ path, index: { dims: 2, embeddings }, secrets: "mask" });
  const secret = aSecret("openai key");
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

test("[cap 106] a value is kept as it is given unless an option says otherwise", async () => {
  const value = {
    secrets: SECRETS.map(({ secret }) => secret),
    card: 4111111111111111,
    order: [4000000000000002, "4000000000000002"],
    [aSecret("github token")]: 1,
  };
  const memory = await openMemory({ path: ":memory:" });
  for (const { store } of [memory, memory.scoped({ user: "ada" })]) {
    expect(await put(store, value)).toEqual({ report: undefined, stored: value });
  }
  await new Files(memory).write("notes.txt", aSecret("github token"));
  expect((await new Files(memory).read("notes.txt")).content).toBe(aSecret("github token"));
  await memory.close();
});

test("[cap 106] refuse writes nothing and names the kind, allow leaves it", async () => {
  const secret = aSecret("github token");
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
