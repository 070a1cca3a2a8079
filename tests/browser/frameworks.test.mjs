// The packed tarball in frameworks and test runners, which the long run installs.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { packProject, projectRoot, run } from "../js/support/installed-package.mjs";
import { temporaryFile, temporaryFolder } from "../js/support/temporary.mjs";
import { frameworks, programs, runners } from "../packagers/frameworks.mjs";
import { writeApp } from "../packagers/packagers.mjs";
import { startChromium } from "./support/chromium.mjs";
import { cleanUp } from "./support/clean-up.mjs";
import { freePort } from "./support/static-server.mjs";
import { expectToRemember } from "./support/visits.mjs";

const installed = join(projectRoot, "build/packagers");
// Astro needs it.
const node = join(projectRoot, ".toolchain/node24/bin/node");
const page = readFileSync(join(projectRoot, "docs/packagers.md"), "utf8");

beforeAll(() => {
  mkdirSync(installed, { recursive: true });
  cpSync(join(projectRoot, "tests/packagers/package.json"), join(installed, "package.json"));
  // Of the same name and version as one that may be there.
  rmSync(join(installed, "node_modules/keepsake"), { recursive: true, force: true });
  const quiet = ["--silent", "--no-audit", "--no-fund", "--no-package-lock", "--no-save"];
  run("npm", ["install", ...quiet, packProject().tarball], { cwd: installed });
}, 600_000);

afterAll(cleanUp);

// Beside what is installed, where they find it as an app does.
function newApp({ name, files = {} }) {
  const folder = join(installed, name.replace(/\W+/g, "-"));
  rmSync(folder, { recursive: true, force: true });
  const manifest = JSON.stringify({ name: "app", private: true, type: "module" });
  for (const [path, text] of Object.entries({ "package.json": manifest, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const env = {
  NEXT_TELEMETRY_DISABLED: "1",
  ASTRO_TELEMETRY_DISABLED: "1",
  WRANGLER_SEND_METRICS: "false",
  CI: "1",
};

const commandOf = ([program, ...args], folder) => [
  program.startsWith("./") ? join(folder, program) : join(installed, "node_modules", program),
  ...args,
];
const runIn = (folder, command, more) =>
  run(node, commandOf(command, folder), { cwd: folder, env: { ...env, ...more } });

const named = (list) => list.map((one) => [one.name, one]);

describe("test runners", () => {
  test.each(named(runners))("%s", (name, runner) => {
    const folder = newApp(runner);
    runIn(folder, runner.run);
    expect(page).toContain(`| ${name} | ${runner.how} |`);
  });
});

describe("programs of Node", () => {
  test.each(named(programs))("%s", (name, program) => {
    const folder = newApp(program);
    writeApp(folder);
    if (program.build !== undefined) runIn(folder, program.build);
    const memory = { MEMORY_PATH: temporaryFile() };
    for (const visits of [1, 2]) {
      const said = JSON.parse(runIn(folder, program.run, memory));
      expect(said).toEqual({ visits, messages: 2 * visits, module: program.module });
    }
    expect(page).toContain(`| ${name} | ${program.how} |`);
  });
});

describe("frameworks", () => {
  test.each(named(frameworks))("%s", async (name, framework) => {
    const folder = newApp(framework);
    const memory = { MEMORY_PATH: temporaryFile() };
    if (framework.build !== undefined) runIn(folder, framework.build, memory);
    for (const [from, to] of framework.copies ?? []) {
      cpSync(join(folder, from), join(folder, to), { recursive: true });
    }
    let served = folder;
    if (framework.elsewhere !== undefined) {
      served = temporaryFolder();
      cpSync(join(folder, framework.elsewhere), served, { recursive: true });
    }
    const server = await serve(served, framework.serve, memory);
    try {
      await expectToRemember(await startChromium(), server);
      for (const count of [1, 2]) {
        const response = await fetch(new URL("server", server.url));
        expect(await response.json()).toEqual([count]);
      }
    } finally {
      await server.stop();
    }
    expect(page).toContain(`| ${name} | ${framework.how} |`);
  });
});

async function serve(folder, command, more) {
  const port = String(await freePort());
  const args = commandOf(command, folder).map((arg) => (arg === "PORT" ? port : arg));
  const address = { PORT: port, HOST: "127.0.0.1", HOSTNAME: "127.0.0.1" };
  const child = spawn(node, args, {
    cwd: folder,
    env: { ...process.env, ...env, ...address, ...more, NODE_OPTIONS: "" },
    stdio: ["ignore", "ignore", "inherit"],
    detached: true,
  });
  const url = `http://127.0.0.1:${port}/`;
  const stop = async () => {
    const ended = once(child, "exit");
    // With the servers that it started.
    process.kill(-child.pid, "SIGTERM");
    await ended;
  };
  while (
    !(await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error(`the server ended: ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return { url, stop };
}
