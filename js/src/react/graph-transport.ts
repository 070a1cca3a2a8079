// A graph that runs in this page, as `useStream()` of @langchain/react asks for one: the protocol of
// an agent server (https://github.com/langchain-ai/agent-protocol), without a server.

import { checkOptions, type NamesOf, show } from "../checks.js";
import { invalid, nameError } from "../errors.js";
import type { FollowedMemory } from "./follow.js";

/**
 * What is used of a compiled graph, or of an agent of `createAgent()`, which has one as its
 * `graph`. Its checkpointer is what keeps the threads.
 */
export interface StreamedGraph {
  readonly graph?: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: a graph's input is its own; `never` would refuse all
  streamEvents(input: any, options: any): any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  getState(config: any): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  getStateHistory(config: any, options?: any): AsyncIterable<any>;
}

/** Of `graphTransport()`. */
export interface GraphTransportOptions {
  /** The hook's `threadId`, whose state is shown at first. Without one a new thread begins. */
  threadId?: string | null | undefined;
  /** What each run's `configurable` has besides `thread_id`: a `user_id`, for example. */
  configurable?: Record<string, unknown>;
}

const OPTIONS: NamesOf<GraphTransportOptions> = { threadId: 1, configurable: 1 };

type Json = Record<string, unknown>;

interface Event {
  type: "event";
  event_id: string;
  seq: number;
  method: string;
  params: { namespace: string[]; timestamp: number; data: unknown };
}

interface Command {
  id: number;
  method: string;
  // biome-ignore lint/suspicious/noExplicitAny: each command has its own
  params: any;
}

type Reply =
  | { type: "success"; id: number; result: { run_id: string } }
  | { type: "error"; id: number; error: "not_supported"; message: string };

interface Interrupt {
  id: string;
  value: unknown;
}

// A state with what it asks, by which it is known again.
interface Mark {
  checkpointId: string | undefined;
  interrupts: string[];
}

interface Reader {
  channels: string[];
  events: Event[];
  wake: () => void;
  isOpen: boolean;
}

/** The `transport` of `useStream()` over `graph`: runs, answers to interrupts, state and history. */
export class GraphTransport {
  threadId: string;
  /**
   * Where the hook asks for what it doesn't ask a transport: that is answered by this address
   * itself, with nothing. Without one it asks a server at localhost, and tells it the thread.
   */
  readonly apiUrl = "data:application/json,[]#";
  readonly #graph: StreamedGraph;
  readonly #compiled: StreamedGraph;
  readonly #configurable: Json;
  // Of the newest run: who opens a stream while it goes on is told all of it.
  #events: Event[] = [];
  #sequence = 0;
  #readers = new Set<Reader>();
  #run: AbortController | undefined;
  // The newest state, and messages that only the stream has told yet, by the run of their model.
  #values: Json = {};
  #streamed = new Map<string, { id: string; isFinished: boolean }>();
  // What readers have been told of the thread, and who waits for more of it.
  #told: Mark = { checkpointId: undefined, interrupts: [] };
  #fresh: ThreadState | undefined;
  #whenIdle = new Set<() => void>();

  /** @internal */
  constructor(graph: StreamedGraph, { threadId, configurable = {} }: GraphTransportOptions) {
    this.threadId = threadId ?? "";
    this.#graph = graph;
    this.#compiled = compiledOf(graph);
    this.#configurable = configurable;
  }

  setThreadId(threadId: string): void {
    if (threadId === this.threadId) return;
    // Else what it tells would be told of the new thread.
    this.cancel();
    this.threadId = threadId;
    this.#run = undefined;
    this.#fresh = undefined;
    this.#values = {};
    this.#events = [];
    this.#streamed.clear();
    this.#told = { checkpointId: undefined, interrupts: [] };
  }

  async open(): Promise<void> {}

  async close(): Promise<void> {
    for (const reader of this.#readers) this.#closeReader(reader);
  }

  /** Ends the run that goes on, if there is one. What it has checkpointed stays. */
  cancel(): void {
    this.#run?.abort(new Error("the run was cancelled"));
  }

  async send({ id, method, params }: Command): Promise<Reply> {
    if (method === "run.start") {
      return { type: "success", id, result: { run_id: this.#start(params.input, params) } };
    }
    if (method === "input.respond") {
      return { type: "success", id, result: { run_id: this.#respond(params) } };
    }
    const message = `[keepsake] graphTransport: "${method}" needs an agent server`;
    return { type: "error", id, error: "not_supported", message };
  }

  // Only of transports that have one stream for all.
  async *events(): AsyncGenerator<never> {}

  openEventStream({ channels, since = -1 }: { channels: string[]; since?: number }) {
    const reader: Reader = { channels, events: [], wake: () => {}, isOpen: true };
    this.#readers.add(reader);
    for (const event of this.#events) if (event.seq > since) this.#tell(reader, event);
    return {
      // Each method has its own type in the protocol, and the graph has seen to it.
      // biome-ignore lint/suspicious/noExplicitAny: this package does not know the protocol's types
      events: readEvents(reader) as AsyncIterable<any>,
      ready: Promise.resolve(),
      close: () => this.#closeReader(reader),
    };
  }

  async getState(): Promise<ThreadState | null> {
    const state = this.#fresh ?? (await this.#readState());
    this.#fresh = undefined;
    if (state.checkpoint === null) return null;
    this.#told = markOf(state);
    this.#noteValues(state.values);
    // A run that was interrupted before this page was loaded, as whoever listens would know it.
    const interrupts = interruptsOf(state);
    if (this.#events.length === 0 && interrupts.length > 0) this.#end(interrupts);
    // What is next goes on by itself only while it runs here: a run that was cut off does not.
    return this.#run === undefined ? { ...state, next: [] } : state;
  }

  async #readState(): Promise<ThreadState> {
    return stateOf(await this.#graph.getState(this.#config()));
  }

  /**
   * Calls `show` when others have changed the thread: `isUnheard` if it asks something, and nobody
   * here listens to the run that an answer begins. Answers how to stop. @internal
   */
  follow(memory: FollowedMemory, show: (isUnheard: boolean) => Promise<void>): () => void {
    const look = latestOnly(async () => {
      const { threadId } = this;
      if (this.#run !== undefined || threadId === "") return;
      const state = await this.#readState();
      const isOver = stop === undefined || this.#run !== undefined || threadId !== this.threadId;
      if (isOver || isSameMark(markOf(state), this.#told)) return;
      this.#fresh = state;
      this.#events = [];
      const isHeard = [...this.#readers].some(({ channels }) => channels.includes("checkpoints"));
      await show(!isHeard && interruptsOf(state).length > 0);
    });
    let stop: (() => void) | undefined = memory.onChange(({ everything, threads }) => {
      if (everything || threads.includes(this.threadId)) look();
    });
    this.#whenIdle.add(look);
    return () => {
      stop?.();
      stop = undefined;
      this.#whenIdle.delete(look);
    };
  }

  async getHistory({ limit }: { limit?: number } = {}): Promise<ThreadState[]> {
    const states = [];
    for await (const state of this.#graph.getStateHistory(this.#config(), { limit })) {
      states.push(stateOf(state));
    }
    return states;
  }

  #config(overrides: Json = {}): Json {
    const { configurable, ...others } = overrides as { configurable?: Json };
    return {
      ...others,
      configurable: { ...this.#configurable, ...configurable, thread_id: this.threadId },
    };
  }

  #start(input: unknown, { config, metadata }: Json): string {
    this.cancel();
    const run = new AbortController();
    const id = crypto.randomUUID();
    this.#run = run;
    this.#events = [];
    this.#fresh = undefined;
    this.#told.interrupts = [];
    this.#withdraw(() => true);
    const options = {
      ...this.#config(config as Json | undefined),
      ...(metadata === undefined ? {} : { metadata }),
      version: "v3",
      runId: id,
      signal: run.signal,
    };
    const graph = input instanceof Resumption ? this.#compiled : this.#graph;
    void this.#follow(run, () => graph.streamEvents(input, options));
    return id;
  }

  #respond(params: Json): string {
    const { update, goto } = params;
    const answers = (params.responses ?? [params]) as { interrupt_id: string; response: unknown }[];
    const resume = Object.fromEntries(
      answers.map(({ interrupt_id, response }) => [interrupt_id, response]),
    );
    const id = this.#start(new Resumption(resume, update, goto), params);
    this.#emit("input.answered", { interrupt_ids: Object.keys(resume) });
    return id;
  }

  // A newer run has taken the place of one whose events go on.
  // biome-ignore lint/suspicious/noExplicitAny: this package does not know the protocol's types
  async #follow(run: AbortController, begin: () => any): Promise<void> {
    const isCurrent = () => this.#run === run;
    const interrupts: Interrupt[] = [];
    try {
      for await (const { method, params } of await begin()) {
        if (!isCurrent()) return;
        const isEnd = method === "lifecycle" && params.namespace.length === 0;
        if (isEnd && params.data.event !== "running") continue;
        if (method === "values") interrupts.push(...takeInterrupts(params));
        if (method === "messages") this.#noteStreamed(params.data);
        if (method === "values" && params.namespace.length === 0) this.#noteValues(params.data);
        if (method === "checkpoints" && params.namespace.length === 0) {
          this.#told.checkpointId = params.data.id;
        }
        this.#emit(method, params.data, params.namespace);
      }
      if (!isCurrent()) return;
      this.#end(interrupts);
    } catch (error) {
      if (!isCurrent()) return;
      this.#withdraw(({ isFinished }) => !isFinished);
      const event = run.signal.aborted ? "completed" : "failed";
      this.#emit("lifecycle", {
        event,
        error: error instanceof Error ? error.message : `${error}`,
      });
    }
    this.#run = undefined;
    for (const look of this.#whenIdle) look();
  }

  #end(interrupts: Interrupt[]): void {
    this.#told.interrupts = interrupts.map(({ id }) => id);
    for (const { id, value } of interrupts) {
      this.#emit("input.requested", { interrupt_id: id, payload: value });
    }
    this.#emit("lifecycle", { event: interrupts.length > 0 ? "interrupted" : "completed" });
  }

  #noteStreamed({ event, id, run_id = id }: { event?: string; id?: string; run_id?: string }) {
    if (run_id === undefined) return;
    if (event === "message-start" && id !== undefined)
      this.#streamed.set(run_id, { id, isFinished: false });
    const streamed = this.#streamed.get(run_id);
    if (event === "message-finish" && streamed !== undefined) streamed.isFinished = true;
  }

  #noteValues(values: Json): void {
    this.#values = values;
    const ids = new Set(
      messageLists(values).flatMap(([, messages]) => messages.map(({ id }) => id)),
    );
    for (const [run, { id }] of this.#streamed) if (ids.has(id)) this.#streamed.delete(run);
  }

  // Who shows the stream puts behind all others what no state has: for ever, if it was cut off.
  // A state that has it and one that has it no more take it away.
  #withdraw(isWanted: (streamed: { isFinished: boolean }) => boolean): void {
    const gone = [...this.#streamed].filter(([, streamed]) => isWanted(streamed));
    if (gone.length === 0) return;
    const halves = gone.map(([run, { id }]) => {
      this.#streamed.delete(run);
      return { type: "ai", id, content: "" };
    });
    const lists = messageLists(this.#values).map(([name, list]) => [name, [...list, ...halves]]);
    if (lists.length === 0) return;
    this.#emit("values", { ...this.#values, ...Object.fromEntries(lists) });
    this.#emit("values", this.#values);
  }

  #emit(method: string, data: unknown, namespace: string[] = []): void {
    const seq = this.#sequence++;
    const params = { namespace, timestamp: Date.now(), data };
    const event: Event = { type: "event", event_id: `${seq}`, seq, method, params };
    this.#events.push(event);
    for (const reader of this.#readers) this.#tell(reader, event);
  }

  #tell(reader: Reader, event: Event): void {
    if (!reader.channels.includes(event.method.split(".")[0] as string)) return;
    reader.events.push(event);
    reader.wake();
  }

  #closeReader(reader: Reader): void {
    reader.isOpen = false;
    this.#readers.delete(reader);
    reader.wake();
  }
}

async function* readEvents(reader: Reader): AsyncGenerator<Event> {
  while (reader.isOpen) {
    const event = reader.events.shift();
    if (event !== undefined) yield event;
    else {
      await new Promise<void>((resolve) => {
        reader.wake = resolve;
      });
    }
  }
}

// What of a state are messages.
function messageLists(values: Json): [string, { id?: unknown }[]][] {
  return Object.entries(Object(values)).filter(
    (entry): entry is [string, { id?: unknown }[]] =>
      Array.isArray(entry[1]) && typeof entry[1][0]?.getType === "function",
  );
}

// The interrupts among a state's values, which are no part of it.
function takeInterrupts(params: { data: Json }): Interrupt[] {
  const { __interrupt__: interrupts = [], ...values } = params.data;
  params.data = values;
  return interrupts as Interrupt[];
}

function interruptsOf(state: ThreadState): Interrupt[] {
  return state.tasks.flatMap((task) => task.interrupts);
}

function markOf(state: ThreadState): Mark {
  const interrupts = interruptsOf(state).map(({ id }) => id);
  return { checkpointId: state.checkpoint?.checkpoint_id, interrupts };
}

function isSameMark(a: Mark, b: Mark): boolean {
  return a.checkpointId === b.checkpointId && `${a.interrupts}` === `${b.interrupts}`;
}

// A function that has `body` run once more if it was called while that runs.
function latestOnly(body: () => Promise<void>): () => void {
  let calls = 0;
  const run = async () => {
    for (let seen = 0; seen !== calls; ) {
      seen = calls;
      // What can't be read now is read after the next change, or by the next run.
      await body().catch(() => {});
    }
    calls = 0;
  };
  return () => {
    calls += 1;
    if (calls === 1) void run();
  };
}

// An agent resumes by LangChain's own `Command` alone, and takes all else for a new input. Its
// graph, as any, resumes by what says that it is one.
function compiledOf(graph: StreamedGraph): StreamedGraph {
  for (const each of [graph, graph.graph] as (StreamedGraph & { lg_is_pregel?: boolean })[]) {
    if (each?.lg_is_pregel === true && typeof each.streamEvents === "function") return each;
  }
  throw invalid(
    `it takes what compile() or createAgent() answers, with a checkpointer: an answer to an interrupt could not be given to ${show(graph)}`,
  );
}

// What LangGraph takes for a `Command`, which this package doesn't import: it is the graph's own.
class Resumption {
  readonly lg_name = "Command";
  readonly goto: unknown[];

  constructor(
    readonly resume: Json,
    readonly update: unknown,
    goto: unknown,
  ) {
    this.goto = goto === undefined ? [] : [goto].flat();
    if (this.goto.some((node) => typeof node !== "string")) {
      throw invalid(`graphTransport: goto takes names of nodes: ${show(goto)}`);
    }
  }

  _updateAsTuples(): [string, unknown][] {
    return Object.entries((this.update ?? {}) as Json);
  }
}

interface Snapshot {
  values: unknown;
  next: unknown;
  tasks: { interrupts: Interrupt[] }[];
  metadata?: unknown;
  createdAt?: string;
  config: { configurable?: { checkpoint_id?: string } };
  parentConfig?: Snapshot["config"];
}

/** A state of a thread, as an agent server writes it. */
export interface ThreadState {
  // biome-ignore lint/suspicious/noExplicitAny: a graph's state is its own
  values: any;
  next: unknown;
  tasks: { interrupts: Interrupt[] }[];
  metadata?: unknown;
  created_at: string | undefined;
  checkpoint: { checkpoint_id?: string } | null;
  parent_checkpoint: { checkpoint_id?: string } | null;
}

function stateOf(snapshot: Snapshot): ThreadState {
  const { values, next, tasks, metadata, createdAt, config, parentConfig } = snapshot;
  const checkpoint = (from: Snapshot["config"] | undefined) =>
    from?.configurable?.checkpoint_id === undefined ? null : { ...from.configurable };
  return {
    values,
    next,
    tasks,
    metadata,
    created_at: createdAt,
    checkpoint: checkpoint(config),
    parent_checkpoint: checkpoint(parentConfig),
  };
}

/**
 * The `transport` of `useStream()` for a graph that runs in this page. Threads are kept by the
 * graph's checkpointer, so that they are there after a reload.
 *
 * Make one for each thread that is shown. A new run ends the one before it.
 *
 *     const transport = useMemo(() => graphTransport(graph, { threadId }), [threadId]);
 *     const { messages, submit } = useStream({ transport, threadId });
 */
export function graphTransport(
  graph: StreamedGraph,
  options: GraphTransportOptions = {},
): GraphTransport {
  try {
    if (typeof graph?.streamEvents !== "function" || typeof graph.getState !== "function") {
      throw invalid(
        `it takes what compile() or createAgent() answers, with a checkpointer: ${show(graph)}`,
      );
    }
    return new GraphTransport(graph, checkOptions("", OPTIONS, options));
  } catch (error) {
    throw nameError("graphTransport", error);
  }
}
