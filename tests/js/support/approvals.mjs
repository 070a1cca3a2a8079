// Agents whose calls of tools wait for a human: run in Node with LangChain's own middleware, which
// is the judge, in Node with ours, and in a page with ours. Each answers plain facts.

import { Annotation, Command, START, StateGraph } from "@langchain/langgraph";
import { AIMessage, createAgent, fakeModel, tool } from "langchain";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export const callsOf = (...calls) =>
  new AIMessage({
    content: "",
    tool_calls: calls.map(([name, x], i) => ({
      name,
      args: { x },
      id: `c${i}`,
      type: "tool_call",
    })),
  });

/** A tool that notes that it ran. */
export function noting(name, ran) {
  const properties = { x: { type: "string" } };
  const schema = { type: "object", properties, required: ["x"] };
  return tool(({ x }) => `${name} of ${ran.push(`${name} ${x}`) && x}`, {
    name,
    description: name,
    schema,
  });
}

export const said = (messages) =>
  messages.map(({ type, text, tool_calls = [], status, name }) => {
    const calls = tool_calls.map((call) => `${call.name} ${call.args.x} ${call.id}`);
    return [type, text, ...calls, ...(type === "tool" ? [status ?? "", name] : [])].join(" | ");
  });

export const questions = ({ __interrupt__: asked = [] }) => asked.map(({ value }) => value);

/** An agent that wants these calls, and what is told of it. */
function scene({ approvals, memory }, interruptOn, calls, options = {}) {
  const ran = [];
  const model = fakeModel().respond(callsOf(...calls));
  for (const text of ["Done.", "Once more."]) model.respond(new AIMessage(text));
  const agent = createAgent({
    model,
    tools: ["send", "pay", "look"].map((name) => noting(name, ran)),
    middleware: [approvals({ interruptOn, ...options })],
    checkpointer: memory.checkpointer,
  });
  return { agent, ran, model };
}

export const go = { messages: [{ role: "user", content: "Go." }] };
export const threadOf = (thread_id) => ({ configurable: { thread_id } });
export const answer = (...decisions) => new Command({ resume: { decisions } });

/** Asks, and gives the answers one after another, each of which may be refused. */
async function asked(given, interruptOn, calls, answers, options, context) {
  const { agent, ran, model } = scene(given, interruptOn, calls, options);
  const config = { ...threadOf("1"), ...(context && { context }) };
  const first = await agent.invoke(go, config);
  const facts = { asked: questions(first), before: [...ran], refused: 0 };
  let last = first;
  for (const one of answers) {
    try {
      last = await agent.invoke(one, config);
    } catch (error) {
      facts.refused++;
      facts.error = `${error.code ?? error.cause?.code}`;
    }
  }
  const { next } = await agent.getState(config);
  return {
    ...facts,
    ran,
    next,
    messages: said(last.messages),
    sent: model.calls.map(({ messages }) => said(messages)),
    still: questions(last),
  };
}

const approve = { type: "approve" };
export const edit = (name, x) => ({ type: "edit", editedAction: { name, args: { x } } });
const reject = (message) => ({ type: "reject", ...(message !== undefined && { message }) });
const rules = { send: true, pay: { allowedDecisions: ["approve", "reject"] }, look: false };

/** With the same answers as LangChain's own. */
export const judged = {
  approved: (given) => asked(given, rules, [["send", "1"]], [answer(approve)]),
  edited: (given) => asked(given, rules, [["send", "1"]], [answer(edit("pay", "2"))]),
  rejected: (given) => asked(given, rules, [["send", "1"]], [answer(reject())]),
  rejectedWithMessage: (given) => asked(given, rules, [["send", "1"]], [answer(reject("No."))]),
  mixed: (given) =>
    asked(
      given,
      rules,
      [
        ["send", "1"],
        ["look", "2"],
        ["pay", "3"],
        ["send", "4"],
      ],
      [answer(approve, approve, edit("send", "5"))],
    ),
  mixedWithRejection: (given) =>
    asked(
      given,
      rules,
      [
        ["send", "1"],
        ["pay", "2"],
        ["send", "3"],
      ],
      [answer(approve, reject("Too much."), edit("look", "4"))],
    ),
  free: (given) =>
    asked(
      given,
      rules,
      [
        ["look", "1"],
        ["look", "2"],
      ],
      [],
    ),
  noRules: (given) => asked(given, undefined, [["send", "1"]], []),
  noCalls: (given) => asked(given, rules, [], []),
  described: (given) =>
    asked(
      given,
      {
        send: {
          allowedDecisions: ["approve", "edit"],
          description: "Look twice.",
          argsSchema: { type: "object", properties: { x: { type: "string" } } },
        },
        pay: {
          allowedDecisions: ["approve"],
          description: async ({ name, args }, { messages }, { configurable }) => {
            await pause(5);
            return `${name} ${args.x} after ${messages[0].text} in ${configurable.thread_id}`;
          },
        },
        look: true,
      },
      [
        ["send", "1"],
        ["pay", "2"],
        ["look", "3"],
      ],
      [answer(approve, approve, approve)],
      { descriptionPrefix: "Please look" },
    ),
  when: (given) =>
    asked(
      given,
      {
        send: { allowedDecisions: ["approve"], when: ({ toolCall }) => toolCall.args.x === "2" },
        pay: {
          allowedDecisions: ["approve"],
          when: async ({ state }) => {
            await pause(5);
            return state.messages.length > 5;
          },
        },
      },
      [
        ["send", "1"],
        ["send", "2"],
        ["pay", "3"],
      ],
      [answer(approve)],
    ),
  byRun: (given) =>
    asked(given, rules, [["look", "1"]], [answer(approve)], {}, { interruptOn: { look: true } }),
  /** Again after the answer: each turn asks anew. */
  async twice(given) {
    const { agent, ran, model } = scene(given, rules, [["send", "1"]]);
    const config = threadOf("1");
    await agent.invoke(go, config);
    await agent.invoke(answer(approve), config);
    model.respond(new AIMessage("Fine."));
    const second = await agent.invoke(go, config);
    return { ran, messages: said(second.messages), asked: questions(second) };
  },
  /** By the id of the interrupt, as LangChain's UI answers. */
  async byId(given) {
    const { agent, ran } = scene(given, rules, [["send", "1"]]);
    const config = threadOf("1");
    const [{ id }] = (await agent.invoke(go, config)).__interrupt__;
    const resume = { [id]: { decisions: [approve] } };
    const { messages } = await agent.invoke(new Command({ resume }), config);
    return { ran, messages: said(messages) };
  },
  /** The agent is a node of a graph; and two are, at the same time. */
  async subgraphs(given) {
    const one = scene(given, rules, [["send", "1"]]);
    const two = scene(given, rules, [["pay", "2"]]);
    const Outer = Annotation.Root({
      log: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }),
    });
    const node =
      ({ agent }) =>
      async (_, config) => ({ log: said((await agent.invoke(go, config)).messages) });
    const graph = new StateGraph(Outer)
      .addNode("one", node(one))
      .addNode("two", node(two))
      .addEdge(START, "one")
      .addEdge(START, "two")
      .compile({ checkpointer: given.memory.checkpointer });
    const first = await graph.invoke({ log: [] }, threadOf("outer"));
    const resume = Object.fromEntries(
      first.__interrupt__.map(({ id, value }) => [
        id,
        {
          decisions: [value.actionRequests[0].name === "send" ? edit("send", "5") : reject("No.")],
        },
      ]),
    );
    const { log } = await graph.invoke(new Command({ resume }), threadOf("outer"));
    return {
      asked: questions(first).map(({ actionRequests }) => actionRequests),
      log,
      ran: [one.ran, two.ran],
    };
  },
  /** Two runs at the same time, and a third graph that is started while they wait. */
  async together(given) {
    const slow = { ...rules.pay, description: () => pause(20).then(() => "slowly") };
    const { agent, ran } = scene(given, { send: true, pay: slow }, [["send", "1"]]);
    const other = scene(given, { send: true, pay: slow }, [["pay", "2"]]);
    const bystander = new StateGraph(Annotation.Root({ thread: Annotation() }))
      .addNode("only", (_, { configurable }) => ({ thread: `${configurable.thread_id}` }))
      .addEdge(START, "only")
      .compile();
    const beside = pause(5).then(() => bystander.invoke({}, { configurable: {} }));
    const [a, b] = await Promise.all([
      agent.invoke(go, threadOf("a")),
      other.agent.invoke(go, threadOf("b")),
    ]);
    const [c, d] = await Promise.all([
      agent.invoke(answer(edit("send", "3")), threadOf("a")),
      other.agent.invoke(answer(reject("No.")), threadOf("b")),
    ]);
    return {
      asked: [a, b].flatMap(questions),
      messages: [c, d].map(({ messages }) => said(messages)),
      ran: [ran, other.ran],
      beside: await beside,
    };
  },
};

/** Where ours differs: LangChain's keeps a wrong answer for ever, and calls that nothing answers. */
export const improved = {
  tooFew: (given) =>
    asked(
      given,
      rules,
      [
        ["send", "1"],
        ["pay", "2"],
      ],
      [answer(approve), answer(approve, approve, approve), answer(approve, approve)],
    ),
  notAllowed: (given) =>
    asked(
      given,
      rules,
      [["pay", "1"]],
      [answer(edit("pay", "2")), answer({ type: "respond" }), answer(approve)],
    ),
  noDecisions: (given) =>
    asked(
      given,
      rules,
      [["send", "1"]],
      [
        new Command({ resume: "yes" }),
        new Command({ resume: { decisions: "approve" } }),
        answer({ type: "edit" }),
        answer({ type: "edit", editedAction: { name: "send" } }),
        answer({ type: "reject", message: 7 }),
        answer(null),
        answer(approve),
      ],
    ),
  rejectedBesideFree: (given) =>
    asked(
      given,
      rules,
      [
        ["send", "1"],
        ["look", "2"],
      ],
      [answer(reject("No."))],
    ),
};

/** Asks in one process or page, */
export async function waiting(given) {
  const { agent } = scene(given, rules, [["send", "1"]]);
  return questions(await agent.invoke(go, threadOf("later")));
}

/** and is answered in another. Says what ran. */
export async function answered(given, decision = approve) {
  const { agent, ran } = scene(given, rules, []);
  await agent.invoke(answer(decision), threadOf("later"));
  return ran;
}
