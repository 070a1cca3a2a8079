import { closeMemoryOf, memoryAt } from "../js/support/connections.mjs";
import { removeTemporaryFolders, temporaryFile } from "../js/support/temporary.mjs";
import { describeSpecification } from "./specification.mjs";

describeSpecification("memoryOver(libsql).checkpointer meets the official specification", {
  checkpointerName: "keepsake SqliteSaver over libsql",
  createCheckpointer: () => memoryAt("libsql", temporaryFile()).checkpointer,
  destroyCheckpointer: closeMemoryOf,
  afterAll: removeTemporaryFolders,
});
