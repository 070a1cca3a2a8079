// What stands in declarations of the built package.

import ts from "typescript";

/** The exported names of these entries that have no comment. */
export function undocumentedNames(files) {
  const program = ts.createProgram(files, { module: ts.ModuleKind.NodeNext, skipLibCheck: true });
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
