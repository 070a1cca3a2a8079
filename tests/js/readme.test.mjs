// Every JavaScript and TypeScript snippet of README.md and docs/ runs as it stands, in a folder of its own, and
// every link leads to something that is in the package.

import { execFileSync } from "node:child_process";
import {
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

const root = process.cwd();
const snippets = [...snippetsOf("js"), ...snippetsOf("ts")];

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

test("there are snippets", () => expect(snippets.length).toBeGreaterThanOrEqual(10));

test.each(snippets.map(({ path, code }, i) => [i + 1, path, code]))(
  "snippet %d, of %s, runs",
  (number, _path, code) => {
    const file = join(folder, `snippet-${number}.mjs`);
    // Node 20 does not parse `await using`; esbuild lowers it as a user's bundler would.
    writeFileSync(
      file,
      transformSync(code, { loader: "ts", target: "node20", format: "esm" }).code,
    );
    execFileSync(process.execPath, [file], { cwd: folder, encoding: "utf8", stdio: "pipe" });
  },
);

// As GitHub makes them.
const anchorsOf = (text) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- ]/gu, "")
      .replaceAll(" ", "-"),
  );

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
