// Capabilities that are the same on every platform, in a Worker, over objects that end whenever a
// memory is opened anew.

import { InMemoryStore, keepsake } from "keepsake/cloudflare";
import { runTests } from "../../browser/pages/runner.mjs";
import { readOver } from "../../js/support/backends.mjs";
import { runCapability } from "../../js/support/capability-cases.mjs";
import { ClockedObject, clocked } from "./clocks.mjs";
import { serve } from "./serve.mjs";

let places = 0;

export class Memory extends ClockedObject {
  rows(statement) {
    return this.ctx.storage.sql.exec(statement).toArray();
  }

  read() {
    return readOver(this.memory.store);
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

  /** What the same agent finds over each backend, by its name in the guide. */
  readOverEach: async ({ MEMORY }) => ({
    InMemoryStore: await readOver(new InMemoryStore()),
    "keepsake(env.MEMORY, userId)": await readOver(keepsake(MEMORY, "guide").store),
    KeepsakeObject: await MEMORY.get(MEMORY.idFromName("guide of an object")).read(),
  }),
});
