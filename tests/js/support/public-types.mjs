// What the declarations of the package say.

import { fileURLToPath } from "node:url";
import ts from "typescript";
import { programOfOurs } from "../../../scripts/public-names.mjs";

const dist = fileURLToPath(new URL("../../../dist", import.meta.url));

const OPTIONS = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  skipLibCheck: true,
};

/** The types of an entry by their names, and what reads them; `ours` reads nobody else's. */
export function publicTypes(entry = "index", { ours = false } = {}) {
  const path = `${dist}/${entry}.d.ts`;
  const program = ours ? programOfOurs([path]) : ts.createProgram([path], OPTIONS);
  const checker = program.getTypeChecker();
  const file = checker.getSymbolAtLocation(program.getSourceFile(path));
  const exported = new Map(checker.getExportsOfModule(file).map((one) => [one.name, one]));
  return { checker, typeOf: (name) => checker.getDeclaredTypeOfSymbol(exported.get(name)) };
}

/** The public methods of a class that answer nothing, `Promise<void>`. */
export function methodsWithoutAnswer({ checker, typeOf }, name) {
  return typeOf(name)
    .getProperties()
    .filter((property) => {
      const signatures = checker.getTypeOfSymbol(property).getCallSignatures();
      return (
        /^\w+$/.test(property.name) &&
        !property.name.startsWith("_") &&
        signatures.some(
          (signature) => checker.typeToString(signature.getReturnType()) === "Promise<void>",
        )
      );
    })
    .map((property) => property.name);
}
