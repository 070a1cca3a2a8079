// A file, in a route of Node.

import { openMemory } from "keepsake";

export const dynamic = "force-dynamic";

export async function GET() {
  const memory = await openMemory({ path: process.env.MEMORY_PATH });
  const visits = ((await memory.store.get(["n"], "visits"))?.value.n ?? 0) + 1;
  await memory.store.put(["n"], "visits", { n: visits });
  await memory.close();
  return Response.json([memory.persistence, visits]);
}
