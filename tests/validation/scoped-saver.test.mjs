import { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { openMemory } from "keepsake";
import { describeSpecification } from "./specification.mjs";

// The configs of the specification name no user: here all of them are Ada's, and Bob has the same
// threads beside her. What takes no config is asked of her scope.
class OfAda extends BaseCheckpointSaver {
  #memory;
  #saver;

  constructor(memory) {
    super();
    this.#memory = memory;
    this.#saver = memory.checkpointerFor("user");
  }

  #both(config) {
    return ["bob", "ada"].map((user_id) => ({
      ...config,
      configurable: { ...config.configurable, user_id },
    }));
  }

  async getTuple(config) {
    const [, hers] = this.#both(config);
    const tuple = await this.#saver.getTuple(hers);
    return (
      tuple && { ...tuple, config: plain(tuple.config), parentConfig: plain(tuple.parentConfig) }
    );
  }

  async *list(config, options) {
    const [, hers] = this.#both(config);
    for await (const tuple of this.#saver.list(hers, options)) {
      yield { ...tuple, config: plain(tuple.config), parentConfig: plain(tuple.parentConfig) };
    }
  }

  async put(config, ...more) {
    const [his, hers] = this.#both(config);
    await this.#saver.put(his, ...more);
    return plain(await this.#saver.put(hers, ...more));
  }

  async putWrites(config, ...more) {
    const [his, hers] = this.#both(config);
    await this.#saver.putWrites(his, [], ...more.slice(1));
    await this.#saver.putWrites(hers, ...more);
  }

  getDeltaChannelHistory({ config, channels }) {
    const [, hers] = this.#both(config);
    return this.#saver.getDeltaChannelHistory({ config: hers, channels });
  }

  deleteThread(threadId) {
    return this.#memory.scoped({ user: "ada" }).checkpointer.deleteThread(threadId);
  }

  close() {
    return this.#memory.close();
  }
}

// Without the user and the mark of the place: JSON has no symbols.
function plain(config) {
  if (config === undefined) return undefined;
  const { user_id: _, ...configurable } = JSON.parse(JSON.stringify(config.configurable));
  return { ...config, configurable };
}

describeSpecification("a checkpointer for users meets the official specification", {
  checkpointerName: "keepsake, for users",
  createCheckpointer: async () => new OfAda(await openMemory({ path: ":memory:" })),
  destroyCheckpointer: (saver) => saver.close(),
});
