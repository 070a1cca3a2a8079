// Makes a wasm instance trap when a test asks for it: each function that it imports
// throws a RuntimeError for as long as `armed`. Import this before the package opens
// its first database.

export const traps = { armed: false };

const { Instance } = WebAssembly;

function trapping(imported) {
  return (...args) => {
    if (traps.armed) throw new WebAssembly.RuntimeError("unreachable");
    return imported(...args);
  };
}

WebAssembly.Instance = class extends Instance {
  constructor(module, imports) {
    const wrap = ([name, imported]) => [
      name,
      typeof imported === "function" ? trapping(imported) : imported,
    ];
    const wrapped = Object.entries(imports).map(([from, functions]) => [
      from,
      Object.fromEntries(Object.entries(functions).map(wrap)),
    ]);
    super(module, Object.fromEntries(wrapped));
  }
};
