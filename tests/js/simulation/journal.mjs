// What all participants asked and were told, in the order in which it happened anywhere.

export class Journal {
  /** Calls of engines. */
  calls = [];
  #code;
  #world;
  #tick = 0;

  constructor(code, world) {
    this.#code = code;
    this.#world = world;
  }

  /** Moments that happen at the same time have an order, too. */
  tick() {
    return ++this.#tick;
  }

  /** Somebody asks something. Answers what is to be told the outcome of it. */
  begin(process, parts) {
    const world = this.#world;
    const { life } = process;
    const isOver = () => process.life !== life;
    const call = { by: process.name, ...parts, isOver, begun: this.tick(), begunAt: world.time };
    const awakeAt = process.elapsed();
    this.calls.push(call);
    if (world.isTold) world.tell("asks", call.kinds.join());
    const end = (outcome) => {
      Object.assign(call, outcome, { ended: this.tick(), endedAt: world.time });
      call.silentMs = process.elapsed() - Math.max(awakeAt, process.answeredAt);
      if (!world.isTold) return;
      const how = call.error ? `${call.error.code} ${call.error.message}` : "well";
      world.tell("is answered", call.kinds.join(), how);
    };
    return {
      async ending(promise) {
        try {
          const response = await promise;
          end({ response });
          return response;
        } catch (error) {
          end({ error });
          throw error;
        }
      },
    };
  }

  /** The transport, and what passes through it is noted. */
  over(transport, process) {
    return new NotingTransport(this.#code, this, transport, process);
  }
}

class NotingTransport {
  #code;
  #journal;
  #transport;
  #process;

  constructor(code, journal, transport, process) {
    this.#code = code;
    this.#journal = journal;
    this.#transport = transport;
    this.#process = process;
  }

  send(request) {
    const { operations, frame, changes } = request;
    const call = this.#journal.begin(this.#process, {
      kinds: operations.map(({ kind }) => kind),
      request: this.#code.withoutSender(frame),
      quiet: quietly(this.#code, frame, operations),
      isWrite: changes !== undefined,
      isReplacing: operations.some(replaces),
      isLocal: operations.some(isLocal),
    });
    return call.ending(this.#transport.send(request));
  }

  configure(request) {
    return this.#transport.configure(request);
  }

  lending(...given) {
    return this.#transport.lending(...given);
  }

  status() {
    return this.#transport.status();
  }

  hearChanges(listener) {
    this.#transport.hearChanges(listener);
  }

  close() {
    return this.#transport.close();
  }
}

// The same read, which restarts no time to live: for whoever asks it again elsewhere.
function quietly(code, frame, operations) {
  const { now, levels } = code.decodeRequest(frame);
  const calm = operations.map((one) =>
    one.kind === "get" || one.kind === "search" ? { ...one, refreshTtl: false } : one,
  );
  return code.encodeRequest({ clientId: 0, sequence: 0, now, levels }, calm).slice();
}

function replaces({ kind, isWanted }) {
  return kind === "importFrom" || kind === "salvage" || (kind === "finishImport" && isWanted);
}

// What is of the replica alone: an export or an import in the making, free pages, a graph.
const OF_A_REPLICA = new Set([
  ...["readRows", "endRows", "putRows", "importState", "beginExport", "readExport", "endExport"],
  ...[
    "finishImport",
    "scrub",
    "improveIndex",
    "size",
    "flush",
    "findErasure",
    "storeStats",
    "checkPages",
  ],
]);

function isLocal({ kind }) {
  return OF_A_REPLICA.has(kind);
}
