// Files that earlier versions made are opened by this one, and answer what they did. Nothing makes
// them anew: scripts/make-golden-file.mjs adds those of a release, once.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { openMemory } from "keepsake";
import { keepsake } from "./support/command.mjs";
import {
  answersOf,
  CALLS,
  goldenOptions,
  KEY,
  LEFT,
  QUESTIONS,
  shapeOf,
  wordsOf,
} from "./support/golden-memory.mjs";
import { projectRoot, run } from "./support/installed-package.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const root = join(projectRoot, "tests/golden/files");
const versions = readdirSync(root);
const textOf = (path) => readFileSync(join(projectRoot, path), "utf8");
const current = JSON.parse(textOf("package.json")).version;

test("each version that was released has its files, and this one", () => {
  const released = [...textOf("CHANGELOG.md").matchAll(/^## (\d+\.\d+\.\d+)(?! \(unreleased\))/gm)];
  const wanted = [...released.map(([, version]) => version), current];
  expect([...versions].sort()).toEqual([...new Set(wanted)].sort());
});

test("what is there is not made anew unless it is asked for", () => {
  const before = sumsOf(current);
  const make = () => run(process.execPath, [join(projectRoot, "scripts/make-golden-file.mjs")]);
  expect(make).toThrow(/golden.files.*(--again|is released)/);
  expect(sumsOf(current)).toEqual(before);
  // Nor does a script, a stage or a test do so by the way.
  const others = [
    "package.json",
    ".ci/run",
    ...filesOf("scripts"),
    ...filesOf(".github/workflows"),
  ];
  const guilty = others.filter((path) => textOf(path).includes("make-golden-file"));
  // The second says what to run where there are none.
  expect(guilty).toEqual(["scripts/make-golden-file.mjs", "scripts/release-check.mjs"]);
});

const filesOf = (folder) =>
  readdirSync(join(projectRoot, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => join(folder, name));

/** The sums of the files of a version, as they are now. */
function sumsOf(version) {
  const names = readdirSync(join(root, version)).filter((name) => name !== "SHA256SUMS");
  return names.map((name) => {
    const sum = createHash("sha256").update(readFileSync(join(root, version, name)));
    return `${sum.digest("hex")}  ${name}`;
  });
}

describe.each(versions)("files of %s", (version) => {
  const bytes = (name) => readFileSync(join(root, version, name));
  const unpacked = (name) => gunzipSync(bytes(`${name}.gz`));
  const { memory: expected, left, calls } = JSON.parse(bytes("answers.json"));

  /** Asks a memory over a copy, which has been given the files by their names. */
  async function asked(files, questions, answers, more = {}) {
    const path = temporaryFile("golden.db");
    for (const [suffix, content] of Object.entries(files)) writeFileSync(path + suffix, content);
    const { options } = goldenOptions(1);
    await using memory = await openMemory({ path, ...options, ...more });
    return await answersOf(memory, questions, Object.keys(answers)); // before it is closed
  }

  test("are the ones that were committed", () => {
    expect(sumsOf(version)).toEqual(bytes("SHA256SUMS").toString().trim().split("\n"));
    const sizes = readdirSync(join(root, version)).map((name) => bytes(name).length);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(200_000);
  });

  test("a file answers as it did", async () => {
    const answers = await asked({ "": unpacked("memory.db") }, QUESTIONS, expected);
    expect(Object.keys(answers).length).toBeGreaterThan(25);
    for (const [name, answer] of Object.entries(expected)) {
      expect({ [name]: answers[name] }).toMatchObject({ [name]: answer });
    }
  });

  test("a file can be written, and read again", async () => {
    const path = temporaryFile("golden.db");
    writeFileSync(path, unpacked("memory.db"));
    const ns = ["user", "ada", "facts"];
    const { options } = goldenOptions(1);
    {
      await using memory = await openMemory({ path, ...options });
      await memory.store.put(ns, "drink", { text: "Ada drinks water" });
      await memory.release(["user", "ada"]);
      const [{ operation }] = await memory.store.history(ns, "drink");
      await memory.store.undo(operation);
      await memory.forget({ namespaces: [["values"]] });
      await memory.checkpointer.prune({ keepLast: 1 });
    }
    await using memory = await openMemory({ path, ...options });
    expect(await memory.store.get(ns, "drink")).toMatchObject({
      value: expected["one item"].value,
    });
    expect((await memory.store.history(ns, "drink")).length).toBe(expected.history.length + 2);
    expect(await memory.store.search(["values"])).toEqual([]);
    expect((await memory.check()).isOk).toBe(true);
  });

  test("the command line prints the names that it did", () => {
    const path = temporaryFile("golden.db");
    writeFileSync(path, unpacked("memory.db"));
    for (const call of CALLS.filter((one) => calls[one.join(" ")])) {
      const { stdout, stderr } = keepsake(...wordsOf(call, path));
      const name = call.join(" ");
      expect({ [name]: shapeOf(JSON.parse(stdout || stderr)) }).toMatchObject({
        [name]: calls[name],
      });
    }
  });

  test.each(["memory.portable", "memory.db"])("an import of %s answers the same", async (name) => {
    const { options } = goldenOptions(1);
    await using memory = await openMemory({ path: ":memory:", ...options });
    await memory.import(unpacked(name));
    const answers = await answersOf(memory, QUESTIONS, Object.keys(expected));
    const [told, ...log] = answers["the audit log"];
    expect(told).toMatchObject({ operation: "import" });
    expect({ ...answers, "the audit log": log }).toMatchObject(expected);
  });

  test("an encrypted file opens with its key, and not without", async () => {
    const files = { "": bytes("sealed.db") };
    expect(await asked(files, LEFT, left, { key: KEY })).toMatchObject(left);
    await expect(asked(files, LEFT, left)).rejects.toMatchObject({ code: "key_required" });
  });

  test("a file and the log that a crash left beside it are one memory", async () => {
    const files = { "": unpacked("left.db"), "-wal": unpacked("left.db-wal") };
    expect(await asked(files, LEFT, left)).toMatchObject(left);
  });
});
