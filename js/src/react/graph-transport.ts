// A graph that runs in this page, as `useStream()` of @langchain/react asks for one: the protocol of
// an agent server (https://github.com/langchain-ai/agent-protocol), without a server.

import { checkOptions, type NamesOf, show } from "../checks.js";
import { invalid, nameError } from "../errors.js";

/** What is used of a compiled graph. Its checkpointer is what keeps the threads. */
export interface StreamedGraph {
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

interface Reader {
  channels: string[];
  events: Event[];
  wake: () => void;
  isOpen: boolean;
}

/** The `transport` of `useStream()` over `graph`: runs, answers to interrupts, state and history. */
export class GraphTransport {
  threadId: string;
  #graph: StreamedGraph;
  #configurable: Json;
  // Of the newest run: who opens a stream while it goes on is told all of it.
  #events: Event[] = [];
  #sequence = 0;
  #readers = new Set<Reader>();
  #run: AbortController | undefined;

  /** @internal */
  constructor(graph: StreamedGraph, { threadId, configurable = {} }: GraphTransportOptions) {
    this.threadId = threadId ?? "";
    this.#graph = graph;
    this.#configurable = configurable;
  }

  setThreadId(threadId: string): void {
    if (threadId === this.threadId) return;
    this.threadId = threadId;
    this.#events = [];
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
    const state = stateOf(await this.#graph.getState(this.#config()));
    if (state.checkpoint === null) return null;
    // A run that was interrupted before this page was loaded, as whoever listens would know it.
    const interrupts = state.tasks.flatMap((task) => task.interrupts);
    if (this.#events.length === 0 && interrupts.length > 0) this.#end(interrupts);
    return state;
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
    const options = {
      ...this.#config(config as Json | undefined),
      ...(metadata === undefined ? {} : { metadata }),
      version: "v3",
      runId: id,
      signal: run.signal,
    };
    void this.#follow(run, input, options);
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
  async #follow(run: AbortController, input: unknown, options: Json): Promise<void> {
    const isCurrent = () => this.#run === run;
    const interrupts: Interrupt[] = [];
    try {
      for await (const { method, params } of await this.#graph.streamEvents(input, options)) {
        if (!isCurrent()) return;
        const isEnd = method === "lifecycle" && params.namespace.length === 0;
        if (isEnd && params.data.event !== "running") continue;
        if (method === "values") interrupts.push(...takeInterrupts(params));
        this.#emit(method, params.data, params.namespace);
      }
      if (!isCurrent()) return;
      this.#end(interrupts);
    } catch (error) {
      if (!isCurrent()) return;
      const event = run.signal.aborted ? "completed" : "failed";
      this.#emit("lifecycle", {
        event,
        error: error instanceof Error ? error.message : `${error}`,
      });
    }
    this.#run = undefined;
  }

  #end(interrupts: Interrupt[]): void {
    for (const { id, value } of interrupts) {
      this.#emit("input.requested", { interrupt_id: id, payload: value });
    }
    this.#emit("lifecycle", { event: interrupts.length > 0 ? "interrupted" : "completed" });
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

// The interrupts among a state's values, which are no part of it.
function takeInterrupts(params: { data: Json }): Interrupt[] {
  const { __interrupt__: interrupts = [], ...values } = params.data;
  params.data = values;
  return interrupts as Interrupt[];
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
  if (typeof graph?.streamEvents !== "function" || typeof graph.getState !== "function") {
    throw invalid(
      `graphTransport: it takes a graph with a checkpointer, of compile(): ${show(graph)}`,
    );
  }
  try {
    return new GraphTransport(graph, checkOptions("", OPTIONS, options));
  } catch (error) {
    throw nameError("graphTransport", error);
  }
}
