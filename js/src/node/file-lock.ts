// One process (and in it one thread) at a time may have a database file open.
// The lock is a small file beside it that says who: `<path>-lock`.
//
// Taking it: a candidate file with our identity and a token that was never used
// before is linked to the lock's name, which fails if that name exists.
// Taking over from a dead owner must have one winner among several waiters and
// survive the winner's own death: whoever links its candidate to
// `<path>-lock.<token of the dead>` is the only heir of that token. The heir then
// renames its candidate over the lock. Should it die in between, its own token
// has one heir in the same way. A name of this kind is removed only after the
// lock has moved on, so an heir looks at the lock again before it believes itself.
//
// On a full disk there is no room for what a file holds. There the lock is a symbolic link whose
// text says who, and which nobody follows: a short one lies in the directory's own data.

import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { basename, dirname } from "node:path";
// jsdom has others in their place, which hold a process up.
import { clearInterval, setInterval } from "node:timers";
import { KeepsakeError } from "../errors.js";
import { fileError, openBeside } from "./file-error.js";
import { type Identity, isOnThisMachine, lives, ownIdentity } from "./process-identity.js";

const HEARTBEAT_MS = 5_000;
// Only counts for owners whose process we can't look at.
const SILENT_MS = 60_000;
const LONGEST_PAUSE_MS = 200;
const TOKEN_BYTES = 10;
const LAST_OF_CANDIDATE = /-lock\.[\w-]+\.new$/;

interface Owner extends Identity {
  token: string;
}

// What the token of a lock ends with that names nobody. Others are random, in hexadecimal digits.
const DAMAGED = "damaged";

/** @internal */
export interface FileLock {
  /** Synchronous, so that it can run while the process exits. Twice is fine. */
  release(): void;
}

/** Waits up to `timeoutMs`, then rejects with busy. @internal */
export async function lockFile(path: string, timeoutMs: number): Promise<FileLock> {
  const lockPath = `${path}-lock`;
  const deadline = performance.now() + timeoutMs;
  for (let pause = 10; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    const attempt = tryToLock(lockPath);
    if (attempt.lock !== undefined) return attempt.lock;
    const left = deadline - performance.now();
    if (left <= 0) throw hidden(path, lockPath) ?? busy(path, lockPath, attempt.owner, timeoutMs);
    await new Promise((resolve) => setTimeout(resolve, Math.min(pause, left)));
  }
}

// Who has it can't be told, and so not whether that process lives.
function hidden(path: string, lockPath: string): KeepsakeError | undefined {
  try {
    readBeside(lockPath);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") return undefined;
    return new KeepsakeError(
      "read_only",
      `${path} is locked by another user's ${lockPath}, which this process may not read: close ` +
        `${path} there; if no process has it open, remove ${lockPath} as that user`,
      { cause: error },
    );
  }
  return undefined;
}

function busy(
  path: string,
  lockPath: string,
  owner: Owner | undefined,
  timeoutMs: number,
): KeepsakeError {
  const isKnown = owner === undefined || isOnThisMachine(owner);
  const remedy = isKnown
    ? "Close it there"
    : `Close it there; if that process is gone, remove ${lockPath}`;
  return new KeepsakeError(
    "busy",
    `${path} is open in ${describeOwner(owner)}; it holds ${basename(lockPath)}. Waited ` +
      `${timeoutMs / 1000} s: a greater lockTimeout waits longer. ${remedy}; for a file that ` +
      "several processes write to there is memoryOver() of keepsake/sqlite",
  );
}

function describeOwner(owner: Owner | undefined): string {
  if (owner === undefined) return "another process";
  if (isDamaged(owner)) return "a process that its damaged lock does not name";
  if (!isOnThisMachine(owner)) return `process ${owner.pid} of another machine or container`;
  if (owner.pid !== process.pid) return `process ${owner.pid}`;
  return `thread ${owner.thread} of this process (pid ${owner.pid})`;
}

function tryToLock(lockPath: string): { lock?: FileLock; owner?: Owner | undefined } {
  const token = randomBytes(TOKEN_BYTES).toString("hex");
  const candidate = `${lockPath}.${token}.new`;
  try {
    writeCandidate(candidate, token);
    if (link(candidate, lockPath)) return { lock: held(lockPath, token) };
    const owner = successionOf(lockPath).at(-1);
    if (owner === undefined || !isDead(owner, lockPath, candidate)) return { owner };
    return inherit(lockPath, candidate, token, owner) ? { lock: held(lockPath, token) } : { owner };
  } finally {
    remove(candidate);
  }
}

// Even with force, rmSync() throws for a name that is too long.
function remove(candidate: string): void {
  try {
    fs.unlinkSync(candidate);
  } catch {
    // It became the lock, or was never there.
  }
}

function writeCandidate(candidate: string, token: string): void {
  const owner: Owner = { ...ownIdentity(), token };
  try {
    fs.writeFileSync(candidate, JSON.stringify(owner), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENAMETOOLONG") throw tooLong(candidate, error);
    const failure = fileError("cannot lock in", dirname(candidate), error);
    if (failure.code !== "storage_full" || !linkTo(candidate, owner)) throw failure;
  }
}

function linkTo(candidate: string, owner: Owner): boolean {
  remove(candidate);
  try {
    fs.symlinkSync(lockText(owner), candidate);
    return true;
  } catch {
    return false;
  }
}

// Less than 60 bytes, which most file systems need no block for.
function lockText({ pid, task, thread, started, machine, token }: Owner): string {
  return [pid, task === pid ? "=" : task, thread, started, machine, token].join(",");
}

/** Who a link names; undefined if it is none, or leads somewhere. */
function ownerInLink(path: string): Owner | undefined {
  let parts: string[];
  try {
    parts = fs.readlinkSync(path).split(",");
  } catch {
    return undefined;
  }
  const [pid, task, thread, started, machine, token] = parts;
  if (parts.length !== 6 || !machine || !token || !isToken(token)) return undefined;
  return {
    pid: Number(pid),
    thread: Number(thread),
    machine,
    token,
    ...(task && { task: Number(task === "=" ? pid : task) }),
    ...(started && { started }),
  };
}

function isToken(text: string): boolean {
  return /^[\w-]+$/.test(text);
}

function tooLong(candidate: string, cause: unknown): KeepsakeError {
  const path = candidate.replace(LAST_OF_CANDIDATE, "");
  const more = candidate.length - path.length;
  return new KeepsakeError(
    "cannot_open",
    `path must be shorter, since files beside it have names with ${more} characters more: ${path}`,
    { cause },
  );
}

// Gives `candidate` a second name unless that exists. Atomic, content included.
function link(candidate: string, name: string): boolean {
  try {
    fs.linkSync(candidate, name);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "EEXIST") return false;
    if (code === "ENOENT" || code === "ENOSPC" || code === "EROFS")
      throw fileError("cannot lock in", dirname(name), error);
  }
  // A file system without hard links: exclusive creation is as atomic, but for
  // an instant the file is empty, which readers take for a living owner.
  try {
    fs.copyFileSync(candidate, name, fs.constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw fileError("cannot lock in", dirname(name), error);
  }
}

// The owner of the lock, its heir if it has one, and so on.
function successionOf(lockPath: string): Owner[] {
  const line: Owner[] = [];
  const isNew = ({ token }: Owner) => line.every((earlier) => earlier.token !== token);
  let owner = readOwner(lockPath);
  while (owner !== undefined && isNew(owner)) {
    line.push(owner);
    owner = readOwner(`${lockPath}.${owner.token}`);
  }
  return line;
}

function readOwner(path: string): Owner | undefined {
  const linked = ownerInLink(path);
  if (linked !== undefined) return linked;
  let text: string;
  try {
    text = readBeside(path);
  } catch (error) {
    if (error instanceof KeepsakeError) throw error;
    return undefined;
  }
  try {
    const owner = JSON.parse(text) as Owner;
    if (isToken(owner.token) && Number.isInteger(owner.pid)) return owner;
  } catch {
    // Falls through: a power cut may leave an empty file.
  }
  // Its heir's name, like any other's, is `<path>-lock.<token>`: each has one of its own.
  const name = path.slice(path.lastIndexOf("-lock") + "-lock.".length);
  return { token: `${name}${DAMAGED}`, pid: 0, thread: 0, machine: "" };
}

function isDamaged({ token }: Owner): boolean {
  return token.endsWith(DAMAGED);
}

function readBeside(path: string): string {
  const file = openBeside(path, fs.constants.O_RDONLY);
  try {
    return fs.readFileSync(file, "utf8");
  } finally {
    fs.closeSync(file);
  }
}

function isDead(owner: Owner, lockPath: string, candidate: string): boolean {
  const alive = lives(owner);
  if (alive !== undefined) return !alive;
  try {
    // Both times are the file system's, so the clocks of two hosts don't matter.
    const silence = fs.lstatSync(candidate).mtimeMs - fs.lstatSync(lockPath).mtimeMs;
    // Nobody who lives has a damaged one, whatever time it says.
    return (isDamaged(owner) ? Math.abs(silence) : silence) > SILENT_MS;
  } catch {
    return false;
  }
}

function inherit(lockPath: string, candidate: string, token: string, dead: Owner): boolean {
  const claim = `${lockPath}.${dead.token}`;
  if (!link(candidate, claim)) return false;
  const line = successionOf(lockPath);
  const isHeir = line.at(-1)?.token === token;
  if (isHeir) fs.renameSync(candidate, lockPath);
  for (const { token: past } of isHeir ? line : [dead])
    fs.rmSync(`${lockPath}.${past}`, { force: true });
  return isHeir;
}

function held(lockPath: string, token: string): FileLock {
  const isHeld = () => {
    try {
      return readOwner(lockPath)?.token === token;
    } catch {
      return false; // somebody put a link or a folder in its place
    }
  };
  const heartbeat = setInterval(() => isHeld() && beat(lockPath), HEARTBEAT_MS);
  heartbeat.unref();
  return {
    release() {
      clearInterval(heartbeat);
      if (isHeld()) fs.rmSync(lockPath, { force: true });
    },
  };
}

// Writes what is there already, in place: the file system then sets its own time.
function beat(lockPath: string): void {
  try {
    if (ownerInLink(lockPath) !== undefined) {
      const now = new Date();
      fs.lutimesSync(lockPath, now, now);
      return;
    }
    const file = openBeside(lockPath, fs.constants.O_RDWR);
    fs.writeSync(file, "{", 0);
    fs.closeSync(file);
  } catch {
    // The next beat may succeed; only long silence counts.
  }
}
