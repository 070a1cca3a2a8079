// The packed tarball in a program of every packager, which runs from another folder.

import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { packagers, writeApp } from "../packagers/packagers.mjs";
import { isLong } from "./support/effort.mjs";
import { installedFolder, projectRoot, run } from "./support/installed-package.mjs";
import { removeTemporaryFolders, temporaryFile, temporaryFolder } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const page = readFileSync(join(projectRoot, "docs/packagers.md"), "utf8");

// A folder of its own, which is gone when the program runs: some packagers keep its address.
function newApp() {
  const folder = temporaryFolder();
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@langchain"), { recursive: true });
  cpSync(join(installedFolder(), "node_modules/keepsake"), join(modules, "keepsake"), {
    recursive: true,
  });
  for (const peer of ["core", "langgraph", "langgraph-checkpoint"]) {
    const path = join("node_modules/@langchain", peer);
    symlinkSync(join(projectRoot, path), join(folder, path));
  }
  writeFileSync(join(folder, "package.json"), '{ "name": "app", "private": true }');
  writeApp(folder);
  return folder;
}

const bun = () => {
  const found = readdirSync(join(projectRoot, "node_modules/@oven"));
  return join(projectRoot, "node_modules/@oven", found[0], "bin/bun");
};

// In MB, LangGraph with it. A program that holds a runtime says nothing of ours.
function sizeOf(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const bytes = files
    .filter((file) => file.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  return bytes > 50e6 ? undefined : bytes / 1e6;
}

// Each change of ours is some of it.
function expectDocumented(row, size) {
  const line = page.split("\n").find((one) => one.startsWith(row)) ?? "";
  expect(line).toContain(row);
  const said = Number(/ ([\d.]+) MB \|$/.exec(line)?.[1]);
  if (size !== undefined) expect(Math.abs(said / size - 1)).toBeLessThan(0.05);
}

const tried = packagers.filter((packager) => isLong || !packager.isLong);

test.each(tried.map((packager) => [packager.name, packager]))(
  "%s",
  async (name, { how, module, pack }) => {
    const folder = newApp();
    const out = temporaryFolder();
    const [program, ...args] = await pack(folder, out, bun());
    const size = sizeOf(out);
    renameSync(folder, `${folder}-gone`);
    const env = { MEMORY_PATH: temporaryFile() };
    for (const visits of [1, 2]) {
      const said = JSON.parse(run(program, args, { cwd: "/", env }));
      expect(said).toEqual({ visits, messages: 2 * visits, module });
    }
    expectDocumented(`| ${name} | ${how} | ${module} |`, size);
  },
  // Tracing reads a thousand files: 19 s where nothing else runs.
  180_000,
);

describe("a file of another build beside a bundle", () => {
  let out;
  let command;

  beforeAll(async () => {
    out = temporaryFolder();
    command = await packagers[0].pack(newApp(), out);
  });

  const runBeside = (bytes) => {
    writeFileSync(join(out, "keepsake-fast.wasm"), bytes);
    const [program, ...args] = command;
    return run(program, args, { cwd: "/", env: { MEMORY_PATH: temporaryFile() } });
  };

  test.each([
    ["empty", Buffer.alloc(0)],
    ["the module for edges", readFileSync(join(projectRoot, "dist/keepsake-lean.wasm"))],
    ["a page", Buffer.from("<!doctype html>")],
  ])("%s: the text is taken", (_, bytes) => {
    expect(JSON.parse(runBeside(bytes)).module).toBe("text");
  });

  test("one that is damaged is named", () => {
    const bytes = readFileSync(join(projectRoot, "dist/keepsake-fast.wasm")).fill(0, 0, 8);
    const damaged = /cannot_open.*keepsake-fast\.wasm: it is damaged/;
    expect(() => runBeside(bytes)).toThrow(
      expect.objectContaining({ stdout: expect.stringMatching(damaged) }),
    );
  });
});
