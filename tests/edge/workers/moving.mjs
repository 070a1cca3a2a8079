// Memories that come and go, through a stub, inside an object, and by streams over RPC.

import { KeepsakeObject, keepsake } from "keepsake/cloudflare";
import { describeMemory, fill, options, talk } from "../support/travelling-memory.mjs";

export class Memory extends KeepsakeObject {
  memoryOptions() {
    return options;
  }

  exportMemory() {
    return this.memory.exportStream();
  }

  async importMemory(stream) {
    await this.memory.import(stream);
  }

  describe() {
    return describeMemory(this.memory);
  }

  large(bytes) {
    return large(this.memory, bytes);
  }
}

const methods = {
  fill: (memory, amount) => fill(memory, amount),
  talk: ({ checkpointer }, ...args) => talk(checkpointer, ...args),
  put: ({ store }, key, value) => store.put(["notes", "n0"], key, value),
  describe: describeMemory,
  stats: ({ store }) => store.stats(),
  reembed: ({ store }) => store.reembed(),
  keys: ({ store }) => store.listKeys(["notes", "n0"]),
  unfinished: (memory) => memory.unfinishedImport(),
  discard: (memory) => memory.discardImport(),
  large,
};

/** A channel value and a pending write of so many bytes, and an item. */
async function large({ checkpointer, store }, bytes) {
  const text = `${"0123456789".repeat(bytes / 10 - 1)}the end...`;
  const checkpoint = {
    v: 4,
    id: "1ef4f797-8335-6428-8001-000000000001",
    ts: "2026-01-01T00:00:00.000Z",
    channel_values: { text },
    channel_versions: { text: 1 },
    versions_seen: {},
  };
  const thread = { configurable: { thread_id: "large", checkpoint_ns: "" } };
  const metadata = { source: "loop", step: 0, parents: {} };
  const config = await checkpointer.put(thread, checkpoint, metadata, { text: 1 });
  await checkpointer.putWrites(config, [["text", text]], "task");
  const tuple = await checkpointer.getTuple(thread);
  const isSame = (value) => value === text;
  let item;
  try {
    await store.put(["n"], "large", { text });
  } catch ({ code, message }) {
    item = { code, message };
  }
  return {
    value: isSame(tuple.checkpoint.channel_values.text),
    write: isSame(tuple.pendingWrites[0][2]),
    item,
  };
}

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const name = searchParams.get("name") ?? "a";
    const object = env.MEMORY.getByName(name);
    const memory = keepsake(env.MEMORY, name, options);
    try {
      switch (pathname) {
        case "/export": {
          const resume = searchParams.get("resume") ?? undefined;
          return new Response(memory.exportStream({ resume }));
        }
        case "/import":
          await memory.import(request.body);
          return Response.json(null);
        // Over HTTP a client may lose the answer if its body is not read to the end.
        case "/whole":
          await memory.import((await request.blob()).stream());
          return Response.json(null);
        case "/between": {
          const other = keepsake(env.MEMORY, searchParams.get("other"), options);
          await other.import(memory.exportStream());
          return Response.json(null);
        }
        // What it was given first, and what was missing.
        case "/part": {
          const reader = memory.exportStream().getReader();
          const pieces = [];
          while (pieces.length < 3) pieces.push((await reader.read()).value);
          await reader.cancel();
          const other = keepsake(env.MEMORY, searchParams.get("other"), options);
          await other.import(new Blob(pieces));
          return Response.json(null);
        }
        case "/rest": {
          const other = keepsake(env.MEMORY, searchParams.get("other"), options);
          const resume = await other.unfinishedImport();
          await other.import(memory.exportStream({ resume }));
          return Response.json(resume.split(".")[1]);
        }
        case "/rpc": {
          const other = env.MEMORY.getByName(searchParams.get("other"));
          await other.importMemory(await object.exportMemory());
          return Response.json(await other.describe());
        }
        case "/inside":
          return Response.json(await object.large(...(await request.json())));
        default: {
          const args = await request.json();
          return Response.json((await methods[pathname.slice(1)](memory, ...args)) ?? null);
        }
      }
    } catch (error) {
      return Response.json({ code: error.code, message: error.message, stack: error.stack });
    }
  },
};
