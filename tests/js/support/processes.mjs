// Child processes that tell by lines what they have done.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const running = new Set();

/** Starts support/<script> with these arguments. */
export function start(script, args, options = {}) {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    ...options,
    env: { ...process.env, NODE_OPTIONS: "", ...options.env },
  });
  running.add(child);
  child.ended = once(child, "exit").then(([code, signal]) => {
    running.delete(child);
    return signal ?? code;
  });
  return child;
}

/** Resolves when the child has printed this line. */
export async function printed(child, line) {
  let output = "";
  child.stdout.setEncoding("utf8");
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += chunk;
    if (output.split("\n").includes(line)) return;
  }
  throw new Error(`the process ended without printing ${line}: ${output}`);
}

/** What the first group of the pattern finds in what the child prints. */
export async function found(child, pattern) {
  let output = "";
  child.stdout.setEncoding("utf8");
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += chunk;
    const match = pattern.exec(output);
    if (match !== null) return match[1];
  }
  throw new Error(`the process ended without printing ${pattern}: ${output}`);
}

export async function killAll() {
  const children = [...running];
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(children.map(({ ended }) => ended));
}
