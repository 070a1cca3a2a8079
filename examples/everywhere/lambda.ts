// A function on AWS Lambda, which has no disk that lasts: the memory of each user lives in S3.
//
//   POST /users/ada/threads/1   the text that she says   → what the agent answers
//
// Needs: what README.md installs, and a bucket; no key of a model.

import { type Memory, openMemory } from "keepsake";
import { s3 } from "keepsake/bucket";
import { say } from "./agent.js";

const bucket = s3({
  bucket: process.env.MEMORIES ?? "memories",
  region: process.env.AWS_REGION,
  endpoint: process.env.AWS_ENDPOINT_URL,
  accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? "",
  secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? "",
  sessionToken: process.env.AWS_SESSION_TOKEN,
});

// Open as long as this copy of the function lives: a call that finds it reads what is new alone.
const memories = new Map<string, Promise<Memory>>();

function memoryOf(user: string): Promise<Memory> {
  const open = memories.get(user) ?? openMemory({ bucket, name: user, log: { device: "lambda" } });
  memories.set(user, open);
  open.catch(() => memories.delete(user));
  return open;
}

export async function handler(event: { rawPath: string; body?: string }) {
  const [, users, user, , thread] = event.rawPath.split("/");
  if (users !== "users" || !user || !thread) return { statusCode: 404, body: "not found\n" };
  // Your program knows who asks: take the user from what they signed in with, not from the path.
  const memory = await memoryOf(user);
  return { statusCode: 200, body: await say(memory, thread, event.body ?? "") };
}
