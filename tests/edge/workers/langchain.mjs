// Agents that remember, inside an object.

import { KeepsakeObject } from "keepsake/cloudflare";
import {
  besideWindow,
  exchanges,
  lessons,
  newest,
  notebook,
  positions,
  shownGraph,
  threeTools,
  twentyTurns,
} from "../../js/support/remembering.mjs";
import { serve } from "./serve.mjs";

const agents = {
  besideWindow,
  exchanges,
  lessons,
  newest,
  notebook,
  positions,
  shownGraph,
  threeTools,
  twentyTurns,
};

export class Agent extends KeepsakeObject {
  run(name) {
    return agents[name](this.memory);
  }
}

export default serve({
  run: (env, name) => env.AGENT.get(env.AGENT.idFromName(name)).run(name),
});
