// The demo's Worker as a person starts it, with wrangler, and over a restart.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { run } from "../js/support/installed-package.mjs";
import { removeTemporaryFolders, temporaryFolder } from "../js/support/temporary.mjs";

const STARTED_WITHIN_MS = 60_000;
const running = new Set();

afterEach(() => {
  for (const program of running) program.kill("SIGKILL");
  running.clear();
});
afterAll(removeTemporaryFolders);

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

/** Starts the demo; answers how to ask it, and how to end it. */
async function startDemo(db) {
  const port = await freePort();
  const args = ["demo/main.mjs", "--worker", "--port", port, "--db", db];
  // A group of its own: wrangler and workerd end with it.
  const program = spawn(process.execPath, args.map(String), { detached: true, stdio: "pipe" });
  running.add({ kill: (signal) => endGroup(program, signal) });
  let output = "";
  for (const stream of [program.stdout, program.stderr])
    stream.on("data", (text) => {
      output += text;
    });
  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + STARTED_WITHIN_MS;
  while (!(await fetch(url).catch(() => undefined))) {
    if (program.exitCode !== null || Date.now() > deadline)
      throw new Error(`not started: ${output}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return {
    ask: async (path, body) => {
      const options = body && { method: "POST", body: JSON.stringify(body) };
      const response = await fetch(`${url}/users/ada/${path}`, options);
      const text = await response.text();
      if (!response.ok) throw new Error(`${response.status} ${text}\n${output}`);
      return JSON.parse(text);
    },
    async end() {
      endGroup(program, "SIGINT");
      await once(program, "exit");
    },
  };
}

function endGroup(program, signal) {
  try {
    process.kill(-program.pid, signal);
  } catch {
    // It has ended by itself.
  }
}

test("the agent remembers, asks before it forgets, and goes on after a restart", async () => {
  const db = temporaryFolder();
  const first = await startDemo(db);
  expect((await first.ask("threads/1", { text: "I like green tea" })).answer).toMatch(/green tea/);
  const asked = await first.ask("threads/2", { text: "Forget that I like green tea" });
  expect(asked.question).toMatchObject({ action: "forget" });
  await first.end();

  const second = await startDemo(db);
  expect((await second.ask("threads/2")).question).toEqual(asked.question);
  expect(await second.ask("items")).toHaveLength(1);
  const { answer, question } = await second.ask("threads/2", { approved: true });
  expect(answer).toMatch(/Forgotten/);
  expect(question).toBeUndefined();
  expect(await second.ask("items")).toEqual([]);
});

test("wrangler finds all that it takes to deploy", () => {
  const wrangler = join(process.cwd(), "node_modules/wrangler/bin/wrangler.js");
  const outdir = temporaryFolder();
  const config = ["--config", "demo/worker/wrangler.jsonc"];
  const printed = run(
    process.execPath,
    [wrangler, "deploy", "--dry-run", "--outdir", outdir, ...config],
    { env: { WRANGLER_SEND_METRICS: "false", CI: "1" } },
  );
  expect(readdirSync(outdir).join()).toMatch(/keepsake-lean\.wasm/);
  expect(printed).toMatch(/AgentObject/);
});
