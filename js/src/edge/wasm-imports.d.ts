declare module "*/keepsake-lean.wasm" {
  const compiled: WebAssembly.Module;
  export default compiled;
}

declare module "*/keepsake-lean.wasm?module" {
  const compiled: WebAssembly.Module;
  export default compiled;
}

declare module "*/keepsake.wasm" {
  const compiled: WebAssembly.Module;
  export default compiled;
}

declare module "*/keepsake.wasm?module" {
  const compiled: WebAssembly.Module;
  export default compiled;
}
