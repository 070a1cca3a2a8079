// Calls of tools that wait for a human, in a page: with LangGraph's build for browsers, which has no
// AsyncLocalStorage.

import { openMemory } from "keepsake";
import { humanInTheLoopMiddleware } from "keepsake/langchain";
import { humanInTheLoopMiddleware as official } from "langchain";
import { answered, improved, judged, waiting } from "../../js/support/approvals.mjs";

const all = { ...judged, ...improved, waiting, answered };

/** What the agent of this name answers over the database `name`. */
globalThis.run = async (agent, name, ...more) => {
  const memory = await openMemory({ name });
  try {
    const approvals = humanInTheLoopMiddleware;
    return {
      ...(await all[agent]({ approvals, memory }, ...more)),
      persistence: memory.persistence,
    };
  } finally {
    await memory.close();
  }
};

/** Why ours is needed: what LangChain's own says here. */
globalThis.runOfficial = async () => {
  const memory = await openMemory({ name: "official" });
  try {
    return await waiting({ approvals: official, memory });
  } catch (error) {
    return `${error.message}`;
  } finally {
    await memory.close();
  }
};
