// One memory for server components, actions and routes: those of a process share its file.

import { openMemory } from "keepsake";

export const openNotes = () => openMemory({ path: process.env.MEMORY_PATH });
