// Asks a memory in a file: node cached-process.mjs <path> <question>.

import { openMemory } from "keepsake";
import { askCached } from "./cached-graph.mjs";

const [, , path, question] = process.argv;
const memory = await openMemory({ path });
console.log(JSON.stringify(await askCached(memory, question)));
await memory.close();
