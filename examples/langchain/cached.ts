// A node whose answers last: the second process does not ask the slow service again.
//
// Needs: Node 22.18, and what README.md installs; no key.

import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { openMemory } from "keepsake";

const State = Annotation.Root({ city: Annotation<string>(), weather: Annotation<string>() });

async function ask(city: string): Promise<void> {
  const memory = await openMemory({ path: "cached.db" });
  let asked = 0;
  const graph = new StateGraph(State)
    .addNode(
      "forecast",
      async (state: typeof State.State) => {
        asked += 1; // a service that is slow, or costs money
        return { weather: `sunny in ${state.city}` };
      },
      { cachePolicy: { ttl: 600 } },
    )
    .addEdge(START, "forecast")
    .compile({ cache: memory.cache });
  const { weather } = await graph.invoke({ city });
  console.log(`${weather}, asked ${asked} times`);
  await memory.close();
}

await ask("Porto");
await ask("Porto"); // as another process would
await ask("Oslo");
