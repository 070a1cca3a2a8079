// Writes objects into a folder, beside other processes: folder-worker.mjs <path> race|large <seed>

import { folder } from "keepsake/bucket";

const [path, task, seed] = process.argv.slice(2);
const { port } = folder(path);

// As tests/contract/bucket.mjs makes them, which is for Jest.
function bytesOf(length) {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = i * 31 + Number(seed) * 97 + (i >> 8);
  return bytes;
}

console.log("ready");
for await (const _ of process.stdin);

if (task === "race") {
  const won = [];
  for (let i = 0; i < 100; i++) {
    const key = `log/${i}`;
    if (await port.create(key, bytesOf(500))) won.push(key);
  }
  console.log(`won ${JSON.stringify(won)}`);
} else {
  const large = bytesOf(3_000_000);
  for (let i = 1; ; i++) {
    await port.create(`large/${i}`, large);
    console.log(`created ${i}`);
  }
}
