// The engine in its worker, as the tab that owns the database runs it: frames in, frames
// out, items of a namespace. `relaxed` is the default, the log flushed by a timer.

import { openStorage } from "../../js/src/browser/storage.ts";
import { openSession } from "../../js/src/engine/session.ts";
import { decodeResponse, encodeRequest } from "../../js/src/wire/codec.ts";
import { serve } from "./measure.mjs";

const STORAGE = new URLSearchParams(location.search).get("storage") ?? "opfs";
const NAMESPACE = ["users", "ada"];
let module;
let storage;
let session;
let sequence = 0;

async function run(operations) {
  const header = { clientId: 1, sequence: ++sequence, now: Date.now(), acknowledged: sequence - 1 };
  const answers = decodeResponse(session.execute(encodeRequest(header, operations)), operations);
  const stored = storage.commit();
  if (stored) await stored;
  return answers;
}

function put(key, text) {
  return { kind: "put", namespace: NAMESPACE, key, value: JSON.stringify({ text }) };
}

serve({
  async load() {
    module = await WebAssembly.compileStreaming(fetch("keepsake.wasm"));
  },
  async open(name) {
    storage = await openStorage({ name, storage: STORAGE, durability: "relaxed" });
    const database = { path: name, durability: "relaxed" };
    session = await openSession({ module, database, files: storage.files, onClose() {} });
  },
  insert: (key, text) => run([put(key, text)]),
  batch: (rows) => run(rows.map(([key, text]) => put(key, text))),
  get: (key) => run([{ kind: "get", namespace: NAMESPACE, key, refreshTtl: false }]),
  // As the owner does it.
  async close() {
    await run([{ kind: "flush" }]);
    session.close();
    storage.close();
  },
});
