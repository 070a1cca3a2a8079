// The store contract over every backend: all of it on each kind of storage.

import { storeContract } from "../contract/store.mjs";
import { storeBackends } from "./support/store-backends.mjs";
import { removeTemporaryFolders } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

describe.each(storeBackends)("$name", (backend) => {
  afterEach(backend.closeAll);

  const cases = backend.casesOf(
    storeContract.filter(({ needs }) => needs.every((need) => backend.can.has(need))),
  );

  for (const { name, run } of cases) {
    test(`${name} (${backend.name})`, () => run(backend.make, backend.reopen));
  }
});

describe("the contract itself", () => {
  test("every case has a name of its own", () => {
    const names = storeContract.map(({ name }) => name);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });

  test("a backend with persistence runs every case", () => {
    const needs = new Set(storeContract.flatMap((storeCase) => storeCase.needs));
    const [complete] = storeBackends.filter(({ can }) => can.has("persistence"));
    expect([...needs].filter((need) => !complete.can.has(need))).toEqual([]);
  });

  test.each([[undefined], [null], [[]]])(
    "every case fails on a store that answers %p to all",
    async (answer) => {
      const nothing = new Proxy(
        {},
        { get: (_, name) => (name === "then" ? undefined : async () => answer) },
      );
      const passed = [];
      for (const { name, run } of storeContract) {
        const outcome = run(
          () => nothing,
          () => nothing,
        );
        await outcome.then(
          () => passed.push(name),
          () => {},
        );
      }
      expect(passed).toEqual([]);
    },
  );
});
