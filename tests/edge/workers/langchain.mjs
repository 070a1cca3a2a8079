// Agents that remember, inside an object.

import { KeepsakeObject } from "keepsake/cloudflare";
import { exchanges, positions, twentyTurns } from "../../js/support/remembering.mjs";
import { serve } from "./serve.mjs";

export class Agent extends KeepsakeObject {
  twentyTurns() {
    return twentyTurns(this.memory);
  }

  exchanges() {
    return exchanges(this.memory);
  }

  positions() {
    return positions(this.memory);
  }
}

const agent = (env, name) => env.AGENT.get(env.AGENT.idFromName(name));

export default serve({
  twentyTurns: (env) => agent(env, "a").twentyTurns(),
  exchanges: (env) => agent(env, "b").exchanges(),
  positions: (env) => agent(env, "c").positions(),
});
