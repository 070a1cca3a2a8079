// Agents that remember, in a page.

import { openMemory } from "keepsake";
import { agents } from "../../js/support/remembering.mjs";

/** What the agent of this name answers over a database of its own. */
globalThis.run = async (name) => agents[name](await openMemory({ name }));
