// The same task ten times, with and without episodes: what worked is done again, what failed is
// not. Fifty rounds, so that luck tells little.
//
// Needs: Node 22.18, and what README.md installs; no key.

import { openMemory } from "keepsake";
import { type Episodes, episodes } from "keepsake/langchain";
import { AIMessage, fakeModel } from "langchain";

const ROUNDS = 50;
const TRIES = 10;
const DOOR = "a locked iron gate";
const ACTIONS = ["push it", "pull it", "knock", "pick the lock", "kick it in", "turn the key"];

// Numbers from 0 to 1, the same in each run of this program.
let seed = 1;
function random(): number {
  seed = (seed * 48271) % 2147483647;
  return seed / 2147483647;
}

// In the place of a model of yours: it takes what worked, never what failed, else any.
function choose(prompt: string): string {
  const known = (verdict: string) =>
    ACTIONS.filter((action) => prompt.includes(`- ${verdict}: ${action} (`));
  const failed = known("FAILED");
  const left = ACTIONS.filter((action) => !failed.includes(action));
  return known("worked")[0] ?? (left[Math.floor(random() * left.length)] as string);
}

async function tryOnce(right: string, tries?: Episodes): Promise<boolean> {
  const lessons = (await tries?.lessons(DOOR, { limit: TRIES })) ?? "";
  const model = fakeModel().respond(([system]) => new AIMessage(choose(system?.text ?? "")));
  const { text: action } = await model.invoke([
    ["system", `Open the door.\n${lessons}`],
    ["user", `You stand before ${DOOR}.`],
  ]);
  const opened = action === right;
  const outcome = opened ? "it opened" : "nothing moved";
  await tries?.record({ state: DOOR, action, outcome, reward: opened ? 1 : -1 });
  return opened;
}

const memory = await openMemory({ path: ":memory:" });
for (const remembers of [false, true]) {
  const opened = Array<number>(TRIES).fill(0);
  for (let round = 0; round < ROUNDS; round++) {
    const right = ACTIONS[round % ACTIONS.length] as string;
    const tries = episodes(memory, { namespace: ["doors", `round ${round}`] });
    for (let i = 0; i < TRIES; i++) {
      if (await tryOnce(right, remembers ? tries : undefined)) opened[i] = (opened[i] ?? 0) + 1;
    }
  }
  const rates = opened.map((count) => `${(100 * count) / ROUNDS}`.padStart(3));
  console.log(`${remembers ? "with   " : "without"} episodes, % by try: ${rates.join(" ")}`);
}
await memory.close();
