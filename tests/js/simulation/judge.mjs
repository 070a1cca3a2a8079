// Whether a history went as it had to.

import { logOf, Oracle, readLog, toldIn } from "./oracle.mjs";

/** No call may wait for longer than this without any answer of the bucket. */
const LONGEST_SILENCE_MS = 46_000;
/** What nobody may be told unless something was damaged. */
const NEVER = new Set(["internal", "corrupt", "rolled_back", "malformed_frame", "io_error"]);

/** Answers sentences about what is wrong. */
export async function judge(setting, rest) {
  const complaints = [];
  const complain = (text) => complaints.push(text);
  judgeSteps(setting, complain);
  judgeCalls(setting, complain);
  for (const text of setting.unsynced) complain(text);
  judgePlaintext(setting, complain);
  const variants = [new Set()];
  if (setting.rotten !== undefined) variants.push(new Set([numberOf(setting.rotten)]));
  // What somebody has read before it was damaged, others may know of by a base, or never.
  const rightOnes = new Set();
  const judgements = [];
  for (const leftOut of variants) {
    judgements.push(await compare(setting, rest, leftOut, { rightOnes, complainAnyway: complain }));
  }
  complaints.push(...judgements.toSorted((a, b) => a.length - b.length)[0]);
  for (const [one, text] of setting.wrong) if (!rightOnes.has(one)) complain(text);
  return complaints;
}

function numberOf(key) {
  return 9_999_999_999_999 - Number(key.slice(key.lastIndexOf("/") + 1));
}

function judgeSteps({ story, rotten }, complain) {
  for (const { by, kind, code, error, isOver } of story) {
    if (code === undefined && !isOver()) complain(`${kind} of ${by} never ends`);
    if (error === undefined) continue;
    const isOurs = typeof error.code === "string" && error.name === "KeepsakeError";
    const isPoison = kind === "poison" && code === "internal";
    // Another one has made a base of it before it was executed here.
    const isStored = code === "io_error" && /is stored as record \d+/.test(error.message);
    if (isOurs && (isPoison || isStored || !NEVER.has(code) || rotten !== undefined)) continue;
    complain(`${kind} of ${by} fails in a way that it must not: ${short(error)}`);
  }
}

function judgeCalls({ journal }, complain) {
  for (const call of journal.calls) {
    if (call.silentMs > LONGEST_SILENCE_MS) {
      complain(`${nameOf(call)} waited for ${Math.round(call.silentMs / 1000)} s in vain`);
    }
    if (call.ended === undefined && !call.isOver()) complain(`${nameOf(call)} never ends`);
  }
}

function judgePlaintext({ key, bucket }, complain) {
  if (key === undefined) return;
  for (const { key: name, bytes } of bucket.history) {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (const word of ["token-", "thread-", "lawsuit", "SQLite format"]) {
      if (text.includes(word)) complain(`${name} has "${word}" in plain`);
    }
    if (/memory/.test(name)) complain(`the key ${name} tells a name`);
  }
}

/** With one engine that executes the log, without what is left out. */
async function compare(setting, { told, question }, leftOut, { rightOnes, complainAnyway }) {
  const complaints = [];
  const complain = (text) => complaints.push(text);
  const { log, entries } = await readLog(setting, (number) => leftOut.has(number));
  const oracle = new Oracle(setting);
  await oracle.begin();
  try {
    const writes = new Writes(setting, complain);
    setting.deviceWrites.begin();
    const reads = new Reads(setting, entries);
    const isLeftOut = leftOut.size > 0;
    reads.look(oracle, 0);
    let born = 0;
    for (const entry of entries) {
      if (entry.born < born)
        complain(`record ${entry.number} was created before the one before it`);
      born = entry.born;
      const responses = await oracle.apply(log, entry);
      writes.note(entry, responses);
      setting.deviceWrites.note(entry, isDevice);
      reads.look(oracle, entry.number);
    }
    for (const { participant, value } of told) {
      for (const request of value?.aside ?? [])
        setting.deviceWrites.noteAside(participant.name, request);
    }
    if (!isLeftOut) {
      writes.judge();
      setting.deviceWrites.judge(complain);
    }
    reads.judge(rightOnes, setting.wrong);
    const { wrong } = setting;
    const right = oracle.tell(question);
    for (const { participant, value, error } of told) {
      if (error !== undefined) {
        complain(`${participant.name} can't tell what it has when all is well: ${short(error)}`);
        continue;
      }
      const theirs = toldIn(setting.code, question, value.response);
      const isRight = theirs === right;
      if (participant.isDevice) judgeStatus(participant, value, complain);
      const hasLeftOut = participant.isDevice && isRight && !rightOnes.has(participant);
      if (hasLeftOut) judgeNames(participant, value, leftOut, complainAnyway);
      if (isRight) rightOnes.add(participant);
      else
        wrong.set(
          participant,
          `${participant.name} differs from the log: ${difference(theirs, right)}`,
        );
    }
  } finally {
    oracle.close();
  }
  return complaints;
}

function judgeStatus({ name }, { status }, complain) {
  const { waiting, error, isForgetting } = status;
  if (waiting === 0 && error === undefined && !isForgetting) return;
  complain(`${name} is not at rest: ${JSON.stringify({ waiting, error, isForgetting })}`);
}

// What a device has had to leave out since it was opened has a name.
function judgeNames({ name, process, recordAtOpen }, { status }, leftOut, complain) {
  for (const number of leftOut) {
    const isNamed = status.badRecords.some(({ record }) => record === number);
    if (!isNamed && process.hasReadRotten && recordAtOpen < number) {
      complain(`${name} does not tell that it left out record ${number}`);
    }
  }
}

/** Whether all is gone everywhere. It was there up to a record. */
export async function judgeForgotten(setting, { record: last, devices }) {
  const complaints = [];
  for (const device of devices) {
    if (device.has("token-")) complaints.push(`the file of ${device.name} has what was forgotten`);
  }
  const { objects } = setting.bucket;
  const log = await logOf(setting, objects);
  for (const [key, { bytes }] of objects) {
    const { number, id, isCleared } = log.names.read(key) ?? { isCleared: true };
    if (isCleared || number > last) continue;
    if (id !== undefined || !(await isFence(setting, log, number, bytes))) {
      complaints.push(`${key} is there still, from before all was forgotten`);
    }
  }
  return complaints;
}

async function isFence({ code }, log, number, bytes) {
  const { content } = await log.seal.open(log.placeOf(number), bytes);
  return (await code.decodeRecord(content)).kind === "fence";
}

function isDevice(name) {
  return name.startsWith("d");
}

function difference(theirs, right) {
  const a = theirs.split("\n");
  const b = right.split("\n");
  const at = a.findIndex((line, i) => line !== b[i]);
  return `\n    it tells ${a[at]?.slice(0, 1500)}\n    and not  ${b[at]?.slice(0, 1500)}`;
}

/** Each write that was acknowledged is in the log once, with the answer that it got. */
class Writes {
  #setting;
  #complain;
  #asked = new Map();
  #found = new Map();

  constructor(setting, complain) {
    this.#setting = setting;
    this.#complain = complain;
    for (const call of setting.journal.calls) {
      if (call.request === undefined || call.isReplacing) continue;
      const name = textOf(call.request);
      if (!this.#asked.has(name)) this.#asked.set(name, []);
      this.#asked.get(name).push(call);
    }
  }

  note({ number, record, born }, responses) {
    if (record.kind !== "requests" || isDevice(record.device)) return;
    for (const [i, request] of record.requests.entries()) {
      const name = textOf(request);
      const place = { number, born, by: record.device, response: responses[i] };
      if (!this.#found.has(name)) this.#found.set(name, []);
      this.#found.get(name).push(place);
      const { code } = this.#setting;
      const kinds = code.decodeRequest(request).operations.map(({ kind }) => kind);
      if (!this.#asked.has(name) && !kinds.includes("configureStore")) {
        this.#complain(`record ${number} has a request that nobody made: ${kinds.join()}`);
      }
    }
  }

  judge() {
    for (const [name, calls] of this.#asked) {
      const places = [...(this.#found.get(name) ?? [])];
      for (const call of calls) if (call.isWrite) this.#judge(call, places, calls.length);
      const left = places.length;
      if (left > 0 && calls.every((call) => call.isWrite)) {
        this.#complain(`${nameOf(calls[0])} is ${left} times too often in the log`);
      }
    }
  }

  #judge(call, places, count) {
    const { response, error, begun, ended = Number.POSITIVE_INFINITY } = call;
    const at = places.findIndex(({ born, by }) => by === call.by && born > begun && born < ended);
    const late = places.findIndex(({ born, by }) => by === call.by && born > begun);
    const code = error?.code;
    const isUnknown = ended === Number.POSITIVE_INFINITY || code === "unreachable";
    if (isUnknown) {
      // It may be there, and may come to be.
      if (late >= 0) places.splice(late, 1);
      return;
    }
    if (response === undefined && code !== "internal" && code !== "io_error") {
      // Refused before it was sent.
      if (at >= 0) this.#complain(`${nameOf(call)} failed (${code}), and is in the log`);
      return;
    }
    if (at < 0) {
      this.#complain(`${nameOf(call)} was acknowledged, and is not in the log`);
      return;
    }
    const [place] = places.splice(at, 1);
    if (response === undefined) return;
    if (place.response === undefined || textOf(response) !== textOf(place.response)) {
      if (count > 1) return;
      this.#complain(
        `${nameOf(call)}, record ${place.number}, has another answer than one engine gives:\n    ${legible(response)}\n    and not ${place.response && legible(place.response)}`,
      );
    }
  }
}

/** Each read is answered as of a moment between its call and its answer. */
class Reads {
  #code;
  #open = [];
  #waiting;

  constructor({ journal, code }, entries) {
    this.#code = code;
    const births = entries.map(({ born, number }) => ({ born, number }));
    // The last record that was there at a moment.
    const lastAt = (tick) => {
      let last = 0;
      for (const { born, number } of births) if (born < tick) last = number;
      return last;
    };
    this.#waiting = journal.calls
      .filter((call) => !call.isWrite && !call.isLocal && call.response !== undefined)
      .map((call) => ({ call, from: lastAt(call.begun), to: lastAt(call.ended) }))
      .toSorted((a, b) => a.from - b.from);
  }

  /** At a record, at which the oracle is. */
  look(oracle, number) {
    while (this.#waiting[0]?.from <= number) this.#open.push(this.#waiting.shift());
    for (const read of this.#open) {
      if (read.isRight || read.to < number) continue;
      read.right = oracle.execute(read.call.quiet);
      read.isRight = textOf(read.call.response) === textOf(read.right);
    }
  }

  judge(right, wrong) {
    for (const read of this.#open) {
      const { call, from, to, isRight } = read;
      if (isRight) {
        right.add(call);
        continue;
      }
      const codes = this.#code.statusesOf(call.response).join();
      wrong.set(
        call,
        `${nameOf(call)} is answered as at no moment from record ${from} to ${to} (${codes}):\n    ${legible(call.response)}\n    and not ${legible(read.right)}`,
      );
    }
  }
}

function short(error) {
  return String(error?.stack ?? error)
    .split("\n")
    .slice(0, 7)
    .map((line) => line.replace(/file:.*\//, ""))
    .join("\n  ");
}

function legible(response) {
  return textOf(response)
    .replace(/[^\x20-\x7e]+/g, "·")
    .slice(0, 600);
}

function textOf(bytes) {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

function nameOf(call) {
  return `${call.kinds.join("+")} of ${call.by} at ${Math.round(call.begunAt)} ms`;
}
