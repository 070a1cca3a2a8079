import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteSaver } from "keepsake";
import { describeSpecification } from "./specification.mjs";

const folder = mkdtempSync(join(tmpdir(), "keepsake-"));
let files = 0;

describeSpecification("SqliteSaver on a file meets the official specification", {
  checkpointerName: "keepsake SqliteSaver",
  createCheckpointer: () => SqliteSaver.fromConnString(join(folder, `${files++}.sqlite`)),
  destroyCheckpointer: (saver) => saver.close(),
  afterAll: () => rmSync(folder, { recursive: true, force: true }),
});
