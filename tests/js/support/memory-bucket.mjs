// A bucket in memory, as a port whose parts a test may replace, and as a bucket that counts.

import { customBucket } from "keepsake/bucket";

/** The four functions, and the objects that they see. */
export function memoryPort(objects = new Map()) {
  return {
    objects,
    port: {
      async get(key, range) {
        return objects.get(key)?.slice(range?.from, range?.to);
      },
      async create(key, bytes) {
        if (objects.has(key)) return false;
        objects.set(key, bytes.slice());
        return true;
      },
      async list(prefix, { after = "", limit } = {}) {
        const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after);
        return keys.sort().slice(0, limit);
      },
      async delete(key) {
        objects.delete(key);
      },
    },
  };
}

/** A bucket for openMemory(), its port, what it holds, and how often each function was called. */
export function memoryBucket() {
  const { objects, port: inner } = memoryPort();
  const requests = { get: 0, create: 0, list: 0, delete: 0 };
  const counted = (name) => [
    name,
    (...args) => {
      requests[name]++;
      return inner[name](...args);
    },
  ];
  const port = Object.fromEntries(Object.keys(requests).map(counted));
  return { objects, requests, port, bucket: customBucket(port, "a bucket in memory") };
}
