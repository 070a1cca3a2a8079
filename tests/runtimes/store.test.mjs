// The store contract over the library that this runtime brings.

import { storeContract } from "../contract/store.mjs";
import { storeBackends } from "../js/support/store-backends.mjs";
import { removeTemporaryFolders } from "../js/support/temporary.mjs";

afterAll(removeTemporaryFolders);

const backend = storeBackends.at(-1);

describe(backend.name, () => {
  afterEach(backend.closeAll);

  const cases = storeContract.filter(({ needs }) => needs.every((need) => backend.can.has(need)));
  for (const { name, run } of cases) test(name, () => run(backend.make, backend.reopen));
});
