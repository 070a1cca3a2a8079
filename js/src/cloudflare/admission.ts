// What comes over a stub, as its object carries it out: taken apart, judged, and made anew. The
// object decides whose it is and what time it is; docs/trust.md says who may set what.

import { KeepsakeError } from "../errors.js";
import type { StoreConfiguration } from "../wire/layout.js";
import { OPERATIONS } from "../wire/operations.js";
import type { Levels } from "../wire/scope.js";
import { decodeRequest, type SentRequest } from "../wire/sent-request.js";

/**
 * The request, at home within what the object gives its caller. Operations of the whole memory
 * pass: the core refuses them within a scope, and its audit log tells of that. @internal
 */
export function admit(
  frame: Uint8Array,
  { within, now }: { within: Levels | undefined; now: number },
): SentRequest {
  const sent = decodeRequest(frame);
  for (const { kind } of sent.operations) {
    if (kind === undefined) {
      throw new KeepsakeError(
        "invalid_operation",
        "the object knows no such operation: deploy it with the version of keepsake of its caller",
      );
    }
    if (OPERATIONS[kind].from === "host") {
      throw new KeepsakeError(
        "access_denied",
        `memory access denied: ${kind} is for the program that has the memory, and comes over no stub`,
      );
    }
  }
  return { ...sent, now, levels: within?.around(sent.levels) ?? sent.levels };
}

/**
 * Refuses what a caller that has a scope would set for all: the object's own settings count.
 * @internal
 */
export function refuseSettings(
  given: StoreConfiguration,
  own: StoreConfiguration | undefined,
): void {
  const { index } = own ?? {};
  const kept = { index: index && { ...index, replaceVectors: false }, text: own?.text };
  for (const name of ["index", "text"] as const) {
    if (given[name] === undefined || isSame(given[name], kept[name])) continue;
    const remedy =
      kept[name] === undefined
        ? `the object has none: give it in memoryOptions() of the object, or leave it out`
        : `give the same as memoryOptions() of the object, or leave it out`;
    throw new KeepsakeError(
      "conflicting_options",
      `${name} is a setting of the memory, of which this caller has a scope by policyFor(): ${remedy}`,
    );
  }
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
