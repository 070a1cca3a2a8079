// Runs the command in its argument for each line that comes by descriptor 3, as if it were called
// with those words, and answers by descriptor 4 what it printed. A call that names a socket is
// served there: the socket is its stdin and stdout.

import { once } from "node:events";
import { createReadStream, writeSync } from "node:fs";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [, , program] = process.argv;
const env = { ...process.env };
const entry = pathToFileURL(program).href;

// Each call listens to the streams anew.
process.stdout.setMaxListeners(0);
process.stderr.setMaxListeners(0);

let count = 0;

/** Resolves with its exit code when the command has ended; `out` and `error` take what it prints. */
async function run({ words, env: more }, { out, error }) {
  process.stdout.write = out;
  process.stderr.write = error;
  process.argv = [process.argv[0], program, ...words];
  process.env = { ...env, ...more };
  process.exitCode = undefined;
  count += 1;
  await import(`${entry}?${count}`);
  return process.exitCode;
}

async function printedBy(call) {
  const printed = { stdout: "", stderr: "" };
  const into = (name) => (text) => {
    printed[name] += text;
    return true;
  };
  const status = await run(call, { out: into("stdout"), error: into("stderr") });
  return { status, ...printed };
}

const { stdin, stdout } = process;
const setStreams = (input, output) => {
  Object.defineProperty(process, "stdin", { value: input, configurable: true });
  Object.defineProperty(process, "stdout", { value: output, configurable: true });
};

let turn = Promise.resolve();

/** One begins after the other: each takes the streams that are there when it says that it serves. */
function serve(call, socket) {
  turn = turn.then(async () => {
    setStreams(socket, socket);
    const serves = new Promise((resolve) => {
      const error = (text) => {
        if (/: serves /.test(text)) setImmediate(resolve);
        return true;
      };
      const ended = run(call, { out: socket.write.bind(socket), error });
      ended.then(() => {
        socket.destroy();
        resolve();
      });
    });
    await serves;
    setStreams(stdin, stdout);
  });
}

async function listen({ socket: path, ...call }) {
  const server = createServer((socket) => {
    server.close();
    serve(call, socket);
  });
  server.listen(path);
  await once(server, "listening");
  return {};
}

const lines = createInterface({ input: createReadStream(null, { fd: 3 }) });
for await (const line of lines) {
  const call = JSON.parse(line);
  const answer = Buffer.from(`${JSON.stringify(await (call.socket ? listen : printedBy)(call))}\n`);
  for (let at = 0; at < answer.length; ) at += writeSync(4, answer, at);
}
process.exit(0);
