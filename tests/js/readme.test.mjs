// Every JavaScript snippet of the README runs as it stands, in a folder of its own.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { transformSync } from "esbuild";

const root = process.cwd();
const snippets = [
  ...readFileSync(join(root, "README.md"), "utf8").matchAll(/```js\n(.*?)```/gs),
].map((match) => match[1]);

let folder;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-readme-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "keepsake"));
  symlinkSync(join(root, "node_modules", "@langchain"), join(folder, "node_modules", "@langchain"));
  for (const name of ["better-sqlite3", "langchain"]) {
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  const foreign = new Database(join(folder, "store_kv.db"));
  foreign.exec(`CREATE TABLE store_kv(ns TEXT, key TEXT, value TEXT, UNIQUE(ns, key));
    INSERT INTO store_kv VALUES('["users","ada"]', 'drink', '{"text":"tea"}')`);
  foreign.close();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the README has snippets", () => expect(snippets.length).toBeGreaterThanOrEqual(4));

test.each(snippets.map((code, i) => [i + 1, code]))(
  "snippet %d of the README runs",
  (number, code) => {
    const file = join(folder, `snippet-${number}.mjs`);
    // Node 20 does not parse `await using`; esbuild lowers it as a user's bundler would.
    writeFileSync(file, transformSync(code, { target: "node20", format: "esm" }).code);
    execFileSync(process.execPath, [file], { cwd: folder, encoding: "utf8", stdio: "pipe" });
  },
);
