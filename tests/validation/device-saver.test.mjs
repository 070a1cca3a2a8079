import { openMemory } from "keepsake";
import { memoryBucket } from "../js/support/memory-bucket.mjs";
import { removeTemporaryFolders, temporaryFile } from "../js/support/temporary.mjs";
import { describeSpecification } from "./specification.mjs";

const memories = new Map();

describeSpecification("the saver of a memory that syncs meets the official specification", {
  checkpointerName: "keepsake, on a device",
  async createCheckpointer() {
    const sync = { bucket: memoryBucket().bucket, name: "ada", everyMs: 0 };
    const memory = await openMemory({ path: temporaryFile(), sync });
    memories.set(memory.checkpointer, memory);
    return memory.checkpointer;
  },
  async destroyCheckpointer(saver) {
    // What it wrote can also be sent.
    await memories.get(saver).sync();
    await memories.get(saver).close();
  },
});

afterAll(removeTemporaryFolders);
