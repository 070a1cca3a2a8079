// What stands in declarations of the built package.

import ts from "typescript";

// Of our own declarations alone: those of others are many, and not ours to document.
const OPTIONS = { module: ts.ModuleKind.NodeNext, noLib: true, types: [] };

function programOf(files) {
  const host = ts.createCompilerHost(OPTIONS);
  host.resolveModuleNameLiterals = (literals, file, _redirected, options) =>
    literals.map(({ text }) =>
      text.startsWith(".") ? ts.resolveModuleName(text, file, options, host) : {},
    );
  return ts.createProgram(files, OPTIONS, host);
}

/** The exported names of these entries that have no comment. */
export function undocumentedNames(files) {
  const program = programOf(files);
  const checker = program.getTypeChecker();
  const targetOf = (symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  return program.getRootFileNames().flatMap((file) =>
    checker
      .getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)))
      .map(targetOf)
      .filter((symbol) => symbol.getDocumentationComment(checker).length === 0)
      .map(({ name }) => `${file}: ${name}`),
  );
}
