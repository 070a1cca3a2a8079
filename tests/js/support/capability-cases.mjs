// Capabilities that are the same on every platform: run in Node, in a page and in workerd, each
// over memories of its own.

import { graphCases } from "./capabilities/graphs.mjs";
import { nodeCases } from "./capabilities/nodes.mjs";
import { saverCases } from "./capabilities/savers.mjs";
import { scopeCases } from "./capabilities/scopes.mjs";
import { surveyCases } from "./capabilities/survey.mjs";
import { tableCases } from "./capabilities/tables.mjs";

/**
 * `caps` are the rows that a case proves, `run` does it with what its platform has: `open` a new
 * memory, `reopen` one after it was closed, and `expect`.
 */
export const capabilityCases = [
  ...graphCases,
  ...saverCases,
  ...scopeCases,
  ...nodeCases,
  ...surveyCases,
  ...tableCases,
];

const titleOf = ({ caps, name }) => `${caps.map((number) => `[cap ${number}]`).join(" ")} ${name}`;

/**
 * A test for each case; `outcome` tells what went wrong there, "" if nothing.
 * scripts/capabilities.mjs looks for calls of this.
 */
export function testCapabilities(place, outcome) {
  test.each(capabilityCases.map((one) => [titleOf(one), one]))(
    `%s (${place})`,
    async (_title, one) => expect(await outcome(one)).toBe(""),
  );
}
