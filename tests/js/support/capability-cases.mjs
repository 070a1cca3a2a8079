// Capabilities that are the same on every platform: run in Node, in a page and in workerd, each
// over memories of its own.

import { graphCases } from "./capabilities/graphs.mjs";
import { nodeCases } from "./capabilities/nodes.mjs";
import { saverCases } from "./capabilities/savers.mjs";
import { scopeCases } from "./capabilities/scopes.mjs";
import { surveyCases } from "./capabilities/survey.mjs";
import { tableCases } from "./capabilities/tables.mjs";

/** `run` is given a bench. */
export const capabilityCases = [
  ...graphCases,
  ...saverCases,
  ...scopeCases,
  ...nodeCases,
  ...surveyCases,
  ...tableCases,
];

/** Runs the case of this title over memories of `platform`, and closes them. */
export async function runCapability(title, platform, expect) {
  const bench = benchOf(platform, expect);
  try {
    await capabilityCases.find(({ name }) => name === title).run(bench);
  } finally {
    await bench.closeAll();
  }
}

/**
 * What a case is given. A platform has `newPlace()`, `open(place, options)`, and `left(place)`,
 * after which nothing of the process that had it is there; `sql(memory, place, statement)`
 * answers rows, and `change(place, statement)` is another program's while it is closed.
 */
function benchOf(platform, expect) {
  const placeOf = new Map();
  const openAt = async (place, options) => {
    const memory = await platform.open(place, options);
    placeOf.set(memory, place);
    return memory;
  };
  const leave = async (memory) => {
    await memory.close();
    await platform.left?.(placeOf.get(memory));
  };
  return {
    expect,
    open: (options) => openAt(platform.newPlace(), options),
    /** The same place once more, beside this one. */
    openToo: (memory) => openAt(placeOf.get(memory)),
    async reopen(memory, options) {
      await leave(memory);
      return openAt(placeOf.get(memory), options);
    },
    async reopenChanged(memory, statement) {
      await leave(memory);
      await platform.change(placeOf.get(memory), statement);
      return openAt(placeOf.get(memory));
    },
    async sql(memory, statement) {
      await memory.flush();
      return platform.sql(memory, placeOf.get(memory), statement);
    },
    closeAll: () => Promise.all([...placeOf.keys()].map((memory) => memory.close())),
  };
}

/**
 * A test for each case; `outcome` answers what went wrong in the one of this title, "" if nothing.
 * scripts/capabilities.mjs looks for calls of this.
 */
export function testCapabilities(place, outcome) {
  test.each(capabilityCases.map(({ name }) => name))(`%s (${place})`, async (title) =>
    expect(await outcome(title)).toBe(""),
  );
}
