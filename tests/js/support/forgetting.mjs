// A memory of two users, one of whom is to be forgotten. Runs in Node, in pages and in workerd.

/** In all that belongs to Ada, and in nothing else. */
// A word as it stands in an index of words, too.
export const SECRET = "secretofada";
export const index = { dims: 3, embeddings: (texts) => texts.map((text) => [text.length, 1, 2]) };

const checkpointOf = (id, messages) => ({
  v: 4,
  id,
  ts: "2026-01-01T00:00:00.000Z",
  channel_values: { messages },
  channel_versions: { messages: messages.length },
  versions_seen: {},
});
const idOf = (step) => `1ef4f797-8335-6428-8001-${String(step).padStart(12, "0")}`;

/** Ada's and Bob's items and threads; Bob has a fork of the first half of Ada's. */
export async function fill(memory) {
  const ada = memory.scoped({ user: "ada" });
  const bob = memory.scoped({ user: "bob" });
  const messages = [];
  for (let i = 0; i < 30; i++) {
    await ada.store.put(["facts"], `${SECRET}-${i}`, { text: `told ${SECRET} ${i}`, n: i });
    await bob.store.put(["facts"], `k${i}`, { text: "bob's own" });
    messages.push({ role: "user", content: i < 15 ? `shared ${i}` : `${SECRET} ${i}` });
    for (const [saver, told] of [
      [ada.checkpointer, messages],
      [bob.checkpointer, ["bob's own"]],
    ]) {
      const at = { thread_id: "t", checkpoint_ns: "", checkpoint_id: i ? idOf(i - 1) : undefined };
      const config = await saver.put(
        { configurable: at },
        checkpointOf(idOf(i), [...told]),
        { source: "loop", step: i, parents: {} },
        { messages: told.length },
      );
      await saver.putWrites(config, [["messages", told.at(-1)]], "task");
    }
  }
  await ada.store.search([], { query: "told" });
  await memory.checkpointer.forkThread("user/ada/t", idOf(14), "user/bob/fork");
  return { ada, bob };
}

export const checkpointsOf = async (saver, thread_id) => {
  const found = [];
  for await (const tuple of saver.list({ configurable: { thread_id } })) found.push(tuple);
  return found;
};

/** Forgets Ada, and says what is there then. */
export async function forgetAda(memory) {
  const { ada, bob } = await fill(memory);
  const fork = JSON.stringify(await checkpointsOf(bob.checkpointer, "fork"));
  const receipt = await ada.forget();
  return {
    erased: receipt.erased,
    hers: (await ada.store.search([], { query: "told" })).length,
    herThread: (await checkpointsOf(ada.checkpointer, "t")).length,
    his: (await bob.store.search([], { query: "own", limit: 50 })).length,
    isForkKept: JSON.stringify(await checkpointsOf(bob.checkpointer, "fork")) === fork,
    check: await ada.checkReceipt(receipt),
    revoked: await revokePage(bob),
  };
}

// Of two items from the web, that of one page.
async function revokePage(memory) {
  const { store } = memory;
  const source = "https://bad.example/";
  await store.put(["pages"], "bad", { text: "poison" }, undefined, { origin: "web", source });
  await store.put(["pages"], "good", { text: "news" }, undefined, { origin: "web" });
  const { erased } = await memory.revoke({ source });
  const left = await store.search(["pages"]);
  return [erased.items, ...left.map(({ key, origin }) => `${key} of the ${origin}`)];
}

/** What `forgetAda()` says. */
export const forgotten = ({ scrubbed }) => ({
  hers: 0,
  herThread: 0,
  his: 30,
  isForkKept: true,
  check: { isGenuine: true, scrubbed, found: { items: 0, threads: 0 } },
  revoked: [1, "good of the web"],
});
