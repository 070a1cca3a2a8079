import { MemorySaver } from "keepsake";
import { describeSpecification } from "./specification.mjs";

describeSpecification("MemorySaver meets the official specification", {
  checkpointerName: "keepsake MemorySaver",
  createCheckpointer: () => new MemorySaver(),
  destroyCheckpointer: (saver) => saver.close(),
});
