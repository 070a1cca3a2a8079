import { closeMemoryOf, memoryAt } from "../js/support/connections.mjs";
import { removeTemporaryFolders, temporaryFile } from "../js/support/temporary.mjs";
import { describeSpecification } from "./specification.mjs";

describeSpecification("memoryOver(better-sqlite3).checkpointer meets the official specification", {
  checkpointerName: "keepsake SqliteSaver over better-sqlite3",
  createCheckpointer: () => memoryAt("better-sqlite3", temporaryFile()).checkpointer,
  destroyCheckpointer: closeMemoryOf,
  afterAll: removeTemporaryFolders,
});
