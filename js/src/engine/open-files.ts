// A database over files that the caller has, opened by a host.

import type { EngineFiles } from "../wasm/engine-file.js";
import type { DatabaseSession } from "./session.js";

/** Opens the database `name` over files in memory: the host knows where its module is. @internal */
export type OpenFiles = (name: string, files: EngineFiles) => Promise<DatabaseSession>;
