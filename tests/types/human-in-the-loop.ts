// Our humanInTheLoopMiddleware() has the types of LangChain's own.

import { createAgent, fakeModel, type humanInTheLoopMiddleware as official } from "langchain";
import { humanInTheLoopMiddleware } from "../../js/src/langchain.js";

export const ours: typeof official = humanInTheLoopMiddleware;

const agent = createAgent({
  model: fakeModel(),
  tools: [],
  middleware: [
    humanInTheLoopMiddleware({
      interruptOn: {
        send: true,
        look: false,
        pay: {
          allowedDecisions: ["approve", "reject"],
          description: (call) => call.name,
          when: ({ toolCall }) => toolCall.args.sum > 100,
        },
      },
    }),
  ],
});

export const run = () =>
  agent.invoke({ messages: [] }, { context: { interruptOn: { look: true } } });

// @ts-expect-error: there is no such decision
humanInTheLoopMiddleware({ interruptOn: { send: { allowedDecisions: ["accept"] } } });
