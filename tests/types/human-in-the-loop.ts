// Our humanInTheLoopMiddleware() takes what LangChain's own takes.

import { createAgent, fakeModel, type HumanInTheLoopMiddlewareConfig } from "langchain";
import { humanInTheLoopMiddleware } from "../../js/src/langchain.js";

export const taking = (theirs: NonNullable<HumanInTheLoopMiddlewareConfig>) =>
  humanInTheLoopMiddleware(theirs);

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
