import { openMemory } from "keepsake";
import { memoryBucket } from "../js/support/memory-bucket.mjs";
import { describeSpecification } from "./specification.mjs";

const memories = new Map();

describeSpecification("the saver of a memory in a bucket meets the official specification", {
  checkpointerName: "keepsake, in a bucket",
  async createCheckpointer() {
    const key = new Uint8Array(32).fill(7);
    const memory = await openMemory({ bucket: memoryBucket().bucket, name: "ada", key });
    memories.set(memory.checkpointer, memory);
    return memory.checkpointer;
  },
  destroyCheckpointer: (saver) => memories.get(saver).close(),
});
