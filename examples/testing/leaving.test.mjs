// One user is hidden from another, and leaves without a trace.

const ada = { user: "ada" };
const bob = { user: "bob" };

export default {
  name: "when Ada leaves",
  // As your program fills it.
  setup: async (memory) => {
    await memory.scoped(ada).store.put(["facts"], "tea", { text: "Ada drinks oolong tea" });
    await memory.scoped(bob).store.put(["facts"], "cat", { text: "Bob has a cat" });
  },
  conversations: [
    { scope: ada, thread: "monday", messages: [{ role: "user", content: "I like oolong tea" }] },
  ],
  tests: [
    {
      name: "Bob sees nothing of her",
      hidden: { scope: ada, from: { scope: bob }, texts: ["oolong"] },
    },
    {
      name: "nothing of her is left",
      forgotten: {
        by: (memory) => memory.scoped(ada).forget(), // or what your program calls
        texts: ["oolong"],
      },
    },
    {
      name: "Bob is still there",
      found: { scope: bob, query: "Who has a cat?", keys: ["cat"] },
    },
  ],
};
