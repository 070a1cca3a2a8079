// Makes tests/golden/files/<version>: files of this version, and what it answers of them. Run once
// for a release, before it is published; what is committed there is never made anew, because the
// next version has to open it as it is.
//
//   node scripts/make-golden-file.mjs          for a version that has none
//   node scripts/make-golden-file.mjs --again  for one that is not released yet, on purpose

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { openMemory } from "../dist/index.js";
import {
  answersOf,
  CALLS,
  fillMemory,
  goldenOptions,
  KEY,
  LEFT,
  leaveBehind,
  QUESTIONS,
  shapeOf,
  wordsOf,
} from "../tests/js/support/golden-memory.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
const folder = `${root}tests/golden/files/${version}/`;

// Left open by a process that is killed: the file and its log.
if (process.argv[2] === "--leave") {
  const { options } = goldenOptions();
  const memory = await openMemory({ path: process.argv[3], ...options });
  await leaveBehind(memory);
  process.kill(process.pid, "SIGKILL");
}

const isReleased = !new RegExp(`^## ${version.replaceAll(".", "\\.")} \\(unreleased\\)`, "m").test(
  readFileSync(`${root}CHANGELOG.md`, "utf8"),
);
if (existsSync(folder)) {
  if (isReleased) throw new Error(`${version} is released: its files stay as they are`);
  if (process.argv[2] !== "--again") {
    throw new Error(`${folder} is there: --again replaces it, of a version that nobody has yet`);
  }
}

const work = mkdtempSync(join(tmpdir(), "keepsake-golden-"));
const sealed = { key: KEY };

async function made(name, fill, more = {}) {
  const { clock, options } = goldenOptions();
  const path = join(work, name);
  const memory = await openMemory({ path, ...options, ...more });
  await fill(memory, clock);
  const portable = [];
  for await (const part of memory.exportStream({ format: "portable" })) portable.push(part);
  await memory.close();
  return { file: readFileSync(path), portable: Buffer.concat(portable) };
}

async function asked(name, questions, more = {}) {
  const { options } = goldenOptions(1);
  const memory = await openMemory({ path: join(work, name), ...options, ...more });
  const answers = await answersOf(memory, questions);
  await memory.close();
  return answers;
}

function called(call) {
  const cli = `${root}dist/cli.js`;
  const words = wordsOf(call, join(work, "memory.db"));
  const { stdout, stderr } = spawnSync(process.execPath, [cli, ...words], { encoding: "utf8" });
  return JSON.parse(stdout || stderr);
}

// JSON with a line for each answer, so that a difference shows which.
function linesOf(groups) {
  const object = (entries, of) =>
    `{${Object.entries(entries).map(([name, value]) => `\n${JSON.stringify(name)}:${of(value)}`)}}`;
  return `${object(groups, (answers) => object(answers, JSON.stringify))}\n`;
}

const whole = await made("memory.db", fillMemory);
const secret = await made("sealed.db", leaveBehind, sealed);
const left = join(work, "left.db");
spawnSync(process.execPath, [fileURLToPath(import.meta.url), "--leave", left]);
const leftFiles = readdirSync(work).filter((name) => name.startsWith("left.db"));
if (!leftFiles.includes("left.db-wal")) throw new Error(`no log was left: ${leftFiles}`);
const log = readFileSync(`${left}-wal`);
const files = {
  "memory.db.gz": gzipSync(whole.file, { level: 9 }),
  "memory.portable.gz": gzipSync(whole.portable, { level: 9 }),
  "sealed.db": secret.file,
  "left.db.gz": gzipSync(readFileSync(left), { level: 9 }),
  "left.db-wal.gz": gzipSync(log, { level: 9 }),
};
const answers = {
  memory: await asked("memory.db", QUESTIONS),
  left: await asked("sealed.db", LEFT, sealed),
  calls: Object.fromEntries(CALLS.map((call) => [call.join(" "), shapeOf(called(call))])),
};
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [name, bytes] of Object.entries(files)) writeFileSync(folder + name, bytes);
writeFileSync(`${folder}answers.json`, linesOf(answers));
const sums = readdirSync(folder).map((name) => {
  const sum = createHash("sha256")
    .update(readFileSync(folder + name))
    .digest("hex");
  return `${sum}  ${name}\n`;
});
writeFileSync(`${folder}SHA256SUMS`, sums.join(""));
rmSync(work, { recursive: true });
for (const name of readdirSync(folder)) console.log(name, readFileSync(folder + name).length);
