// Options that several calls share are kept in a variable, whose texts TypeScript widens.

import type { Memory } from "../../js/src/index.js";
import { memoryMiddleware, recallTool, rememberTool } from "../../js/src/langchain.js";

declare const memory: Memory;

const hers = { memory, scope: "user" };
export const parts = [memoryMiddleware(hers), recallTool(hers), rememberTool(hers)];
