// Disks of a test's own. Root may write anywhere, so a folder is read-only, or a disk full, only as a
// mount.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { temporaryFolder } from "./temporary.mjs";

const CAP_SYS_ADMIN = 1n << 21n;

// Decided by the right to mount, not by trying: where it is there, mounting must work.
function mayMount() {
  if (process.platform !== "linux") return false;
  const [, effective] = /CapEff:\s*([0-9a-f]+)/.exec(readFileSync("/proc/self/status", "utf8"));
  return (BigInt(`0x${effective}`) & CAP_SYS_ADMIN) !== 0n;
}

/** A test that is skipped where nothing may be mounted. */
export const testWithMount = mayMount() ? test : test.skip;

const mount = (...args) => execFileSync("mount", args, { stdio: "pipe" });

/** Runs `body` in a folder that is a disk of its own. */
export async function onDisk(size, body) {
  const folder = temporaryFolder();
  mount("-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder);
  try {
    await body(folder);
  } finally {
    execFileSync("umount", ["-l", folder], { stdio: "pipe" });
  }
}

/** Changes such a disk: "ro", or another "size=16m". */
export const remount = (folder, option) => mount("-o", `remount,${option}`, folder);
