// Files in a store, behind the interfaces of deepagents and of Anthropic's memory tool.

import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryStore as OfficialStore } from "@langchain/langgraph-checkpoint";
import { createFilesystemMiddleware, StoreBackend } from "deepagents";
import { InMemoryStore, openMemory, SqliteStore } from "keepsake";
import { anthropicMemory, Files, filesBackend } from "keepsake/files";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

const { BetaLocalFilesystemMemoryTool } = createRequire(import.meta.url)(
  "@anthropic-ai/sdk/tools/memory/node",
);

afterAll(removeTemporaryFolders);

const bytes = (...all) => Uint8Array.from(all);

describe.each([
  ["InMemoryStore", () => new InMemoryStore()],
  ["SqliteStore", () => new SqliteStore({ path: temporaryFile("files.db") })],
])("files over %s", (_, make) => {
  let store;
  let files;

  beforeEach(() => {
    store = make();
    files = new Files(store);
  });
  afterEach(() => store.close());

  const fill = async (all) => {
    for (const [path, content] of Object.entries(all)) await files.write(path, content);
  };
  const pathsOf = (entries) => entries.map(({ path }) => path);

  test("are written, read in pages, edited, moved and deleted", async () => {
    await fill({ "/notes/today.md": "one\ntwo\nthree\n", "/notes/old/a.txt": "past" });
    expect(await files.read("/notes/today.md", { offset: 1, limit: 1 })).toMatchObject({
      content: "two",
      type: "text/markdown",
      size: 14,
      totalLines: 3,
      startLine: 2,
      endLine: 2,
      nextOffset: 2,
    });
    expect(await files.edit("/notes/today.md", "two", "2")).toBe(1);
    expect((await files.read("notes/./today.md")).content).toBe("one\n2\nthree\n");
    await files.rename("/notes", "/archive/2026");
    expect(await files.find("/notes/today.md")).toBeUndefined();
    expect((await files.read("/archive/2026/old/a.txt")).content).toBe("past");
    expect(await files.delete("/archive")).toBe(2);
    expect(await files.ls()).toEqual([]);
  });

  test("of bytes come back as bytes, whatever they are", async () => {
    const image = bytes(0, 1, 2, 254, 255);
    await fill({ "/a.png": image });
    expect(await files.read("/a.png")).toMatchObject({
      content: image,
      type: "image/png",
      size: 5,
    });
    expect(await files.grep("a")).toEqual({ matches: [], truncated: false });
    await expect(files.edit("/a.png", "a", "b")).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("/a.png holds bytes, no text"),
    });
  });

  test("any name is a name, and no two share an item", async () => {
    const names = ["a.b", "a:b", "a b", "ä", "*", "langgraph", "%2E", "a%b", "日本", "[x]", "{y}"];
    for (const name of names) await files.write(`/${name}/${name}`, name);
    expect(pathsOf(await files.ls("/")).sort()).toEqual(names.map((name) => `/${name}/`).sort());
    for (const name of names) expect((await files.read(`/${name}/${name}`)).content).toBe(name);
    expect(pathsOf(await files.glob("**/a.b"))).toEqual(["/a.b/a.b"]);
  });

  test("a directory is listed, with what lies directly in it", async () => {
    await fill({ "/b.txt": "b", "/a/c.txt": "c", "/a/d/e.txt": "e", "/ab/f.txt": "f" });
    expect(await files.ls("/")).toMatchObject([
      { isDirectory: true, path: "/a/" },
      { isDirectory: true, path: "/ab/" },
      { isDirectory: false, path: "/b.txt", size: 1 },
    ]);
    expect(pathsOf(await files.ls("/a/"))).toEqual(["/a/c.txt", "/a/d/"]);
    expect(await files.ls("/none")).toEqual([]);
  });

  test("lines and names are found, letter by letter", async () => {
    await fill({
      "/a/one.md": 'Tea\n50% \\ "tea" _x\nTEA',
      "/a/b/two.md": "no tea",
      "/c/three.txt": "tea",
    });
    const grep = async (pattern, options) =>
      (await files.grep(pattern, options)).matches.map(({ path, line }) => `${path}:${line}`);
    expect(await grep("tea")).toEqual(["/a/b/two.md:1", "/a/one.md:2", "/c/three.txt:1"]);
    expect(await grep('50% \\ "tea" _')).toEqual(["/a/one.md:2"]);
    expect(await grep("tea", { path: "/a", glob: "o*.md" })).toEqual(["/a/one.md:2"]);
    expect(await grep("tea", { path: "/c/three.txt" })).toEqual(["/c/three.txt:1"]);
    expect(await files.grep("tea", { maxCount: 2 })).toMatchObject({ truncated: true });
    const glob = async (pattern, path) => pathsOf(await files.glob(pattern, path)).sort();
    expect(await glob("**/*.md")).toEqual(["/a/b/two.md", "/a/one.md"]);
    expect(await glob("*.md", "/a")).toEqual(["/a/one.md"]);
    expect(await glob("/a/*/*")).toEqual(["/a/b/two.md"]);
    expect(await glob("{a,c}/*.{md,txt}")).toEqual(["/a/one.md", "/c/three.txt"]);
    expect(await glob("**/two.md")).toEqual(["/a/b/two.md"]);
    expect(await glob("{a,c}/one.md")).toEqual(["/a/one.md"]);
    expect(await glob("b/*.md", "/a")).toEqual(["/a/b/two.md"]);
    expect(await glob("/a/one.md")).toEqual(["/a/one.md"]);
    expect(await glob("one.md", "/a/one.md")).toEqual(["/a/one.md"]);
    expect(await glob("/a/one.md", "/a/one.md")).toEqual(["/a/one.md"]);
    expect(await glob("**/none.md")).toEqual([]);
    expect(await glob("*/b")).toEqual([]);
    const [hit] = await files.search("what about tea?", { path: "/c" });
    expect(hit).toMatchObject({ path: "/c/three.txt", score: expect.any(Number) });
  });

  test("what can't be is refused, and changes nothing", async () => {
    await fill({ "/a/b.txt": "text text" });
    const refused = [
      [() => files.write("/a", "x"), "already_exists", "/a is a directory"],
      [() => files.write("/a/b.txt/c", "x"), "already_exists", "/a/b.txt is a file"],
      [() => files.write("/a/b.txt", "x", { overwrite: false }), "already_exists", "there already"],
      [() => files.write("/a/../b", "x"), "invalid_argument", 'must not contain ".."'],
      [() => files.write("/", "x"), "invalid_argument", "names a directory"],
      [() => files.read("/none"), "not_found", 'no file "/none"'],
      [() => files.edit("/a/b.txt", "none", "x"), "invalid_argument", "is not in /a/b.txt"],
      [() => files.edit("/a/b.txt", "text", "x"), "invalid_argument", "is 2 times in"],
      [() => files.rename("/a", "/a/c"), "invalid_argument", "lies in /a"],
      [() => files.rename("/none", "/x"), "not_found", 'no file "/none"'],
      [() => files.delete("/none"), "not_found", 'no file "/none"'],
      [() => files.grep("x", { paths: "/" }), "invalid_argument", 'unknown option "paths"'],
    ];
    for (const [call, code, message] of refused) {
      await expect(call()).rejects.toMatchObject({
        code,
        message: expect.stringContaining(message),
      });
    }
    expect((await files.read("/a/b.txt")).content).toBe("text text");
  });

  test("changes of one file that are asked for at once are all made", async () => {
    await fill({ "/n.txt": "" });
    const same = new Files(store);
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 ? same : files).update("/n.txt", (text) => `${text}${i}\n`),
      ),
    );
    expect((await files.read("/n.txt")).content.trim().split("\n")).toHaveLength(20);
  });
});

const TOKEN = `ghp_${"aB3dE6gH9jK2mN5pQ8sT".repeat(2).slice(0, 36)}`;
const NOTE = "\nMasked, because it looks like a secret: github token.";

test("what a model writes by the memory tool is masked, and it is told", async () => {
  const files = new Files(new InMemoryStore(), { namespace: ["files"] });
  const store = new InMemoryStore();
  const tool = anthropicMemory(store);
  const path = "/memories/a.md";
  const content = async () => (await new Files(store).read("a.md")).content;
  expect(await tool.create({ path, file_text: `one ${TOKEN}\n` })).toBe(
    `File created successfully at: ${path}${NOTE}`,
  );
  expect(await tool.insert({ path, insert_line: 1, insert_text: TOKEN })).toContain(NOTE);
  expect(await tool.str_replace({ path, old_str: "one", new_str: `two ${TOKEN}` })).toContain(NOTE);
  expect(await content()).toBe("two [github token] [github token]\n[github token]\n");
  for (const command of [
    { command: "create", path: `/memories/${TOKEN}`, file_text: "" },
    { command: "rename", old_path: path, new_path: `/memories/${TOKEN}` },
  ]) {
    const answer = await tool.execute(command);
    expect(answer).toMatch(/Error: .*the path holds a secret \(github token\)/);
    expect(answer).not.toContain(TOKEN);
  }
  await anthropicMemory(store, { secrets: "allow" }).str_replace({
    path,
    old_str: "two",
    new_str: TOKEN,
  });
  // What a program wrote there stays as it is, whatever a model writes beside it.
  await tool.str_replace({ path, old_str: "]\n[", new_str: "] [" });
  expect(await content()).toContain(TOKEN);
  await files.write("a.md", TOKEN);
  expect((await files.read("a.md")).content).toBe(TOKEN);
});

test("what a model writes by deepagents' tools is masked, and its message has that", async () => {
  const store = new InMemoryStore();
  const backend = filesBackend(store);
  const metadata = { masked: ["github token"] };
  expect(await backend.write("/a.md", `one ${TOKEN}`)).toMatchObject({ metadata });
  expect(await backend.edit("/a.md", "one", TOKEN)).toMatchObject({ occurrences: 1, metadata });
  expect(await backend.edit("/a.md", "[", "(", true)).not.toHaveProperty("metadata");
  expect((await new Files(store).read("a.md")).content).toBe("(github token] (github token]");
  expect(await backend.write(`/${TOKEN}`, "x")).toEqual({
    error: expect.stringMatching(/the path holds a secret \(github token\)/),
  });
  expect((await filesBackend(store, { secrets: "allow" }).write("/b", TOKEN)).metadata).toBe(
    undefined,
  );
  expect((await new Files(store).read("b")).content).toBe(TOKEN);
});

test("a scope's files are its own", async () => {
  const memory = await openMemory({ path: ":memory:" });
  const [ada, bob] = ["ada", "bob"].map((user) => new Files(memory.scoped({ user })));
  await ada.write("/a.md", "hers");
  expect(await bob.find("/a.md")).toBeUndefined();
  expect(await bob.ls()).toEqual([]);
  expect((await bob.grep("hers")).matches).toEqual([]);
  const all = new Files(memory, { namespace: ["user", "ada", "files"] });
  await all.update("/a.md", (text) => `${text}, too`);
  expect((await ada.read("/a.md")).content).toBe("hers, too");
  await memory.close();
});

test.each([
  [undefined, "undefined"],
  [{}, "an object"],
  [{ store: new OfficialStore() }, "an object"],
])("what has no store of keepsake is refused: %j", (home, shown) => {
  expect(() => new Files(home)).toThrow(
    expect.objectContaining({
      code: "invalid_argument",
      message: expect.stringContaining(
        `files need a store of keepsake, a memory or a scope of one: ${shown};`,
      ),
    }),
  );
});

describe("deepagents' backend", () => {
  // The same calls, over the official backend and ours.
  async function both(script) {
    const official = new StoreBackend({
      store: new OfficialStore(),
      namespace: () => ["filesystem"],
    });
    const store = new InMemoryStore();
    const answers = [];
    for (const backend of [official, filesBackend(store)]) answers.push(await script(backend));
    await store.close();
    return answers;
  }
  const plain = (value) =>
    JSON.parse(
      JSON.stringify(value, (key, each) =>
        key === "modified_at" || key === "created_at" ? typeof each : each,
      ),
    );

  test("a line of a million characters is not answered whole by deepagents' tools", async () => {
    const store = new InMemoryStore();
    const backend = filesBackend(store);
    await backend.write("/long.md", `${"x".repeat(1_000_000)}\nend`);
    const { tools } = createFilesystemMiddleware({ backend });
    const call = async (name, input) => {
      const tool = tools.find((one) => one.name === name);
      const answer = await tool.invoke({ id: "c", name, args: input, type: "tool_call" });
      return JSON.stringify(answer.content);
    };
    const read = await call("read_file", { file_path: "/long.md" });
    expect(read.length).toBeLessThan(81_000);
    expect(read).toMatch(/truncated mid-line/);
    expect(await call("read_file", { file_path: "/long.md", offset: 1 })).toMatch(/end/);
    expect((await call("grep", { pattern: "xx" })).length).toBeLessThan(81_000);
    await store.close();
  });

  test("answers what deepagents' own answers", async () => {
    const [theirs, ours] = await both(async (backend) => {
      const said = [];
      const say = async (answer) => said.push(plain(await answer));
      await say(backend.write("/a/one.md", "tea\ncoffee\ntea\n"));
      await say(backend.write("/a/b/two.txt", "more tea"));
      await say(backend.write("/c.txt", ""));
      await say(backend.read("/a/one.md"));
      await say(backend.read("/a/one.md", 1, 1));
      await say(backend.read("/a/one.md", 9));
      await say(backend.read("/none"));
      await say(backend.readRaw("/a/b/two.txt"));
      await say(backend.readRaw("/none"));
      await say(backend.ls("/"));
      await say(backend.ls("/a"));
      await say(backend.ls("/none"));
      await say(backend.edit("/a/one.md", "coffee", "cocoa"));
      await say(backend.edit("/a/one.md", "tea", "x"));
      await say(backend.edit("/a/one.md", "tea", "juice", true));
      await say(backend.edit("/a/one.md", "none", "x"));
      await say(backend.edit("/a/one.md", "", "x"));
      await say(backend.edit("/c.txt", "", "begun"));
      await say(backend.edit("/none", "a", "b"));
      await say(backend.read("/a/one.md"));
      await say(
        backend.uploadFiles([
          ["/u.png", bytes(1, 2, 255)],
          ["/u.txt", bytes(104, 105)],
        ]),
      );
      await say(backend.downloadFiles(["/u.png", "/u.txt", "/none"]));
      await say(backend.read("/u.txt"));
      await say(backend.delete("/a/b"));
      await say(backend.delete("/none"));
      await say(backend.read("/a/b/two.txt"));
      return said;
    });
    expect(ours).toEqual(theirs);
  });

  test("finds what deepagents' own finds", async () => {
    const [theirs, ours] = await both(async (backend) => {
      for (const path of ["/a/one.md", "/a/b/two.md", "/a/b/c/three.txt", "/four.md"]) {
        await backend.write(path, `a line of ${path}\nand tea`);
      }
      const found = [];
      for (const [pattern, path, glob, most] of [
        ["tea"],
        ["tea", "/a"],
        ["tea", "/a/b/"],
        ["tea", "/", "*.txt"],
        ["line of /a", null, null],
        ["TEA"],
        ["tea", "/", null, 2],
      ]) {
        const { matches, truncated = false } = await backend.grep(pattern, path, glob, most);
        found.push([
          matches.length,
          truncated,
          most ? [] : matches.map(({ path, line }) => `${path}:${line}`).sort(),
        ]);
      }
      for (const [pattern, path] of [
        ["**/*.md", "/"],
        ["*.md", "/"],
        ["*.md", "/a"],
        ["**/*", "/a/b"],
        ["**/{two,three}.*", "/"],
        ["none*", "/"],
      ]) {
        const { files } = await backend.glob(pattern, path);
        found.push(files.map((file) => file.path).sort());
      }
      return found;
    });
    expect(ours).toEqual(theirs);
  });
});

describe("Anthropic's memory tool", () => {
  async function both(commands) {
    const folder = mkdtempSync(join(tmpdir(), "keepsake-memories-"));
    const official = await BetaLocalFilesystemMemoryTool.init(folder);
    const store = new InMemoryStore();
    const said = [];
    for (const tool of [official, anthropicMemory(store)]) {
      const answers = [];
      for (const { command, ...given } of commands) {
        answers.push(await tool[command](given).catch((error) => `threw ${error.message}`));
      }
      // Directories of a disk have sizes of their own.
      const size = /^\S+\t(\/memories(?:\/d)?|\S+\/)$/gm;
      said.push(answers.map((answer) => answer.replace(size, "$1")));
    }
    await store.close();
    rmSync(folder, { recursive: true });
    return said;
  }

  test("answers what Anthropic's own answers", async () => {
    const [theirs, ours] = await both([
      { command: "view", path: "/memories" },
      { command: "create", path: "/memories/a.txt", file_text: "one\ntwo\nthree\n" },
      { command: "create", path: "/memories/a.txt", file_text: "again" },
      { command: "create", path: "/memories/d/e/f.txt", file_text: "deep" },
      { command: "create", path: "/memories/d/b.txt", file_text: "x".repeat(1536) },
      { command: "create", path: "/memories/.hidden", file_text: "x" },
      { command: "view", path: "/memories" },
      { command: "view", path: "/memories/d" },
      { command: "view", path: "/memories/a.txt" },
      { command: "view", path: "/memories/a.txt", view_range: [2, 3] },
      { command: "view", path: "/memories/a.txt", view_range: [2, -1] },
      { command: "view", path: "/memories/none" },
      { command: "str_replace", path: "/memories/a.txt", old_str: "two", new_str: "2" },
      { command: "str_replace", path: "/memories/a.txt", old_str: "none", new_str: "x" },
      { command: "str_replace", path: "/memories/a.txt", old_str: "e", new_str: "x" },
      { command: "str_replace", path: "/memories/none", old_str: "a", new_str: "b" },
      { command: "str_replace", path: "/memories/d", old_str: "a", new_str: "b" },
      { command: "insert", path: "/memories/a.txt", insert_line: 1, insert_text: "1.5\n" },
      { command: "insert", path: "/memories/a.txt", insert_line: 99, insert_text: "x" },
      { command: "insert", path: "/memories/none", insert_line: 0, insert_text: "x" },
      { command: "view", path: "/memories/a.txt" },
      { command: "rename", old_path: "/memories/a.txt", new_path: "/memories/n/b.txt" },
      { command: "rename", old_path: "/memories/none", new_path: "/memories/x" },
      { command: "rename", old_path: "/memories/d/b.txt", new_path: "/memories/n/b.txt" },
      { command: "rename", old_path: "/memories", new_path: "/memories/x" },
      { command: "delete", path: "/memories/none" },
      { command: "delete", path: "/memories" },
      { command: "delete", path: "/memories/d" },
      { command: "view", path: "/memories/d" },
      { command: "view", path: "/etc/passwd" },
      { command: "view", path: "/memories/../etc/passwd" },
    ]);
    expect(ours).toEqual(theirs);
  });

  test("answers within its budget, says how to read on, and reading on ends", async () => {
    const store = new InMemoryStore();
    const { execute } = anthropicMemory(store);
    const path = "/memories/long";
    const lines = Array.from({ length: 3000 }, (_, i) => `line ${i + 1} ${"y".repeat(50)}`);
    lines[1000] = "x".repeat(1_000_000);
    await execute({ command: "create", path, file_text: lines.join("\n") });
    const seen = [];
    let view_range;
    for (let views = 0; views < 20; views++) {
      const answer = await execute({ command: "view", path, ...(view_range && { view_range }) });
      expect(answer.length).toBeLessThan(61_000);
      for (const [, number] of answer.matchAll(/^ *(\d+)\t/gm)) seen.push(Number(number));
      const next = /To read on, view with view_range \[(\d+), (\d+)\]\.$/.exec(answer);
      if (next === null) break;
      view_range = [Number(next[1]), Number(next[2])];
    }
    expect(seen).toEqual(lines.map((_, i) => i + 1));
    const one = await execute({ command: "view", path, view_range: [1001, 1001] });
    expect(one).toMatch(/xx… \[60000 of 1000007 characters of this line\]$/);
    const edit = { command: "str_replace", path, old_str: "line 1000 ", new_str: "line 1,000 " };
    expect((await execute(edit)).length).toBeLessThan(5000);
    const many = await execute({ ...edit, old_str: "y", new_str: "z" });
    expect(many).toMatch(/, 100 and 2899 more\. Please ensure it is unique$/);
    const files = new Files(store);
    for (let i = 0; i < 700; i++) await files.write(`d/${i}${"n".repeat(90)}`, "");
    const listing = await execute({ command: "view", path: "/memories/d" });
    expect(listing.length).toBeLessThan(61_000);
    expect(listing).toMatch(/\d+ of 700 left out: an answer has 60000 characters at most/);
    await store.close();
  });

  test("replaces a text of several lines, and refuses what only begins like its root", async () => {
    const store = new InMemoryStore();
    const { execute } = anthropicMemory(store);
    await execute({ command: "create", path: "/memories/a", file_text: "one\ntwo\nthree" });
    const edit = { command: "str_replace", path: "/memories/a", old_str: "one\ntwo", new_str: "1" };
    expect(await execute(edit)).toMatch(/ {5}1\t1\n {5}2\tthree$/);
    expect(await execute({ command: "view", path: "/memoriesfoo" })).toBe(
      "Error: Path must start with /memories, got: /memoriesfoo",
    );
    expect(await execute({ command: "erase" })).toBe("Error: Unknown command: erase");
    await store.close();
  });
});
