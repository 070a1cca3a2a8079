// The two devices of this browser, and what they share: a bucket on the page's server, the name that
// their memory has in it, and the key that all of it is encrypted with.
import { Device } from "./device.mjs";

// In localStorage, for every tab.
const KEPT = "keepsake-demo:devices";
const BUCKET = "/bucket";
const TITLES = { laptop: "Laptop", phone: "Phone" };

export class Pair {
  devices = [];

  /** → false if this page's server has no bucket. Without a network the devices open, too. */
  async open() {
    const { httpBucket } = await import(new URL("./buckets.js", import.meta.url).href);
    const bucketWith = (fetch) => httpBucket({ url: new URL(BUCKET, location).href, fetch });
    if (!(await isServed(bucketWith()))) return false;
    const shared = kept() ?? newlyKept();
    this.devices = Object.entries(TITLES).map(
      ([name, title]) => new Device({ name, title, bucketWith, ...shared }),
    );
    await Promise.all(this.devices.map((device) => device.open()));
    return true;
  }

  async close() {
    await Promise.all(this.devices.splice(0).map((device) => device.close()));
  }

  /** Both forget all they have, and begin in the bucket under another name. */
  async beginAnew() {
    await Promise.all(this.devices.map((device) => device.forgetEverything()));
    await this.close();
    localStorage.removeItem(KEPT);
  }
}

async function isServed({ port }) {
  try {
    await port.list("", { limit: 1 });
    return true;
  } catch (error) {
    if (error.code === "unreachable") return true;
    if (error.code === "bucket_refused") return false;
    throw error;
  }
}

function kept() {
  const { id, key } = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
  return id && { id, key: new Uint8Array(key) };
}

function newlyKept() {
  const shared = { id: crypto.randomUUID(), key: crypto.getRandomValues(new Uint8Array(32)) };
  localStorage.setItem(KEPT, JSON.stringify({ ...shared, key: [...shared.key] }));
  return shared;
}
