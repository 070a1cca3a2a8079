// What stands before every store: it checks what a call gives, keeps all below a folder, and lets
// no answer through that breaks the rules where one look shows it.

import { isBytes } from "../bytes.js";
import { show } from "../checks.js";
import { detailOf, invalid, KeepsakeError, messageOf } from "../errors.js";
import { checkByteRange, checkKey, checkKeyPrefix, checkListRange, isKey } from "./keys.js";
import type { BucketPort } from "./port.js";

/** `folder` is "", or ends with "/". @internal */
export function guarded(port: BucketPort, place: string, folder: string): BucketPort {
  const call = async <T>(what: string, body: () => Promise<T>): Promise<T> => {
    try {
      return await body();
    } catch (error) {
      if (error instanceof KeepsakeError) throw error;
      throw unreachable(place, `${what} failed: ${messageOf(error)}`, error);
    }
  };
  // The answer may be lost behind the deed.
  const callCreate = (body: () => Promise<boolean>) =>
    call("create()", body).catch((error: KeepsakeError) => {
      if (error.code !== "unreachable") throw error;
      const reason = detailOf(error).replace(`${place}: `, "");
      throw unreachable(place, `whether it is stored is not known: ${reason}`, error.cause);
    });
  const wrong = (rule: string) => refused(place, `it breaks a rule of BucketPort: ${rule}`);

  return {
    async get(key, range) {
      const wanted = checkByteRange(range);
      const full = folder + checkKey(key);
      const bytes: unknown = await call("get()", () => port.get(full, wanted));
      if (bytes === undefined || bytes === null) return undefined;
      if (!isBytes(bytes)) throw wrong(`get() must answer a Uint8Array: ${show(bytes)}`);
      if (wanted !== undefined && bytes.length > wanted.to - wanted.from) {
        throw wrong(`get() must answer a range alone, and answered ${bytes.length} bytes`);
      }
      return bytes;
    },

    async create(key, bytes) {
      const full = folder + checkKey(key);
      if (!isBytes(bytes)) throw invalid(`bytes must be a Uint8Array: ${show(bytes)}`);
      const isNew: unknown = await callCreate(() => port.create(full, bytes));
      if (typeof isNew === "boolean") return isNew;
      throw wrong(`create() must answer true or false: ${show(isNew)}`);
    },

    async list(prefix, range) {
      const begin = folder + checkKeyPrefix("prefix", prefix);
      const { after, limit } = checkListRange(range);
      let last = after === undefined ? undefined : folder + after;
      // Until there are keys of ours: others may have put files of other names beside them.
      for (;;) {
        const from = last;
        const answer: unknown = await call("list()", () =>
          port.list(begin, { after: from, limit }),
        );
        const all = keysIn(answer);
        if (all === undefined) throw wrong(`list() must answer a list of keys: ${show(answer)}`);
        if (all.length === 0) return [];
        const stray = all.find((key) => !key.startsWith(begin));
        if (stray !== undefined) {
          throw wrong(`list() must answer keys that begin with the prefix: ${show(stray)}`);
        }
        const keys = all.map((key) => key.slice(folder.length)).filter(isKey);
        if (keys.some((key, i) => folder + key <= (i > 0 ? folder + keys[i - 1] : (from ?? "")))) {
          throw wrong("list() must answer keys in ascending order, behind `after`");
        }
        if (keys.length > 0) return limit === undefined ? keys : keys.slice(0, limit);
        last = all.at(-1) as string;
        if (last === from) throw wrong("list() must answer what is behind `after`");
      }
    },

    async delete(key) {
      const full = folder + checkKey(key);
      await call("delete()", () => port.delete(full));
    },
  };
}

function keysIn(answer: unknown): string[] | undefined {
  return Array.isArray(answer) && answer.every((key) => typeof key === "string")
    ? answer
    : undefined;
}

/** No repeating helps. @internal */
export function refused(place: string, reason: string, cause?: unknown): KeepsakeError {
  return failure("bucket_refused", place, reason, cause);
}

/** It may be that the next try succeeds. @internal */
export function unreachable(place: string, reason: string, cause?: unknown): KeepsakeError {
  return failure("unreachable", place, reason, cause);
}

function failure(
  code: "bucket_refused" | "unreachable",
  place: string,
  reason: string,
  cause: unknown,
): KeepsakeError {
  return new KeepsakeError(code, `${place}: ${reason}`, cause === undefined ? {} : { cause });
}
