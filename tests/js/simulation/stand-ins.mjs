// What the code under test has in place of a host's clocks, timers and chance. Each is of the
// process that runs at the moment. Digests, ciphers and deflate are the real ones, called
// synchronously: a thread pool would answer in an order of its own.

import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";

const TAG_BYTES = 16;

/** The world that runs. */
let world;

export function enter(next) {
  world = next;
  outsider = 1;
}

// Chance where no process is, as in what a test looks at afterwards.
let outsider = 1;

function fill(into) {
  const bytes = new Uint8Array(into.buffer, into.byteOffset, into.byteLength);
  const process = world?.current;
  if (process !== undefined) process.bytes(bytes);
  else for (let i = 0; i < bytes.length; i++) bytes[i] = outsider = (outsider * 75) % 65_537;
  return into;
}

const subtle = {
  async digest(_, bytes) {
    return bufferOf(createHash("sha256").update(bytes).digest());
  },
  async importKey(_, bytes) {
    return Buffer.from(bytes);
  },
  async deriveBits({ salt, info }, key, bits) {
    return hkdfSync("sha256", key, salt, info, bits / 8);
  },
  async encrypt({ iv, additionalData }, key, bytes) {
    const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(additionalData);
    return bufferOf(Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]));
  },
  async decrypt({ iv, additionalData }, key, bytes) {
    if (bytes.length < TAG_BYTES) throw new Error("it is too short");
    const decipher = createDecipheriv("aes-256-gcm", key, iv).setAAD(additionalData);
    decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
    const body = bytes.subarray(0, bytes.length - TAG_BYTES);
    return bufferOf(Buffer.concat([decipher.update(body), decipher.final()]));
  },
};

function bufferOf(buffer) {
  return buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.length);
}

// As much of a TransformStream as squeeze.ts uses.
function streamOf(transform) {
  return class {
    constructor() {
      const parts = [];
      let result;
      const done = new Promise((resolve) => {
        this.writable = {
          getWriter: () => ({
            async write(bytes) {
              parts.push(bytes);
            },
            async close() {
              try {
                result = { value: new Uint8Array(transform(Buffer.concat(parts))) };
              } catch (error) {
                // As a stream says it.
                result = { error: new TypeError(error.message) };
              }
              resolve();
            },
          }),
        };
      });
      this.readable = {
        getReader: () => ({
          async read() {
            await done;
            if (result === undefined) return { done: true };
            const { value, error } = result;
            result = undefined;
            if (error !== undefined) throw error;
            return { done: false, value };
          },
          async cancel() {},
        }),
      };
    }
  };
}

/** By the names that bundle.mjs puts in. */
export const standIns = {
  now: () => world?.current?.now() ?? 0,
  elapsed: () => world?.current?.elapsed() ?? 0,
  random: () => world?.current?.random() ?? 0.5,
  crypto: { subtle, getRandomValues: fill, randomUUID: () => uuid(fill(new Uint8Array(16))) },
  CompressionStream: streamOf((bytes) => deflateRawSync(bytes, { level: 1 })),
  DecompressionStream: streamOf((bytes) => inflateRawSync(bytes)),
  setTimeout: (run, ms = 0, ...given) => world.after(ms, () => run(...given)),
  clearTimeout: (cancel) => cancel?.(),
  setInterval() {
    throw new Error("no interval was expected in a simulation");
  },
  clearInterval() {},
};

globalThis.keepsakeSimulation = standIns;

function uuid(bytes) {
  const hex = Buffer.from(bytes).toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
