// A Bucket is what an adapter makes of an object store: the four functions, and how to call it in
// messages.

import { checkOptions, type NamesOf, show } from "../checks.js";
import type { Engine } from "../engine/engine.js";
import { IN_BUCKET, type MemoryBucket, SYNCED } from "../engine/in-bucket.js";
import type { OpenFiles } from "../engine/open-files.js";
import type { MemorySync, SyncedMemory } from "../engine/synced-memory.js";
import { invalid } from "../errors.js";
import { guarded } from "./guard.js";
import { checkFolder } from "./keys.js";
import { engineInBucket } from "./log/engine.js";
import type { BucketPort } from "./port.js";
import { syncerOf } from "./sync/open.js";

/** An object store that memories can live in, as `s3()`, `r2()` and the others make it. */
export class Bucket implements MemoryBucket {
  /** As it is printed, however a bundler calls the class. @internal */
  static readonly name: string = "Bucket";

  /** What is refused, or does not answer, is a KeepsakeError: `bucket_refused`, `unreachable`. */
  readonly port: BucketPort;
  /** What it is called in messages, such as `s3://agents`. It tells no secret. */
  readonly place: string;

  /** `prefix`: below which folder of the store all is. @internal */
  constructor(port: BucketPort, place: string, prefix?: string) {
    this.port = guarded(port, place, checkFolder("prefix", prefix));
    this.place = place;
  }

  /** @internal */
  [IN_BUCKET](options: object, openFiles: OpenFiles): Engine {
    return engineInBucket(this, options, openFiles);
  }

  /** @internal */
  [SYNCED](options: object, memory: SyncedMemory): MemorySync {
    return syncerOf(this, options, memory);
  }

  toJSON(): string {
    return `[Bucket ${this.place}]`;
  }
}

const PORT: NamesOf<BucketPort> = { get: 1, create: 1, list: 1, delete: 1 };

/**
 * A bucket over a store of your own: four functions, or an instance of a class that has them as
 * methods. The rules stand at `BucketPort`. Let `checkBucket()` try it before you trust it.
 *
 *     const bucket = customBucket({ get, create, list, delete: remove }, "our files");
 */
export function customBucket(port: BucketPort, place = "the bucket"): Bucket {
  // An instance may have members of its own; in an object of options a name more is a mistake.
  if (!isInstance(port)) checkOptions("customBucket: port", PORT, port);
  for (const name of Object.keys(PORT) as (keyof BucketPort)[]) {
    if (typeof port?.[name] === "function") continue;
    throw invalid(`customBucket: ${name} must be a function: ${show(port?.[name])}`);
  }
  if (typeof place !== "string" || place === "") {
    throw invalid(`customBucket: place must be a text that messages call it by: ${show(place)}`);
  }
  return new Bucket(port, place);
}

function isInstance(port: unknown): boolean {
  if (typeof port !== "object" || port === null) return false;
  const prototype = Object.getPrototypeOf(port);
  return prototype !== null && prototype !== Object.prototype && !Array.isArray(port);
}
