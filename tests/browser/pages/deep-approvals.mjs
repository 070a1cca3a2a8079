// A deep agent, one of whose subagents waits for a human, in a page.

import { installInterruptShim, openMemory } from "keepsake";
import { humanInTheLoopMiddleware } from "keepsake/langchain";
import { subagent } from "../../js/support/deep-approvals.mjs";

installInterruptShim(); // deepagents' own tool asks for the state of its graph

globalThis.run = async () => {
  const memory = await openMemory({ name: "deep" });
  try {
    return await subagent({ approvals: humanInTheLoopMiddleware, memory });
  } finally {
    await memory.close();
  }
};
