import { openMemory } from "keepsake";
import { removeTemporaryFolders, temporaryFile } from "../js/support/temporary.mjs";
import { describeSpecification } from "./specification.mjs";

const memories = new Map();

describeSpecification("the saver of an encrypted file meets the official specification", {
  checkpointerName: "keepsake, encrypted",
  async createCheckpointer() {
    const memory = await openMemory({ path: temporaryFile(), key: new Uint8Array(32).fill(7) });
    memories.set(memory.checkpointer, memory);
    return memory.checkpointer;
  },
  destroyCheckpointer: (saver) => memories.get(saver).close(),
  afterAll: removeTemporaryFolders,
});
