// The module with SQLite and files, which a memory in a bucket needs: nothing else here has it.

import createModule from "#full-glue";
import { openSession } from "../engine/session.js";
import { openFilesBy } from "./log/engine.js";

/** @internal */
export function useFullModule(module: WebAssembly.Module): void {
  openFilesBy((name, files) =>
    openSession({ module, createModule, database: { path: name, durability: "relaxed" }, files }),
  );
}
