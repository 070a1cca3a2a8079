// The options by which a memory is synced.

import { checkNumber, checkOptions, checkText, type NamesOf } from "../../checks.js";
import { checkKey } from "../../engine/keys.js";
import type { SyncOptions } from "../../engine/options.js";
import type { MemorySync, SyncedMemory } from "../../engine/synced-memory.js";
import { invalid } from "../../errors.js";
import { realClock } from "../log/clock.js";
import { DAY_MS, openerOf } from "../log/engine.js";
import type { NamedPort } from "../port.js";
import { Syncer } from "./syncer.js";

const EVERY_MS = 15_000;
/** A bucket takes keys of 400, which have more behind the name. */
const MOST_NAME_BYTES = 300;
const SYNC: NamesOf<SyncOptions> = {
  bucket: 1,
  name: 1,
  key: 1,
  everyMs: 1,
  backupDays: 1,
  device: 1,
};

/** @internal */
export function syncerOf(bucket: NamedPort, options: object, memory: SyncedMemory): MemorySync {
  const given = checkOptions("sync", SYNC, options as SyncOptions);
  const { name, key, everyMs = EVERY_MS, backupDays = 7, device = "" } = given;
  const text = checkText("sync.name", name);
  if (text === "") throw invalid("sync.name must not be empty");
  const { length } = new TextEncoder().encode(text);
  if (length > MOST_NAME_BYTES) {
    throw invalid(`sync.name must have at most ${MOST_NAME_BYTES} bytes, and has ${length}`);
  }
  return new Syncer({
    bucket,
    name: text,
    key: key === undefined ? undefined : checkKey("sync.key", key),
    clock: realClock,
    backupMs: checkNumber("sync.backupDays", backupDays, 0) * DAY_MS,
    everyMs: checkNumber("sync.everyMs", everyMs, 0),
    device: checkText("sync.device", device),
    memory: { ...memory, openFiles: openerOf(memory.openFiles) },
  });
}
