// What `keepsake/files` makes is what deepagents and Anthropic's SDK take.

import type { MemoryToolHandlers } from "@anthropic-ai/sdk/helpers/beta/memory";
import type { BackendProtocolV2 } from "deepagents";
import { anthropicMemory, filesBackend } from "../../js/src/files.js";
import type { InMemoryStore } from "../../js/src/index.js";

declare const store: InMemoryStore;

export const backend: BackendProtocolV2 = filesBackend(store);
export const handlers: MemoryToolHandlers = anthropicMemory(store);
