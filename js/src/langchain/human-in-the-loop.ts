// Calls of tools that wait for a human: LangChain's middleware of this name, which also finds its
// graph where there is no AsyncLocalStorage.

import { AIMessage, type ToolCall, ToolMessage } from "@langchain/core/messages";
import type {
  ActionRequest,
  AgentMiddleware,
  Decision,
  HITLRequest,
  InterruptOnConfig,
  ReviewConfig,
} from "langchain";
import { checkChoice, checkEach, checkOptions, checkText, type NamesOf, show } from "../checks.js";
import { invalid } from "../errors.js";
import { installInterruptShim, withContext } from "../langgraph.js";
import { BRAND, type MemoryMiddleware } from "./middleware.js";

const CALL = "humanInTheLoopMiddleware";

/** As LangChain's: what waits for a human, and how it is described. */
export interface HumanInTheLoopMiddlewareOptions {
  /** By the name of a tool: `true` for all decisions. A tool without a rule runs. */
  interruptOn?: Record<string, boolean | InterruptOnConfig> | undefined;
  /** What a description begins with, unless a rule has its own. @default "Tool execution requires approval" */
  descriptionPrefix?: string | undefined;
}

type InterruptOn = HumanInTheLoopMiddlewareOptions["interruptOn"];
type Hook = Extract<AgentMiddleware["afterModel"], { hook: unknown }>["hook"];
type State = Parameters<Hook>[0];
type AgentRuntime = Parameters<Hook>[1];

const OPTIONS: NamesOf<HumanInTheLoopMiddlewareOptions> = { interruptOn: 1, descriptionPrefix: 1 };
const RULE: NamesOf<InterruptOnConfig> = {
  allowedDecisions: 1,
  description: 1,
  argsSchema: 1,
  when: 1,
};
const DECISIONS = { approve: 1, edit: 1, reject: 1 };
const ALL_DECISIONS = Object.keys(DECISIONS) as InterruptOnConfig["allowedDecisions"];

// What LangChain asks of a schema (of zod 3) by which it chooses what of a run's context is for a
// middleware: a run may bring an `interruptOn` of its own.
const CONTEXT = {
  _def: { typeName: "ZodObject" },
  shape: { interruptOn: {} },
  parse: (context: object) => context,
};

// By which LangGraph keeps an answer, and by which it knows that one was not the right one.
const SEND = "__pregel_send";
const INVALID_RESUME = Symbol.for("langgraph.invalid_resume");

interface Asked {
  call: ToolCall;
  rule: InterruptOnConfig;
}

/**
 * The same as LangChain's `humanInTheLoopMiddleware()`: its options, what it asks, how it is
 * answered. It also runs in a page, where LangChain's throws "outside the context of a graph".
 *
 *     createAgent({
 *       model, tools, checkpointer: memory.checkpointer,
 *       middleware: [humanInTheLoopMiddleware({ interruptOn: { send: true } })],
 *     });
 */
export function humanInTheLoopMiddleware(
  options: HumanInTheLoopMiddlewareOptions,
): MemoryMiddleware {
  const given = checkOptions(CALL, OPTIONS, options);
  const own = rulesOf(given.interruptOn);
  const prefix = checkText(
    "descriptionPrefix",
    given.descriptionPrefix ?? "Tool execution requires approval",
  );
  const hook = async (state: State, runtime: AgentRuntime) => {
    const ofRun = (runtime.context as { interruptOn?: InterruptOn } | undefined)?.interruptOn;
    const rules = ofRun === undefined ? own : rulesOf(ofRun);
    const message = state.messages.findLast((each) => AIMessage.isInstance(each));
    const asked: Asked[] = [];
    const free: ToolCall[] = [];
    for (const call of message?.tool_calls ?? []) {
      const rule = rules.get(call.name);
      if (rule !== undefined && (await isToBeAsked(rule, call, state, runtime)))
        asked.push({ call, rule });
      else free.push(call);
    }
    if (message === undefined || asked.length === 0) return undefined;
    const actionRequests: ActionRequest[] = [];
    for (const { call, rule } of asked) {
      const description = await descriptionOf(rule, call, state, runtime, prefix);
      actionRequests.push({ name: call.name, args: call.args, description });
    }
    const request = { actionRequests, reviewConfigs: asked.map(reviewConfigOf) };
    const decisions = ask(runtime, request, (answer) => decisionsIn(answer, asked));
    return decided(message, free, asked, decisions);
  };
  return {
    [BRAND]: true,
    name: "HumanInTheLoopMiddleware",
    contextSchema: CONTEXT,
    afterModel: { canJumpTo: ["model"], hook },
  } as never;
}

// A map, so that a tool may be called "constructor".
function rulesOf(interruptOn: InterruptOn): Map<string, InterruptOnConfig> {
  const rules = new Map<string, InterruptOnConfig>();
  if (typeof interruptOn !== "object" || interruptOn === null) {
    if (interruptOn === undefined) return rules;
    throw invalid(
      `interruptOn of ${CALL} is a rule for each tool by its name: ${show(interruptOn)}`,
    );
  }
  for (const [tool, rule] of Object.entries(interruptOn)) {
    if (rule === true) rules.set(tool, { allowedDecisions: [...ALL_DECISIONS] });
    else if (rule !== false) rules.set(tool, checkRule(`interruptOn.${tool}`, rule));
  }
  return rules;
}

function checkRule(name: string, rule: InterruptOnConfig): InterruptOnConfig {
  if (typeof rule !== "object" || rule === null) {
    throw invalid(`${name} must be true, false or { allowedDecisions }: ${show(rule)}`);
  }
  const { allowedDecisions, description, ...rest } = checkOptions(name, RULE, rule);
  const list = `${name}.allowedDecisions`;
  const allowed = checkEach(list, allowedDecisions, (one) => checkChoice(list, DECISIONS, one));
  if (allowed.length === 0) throw invalid(`${list} is empty: nobody could answer`);
  if (typeof description !== "function" && description !== undefined)
    checkText(`${name}.description`, description);
  if (rest.when !== undefined && typeof rest.when !== "function")
    throw invalid(`${name}.when must be a function: ${show(rest.when)}`);
  return { ...rest, allowedDecisions: allowed, ...(description !== undefined && { description }) };
}

async function isToBeAsked(
  { when }: InterruptOnConfig,
  toolCall: ToolCall,
  state: State,
  runtime: AgentRuntime,
): Promise<boolean> {
  if (when === undefined) return true;
  const request = { toolCall, tool: undefined, state, runtime };
  const isWanted: unknown = await when(request as Parameters<typeof when>[0]);
  // What forgot to answer would let the tool run unasked.
  if (typeof isWanted === "boolean") return isWanted;
  throw invalid(`interruptOn.${toolCall.name}.when() must answer true or false: ${show(isWanted)}`);
}

async function descriptionOf(
  { description }: InterruptOnConfig,
  call: ToolCall,
  state: State,
  runtime: AgentRuntime,
  prefix: string,
): Promise<string> {
  if (typeof description === "function") {
    const text = await description(call, state, runtime as never);
    return checkText(`interruptOn.${call.name}.description()`, text);
  }
  return (
    description ?? `${prefix}\n\nTool: ${call.name}\nArgs: ${JSON.stringify(call.args, null, 2)}`
  );
}

function reviewConfigOf({ call, rule }: Asked): ReviewConfig {
  const { allowedDecisions, argsSchema } = rule;
  return { actionName: call.name, allowedDecisions, ...(argsSchema && { argsSchema }) };
}

// Nothing is awaited between the entry into the run's own context and its question, so that what
// runs beside it in the page is no part of it. An answer is kept when it was understood: one that
// was kept before would be given again to each later run, and the thread would be lost.
function ask<Answer>(
  { configurable = {}, interrupt }: AgentRuntime,
  request: HITLRequest,
  understand: (answer: unknown) => Answer,
): Answer {
  installInterruptShim();
  const kept: unknown[] = [];
  const send = configurable[SEND] as ((writes: unknown) => void) | undefined;
  const entered = send === undefined ? {} : { [SEND]: (writes: unknown) => kept.push(writes) };
  const answer = withContext({ configurable: { ...configurable, ...entered } }, () =>
    (interrupt as (value: unknown) => unknown)(request),
  );
  try {
    const understood = understand(answer);
    for (const writes of kept) send?.(writes);
    return understood;
  } catch (error) {
    Object.defineProperty(error, INVALID_RESUME, { value: true });
    throw error;
  }
}

function decisionsIn(answer: unknown, asked: Asked[]): Decision[] {
  const decisions = (Object(answer) as { decisions?: Decision[] }).decisions;
  if (!Array.isArray(decisions)) {
    throw invalid(
      `an answer to ${CALL} is { decisions: [{ type: "approve" }, …] }: ${show(answer)}`,
    );
  }
  if (decisions.length !== asked.length) {
    const names = asked.map(({ call }) => call.name).join(", ");
    throw invalid(
      `${asked.length} calls of tools wait for a decision (${names}), and ${decisions.length} came: give one for each, in this order`,
    );
  }
  for (const [i, one] of asked.entries()) checkDecision(decisions[i] as Decision, one);
  return decisions;
}

function checkDecision(decision: Decision, { call, rule }: Asked): void {
  const { type } = Object(decision) as Partial<Decision>;
  if (!rule.allowedDecisions.includes(type as Decision["type"])) {
    throw invalid(
      `the decision ${show(type)} is not allowed for the tool "${call.name}": it takes ${rule.allowedDecisions.join(", ")}`,
    );
  }
  if (decision.type === "reject" && decision.message !== undefined)
    checkText(`message of the rejection of "${call.name}"`, decision.message);
  if (decision.type !== "edit") return;
  const { name, args } = Object(decision.editedAction) as Partial<ToolCall>;
  checkText(`editedAction.name of "${call.name}"`, name);
  if (typeof args !== "object" || args === null) {
    throw invalid(`editedAction.args of "${call.name}" must be an object: ${show(args)}`);
  }
}

// A call that is rejected is answered by its message, and the model is asked again. Then none of
// the others runs, and none may stay: providers refuse a call that nothing answers.
function decided(message: AIMessage, free: ToolCall[], asked: Asked[], decisions: Decision[]) {
  const calls: ToolCall[] = [];
  const rejections: ToolMessage[] = [];
  for (const [i, { call }] of asked.entries()) {
    const decision = decisions[i] as Decision;
    if (decision.type === "reject") rejections.push(rejectionOf(call, decision.message));
    else calls.push(decision.type === "edit" ? editedCall(call, decision.editedAction) : call);
  }
  const isRejected = rejections.length > 0;
  const rejected = asked.flatMap(({ call }, i) => (decisions[i]?.type === "reject" ? [call] : []));
  message.tool_calls = isRejected ? rejected : [...free, ...calls];
  return { messages: [message, ...rejections], jumpTo: isRejected ? "model" : undefined };
}

function editedCall({ id }: ToolCall, { name, args }: { name: string; args: ToolCall["args"] }) {
  return { type: "tool_call" as const, name, args, ...(id !== undefined && { id }) };
}

function rejectionOf({ name, id = "" }: ToolCall, said: string | undefined): ToolMessage {
  const content = said ?? `User rejected the tool call for \`${name}\` with id ${id}`;
  return new ToolMessage({ content, name, tool_call_id: id, status: "error" });
}
