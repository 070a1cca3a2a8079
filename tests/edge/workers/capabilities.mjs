// Capabilities that are the same on every platform, in a Worker, over objects that end whenever a
// memory is opened anew.

import { InMemoryStore, keepsake } from "keepsake/cloudflare";
import { runTests } from "../../browser/pages/runner.mjs";
import { tryBackend } from "../../js/support/backends.mjs";
import { runCapability } from "../../js/support/capability-cases.mjs";
import { ClockedObject, clocked } from "./clocks.mjs";
import { serve } from "./serve.mjs";

let places = 0;

export class Memory extends ClockedObject {
  rows(statement) {
    return this.ctx.storage.sql.exec(statement).toArray();
  }

  tryOwn() {
    return tryBackend(() => ({ store: this.memory.store, close: () => {} }));
  }

  restart() {
    this.ctx.abort("restarted by a test");
  }
}

function platformOf({ MEMORY }) {
  const objectOf = (name) => MEMORY.get(MEMORY.idFromName(name));
  return {
    newPlace: () => `capability ${places++}`,
    open: (name, options) => clocked(MEMORY, name, options),
    left: (name) =>
      objectOf(name)
        .restart()
        .catch(() => {}),
    sql: (_memory, name, statement) => objectOf(name).rows(statement),
    change: (name, statement) => objectOf(name).rows(statement),
  };
}

export default serve({
  async run(env, title) {
    const { failures } = await runTests(() => {
      it(title, () => runCapability(title, platformOf(env), expect));
    });
    return failures.flatMap(({ state, errors }) => errors ?? state).join("\n");
  },

  /** How the same agent fares over each backend, by its name in the guide. */
  tryEach: async ({ MEMORY }) => ({
    InMemoryStore: await tryBackend(() => new InMemoryStore()),
    "keepsake(env.MEMORY, userId)": await tryBackend(() => keepsake(MEMORY, "guide")),
    KeepsakeObject: await MEMORY.get(MEMORY.idFromName("guide of an object")).tryOwn(),
  }),
});
