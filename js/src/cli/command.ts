// What a command is.

import type { Memory, MemoryOptions } from "../memory.js";
import type { Arguments, Option } from "./arguments.js";
import type { Printed } from "./output.js";

interface AnyCommand {
  /** Its arguments by their place; one in brackets may be left out. */
  words: readonly string[];
  /** Whether there may be several of the last one. */
  isMany?: true;
  says: string;
  /** What else it needs. */
  needs?: string;
  /** What else is to be known. */
  notes?: string;
  /** Calls to copy, without the `keepsake` before them. */
  examples: readonly string[];
  options: Record<string, Option>;
}

/** A command that works with an open memory, and prints what it answers. */
interface Work extends AnyCommand {
  /** The file may be new. */
  creates?: true;
  /** How the file is opened, besides its path and its key. */
  optionsOf?(given: Arguments): Promise<Partial<MemoryOptions>>;
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

/** One that no memory is named to first. */
interface Errand extends AnyCommand {
  perform(given: Arguments): Promise<Printed>;
}

/** @internal */
export type Command = Work | Service | Rescue | Errand;
