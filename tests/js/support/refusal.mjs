// What a refused call must look like.

import { KeepsakeError } from "keepsake";

async function errorOf(call) {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error("expected the call to be refused, but it succeeded");
}

/** The call throws or rejects with a KeepsakeError of this code whose message matches. */
export async function expectRefused(call, code, message = /./) {
  const error = await errorOf(call);
  expect({ code: error.code, message: error.message }).toEqual({
    code,
    message: expect.stringMatching(message),
  });
  expect(error).toBeInstanceOf(KeepsakeError);
  expect(error).toBeInstanceOf(Error);
  expect(error.message.startsWith("[keepsake] ")).toBe(true);
  return error;
}

/** All that a store holds. */
export async function dumpStore(store) {
  const items = await store.search([], { limit: 1_000_000, refreshTtl: false });
  return { items, namespaces: await store.listNamespaces({ limit: 1_000_000 }) };
}

/** All that a saver holds. */
export async function dumpSaver(saver) {
  const tuples = [];
  for await (const tuple of saver.list({ configurable: {} })) tuples.push(tuple);
  return tuples;
}
