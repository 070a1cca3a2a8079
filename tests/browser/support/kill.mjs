// Kills a whole browser, as a crash or the system does.

import { readdirSync, readFileSync } from "node:fs";

/** Kills every process of the browser with this profile, and waits until it is gone. */
export async function killBrowser({ context, profile }) {
  const closed = new Promise((resolve) => context.once("close", resolve));
  // Playwright starts it in a process group of its own.
  process.kill(-mainProcessOf(profile), "SIGKILL");
  await closed;
}

function mainProcessOf(profile) {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const words = commandLine(pid);
    if (!words.includes(`--user-data-dir=${profile}`)) continue;
    if (!words.some((word) => word.startsWith("--type="))) return Number(pid);
  }
  throw new Error(`no browser has the profile ${profile}`);
}

function commandLine(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}
