// The memory of every instance that is made after this was imported.

const memories = [];
const { Instance } = WebAssembly;
WebAssembly.Instance = class extends Instance {
  constructor(module, imports) {
    super(module, imports);
    for (const exported of Object.values(this.exports)) {
      if (exported instanceof WebAssembly.Memory) memories.push(exported);
    }
  }
};

/** → {linear, instances}, of all of them: bytes, and how many there are */
export function linearMemory() {
  const linear = memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  return { linear, instances: memories.length };
}
