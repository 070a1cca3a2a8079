// Who a thread of a process is, and whether it still lives. A pid alone is not
// enough: pids are used again, also by the next process in a container.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { hostname } from "node:os";
import { threadId } from "node:worker_threads";

/** @internal */
export interface Identity {
  pid: number;
  /** The thread as the operating system numbers it, if that is known. */
  task?: number;
  /** As node:worker_threads numbers it. */
  thread: number;
  /** When the thread (or else the process) started, in whatever unit the system has. */
  started?: string;
  /** A fingerprint of the machine, its boot and its table of pids, which names none of them. */
  machine: string;
}

const PID_NAMESPACE = "/proc/self/ns/pid";
// PROC_PID_INIT_INO of the Linux kernel.
const FIRST_PID_NAMESPACE = "pid:[4026531836]";

let own: Identity | undefined;

/** @internal */
export function ownIdentity(): Identity {
  own ??= describeSelf();
  return own;
}

function describeSelf(): Identity {
  const identity: Identity = { pid: process.pid, thread: threadId, machine: machine() };
  const task = withNamedErrors(() =>
    Number(fs.readlinkSync("/proc/thread-self").split("/").at(-1)),
  );
  if (task !== undefined) identity.task = task;
  const started = startOf(identity);
  if (typeof started === "string") identity.started = started;
  return identity;
}

/** @internal */
export function isOnThisMachine(identity: Identity): boolean {
  return identity.machine === ownIdentity().machine;
}

/** Undefined if it can't be told, as of another machine. @internal */
export function lives(identity: Identity): boolean | undefined {
  if (!isOnThisMachine(identity)) return undefined;
  const existence = existenceOf(identity.pid);
  if (existence === "none") return false;
  if (identity.started === undefined) return true;
  const started = startOf(identity);
  // Whom we may not look at counts as living: a lock is not taken on a guess.
  if (started === undefined || (started === null && existence === "hidden")) return true;
  return started === identity.started;
}

// Boot and pid namespace: a container has its own pids, and a reboot starts anew.
function machine(): string {
  const boot = withNamedErrors(() => fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8"));
  const pids = withNamedErrors(() => fs.readlinkSync(PID_NAMESPACE));
  return createHash("sha256")
    .update(JSON.stringify([hostname(), boot, pids]))
    .digest("base64url")
    .slice(0, 10);
}

/** False in a container, whose /proc shows nothing of the processes around it. @internal */
export function seesAllProcesses(): boolean {
  return withNamedErrors(() => fs.readlinkSync(PID_NAMESPACE)) === FIRST_PID_NAMESPACE;
}

function existenceOf(pid: number): "own" | "hidden" | "none" {
  try {
    process.kill(pid, 0);
    return "own";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? "hidden" : "none";
  }
}

// Null if there is no such thread or process, undefined if it can't be told.
function startOf(identity: Identity): string | null | undefined {
  if (identity.task !== undefined) return startOfTask(identity.pid, identity.task);
  if (process.platform === "win32") return undefined;
  return startOfProcess(identity.pid);
}

function startOfProcess(pid: number): string | null | undefined {
  try {
    const env = { ...process.env, TZ: "UTC", LC_ALL: "C" };
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
      encoding: "utf8",
      env,
    }).trim();
  } catch (error) {
    return (error as { status?: number }).status === 1 ? null : undefined;
  }
}

// Fields 3 (state) and 22 (start time); field 2 is a name that may hold anything.
function startOfTask(pid: number, task: number): string | null | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/task/${task}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const isZombie = fields[0] === "Z" || fields[0] === "X";
    return isZombie ? null : fields[19];
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === "ENOENT" || code === "ESRCH" ? null : undefined;
  }
}

function withNamedErrors<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
