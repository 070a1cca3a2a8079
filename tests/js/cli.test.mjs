// `npx keepsake`: what it prints, writes, and exits with.

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { SqliteSaver as OfficialSaver } from "@langchain/langgraph-checkpoint-sqlite";
import BetterSqlite3 from "better-sqlite3";
import { openMemory, SqliteSaver } from "keepsake";
import { keepsake, plainEnv, program } from "./support/command.mjs";
import { snippetsOf } from "./support/documentation.mjs";
import { checkpointsOf } from "./support/forgetting.mjs";
import { projectRoot } from "./support/installed-package.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

function jsonOf(...words) {
  const { status, stdout, stderr } = keepsake(...words, "--json");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return JSON.parse(stdout);
}

const idOf = (step) => `1ef4f797-8335-6428-8001-${String(step).padStart(12, "0")}`;
const checkpoint = (step, messages) => ({
  v: 4,
  id: idOf(step),
  ts: new Date(1_700_000_000_000 + step * 1000).toISOString(),
  channel_values: { messages },
  channel_versions: { messages: step + 1 },
  versions_seen: {},
});
const putSteps = async (saver, thread_id, steps) => {
  let config = { configurable: { thread_id, checkpoint_ns: "" } };
  for (let step = 0; step < steps; step++) {
    const messages = Array.from({ length: step + 1 }, (_, i) => `message ${i}`);
    const metadata = { source: "loop", step, parents: {} };
    config = await saver.put(config, checkpoint(step, messages), metadata, { messages: step + 1 });
  }
};

let path;

beforeAll(async () => {
  path = temporaryFile("agent.db");
  const memory = await openMemory({ path });
  const { store, checkpointer } = memory;
  await store.put(["users", "ada"], "drink", { text: "She prefers green tea", kind: "taste" });
  await store.put(["users", "ada"], "town", { text: "She lives in Ghent", kind: "place" });
  await store.put(["users", "a/b"], "drink", { text: "black coffee", kind: "taste" });
  await putSteps(checkpointer, "t1", 4);
  await putSteps(checkpointer, "t2", 2);
  await putSteps(memory.scoped({ user: "ada" }).checkpointer, "own", 1);
  await memory.scoped({ user: "ada" }).store.put(["n"], "k", { text: "hers" });
  await memory.close();
});

const copy = () => {
  const target = temporaryFile("copy.db");
  copyFileSync(path, target);
  return target;
};

test("a process of its own prints the same, and ends with the same code", () => {
  for (const words of [["ls", path], ["ls", path, "--json"], ["ls"], ["ls", `${path}.none`]]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
      encoding: "utf8",
      env: plainEnv,
    });
    expect({ status, stdout, stderr }).toEqual(keepsake(...words));
  }
});

test("help teaches, and says all commands", () => {
  for (const words of [["--help"], ["help"]]) {
    const { status, stdout } = keepsake(...words);
    expect(status).toBe(0);
    expect(stdout).toMatch(/inspect FILE +how much it holds/);
    expect(stdout).toMatch(/exit code is 0 when it was done/);
  }
  const { status, stdout } = keepsake("search", "--help");
  expect(status).toBe(0);
  expect(stdout).toMatch(/npx keepsake search FILE QUERY/);
  expect(stdout).toMatch(/--limit N +at most so many/);
  expect(keepsake()).toMatchObject({ status: 2, stdout: "" });
});

test("what each command's help shows can be called", () => {
  const names = keepsake("--help").stdout.matchAll(/^ {2}([a-z]+) FILE/gm);
  const commands = [...names].map(([, name]) => name);
  expect(commands).toContain("inspect");
  const examples = commands.map((command) =>
    [...keepsake("help", command).stdout.matchAll(/^ {2}npx keepsake (.*\.db.*)$/gm)].map(
      ([, example]) => example.match(/"[^"]+"|\S+/g).map((word) => word.replaceAll('"', "")),
    ),
  );
  expect(commands.filter((_, i) => examples[i].length === 0)).toEqual([]);
  // There is no such folder: the words alone are judged, and nothing is made.
  const calls = examples.flat().map(([name, file, ...rest]) => [name, `nowhere/${file}`, ...rest]);
  const ends = calls.map((call) => ({ call, status: keepsake(...call).status }));
  expect(ends.filter(({ status }) => status !== 1)).toEqual([]);
});

test("a memory's texts tell a terminal nothing, and stay on their line", async () => {
  const target = copy();
  const memory = await openMemory({ path: target });
  await memory.store.put(["n"], "a\u001b[2Jb\nc\u009b\u202ed", { text: "evil \u009b\u202e" });
  await memory.close();
  const shown = String.raw`a\u001b[2Jb\nc\u009b\u202ed`;
  expect(keepsake("ls", target, "n").stdout).toBe(`${shown}\n`);
  const found = keepsake("search", target, "evil").stdout;
  expect(found).toContain(`n/${shown}`);
  expect(found.trimEnd().split("\n")).toHaveLength(2);
  const failed = keepsake("get", target, "n", "\u009b").stderr;
  for (const text of [found, failed, keepsake("search", target, "evil", "--why").stdout]) {
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u);
  }
});

test("a namespace may be written as ls prints it", () => {
  const { stdout } = keepsake("ls", path, "users/ada");
  for (const written of ["users/ada/", "/users/ada"]) {
    expect(keepsake("ls", path, written)).toMatchObject({ status: 0, stdout });
  }
});

test("what stands after -- is a word", () => {
  const { status, stdout } = keepsake("search", path, "--", "--help");
  expect({ status, stdout }).toEqual({ status: 0, stdout: "nothing found\n" });
});

test("many hits are shown, and who reads a few of them ends it", async () => {
  const target = temporaryFile("many.db");
  const memory = await openMemory({ path: target });
  const items = Array.from({ length: 130_000 }, (_, i) => ({
    namespace: ["n"],
    key: `${i}`,
    value: {},
  }));
  await memory.store.batch(items);
  await memory.close();
  const piped = spawnSync("sh", [
    "-c",
    `{ "${process.execPath}" "${program}" search "${target}" "" --limit 0; echo "$?" >&2; } | head -1`,
  ]);
  expect(String(piped.stdout)).toMatch(/^SCORE +ITEM +VALUE\n$/);
  expect(String(piped.stderr)).toBe("0\n");
});

test("--version says which keepsake it is", () => {
  const { version } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8"));
  for (const word of ["--version", "-v", "version"]) {
    expect(keepsake(word)).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
  }
});

test("a folder that is missing is named, with what to do", async () => {
  const folder = join(dirname(path), "nowhere");
  const remedy = `there is no folder ${folder}: make it first, as mkdir -p ${folder} does`;
  const file = join(folder, "agent.db");
  for (const words of [
    ["inspect", file],
    ["export", path, file],
    ["import", path, file],
  ]) {
    expect(keepsake(...words)).toMatchObject({
      status: 1,
      stderr: `keepsake: not_found: ${remedy}\n`,
    });
  }
  await expect(openMemory({ path: file })).rejects.toMatchObject({
    code: "cannot_open",
    message: `[keepsake] openMemory: ${remedy}`,
  });
  const home = keepsake("inspect", "~/agent.db").stderr;
  expect(home).toMatch(/there is no folder .*~: only a shell knows "~", where it stands without/);
});

test("a wrong call names what is wrong and how to call it", () => {
  for (const [words, message] of [
    [["serch", path, "tea"], /unknown command "serch": did you mean "search"\?/],
    [["thingamajig", path], /unknown command "thingamajig": there is inspect, ls, /],
    [["threads", path, "--limt", "3"], /unknown option "--limt": did you mean "--limit"\?/],
    [["get"], /FILE, NAMESPACE and KEY are missing/],
    [
      ["search", path],
      /QUERY is missing\nUsage: keepsake search FILE QUERY…\n`keepsake search --help`/,
    ],
    [["ls", path, "a", "b"], /a word too many: "b"/],
    [["search", path, "tea", "--limit", "many"], /--limit takes a number: "many"/],
    [["search", path, "tea", "--filter", "kind"], /--filter takes JSON/],
    [["prune", path], /say what may go/],
    [["forget", path], /say what may go: --user, --in or --thread/],
    [["search", path, "tea", "--mode", "hybrid"], /--mode must be one of text, contains: "hybrid"/],
    [["search", path, "tea", "--filter", "[]"], /invalid_filter: .*keepsake search --help/s],
    [["ls", path, "[users"], /a namespace takes JSON, such as '\["users","ada"\]'/],
  ]) {
    const { status, stdout, stderr } = keepsake(...words);
    expect(stderr).toMatch(message);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  }
});

test("words of a search need no quotes, and a difference is that of the last two", () => {
  expect(jsonOf("search", path, "green", "tea")).toEqual(jsonOf("search", path, "green tea"));
  expect(jsonOf("search", path, "green", "tea")[0].key).toBe("drink");
  expect(jsonOf("diff", path, "t1")).toEqual(jsonOf("diff", path, "t1", idOf(2), idOf(3)));
  expect(jsonOf("diff", path, "t1", idOf(1))).toEqual(jsonOf("diff", path, "t1", idOf(1), idOf(3)));
  expect(keepsake("diff", path, "nobody").stderr).toMatch(/not_found: no thread "nobody"/);
  expect(keepsake("diff", path, "t1", "2").stderr).toMatch(
    /not_found: thread "t1" has no checkpoint 2: `keepsake log FILE t1` lists their ids\n/,
  );
  expect(keepsake("diff", path, "user/ada/own").stderr).toMatch(
    /has no two checkpoints to compare/,
  );
});

test("a file that is not there is not made, and one of another program is refused", () => {
  const missing = temporaryFile("missing.db");
  expect(keepsake("inspect", missing)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^keepsake: not_found: there is no file/),
  });
  expect(existsSync(missing)).toBe(false);
  const empty = temporaryFile("empty.db");
  writeFileSync(empty, "");
  expect(keepsake("inspect", empty).stderr).toMatch(/not_a_database: the file is empty/);
  expect(statSync(empty).size).toBe(0);
  const other = temporaryFile("other.db");
  new BetterSqlite3(other).exec("CREATE TABLE a(b)").close();
  const { status, stderr } = keepsake("inspect", other, "--json");
  expect(status).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: "foreign_file" } });
});

test("a memory that a program has open is busy", async () => {
  const target = copy();
  const open = await openMemory({ path: target });
  expect(keepsake("ls", target)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^keepsake: busy: /),
  });
  await open.close();
});

test("inspect, ls and get show what is there", () => {
  expect(jsonOf("inspect", path)).toMatchObject({
    store: { items: 4, namespaces: 3 },
    checkpointer: { threads: 3, checkpoints: 7 },
    namespaces: expect.arrayContaining([{ namespace: ["users", "ada"], items: 2 }]),
    holds: [],
  });
  const { stdout } = keepsake("inspect", path);
  expect(stdout).toMatch(/items +4 in 3 namespaces/);
  expect(stdout).toMatch(/users\/ada +2/);
  expect(keepsake("ls", path).stdout).toBe('user/ada/n/\n["users","a/b"]/\nusers/ada/\n');
  expect(keepsake("ls", path, "users/ada").stdout).toBe("drink\ntown\n");
  expect(jsonOf("ls", path, '["users","a/b"]')).toEqual({ namespaces: [], keys: ["drink"] });
  expect(JSON.parse(keepsake("get", path, "users/ada", "drink").stdout)).toEqual({
    text: "She prefers green tea",
    kind: "taste",
  });
  expect(jsonOf("get", path, "users/ada", "drink")).toMatchObject({ key: "drink" });
  expect(keepsake("get", path, "users/ada", "none")).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/not_found: no item "none" in users\/ada/),
  });
});

test("an e-mail address in a namespace is the label that stands for it", async () => {
  const target = copy();
  const memory = await openMemory({ path: target });
  await memory.scoped({ user: "ada@x.org" }).store.put(["notes"], "k", { text: "hers" });
  await memory.close();
  expect(keepsake("ls", target, "user/ada@x.org").stdout).toBe("user/ada@x%2Eorg/notes/\n");
  expect(jsonOf("get", target, "user/ada@x%2Eorg/notes", "k").value).toEqual({ text: "hers" });
});

test("a thread of a scope is shown, and may be named, by the place as it was given", async () => {
  const target = temporaryFile("scoped.db");
  const memory = await openMemory({ path: target });
  await putSteps(memory.scoped({ user: "ada@x.org" }).checkpointer, "1", 3);
  await putSteps(memory.scoped({ place: ["team", "50%"] }).checkpointer, "1", 1);
  await putSteps(memory.checkpointer, "v1.2/plain", 1);
  await memory.keepAudit();
  await putSteps(memory.scoped({ user: "eve@x.org" }).checkpointer, "1", 2);
  await memory.close();

  const [shown, stored] = ["user/ada@x.org/1", "user/ada@x%252Eorg/1"];
  const names = keepsake("threads", target).stdout.match(/^\S+/gm).slice(1).sort();
  expect(names).toEqual(["team/50%25/1", shown, "user/eve@x.org/1", "v1.2/plain"]);
  expect(jsonOf("threads", target).map(({ threadId }) => threadId)).toContain(stored);
  expect(keepsake("audit", target).stdout).toMatch(/ user\/eve@x\.org\/1 /);
  for (const command of ["log", "diff"]) {
    expect(jsonOf(command, target, shown)).toEqual(jsonOf(command, target, stored));
  }
  expect(jsonOf("log", target, "v1.2/plain")).toHaveLength(1);
  expect(keepsake("diff", target, shown, "2").stderr).toMatch(
    /not_found: thread "user\/ada@x\.org\/1" has no checkpoint 2: `keepsake log FILE user\/ada@x\.org\/1` lists/,
  );
  expect(keepsake("log", target, "user/bob@x.org/1").stderr).toMatch(
    /no thread "user\/bob@x\.org\/1"/,
  );
  const ofOne = ["--thread", shown, "--yes"];
  expect(jsonOf("prune", target, "--keep-last", "1", ...ofOne)).toMatchObject({ checkpoints: 2 });
  expect(jsonOf("log", target, stored)).toHaveLength(1);
  expect(jsonOf("forget", target, ...ofOne).erased).toMatchObject({ threads: 1 });
  expect(keepsake("log", target, stored).status).toBe(1);
  const within = ["--user", "eve@x.org", "--thread", "1", "--yes"];
  expect(jsonOf("forget", target, ...within).erased).toMatchObject({ threads: 1 });
});

test("a thread that is called so itself comes before one of a scope that is shown so", async () => {
  const target = temporaryFile("alike.db");
  const memory = await openMemory({ path: target });
  await putSteps(memory.scoped({ user: "ada@x.org" }).checkpointer, "1", 3);
  await putSteps(memory.checkpointer, "user/ada@x.org/1", 1);
  await memory.close();
  expect(jsonOf("log", target, "user/ada@x.org/1")).toHaveLength(1);
  expect(jsonOf("log", target, "user/ada@x%252Eorg/1")).toHaveLength(3);
});

test("search finds, filters, and says why", () => {
  const { stdout } = keepsake("search", path, "tea");
  expect(stdout).toMatch(/SCORE +ITEM +VALUE\n\d\.\d+ +users\/ada\/drink +\{"text":"She prefers/);
  const hits = jsonOf(
    "search",
    path,
    "drinks tea coffee",
    "--in",
    "users",
    "--filter",
    '{"kind":"taste"}',
    "--why",
  );
  expect(hits.map(({ key }) => key)).toEqual(["drink", "drink"]);
  expect(hits[0].explain).toMatchObject({});
  expect(keepsake("search", path, "tea", "--why").stdout).toMatch(/WHY\n/);
  const byKey = keepsake("search", path, "TOW", "--why").stdout;
  expect(byKey).toMatch(/users\/ada\/town .+ its key contains the query\n/);
  expect(keepsake("search", path, "ck co", "--why").stdout).toMatch(/ it contains the query\n/);
  expect(jsonOf("search", path, "tow", "--why")).toMatchObject([
    { key: "town", reason: "its key contains the query" },
  ]);
  expect(jsonOf("search", path, "tow")[0]).not.toHaveProperty("reason");
  expect(jsonOf("search", path, "tea", "--why")[0]).not.toHaveProperty("reason");
  const byPiece = keepsake("search", path, "town", "--mode", "contains", "--why").stdout;
  expect(byPiece).toMatch(/ its key contains the query\n/);
  expect(jsonOf("search", path, "She", "--limit", "1")).toHaveLength(1);
  expect(keepsake("search", path, "elephants").stdout).toBe("nothing found\n");
});

describe("eval asks the user's own questions", () => {
  const asked = (...lines) => {
    const questions = temporaryFile("questions.jsonl");
    const texts = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
    writeFileSync(questions, `${texts.join("\n")}\n`);
    return ["--questions", questions];
  };
  const tea = { question: "green tea", namespace: "users", expected: ["drink"] };
  const town = { question: "green tea", namespace: ["users", "ada"], expected: ["drink", "town"] };
  const gone = { question: "bicycle", expected: ["bike"] };

  test("and says what they find, and why some do not", () => {
    const report = jsonOf("eval", path, ...asked(tea, "", town, gone));
    expect(report).toMatchObject({ cases: 3, k: 10, mode: "text" });
    expect(report.recall).toBeCloseTo((1 + 0.5 + 0) / 3);
    expect(report.misses).toEqual([
      { question: "green tea", namespace: ["users", "ada"], key: "town", reason: "noMatch" },
      { question: "bicycle", namespace: [], key: "bike", reason: "noItem" },
    ]);
    const { stdout, status } = keepsake("eval", path, ...asked(tea, town));
    expect(status).toBe(0);
    expect(stdout).toMatch(/^questions +2\nrecall@10 +0\.750\nMRR +1\.000\n/);
    expect(stdout).toMatch(/\ngreen tea +users\/ada\/town +no word of the question +–\n$/);
  });

  test("down to a rank, under a filter and in a mode", () => {
    const both = {
      question: "prefers tea, lives",
      namespace: "users",
      expected: ["drink", "town"],
    };
    const [miss] = jsonOf("eval", path, ...asked(both), "--k", "1").misses;
    expect(miss).toMatchObject({ reason: "notOnPage", rank: expect.any(Number) });
    expect(miss.rank).toBeGreaterThan(1);
    const filtered = { ...tea, filter: { kind: "none" } };
    expect(jsonOf("eval", path, ...asked(filtered)).misses).toMatchObject([{ reason: "filter" }]);
    const part = { ...tea, question: "reen te" };
    expect(jsonOf("eval", path, ...asked(part), "--mode", "contains").recall).toBe(1);
  });

  test("as docs/command-line.md has them", () => {
    const [lines] = snippetsOf("jsonl").filter((each) => each.path === "docs/command-line.md");
    const { cases, misses } = jsonOf("eval", path, ...asked(lines.code.trim()));
    expect({ cases, misses }).toMatchObject({ cases: 2, misses: [] });
  });

  test("and fails below a recall that was asked for", () => {
    const questions = asked(tea, gone);
    expect(keepsake("eval", path, ...questions, "--min-recall", "0.5").status).toBe(0);
    expect(keepsake("eval", path, ...questions, "--min-recall", "0.6")).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/recall@10 +0\.500/),
      stderr: "keepsake: recall@10 is 0.500, below 0.6\n",
    });
  });

  test("and names the line that is no question", () => {
    for (const [words, message] of [
      [[], /say what to ask: --questions/],
      [["--questions", temporaryFile("none.jsonl")], /not_found: there is no file/],
      [asked(), /has no questions/],
      [asked(tea, "{"), /line 2 of .* takes JSON/],
      [asked("7"), /line 1 of .* is no object/],
      [asked({ ...tea, limit: 3 }), /unknown option "limit" of line 1/],
      [asked({ question: "x" }), /expected of line 1 .* must be a list/],
      [asked({ question: "x", expected: [] }), /expected of line 1 .* has no keys/],
      [asked({ question: 7, expected: ["x"] }), /question of line 1 .* must be a string/],
      [[...asked(tea), "--k", "0"], /--k must be a whole number from 1/],
      [[...asked(tea), "--mode", "vector"], /--mode must be one of text, contains/],
      [[...asked(tea), "--min-recall", "80"], /--min-recall takes a share from 0 to 1: 80/],
    ]) {
      const { status, stderr } = keepsake("eval", path, ...words);
      expect(stderr).toMatch(message);
      expect(status).toBe(stderr.includes("not_found") ? 1 : 2);
    }
  });
});

test("bytes in a state are text in JSON", async () => {
  const file = temporaryFile();
  const saver = new SqliteSaver({ path: file });
  const config = { configurable: { thread_id: "t", checkpoint_ns: "" } };
  for (const step of [0, 1]) {
    const picture = Uint8Array.of(step, 2);
    const values = { ...checkpoint(step, []), channel_values: { picture } };
    const metadata = { source: "loop", step, parents: {} };
    await saver.put(config, { ...values, channel_versions: { picture: step + 1 } }, metadata, {
      picture: step + 1,
    });
  }
  await saver.close();
  expect(jsonOf("diff", file, "t").changed.picture).toMatchObject({
    before: { base64: "AAI=" },
    after: { base64: "AQI=" },
  });
});

test("threads, log and diff tell the history", () => {
  expect(
    jsonOf("threads", path).map(({ threadId, checkpoints }) => [threadId, checkpoints]),
  ).toEqual([
    ["t1", 4],
    ["t2", 2],
    ["user/ada/own", 1],
  ]);
  expect(keepsake("threads", path).stdout).toMatch(
    /^THREAD +CHECKPOINTS +BYTES +LAST USED +TITLE\nt1 +4 /,
  );
  const log = jsonOf("log", path, "t1");
  expect(log.map(({ id, step }) => [id, step])).toEqual(
    [3, 2, 1, 0].map((step) => [idOf(step), step]),
  );
  expect(log[0]).toMatchObject({ parent: idOf(2), source: "loop", channels: ["messages"] });
  expect(log.map(({ isTip }) => isTip)).toEqual([true, false, false, false]);
  expect(keepsake("log", path, "t1").stdout).toMatch(/^CHECKPOINT +STEP +SOURCE +TIME +CHANNELS\n/);
  expect(keepsake("log", path, "none")).toMatchObject({ status: 1 });
  expect(keepsake("diff", path, "t1", idOf(1), idOf(3)).stdout).toBe(
    '+ messages[] "message 2"\n+ messages[] "message 3"\n',
  );
});

test("export and import carry everything, and replace nothing unasked", async () => {
  for (const format of ["sqlite", "portable"]) {
    const target = temporaryFile(`out.${format}`);
    const made = jsonOf("export", path, target, "--format", format);
    expect(made).toEqual({ target, format, bytes: statSync(target).size });
    expect(keepsake("export", path, target)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^keepsake: already_exists: /),
    });
    const fresh = temporaryFile("fresh.db");
    expect(keepsake("import", fresh, target, "--replace").stdout).toBe(
      "4 items and 7 checkpoints\n",
    );
    expect(keepsake("ls", fresh).stdout).toBe(keepsake("ls", path).stdout);
  }
});

test("import adds what LangGraph's own saver wrote", async () => {
  const source = temporaryFile("official.db");
  const official = OfficialSaver.fromConnString(source);
  await putSteps(official, "theirs", 3);
  official.db.close();
  const target = copy();
  expect(keepsake("import", target, source).stdout).toBe("0 items and 3 checkpoints\n");
  expect(keepsake("import", target, source).stdout).toMatch(/3 were there already, and stayed/);
  const saver = new SqliteSaver({ path: target });
  expect(await checkpointsOf(saver, "theirs")).toHaveLength(3);
  await saver.close();
});

test("a memory of ours is not added to another, and says how to put it in its place", () => {
  const target = copy();
  const { status, stderr } = keepsake("import", target, path);
  expect(status).toBe(2);
  expect(stderr).toMatch(/is a memory of keepsake: with --replace it takes the place of all/);
});

test("what a graph wrote is shown as messages, without LangGraph's own channels", async () => {
  const target = copy();
  const memory = await openMemory({ path: target });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("answer", () => ({ messages: [new AIMessage("Hello, Ada")] }))
    .addEdge(START, "answer")
    .compile({ checkpointer: memory.checkpointer });
  const config = { configurable: { thread_id: "graph" } };
  await graph.invoke({ messages: [new HumanMessage("Hi")] }, config);
  await memory.close();
  expect(keepsake("diff", target, "graph").stdout).toBe(
    '+ messages[] {"AIMessage":"Hello, Ada"}\n',
  );
  expect(keepsake("log", target, "graph").stdout).not.toMatch(/__|branch:/);
});

test("prune and forget only say what would go, until they are told --yes", () => {
  const target = copy();
  expect(keepsake("forget", target, "--user", "adda").stdout).toBe("nothing would be forgotten\n");
  const before = readFileSync(target);
  expect(keepsake("prune", target, "--keep-last", "1").stdout).toMatch(
    /^would be pruned: 4 checkpoints, .*\nSay --yes to do it\.\n$/,
  );
  expect(keepsake("forget", target, "--user", "ada").stdout).toMatch(
    /^would be forgotten: 1 item, 1 thread with 1 checkpoint, /,
  );
  expect(jsonOf("prune", target, "--keep-last", "1", "--yes", "--dry-run").dryRun).toBe(true);
  expect(jsonOf("inspect", target)).toMatchObject({ checkpointer: { checkpoints: 7 } });
  expect(readFileSync(target).equals(before)).toBe(true);

  expect(jsonOf("prune", target, "--keep-last", "1", "--thread", "t1", "--yes")).toMatchObject({
    checkpoints: 3,
    dryRun: false,
  });
  const { stdout } = keepsake("forget", target, "--in", "users/ada", "--thread", "t2", "--yes");
  expect(stdout).toMatch(/^forgotten: 2 items, 1 thread with 2 checkpoints, /);
  const receipt = JSON.parse(stdout.slice(stdout.indexOf("{")));
  expect(receipt).toMatchObject({ namespaces: [["users", "ada"]], threads: ["t2"], dryRun: false });
  expect(readFileSync(target).includes("green tea")).toBe(false);
  expect(jsonOf("forget", target, "--user", "ada", "--yes")).toMatchObject({
    place: ["user", "ada"],
    erased: { items: 1, threads: 1 },
  });
});

test("audit shows who wrote, and what was refused", async () => {
  const target = copy();
  expect(keepsake("audit", target).stdout).toMatch(/^no log is kept: memory\.keepAudit\(\)/);
  const memory = await openMemory({ path: target });
  await memory.keepAudit();
  const ada = memory.scoped({ user: "ada", actor: "agent", policy: { writable: [["notes"]] } });
  await ada.store.put(["notes"], "k", { n: 1 });
  await ada.store.put(["facts"], "k", { n: 1 }).catch(() => {});
  await memory.close();
  const { stdout } = keepsake("audit", target);
  expect(stdout).toMatch(
    /^TIME +OPERATION +NAMESPACE OR THREAD +SCOPE +ACTOR +RESULT +COUNT\n\S+ +store +user\/ada\/facts +user\/ada +agent +access_denied +1\n/,
  );
  expect(jsonOf("audit", target, "user/ada/notes")).toMatchObject([{ success: true, count: 1 }]);
  expect(jsonOf("audit", target, "--limit", "1")).toHaveLength(1);
});

test("what is held is not forgotten until it is released", () => {
  const target = copy();
  expect(keepsake("hold", target, "users/ada", "case 7").stdout).toBe("users/ada: case 7\n");
  expect(keepsake("inspect", target).stdout).toMatch(/held +users\/ada: case 7/);
  expect(keepsake("forget", target, "--in", "users", "--yes")).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^keepsake: held: .*case 7.*\n`keepsake release/),
  });
  expect(keepsake("release", target, "users/adda")).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/no hold on users\/adda: held are users\/ada/),
  });
  expect(jsonOf("release", target, "users/ada")).toEqual([]);
  expect(jsonOf("forget", target, "--in", "users", "--yes").erased).toMatchObject({ items: 3 });
});

describe("log draws the branches of a thread", () => {
  // Each `[step, after]` is a checkpoint that goes on from another one, or from none.
  const logOf = async (...steps) => {
    const target = temporaryFile("branches.db");
    const saver = new SqliteSaver({ path: target });
    for (const [step, after, checkpoint_ns = ""] of steps) {
      const checkpoint_id = after === undefined ? undefined : idOf(after);
      const config = { configurable: { thread_id: "t", checkpoint_ns, checkpoint_id } };
      await saver.put(config, checkpoint(step, []), { source: "loop", step, parents: {} }, {});
    }
    await saver.close();
    return target;
  };
  const graphIn = (stdout) => {
    const [, ...rows] = stdout.trimEnd().split("\n");
    return rows.slice(0, -1).map((row) => row.slice(0, row.indexOf(idOf(0).slice(0, 8))).trimEnd());
  };

  test("where they part, and at which checkpoints they end", async () => {
    const target = await logOf([0], [1, 0], [2, 1], [3, 1], [4, 2], [5, 3], [6, 1]);
    const { stdout } = keepsake("log", target, "t");
    expect(stdout).toMatch(/^GRAPH +CHECKPOINT /);
    expect(graphIn(stdout)).toEqual(["*", "| *", "| | *", "| * |", "| | *", "*-'-'", "*"]);
    const tips = [6, 5, 4].map(idOf);
    expect(stdout.endsWith(`\n3 branches, which end at ${tips.join(", ")}\n`)).toBe(true);
    const log = jsonOf("log", target, "t");
    expect(log.filter(({ isTip }) => isTip).map(({ id }) => id)).toEqual(tips);
    expect(log[0]).toMatchObject({ id: idOf(6), parent: idOf(1), isTip: true });
  });

  test("and where what they have in common is not listed", async () => {
    const target = await logOf([0], [1, 0], [2, 0], [3, 1], [4, 2]);
    const { stdout } = keepsake("log", target, "t", "--limit", "2");
    expect(graphIn(stdout)).toEqual(["*", "| *"]);
    expect(keepsake("log", target, "t", "--limit", "1").stdout).toMatch(/^CHECKPOINT /);
  });

  test("but no subgraphs, nor checkpoints without a history", async () => {
    const subgraphs = await logOf([0], [1, undefined, "child:1"], [2, 1, "child:1"], [3, 0]);
    const apart = await logOf([0], [1], [2]);
    const { stdout } = keepsake("log", subgraphs, "t");
    expect(stdout).toMatch(/^CHECKPOINT +SUBGRAPH +STEP /);
    expect(stdout.split("\n").filter((row) => / child:1 +[12] /.test(row))).toHaveLength(2);
    expect(keepsake("log", apart, "t").stdout).toMatch(/^CHECKPOINT +STEP /);
    const both = await logOf([0], [1, 0], [2, undefined, "child:1"], [3, 0]);
    expect(graphIn(keepsake("log", both, "t").stdout)).toEqual(["*", "|", "| *", "*-'"]);
  });
});

test("doctor says where it is kept", () => {
  expect(jsonOf("doctor", path)).toMatchObject({ persistence: "file", node: process.version });
  expect(keepsake("doctor", path).stdout).toMatch(
    /persistence +file\n[\s\S]*it opens, and answers; `keepsake check FILE` reads every page\n$/,
  );
});

test("doctor says what to do about a file that does not open", async () => {
  const broken = temporaryFile("broken.db");
  writeFileSync(broken, "no database at all, only a text of some length");
  const { status, stdout, stderr } = keepsake("doctor", broken);
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(/^keepsake: not_a_database: /),
  });
  expect(stdout).toMatch(/^node .*\n[\s\S]*it does not open\n→ Name another file/);

  const open = await openMemory({ path: temporaryFile("open.db") });
  const { database } = await open.diagnose();
  const busy = keepsake("doctor", database, "--json");
  expect(JSON.parse(busy.stdout)).toMatchObject({
    opens: false,
    code: "busy",
    beside: expect.arrayContaining(["lock"]),
    advice: [expect.stringMatching(/^Close the program/)],
  });
  expect(busy.status).toBe(1);
  await open.close();
});

test("doctor advises against a file that others can read", () => {
  const open = temporaryFile("public.db");
  copyFileSync(path, open);
  chmodSync(open, 0o644);
  expect(jsonOf("doctor", open).advice).toEqual([expect.stringContaining("chmod 600")]);
  chmodSync(open, 0o600);
  expect(jsonOf("doctor", open).advice).toEqual([]);
});

test("a damaged file is an error that says so, and stays as it is", () => {
  const target = temporaryFile("damaged.db");
  writeFileSync(target, "this is no database, however long it may be".repeat(200));
  const before = readFileSync(target);
  expect(keepsake("inspect", target)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^keepsake: not_a_database: /),
  });
  expect(readFileSync(target).equals(before)).toBe(true);
});
