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

/** → {linear, instances, newest}, of all of them and of the newest: bytes, and how many there are */
export function linearMemory() {
  const bytes = memories.map(({ buffer }) => buffer.byteLength);
  const linear = bytes.reduce((sum, size) => sum + size, 0);
  return { linear, instances: bytes.length, newest: bytes.at(-1) };
}
