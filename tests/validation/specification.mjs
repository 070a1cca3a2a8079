// The official specification of a checkpointer, all of it, on one of our savers.

import { deltaChannelHistoryTests, specTest } from "@langchain/langgraph-checkpoint-validation";

export function describeSpecification(title, initializer) {
  describe(title, () => {
    specTest(initializer);
    deltaChannelHistoryTests(initializer);
  });
}
