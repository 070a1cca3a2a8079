// Whether a database is as it was written: its pages, and whether they fit together.

import type { Connection } from "../connection.js";
import { KeepsakeError, tell, throwIfEnded } from "../errors.js";
import { type CheckOptions, type CheckReport, checkCheck } from "./options.js";

// A millisecond or two of work.
const PAGES_AT_ONCE = 512;

/** @internal */
export async function checkDatabase(
  connection: Connection,
  given?: CheckOptions,
): Promise<CheckReport> {
  const { onProgress, signal, acceptPages = false } = checkCheck(given);
  const { persistence } = await connection.status();
  if (persistence === "memory") return { isOk: true, pages: 0, damagedPages: [] };
  if (persistence === "durable-object" || persistence === "connection") {
    throw new KeepsakeError(
      "unsupported",
      "check() reads Keepsake's own files: here the host has the file, and its SQLite can check it",
    );
  }
  const report: CheckReport = { isOk: true, pages: 0, damagedPages: [] };
  for (let first = 1; first === 1 || first <= report.pages; first += PAGES_AT_ONCE) {
    throwIfEnded(signal);
    const [found] = await connection.call([
      { kind: "checkPages", first, count: PAGES_AT_ONCE, accepts: acceptPages },
    ]);
    report.pages = found.pages;
    report.damagedPages.push(...found.damaged);
    if (found.problem !== "") report.problem = found.problem;
    tell(onProgress, {
      done: Math.min(first + PAGES_AT_ONCE - 1, found.pages),
      total: found.pages,
    });
  }
  report.isOk = report.damagedPages.length === 0 && report.problem === undefined;
  return report;
}
