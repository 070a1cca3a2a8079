// A file, in a route of Node.

import { openNotes } from "../memory.js";

export const dynamic = "force-dynamic";

export async function GET() {
  const memory = await openNotes();
  const visits = ((await memory.store.get(["n"], "visits"))?.value.n ?? 0) + 1;
  await memory.store.put(["n"], "visits", { n: visits });
  const { persistence, module } = await memory.diagnose();
  await memory.close();
  return Response.json([persistence, module, visits]);
}
