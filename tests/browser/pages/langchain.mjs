// Agents that remember, in a page.

import { openMemory } from "keepsake";
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

/** What the agent of this name answers over a database of its own. */
globalThis.run = async (name) => agents[name](await openMemory({ name }));
