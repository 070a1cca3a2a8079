// Starts workerd with a Worker, and calls what that offers.

import { Miniflare } from "miniflare";
import { removeTemporaryFolders } from "../../js/support/temporary.mjs";
import { bundleWorker } from "./bundle.mjs";

const running = new Set();

/**
 * `classes` are its Durable Objects: binding to name. With `persist` they are kept in
 * that folder, else they are gone with the process. `flags` are compatibility flags, `buckets` the
 * bindings of R2.
 */
export async function startWorkerd(
  name,
  { classes = {}, buckets = [], persist, flags = ["nodejs_compat"], bundle } = {},
) {
  const { modules } = bundle ?? (await bundleWorker(`tests/edge/workers/${name}.mjs`));
  const objects = Object.entries(classes).map(([binding, className]) => [
    binding,
    { className, useSQLite: true },
  ]);
  const errors = [];
  const miniflare = new Miniflare({
    modules,
    compatibilityDate: "2026-04-01",
    compatibilityFlags: flags,
    durableObjects: Object.fromEntries(objects),
    r2Buckets: buckets,
    ...(persist !== undefined && { durableObjectsPersist: persist }),
    handleRuntimeStdio(_output, error) {
      error.on("data", (text) => errors.push(String(text)));
    },
  });
  running.add(miniflare);
  return {
    errors,
    miniflare,
    /** What `method` of the Worker answers to these arguments. */
    async call(method, ...args) {
      const response = await miniflare.dispatchFetch(`http://worker/${method}`, {
        method: "POST",
        body: JSON.stringify(args),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method}: ${text}\n${errors.join("")}`);
      return text === "" ? undefined : JSON.parse(text);
    },
    /** Ends the process, without asking it. */
    async kill() {
      running.delete(miniflare);
      await miniflare.dispose();
    },
  };
}

export async function cleanUp() {
  for (const miniflare of running) await miniflare.dispose().catch(() => {});
  running.clear();
  removeTemporaryFolders();
}
