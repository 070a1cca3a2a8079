// The store contract as tests by name, for those who run it in another place than Node.

import { storeContract } from "../../contract/store.mjs";
import { tenthOf } from "./effort.mjs";

const PERSISTENCE = "persistence";

/** The cases for a store, of which all or a tenth is run; not all can be opened again. */
function contractCases({ isPersistent, part }) {
  return tenthOf(
    storeContract.filter(({ needs }) => isPersistent || !needs.includes(PERSISTENCE)),
    part,
  );
}

/**
 * A test for each case, on the report that runTests() made of all of them in `place`.
 * scripts/capabilities.mjs looks for calls of this.
 */
export function testContract(place, store, report) {
  const cases = contractCases(store);

  test.each(cases.map(({ name }) => name))(`%s (${place})`, (name) => {
    const { names, failures } = report();
    expect(failures.filter((failure) => failure.name.endsWith(name))).toEqual([]);
    expect(names).toContain(name);
  });

  test(`no other case of the contract was run (${place})`, () => {
    const { passed, total, names, failures } = report();
    expect({ passed, total, failures }).toEqual({
      passed: cases.length,
      total: cases.length,
      failures: [],
    });
    expect([...names].sort()).toEqual(cases.map(({ name }) => name).sort());
  });
}
