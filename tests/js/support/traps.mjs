// Makes a wasm instance trap when a test asks for it: each function that it imports
// runs into an `unreachable` for as long as `armed`. Import this before the package
// opens its first database.

export const traps = { armed: false };

const { Instance, Module } = WebAssembly;

// (module (func (export "trap") unreachable))
const unreachable = new Module(
  new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 8, 1, 4, 116, 114, 97, 112, 0, 0,
    10, 5, 1, 3, 0, 0, 11,
  ]),
);
const { trap } = new Instance(unreachable).exports;

function trapping(imported) {
  return (...args) => {
    if (traps.armed) trap();
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
