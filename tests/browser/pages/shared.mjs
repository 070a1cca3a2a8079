// A shared or a service worker that has a memory: does what it is asked for through a port.

import { openMemory } from "keepsake";

let memory;

const CALLS = {
  open: async (options) => {
    memory = await openMemory(options);
    return memory.persistence;
  },
  put: (key, n) => memory.store.put(["n"], key, { n }),
  get: async (key) => (await memory.store.get(["n"], key))?.value.n,
};

async function answer({ data: [call, ...args], ports: [port] }) {
  try {
    port.postMessage({ value: await CALLS[call](...args) });
  } catch ({ code, message }) {
    port.postMessage({ code, message });
  }
}

globalThis.onmessage = answer;
globalThis.onconnect = ({ ports: [port] }) => {
  port.onmessage = answer;
};
