// The demo as a person starts it: a process of its own, in the terminal on a real file.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const RECALL_FLOOR = 0.9;
const BOUND_MS = 120_000;
const SCRIPT = join(process.cwd(), "demo", "main.mjs");

const folder = mkdtempSync(join(tmpdir(), "keepsake-demo-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// Without a key in the environment, whatever the developer's has.
function runDemo(...args) {
  const { OPENAI_API_KEY, ...env } = process.env;
  return spawnSync(process.execPath, [SCRIPT, ...args], {
    encoding: "utf8",
    env,
    timeout: BOUND_MS,
  });
}

function section(output, number) {
  const [, from] = output.split(new RegExp(`^${number}  .+$`, "m"));
  return from.split(/^\d {2}\S.*$/m)[0];
}

function written(name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe("the demo on its own conversation", () => {
  const db = join(folder, "memory.sqlite");
  let run;
  let output;

  beforeAll(() => {
    run = runDemo("--terminal", "--db", db, "--questions", "10");
    output = run.stdout;
  }, BOUND_MS);

  test("succeeds and tells its story in four sections", () => {
    expect(run.stderr).toBe("");
    expect(run.status).toBe(0);
    const headings = [...output.matchAll(/^(\d) {2}(\S.*)$/gm)].map(([, , heading]) => heading);
    expect(headings).toEqual([
      "Listening",
      "Answering from memory",
      "After a restart",
      "Sizes and timings",
    ]);
  });

  test("says that the model is a stand-in", () => {
    expect(output).toMatch(/Model +a scripted stand-in/);
  });

  test("answers every question and shows what was found and what was missed", () => {
    const answers = section(output, 2);
    expect(answers.match(/^ +→ /gm)).toHaveLength(10);
    expect(answers.match(/^ +[✓·] \S+ +-?\d\.\d\d /gm)).toHaveLength(50);
    expect(answers).toMatch(/✗ missed: \d/);
  });

  test(`recalls at least ${RECALL_FLOOR} of the evidence among five turns`, () => {
    const [, recall] = /recall@5 = (\d\.\d\d) over 10 questions/.exec(output);
    expect(Number(recall)).toBeGreaterThanOrEqual(RECALL_FLOOR);
  });

  test("finds history, items, namespaces, an earlier state and a fork in a new process", () => {
    const restart = section(output, 3);
    const pids = /A new process \((\d+)\)/.exec(restart);
    expect(Number(pids[1])).not.toBe(run.pid);
    const marks = [...restart.matchAll(/^ {2}([✓✗]) (\w+(?: \w+)?) {2}/gm)];
    expect(marks.map(([, mark, name]) => `${mark} ${name}`)).toEqual([
      "✓ history",
      "✓ items",
      "✓ namespaces",
      "✓ time travel",
      "✓ fork",
    ]);
    expect(restart).toContain("80 of 80 turns");
    expect(restart).toContain("80 of 80 items");
  });

  test("ends with sizes and timings that are not nothing", () => {
    const figures = section(output, 4);
    expect(figures).toMatch(/File +[1-9][\d.]* [KM]B/);
    expect(figures).toMatch(/Items +80 in 6 namespaces/);
    expect(figures).toMatch(/Checkpoints +[1-9]/);
    expect(figures).toMatch(/Listening +[1-9]\d* turns\/s/);
    expect(figures).toMatch(/Recall +[\d.]+ ms each/);
  });

  test("fits 80 columns and has no colours where nobody looks", () => {
    const lines = output.split("\n").filter((line) => !line.includes(db));
    expect(lines.filter((line) => [...line].length > 80)).toEqual([]);
    expect(output).not.toContain("\x1b");
  });

  test(
    "goes on with a database that it finds, and hears no turn twice",
    () => {
      const again = runDemo("--terminal", "--db", db, "--questions", "0");
      expect(again.status).toBe(0);
      expect(again.stdout).toContain("80 turns in this database from an earlier run");
      expect(again.stdout).toContain("80 of 80 turns");
      expect(again.stdout).toContain("80 of 80 items");
    },
    BOUND_MS,
  );
});

describe("the demo refuses", () => {
  test.each([
    [
      "a file that is not there",
      ["--terminal", join(folder, "none.json")],
      1,
      "there is no such file",
    ],
    [
      "a file that is not JSON, with the line",
      [
        "--terminal",
        written("broken.json", '{\n  "format": "keepsake-conversation/1",\n  "id" "x"\n}'),
      ],
      1,
      "line 3",
    ],
    [
      "a turn without text, with its place",
      [
        "--terminal",
        written(
          "silent.json",
          JSON.stringify({
            format: "keepsake-conversation/1",
            id: "x",
            sessions: [{ date: "2024-01-01", turns: [{ id: "1", speaker: "A" }] }],
          }),
        ),
      ],
      1,
      '"sessions[0].turns[0].text" must be a text',
    ],
    ["an unknown option, with the way to the help", ["--bogus"], 2, "--help"],
    [
      "a number that is none",
      ["--terminal", "--questions", "many"],
      2,
      "--questions must be a whole number",
    ],
    ["an option of the terminal for the page", ["--keep"], 2, "--keep needs --terminal"],
    ["a file for the page", ["my.json"], 2, "my.json needs --terminal"],
    ["a port that is none", ["--port", "70000"], 2, "--port must be at most 65535"],
  ])("%s", (_, args, status, message) => {
    const run = runDemo(...args);
    expect(run.stderr).toContain(message);
    expect(run.stderr).not.toMatch(/^ {4}at /m);
    expect(run.status).toBe(status);
  });
});

test(
  "the demo reads LoCoMo's format and picks a conversation of several",
  () => {
    const locomo = (id) => ({
      sample_id: id,
      conversation: {
        session_1_date_time: "1:56 pm on 8 May, 2023",
        session_1: [
          { speaker: "Ada", dia_id: "D1:1", text: "I planted a cherry tree." },
          { speaker: "Bo", dia_id: "D1:2", text: "Lovely!", blip_caption: "a photo of a spade" },
        ],
      },
      qa: [
        { question: "What did Ada plant?", answer: "a cherry tree", evidence: ["D1:1; D:1:02"] },
      ],
    });
    const file = written("locomo.json", JSON.stringify([locomo("first"), locomo("second")]));
    const run = runDemo("--terminal", file, "--conversation", "2");
    expect(run.stderr).toBe("");
    expect(run.status).toBe(0);
    expect(run.stdout).toContain("conversations › second");
    expect(run.stdout).toContain("Bo: Lovely! [shows a photo of a spade]");
    expect(run.stdout).toContain("recall@5 = 1.00 over 1 question");
  },
  BOUND_MS,
);

describe("the page's server", () => {
  const servers = [];

  afterAll(() => Promise.all(servers.map(ended)), BOUND_MS);

  // → {child, address}
  async function startServer(...args) {
    const child = spawn(process.execPath, [SCRIPT, ...args], { stdio: ["ignore", "pipe", 2] });
    servers.push(child);
    let output = "";
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      output += chunk;
      const [address] = /http:\S+/.exec(output) ?? [];
      if (address !== undefined) return { child, address };
    }
    throw new Error(`it ended without an address: ${output}`);
  }

  function ended(child) {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const exit = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGINT");
    return exit;
  }

  test(
    "takes a free port if the usual one is taken, and ends with Ctrl-C",
    async () => {
      const first = await startServer();
      const second = await startServer();
      expect(second.address).not.toBe(first.address);
      expect(await ended(second.child)).toBe(0);
    },
    BOUND_MS,
  );

  test(
    "says so if the port that was asked for is taken",
    async () => {
      const { address } = await startServer("--port", "0");
      const { port } = new URL(address);
      const run = runDemo("--port", port);
      expect(run.stderr).toContain(`port ${port} can't be used`);
      expect(run.status).toBe(2);
    },
    BOUND_MS,
  );

  test(
    "serves a page that may run nothing but its own scripts",
    async () => {
      const { address } = await startServer("--port", "0");
      const page = await fetch(address);
      expect(page.headers.get("content-security-policy")).toContain(
        "script-src 'self' 'wasm-unsafe-eval'",
      );
      const html = await page.text();
      const paths = [...html.matchAll(/(?:src|href)="(\/v-[^"]+)"/g)].map(([, path]) => path);
      expect(paths.length).toBeGreaterThan(2);
      for (const path of [...paths, "/service-worker.js"]) {
        expect((await fetch(new URL(path, address))).status).toBe(200);
      }
      expect((await fetch(new URL("/../package.json", address))).status).toBe(404);
      expect(html).not.toMatch(/https?:\/\//);
    },
    BOUND_MS,
  );
});
