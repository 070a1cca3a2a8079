// The same memory on a laptop: a file that answers at once, also offline, and syncs with the bucket.
//
//   node laptop.js ada "Which tea do I like?"
//
// Needs: what README.md installs, and a bucket; no key of a model.

import { openMemory } from "keepsake";
import { s3 } from "keepsake/bucket";
import { say } from "./agent.js";

const [user = "ada", text = "What do you know of me?"] = process.argv.slice(2);
const bucket = s3({
  bucket: process.env.MEMORIES ?? "memories",
  region: process.env.AWS_REGION,
  endpoint: process.env.AWS_ENDPOINT_URL,
  accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? "",
  secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? "",
});
const memory = await openMemory({
  path: `${user}.db`,
  sync: { bucket, name: user, device: "laptop" },
});
const inStep = async () => {
  try {
    await memory.sync();
  } catch (error) {
    // What is here answers, and what is said waits in the file.
    console.error(`not in step: ${(error as Error).message}`);
  }
};
await inStep();
console.log(await say(memory, "laptop", text));
await inStep();
const { waiting, lastSync } = await memory.syncStatus();
console.log(`${waiting} calls wait, in step at ${lastSync?.toISOString() ?? "no time"}`);
await memory.close();
