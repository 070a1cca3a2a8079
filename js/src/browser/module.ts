// Fetches and compiles keepsake.wasm, and says what is wrong if something else came.

import { KeepsakeError, messageOf } from "../errors.js";
import { inTime } from "./in-time.js";
import { cannotLoad } from "./load.js";
import type { SharedModule } from "./protocol.js";

/** Made by scripts/build-js.mjs: a hash of keepsake.wasm. */
declare const WASM_BUILD: string;

const MAGIC = [0x00, 0x61, 0x73, 0x6d];

// A download that takes longer is taken for one that hangs. The files of a database, which may
// wait for it, are closed then.
const LOADING_MAY_TAKE_MS = 50_000;

const compiled = new Map<string, Promise<WebAssembly.Module>>();
const adopted = new Map<string, SharedModule>();

/**
 * `source` is where the module is, or its bytes, packed by gzip. It is fetched and compiled once in a
 * page, so that a database opens again without a network, and with code that is compiled. @internal
 */
export function compiledModule(source: string | Uint8Array): Promise<WebAssembly.Module> {
  const key = sourceUrl(source);
  let module = compiled.get(key);
  if (module === undefined) {
    const late = () => unusable(String(source), `no answer in ${LOADING_MAY_TAKE_MS / 1000} s`);
    module = inTime(loadModule(source), LOADING_MAY_TAKE_MS, late);
    compiled.set(key, module);
    // The next call tries again.
    module.catch(() => compiled.delete(key));
  }
  return module;
}

/** What this thread compiled, for others of its page. @internal */
export async function sharedModule(source: string | Uint8Array): Promise<SharedModule> {
  return { module: await compiledModule(source), build: WASM_BUILD };
}

/** Takes what another thread of the page compiled, unless it is of another build. @internal */
export function adoptModule(source: string | Uint8Array, shared: SharedModule | undefined): void {
  if (shared?.build !== WASM_BUILD) return;
  adopted.set(sourceUrl(source), shared);
  compiled.set(sourceUrl(source), Promise.resolve(shared.module));
}

/** @internal */
export function adoptedModule(source: string | Uint8Array): SharedModule | undefined {
  return adopted.get(sourceUrl(source));
}

function sourceUrl(source: string | Uint8Array): string {
  return typeof source === "string" ? source : "";
}

async function loadModule(source: string | Uint8Array): Promise<WebAssembly.Module> {
  if (typeof source !== "string") return WebAssembly.compile(await unpacked(source));
  const response = await fetchModule(source);
  if (response.headers.get("content-type") === "application/wasm") {
    try {
      return await WebAssembly.compileStreaming(response);
    } catch (error) {
      throw unusable(source, messageOf(error), error);
    }
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (!MAGIC.every((byte, i) => bytes[i] === byte)) throw unusable(source, whatIs(bytes));
  return WebAssembly.compile(bytes);
}

async function unpacked(bytes: Uint8Array): Promise<ArrayBuffer> {
  if (typeof DecompressionStream === "undefined") {
    throw new KeepsakeError(
      "cannot_open",
      "keepsake/inline needs DecompressionStream, which this browser lacks: import from keepsake, which loads its files as they are",
    );
  }
  const packed = new Blob([bytes as BlobPart]).stream();
  return new Response(packed.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function fetchModule(url: string): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { credentials: "same-origin" });
  } catch (error) {
    throw unusable(url, messageOf(error), error);
  }
  if (!response.ok) throw unusable(url, `the server answered ${response.status}`);
  return response;
}

function whatIs(bytes: Uint8Array): string {
  const start = new TextDecoder().decode(bytes.subarray(0, 100)).trim();
  if (/^<(!doctype|html)/i.test(start)) {
    return "got HTML: the server answered with a page instead of the file";
  }
  return `got something else, which begins with ${JSON.stringify(start.slice(0, 20))}`;
}

function unusable(url: string, why: string, cause?: unknown): KeepsakeError {
  return cannotLoad("keepsake.wasm", `${url}: ${why}`, cause);
}
