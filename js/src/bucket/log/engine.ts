// The engine of a memory that lives in a bucket.

import { checkNumber, checkOptions, checkText, type NamesOf } from "../../checks.js";
import type { Engine, LogPoint } from "../../engine/engine.js";
import { checkKey, type Key } from "../../engine/keys.js";
import type { OpenFiles } from "../../engine/open-files.js";
import type { LogOptions } from "../../engine/options.js";
import { RemoteEngine } from "../../engine/remote-engine.js";
import { invalid } from "../../errors.js";
import type { NamedPort } from "../port.js";
import { realClock } from "./clock.js";
import { LogTransport } from "./log-transport.js";

/** @internal */
export const DAY_MS = 24 * 3_600_000;
const LOG: NamesOf<LogOptions> = { backupDays: 1, maxAge: 1, device: 1 };

interface BucketOptions {
  readonly name?: string | undefined;
  readonly key?: Key | undefined;
  readonly log?: LogOptions | undefined;
  readonly [other: string]: unknown;
}

let ownOpener: OpenFiles | undefined;

/** Where the package itself comes without a module that has files, it comes with the bucket. @internal */
export function openFilesBy(opener: OpenFiles): void {
  ownOpener = opener;
}

/** That one, if there is one. @internal */
export function openerOf(opener: OpenFiles): OpenFiles {
  return ownOpener ?? opener;
}

// Remarks about files mean nothing here.
const OF_FILES = ["path", "durability", "lockTimeout", "fileMode", "verifyPages", "storage"];

/** @internal */
export function engineInBucket(bucket: NamedPort, options: object, openFiles: OpenFiles): Engine {
  const { name, key, log, ...others } = options as BucketOptions;
  const odd = OF_FILES.find((option) => others[option] !== undefined);
  if (odd !== undefined) {
    throw invalid(
      `${odd} is of files and browsers: a memory in a bucket has a name, and no ${odd}`,
    );
  }
  if (name === undefined) {
    throw invalid('a memory in a bucket needs a name: { bucket, name: "ada" }');
  }
  const text = checkText("name", name);
  if (text === "") throw invalid("name must not be empty");
  const { backupDays = 7, maxAge = 0, device = "" } = checkOptions("log", LOG, log ?? {});
  const transport = new LogTransport({
    bucket,
    name: text,
    key: key === undefined ? undefined : checkKey("key", key),
    clock: realClock,
    backupMs: checkNumber("log.backupDays", backupDays, 0) * DAY_MS,
    maxAge: checkNumber("log.maxAge", maxAge, 0),
    device: checkText("log.device", device),
    openFiles: openerOf(openFiles),
  });
  return new BucketEngine(transport);
}

class BucketEngine extends RemoteEngine {
  readonly #log: LogTransport;

  constructor(transport: LogTransport) {
    super(transport);
    this.#log = transport;
  }

  restore(point: LogPoint): Promise<void> {
    return this.#log.restore(point);
  }
}
