// A history: participants that work at once on one memory in a bucket, while things go wrong; then
// all is healed, and judged.

import { SimulatedBucket } from "./bucket.mjs";
import { DeviceWrites, SyncedDevice } from "./devices.mjs";
import { Journal } from "./journal.mjs";
import { judge, judgeForgotten } from "./judge.mjs";
import { NAMESPACES, THREADS } from "./names.mjs";
import { Client } from "./operations.mjs";
import { questionForAll } from "./oracle.mjs";
import { FunctionOverBucket } from "./participants.mjs";
import { Random } from "./random.mjs";
import { enter } from "./stand-ins.mjs";
import { World } from "./world.mjs";

const DAY_MS = 24 * 3_600_000;
const LONGEST_CALL_MS = 120_000;
const KEY = new Uint8Array(32).fill(7);

/** Runs the history of a seed. `tools` has `code` and `sessions`; `log` hears its story. */
export async function runHistory(tools, seed, log) {
  await tools.sessions.prepare();
  const history = new History(tools, seed, log);
  try {
    return await history.run();
  } catch (error) {
    return { seed, complaints: [`the simulation fell over: ${error.stack}`] };
  } finally {
    history.end();
  }
}

class History {
  #seed;
  #random;
  #world;
  #setting;
  #plan;
  #participants = [];
  #working = 0;
  #isAtRest = false;

  constructor({ code, sessions }, seed, log) {
    this.#seed = seed;
    this.#random = new Random(seed);
    const world = new World(this.#random.fork(), log);
    this.#world = world;
    enter(world);
    this.#plan = planOf(this.#random.fork());
    const journal = new Journal(code, world);
    const bucket = new SimulatedBucket(world, this.#random.fork(), this.#plan.faults, () =>
      journal.tick(),
    );
    this.#setting = {
      code,
      sessions,
      world,
      bucket,
      journal,
      key: this.#plan.hasKey ? KEY : undefined,
      backupMs: this.#plan.backupMs,
      maxAge: 0,
      hasIndex: this.#plan.hasIndex,
      quarrels: this.#plan.quarrels,
      story: [],
      receipts: [],
      wrong: new Map(),
      tokens: new Tokens(),
      checkpointIds: new CheckpointIds(),
      rotten: undefined,
      deviceWrites: new DeviceWrites(code),
      unsynced: [],
    };
    if (log !== undefined) world.tell("plan", this.#plan);
  }

  async run() {
    const { participants, devices, steps, pauseMs } = this.#plan;
    for (let i = 0; i < participants + devices; i++) {
      const participant = i < participants ? this.#newParticipant() : this.#newDevice();
      const clients = this.#random.chance(0.3) ? 2 : 1;
      for (let j = 0; j < clients; j++) this.#begin(participant, steps / clients, pauseMs);
    }
    this.#scheduleTrouble();
    await this.#world.run(() => this.#working === 0);
    const complaints = await judge(this.#setting, await this.#atRest());
    if (this.#plan.endsForgotten && complaints.length === 0) {
      const forgotten = await this.#forgetAll();
      complaints.push(
        ...this.#setting.unsynced,
        ...(await judgeForgotten(this.#setting, forgotten)),
      );
    }
    return { seed: this.#seed, complaints, ...this.#figures() };
  }

  /** Nothing of it goes on. */
  end() {
    for (const participant of this.#participants) participant.kill();
  }

  #newParticipant() {
    return this.#add(new FunctionOverBucket(this.#setting, ...this.#newName("p")));
  }

  #newDevice() {
    const everyMs = this.#random.pick(this.#plan.everyMs);
    return this.#add(new SyncedDevice(this.#setting, ...this.#newName("d"), everyMs));
  }

  #newName(kind) {
    const skew = this.#plan.skewMs * (this.#random.next() - 0.5);
    return [`${kind}${this.#participants.length}`, skew];
  }

  #add(participant) {
    this.#participants.push(participant);
    return participant;
  }

  get #devices() {
    return this.#participants.filter(({ isDevice }) => isDevice);
  }

  #begin(participant, steps, pauseMs) {
    const client = new Client(this.#setting, participant, this.#random.fork());
    const { process } = participant;
    const { life } = process;
    this.#working++;
    participant.clients = (participant.clients ?? 0) + 1;
    const end = () => {
      if (process.life !== life) return;
      this.#working--;
      participant.clients--;
    };
    this.#world.after(0, () => client.work(steps, pauseMs).then(end), process);
  }

  // ---- what goes wrong

  #scheduleTrouble() {
    const { troubles, horizonMs } = this.#plan;
    for (const kind of troubles) {
      const at = this.#random.next() * horizonMs;
      const random = this.#random.fork();
      this.#world.after(at, () => this.#trouble(kind, random), undefined);
    }
  }

  #trouble(kind, random) {
    const world = this.#world;
    const { bucket } = this.#setting;
    if (this.#working === 0) return;
    const participant = random.pick(this.#participants);
    const { process } = participant;
    const ms = random.pick([50, 1_000, 20_000, 60_000, 3_600_000]) * (0.5 + random.next());
    world.tell("TROUBLE", kind, process.name, ms);
    switch (kind) {
      case "partition":
        bucket.partitions.set(process, random.pick(["both", "answers"]));
        world.after(ms, () => bucket.partitions.delete(process), undefined);
        break;
      case "down":
        bucket.isDown = true;
        world.after(
          Math.min(ms, 90_000),
          () => {
            bucket.isDown = false;
          },
          undefined,
        );
        break;
      case "kill":
        this.#kill(participant, random);
        break;
      case "killAtAppend":
        this.#killAtAppend(participant, random);
        break;
      case "tear":
        participant.tearAfter?.(random.between(1, 60), () => this.#kill(participant, random));
        break;
      case "sleep":
        process.sleep(ms);
        break;
      case "jump":
        process.jump(random.chance(0.5) ? ms : -ms);
        break;
      case "restart":
        world.after(0, () => this.#restart(participant), process);
        break;
      case "join": {
        const isDevice = this.#plan.devices > 0 && random.chance(0.5);
        const other = isDevice ? this.#newDevice() : this.#newParticipant();
        this.#begin(other, random.between(2, 6), this.#plan.pauseMs);
        break;
      }
      case "rot":
        this.#rot(random);
        break;
    }
  }

  #kill(participant, random) {
    this.#working -= participant.clients ?? 0;
    participant.clients = 0;
    participant.kill();
    if (this.#isAtRest) return;
    this.#begin(participant, random.between(1, 4), this.#plan.pauseMs);
  }

  // Between what it has appended and the answer to that, or a little later.
  #killAtAppend(participant, random) {
    const { bucket } = this.#setting;
    const { latency } = bucket.faults;
    bucket.onCreated = (process, key) => {
      if (process !== participant.process || !isRecord(key)) return;
      bucket.onCreated = () => {};
      const kill = () => {
        if (!this.#isAtRest) this.#kill(participant, random);
      };
      this.#world.after(random.next() * 3 * latency, kill, undefined);
    };
  }

  async #restart(participant) {
    const life = participant.process.life;
    this.#working++;
    await participant.close().catch((error) => {
      this.#setting.story.push({
        by: participant.name,
        kind: "close",
        error,
        code: error.code ?? error.name,
      });
    });
    if (participant.process.life === life) this.#working--;
  }

  // One record of a history, so that it is clear what there is to know of it.
  #rot(random) {
    const { bucket } = this.#setting;
    const isBase = (key) => /\/l\/\d{13}\.[0-9a-f]{15}(1|0\d{13})$/.test(key);
    if (this.#setting.rotten !== undefined) return;
    if (random.chance(0.5)) {
      // There must be another way to what it has, now and when more is deleted.
      const bases = [...bucket.objects.keys()].filter((key) => isBase(key) && key.endsWith("1"));
      if (bases.length < 2 || !bucket.hasAllRecords()) return;
      this.#world.tell("rots", bucket.rot(isBase) ?? "nothing");
      return;
    }
    const key = bucket.rot(isRecord);
    if (key !== undefined) {
      this.#setting.rotten = key;
      bucket.rotten = key;
    }
    this.#world.tell("rots", key ?? "nothing");
  }

  // ---- the end

  /** What each of them tells when all is well again. */
  async #atRest() {
    const { bucket } = this.#setting;
    this.#isAtRest = true;
    bucket.heal();
    for (const participant of this.#participants) {
      participant.heal?.();
      participant.process.wakesAt = 0;
    }
    await this.#untilAllHaveEnded();
    if (this.#plan.waitsForAll) await this.#waitForAll();
    if (this.#plan.devices > 0) this.#newDevice();
    await this.#syncAll();
    const fresh = this.#newParticipant();
    const now = World.BEGIN + Math.ceil(this.#world.time);
    const question = questionForAll(this.#setting.code, now, this.#plan.hasSearches);
    const told = [];
    for (const participant of this.#participants) {
      if (!participant.isOpen && participant !== fresh) continue;
      told.push({
        participant,
        ...(await this.#in(participant, () => participant.tell(question))),
      });
    }
    return { told, question };
  }

  /** What nobody waited for ends, too, and soon. */
  async #untilAllHaveEnded() {
    const { story } = this.#setting;
    const limit = this.#world.time + LONGEST_CALL_MS;
    const haveEnded = () => story.every(({ code, isOver }) => code !== undefined || isOver());
    await this.#world.run(() => haveEnded() || this.#world.time > limit);
  }

  // An hour may pass, in which devices would sync by themselves again and again.
  async #waitForAll() {
    for (const device of this.#devices) await this.#in(device, () => device.close());
    await this.#world.run();
  }

  /** Twice: the first time, who is first does not hear of those who come after it. */
  async #syncAll() {
    for (let i = 0; i < 2; i++) {
      for (const device of this.#devices) {
        const sync = async () => {
          await device.open();
          // What has begun before all was well may fail.
          const { isSyncing } = await device.memory.syncStatus();
          if (isSyncing) await device.sync().catch(() => {});
          await device.sync();
        };
        const { error } = await this.#in(device, sync);
        if (error !== undefined) {
          this.#setting.unsynced.push(`${device.name} can't sync when all is well: ${error.stack}`);
        }
      }
    }
  }

  /** Somebody forgets all that there is. Answers the number of the record before that. */
  async #forgetAll() {
    const who = this.#random.pick(this.#devices);
    const { error, value } = await this.#in(who, async () => {
      const { memory } = who;
      const { record } = await memory.syncStatus();
      for (const { namespace } of await memory.holds()) await memory.release(namespace);
      const namespaces = NAMESPACES.map(({ namespace }) => namespace);
      await memory.forget({ namespaces, threads: THREADS });
      return record;
    });
    if (error !== undefined) this.#setting.unsynced.push(`forgetting all fails: ${error.stack}`);
    for (const device of this.#devices) {
      await this.#in(device, async () => {
        const { setAside } = await device.memory.syncStatus();
        await device.memory.dropSetAside(setAside.map(({ id }) => id));
      });
    }
    await this.#syncAll();
    this.#newDevice();
    await this.#syncAll();
    return { record: value, devices: this.#devices };
  }

  /** Runs it in a participant's process, until it has ended. */
  async #in(participant, body) {
    let result;
    const run = async () => {
      try {
        result = { value: await body() };
      } catch (error) {
        result = { error };
      }
    };
    this.#world.after(0, run, participant.process);
    await this.#world.run(() => result !== undefined);
    return result ?? { error: new Error("it never ended") };
  }

  #figures() {
    const { bucket, story, world } = this.#setting;
    return {
      steps: story.length,
      requests: bucket.requests,
      events: world.events,
      objects: bucket.history.length,
      codes: countOf(story.map(({ code }) => code)),
      time: world.time,
    };
  }
}

function isRecord(key) {
  return /\/l\/\d{13}$/.test(key);
}

function countOf(list) {
  const counts = {};
  for (const one of list) counts[one] = (counts[one] ?? 0) + 1;
  return counts;
}

function planOf(random) {
  const isOften = (usual) => (random.chance(0.35) ? usual * random.next() : 0);
  const isCalm = random.chance(0.15);
  const pauseMs = random.pick([20, 200, 200, 3_000, 60_000]);
  const steps = random.between(4, 16);
  const devices = random.chance(0.6) ? random.between(1, 3) : 0;
  const kinds = ["partition", "down", "kill", "sleep", "jump", "restart", "join", "rot"];
  if (devices > 0) kinds.push("kill", "killAtAppend", "killAtAppend", "tear", "tear");
  const troubles = [];
  if (!isCalm) for (let i = random.below(5); i > 0; i--) troubles.push(random.pick(kinds));
  const plan = {
    participants: devices > 0 ? random.between(0, 2) : random.between(1, 4),
    devices,
    everyMs: random.pick([[0], [0], [0, 15_000], [1_000]]),
    endsForgotten: devices > 0 && random.chance(0.3),
    steps,
    pauseMs,
    horizonMs: steps * Math.max(pauseMs, 50),
    troubles,
    hasKey: random.chance(0.3),
    hasIndex: random.chance(0.3),
    hasSearches: random.chance(0.2),
    backupMs: random.pick([0, 600_000, DAY_MS]),
    skewMs: random.pick([0, 2_000, 7_200_000]),
    waitsForAll: random.chance(0.5),
    faults: isCalm
      ? { latency: 10 }
      : {
          latency: random.pick([5, 20, 200]),
          lost: isOften(0.1),
          answerLost: isOften(0.1),
          broken: isOften(0.2),
          answerBroken: isOften(0.2),
          throttled: isOften(0.3),
          failed: isOften(0.2),
          delayed: isOften(0.1),
          doubled: isOften(0.1),
          cut: isOften(0.05),
          damaged: isOften(0.05),
          listsLate: random.chance(0.35) ? 2_000 * random.next() : 0,
          page: random.pick([1000, 1000, 3]),
        },
    quarrels: devices > 0 && random.chance(0.2),
  };
  // Whoever begins now has to leave out what is damaged, and to say so.
  if (devices > 0 && random.chance(0.15)) troubles.push("rot");
  return plan;
}

/** Texts that occur once in the world, and where they were put. */
class Tokens {
  /** Token → namespace or thread. */
  where = new Map();
  #spread = new Set();
  #all = false;

  next(where) {
    const token = `token-${this.where.size}-`;
    this.where.set(token, where);
    return token;
  }

  /** What is in this thread may have been copied to others. */
  mayBeAnywhere(thread) {
    this.#spread.add(thread);
  }

  allMayBeAnywhere() {
    this.#all = true;
  }

  /** Whether it is only where it was put. */
  isThere(token) {
    const { thread } = this.where.get(token);
    return !this.#all && !(thread !== undefined && this.#spread.size > 0);
  }
}

class CheckpointIds {
  #count = 0;

  next() {
    const count = (++this.#count).toString(16).padStart(8, "0");
    return `1f000000-${count.slice(0, 4)}-6${count.slice(4, 7)}-8000-00000000000${count.slice(7)}`;
  }
}
