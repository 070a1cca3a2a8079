// Buckets in a page, over servers of another origin.

import { checkBucket, folder, httpBucket, s3 } from "keepsake/bucket";

const make = { folder, httpBucket, s3 };

/** What checkBucket() says of the bucket that `name` makes. */
globalThis.check = (name, options) => checkBucket(make[name](options), { rounds: 2 });

/** What a page reads before something is there, and after. */
globalThis.wait = async (name, options) => {
  const { port } = make[name](options);
  const before = await port.get("waited");
  await port.create("waited", new Uint8Array([1, 2, 3]));
  return [
    before,
    [...(await port.get("waited"))],
    [...(await port.get("waited", { from: 1, to: 9 }))],
  ];
};

globalThis.createTwice = async (name, options) => {
  const { port } = make[name](options);
  const bytes = new Uint8Array([1]);
  return [await port.create("twice", bytes), await port.create("twice", bytes)];
};
