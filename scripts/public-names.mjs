// All names that a program can write: exports, members of classes and options, words of unions.
// Run by itself, it writes them to tests/golden/public-names.txt, which tells a reviewer what a
// change adds and, what it must not once it was released, takes away.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const projectRoot = fileURLToPath(new URL("..", import.meta.url));
const dist = join(projectRoot, "dist");
const { exports: entries } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8"));

/** A line for each, such as `keepsake/embed LazyModel.load`, sorted. */
export function publicNames() {
  const files = new Map(
    Object.keys(entries)
      .filter((entry) => !/\.\w+$/.test(entry))
      .map((entry) => [`keepsake${entry.slice(1)}`, `${dist}/${entry.slice(2) || "index"}.d.ts`])
      .filter(([, path]) => existsSync(path)),
  );
  const program = programOfOurs([...files.values()]);
  const checker = program.getTypeChecker();
  const known = new Set();
  const lines = [];
  for (const [entry, path] of files) {
    const file = checker.getSymbolAtLocation(program.getSourceFile(path));
    for (const symbol of checker.getExportsOfModule(file)) {
      // What the main entry has, others name again.
      if (known.has(symbol.name)) continue;
      known.add(symbol.name);
      lines.push(`${entry} ${symbol.name}`);
      lines.push(...membersOf(checker, symbol).map((name) => `${entry} ${symbol.name}${name}`));
    }
  }
  return lines.sort();
}

/**
 * A program of declarations of ours alone: what LangGraph's classes bring is its own, and takes
 * most of the time to read.
 */
export function programOfOurs(paths) {
  const options = { lib: ["lib.es5.d.ts"], types: [], target: ts.ScriptTarget.ES2022 };
  const host = ts.createCompilerHost(options);
  host.resolveModuleNameLiterals = (names, from) =>
    names.map(({ text }) => {
      const resolvedFileName = join(dirname(from), text.replace(/\.js$/, ".d.ts"));
      const isThere = text.startsWith(".") && existsSync(resolvedFileName);
      return { resolvedModule: isThere ? { resolvedFileName, extension: ".d.ts" } : undefined };
    });
  return ts.createProgram(paths, options, host);
}

function membersOf(checker, symbol) {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const type = checker.getDeclaredTypeOfSymbol(target);
  if (type.isUnion()) {
    return type.types.filter((one) => one.isStringLiteral()).map(({ value }) => ` "${value}"`);
  }
  if (!type.isClassOrInterface() && !(type.flags & ts.TypeFlags.Object)) return [];
  return checker
    .getPropertiesOfType(type)
    .filter((property) => /^\w+$/.test(property.name) && isOurs(property))
    .map(({ name }) => `.${name}`);
}

// Not of LangGraph's classes, and nothing that is private.
function isOurs(property) {
  return (property.declarations ?? []).some(
    (declaration) =>
      declaration.getSourceFile().fileName.startsWith(dist) &&
      !(
        ts.getCombinedModifierFlags(declaration) &
        (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)
      ),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(
    join(projectRoot, "tests/golden/public-names.txt"),
    `${publicNames().join("\n")}\n`,
  );
}
