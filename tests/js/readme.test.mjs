// Every JavaScript and TypeScript snippet of README.md and docs/ runs as it stands, and every link leads to
// something that is in the package.

import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import Database from "better-sqlite3";
import { transformSync } from "esbuild";
import { pages, snippetsOf } from "./support/documentation.mjs";
import { isLong } from "./support/effort.mjs";

const root = process.cwd();
const snippets = [...snippetsOf("js"), ...snippetsOf("ts")];

let folder;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-readme-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "keepsake"));
  symlinkSync(join(root, "node_modules", "@langchain"), join(folder, "node_modules", "@langchain"));
  for (const name of ["better-sqlite3", "langchain", "@netlify", "@vercel"]) {
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  // Not a link: it would look for keepsake beside where it is.
  cpSync(join(root, "packages/english"), join(folder, "node_modules/keepsake-english"), {
    recursive: true,
  });
  const foreign = new Database(join(folder, "store_kv.db"));
  foreign.exec(`CREATE TABLE store_kv(ns TEXT, key TEXT, value TEXT, UNIQUE(ns, key));
    INSERT INTO store_kv VALUES('["users","ada"]', 'drink', '{"text":"tea"}')`);
  foreign.close();
  for (const [i, { code }] of snippets.entries()) {
    writeFileSync(join(folder, nameOf(i + 1)), lowered(code));
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

// Node 20 does not parse `await using`; esbuild lowers it as a user's bundler would.
const lowered = (code) =>
  transformSync(code, { loader: "ts", target: "node20", format: "esm" }).code;

const nameOf = (number) => `snippet-${number}.mjs`;
// What a host's environment has, where buckets are made. None is asked.
const ENVIRONMENT = {
  AWS_REGION: "eu-central-1",
  AWS_ACCESS_KEY_ID: "AKIA",
  AWS_SECRET_ACCESS_KEY: "secret",
  AWS_SESSION_TOKEN: "session",
  MINIO_USER: "user",
  MINIO_PASSWORD: "secret",
  AZURE_SAS_TOKEN: "sig=secret",
  NETLIFY_BLOBS_CONTEXT: btoa('{ "siteID": "1", "token": "secret" }'),
};
const execute = (...args) =>
  execFileSync(process.execPath, args, {
    cwd: folder,
    encoding: "utf8",
    stdio: "pipe",
    env: { ...process.env, ...ENVIRONMENT },
  });

// One after the other in one process, because a start takes longer than most of them.
const RUNNER = `
import { appendFileSync } from "node:fs";
for (const name of process.argv.slice(2)) {
  const error = await import("./" + name).then(() => null, (error) => error.stack);
  appendFileSync("ends", JSON.stringify({ name, error }) + "\\n");
}
process.exit(0);
`;

let ends;

function runAll() {
  writeFileSync(join(folder, "run.mjs"), RUNNER);
  execute("run.mjs", ...snippets.map((_, i) => nameOf(i + 1)));
  return readFileSync(join(folder, "ends"), "utf8").trim().split("\n").map(JSON.parse);
}

test("there are snippets", () => expect(snippets.length).toBeGreaterThanOrEqual(10));

test.each(snippets.map(({ path }, i) => [i + 1, path]))("snippet %d, of %s, runs", (number) => {
  ends ??= runAll();
  const name = nameOf(number);
  expect(ends.find((end) => end.name === name)).toEqual({ name, error: null });
});

// As GitHub makes them.
const anchorsOf = (text) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- ]/gu, "")
      .replaceAll(" ", "-"),
  );

test("a snippet ends by itself in a process of its own", () => {
  for (const number of isLong ? snippets.keys() : [0, snippets.length - 1]) {
    execute(nameOf(number + 1));
  }
});

test.each(pages.map(({ path, text }) => [path, text]))(
  "every link of %s leads somewhere",
  (path, text) => {
    const packed =
      /^(docs\/[\w-]+\.md|docs\/pictures\/[\w-]+\.(svg|webp)|README\.md|LICENSE|THIRD_PARTY_NOTICES\.md)$/;
    const broken = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link]) => link)
      .filter((link) => !/^https?:/.test(link))
      .filter((link) => {
        const [file, anchor] = link.split("#");
        const target = file === "" ? path : normalize(join(dirname(path), file));
        if (!packed.test(target) || !existsSync(join(root, target))) return true;
        const page = pages.find((one) => one.path === target);
        return anchor !== undefined && !anchorsOf(page.text).includes(anchor);
      });
    expect(broken).toEqual([]);
  },
);

test("the page of errors has each code", () => {
  const [, union] = readFileSync("js/src/errors.ts", "utf8").match(
    /type KeepsakeErrorCode =([^;]+);/,
  );
  const codes = [...union.matchAll(/\| "(\w+)"/g)].map(([, code]) => code);
  const page = readFileSync("docs/errors.md", "utf8");
  expect(codes.length).toBeGreaterThan(30);
  expect(codes.filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});

test("the animation is one, and no burden", () => {
  const bytes = readFileSync(join(root, "docs/pictures/reload.webp"));
  expect(bytes.subarray(8, 12).toString()).toBe("WEBP");
  expect(bytes.includes("ANIM")).toBe(true);
  expect(bytes.length).toBeLessThan(200_000);
});

test("the README can be read to its end", () => {
  const [{ text }] = pages;
  expect(text.split("\n").length).toBeLessThanOrEqual(180);
});
