import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteSaver } from "keepsake";
import { describeSpecification } from "./specification.mjs";

const folder = mkdtempSync(join(tmpdir(), "keepsake-"));
let files = 0;

describeSpecification(
  "[cap 67] [cap 68] [cap 69] [cap 70] [cap 75] SqliteSaver on a file meets the official specification",
  {
    checkpointerName: "keepsake SqliteSaver",
    createCheckpointer: () => SqliteSaver.fromConnString(join(folder, `${files++}.sqlite`)),
    destroyCheckpointer: (saver) => saver.close(),
    afterAll: () => rmSync(folder, { recursive: true, force: true }),
  },
);
