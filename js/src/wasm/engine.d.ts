// TypeScript bindings for emscripten-generated code.  Automatically generated at compile time.
declare namespace RuntimeExports {
    let HEAPU8: any;
}
interface WasmModule {
}

export interface Engine {
  close(): void;
  reserve(_0: number): number;
  hasRoom(_0: number, _1: number): number;
  open(_0: number): number;
  execute(_0: number): number;
  response(): number;
  delete(): void;
}

interface EmbindModule {
  Engine: {
    new(): Engine;
  };
}

export type MainModule = WasmModule & typeof RuntimeExports & EmbindModule;
export default function MainModuleFactory (options?: unknown): Promise<MainModule>;
