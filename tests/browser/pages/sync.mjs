// A device that syncs with a bucket behind a relay.

import { openMemory } from "keepsake";
import { httpBucket } from "keepsake/bucket";

let memory;
const changes = [];
// Not of the window, which has a `status` and an `open` of its own.
const device = {};
globalThis.device = device;

/** `tab` tells the relay who asks. */
device.open = async ({ name, url, tab, ...options }) => {
  const bucket = httpBucket({ url, headers: { "x-tab": tab } });
  memory = await openMemory({ name, ...options, sync: { bucket, name: "ada", ...options.sync } });
  memory.onChange((one) => changes.push(one));
  return memory.persistence;
};
device.put = (key, value) => memory.store.put(["n"], key, value);
device.items = async () =>
  (await memory.store.search(["n"], { limit: 100 })).map(({ key, value }) => [key, value]).sort();
device.sync = () => memory.sync();
device.close = () => memory.close();
device.status = async () => {
  const { error, ...status } = await memory.syncStatus();
  return { ...status, error: error?.code };
};
device.changes = () => changes;
/** What a page without storage of its own finds in the bucket itself, where it leaves something. */
device.inBucket = async (url, key) => {
  const bucket = httpBucket({ url, headers: { "x-tab": "" } });
  const own = await openMemory({ bucket, name: "ada", key });
  const found = await own.store.search(["n"], { query: "tea", limit: 10 });
  await own.store.put(["n"], "from a page", { text: "black tea" });
  const { persistence } = own;
  await own.close();
  return { persistence, found: found.map((item) => item.key) };
};
let receipt;
device.forget = async () => {
  receipt = await memory.forget({ namespaces: [["n"]] });
  return receipt;
};
device.checkReceipt = () => memory.checkReceipt(receipt);
