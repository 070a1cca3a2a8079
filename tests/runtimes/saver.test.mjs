import { closeMemoryOf, libraries, memoryAt } from "../js/support/connections.mjs";
import { removeTemporaryFolders, temporaryFile } from "../js/support/temporary.mjs";
import { describeSpecification } from "../validation/specification.mjs";

const [library] = Object.keys(libraries);

describeSpecification(`memoryOver(${library}).checkpointer meets the official specification`, {
  checkpointerName: `keepsake SqliteSaver over ${library}`,
  createCheckpointer: () => memoryAt(library, temporaryFile()).checkpointer,
  destroyCheckpointer: closeMemoryOf,
  afterAll: removeTemporaryFolders,
});
