// Runs the Worker on this machine until Ctrl-C: wrangler starts workerd, which keeps the
// objects in files.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const CONFIG = fileURLToPath(new URL("wrangler.jsonc", import.meta.url));
const STATE = fileURLToPath(new URL("../../build/demo-worker", import.meta.url));
const USUAL_PORT = 8787;

export async function runWorkerDemo({ port = USUAL_PORT, db = STATE }) {
  const manifest = createRequire(import.meta.url).resolve("wrangler/package.json");
  const options = ["--config", CONFIG, "--port", port, "--persist-to", db];
  const wrangler = spawn(
    process.execPath,
    [
      join(manifest, "../bin/wrangler.js"),
      "dev",
      ...options.map(String),
      "--show-interactive-dev-session=false",
    ],
    { stdio: "inherit", env: { ...process.env, WRANGLER_SEND_METRICS: "false" } },
  );
  process.stdout.write(HELP(port));
  // It ends when wrangler has ended.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => wrangler.kill(signal));
  return new Promise((resolve) => wrangler.on("exit", (code) => resolve(code ?? 0)));
}

const HELP = (
  port,
) => `An agent for each user, in Durable Objects kept below ${STATE}. When it is ready:

  curl -d '{"text":"I like green tea"}' http://localhost:${port}/users/ada/threads/1
  curl -d '{"text":"What do I like?"}' http://localhost:${port}/users/ada/threads/1
  curl http://localhost:${port}/users/ada/items

`;
