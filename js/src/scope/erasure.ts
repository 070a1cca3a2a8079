// Forgetting for good, the receipt of it, and what must not be forgotten.

import {
  checkEach,
  checkFlag,
  checkOptions,
  checkText,
  isList,
  type NamesOf,
  show,
  textsIn,
} from "../checks.js";
import type { Connection } from "../connection.js";
import type { Persistence } from "../engine/engine.js";
import { scrubAll } from "../engine/scrubbing.js";
import { type DamagedDatabase, invalid, KeepsakeError } from "../errors.js";
import { encodeFilter } from "../store/json-value.js";
import { type Origin, provenanceFilter } from "../store/provenance.js";
import { guarded, type SecretGuard } from "../store/secrets.js";
import { checkNamespace } from "../store/store-operations.js";
import type { Erased, ErasureRecord, Scrubbed as Scrubbing } from "../wire/layout.js";

/** What is to be forgotten. In a scope it is everything there, unless it is said. */
export interface ForgetOptions {
  /** Prefixes of namespaces, with all items below them; `[[]]` is all of them. */
  namespaces?: string[][] | undefined;
  /** Only the items there that match, as in a search. */
  filter?: Record<string, unknown> | undefined;
  /** Ids of threads, or `"all"`: their checkpoints, pending writes and subgraphs. */
  threads?: string[] | "all" | undefined;
  /** Only says what would go. @default false */
  dryRun?: boolean | undefined;
}

/** What is to be taken back: all that comes from there. At least one of the first three is said. */
export interface RevokeOptions {
  origin?: Origin | undefined;
  /** As it was put. */
  source?: string | undefined;
  /** What sources begin with: `"https://bad.example/"`. Excludes `source`. */
  sourcePrefix?: string | undefined;
  /** Prefixes of namespaces, with all items below them. @default all of them */
  namespaces?: string[][] | undefined;
  /** Only says what would go. @default false */
  dryRun?: boolean | undefined;
}

const REVOKE: NamesOf<RevokeOptions> = {
  origin: 1,
  source: 1,
  sourcePrefix: 1,
  namespaces: 1,
  dryRun: 1,
};
const FORGET: NamesOf<ForgetOptions> = { namespaces: 1, filter: 1, threads: 1, dryRun: 1 };

/** What was forgotten. Plain JSON; keep it to show later that it was done. */
export interface ErasureReceipt {
  id: string;
  /** ISO 8601. */
  time: string;
  /** Where the scope lies; `[]` for the whole memory. */
  place: string[];
  namespaces: string[][];
  filter?: Record<string, unknown> | undefined;
  /** Of `revoke()`. */
  origin?: Origin | undefined;
  source?: string | undefined;
  sourcePrefix?: string | undefined;
  threads: string[] | "all";
  /** What went: items, their vectors, what they were before, threads and their checkpoints, and bytes of all that. */
  erased: {
    items: number;
    vectors: number;
    versions: number;
    threads: number;
    checkpoints: number;
    bytes: number;
    /** By `revoke()`: items that have an earlier value again, and facts that hold again. */
    restored: number;
  };
  dryRun: boolean;
  /** SHA-256 of what was asked for, in hexadecimal. */
  digest: string;
  /** How it stood when the receipt was given; `checkReceipt()` says how it stands. Not of a dry run. */
  scrubbed?: Scrubbed | undefined;
  /** What may be left of it, in a sentence. */
  remains?: string | undefined;
}

/**
 * Where bytes of what was forgotten may be left. Its rows are gone in any case.
 * - `"pages"`: in no page of the file, and not in its log.
 * - `"pending"`: in free pages or in the log. They are overwritten while nobody calls, also after
 *   the next opening.
 * - `"aside"`: in databases of its name that were damaged and set aside, which `damaged()` lists.
 * - `"host"`: in what a host keeps and alone can clear: IndexedDB, also before the memory moved to
 *   OPFS, a Durable Object, an application's own SQLite. With a `key` it is ciphertext.
 * - `"bucket"`: in no object of the bucket, unless that keeps what it deletes.
 * - `"memory"`: there is no file.
 */
export type Scrubbed = "pages" | "pending" | "aside" | "host" | "bucket" | "memory";

// Of the files of the memory as it is. What was put later is not what was forgotten.
const REMAINS: Record<Exclude<Scrubbed, "aside">, string> = {
  pages:
    "All bytes of it were cleared from the file and from its log. What was put there later is not looked at.",
  pending:
    "Its rows are gone. Bytes of them may be left in free pages or in the log of the file until these are overwritten, while nobody calls or after the next opening.",
  host: "Its rows are gone. Bytes of them may be left in storage that its host alone can clear (IndexedDB, a Durable Object, an application's SQLite); of an encrypted memory only ciphertext.",
  bucket:
    "Its rows are gone, and the objects that had them were deleted from the bucket. A bucket that keeps versions or copies of what it deletes may still have them; of a memory with a key only ciphertext.",
  memory: "Its rows are gone. They were in memory, and in no file.",
};
const WAS_IN_HOST =
  "This memory was in IndexedDB before: bytes from that time may be left in files of the browser, which it alone can clear; of an encrypted memory only ciphertext.";

const RECEIPT: NamesOf<ErasureReceipt> = {
  id: 1,
  time: 1,
  place: 1,
  namespaces: 1,
  filter: 1,
  origin: 1,
  source: 1,
  sourcePrefix: 1,
  threads: 1,
  erased: 1,
  dryRun: 1,
  digest: 1,
  scrubbed: 1,
  remains: 1,
};

/** What a memory knows of a receipt. */
export interface ErasureCheck {
  /** This memory did that: it has a record of it, and nothing in the receipt was changed. */
  isGenuine: boolean;
  /** How it stands now with what was forgotten then; undefined if the memory has no record of it. */
  scrubbed?: Scrubbed | undefined;
  /** What may be left of it, in a sentence. */
  remains?: string | undefined;
  /** What is there now under the same names: it came later, or the receipt is not genuine. */
  found: { items: number; threads: number };
}

/** What must not be forgotten. */
export interface Hold {
  namespace: string[];
  reason: string;
  /** ISO 8601. */
  since: string;
}

type Source = Pick<ErasureReceipt, "origin" | "source" | "sourcePrefix">;
type Asked = Pick<ErasureReceipt, "place" | "namespaces" | "filter" | "threads"> & Source;

/** @internal */
export async function forget(
  connection: Connection,
  given: ForgetOptions | undefined,
): Promise<ErasureReceipt> {
  const options = checkOptions("forget", FORGET, given);
  return erase(connection, askedOf(connection, options), options);
}

/** @internal */
export async function revoke(
  connection: Connection,
  given: RevokeOptions | undefined,
): Promise<ErasureReceipt> {
  const { namespaces, ...options } = checkOptions("revoke", REVOKE, given);
  const asked = {
    ...askedOf(connection, { namespaces: namespaces ?? [[]] }),
    ...sourceOf(options),
  };
  return erase(connection, asked, options);
}

function sourceOf({ origin, source, sourcePrefix }: Source): Source {
  if (source !== undefined && sourcePrefix !== undefined) {
    throw invalid(
      "source and sourcePrefix of revoke exclude each other: give the one or the other",
    );
  }
  const isEmpty = [source, sourcePrefix].includes("");
  if (isEmpty || [origin, source, sourcePrefix].every((one) => one === undefined)) {
    throw invalid(
      'revoke takes an origin, a source or a sourcePrefix: { source: "https://bad.example/page" }',
    );
  }
  return {
    ...(origin !== undefined && { origin }),
    ...(source !== undefined && { source }),
    ...(sourcePrefix !== undefined && { sourcePrefix }),
  };
}

async function erase(
  connection: Connection,
  asked: Asked,
  options: { dryRun?: boolean | undefined },
): Promise<ErasureReceipt> {
  const dryRun = checkFlag("dryRun", options.dryRun) ?? false;
  const id = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const digest = await digestOf(id, asked);
  const [{ at, ...erased }] = await connection.call([requestFor(asked, { id, digest, dryRun })]);
  const receipt = { id, time: new Date(at).toISOString(), ...asked, erased, dryRun, digest };
  return dryRun ? receipt : { ...receipt, ...(await afterErasure(connection, id)) };
}

// It is done by now, whatever fails here.
async function afterErasure(connection: Connection, id: string) {
  try {
    await scrubAll(async (pages) => (await connection.call([{ kind: "scrub", pages }]))[0]);
  } catch {
    // An export is being read, or the disk is full: it goes on later.
  }
  try {
    const [record] = await connection.call([{ kind: "findErasure", id }]);
    return await leftOf(connection, record);
  } catch {
    return { scrubbed: "pending", remains: REMAINS.pending } as const;
  }
}

async function leftOf(connection: Connection, record: ErasureRecord | undefined) {
  if (record === undefined) return {};
  const { persistence, findElsewhere } = await connection.status();
  const there = leftIn(persistence, record.scrubbed);
  const { wasInHost = false, damaged = [] } = (await findElsewhere?.()) ?? {};
  const remains = [REMAINS[there]];
  if (wasInHost) remains.push(WAS_IN_HOST);
  if (damaged.length > 0) remains.push(mayHoldIt(damaged));
  const elsewhere = await connection.elsewhere.remains?.();
  if (elsewhere !== undefined) remains.push(elsewhere);
  return { scrubbed: whereLeft(there, wasInHost, damaged), remains: remains.join(" ") };
}

function leftIn(persistence: Persistence, scrubbed: Scrubbing) {
  if (persistence === "memory") return "memory";
  if (persistence === "bucket") return scrubbed === "pages" ? "bucket" : "pending";
  const isFile = persistence === "file" || persistence === "opfs";
  if (!isFile || scrubbed === "byHost") return "host";
  return scrubbed === "pages" ? "pages" : "pending";
}

/** What is cleared least of all. */
function whereLeft(there: Scrubbed, wasInHost: boolean, damaged: readonly unknown[]): Scrubbed {
  if (wasInHost) return "host";
  return there === "pages" && damaged.length > 0 ? "aside" : there;
}

function mayHoldIt(damaged: readonly DamagedDatabase[]): string {
  const names = damaged.map(({ name }) => JSON.stringify(name)).join(", ");
  return `It may also be in what was damaged and set aside: ${names}. memory.damaged() lists these; save what you need with export(), then delete() them.`;
}

function askedOf(connection: Connection, options: ForgetOptions): Asked {
  const { filter } = options;
  // Before a digest is made of it.
  encodeFilter(filter);
  const place = [...(connection.levels?.place ?? [])];
  const namespaces =
    options.namespaces && checkEach("namespaces", options.namespaces, checkNamespace);
  const threads = checkThreads(options.threads);
  const isOpen = namespaces === undefined && threads === undefined;
  if (isOpen && place.length === 0) {
    throw invalid(
      'forget of a whole memory takes namespaces or threads: { namespaces: [["user", "ada"]] }',
    );
  }
  if (filter !== undefined && namespaces === undefined && threads !== undefined) {
    throw invalid("filter of forget chooses among items: say in which namespaces, too");
  }
  const everyThread = isOpen && filter === undefined ? "all" : [];
  return {
    place,
    ...(filter !== undefined && { filter }),
    namespaces: namespaces ?? (isOpen ? [[]] : []),
    threads: threads ?? everyThread,
  };
}

function checkThreads(threads: ForgetOptions["threads"]): Asked["threads"] | undefined {
  if (threads === undefined || threads === "all") return threads;
  if (!isList(threads)) throw invalid(`threads must be a list or "all": ${show(threads)}`);
  return checkEach("threads", threads, (thread) => checkText("a thread of forget", thread));
}

function requestFor(asked: Asked, rest: { id: string; digest: string; dryRun: boolean }) {
  const { namespaces, filter, threads } = asked;
  return {
    kind: "forget",
    ...rest,
    namespaces,
    filter: encodeFilter(filter),
    from: provenanceFilter(asked),
    threads: threads === "all" ? [] : threads,
    threadPrefix: threads === "all" ? "" : undefined,
  } as const;
}

async function digestOf(id: string, asked: Asked) {
  const { place, namespaces, filter, threads, origin, source, sourcePrefix } = asked;
  if (globalThis.crypto?.subtle === undefined) {
    throw new KeepsakeError(
      "unsupported",
      "forget needs crypto.subtle for its receipt, which a page has over https or on localhost",
    );
  }
  const from = [origin ?? null, source ?? null, sourcePrefix ?? null];
  const text = JSON.stringify([id, place, namespaces, filter ?? null, threads, from]);
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @internal */
export async function checkReceipt(
  connection: Connection,
  receipt: ErasureReceipt,
): Promise<ErasureCheck> {
  const given = checkOptions("checkReceipt", RECEIPT, receipt);
  const { id, time, digest, dryRun, namespaces, filter, erased } = given;
  const here = connection.levels?.place ?? [];
  const place = textsIn(given.place);
  if (place?.join("\n") !== here.join("\n")) {
    const where = place === undefined ? show(given.place) : JSON.stringify(place);
    throw invalid(
      `checkReceipt must be asked where the receipt was made: in ${where}, this is ${JSON.stringify(here)}`,
    );
  }
  const { origin, source, sourcePrefix } = given;
  const isRevoked = [origin, source, sourcePrefix].some((one) => one !== undefined);
  const asked = {
    ...askedOf(connection, { namespaces, filter, threads: given.threads }),
    ...(isRevoked && sourceOf({ origin, source, sourcePrefix })),
  };
  const whatIsThere = requestFor(asked, { id: "check", digest: "", dryRun: true });
  const [{ items, threads }] = await connection.call([whatIsThere]);
  const [record] = await connection.call([{ kind: "findErasure", id: checkText("id", id) }]);
  const isGenuine =
    record !== undefined &&
    dryRun === false &&
    record.digest === digest &&
    digest === (await digestOf(id, asked)) &&
    time === new Date(record.erased.at).toISOString() &&
    sameCounts(record.erased, erased);
  return { isGenuine, ...(await leftOf(connection, record)), found: { items, threads } };
}

function sameCounts(kept: Erased, told: ErasureReceipt["erased"]): boolean {
  const { at: _, ...counts } = kept;
  return Object.entries(counts).every(
    ([name, count]) => told?.[name as keyof typeof told] === count,
  );
}

/** @internal */
export async function hold(
  connection: Connection,
  namespace: string[],
  given: string,
  secrets: SecretGuard | undefined,
): Promise<void> {
  for (const label of checkNamespace(namespace)) secrets?.name(label, "a label of the namespace");
  const reason = guarded(secrets, checkText("reason", given), "the reason of a hold").value;
  await connection.call([{ kind: "hold", namespace, reason }]);
}

/** @internal */
export async function release(connection: Connection, namespace: string[]): Promise<void> {
  await connection.call([{ kind: "release", namespace: checkNamespace(namespace) }]);
}

/** @internal */
export async function holds(connection: Connection): Promise<Hold[]> {
  const [found] = await connection.call([{ kind: "listHolds" }]);
  return found.map(({ namespace, reason, since }) => ({
    namespace,
    reason,
    since: new Date(since).toISOString(),
  }));
}
