// `npx keepsake`, called again and again: what it prints, and exits with. One process of a test
// file runs all calls, because a start takes 1.2 s. The caller waits for each, as with spawnSync.

import { execFileSync, spawn } from "node:child_process";
import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectRoot } from "./installed-package.mjs";
import { temporaryFolder } from "./temporary.mjs";

/** The command, for a process of its own. */
export const program = join(projectRoot, "dist/cli.js");

/** What a process of its own begins with: Jest's own options are not meant for it. */
export const plainEnv = { ...process.env, NODE_OPTIONS: "" };

let worker;

afterAll(() => worker?.end());

/** Calls `keepsake ...words`: its status, stdout and stderr. */
export const keepsake = (...words) => keepsakeWith({}, ...words);

/** The same, with more in its environment. */
export function keepsakeWith(env, ...words) {
  worker ??= startWorker();
  return worker.call({ words, env });
}

/** Begins `keepsake ...words`, a server; its stdin and stdout are a socket at the answered path. */
export function served(env, ...words) {
  worker ??= startWorker();
  const socket = join(temporaryFolder(), "socket");
  worker.call({ words, env, socket });
  return socket;
}

function startWorker() {
  const folder = temporaryFolder();
  const calls = pipe(join(folder, "calls"));
  const ends = pipe(join(folder, "ends"));
  const script = fileURLToPath(new URL("command-worker.mjs", import.meta.url));
  spawn(process.execPath, [script, program], {
    stdio: ["ignore", "ignore", "inherit", calls.output, ends.input],
    env: plainEnv,
  }).unref();
  closeSync(calls.output);
  closeSync(ends.input);
  return {
    call(given) {
      writeSync(calls.input, `${JSON.stringify(given)}\n`);
      return JSON.parse(lineOf(ends.output));
    },
    end() {
      closeSync(calls.input);
      closeSync(ends.output);
    },
  };
}

// Both ends of a pipe with a name, which can be read without waiting for events.
function pipe(path) {
  execFileSync("mkfifo", [path]);
  const both = openSync(path, constants.O_RDWR);
  const ends = { input: openSync(path, "w"), output: openSync(path, "r") };
  closeSync(both);
  return ends;
}

function lineOf(input) {
  const parts = [];
  const part = Buffer.alloc(65_536);
  for (;;) {
    const size = readSync(input, part);
    if (size === 0) throw new Error("the process that runs the command has ended");
    parts.push(Buffer.from(part.subarray(0, size)));
    if (part[size - 1] === 10) return Buffer.concat(parts).toString();
  }
}
