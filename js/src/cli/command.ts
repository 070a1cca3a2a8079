// What a command is.

import type { Memory } from "../memory.js";
import type { Arguments, Option } from "./arguments.js";
import type { Printed } from "./output.js";

interface AnyCommand {
  /** Its arguments by their place; one in brackets may be left out. */
  words: readonly string[];
  says: string;
  /** What else it needs. */
  needs?: string;
  /** Calls to copy, without the `keepsake` before them. */
  examples: readonly string[];
  options: Record<string, Option>;
}

/** A command that works with an open memory, and prints what it answers. */
interface Work extends AnyCommand {
  /** The file may be new. */
  creates?: true;
  run(memory: Memory, given: Arguments): Promise<Printed>;
}

/** One that opens the file by itself, and speaks to a program. */
interface Service extends AnyCommand {
  serve(path: string, given: Arguments): Promise<void>;
}

/** One for a file that may not open. */
interface Rescue extends AnyCommand {
  rescue(path: string, given: Arguments): Promise<Printed>;
}

/** @internal */
export type Command = Work | Service | Rescue;
