// Our humanInTheLoopMiddleware() beside LangChain's, which is the judge.

import { openMemory } from "keepsake";
import { humanInTheLoopMiddleware } from "keepsake/langchain";
import { createAgent, fakeModel, humanInTheLoopMiddleware as official, tool } from "langchain";
import { z } from "zod";
import { answered, improved, judged, waiting } from "./support/approvals.mjs";
import { expectedRuns, expectImproved } from "./support/approvals-facts.mjs";
import { subagent } from "./support/deep-approvals.mjs";

async function facts(run, approvals) {
  const memory = await openMemory({ path: ":memory:" });
  try {
    return await run({ approvals, memory });
  } finally {
    await memory.close();
  }
}

test.each(Object.keys(judged))("%s: the same as LangChain's own", async (name) => {
  const [theirs, ours] = [
    await facts(judged[name], official),
    await facts(judged[name], humanInTheLoopMiddleware),
  ];
  expect(ours).toEqual(theirs);
  expect(ours.refused ?? 0).toBe(0);
  expect(ours.ran).toEqual(expectedRuns[name]);
});

test.each(Object.keys(improved))("%s: a thread is never lost by an answer", async (name) => {
  expectImproved[name](await facts(improved[name], humanInTheLoopMiddleware), expect);
});

test("a subagent of deepagents asks as with its own option", async () => {
  const ours = await facts(subagent, humanInTheLoopMiddleware);
  expect(ours).toEqual(await facts(subagent, undefined));
  expect(ours).toMatchObject({ before: [], ran: ["send 2"] });
});

test("a mistake in a rule is refused when the middleware is made", () => {
  const made = (interruptOn) => () => humanInTheLoopMiddleware({ interruptOn });
  expect(made({ send: { allowedDecisions: ["accept"] } })).toThrow(
    'interruptOn.send.allowedDecisions must be one of approve, edit, reject: "accept"',
  );
  expect(made({ send: { allowedDecisions: [] } })).toThrow("is empty: nobody could answer");
  expect(made({ send: { allowed: ["approve"] } })).toThrow('did you mean "allowedDecisions"?');
  expect(made({ send: "yes" })).toThrow("interruptOn.send must be true, false or");
  expect(made({ send: { allowedDecisions: ["approve"], when: true } })).toThrow(
    "must be a function",
  );
  expect(made("send")).toThrow("is a rule for each tool by its name");
  expect(() => humanInTheLoopMiddleware({ interupton: {} })).toThrow('did you mean "interruptOn"?');
});

test.each([[undefined], [null], [0], ["yes"]])(
  "a condition that answers %p lets no tool run",
  async (answer) => {
    let runs = 0;
    const send = tool(() => `sent ${++runs}`, { name: "send", schema: z.object({}) });
    const rule = { allowedDecisions: ["approve"], when: async () => answer };
    const agent = createAgent({
      model: fakeModel().respondWithTools([{ name: "send", args: {} }]),
      tools: [send],
      middleware: [humanInTheLoopMiddleware({ interruptOn: { send: rule } })],
    });
    const asked = agent.invoke({ messages: [{ role: "user", content: "send" }] });
    await expect(asked).rejects.toThrow("interruptOn.send.when() must answer true or false");
    expect(runs).toBe(0);
  },
);

test("a thread that waits by LangChain's own is answered by ours, and the other way round", async () => {
  for (const [asks, answers] of [
    [official, humanInTheLoopMiddleware],
    [humanInTheLoopMiddleware, official],
  ]) {
    const memory = await openMemory({ path: ":memory:" });
    await waiting({ approvals: asks, memory });
    expect(await answered({ approvals: answers, memory })).toEqual(["send 1"]);
    await memory.close();
  }
});
