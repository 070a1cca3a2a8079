// What a page would write by hand: an object store, one transaction per write.

import { serve } from "./measure.mjs";

let database;

function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function write(rows) {
  const transaction = database.transaction("kv", "readwrite", { durability: "relaxed" });
  for (const [key, text] of rows) transaction.objectStore("kv").put(text, key);
  transaction.commit();
  return new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
}

serve({
  async open(name) {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("kv");
    database = await done(request);
  },
  insert: (key, text) => write([[key, text]]),
  batch: (rows) => write(rows),
  get: (key) => done(database.transaction("kv").objectStore("kv").get(key)),
  close: () => database.close(),
});
