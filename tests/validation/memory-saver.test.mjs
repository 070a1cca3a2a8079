import { MemorySaver } from "keepsake";
import { describeSpecification } from "./specification.mjs";

describeSpecification(
  "[cap 67] [cap 68] [cap 69] [cap 70] [cap 73] MemorySaver meets the official specification",
  {
    checkpointerName: "keepsake MemorySaver",
    createCheckpointer: () => new MemorySaver(),
    destroyCheckpointer: (saver) => saver.close(),
  },
);
